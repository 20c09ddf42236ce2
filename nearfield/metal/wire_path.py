"""The chain of grid edges that stands for a wire of any direction: through the nodes nearest to it, in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from nearfield.bodies.shapes import Wire
from nearfield.entry.errors import ModelError
from nearfield.entry.triples import Point, triple
from nearfield.grid.boundaries import Boundaries
from nearfield.grid.yee import AXES, YeeGrid
from nearfield.metal.thin_metal import EdgeBox

TIE = 1e-9  # parts of a leg; crossings no further apart than this are ties


@dataclass(frozen=True)
class WirePath:
    """Nodes (n, 3) of a wire in order, and for each the place on the wire that it stands for.

    `at`: the wire's points nearest to the nodes (n, 3; m); `along`: their distance from its start, never falling (m);
    `ends`: the first and the last point of the wire; `length` (m).
    """

    nodes: np.ndarray
    at: np.ndarray
    along: np.ndarray
    ends: np.ndarray  # first and last point (2, 3; m)
    length: float

    @property
    def axis(self) -> np.ndarray:
        """The axis of each edge (n - 1,)."""
        return np.abs(np.diff(self.nodes, axis=0)).argmax(axis=1)

    @property
    def way(self) -> np.ndarray:
        """1 or -1: which way each edge goes."""
        return np.diff(self.nodes, axis=0).sum(axis=1)

    @property
    def edges(self) -> np.ndarray:
        """Index (n - 1, 3) of each edge."""
        return np.minimum(self.nodes[1:], self.nodes[:-1])

    def shortest_cell(self, grid: YeeGrid) -> float:
        """The shortest cell (m) about its nodes."""
        beside = [np.clip(self.nodes - side, 0, np.array(grid.cells) - 1) for side in (0, 1)]
        return min(float(grid.primary(a)[cells[:, a]].min()) for cells in beside for a in range(3))

    def boxes(self) -> list[EdgeBox]:
        """Its edges, straight runs together."""
        breaks = np.flatnonzero(np.diff(self.axis * self.way) != 0) + 1
        bounds = [0, *breaks.tolist(), len(self.nodes) - 1]
        found = []
        for first, last in pairwise(bounds):
            axis = int(self.axis[first])
            low = np.minimum(self.nodes[first], self.nodes[last])
            high = np.maximum(self.nodes[first], self.nodes[last]) + (np.arange(3) != axis)
            found.append(EdgeBox(axis, triple(low.tolist()), triple(high.tolist())))
        return found


def path_of(wire: Wire, grid: YeeGrid) -> WirePath:
    """The path of a wire. Errors: a wire that leaves the grid, or lies within one node."""
    corners: np.ndarray = np.asarray(wire.points)
    legs = np.diff(corners, axis=0)
    sizes = np.linalg.norm(legs, axis=1)
    starts = np.concatenate(([0.0], np.cumsum(sizes)))
    for corner in wire.points:
        if not grid.contains(corner):
            raise ModelError(
                f"{text_of(wire)}: its point {_text(corner)} m lies outside the grid, {grid.extent_text()}; a wire "
                "along no axis must end in the grid"
            )
    node = [grid.nearest_node(a, q) for a, q in enumerate(wire.points[0])]
    nodes, places = [tuple(node)], [0.0]
    for number, (start, end) in enumerate(pairwise(wire.points)):
        middle = (0.5 * starts[-1] - starts[number]) / sizes[number] if len(sizes) > 1 else 0.0
        for part, axis, to in _crossings(start, end, grid, middle):
            node[axis] = to
            nodes.append(tuple(node))
            places.append(starts[number] + part * sizes[number])
            if len(nodes) > 2 and nodes[-1] == nodes[-3]:  # back through the edge that it came by
                del nodes[-2:], places[-2:]
    if len(nodes) < 2:
        raise ModelError(f"{text_of(wire)}: it is shorter than a cell and has no edge; refine the grid there")
    found, entered = np.array(nodes), np.array(places)
    left = np.append(entered[1:], starts[-1])
    positions = np.stack([grid.lines[a][found[:, a]] for a in range(3)], axis=1)
    at, along = _nearest(positions, entered, left, corners, starts)
    return WirePath(found, at, along, corners[[0, -1]], float(starts[-1]))


def _crossings(start: Point, end: Point, grid: YeeGrid, middle: float) -> list[tuple[float, int, int]]:
    """(part of the leg, axis, node entered) where a leg goes from the space of a node to that of the next.

    From the `middle` of a bent wire on, in parts of the leg, ties go along x first, before it along z: a wire that is
    its own mirror image has a chain that is.
    """
    found = []
    for axis, (low, high) in enumerate(zip(start, end)):
        first, last = grid.nearest_node(axis, low), grid.nearest_node(axis, high)
        way = 1 if last > first else -1
        for node in range(first, last, way):
            part = (grid.centres(axis)[min(node, node + way)] - low) / (high - low)
            found.append((round(part / TIE) * TIE, axis, node + way))
    return sorted(found, key=lambda one: (one[0], one[1] if one[0] >= middle else -one[1]))


def _nearest(
    points: np.ndarray, entered: np.ndarray, left: np.ndarray, corners: np.ndarray, starts: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The nearest points of a polyline to points (n, 3), and where along it, within a cell of where they are passed."""
    legs, sizes = np.diff(corners, axis=0), np.diff(starts)
    reach = np.linalg.norm(np.diff(points, axis=0), axis=1).max()
    place, at = np.empty(len(points)), np.empty((len(points), 3))
    first = np.clip(np.searchsorted(starts, entered - reach, "right") - 1, 0, len(legs) - 1)
    last = np.clip(np.searchsorted(starts, left + reach, "left"), 1, len(legs))
    for n, (low, high) in enumerate(zip(first.tolist(), last.tolist())):
        part = ((points[n] - corners[low:high]) * legs[low:high]).sum(axis=1) / sizes[low:high] ** 2
        part = np.clip(part, 0.0, 1.0)
        near = corners[low:high] + part[:, None] * legs[low:high]
        distance = np.linalg.norm(near - points[n], axis=1)
        best = distance <= distance.min() + TIE * reach  # of a bend's two sides the mean
        at[n], place[n] = near[best].mean(axis=0), (starts[low:high] + part * sizes[low:high])[best].mean()
    along = np.maximum.accumulate(place)
    late = along > place  # never back
    leg = np.clip(np.searchsorted(starts, along[late], "right") - 1, 0, len(legs) - 1)
    at[late] = corners[leg] + ((along[late] - starts[leg]) / sizes[leg])[:, None] * legs[leg]
    return at, along


def refuse_in_cpml(wire: Wire, path: WirePath, grid: YeeGrid, boundaries: Boundaries) -> None:
    """Refuse a wire along no axis in the absorbing layer, where bodies go straight on."""
    for axis, (low, high) in enumerate(boundaries.interior(grid)):
        beyond = (path.nodes[:, axis] < low) | (path.nodes[:, axis] > high)
        if beyond.any():
            place = path.at[int(beyond.argmax())]
            raise ModelError(
                f"{text_of(wire)}: it goes into the CPML across {AXES[axis]} at {_text(place)} m, where metal goes "
                "straight on along the axis; end it before the layer, or begin another Wire there, along the axis"
            )


def text_of(wire: Wire) -> str:
    """What to call a wire without a name."""
    return f"the wire from {_text(wire.points[0])} to {_text(wire.points[-1])} m"


def _text(point: Sequence[float]) -> str:
    return "({})".format(", ".join(f"{value:.6g}" for value in point))
