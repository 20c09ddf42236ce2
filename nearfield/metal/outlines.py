"""Outlines of metal without thickness, and the free rims nearest to points about them.

A rim is free where no other metal goes on: not at seams of sheets in one plane, on other metal, or at the grid's ends.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from nearfield.bodies.combined import Difference, in_plane, less, together
from nearfield.bodies.cut_outlines import cut_sides
from nearfield.bodies.outlines import Ends, straight_sides
from nearfield.bodies.shapes import Cylinder, Polygon, Solid
from nearfield.grid.yee import AXES, YeeGrid
from nearfield.metal.patches import margin_of, next_axes, pair, runs, shortest_cells

if TYPE_CHECKING:
    from nearfield.metal.facing_rims import Gap
    from nearfield.metal.metal import Body

CORNERS = 128  # of the polygon that stands for a disc, for its outline and for what lies in it
ENDS = 4.0  # times BESIDE, from a side's ends, within which a line beside it crosses the sides next to it
WHOLE = np.array((0.0, 1.0))  # parts of a side that nothing crosses
ALIKE = 1e-9  # part of a side's length between places that are one
BESIDE = 1e-3  # shortest cells beyond a rim where other metal that goes on is looked for


class Rims(NamedTuple):
    """Starts, ends (m) and unit normals out of the metal of sides, each (n, 2)."""

    start: np.ndarray
    end: np.ndarray
    normal: np.ndarray

    def some(self, which: Any) -> Rims:
        """Some of them."""
        return Rims(*(each[which] for each in self))


def sides_of(shape: Solid, normal: int) -> Ends | None:
    """The sides of a flat shape's outline along the two axes after its normal; None for shapes without an outline."""
    if not isinstance(shape, Difference):
        return straight_sides(straightened(shape, normal), normal)
    if normal not in shape._outlines:
        shape._outlines[normal] = _sides_left(straightened(shape, normal), normal)
    found: Ends | None = shape._outlines[normal]
    return found


def _sides_left(straight: Solid, normal: int) -> Ends | None:
    assert isinstance(straight, Difference)
    body, *minus = (sides_of(part, normal) for part in (straight.body, *straight.minus))
    cutting = [part for part in minus if part is not None]
    return cut_sides(body, cutting) if body is not None and len(cutting) == len(minus) else None


def straightened(shape: Solid, normal: int) -> Solid:
    """A flat shape with polygons of the same area for discs and round holes."""
    if isinstance(shape, Difference):
        body, *minus = (straightened(part, normal) for part in (shape.body, *shape.minus))
        return less(body, minus)
    if not isinstance(shape, Cylinder) or not shape._constant_along(normal):
        return shape
    u, v = next_axes(normal)
    angle = 2.0 * np.pi * (np.arange(CORNERS) + 0.5) / CORNERS
    radius = shape.radius * (np.pi / CORNERS / np.tan(np.pi / CORNERS)) ** -0.5
    vertices = np.stack((shape.start[u] + radius * np.cos(angle), shape.start[v] + radius * np.sin(angle)), 1)
    low, high = (end[normal] for end in shape.bounds())
    corners = tuple(pair(place) for place in vertices.tolist())
    return Polygon(axis=AXES[normal], vertices=corners, lower=low, upper=high)  # type: ignore[arg-type]


