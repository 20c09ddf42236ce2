"""Where the surface of metal that is followed cuts the grid's edges, and where edges and faces lie."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from nearfield.grid.yee import YeeGrid
from nearfield.machine.schedule import kept_by_thread
from nearfield.metal.followed_metal import FollowedMetal, Interval, Places
from nearfield.metal.patches import extent, next_axes, pair, shape_of, spread

if TYPE_CHECKING:
    from nearfield.metal.metal import Body
    from nearfield.metal.patches import Window

KEPT = 32  # planes in memory of each kind of open parts: those of three components within four of one plane


class EdgeCuts:
    """Metal's surface on the edges of planes across one axis.

    `surfaces`: where it leaves edges of a component, a plane and a window open, see `FollowedMetal.opened`, with one
    edge more before the window and two after it; None if all are whole.
    """

    def __init__(self, grid: YeeGrid, interior, bodies: Sequence[Body], axis: int) -> None:
        self.grid, self.bodies, self.axis, self.across = grid, bodies, axis, next_axes(axis)
        self.metal = FollowedMetal(grid, bodies, axis)
        self._ends = [(0, n) if grid.closed(a) else interior[a] for a, n in enumerate(grid.cells)]
        self.surfaces = kept_by_thread(KEPT)(self._draw_surfaces)

    def signature(self, plane: int) -> tuple:
        """Equal for planes with the same open parts of their own edges and faces and of those in the cells above."""
        cells = np.arange(plane - 3, plane + 4)  # those of faces that count with less for the sake of others
        ends = np.stack(self.ends_of(self.axis, cells, True), axis=1)
        low, high, margin = float(ends.min()), float(ends.max()), self.metal.margin
        found = []
        present = [(number, self.bodies[number]) for number in self.metal.present(low, high)]
        for number, body in present:
            through = body.lower[self.axis] <= low - margin and body.upper[self.axis] >= high + margin
            found.append((number, () if through and body.shape._constant_along(self.axis) else tuple(ends.flat)))
        if not any(body.kind == "pec" for _, body in present):
            return ()
        return tuple(self._length_of(self.axis, cells)), *found

    def ends_of(self, axis: int, index: np.ndarray, along: bool) -> tuple[np.ndarray, np.ndarray]:
        """Where samples begin and end along an axis (m): nodes, or the edges along it; in the CPML, in its inner face.

        At walls and CPMLs that is a trace further in, so a body that ends there goes on, metal or not.
        """
        line, count = self.grid.lines[axis], self.grid.cells[axis]
        if self.grid.closed(axis):
            index = np.mod(index, count) if along else np.where(index == count, count, np.mod(index, count))
            return line[index], line[index + along]
        low, high = self._ends[axis]
        first, last = line[low] + 4 * self.metal.margin, line[high] - 4 * self.metal.margin
        return pair(np.clip(line[np.clip(at, low, high)], first, last) for at in (index, index + along))

    def inward(self, axis: int, places: np.ndarray, by: np.ndarray) -> np.ndarray:
        """Places (m) along an axis, moved to be at least so far inside walls and CPMLs, where bodies go on."""
        if self.grid.closed(axis):
            return places
        low, high = (self.grid.lines[axis][end] for end in self._ends[axis])
        return np.clip(places, low + by, high - by)

    def lengths(self, axis: int, plane: int, window: Window, more: int = 0, by: int = 0) -> np.ndarray:
        """Lengths (m) of the cells along an axis, `by` before the window's samples, shaped to broadcast over it."""
        if axis == self.axis:
            return self._length_of(axis, np.array([[plane - by]]))
        place = self.across.index(axis)
        return self._length_of(axis, spread(np.arange(window[place][0], window[place][1] + more) - by, place))

    def _length_of(self, axis: int, index: np.ndarray) -> np.ndarray:
        """Lengths (m) of cells, past the grid's ends those of its last ones."""
        length = self.grid.primary(axis)
        return length[np.mod(index, length.size) if self.grid.closed(axis) else np.clip(index, 0, length.size - 1)]

    def share(self, axis: int, by: int, plane: int, window: Window) -> np.ndarray:
        """Share of the cell before an edge, or behind it, in the two cells' length."""
        pairs = [self.lengths(axis, plane, window, 1, n) for n in (0, 1)]
        return pairs[by] / (pairs[0] + pairs[1])

    def sides(self, normal: int, plane: int) -> list[tuple[int, int, int, tuple[int, int]]]:
        """The edges round a face: along which axis, moved along which, in which plane, moved by how much there."""
        p, q = next_axes(normal)
        return [
            (along, moved, plane + by * (moved == self.axis), pair(by * (moved == a) for a in self.across))
            for along, moved, by in ((p, q, 0), (q, p, 1), (p, q, 1), (q, p, 0))
        ]

    def _draw_surfaces(self, component: int, plane: int, window: Window) -> Interval | None:
        index = {self.axis: np.array([plane])}
        index |= {a: np.arange(start - 1, stop + 2) for a, (start, stop) in zip(self.across, window)}
        lower, upper = zip(*(self.ends_of(a, index[a], a == component) for a in range(3)))
        present = self.metal.present(float(lower[self.axis].min()), float(upper[self.axis].max()))
        if not any(self.bodies[number].kind == "pec" for number in present):
            return None
        taken = np.zeros([n + 3 for n in shape_of(window)], dtype=bool)
        crossed = taken.copy()
        for number in present:
            self._paint(number, lower, upper, taken, crossed)
        begin, end = np.zeros(taken.shape), np.where(taken, 0.0, 1.0)
        if crossed.any():
            at = dict(zip(self.across, np.nonzero(crossed))) | {self.axis: np.zeros(np.count_nonzero(crossed), int)}
            lines = pair([ends[a][at[a]] for a in range(3)] for ends in (lower, upper))
            begin[crossed], end[crossed] = self.metal.opened(lines, present)
        return None if (end - begin == 1.0).all() else (begin, end)

    def _paint(self, number: int, lower: Places, upper: Places, taken: np.ndarray, crossed: np.ndarray) -> None:
        """Set what one body makes of edges: wholly in metal, or perhaps crossed by its surface."""
        body, margin, half = self.bodies[number], self.metal.margin, np.zeros(())
        parts, middle = [], [np.empty(0)] * 3
        for place, a in enumerate((self.axis, *self.across), -1):
            cut = extent((upper[a] >= body.lower[a] - margin) & (lower[a] <= body.upper[a] + margin))
            if cut is None:
                return
            parts.append(cut)
            middle[a] = spread((0.5 * (lower[a] + upper[a]))[cut], place)
            half = half + spread(0.5 * (upper[a] - lower[a])[cut], place)
        part = parts[1], parts[2]
        distance = np.broadcast_to(self.metal.distances[number](*middle), taken[part].shape)
        inside = distance < -half - margin
        taken[part][inside] = body.kind == "pec"
        crossed[part] = (np.abs(distance) <= half + margin) | (crossed[part] & ~inside)
