"""Voltage and current of a strip line at one plane, as weighted sums of E under it and of H round it."""

from __future__ import annotations

import numpy as np

from nearfield.entry.triples import Point
from nearfield.grid.yee import YeeGrid
from nearfield.lowering.context import Context
from nearfield.plan.recorders import Functional
from nearfield.ports.lumped import functional
from nearfield.sources.edges import EdgeBlock


def line_voltage(context: Context, block: EdgeBlock, along: int, node: int, middle: Point) -> Functional:
    """V (V) from ground to strip, -sum E length, at the strip's middle in the plane of grid line `node`.

    `block` is the feeding sheet, whose rows of edges reach from ground to strip. A middle between two grid lines takes
    its share of each.
    """
    grid, axis = context.grid, block.component
    across = 3 - axis - along
    rows = np.unique(block.index[axis])
    shares: dict[int, float] = {}
    for *place, share in grid.interpolation(axis, middle):
        number = int(place[across])
        shares[number] = shares.get(number, 0.0) + share
    index = np.full((3, len(shares) * rows.size), node)
    index[axis] = np.tile(rows, len(shares))
    index[across] = np.repeat(list(shares), rows.size)
    weight = -np.outer(list(shares.values()), grid.primary(axis)[rows]).ravel()
    return functional(context, np.full(index.shape[1], axis), index, weight)


def line_current(context: Context, block: EdgeBlock, along: int, node: int, sign: int) -> Functional:
    """I (A) in the strip, along the axis times `sign`: H round it, interpolated from both sides of the plane."""
    grid = context.grid
    centre, plane = grid.centres(along), grid.lines[along][node]
    upper = float((plane - centre[node - 1]) / (centre[node] - centre[node - 1]))
    nodes = block.index
    spans = [(int(part.min()), int(part.max())) for part in nodes]
    strip = int(nodes[block.component].max()) + 1
    spans[block.component] = (strip, strip)
    halves = (node - 1, 1.0 - upper), (node, upper)
    parts = [loop_round(grid, along, half, spans, sign * share) for half, share in halves]
    component, index, weight = (np.concatenate(column, axis=-1) for column in zip(*parts))
    return functional(context, component, index, weight)


def loop_round(
    grid: YeeGrid, along: int, half: int, spans: list[tuple[int, int]], scale: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Samples and weights of scale times the circulation of H, right-handed about +`along`, round a range of nodes.

    The path runs in the plane of cell centres `half`, half a cell outside the nodes; beyond a wall there is no H. Round
    all nodes of a closed axis it has no sides: they are the same samples, passed up and down.
    Returns component (n,), index (3, n), weight (n,).
    """
    first, second = (along + 1) % 3, (along + 2) % 3
    spans = [
        (low, min(high, low + grid.cells[a] - 1) if grid.closed(a) else high) for a, (low, high) in enumerate(spans)
    ]
    parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    # + H_second past the high side of `first`, - before its low side; the other pair with the opposite signs
    for crossed, tangent, sign in ((first, second, 1.0), (second, first, -1.0)):
        low, high = spans[crossed]
        for outside, side in ((high, sign), (low - 1, -sign)):
            if not (grid.closed(crossed) or 0 <= outside < grid.cells[crossed]):
                continue
            nodes = np.arange(spans[tangent][0], spans[tangent][1] + 1)
            place = np.full((3, nodes.size), half)
            place[crossed], place[tangent] = outside, nodes
            parts.append((np.full(nodes.size, 3 + tangent), place, scale * side * grid.dual(tangent)[nodes]))
    component, index, weight = (np.concatenate(column, axis=-1) for column in zip(*parts))
    return component, index, weight
