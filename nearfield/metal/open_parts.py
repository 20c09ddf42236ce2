"""Open fractions of the grid's edges and faces beside metal.

An edge is cut where the metal's own surface meets it (bisection), a face by the polygon through these cuts
(cut_faces.py). A face that is small against its edges makes the leap-frog unstable, so that its area counts as at least

    a >= sum over its edges e of f_e (c dt/(n d_e))^2 V_e/v,       n: least index of any medium

with d_e the cell's length across the edge, v = a^(-1/2) the weight of the face, as far as whole faces beside small ones
can bear it, and V_e the mean of the weights of the four faces about the edge: docs/method.md has the proof. What small
faces count with more, those beyond their open edges count with less, as far as the same bound lets them: the flux
through both is that of their open areas. Where they cannot, f of an edge along metal is made less in the update.
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


SLOWEST = 0.02  # least factor of the open part of an edge that metal nearly touches
NEARLY = 0.5  # cells between such an edge and the metal, at both its ends


class _Bound(NamedTuple):
    """Of the faces that are small or beside small ones: where they are, open areas, their weights v; by side, bottom,
    right, top, left, the open parts f, (c dt/(n d))^2 and V."""

    near: tuple[np.ndarray, ...]
    area: np.ndarray
    weight: np.ndarray
    parts: list[np.ndarray]
    courant: list[np.ndarray]
    around: list[np.ndarray]

    def inner(self, shape: tuple[int, int]) -> _Bound:
        """Those of a window of this shape within, without one face on all sides."""
        places = [at - 1 for at in self.near]
        own = np.logical_and.reduce([(at >= 0) & (at < size) for at, size in zip(places, shape)])
        lists = ([values[own] for values in each] for each in (self.parts, self.courant, self.around))
        return _Bound(tuple(at[own] for at in places), self.area[own], self.weight[own], *lists)

    def least(self, factors: Sequence[np.ndarray | float] = (1.0,) * 4) -> np.ndarray:
        """Areas that they count as at least, with these factors of f."""
        terms = zip(self.parts, self.courant, self.around, factors)
        return sum((part * square * mean * factor for part, square, mean, factor in terms), np.zeros(1)) / self.weight

    def slowed(self, side: int) -> np.ndarray:
        """Factors of f of one side for which faces need no more area than they and a whole one beyond that side have.

        1 but where metal lies along the opposite side: there E of this one is nearly zero, and what holds it back is
        of second order.
        """
        whole = 1.0 - sum(self.courant[n] for n in (side, side - 1, side - 3)) - self.courant[side] * self.around[side]
        own = self.parts[side] * self.courant[side] * self.around[side] / self.weight
        need = self.least()
        room = self.area + np.maximum(whole, 0.0)
        next_to = np.maximum(self.parts[side - 1], self.parts[side - 3])
        touched = (self.parts[side - 2] == 0.0) & (next_to < NEARLY) & (own > 0.0) & (need > room)
        return np.where(touched, np.maximum((room - need + own) / np.where(touched, own, 1.0), SLOWEST), 1.0)


class _Counted(NamedTuple):
    """Areas of the faces `near` metal, in a window of a shape: what they count with before any gives up some of it,
    what each could give, and what it asks of those beyond its bottom, right, top and left side."""

    near: tuple[np.ndarray, ...]
    shape: tuple[int, ...]
    area: np.ndarray
    room: np.ndarray
    asked: list[np.ndarray]

    def spread(self, values: np.ndarray, other: float) -> np.ndarray:
        """Values of these faces in the window, another one elsewhere."""
        found = np.full(self.shape, other)
        found[self.near] = values
        return found


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
        self._bound, self._slowed = keep(self._draw_bound), keep(self._draw_slowed)
        self._counted = keep(self._draw_counted)

    def signature(self, plane: int) -> tuple:
        """Equal for planes with the same open parts of their own edges and faces and of those in the cells above."""
        return self._cuts.signature(plane)

    def fraction(self, patch: Patch) -> np.ndarray | None:
        """Open fraction of E edges, or of faces as H counts with it; 1 for faces without an open edge, None where all
        are whole."""
        if patch.magnetic:
            return self._face_fraction(patch.component - 3, patch.plane, patch.window)
        found = self._interval(patch.component, patch.plane, _wider(_wider(patch.window)))
        return None if found is None else _part(found[1] - found[0], patch.window, 2, 2)

    def factor(self, patch: Patch) -> np.ndarray | None:
        """Factor of Cb or Db: `fraction` of edges, less of those that metal nearly touches along them; of faces its
        inverse."""
        found = self.fraction(patch)
        if patch.magnetic:
            return None if found is None else 1.0 / found
        slowed = self._slowed(patch.component, patch.plane, _wider(patch.window))
        if slowed is None:
            return found
        slowed = _part(slowed, patch.window, 1, 1)
        return slowed if found is None else found * slowed

    def boundary(self, patch: Patch) -> np.ndarray | None:
        """Metal's surface about faces whose edges are cut, over their whole area times the dual length (1/m).

        -1 for other faces, None where nothing is cut.
        """
        found = self._faces.boundary(patch.component - 3, patch.plane, _wider(_wider(patch.window)))
        return None if found is None else _part(found, patch.window, 3, 3)

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
                asked = beyond.spread(beyond.asked[side - 2], 0.0)
                taken = taken + _part(asked, window, *(1 + way * (moved == a) for a in self.across))
        area, room = counted.spread(counted.area, 1.0), counted.spread(counted.room, 0.0)
        return _part(area, window, 1, 1) - np.minimum(taken, _part(room, window, 1, 1))

    def _draw_bound(self, normal: int, plane: int, window: Window) -> _Bound | None:
        """None where all faces are whole, and none beside them is small."""
        sides, own = self._cuts.sides(normal, plane), self._faces.divided(normal, plane, window)[0]
        around = [self._around(along, at, window) for along, _, at, _ in sides]
        if own is None and all(mean is None for mean in around):
            return None
        shape = shape_of(window)
        area = np.ones(shape) if own is None else _part(own, window, 1, 1)
        heavy = [np.ones(shape) if mean is None else _part(mean, window, *at) for mean, (*_, at) in zip(around, sides)]
        near = np.nonzero(np.logical_or.reduce([area < 1.0, *(mean > 1.0 for mean in heavy)]))
        parts, courant = [], []
        for along, moved, at, shift in sides:
            ends = self._interval(along, at, window)
            parts.append(np.ones(near[0].size) if ends is None else _part(ends[1] - ends[0], window, *shift)[near])
            length = np.broadcast_to(self._cuts.lengths(moved, plane, window), shape)[near]
            courant.append((self.light / length) ** 2)
        return _Bound(near, area[near], self._weight(area[near]), parts, courant, [mean[near] for mean in heavy])

    def _draw_slowed(self, component: int, plane: int, window: Window) -> np.ndarray | None:
        """Factors of f of edges that metal nearly touches along them, one more edge along both axes; None where all
        are 1."""
        found, wide = np.ones([n + 1 for n in shape_of(window)]), _wider(window)
        for (normal, moved), sides in zip(permutations(next_axes(component)), ((3, 1), (0, 2))):
            for by, side in enumerate(sides):
                bound = self._bound(normal, plane - by * (moved == self.axis), wide)
                if bound is not None and (own := bound.slowed(side)).size:
                    factor = np.ones(shape_of(wide))
                    factor[bound.near] = own
                    found = np.minimum(found, _part(factor, window, *self._before(moved, by), more=1))
        return None if (found == 1.0).all() else found

    def _draw_counted(self, normal: int, plane: int, window: Window) -> _Counted | None:
        """None as in `_draw_bound`."""
        wider = self._bound(normal, plane, _wider(window))
        if wider is None:
            return None
        bound = wider.inner(shape_of(window))
        factors = []
        for along, _, at, shift in self._cuts.sides(normal, plane):
            slowed = self._slowed(along, at, window)
            factors.append(1.0 if slowed is None else _part(slowed, window, *shift)[bound.near])
        found, least = bound.area, bound.least(factors)
        closed = sum(bound.parts) == 0.0
        area = np.where(closed, 1.0, np.maximum(found, least))
        room = np.where(closed, 0.0, np.maximum(found - least, 0.0))
        per_square = (area - found) / np.where(closed, np.inf, sum(part**2 for part in bound.parts))
        return _Counted(bound.near, shape_of(window), area, room, [part**2 * per_square for part in bound.parts])

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
