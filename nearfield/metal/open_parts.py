"""Open fractions of the grid's edges and faces beside metal.

An edge is cut where the metal's own surface meets it (bisection), a face by the polygon through these cuts
(cut_faces.py). A face that is small against its edges makes the leap-frog unstable, so that its area counts as at least

    a >= sum over its edges e of f_e (c dt/(n d_e))^2 V_e/v,       n: least index of any medium

with d_e the cell's length across the edge, v = a^(-1/2) the weight of the face, as far as whole faces beside small ones
can bear it, and V_e the mean of the weights of the four faces about the edge: docs/method.md has the proof. What small
faces count with more, those beyond their open edges count with less, as far as the same bound lets them: the flux
through both is that of their open areas.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nearfield.grid.yee import YeeGrid
from nearfield.machine.schedule import kept_by_thread
from nearfield.metal.edge_cuts import KEPT, EdgeCuts
from nearfield.metal.followed_metal import NEGLIGIBLE, Interval
from nearfield.metal.open_faces import OpenFaces
from nearfield.metal.patches import next_axes, pair, shape_of, shortest_cells
from nearfield.metal.thin_walls import kept

if TYPE_CHECKING:
    from nearfield.metal.metal import Body
    from nearfield.metal.patches import Patch, Window


class _Counted(NamedTuple):
    """Areas of faces: what they count with before any gives up some of it, what each could give, and what it asks of
    those beyond its bottom, right, top and left side."""

    area: np.ndarray
    room: np.ndarray
    asked: list[np.ndarray]


class OpenParts:
    """Open fractions on planes across one axis; windows are index ranges along the two cyclically next axes.

    `bodies` in the order of the structures: metal that is followed, and what may lie in it. `light`: c dt/n (m).
    """

    def __init__(self, grid: YeeGrid, interior, bodies: Sequence[Body], axis: int, light: float) -> None:
        self.axis, self.across, self.light = axis, next_axes(axis), light
        shortest = sorted((light / cell) ** 2 for cell in shortest_cells(grid))
        self._heaviest = max(1.0, 2.0 / (shortest[1] + shortest[2]) - 3.0)
        self._cuts = EdgeCuts(grid, interior, bodies, axis)
        self._faces = OpenFaces(self._cuts)
        keep = kept_by_thread(KEPT)
        self._around, self._interval = keep(self._draw_around), keep(self._draw_interval)
        self._counted = keep(self._draw_counted)

    def signature(self, plane: int) -> tuple:
        """Equal for planes with the same open parts of their own edges and faces and of those in the cells above."""
        return self._cuts.signature(plane)

    def fraction(self, patch: Patch) -> np.ndarray | None:
        """Open fraction of E edges, or of faces as H counts with it; 1 for faces without an open edge, None where all
        are whole."""
        if patch.magnetic:
            return self._face_fraction(patch.component - 3, patch.plane, patch.window)
        found = self._interval(patch.component, patch.plane, _wider(patch.window))
        return None if found is None else _part(found[1] - found[0], patch.window, 1, 1)

    def boundary(self, patch: Patch) -> np.ndarray | None:
        """Metal's surface about faces whose edges are cut, over their whole area times the dual length (1/m).

        -1 for other faces, None where nothing is cut.
        """
        found = self._faces.boundary(patch.component - 3, patch.plane, _wider(patch.window))
        return None if found is None else _part(found, patch.window, 2, 2)

    def _face_fraction(self, normal: int, plane: int, window: Window) -> np.ndarray | None:
        wide = _wider(window)
        counted = self._counted(normal, plane, wide)
        if counted is None:
            return None
        taken = np.zeros(shape_of(window))
        for side, (_, moved, _, _) in enumerate(self._cuts.sides(normal, plane)):
            way = 1 if side in (1, 2) else -1
            beyond = self._counted(normal, plane + way, wide) if moved == self.axis else counted
            if beyond is not None:
                taken = taken + _part(beyond.asked[side - 2], window, *(1 + way * (moved == a) for a in self.across))
        area, room = (_part(values, window, 1, 1) for values in (counted.area, counted.room))
        return area - np.minimum(taken, room)

    def _draw_counted(self, normal: int, plane: int, window: Window) -> _Counted | None:
        """None where all faces are whole, and none beside them is small."""
        sides, own = self._cuts.sides(normal, plane), self._faces.divided(normal, plane, window)[0]
        around = [self._around(along, at, window) for along, _, at, _ in sides]
        if own is None and all(mean is None for mean in around):
            return None
        shape = shape_of(window)
        area = np.ones(shape) if own is None else _part(own, window, 1, 1).copy()
        heavy = [np.ones(shape) if mean is None else _part(mean, window, *at) for mean, (*_, at) in zip(around, sides)]
        near = np.nonzero(np.logical_or.reduce([area < 1.0, *(mean > 1.0 for mean in heavy)]))
        least, parts = np.zeros(near[0].size), []
        for (along, moved, at, shift), mean in zip(sides, heavy):
            ends = self._interval(along, at, window)
            parts.append(np.ones(least.size) if ends is None else _part(ends[1] - ends[0], window, *shift)[near])
            length = np.broadcast_to(self._cuts.lengths(moved, plane, window), shape)[near]
            least = least + parts[-1] * mean[near] * (self.light / length) ** 2
        found, least = area[near], least / self._weight(area[near])
        closed = sum(parts) == 0.0
        area[near] = np.where(closed, 1.0, np.maximum(found, least))
        room = np.zeros(shape)
        room[near] = np.where(closed, 0.0, np.maximum(found - least, 0.0))
        asked = [np.zeros(shape) for _ in sides]
        per_square = (area[near] - found) / np.where(closed, np.inf, sum(part**2 for part in parts))
        for values, part in zip(asked, parts):
            values[near] = part**2 * per_square
        return _Counted(area, room, asked)

    def _weight(self, area: np.ndarray) -> np.ndarray:
        """Weight of a face in the bound: small ones more, by as much as whole ones beside them can bear."""
        weight = np.ones_like(area)
        small = area < 1.0
        weight[small] = np.minimum(self._heaviest, 1.0 / np.sqrt(np.maximum(area[small], NEGLIGIBLE**2)))
        return weight

    def _draw_around(self, along: int, plane: int, window: Window) -> np.ndarray | None:
        """Mean weight of the four faces about edges, one more edge along both axes; None where it is 1."""
        total, cut = np.zeros(()), False
        for normal, moved in permutations(next_axes(along)):
            for by in (0, 1):
                area = self._faces.divided(normal, plane - by * (moved == self.axis), window)[0]
                cut |= area is not None
                part = 1.0 if area is None else self._weight(_part(area, window, *self._before(moved, by), more=1))
                total = total + 0.5 * self._cuts.share(moved, by, plane, window) * part
        return total if cut else None

    def _before(self, moved: int, by: int) -> tuple[int, int]:
        """The first sample of faces, of which there is one more on all sides, `by` before edges along an axis."""
        return pair(1 - by * (moved == a) for a in self.across)

    def _draw_interval(self, component: int, plane: int, window: Window) -> Interval | None:
        """Where edges along an axis begin and end to be open, 0 to 1, one edge past the window; None: all are."""
        found, shape = self._cuts.surfaces(component, plane, window), [n + 1 for n in shape_of(window)]
        given_up = np.zeros((2, *shape), dtype=bool)
        for (normal, moved), sides in zip(permutations(next_axes(component)), ((3, 1), (0, 2))):
            for by, side in enumerate(sides):
                _, pieces = self._faces.divided(normal, plane - by * (moved == self.axis), window)
                if pieces is not None:
                    for own, piece in zip(given_up, pieces[2 * side : 2 * side + 2]):
                        own |= _part(piece, window, *self._before(moved, by), more=1)
        if found is None and not given_up.any():
            return None
        whole = np.zeros(shape), np.ones(shape)
        return kept(whole if found is None else pair(ends[1:-1, 1:-1] for ends in found), given_up)


def _wider(window: Window) -> Window:
    """A window with one sample more on all sides."""
    return pair((start - 1, stop + 1) for start, stop in window)


def _part(values: np.ndarray, window: Window, *first: int, more: int = 0) -> np.ndarray:
    """The part of values from sample number `first` on that a window, with `more` samples along both axes, has."""
    return values[tuple(slice(n, n + size + more) for n, size in zip(first, shape_of(window)))]
