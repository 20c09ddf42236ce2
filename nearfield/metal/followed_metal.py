"""Metal that is followed through cells, as points, lines and edges meet it: the last body that holds a point decides.

Distances from metal come from the bodies' signed distances, the larger of two where one opens the other and the smaller
where they add: never more than the true distance. So between two open points of a line there is no metal if they are
closer to each other than both are to metal together, and walls of any thickness are found where there is room for them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.grid.yee import YeeGrid
from nearfield.metal.patches import margin_of, next_axes

if TYPE_CHECKING:
    from nearfield.metal.metal import Body

NEGLIGIBLE = 1e-3  # part of an edge; metal nearer to its ends is taken to end there
LOOKED_AT = np.array([NEGLIGIBLE, 0.25, 0.5, 0.75, 1.0 - NEGLIGIBLE])  # places on an edge near a surface
HALVINGS = 20  # steps of bisection: a cut is known to 2^-22 of an edge
STEP = 4.0  # margins between a point and those next to it
BESIDE = 5.0  # margins within which bodies count as present: those next to a point too
DIVISIONS = 8  # rounds in which lines are divided in search of thin walls
Interval = tuple[np.ndarray, np.ndarray]
Places = Sequence[np.ndarray]
Lines = tuple[Places, Places]  # both ends


class FollowedMetal:
    """Bodies in the order of the structures: metal that is followed, and what may lie in it."""

    def __init__(self, grid: YeeGrid, bodies: Sequence[Body], axis: int) -> None:
        self.grid, self.bodies, self.axis, self.margin = grid, bodies, axis, margin_of(grid)
        self.distances = [self._endless(body) for body in bodies]
        self._metal = [body.kind == "pec" for body in bodies]

    def _endless(self, body: Body) -> Callable[..., np.ndarray]:
        """The body's signed distance, without its ends on closed axes that it fills."""
        full = [
            self.grid.closed(a)
            and body.shape._constant_along(a)
            and body.lower[a] <= line[0] + self.margin
            and body.upper[a] >= line[-1] - self.margin
            for a, line in enumerate(self.grid.lines)
        ]

        def distance(*places: np.ndarray) -> np.ndarray:
            middle = (0.5 * (low + high) for low, high in zip(body.lower, body.upper))
            return body.shape._signed_distance(*(m if f else at for m, f, at in zip(middle, full, places)))

        return distance if any(full) else body.shape._signed_distance

    def present(self, low: float, high: float) -> list[int]:
        """Numbers of the bodies that reach between two coordinates along the axis."""
        low, high = low - BESIDE * self.margin, high + BESIDE * self.margin
        ends = ((body.lower[self.axis], body.upper[self.axis]) for body in self.bodies)
        return [number for number, (lower, upper) in enumerate(ends) if lower <= high and upper >= low]

    def beside(self, number: int, start: Places, stop: Places, reach: np.ndarray | float) -> np.ndarray:
        """Whether the box about a body comes within a reach (m) of the boxes between points."""
        body = self.bodies[number]
        ends = zip(body.lower, body.upper, start, stop)
        near = [
            (np.minimum(a, b) <= upper + reach) & (np.maximum(a, b) >= lower - reach) for lower, upper, a, b in ends
        ]
        return near[0] & near[1] & near[2]

    def opened(self, lines: Lines, present: list[int]) -> Interval:
        """Where edges begin and end to be open, 0 to 1; closed where nothing lies between.

        Those that metal crosses between open ends begin past their end: they are open up to `end` and from `begin` on.
        """
        count = LOOKED_AT.size
        is_open = ~self.holds(_at(_some(lines, np.s_[:, None]), LOOKED_AT), present)
        first, last = is_open.argmax(axis=1), count - 1 - is_open[:, ::-1].argmax(axis=1)
        whole = is_open.sum(axis=1) == last - first + 1
        begin, end = np.zeros(first.size), np.ones(first.size)
        for found, cut, free, metal in ((begin, first > 0, first, first - 1), (end, last < count - 1, last, last + 1)):
            cut &= whole
            found[cut] = self._cut(_some(lines, cut), LOOKED_AT[metal[cut]], LOOKED_AT[free[cut]], present)
        low = LOOKED_AT[is_open.argmin(axis=1)]
        high = LOOKED_AT[count - 1 - is_open[:, ::-1].argmin(axis=1)]
        low[whole] = high[whole] = self._hidden(_some(lines, whole), begin[whole], end[whole], present)
        walled = ~np.isnan(low)
        crossed = walled & is_open[:, 0] & is_open[:, -1]
        walled |= end - begin < NEGLIGIBLE
        begin[walled] = end[walled] = 0.0
        if crossed.any():
            begin[crossed], end[crossed] = self._beside(_some(lines, crossed), low[crossed], high[crossed], present)
        return begin, end

    def _hidden(self, lines: Lines, low: np.ndarray, high: np.ndarray, present: list[int]) -> np.ndarray:
        """A place in metal between where edges begin and end to be open; NaN where there is none."""
        return self.wall(lines, np.maximum(low, LOOKED_AT[0]), np.minimum(high, LOOKED_AT[-1]), present)

    def _beside(self, lines: Lines, low: np.ndarray, high: np.ndarray, present: list[int]) -> Interval:
        """The open parts before and after metal that crosses lines and fills them from `low` to `high`."""
        end = self._cut(lines, low, np.full(low.size, LOOKED_AT[0]), present)
        begin = self._cut(lines, high, np.full(high.size, LOOKED_AT[-1]), present)
        end[~np.isnan(self._hidden(lines, np.zeros(end.size), end, present))] = 0.0
        begin[~np.isnan(self._hidden(lines, begin, np.ones(end.size), present))] = 1.0
        return begin, end

    def _cut(self, lines: Lines, metal: np.ndarray, free: np.ndarray, present: list[int]) -> np.ndarray:
        """Where lines leave metal, between a place in it and one outside."""
        for _ in range(HALVINGS):
            middle = 0.5 * (metal + free)
            inside = self.holds(_at(lines, middle), present)
            metal, free = np.where(inside, middle, metal), np.where(inside, free, middle)
        return free

    def wall(self, lines: Lines, low: np.ndarray, high: np.ndarray, present: list[int]) -> np.ndarray:
        """A place in metal on each line, between two places that are open or on its surface; NaN where none is.

        Pieces with room for metal are divided where they have most of it.
        """
        length = np.sqrt(sum((b - a) ** 2 for a, b in zip(*lines)))
        found, line = np.full(low.size, np.nan), np.arange(low.size)
        beside = {number: self.beside(number, *lines, self.margin) for number in present if self._metal[number]}
        near = [self._clearance(_at(lines, part), present, beside, line) for part in (low, high)]
        for _ in range(DIVISIONS):
            room = (high - low) * length[line] * (1.0 - 1e-6) - self.margin > near[0] + near[1]
            room &= np.isnan(found[line])
            if not room.any():
                break
            line, low, high, *near = (values[room] for values in (line, low, high, *near))
            middle = 0.5 * (low + high + (near[0] - near[1]) / length[line])
            places = _at(_some(lines, line), middle)
            clear = self._clearance(places, present, beside, line)
            inside = clear <= self.margin
            inside[inside] = self.holds([place[inside] for place in places], present)
            found[line[inside]] = middle[inside]
            line, low, high = np.tile(line, 2), np.append(low, middle), np.append(middle, high)
            near = [np.append(near[0], clear), np.append(clear, near[1])]
        return found

    def _clearance(
        self, places: Places, present: list[int], beside: dict[int, np.ndarray], line: np.ndarray
    ) -> np.ndarray:
        """Lower bound of the distance of points on lines from metal that comes near their line (m); 0 in metal.

        Not from all metal that is present: what that is depends on the axis of the plane.
        """
        found = np.full(places[0].shape, np.inf)
        for number in present:
            distance = self.distances[number](*places)
            if self._metal[number]:
                found = np.where(beside[number][line], np.minimum(found, distance), found)
            else:
                found = np.maximum(found, -distance)
        return np.maximum(found, 0.0)

    def holds(self, places: Places, present: list[int]) -> np.ndarray:
        """Whether points lie in metal, its surface included: in the last body that holds them.

        Between openings that touch, and where an opening ends at a face of the metal, there is no surface, unless metal
        lies beside the point.
        """
        inside, opened = np.zeros(places[0].shape, dtype=bool), np.zeros(places[0].shape, dtype=bool)
        touching = np.zeros(inside.shape, dtype=np.int16)
        for number in present if inside.size else ():
            distance, own = self.distances[number](*places), self._metal[number]
            inside = inside | (distance <= self.margin) if own else inside & (distance >= -self.margin)
            at_surface = np.abs(distance) <= self.margin
            touching += at_surface
            opened |= at_surface & (not own)
        between = inside & opened & (touching > 1)
        if between.any():
            inside[between] = self._next_to([place[between] for place in places], present)
        return inside

    def _next_to(self, places: Places, present: list[int]) -> np.ndarray:
        """Whether metal lies next to points, in one of eight directions."""
        found = np.zeros(places[0].shape, dtype=bool)
        for way in product((-STEP * self.margin, STEP * self.margin), repeat=3):
            inside = np.zeros(found.shape, dtype=bool)
            for number in present:
                distance = self.distances[number](*(place + step for place, step in zip(places, way)))
                own = self._metal[number]
                inside = inside | (distance <= self.margin) if own else inside & (distance > self.margin)
            found |= inside
        return found