class FlatMetal:
    """The flat bodies of one plane (`inside`, their numbers) among all metal; `fed`: places (n, 3) (m) in circuits."""

    def __init__(
        self,
        grid: YeeGrid,
        bodies: Sequence[Body],
        inside: Sequence[int],
        normal: int,
        node: int,
        fed: np.ndarray | None = None,
    ) -> None:
        self.grid, self.inside, self.normal = grid, inside, normal
        self.across, self.margin, self.shortest = next_axes(normal), margin_of(grid), min(shortest_cells(grid))
        self._place, self._node = float(grid.lines[normal][node]), node
        corners = np.array([(bodies[number].lower, bodies[number].upper) for number in inside])
        self._ends = pair((corners[:, 0].min(axis=0).tolist(), corners[:, 1].max(axis=0).tolist()))
        own = {number: replace(bodies[number], shape=straightened(bodies[number].shape, normal)) for number in inside}
        self.bodies: Sequence[Body] = [own.get(number, self._straight(body)) for number, body in enumerate(bodies)]
        self.gaps: list[Gap] | None = None  # kept by facing_rims.py
        self._rims: dict[int, Rims] = {}
        places = np.empty((0, 3)) if fed is None else fed
        self.fed = places[np.abs(places[:, normal] - self._place) <= self.margin][:, list(self.across)]

    def _straight(self, body: Body) -> Body:
        """A body of another medium that reaches through the plane, as outlines have it: it may be a hole."""
        low, high = (end[self.normal] for end in self._ends)
        if body.kind == "pec" or not (body.lower[self.normal] < low and body.upper[self.normal] > high):
            return body
        cut = [straightened(part, self.normal) for part in in_plane(body.shape, self._ends, self.normal)]
        return replace(body, shape=cut[0] if len(cut) == 1 else together(cut))

    def _points(self, at: np.ndarray, height: float) -> list[np.ndarray]:
        """x, y, z of points (n, 2) of the plane; past the ends of closed axes, of those that they repeat."""
        place = {self.normal: np.full(len(at), height), self.across[0]: at[:, 0], self.across[1]: at[:, 1]}
        for a in self.across:
            if self.grid.closed(a):
                low, high = self.grid.lines[a][[0, -1]]
                place[a] = np.where(
                    (place[a] < low) | (place[a] > high), low + np.mod(place[a] - low, high - low), place[a]
                )
        return [place[a] for a in range(3)]

    def holds(self, at: np.ndarray, solid: bool = True) -> np.ndarray:
        """Whether points (n, 2) lie in metal of the plane, or in `solid` metal that it crosses, not in its holes."""
        return self._at_both_ends(at, partial(self._holds, solid=solid))

    def _at_both_ends(self, at: np.ndarray, asked: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """What is true of points (n, 2), on a seam of either of its ends, as on a line between two bodies."""
        found = asked(at)
        for column, axis in enumerate(self.across):
            ends = self.grid.lines[axis][[0, -1]]
            for end, other in (ends, ends[::-1]) if self.grid.closed(axis) else ():
                seam = np.flatnonzero(~found & (np.abs(at[:, column] - end) <= self.margin))
                if seam.size:
                    moved = at[seam].copy()
                    moved[:, column] = other
                    found[seam] = asked(moved)
        return found

    def _holds(self, at: np.ndarray, solid: bool) -> np.ndarray:
        found = np.zeros(len(at), dtype=bool)
        for number, body in enumerate(self.bodies):
            self._carve(found, body, self._points(at, self._place))
            if body.kind == "pec" and (number in self.inside or (solid and self._crosses(body))):
                height = 0.5 * (body.lower[self.normal] + body.upper[self.normal])
                flat = body.shape._constant_along(self.normal)
                self._add(found, body, self._points(at, height if flat else self._place))
        return found

    def _add(self, found: np.ndarray, body: Body, where: Sequence[np.ndarray]) -> None:
        """Add the points that lie in metal to what was found; each hole is asked of those in its own bounds alone."""
        near = self._near(body.shape, where)
        at = [q[near] for q in where]
        whole, *holes = (body.shape.body, *body.shape.minus) if isinstance(body.shape, Difference) else (body.shape,)
        inside = whole._signed_distance(*at) <= self.margin
        for hole in holes:
            own = self._near(hole, at)
            if own.size:
                inside[own] &= hole._signed_distance(*(q[own] for q in at)) >= -self.margin
        found[near] |= inside

    def holds_alone(self, number: int, at: np.ndarray) -> np.ndarray:
        """Whether points (n, 2) lie in one body of the plane."""
        body = self.bodies[number]
        where = {
            self.normal: np.full(len(at), body.lower[self.normal]),
            self.across[0]: at[:, 0],
            self.across[1]: at[:, 1],
        }
        return body.shape._lateral_distance(*(where[a] for a in range(3))) <= 0.0

    def rims(self, number: int) -> Rims:
        """The sides of a body of the plane where no other metal of the plane goes on: parts of them beside seams."""
        if number not in self._rims:
            sides = sides_of(self.bodies[number].shape, self.normal)
            assert sides is not None
            self._rims[number] = self._free(Rims(*sides, outward(*sides, partial(self.holds_alone, number))))
        return self._rims[number]

    @cached_property
    def _every(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
        """Starts and ends (n, 2) of the sides of all bodies, and of those that they repeat on closed axes, by rising
        least place along the first axis; these; and the longest extent along it."""
        none = np.empty((0, 2)), np.empty((0, 2))
        start, end = (
            np.concatenate(ends)
            for ends in zip(none, *(sides_of(self.bodies[other].shape, self.normal) or none for other in self.inside))
        )
        for column in range(2):
            start, end = (self.repeated(part, column) for part in (start, end))
        low = np.minimum(start, end)[:, 0]
        order = np.argsort(low, kind="stable")
        return start[order], end[order], low[order], float(np.abs(end - start)[:, 0].max(initial=0.0))

    def repeated(self, places: np.ndarray, column: int) -> np.ndarray:
        """Places (n, 2), and on a closed axis those that they repeat a period below and above: (3 n, 2)."""
        if not self.grid.closed(self.across[column]):
            return places
        line, period = self.grid.lines[self.across[column]], np.zeros(2)
        period[column] = line[-1] - line[0]
        return np.concatenate([places + turn * period for turn in (-1, 0, 1)])

    def _free(self, sides: Rims) -> Rims:
        """The parts of sides beside which no metal of the plane lies."""
        parts = [self._crossed(sides, side) for side in range(len(sides.start))]
        which = np.repeat(np.arange(len(parts)), [len(part) - 1 for part in parts])
        middle = np.concatenate([np.empty(0), *(0.5 * (part[1:] + part[:-1]) for part in parts)])
        at = sides.start[which] + middle[:, None] * (sides.end - sides.start)[which]
        alone = ~self.holds(at + BESIDE * self.shortest * sides.normal[which], solid=False)
        found, first = [], 0
        for side, part in enumerate(parts):
            last = first + len(part) - 1
            found += [(side, part[begin], part[end]) for begin, end in runs(alone[first:last])]
            first = last
        which, begin, end = (np.array(column) for column in zip(*found)) if found else (np.empty(0, int),) * 3
        start, way = sides.start[which], (sides.end - sides.start)[which]
        stop = np.where(end[:, None] < 1.0, start + end[:, None] * way, sides.end[which])
        return Rims(start + begin[:, None] * way, stop, sides.normal[which])

    def _crossed(self, sides: Rims, side: int) -> np.ndarray:
        """Parts of a side's length between which the line beside it crosses no side."""
        beside = BESIDE * self.shortest
        start, end = (each[side] + beside * sides.normal[side] for each in sides[:2])
        first, last, lows, longest = self._every
        low, high = sorted((start[0], end[0]))
        own = slice(*np.searchsorted(lows, (low - longest - beside, high + beside)))
        first, last = first[own], last[own]
        way, along = end - start, last - first
        turn = way[0] * along[:, 1] - way[1] * along[:, 0]
        with np.errstate(divide="ignore", invalid="ignore"):
            part = ((first - start)[:, 0] * along[:, 1] - (first - start)[:, 1] * along[:, 0]) / turn
            there = ((first - start)[:, 0] * way[1] - (first - start)[:, 1] * way[0]) / turn
        near = min(ENDS * beside / float(np.hypot(*way)), 0.25)
        inner = (turn != 0.0) & (part > near) & (part < 1.0 - near) & (there >= 0.0) & (there <= 1.0)
        if not inner.any():
            return WHOLE
        parts = np.unique(np.concatenate((WHOLE, part[inner])))
        return parts[np.diff(parts, prepend=-1.0) > ALIKE]

    def _crosses(self, body: Body) -> bool:
        ends = body.nodes[self.normal]
        if not body.solid:
            return False
        if ends is None:
            return body.lower[self.normal] <= self._place <= body.upper[self.normal]
        return ends[0] <= self._node <= ends[1]

    def touches_others(self, at: np.ndarray, height: float) -> np.ndarray:
        """Whether points (n, 2) at a height (m) touch metal that is not of this plane."""
        return self._at_both_ends(at, partial(self._touches_others, height=height))

    def _touches_others(self, at: np.ndarray, height: float) -> np.ndarray:
        found = np.zeros(len(at), dtype=bool)
        where = self._points(at, height)
        for number, body in enumerate(self.bodies):
            self._carve(found, body, where)
            if body.kind == "pec" and number not in self.inside and body.shape.kind != "wire":
                self._add(found, body, where)
        return found

    def _carve(self, found: np.ndarray, body: Body, where: Sequence[np.ndarray]) -> None:
        """Take out of what was found the points that lie within a body of another medium, drawn into the metal."""
        if body.opens and found.any():
            near = self._near(body.shape, where)
            found[near] &= ~(body.shape._signed_distance(*(q[near] for q in where)) < -self.margin)

    def _near(self, shape: Solid, where: Sequence[np.ndarray]) -> np.ndarray:
        """Numbers of the points in a shape's bounds."""
        inside = np.ones(where[0].size, dtype=bool)
        for q, low, high in zip(where, *shape.bounds()):
            inside &= (low - self.margin <= q) & (q <= high + self.margin)
        return np.nonzero(inside)[0]


def past_ends(at: np.ndarray, ends: Sequence[tuple[float, float] | None], margin: float) -> np.ndarray:
    """Whether points (n, 2) lie past the ends (low, high) of the grid along both axes; None: it has none."""
    found = np.zeros(len(at), dtype=bool)
    for column, end in enumerate(ends):
        if end is not None:
            found |= (at[:, column] < end[0] - margin) | (at[:, column] > end[1] + margin)
    return found


def nearest_foot(at: Sequence[np.ndarray], start: np.ndarray, end: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(distance, foot (..., 2)) of points (u, v), which broadcast, from a side."""
    along = end - start
    part = ((at[0] - start[0]) * along[0] + (at[1] - start[1]) * along[1]) / (along @ along)
    part = np.clip(part, 0.0, 1.0)
    foot = np.stack([start[n] + part * along[n] for n in range(2)], axis=-1)
    return np.hypot(at[0] - foot[..., 0], at[1] - foot[..., 1]), foot


def outward(start: np.ndarray, end: np.ndarray, holds) -> np.ndarray:
    """Unit normals (n, 2) of sides away from metal."""
    along = end - start
    size = np.hypot(*along.T)
    normal = np.stack((along[:, 1], -along[:, 0]), axis=1) / size[:, None]
    beside = 0.5 * (start + end) + 1e-6 * size[:, None] * normal
    return np.where(holds(beside)[:, None], -normal, normal)
