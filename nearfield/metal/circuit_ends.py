"""Edges that join circuits to the metal which they are drawn to end at, where that ends between lines of the grid.

The corners of a port or an element move to the nearest lines. Where metal is followed, its rim or its face may then
lie up to half a cell before a column of edges, which would hang in the air: the edge from there to the metal, or to the
next column that touches it, is metal too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from nearfield.bodies.shapes import Wire
from nearfield.entry.triples import triple
from nearfield.grid.yee import YeeGrid
from nearfield.metal.rim_factors import MetalSamples
from nearfield.metal.sample_numbers import UNIT, SampleNumbers
from nearfield.metal.thin_metal import EdgeBox
from nearfield.metal.wire_ends import Edges

if TYPE_CHECKING:
    from nearfield.metal.metal import Body

MOVED = 0.5 + 1e-6  # cells by which corners move to lines, at most
Conducts = Callable[..., np.ndarray]  # of a component and indices i, j, k


def bridges(
    samples: SampleNumbers, circuits: Sequence[Edges], metal: MetalSamples, bodies: Sequence[Body]
) -> list[EdgeBox]:
    """The edges between columns of circuits and the metal of some bodies half a cell away along each axis, or less."""

    def conducts(component: int, *index: np.ndarray) -> np.ndarray:
        return metal.conducts(samples.number(component, np.stack(index, axis=1)))

    conductors = [body for body in bodies if body.kind == "pec" and not isinstance(body.shape, Wire)]
    ends = [end for component, *index in circuits for end in column_ends(component % 3, index)]
    if not ends or not conductors:
        return []
    every, back, count = np.unique(
        np.concatenate([nodes for nodes, _, _ in ends]), axis=0, return_inverse=True, return_counts=True
    )
    joined = touched(samples.grid, every, conducts) | (count > 1)  # by metal, or by another circuit
    hanging = np.flatnonzero(~joined)
    alone = np.zeros(len(every), dtype=bool)
    alone[hanging] = _beside(every[hanging], conductors, samples.grid)
    found: list[EdgeBox] = []
    of_ends = np.split(back.ravel(), np.cumsum([len(nodes) for nodes, _, _ in ends])[:-1])
    for (nodes, axis, way), own in zip(ends, of_ends):
        for place in np.flatnonzero(alone[own]).tolist():
            edge = next(_to_metal(samples, nodes, joined[own], place, axis, way, metal), None)
            if edge is not None:
                component, first = edge
                found.append(EdgeBox(component, triple(first.tolist()), triple((first + 1).tolist())))
    return found


def _to_metal(
    samples: SampleNumbers, nodes: np.ndarray, held: np.ndarray, place: int, axis: int, way: int, metal: MetalSamples
) -> Iterator[tuple[int, np.ndarray]]:
    """Edges (component, index) from a column's end: on into the metal that cuts it, to a column beside it."""
    node = nodes[place]
    ahead = node - (way < 0) * UNIT[axis]
    number = samples.number(axis, ahead[None])
    if number[0] >= 0 and metal.opened(number)[0] <= MOVED:
        yield axis, ahead
    for other in nodes[held & (np.abs(nodes - node).sum(axis=1) == 1)]:
        yield int(np.argmax(other != node)), np.minimum(node, other)


def _beside(nodes: np.ndarray, bodies: Sequence[Body], grid: YeeGrid) -> np.ndarray:
    """Which nodes (n, 3) are as near to a body along each axis as corners move."""
    places = [grid.lines[a][nodes[:, a]] for a in range(3)]
    cells = [grid.primary(a)[np.minimum(nodes[:, a], grid.cells[a] - 1)] for a in range(3)]
    reach = MOVED * np.sqrt(sum(cell**2 for cell in cells))
    near = (np.asarray(body.shape._signed_distance(*places)) <= reach for body in bodies)
    return np.logical_or.reduce([*near, np.zeros(len(nodes), dtype=bool)])


def column_ends(axis: int, index: Sequence[np.ndarray]) -> Iterator[tuple[np.ndarray, int, int]]:
    """Of a block of edges along an axis the nodes (n, 3) at either end of its columns, the axis, and the way out."""
    for node, way in ((int(index[axis].min()), -1), (int(index[axis].max()) + 1, 1)):
        places = np.broadcast_arrays(*(part if a != axis else np.array(node) for a, part in enumerate(index)))
        yield np.unique(np.stack(places, -1).reshape(-1, 3), axis=0), axis, way


def touched(grid: YeeGrid, nodes: np.ndarray, conducts: Conducts) -> np.ndarray:
    """At which nodes (n, 3) an edge is metal or lies on a conducting wall."""
    found = np.zeros(len(nodes), dtype=bool)
    for axis in range(3):
        for before in (0, 1):
            at = np.stack(grid.in_cell((nodes - before * UNIT[axis]).T), axis=-1)
            there = ((at >= 0) & (at < grid.component_shape(axis))).all(axis=1)
            if there.any():
                found[there] |= np.asarray(conducts(axis, *at[there].T))
    return found