class FaceMetal:
    """Metal in some faces across an axis, given their lower and upper corners (m) by axis.

    Faces are chosen by an index, points in them by the parts (u, v) of their sides along the two next axes.
    """

    def __init__(self, metal: FollowedMetal, normal: int, lower: Places, upper: Places) -> None:
        self._metal, self._across, self._lower, self._upper = metal, next_axes(normal), lower, upper
        self._present = metal.present(float(lower[metal.axis].min()), float(upper[metal.axis].max()))

    def places(self, which: Any, at: Interval) -> list[np.ndarray]:
        """Points in faces (m)."""
        found = [corner[which] for corner in self._lower]
        for a, part in zip(self._across, at):
            found[a] = found[a] + part * (self._upper[a][which] - found[a])
        return found

    def holds(self, which: np.ndarray, at: Interval) -> np.ndarray:
        """Whether points lie in metal."""
        return self._metal.holds(self.places(which, at), self._present)

    def wall(self, which: np.ndarray, start: Interval, stop: Interval) -> np.ndarray:
        """The part of the way from one point to another at which metal lies; NaN where there is none between."""
        lines = self.places(which, start), self.places(which, stop)
        none = np.zeros(lines[0][0].shape)
        return self._metal.wall(lines, none, none + 1.0, self._present)


def _at(lines: Lines, part: np.ndarray) -> list[np.ndarray]:
    """Points on lines."""
    return [a + (b - a) * part for a, b in zip(*lines)]


def _some(lines: Lines, which: Any) -> Lines:
    """The lines that an index chooses."""
    start, stop = lines
    return [a[which] for a in start], [b[which] for b in stop]
