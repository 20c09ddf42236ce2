"""Metal too thin to hold the centre of a cell: the grid edges that sheets, wires, plates and thin cylinders take."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from nearfield.bodies.shapes import Cylinder, Extruded, Solid, Wire
from nearfield.grid.yee import SAMPLE_TOLERANCE, YeeGrid, is_half


@dataclass(frozen=True)
class EdgeBox:
    """Metal edges of one component: index ranges [lower, upper) and, where not all of them, a mask."""

    component: int
    lower: tuple[int, ...]
    upper: tuple[int, ...]
    mask: np.ndarray | None = None


def thin_edges(shape: Solid, nodes, grid: YeeGrid) -> list[EdgeBox]:
    """Edges of metal that is too thin to hold cell centres; the core of a cylinder always counts."""
    if isinstance(shape, Wire):
        return [box for ends in pairwise(shape.points) for box in _leg(ends, grid)]
    if isinstance(shape, Cylinder | Extruded):
        boxes = _core(shape, grid) if isinstance(shape, Cylinder) else []
        flat = [(a, pair[0]) for a, pair in enumerate(nodes) if pair and pair[0] == pair[1]]
        return boxes + [box for place in flat for box in _plate(shape, *place, grid)]
    if all(nodes) and any(low == high for low, high in nodes):
        return _span(nodes)
    return []


def _span(nodes) -> list[EdgeBox]:
    """All edges between grid lines that span a rectangle, a line or nothing."""
    pairs = [(min(pair), max(pair)) for pair in nodes]
    boxes = []
    for c, (low, high) in enumerate(pairs):
        if low < high:
            upper = tuple(pair[1] + (a != c) for a, pair in enumerate(pairs))
            boxes.append(EdgeBox(c, tuple(pair[0] for pair in pairs), upper))
    return boxes


def _leg(ends, grid: YeeGrid) -> list[EdgeBox]:
    """The edges of one straight part of a wire, of which nothing is drawn that lies beside the grid."""
    for line, (start, end) in zip(grid.lines, zip(*ends)):
        spare = SAMPLE_TOLERANCE * (line[-1] - line[0])
        if max(start, end) < line[0] - spare or min(start, end) > line[-1] + spare:
            return []
    return _span([tuple(grid.nearest_node(a, point[a]) for point in ends) for a in range(3)])


def _core(shape: Cylinder, grid: YeeGrid) -> list[EdgeBox]:
    """A chain of edges along the axis of a cylinder, so that a thin wire of any direction conducts."""
    inside = [a for a in range(3) if shape._constant_along(a)]
    cell = min(float(grid.primary(a).min()) for a in range(3))
    if not inside and shape.radius > cell:
        return []
    points = _part_inside(shape, grid)
    if not inside and points:
        count = int(4 * np.linalg.norm(np.subtract(*points)) / cell) + 2
        points = np.linspace(*points, count).tolist()
    corners = [tuple(grid.nearest_node(a, point[a]) for a in range(3)) for point in points]
    boxes, at = [], list(corners[0]) if corners else []
    for corner in corners[1:]:
        for a in range(3):
            if corner[a] != at[a]:
                boxes += _span([(at[b], corner[a] if b == a else at[b]) for b in range(3)])
                at[a] = corner[a]
    return boxes


def _part_inside(shape: Cylinder, grid: YeeGrid) -> list[np.ndarray]:
    """Both ends of the part of a cylinder's axis that lies in the grid; none where it passes by."""
    start, along = np.asarray(shape.start), np.subtract(shape.end, shape.start)
    first, last = 0.0, 1.0
    for a in range(3):
        walls = grid.lines[a][[0, -1]] - start[a]
        if along[a] != 0.0:
            low, high = sorted(walls / along[a])
            first, last = max(first, low), min(last, high)
        elif walls[0] > 0.0 or walls[1] < 0.0:
            return []
    return [start + part * along for part in (first, last)] if first <= last else []


def _plate(shape: Solid, n: int, node: int, grid: YeeGrid) -> list[EdgeBox]:
    """A flat outline on a grid plane: all edges of the cell faces whose centre is inside."""
    u, v = (n + 1) % 3, (n + 2) % 3
    lower, upper = shape.bounds()
    ranges = [(grid.nearest_node(a, lower[a]), grid.nearest_node(a, upper[a])) for a in (u, v)]
    if any(low == high for low, high in ranges):
        return []
    first, second = (grid.centres(a)[low:high] for a, (low, high) in zip((u, v), ranges))
    centres = {n: np.zeros((1, 1)), u: first[:, None], v: second[None, :]}
    taken = shape._lateral_distance(*(centres[a] for a in range(3))) <= 0.0
    boxes = []
    for c, other in ((u, 1), (v, 0)):
        widths = [(0, 0), (0, 0)]
        widths[other] = (1, 1)
        padded = np.pad(taken, widths)
        edges = padded[:, 1:] | padded[:, :-1] if other else padded[1:] | padded[:-1]
        low, high, full = [0, 0, 0], [0, 0, 0], np.empty((1, 1, 1))
        low[n], high[n] = node, node + 1
        for place, a in enumerate((u, v)):
            low[a], high[a] = ranges[place][0], ranges[place][0] + edges.shape[place]
        full = np.moveaxis(edges[None], (0, 1, 2), (n, u, v))
        boxes.append(EdgeBox(c, tuple(low), tuple(high), full))
    return boxes


def extend(box: EdgeBox, grid: YeeGrid, interior) -> EdgeBox | None:
    """The part outside the CPML, continued straight through it where it reaches its inner face; None if nothing."""
    lower, upper, mask = list(box.lower), list(box.upper), box.mask
    for a, (low, high) in enumerate(interior):
        nodes = not is_half(box.component, a)
        first, last, end = low, high + nodes, grid.cells[a] + nodes
        start, stop = max(lower[a], first), min(upper[a], last)
        if start >= stop:
            return None
        before, after = (first if start == first else 0), (end - last if stop == last else 0)
        if mask is not None:
            mask = mask.take(np.arange(start, stop) - lower[a], axis=a)
            mask = np.pad(mask, [(before, after) if b == a else (0, 0) for b in range(3)], mode="edge")
        lower[a], upper[a] = start - before, stop + after
    return EdgeBox(box.component, tuple(lower), tuple(upper), mask)


def over_seams(box: EdgeBox, grid: YeeGrid) -> list[EdgeBox]:
    """The box, with what lies on the last line of a closed axis on the first one, which is the same."""
    boxes = [box]
    for a in range(3):
        if grid.closed(a) and not is_half(box.component, a):
            boxes = [part for each in boxes for part in _cut_at(each, a, grid.cells[a])]
    return boxes


def _cut_at(box: EdgeBox, axis: int, last: int) -> list[EdgeBox]:
    if box.upper[axis] <= last:
        return [box]
    found = []
    for start, stop, shift in ((box.lower[axis], last, 0), (last, last + 1, last)):
        if start < stop:
            lower, upper, mask = list(box.lower), list(box.upper), box.mask
            lower[axis], upper[axis] = start - shift, stop - shift
            if mask is not None and mask.shape[axis] > 1:
                mask = mask.take(np.arange(start, stop) - box.lower[axis], axis=axis)
            found.append(EdgeBox(box.component, tuple(lower), tuple(upper), mask))
    return found
