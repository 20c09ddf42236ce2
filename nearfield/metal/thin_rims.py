"""Thin metal across no axis with a bead of one cell along its free rims, which are drawn back (docs/method.md).

A face that thin metal cuts has both of its sides, but one value. Where metal goes on that moves one side by a part of a
cell, but at a rim the grid cannot tell where in a cell it ends. A bead as thick as a cell has its sides in faces
of their own; it acts as a rim further out by a part `RIM` of the thickness that it adds, and is drawn back by that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from nearfield.bodies.geometry import FilledShape, Shape
from nearfield.bodies.revolved import Revolved
from nearfield.bodies.shapes import Cylinder, Polygon, Wire
from nearfield.entry.triples import triple
from nearfield.grid.boundaries import Boundaries
from nearfield.grid.yee import YeeGrid
from nearfield.media.surface_media import ResistiveSheet, is_metal
from nearfield.metal.midlines import beaded, divided, midline
from nearfield.metal.patches import cell_near, next_axes
from nearfield.metal.thickness import mean_thickness
from nearfield.metal.wire_ends import Edges

RIM = 1.0 / 3.0  # of the thickness added, by which rims are drawn back (docs/method.md has what it was measured on)
TOUCHES = 0.1  # cells from other metal within which a rim or a plate touches it
FED = 1.0  # cells from an edge of a circuit within which a rim stays where it is
BEAD = 1.5  # cells from a rim at an end of an extrusion up to which it is thick
TURNS = 24  # points round a rim


@dataclass(frozen=True)
class Beads:
    """What stands for thin metal of some `thickness`: bodies with beads a `cell` thick, free rims `drawn_back` (m)."""

    parts: tuple[Shape, ...]
    thickness: float
    cell: float
    drawn_back: float


def beads_of(
    bodies: Sequence[FilledShape], grid: YeeGrid, boundaries: Boundaries, gaps: Sequence[Edges]
) -> dict[int, Beads]:
    """Thin metal with free rims, by number; all other acts as it is drawn."""
    thin = {}
    for number, body in enumerate(bodies):
        thickness = mean_thickness(body.shape) if is_metal(body.medium) else np.inf
        if np.isfinite(thickness):
            lower, upper = body.shape.bounds()
            cell = max(cell_near(grid, a, lower[a], upper[a]) for a in range(3) if not body.shape._constant_along(a))
            if thickness < cell:
                thin[number] = thickness, cell
    found = {}
    for number, (thickness, cell) in thin.items():
        parts, back = _Plate(bodies, number, thin, grid, boundaries, gaps).parts(), RIM * (cell - thickness)
        if parts:
            found[number] = Beads(parts, thickness, cell, back)
    return found


class _Plate:
    """One thin body among all: where its rims are, and what they touch."""

    def __init__(self, bodies, number: int, thin, grid: YeeGrid, boundaries: Boundaries, gaps) -> None:
        self._bodies, self._number, self._thin = bodies, number, thin
        self._grid, (self._thickness, self._cell) = grid, thin[number]
        interior = boundaries.interior(grid)
        self._ends = [(line[low], line[high]) for line, (low, high) in zip(grid.lines, interior)]
        self._fed = [self._nodes(edges) for edges in gaps]

    def _nodes(self, edges: Edges) -> np.ndarray:
        """The nodes of edges of circuits (n, 3), m."""
        component, *index = edges
        first = np.stack([n.ravel() for n in np.broadcast_arrays(*index)], axis=1)
        ends = [np.minimum(first + by * (np.arange(3) == component), self._grid.cells) for by in (0, 1)]
        nodes = np.concatenate(ends)
        return np.stack([self._grid.lines[a][nodes[:, a]] for a in range(3)], axis=1)

    def parts(self) -> tuple[Shape, ...]:
        """This body with beads; none if it has no free rims or no midline, or would touch other metal with them."""
        shape = self._bodies[self._number].shape
        if isinstance(shape, Cylinder):
            return self._disc(shape)
        if isinstance(shape, Revolved):
            return self._turned(shape)
        return self._extruded(shape) if isinstance(shape, Polygon) else ()

    def _disc(self, shape: Cylinder) -> tuple[Shape, ...]:
        start, end = np.asarray(shape.start), np.asarray(shape.end)
        middle, way = 0.5 * (start + end), (end - start) / shape.length
        side = np.cross(way, np.eye(3)[np.argmin(np.abs(way))])
        side /= np.linalg.norm(side)
        turn = _turn(TURNS)
        rim = middle + shape.radius * (turn[:, :1] * side + turn[:, 1:] * np.cross(way, side))
        parts = np.linspace(0.0, 1.0, int(2.0 * shape.radius / self._cell) + 2)[:, None, None]
        back = self._back(rim)
        if back is None or back >= shape.radius or self._joins((middle + parts * (rim - middle)).reshape(-1, 3)):
            return ()
        low, high = (triple((middle + by * 0.5 * self._cell * way).tolist()) for by in (-1.0, 1.0))
        return (Cylinder(start=low, end=high, radius=shape.radius - back),)

    def _turned(self, shape: Revolved) -> tuple[Shape, ...]:
        line = midline(np.asarray(shape.profile))
        if line is None:
            return ()
        back = [None if line[n, 0] < self._cell else self._back(self._round(shape, line[[n]])) for n in (0, -1)]
        if back == [None, None] or self._joins(self._round(shape, divided(line, 0.5 * self._cell))):
            return ()
        corners = beaded(line, self._thickness, self._cell, (back[0], back[1]))
        if corners is None or corners[:, 0].min() < -self._thickness:
            return ()
        corners[:, 0] = np.maximum(corners[:, 0], 0.0)
        return (Revolved(axis=shape.axis, profile=tuple(map(tuple, corners.tolist())), center=shape.center),)

    def _round(self, shape: Revolved, line: np.ndarray) -> np.ndarray:
        """Points (n, 3) round the axis of a profile's points (m, 2)."""
        turn, found = _turn(TURNS), np.empty((len(line), TURNS, 3))
        for a, part in zip((shape._along, *next_axes(shape._along)), (None, 0, 1)):
            across = line[:, 1:] + np.zeros(TURNS) if part is None else line[:, :1] * turn[:, part]
            found[..., a] = shape.center[a] + across
        return found.reshape(-1, 3)

    def _extruded(self, shape: Polygon) -> tuple[Shape, ...]:
        line, axis, cell = midline(np.asarray(shape.vertices)), shape._normal, self._cell
        lines = self._grid.lines[axis]
        if line is None or not ((shape.lower <= lines) & (lines <= shape.upper)).any():
            return ()
        levels = np.linspace(shape.lower, shape.upper, int(2.0 * (shape.upper - shape.lower) / cell) + 2)
        points = divided(line, 0.5 * cell)
        back = [self._back(_spread(axis, line[[n]], levels)) for n in (0, -1)]
        ends = [self._back(_spread(axis, points, levels[[n]])) for n in (0, -1)]
        if back + ends == [None] * 4 or self._joins(_spread(axis, points, levels)):
            return ()
        low, high = shape.lower + (ends[0] or 0.0), shape.upper - (ends[1] or 0.0)
        thin, thick = (beaded(line, size, cell, (back[0], back[1])) for size in (self._thickness, cell))
        if thin is None or thick is None or low >= high:
            return ()
        spans = [(thin, low, high)]
        reach = BEAD * cell
        spans += [(thick, low, min(low + reach, high))] if ends[0] is not None else []
        spans += [(thick, max(high - reach, low), high)] if ends[1] is not None else []
        return tuple(
            Polygon(axis=shape.axis, vertices=tuple(map(tuple, corners.tolist())), lower=first, upper=last)
            for corners, first, last in spans
        )

    def _back(self, rim: np.ndarray) -> float | None:
        """How far a rim is drawn back: None where a part of it touches metal, a circuit or the grid's end."""
        near = TOUCHES * self._cell
        for a, (low, high) in enumerate(self._ends):
            if (rim[:, a] <= low + near).any() or (rim[:, a] >= high - near).any():
                return None
        if any((_apart(rim, nodes) < FED * self._cell).any() for nodes in self._fed):
            return None
        touches = any((distance < near).any() for _, distance in self._others(rim))
        return None if touches else RIM * (self._cell - self._thickness)

    def _joins(self, points: np.ndarray) -> bool:
        """Whether beads might touch metal that the thin metal does not touch."""
        for other, distance in self._others(points):
            reach = 0.5 * (self._cell + (self._thin[other][1] if other in self._thin else 0.0))
            if TOUCHES * self._cell <= distance.min() < reach:
                return True
        return False

    def _others(self, points: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
        """(number, distance of points from it) of other metal, but where later bodies lie in it."""
        at = [points[:, a] for a in range(3)]
        for number, body in enumerate(self._bodies):
            if number == self._number or not is_metal(body.medium):
                continue
            if isinstance(body.shape, Wire):
                yield number, _apart(points, np.asarray(body.shape.points))
                continue
            distance = body.shape._signed_distance(*at)
            for later in self._bodies[number + 1 :]:
                if not is_metal(later.medium) and not isinstance(later.medium, ResistiveSheet):
                    distance = np.maximum(distance, -later.shape._signed_distance(*at))
            yield number, distance


def _turn(count: int) -> np.ndarray:
    angle = 2.0 * np.pi * np.arange(count) / count
    return np.stack((np.cos(angle), np.sin(angle)), axis=1)


def _spread(axis: int, line: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """Points (n, 3) of a line across an axis at all levels along it."""
    found = np.empty((len(line), len(levels), 3))
    found[..., axis] = levels
    for n, a in enumerate(next_axes(axis)):
        found[..., a] = line[:, n, None]
    return found.reshape(-1, 3)


def _apart(points: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Distance (m) of points (n, 3) from the nearest of others (m, 3)."""
    return np.array([np.linalg.norm(others - point, axis=1).min() for point in points])
