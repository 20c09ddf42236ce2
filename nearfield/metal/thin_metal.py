"""Metal too thin to hold the centre of a cell: the grid edges that sheets, wires, plates and thin cylinders take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from nearfield.bodies.combined import Difference
from nearfield.bodies.shapes import Cylinder, Extruded, Solid, Wire
from nearfield.entry.triples import Triple, triple
from nearfield.grid.yee import SAMPLE_TOLERANCE, YeeGrid, is_half
from nearfield.metal.patches import next_axes, shortest_cells

Nodes = Sequence[tuple[int, int] | None]  # first and last grid line along x, y, z; None along axes where a body curves


@dataclass(frozen=True)
class EdgeBox:
    """Metal edges of one component: index ranges [lower, upper) and, where not all of them, a mask."""

    component: int
    lower: Triple
    upper: Triple
    mask: np.ndarray | None = None

    @property
    def drawn(self) -> np.ndarray:
        """Which edges of the box are metal."""
        size = triple(high - low for low, high in zip(self.lower, self.upper))
        return np.broadcast_to(np.True_, size) if self.mask is None else self.mask

    def cut(self, axis: int, start: int, stop: int, before: int = 0, after: int = 0, shift: int = 0) -> EdgeBox:
        """The part from `start` to `stop` along an axis, its ends repeated `before` and `after` it, then shifted."""
        mask, lower, upper = self.mask, list(self.lower), list(self.upper)
        if mask is not None:
            mask = mask.take(np.arange(start, stop) - lower[axis], axis=axis)
            mask = np.pad(mask, [(before, after) if a == axis else (0, 0) for a in range(3)], mode="edge")
        lower[axis], upper[axis] = start - before + shift, stop + after + shift
        return EdgeBox(self.component, triple(lower), triple(upper), mask)


def thin_edges(shape: Solid, nodes: Nodes, grid: YeeGrid) -> list[EdgeBox]:
    """Edges of metal that is too thin to hold cell centres; the core of a cylinder always counts."""
    if isinstance(shape, Wire):
        return [box for ends in pairwise(shape.points) for box in _leg(ends, grid)]
    flat = [(a, pair[0]) for a, pair in enumerate(nodes) if pair and pair[0] == pair[1]]
    if isinstance(shape, Cylinder | Extruded | Difference):
        boxes = _core(shape, grid) if isinstance(shape, Cylinder) else []
        return boxes + [box for place in flat for box in _plate(shape, *place, grid)]
    return _span([pair for pair in nodes if pair]) if all(nodes) and flat else []


def _span(nodes: Sequence[Sequence[int]]) -> list[EdgeBox]:
    """All edges between grid lines that span a rectangle, a line or nothing."""
    lower, last = (triple(pick(pair) for pair in nodes) for pick in (min, max))
    ends = (triple(high + (a != c) for a, high in enumerate(last)) for c in range(3))
    return [EdgeBox(c, lower, upper) for c, upper in enumerate(ends) if lower[c] < last[c]]


def _leg(ends, grid: YeeGrid) -> list[EdgeBox]:
    """The edges of one straight part of a wire, of which nothing is drawn that lies beside the grid."""
    for line, (start, end) in zip(grid.lines, zip(*ends)):
        spare = SAMPLE_TOLERANCE * (line[-1] - line[0])
        if max(start, end) < line[0] - spare or min(start, end) > line[-1] + spare:
            return []
    return _span([tuple(grid.nearest_node(a, point[a]) for point in ends) for a in range(3)])


def _core(shape: Cylinder, grid: YeeGrid) -> list[EdgeBox]:
    """A chain of edges along the axis of a cylinder, so that a thin wire of any direction conducts."""
    inside, cell = any(shape._constant_along(a) for a in range(3)), min(shortest_cells(grid))
    if not inside and shape.radius > cell:
        return []
    points = _part_inside(shape, grid)
    if not inside and len(points):
        points = np.linspace(points[0], points[1], int(4 * np.linalg.norm(np.subtract(*points)) / cell) + 2)
    corners = [[grid.nearest_node(a, point[a]) for a in range(3)] for point in points.tolist()]
    boxes: list[EdgeBox] = []
    for before, corner in pairwise(corners):
        for a in range(3):
            if corner[a] != before[a]:
                done, rest = corner[:a], before[a + 1 :]
                boxes += _span([*zip(done, done), (before[a], corner[a]), *zip(rest, rest)])
    return boxes


def _part_inside(shape: Cylinder, grid: YeeGrid) -> np.ndarray:
    """Both ends of the part of a cylinder's axis that lies in the grid; none where it passes by."""
    start, along = np.asarray(shape.start), np.subtract(shape.end, shape.start)
    first, last = 0.0, 1.0
    for a in range(3):
        walls = grid.lines[a][[0, -1]] - start[a]
        if along[a] != 0.0:
            low, high = sorted(walls / along[a])
            first, last = max(first, low), min(last, high)
        elif walls[0] > 0.0 or walls[1] < 0.0:
            return np.empty((0, 3))
    return np.array([start + part * along for part in (first, last)] if first <= last else []).reshape(-1, 3)


def _plate(shape: Solid, n: int, node: int, grid: YeeGrid) -> list[EdgeBox]:
    """A flat outline on a grid plane: all edges of the cell faces whose centre is inside."""
    across, (lower, upper) = next_axes(n), shape.bounds()
    ranges = [(grid.nearest_node(a, lower[a]), grid.nearest_node(a, upper[a])) for a in across]
    if any(low == high for low, high in ranges):
        return []
    first, second = (grid.centres(a)[low:high] for a, (low, high) in zip(across, ranges))
    centres = dict(zip((n, *across), (np.zeros((1, 1)), first[:, None], second[None, :])))
    taken = shape._lateral_distance(*(centres[a] for a in range(3))) <= 0.0
    boxes = []
    for place, component in enumerate(across):
        padded = np.pad(taken, [(0, 0), (1, 1)] if place == 0 else [(1, 1), (0, 0)])
        edges = padded[1:] | padded[:-1] if place else padded[:, 1:] | padded[:, :-1]
        mask = np.moveaxis(edges[None], (0, 1, 2), (n, *across))
        start = dict(zip((n, *across), (node, *(low for low, _ in ranges))))
        low = triple(start[a] for a in range(3))
        boxes.append(EdgeBox(component, low, triple(at + size for at, size in zip(low, mask.shape)), mask))
    return boxes


def extend(box: EdgeBox, grid: YeeGrid, interior) -> EdgeBox | None:
    """The part outside the CPML, continued straight through it where it reaches its inner face; None if nothing."""
    for a, (low, high) in enumerate(interior):
        nodes = not is_half(box.component, a)
        first, last, end = low, high + nodes, grid.cells[a] + nodes
        start, stop = max(box.lower[a], first), min(box.upper[a], last)
        if start >= stop:
            return None
        box = box.cut(a, start, stop, first if start == first else 0, end - last if stop == last else 0)
    return box


def over_seams(box: EdgeBox, grid: YeeGrid) -> list[EdgeBox]:
    """The box, with what lies on the last line of a closed axis on the first one, which is the same."""
    boxes = [box]
    for a, last in enumerate(grid.cells):
        if grid.closed(a) and not is_half(box.component, a):
            before = [each.cut(a, each.lower[a], min(each.upper[a], last)) for each in boxes if each.lower[a] < last]
            boxes = before + [each.cut(a, last, each.upper[a], shift=-last) for each in boxes if each.upper[a] > last]
    return boxes
