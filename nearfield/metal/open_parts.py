"""How much of each grid edge and face metal leaves open.

An edge is cut where the metal's own surface meets it (bisection), a face by the polygon through these cuts
(cut_faces.py). A face that is small against its edges makes the leap-frog unstable, so that its area counts
as at least

    a >= sum over its edges e of f_e (c dt/(n d_e))^2 V_e/v,       n: least index of any medium

with d_e the cell's length across the edge, v any positive weight of the face, V_e the mean of those of the four faces
about the edge. For any v the curl's norm is then below 2 n/(c dt), by Cauchy's inequality edge by edge: docs/method.md
(Benkler, Chavannes and Kuster 2006 bound areas likewise). v = a^(-1/2), as far as whole faces beside small ones can
bear it, leaves most areas as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from nearfield.grid.yee import YeeGrid
from nearfield.metal.cut_faces import Corner, FaceMetal, Place, Side, corners_between, metal_length, open_area, rim
from nearfield.metal.followed_metal import NEGLIGIBLE, FollowedMetal, Interval
from nearfield.metal.metal import shape_of
from nearfield.metal.thin_walls import doubtful, kept, parts_of, pieces_of

if TYPE_CHECKING:
    from nearfield.metal.metal import Body, Window

ALIKE = 1e-6  # areas of parts of which the first one is taken
KEPT = 64  # planes of parts: those of all kinds within two of one
FLATTEST = 0.2  # sine from which on a face counts as seeing the metal's surface from the side


class OpenParts:
    """Open fractions on planes across one axis; windows are index ranges along the two cyclically next axes.

    `bodies` in the order of the structures: metal that is followed, and what may lie in it. `light`: c dt/n (m).
    """

    def __init__(self, grid: YeeGrid, interior, bodies: list[Body], axis: int, light: float) -> None:
        self.grid, self.bodies, self.axis, self.light = grid, bodies, axis, light
        self.across = (axis + 1) % 3, (axis + 2) % 3
        shortest = sorted((light / float(grid.primary(a).min())) ** 2 for a in range(3))
        self._heaviest = max(1.0, 2.0 / (shortest[1] + shortest[2]) - 3.0)
        self._ends = [(0, n) if grid.closed(a) else interior[a] for a, n in enumerate(grid.cells)]
        self._metal = FollowedMetal(grid, bodies, axis)
        self._kept: dict = {}

    def edges(self, component: int, plane: int, window: Window) -> np.ndarray | None:
        """Open fractions of E edges; None where all are open."""
        found = self._interval(component, plane, window)
        return None if found is None else _part(found[1] - found[0], window, 0, 0)

    def faces(self, component: int, plane: int, window: Window) -> np.ndarray | None:
        """Open fractions that H faces count with; 1 where no edge of a face is open, None where nothing is cut."""
        sides, own = self._sides(component % 3, plane), self._area(component % 3, plane, window)
        around = [self._around(along, at, window) for along, _, at, _ in sides]
        if own is None and all(mean is None for mean in around):
            return None
        shape = shape_of(window)
        area = np.ones(shape) if own is None else _part(own, window, 1, 1).copy()
        heavy = [1.0 if mean is None else _part(mean, window, *side[3]) for side, mean in zip(sides, around)]
        near = np.nonzero(np.logical_or.reduce(np.broadcast_arrays(area < 1.0, *(mean > 1.0 for mean in heavy))))
        least, opened = 0.0, 0.0
        for (along, moved, at, shift), mean in zip(sides, heavy):
            interval = self._interval(along, at, window)
            part = 1.0
            if interval is not None:
                begin, end = (_part(ends, window, *shift)[near] for ends in interval)
                part = end - begin
            length = np.broadcast_to(self._lengths(moved, plane, window), shape)[near]
            least = least + part * np.broadcast_to(mean, shape)[near] * (self.light / length) ** 2
            opened = opened + part
        area[near] = np.where(opened == 0.0, 1.0, np.maximum(area[near], least / self._weight(area[near])))
        return area

    def boundary(self, component: int, plane: int, window: Window) -> np.ndarray | None:
        """Metal's surface about faces whose edges are cut, over their whole area times the dual length (1/m).

        -1 for other faces, None where nothing is cut.
        """
        found = self._known(self._draw_boundary, component % 3, plane, window)
        return None if found is None else _part(found, window, 1, 1)

    def signature(self, plane: int) -> tuple:
        """Equal for planes with the same open parts of their own edges and faces and of those in the cells above."""
        ends = [self._ends_of(self.axis, np.array(n), True) for n in (plane - 1, plane, plane + 1)]
        low, high = (float(pick(end)) for pick, end in ((np.min, ends), (np.max, ends)))
        found = []
        for number in self._metal.present(low, high):
            body = self.bodies[number]
            margin = self._metal.margin
            through = body.lower[self.axis] <= low - margin and body.upper[self.axis] >= high + margin
            place = () if through and body.shape._constant_along(self.axis) else tuple(np.ravel(ends).tolist())
            found.append((number, place))
        if not any(self.bodies[number].kind == "pec" for number, _ in found):
            return ()
        length = self.grid.primary(self.axis)
        return float(length[min(plane, length.size - 1)]), *found

    def _ends_of(self, axis: int, index: np.ndarray, along: bool) -> tuple[np.ndarray, np.ndarray]:
        """Where samples begin and end along an axis (m): nodes, or the edges along it; in the CPML, in its inner face.

        At walls and CPMLs that is a trace further in, so a body that ends there goes on, metal or not.
        """
        line, count = self.grid.lines[axis], self.grid.cells[axis]
        if self.grid.closed(axis):
            index = np.mod(index, count) if along else np.where(index == count, count, np.mod(index, count))
            return line[index], line[index + along]
        low, high = self._ends[axis]
        first, last = line[low] + 4 * self._metal.margin, line[high] - 4 * self._metal.margin
        lower, upper = (np.clip(line[np.clip(at, low, high)], first, last) for at in (index, index + along))
        return lower, upper

    def _lengths(self, axis: int, plane: int, window: Window, more: int = 0, by: int = 0) -> np.ndarray:
        """Lengths (m) of the cells along an axis, `by` before the window's samples, shaped to broadcast over it."""
        at = (self.axis, *self.across).index(axis)
        start, stop = ((plane, plane + 1), *((low, high + more) for low, high in window))[at]
        length, index = self.grid.primary(axis), np.arange(start, stop) - by
        shape = [-1 if at == place + 1 else 1 for place in range(2)]
        index = np.mod(index, length.size) if self.grid.closed(axis) else np.clip(index, 0, length.size - 1)
        return length[index].reshape(shape)

    def _share(self, axis: int, by: int, plane: int, window: Window) -> np.ndarray:
        """What the cell before an edge, or behind it, has of the two cells' length."""
        pair = [self._lengths(axis, plane, window, 1, n) for n in (0, 1)]
        return pair[by] / (pair[0] + pair[1])

    def _sides(self, normal: int, plane: int) -> list[tuple[int, int, int, tuple[int, ...]]]:
        """The edges round a face: along which axis, moved along which, in which plane, moved by how much there."""
        p, q = (normal + 1) % 3, (normal + 2) % 3
        round_it = (p, q, 0), (q, p, 1), (p, q, 1), (q, p, 0)
        return [
            (along, moved, plane + by * (moved == self.axis), tuple(by * (moved == a) for a in self.across))
            for along, moved, by in round_it
        ]

    def _area(self, normal: int, plane: int, window: Window) -> np.ndarray | None:
        """Open areas of faces, one more on all sides of the window; None where all are whole."""
        return self._divided(normal, plane, window)[0]

    def _divided(self, normal: int, plane: int, window: Window) -> tuple[np.ndarray | None, np.ndarray | None]:
        """Those areas, and what faces give up of their sides' pieces (8, ...); None where they give up nothing."""
        return self._known(self._draw_divided, normal, plane, window)

    def _draw_divided(self, normal: int, plane: int, window: Window):
        intervals = self._intervals(normal, plane, window)
        if intervals is None:
            return None, None
        closed = np.logical_and.reduce([low == high for low, high in intervals])
        cut = ~closed & np.logical_or.reduce([high - low != 1.0 for low, high in intervals])
        area, given_up = np.where(closed, 0.0, 1.0), None
        doubt = cut.copy()
        doubt[cut] = doubtful(pieces_of([(low[cut], high[cut]) for low, high in intervals]))
        if doubt.any():
            given_up = np.zeros((8, *cut.shape), dtype=bool)
            given_up[:, doubt] = self._smaller_parts(normal, plane, window, intervals, doubt)
        if cut.any():
            area[cut] = open_area(*self._rim(normal, plane, window, intervals, cut, given_up))
        return area, given_up

    def _smaller_parts(self, normal: int, plane: int, window: Window, intervals: list[Interval], doubt: np.ndarray):
        """(8, faces) pieces of the sides of some faces that metal in the face divides from its largest open part."""
        metal = self._in_faces(normal, plane, window, doubt)
        parts = parts_of(pieces_of([(low[doubt], high[doubt]) for low, high in intervals]), metal.wall)
        largest, most = np.full(parts.shape[1], -1), np.full(parts.shape[1], -np.inf)
        given_up = np.zeros((8, *doubt.shape), dtype=bool)
        for number in np.unique(parts[parts >= 0]):
            given_up[:, doubt] = parts != number
            area = open_area(*self._rim(normal, plane, window, intervals, doubt, given_up))
            larger = (parts == number).any(axis=0) & (area > most + ALIKE)
            largest[larger], most[larger] = number, area[larger]
        return (parts >= 0) & (parts != largest)

    def _draw_boundary(self, normal: int, plane: int, window: Window) -> np.ndarray | None:
        """A face sees the metal's surface from the side: of an area S it cuts a length S sin(angle to the normal)."""
        intervals, given_up = self._intervals(normal, plane, window), self._divided(normal, plane, window)[1]
        cut = intervals and np.logical_or.reduce([(low != high) & (high - low != 1.0) for low, high in intervals])
        if cut is None or not cut.any():
            return None
        lower, upper = self._corners(normal, plane, window, cut)
        u, v = (np.broadcast_to(self._lengths((normal + n) % 3, plane, window, 2, 1), cut.shape)[cut] for n in (1, 2))
        length, middle = metal_length(*self._rim(normal, plane, window, intervals, cut, given_up), u, v)
        at = self._at(normal, lower, upper, *middle)
        towards = self._normals(at, 1e-3 * np.minimum(u, v))
        found = np.full(cut.shape, -1.0)
        found[cut] = length / (u * v * np.maximum(np.sqrt(1.0 - towards[normal] ** 2), FLATTEST))
        return found

    def _normals(self, at: list[np.ndarray], step: np.ndarray) -> list[np.ndarray]:
        """Unit normals of the surface nearest to each of some points."""
        distance, nearest = self._metal.distances, np.full(at[0].shape, np.inf)
        found = [np.zeros(at[0].shape) for _ in range(3)]
        for number in self._metal.present(float(at[self.axis].min()), float(at[self.axis].max())):
            near = np.abs(distance[number](*at))
            own = near < nearest
            nearest[own] = near[own]
            for a in range(3):
                ends = ([part + by * step * (a == b) for b, part in enumerate(at)] for by in (1, -1))
                high, low = (distance[number](*end) for end in ends)
                found[a][own] = (high - low)[own]
        size = np.maximum(np.sqrt(sum(part**2 for part in found)), np.finfo(float).tiny)
        return [part / size for part in found]

    def _intervals(self, normal: int, plane: int, window: Window) -> list[Interval] | None:
        """Open intervals of the sides of faces, one face more on all sides of the window; None where all are whole."""
        shape = tuple(stop - start + 2 for start, stop in window)
        sides: list[Interval | None] = []
        for along, _, at, (rows, columns) in self._sides(normal, plane):
            found = self._surfaces(along, at, window)
            part = slice(rows, rows + shape[0]), slice(columns, columns + shape[1])
            sides.append(None if found is None else (found[0][part], found[1][part]))
        if all(side is None for side in sides):
            return None
        return [(np.zeros(shape), np.ones(shape)) if side is None else side for side in sides]

    def _corners(self, normal: int, plane: int, window: Window, cut: np.ndarray):
        """The lower and upper corners (m) of some of these faces, by axis."""
        index = dict(zip(self.across, np.nonzero(cut))) | {self.axis: np.zeros(int(cut.sum()), int)}
        ends = []
        for a in range(3):
            start, stop = (plane, plane + 1) if a == self.axis else window[self.across.index(a)]
            line = np.arange(start, stop) if a == self.axis else np.arange(start - 1, stop + 1)
            ends.append([end[index[a]] for end in self._ends_of(a, line, a != normal)])
        return [pair[0] for pair in ends], [pair[1] for pair in ends]

    @staticmethod
    def _at(normal: int, lower, upper, u, v) -> list[np.ndarray]:
        """Points in faces, by the part of their sides."""
        found = list(lower)
        for n, part in ((1, u), (2, v)):
            a = (normal + n) % 3
            found[a] = lower[a] + part * (upper[a] - lower[a])
        return found

    def _rim(
        self,
        normal: int,
        plane: int,
        window: Window,
        intervals: list[Interval],
        cut: np.ndarray,
        given_up: np.ndarray | None,
    ) -> tuple[list[Side], list[Corner]]:
        """The sides of cut faces, and the corners between them.

        A corner between two closed sides is the rim's where the face is open beside it.
        """
        metal = self._in_faces(normal, plane, window, cut)
        sides = [(low[cut], high[cut]) for low, high in intervals]
        closed, held = [low == high for low, high in sides], []
        for number, corner in enumerate(((1, 0), (1, 1), (0, 1), (0, 0))):
            both = closed[number] & closed[(number + 1) % 4]
            if both.any():
                both[both] = ~metal.holds(both, tuple(abs(part - 2.0 * NEGLIGIBLE) for part in corner))
            held.append(both)
        lost = np.zeros((8, int(cut.sum())), dtype=bool) if given_up is None else given_up[:, cut]
        found = rim([kept(ends, lost[2 * n : 2 * n + 2]) for n, ends in enumerate(sides)], held)
        return found, corners_between(found, metal)

    def _in_faces(self, normal: int, plane: int, window: Window, cut: np.ndarray) -> FaceMetal:
        """What metal holds of some faces, by the part of their sides."""
        lower, upper = self._corners(normal, plane, window, cut)
        present = self._metal.present(float(lower[self.axis].min()), float(upper[self.axis].max()))

        def places(which: np.ndarray, at: Place) -> list[np.ndarray]:
            return self._at(normal, *([part[which] for part in corner] for corner in (lower, upper)), *at)

        def wall(which: np.ndarray, start: Place, stop: Place) -> np.ndarray:
            ends = places(which, start), places(which, stop)
            none = np.zeros(ends[0][0].shape)
            return self._metal.wall(*ends, none, none + 1.0, present)

        return FaceMetal(lambda which, at: self._metal.holds(places(which, at), present), wall)

    def _weight(self, area: np.ndarray) -> np.ndarray:
        """What a face counts for in the bound: small ones more, by as much as whole ones beside them can bear."""
        weight = np.ones_like(area)
        small = area < 1.0
        weight[small] = np.minimum(self._heaviest, 1.0 / np.sqrt(np.maximum(area[small], NEGLIGIBLE**2)))
        return weight

    def _around(self, along: int, plane: int, window: Window) -> np.ndarray | None:
        """Mean weight of the four faces about edges, one more edge along both axes; None where it is 1."""
        return self._known(self._draw_around, along, plane, window)

    def _draw_around(self, along: int, plane: int, window: Window) -> np.ndarray | None:
        rows, columns = (stop - start + 1 for start, stop in window)
        total, cut = 0.0, False
        for normal, moved in (((along + 1) % 3, (along + 2) % 3), ((along + 2) % 3, (along + 1) % 3)):
            for by in (0, 1):
                area = self._area(normal, plane - by * (moved == self.axis), window)
                first, second = (1 - by * (moved == a) for a in self.across)
                cut |= area is not None
                part = 1.0 if area is None else self._weight(area[first : first + rows, second : second + columns])
                total = total + 0.5 * self._share(moved, by, plane, window) * part
        return total if cut else None

    def _known(self, draw: Callable, component: int, plane: int, window: Window):
        """What `draw` makes of a plane, kept for its neighbours."""
        key = draw.__name__, component, plane, window
        if key not in self._kept:
            while len(self._kept) >= KEPT:
                self._kept.pop(next(iter(self._kept)))
            self._kept[key] = draw(component, plane, window)
        return self._kept[key]

    def _interval(self, component: int, plane: int, window: Window) -> Interval | None:
        """Where edges along an axis begin and end to be open, 0 to 1, one edge past the window; None: all are."""
        return self._known(self._draw_interval, component, plane, window)

    def _draw_interval(self, component: int, plane: int, window: Window) -> Interval | None:
        found, shape = self._surfaces(component, plane, window), tuple(stop - start + 1 for start, stop in window)
        given_up = np.zeros((2, *shape), dtype=bool)
        for normal, moved, sides in ((component + 1, component + 2, (3, 1)), (component + 2, component + 1, (0, 2))):
            for by, side in enumerate(sides):
                _, pieces = self._divided(normal % 3, plane - by * (moved % 3 == self.axis), window)
                if pieces is not None:
                    first = (1 - by * (moved % 3 == a) for a in self.across)
                    part = (slice(n, n + size) for n, size in zip(first, shape))
                    given_up |= pieces[2 * side : 2 * side + 2, *part]
        if found is None and not given_up.any():
            return None
        whole = np.zeros(shape), np.ones(shape)
        return kept(whole if found is None else tuple(ends[1:-1, 1:-1] for ends in found), given_up)

    def _surfaces(self, component: int, plane: int, window: Window) -> Interval | None:
        """Where metal's surface leaves edges open, see `FollowedMetal.opened`; None if all are.

        One edge more before the window, two after it.
        """
        return self._known(self._draw_surfaces, component, plane, window)

    def _draw_surfaces(self, component: int, plane: int, window: Window) -> Interval | None:
        index = {self.axis: np.array([plane])}
        index.update({a: np.arange(start - 1, stop + 2) for a, (start, stop) in zip(self.across, window)})
        ends = [self._ends_of(a, index[a], a == component) for a in range(3)]
        lower, upper = [pair[0] for pair in ends], [pair[1] for pair in ends]
        present = self._metal.present(float(lower[self.axis].min()), float(upper[self.axis].max()))
        if not any(self.bodies[number].kind == "pec" for number in present):
            return None
        taken = np.zeros(tuple(index[a].size for a in self.across), dtype=bool)
        crossed = taken.copy()
        for number in present:
            self._paint(number, lower, upper, taken, crossed)
        begin, end = np.zeros(taken.shape), np.where(taken, 0.0, 1.0)
        if crossed.any():
            at = dict(zip(self.across, np.nonzero(crossed))) | {self.axis: 0}
            ends = [[places[a][at[a]] + np.zeros(int(crossed.sum())) for a in range(3)] for places in (lower, upper)]
            begin[crossed], end[crossed] = self._metal.opened(*ends, present)
        return None if (end - begin == 1.0).all() else (begin, end)

    def _paint(self, number: int, lower, upper, taken: np.ndarray, crossed: np.ndarray) -> None:
        """Set what one body makes of edges: wholly in metal, or perhaps crossed by its surface."""
        body, part, middle, half, margin = self.bodies[number], [], [None] * 3, 0.0, self._metal.margin
        for place, a in enumerate((self.axis, *self.across)):
            near = np.nonzero((upper[a] >= body.lower[a] - margin) & (lower[a] <= body.upper[a] + margin))[0]
            if not near.size:
                return
            cut = slice(int(near[0]), int(near[-1]) + 1)
            shape = [1, 1]
            if place:
                shape[place - 1] = -1
                part.append(cut)
            middle[a] = (0.5 * (lower[a] + upper[a]))[cut].reshape(shape)
            half = half + 0.5 * (upper[a] - lower[a])[cut].reshape(shape)
        part = tuple(part)
        distance = np.broadcast_to(self._metal.distances[number](*middle), taken[part].shape)
        inside = distance < -half - margin
        taken[part][inside] = body.kind == "pec"
        crossed[part] = (np.abs(distance) <= half + margin) | (crossed[part] & ~inside)


def _part(values: np.ndarray, window: Window, *first: int) -> np.ndarray:
    """The window's part of values that begin `first` samples before it."""
    return values[tuple(slice(n, n + stop - start) for n, (start, stop) in zip(first, window))]
