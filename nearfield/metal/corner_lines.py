"""Free right-angled corners of solid metal that run along an axis: where faces of bodies meet.

A corner counts if metal fills one of the four quarters about its line and no other metal touches the line: seams of
bodies, inner corners, and corners on which sheets stand are none, those of an opening in metal are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nearfield.bodies.combined import Difference
from nearfield.bodies.mesh import EVEN, Mesh
from nearfield.bodies.outlines import straight_sides
from nearfield.bodies.shapes import Solid
from nearfield.grid.boundaries import Boundaries
from nearfield.grid.yee import YeeGrid
from nearfield.metal.followed_metal import FollowedMetal
from nearfield.metal.patches import next_axes, pair, shortest_cells

if TYPE_CHECKING:
    from nearfield.metal.metal import Body

BESIDE = 1e-2  # shortest cells from a line at which metal about it is looked for
QUARTERS = ((1, 1), (-1, 1), (-1, -1), (1, -1))  # signs of (u, v)
WAYS = ((1, 0), (0, 1), (-1, 0), (0, -1))  # between the quarters, the first before the first


Span = tuple[tuple[float, float], float, float]  # of a line along an axis: its place across, its ends (m)


class CornerLine(NamedTuple):
    """A corner of metal along an axis: its place (m) along the two next axes, the signs of the ways out of the metal
    along them, and the cells along the axis in which the metal has it."""

    axis: int
    place: tuple[float, float]
    way: tuple[int, int]
    cells: np.ndarray


class Faces(NamedTuple):
    """Flat faces across one axis: their places (n,), and lower and upper ends (n, 3) of the boxes about them (m)."""

    place: np.ndarray
    lower: np.ndarray
    upper: np.ndarray


def corner_lines(
    grid: YeeGrid, boundaries: Boundaries, bodies: Sequence[Body], drawn: Sequence[bool]
) -> Iterator[CornerLine]:
    """All of them; `bodies` in the order of the structures: metal and what may lie in it; `drawn`: whose faces lie
    where they are drawn."""
    metal = FollowedMetal(grid, bodies, 0)
    ends = np.array([(body.lower, body.upper) for body in bodies]).reshape(-1, 2, 3)
    margin = metal.margin
    faces = [_faces([body for body, one in zip(bodies, drawn) if one], axis) for axis in range(3)]
    interior = boundaries.interior(grid)
    for axis in range(3):
        u, v = next_axes(axis)
        found = _meetings(faces[u], faces[v], (u, v, axis), margin)
        edges = chain.from_iterable(edges_of(body.shape, axis) for body, one in zip(bodies, drawn) if one)
        for place, low, high in _joined(grid, (u, v), chain(found, edges), margin):
            if all(_strictly_inside(grid, a, q, interior[a], margin) for a, q in zip((u, v), place)):
                yield from _looked_at(metal, ends, axis, place, (low, high), interior[axis])


def vertices(grid: YeeGrid, boundaries: Boundaries, lines: Iterable[CornerLine]) -> Iterator[int]:
    """Of each place in the open where corners along all three axes end: the cells of the shortest of them; those that
    end on a magnetic wall go on in the mirror."""
    ends: dict[tuple[int, ...], dict[int, int]] = {}
    for line in lines:
        place = [0] * 3
        for a, q in zip(next_axes(line.axis), line.place):
            place[a] = _node(grid, a, int(np.argmin(np.abs(grid.lines[a] - q))))
        for first, last in _runs(line.cells, grid.closed(line.axis)):
            mirrored = [
                node == end and boundaries.face(line.axis, side) == "pmc"
                for node, end, side in ((first, 0, 0), (last, grid.cells[line.axis], 1))
            ]
            for node in (first, last):
                place[line.axis] = _node(grid, line.axis, node)
                ends.setdefault(tuple(place), {})[line.axis] = (last - first) * 2 ** sum(mirrored)
    yield from (min(lengths.values()) for lengths in ends.values() if len(lengths) == 3)


def _node(grid: YeeGrid, axis: int, node: int) -> int:
    return node % grid.cells[axis] if grid.closed(axis) else node


def _runs(cells: np.ndarray, closed: bool) -> Iterator[tuple[int, int]]:
    """First and one past the last of the cells in each unbroken run; past the end of an axis that closes where one goes
    on there."""
    turn = 0
    if closed and not cells.all():
        turn = int(np.argmin(cells))  # begin where there is none
    change = np.diff(np.roll(cells, -turn).astype(int), prepend=0, append=0)
    yield from zip((np.flatnonzero(change > 0) + turn).tolist(), (np.flatnonzero(change < 0) + turn).tolist())


def _faces(bodies: Sequence[Body], axis: int) -> Faces:
    found = [face for body in bodies for face in faces_of(body.shape, axis)]
    return Faces(*(np.array([face[n] for face in found]).reshape(-1, *[3] * (n > 0)) for n in range(3)))


def faces_of(shape: Solid, axis: int) -> Iterator[tuple[float, np.ndarray, np.ndarray]]:
    """(place, lower and upper end) of the flat faces across an axis of one body, and of what is cut out of it."""
    if isinstance(shape, Difference):
        for part in (shape.body, *shape.minus):
            yield from faces_of(part, axis)
        return
    bounds = np.array(shape.bounds())
    if isinstance(shape, Mesh):  # its large ones; where they meet, `edges_of` has all
        yield from ((place, *bounds) for place in shape._levels(axis))
        return
    if shape._constant_along(axis):
        yield from ((float(end[axis]), *bounds) for end in bounds)
        return
    for normal in (a for a in range(3) if a != axis and shape._constant_along(a)):
        sides = straight_sides(shape, normal) or (np.empty((0, 2)), np.empty((0, 2)))
        column = next_axes(normal).index(axis)
        for start, end in zip(*sides):
            if start[column] == end[column]:
                lower, upper = bounds.copy()
                other = next_axes(normal)[1 - column]
                lower[other], upper[other] = sorted((start[1 - column], end[1 - column]))
                yield float(start[column]), lower, upper


def edges_of(shape: Solid, axis: int) -> Iterator[Span]:
    """The edges along an axis at which faces across the two others meet, of a surface of triangles."""
    if isinstance(shape, Difference):
        for part in (shape.body, *shape.minus):
            yield from edges_of(part, axis)
    if not isinstance(shape, Mesh):
        return
    across = next_axes(axis)
    corners, triangles = shape._surface.corners + np.array(shape.offset), shape._surface.triangles
    tiny = EVEN * float(np.ptp(corners, axis=0).max())
    sides = np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]], axis=2).reshape(-1, 2).astype(np.int64)
    key, number = np.unique(sides[:, 0] * len(corners) + sides[:, 1], return_inverse=True)
    sides = np.stack(np.divmod(key, len(corners)), axis=1)
    met = np.ones(len(sides), dtype=bool)
    for a in across:
        met &= np.bincount(number.reshape(-1), np.repeat(shape._flat_across(a), 3), len(sides)) > 0
    for start, end in corners[sides[met]]:
        if (np.abs(start - end)[list(across)] <= tiny).all():
            low, high = sorted((float(start[axis]), float(end[axis])))
            yield pair(float(start[a]) for a in across), low, high


def _meetings(first: Faces, second: Faces, axes: Sequence[int], margin: float) -> Iterator[Span]:
    """The lines along the last of three axes on which faces across the two before meet."""
    u, v, along = axes
    order = np.argsort(first.place, kind="stable")
    places = first.place[order]
    for place, lower, upper in zip(*second):
        start, stop = np.searchsorted(places, (lower[u] - margin, upper[u] + margin))
        near = order[start:stop]
        near = near[(first.lower[near, v] <= place + margin) & (first.upper[near, v] >= place - margin)]
        low = np.maximum(first.lower[near, along], lower[along])
        high = np.minimum(first.upper[near, along], upper[along])
        for number, start, stop in zip(near, low, high):
            if start < stop:
                yield (float(first.place[number]), float(place)), float(start), float(stop)


def _joined(grid: YeeGrid, across: Sequence[int], found: Iterable[Span], margin: float) -> list[Span]:
    """Lines along an axis, each once, over all of its length; those on the upper face of a periodic axis on the lower
    one, which is the same, and those within a margin (m) of each other as one."""
    spans: dict[tuple[int, int], Span] = {}
    for place, start, stop in found:
        place = pair(_folded(grid, a, q, margin) for a, q in zip(across, place))
        key = pair(round(q / margin) for q in place)
        first, low, high = spans.get(key, (place, start, stop))
        spans[key] = first, min(low, start), max(high, stop)
    return list(spans.values())


def _folded(grid: YeeGrid, axis: int, place: float, margin: float) -> float:
    low, high = (float(end) for end in grid.lines[axis][[0, -1]])
    return low if grid.closed(axis) and abs(place - high) <= margin else place


def _strictly_inside(grid: YeeGrid, axis: int, place: float, interior: tuple[int, int], margin: float) -> bool:
    """Whether a line is off the walls and the CPML, in which bodies go straight on."""
    line = grid.lines[axis]
    if grid.closed(axis):
        return bool(line[0] - margin <= place < line[-1] - margin)
    beside = BESIDE * min(shortest_cells(grid))
    return bool(line[interior[0]] + beside < place < line[interior[1]] - beside)


def _looked_at(
    metal: FollowedMetal, bounds: np.ndarray, axis: int, place, span, interior: tuple[int, int]
) -> Iterator[CornerLine]:
    """The corners on one line, by the quarter that is metal."""
    grid, (u, v) = metal.grid, next_axes(axis)
    cells = np.arange(grid.cells[axis])
    inner = cells if grid.closed(axis) else np.clip(cells, interior[0], interior[1] - 1)
    middle = grid.centres(axis)[inner]
    near = np.nonzero((middle > span[0]) & (middle < span[1]))[0]
    if not near.size:
        return
    step = BESIDE * min(shortest_cells(grid))
    present = np.nonzero(_beside(grid, bounds, (u, v), place, step))[0].tolist()

    def holds(ways: Sequence[tuple[int, int]]) -> np.ndarray:
        at: list[np.ndarray] = [np.empty(0)] * 3
        at[axis] = np.repeat(middle[near][None], len(ways), axis=0)
        for n, a in enumerate((u, v)):
            beside = np.array([place[n] + step * way[n] for way in ways])
            at[a] = np.broadcast_to(in_cell(grid, a, beside)[:, None], at[axis].shape)
        return metal.holds(at, present)

    quarters, between = holds(QUARTERS), holds(WAYS)
    for number, signs in enumerate(QUARTERS):
        alone = quarters[number] & (quarters.sum(axis=0) == 1)
        sides = number, (number + 1) % 4
        other = [way for way in range(4) if way not in sides]
        alone &= ~between[other].any(axis=0)
        if alone.any():
            found = np.zeros(cells.size, dtype=bool)
            found[near[alone]] = True
            yield CornerLine(axis, place, (-signs[0], -signs[1]), found)


def _beside(
    grid: YeeGrid, bounds: np.ndarray, across: Sequence[int], place: Sequence[float], step: float
) -> np.ndarray:
    """Which bodies, by their `bounds` (n, 2, 3), come within a step (m) of a line."""
    found = np.ones(len(bounds), dtype=bool)
    for a, q in zip(across, place):
        at = in_cell(grid, a, q + step * np.array([[-1.0], [0.0], [1.0]]))
        found &= ((bounds[:, 0, a] - step <= at) & (at <= bounds[:, 1, a] + step)).any(axis=0)
    return found


def in_cell(grid: YeeGrid, axis: int, places: np.ndarray) -> np.ndarray:
    """Places along an axis, past the ends of a closed one those that they repeat."""
    if not grid.closed(axis):
        return places
    low, high = grid.lines[axis][[0, -1]]
    return np.where((places < low) | (places > high), low + np.mod(places - low, high - low), places)
