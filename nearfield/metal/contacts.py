"""Edges that keep thin metal joined to the solid metal it stands on, where that ends between lines of the grid.

A sheet, strip, rod or wire that ends at a face of solid metal, or lies on it, takes edges of the nearest nodes. Where
the face is followed through its cell these may lie outside: the edge from there into the solid is metal too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, product
from typing import NamedTuple

import numpy as np

from nearfield.bodies.shapes import Solid, Wire
from nearfield.entry.triples import triple
from nearfield.grid.yee import YeeGrid
from nearfield.metal.metal import Body
from nearfield.metal.patches import margin_of, next_axes
from nearfield.metal.sample_numbers import UNIT
from nearfield.metal.thin_metal import EdgeBox

Ends = tuple[np.ndarray, np.ndarray, tuple[int, int]]  # drawn places (n, 3) (m), nodes (n, 3), axis and way out

MOST_AT_ONCE = 1_000_000  # pairs of points and legs


class Joints(NamedTuple):
    """Edges into solid metal, of a wire those that go on from its ends, and all others."""

    ends: tuple[EdgeBox, ...] = ()
    sides: tuple[EdgeBox, ...] = ()


def joining_edges(bodies: Sequence[Body], drawn: Sequence[Solid], grid: YeeGrid) -> list[Joints]:
    """For each body, edges from its ends and its sides into the solid metal that they touch where they are `drawn`."""
    solid = [body for body in bodies if body.kind == "pec" and body.solid]
    cell = max(float(grid.primary(a).max()) for a in range(3))
    return [
        _joints(body, shape, near, grid)
        if body.kind == "pec" and body.edges and (near := _beside(body, solid, cell))
        else Joints()
        for body, shape in zip(bodies, drawn)
    ]


def _beside(body: Body, solid: Sequence[Body], reach: float) -> list[Body]:
    """The solid metal whose box comes near that of a body."""
    return [
        other
        for other in solid
        if other is not body
        and all(
            low <= upper + reach and high >= lower - reach
            for low, high, lower, upper in zip(other.lower, other.upper, body.lower, body.upper)
        )
    ]


def _joints(body: Body, drawn: Solid, solid: Sequence[Body], grid: YeeGrid) -> Joints:
    margin = margin_of(grid)
    ends: Iterable[Ends] = ()
    sides: Iterable[Ends] = chain(_rims(body, grid), _sides(body, grid, margin))
    if isinstance(body.shape, Wire):
        line = _Line.of(drawn)
        ends, sides = _wire_ends(body.shape, line, grid), _wire_sides(body, line, grid)
    return Joints(*(tuple(_edges_into(solid, touching, grid, margin)) for touching in (ends, sides)))


def _edges_into(solid: Sequence[Body], touching: Iterable[Ends], grid: YeeGrid, margin: float) -> Iterator[EdgeBox]:
    """The edges from nodes outside solid metal into that which their drawn places touch."""
    for places, nodes, (axis, way) in touching:
        at = np.stack([grid.lines[a][nodes[:, a]] for a in range(3)], axis=1)
        beyond = nodes + way * UNIT[axis]
        inside = (beyond[:, axis] >= 0) & (beyond[:, axis] <= grid.cells[axis])
        further = np.stack([grid.lines[a][np.clip(beyond[:, a], 0, grid.cells[a])] for a in range(3)], axis=1)
        longest = int(np.argmax(np.ptp(places, axis=0))) if len(places) else 0
        order = np.argsort(places[:, longest])
        for other in solid:
            ends = other.lower[longest] - margin, other.upper[longest] + margin
            near = order[slice(*np.searchsorted(places[order, longest], ends))]
            near = near[inside[near] & _in_box(other, places[near], margin)]
            touched, held, reached = (_holds(other.shape, each[near], margin) for each in (places, at, further))
            for node in nodes[near[touched & ~held & reached]]:
                first = triple(int(n) - (way < 0) * (a == axis) for a, n in enumerate(node))
                yield EdgeBox(axis, first, triple(n + 1 for n in first))


def _in_box(body: Body, places: np.ndarray, margin: float) -> np.ndarray:
    """Whether points lie in the box about a body."""
    inside = (places >= np.array(body.lower) - margin) & (places <= np.array(body.upper) + margin)
    return np.asarray(inside.all(axis=1))


def _holds(shape: Solid, places: np.ndarray, margin: float) -> np.ndarray:
    """Whether points lie in a shape or on its surface."""
    x, y, z = places.T
    return np.asarray(shape.contains(x, y, z, margin), dtype=bool)


class _Line(NamedTuple):
    """A wire or rod as drawn: the corners (n, 3) of its middle line, and half its size along each axis (3,) (m)."""

    corners: np.ndarray
    half: np.ndarray

    @staticmethod
    def of(drawn: Solid) -> _Line:
        """The line of a wire, or of a rod along its longest axis."""
        if isinstance(drawn, Wire):
            return _Line(np.array(drawn.points), np.full(3, drawn.radius or 0.0))
        low, high = (np.array(end) for end in drawn.bounds())
        along = UNIT[int(np.argmax(high - low))] > 0
        middle = 0.5 * (low + high)
        corners = np.stack([np.where(along, end, middle) for end in (low, high)])
        return _Line(corners, np.where(along, 0.0, 0.5 * (high - low)))

    def nearest(self, points: np.ndarray) -> np.ndarray:
        """The places on it nearest to points (n, 3)."""
        return nearest_on(self.corners, points)


def nearest_on(corners: np.ndarray, points: np.ndarray) -> np.ndarray:
    """The places on a polyline with these corners (m, 3) nearest to points (n, 3)."""
    start, legs = corners[:-1], np.diff(corners, axis=0)
    found = []
    for part in np.array_split(points, 1 + points.shape[0] * legs.shape[0] // MOST_AT_ONCE):
        share = ((part[:, None] - start) * legs).sum(axis=2) / (legs**2).sum(axis=1)
        near = start + np.clip(share, 0.0, 1.0)[..., None] * legs
        best = ((near - part[:, None]) ** 2).sum(axis=2).argmin(axis=1)
        found.append(near[np.arange(len(part)), best])
    return np.concatenate(found)


def _wire_ends(wire: Wire, line: _Line, grid: YeeGrid) -> Iterator[Ends]:
    """Both ends of a wire, along any axis."""
    for end in (0, -1):
        node = np.array([[grid.nearest_node(a, place) for a, place in enumerate(wire.points[end])]])
        for axis, way in product(range(3), (-1, 1)):
            yield line.corners[end][None], node, (axis, way)


def _wire_sides(body: Body, line: _Line, grid: YeeGrid) -> Iterator[Ends]:
    """The nodes of a wire, on each side of it."""
    for component in range(3):
        own = [_nodes_of(box) for box in body.edges if box.component == component]
        nodes = np.unique(np.concatenate(own), axis=0) if own else np.empty((0, 3), dtype=int)
        nodes = nodes[((nodes >= 0) & (nodes <= grid.cells)).all(axis=1)]
        if len(nodes):
            near = line.nearest(np.stack([grid.lines[a][nodes[:, a]] for a in range(3)], axis=1))
            for axis, way in product(next_axes(component), (-1, 1)):
                yield near + way * line.half * UNIT[axis], nodes, (axis, way)


def _rims(body: Body, grid: YeeGrid) -> Iterator[Ends]:
    """The rims of flat rectangular metal."""
    spans = [pair for pair in body.nodes if pair]
    if len(spans) < 3:
        return
    for axis, way in product(range(3), (-1, 1)):
        if spans[axis][0] != spans[axis][1]:
            yield _rim(body, spans, grid, axis, way)


def _sides(body: Body, grid: YeeGrid, margin: float) -> Iterator[Ends]:
    """The nodes of metal that is thin across an axis, on either side of it."""
    nodes = np.unique(np.concatenate([_nodes_of(box) for box in body.edges]), axis=0)
    nodes = nodes[((nodes >= 0) & (nodes <= grid.cells)).all(axis=1)]
    thin = np.flatnonzero(np.ptp(nodes, axis=0) == 0).tolist() if len(nodes) else []
    places = np.stack([grid.lines[a][nodes[:, a]] for a in range(3)], axis=1)
    for axis in thin if len(thin) > 1 else ():  # the core of a cylinder: its middle line
        places[:, axis] = 0.5 * (body.lower[axis] + body.upper[axis])
    for axis, (way, ends) in product(thin, ((-1, body.lower), (1, body.upper))):
        at = places.copy()
        at[:, axis] = ends[axis]
        own = _holds(body.shape, at, margin)
        yield at[own], nodes[own], (axis, way)


def _nodes_of(box: EdgeBox) -> np.ndarray:
    """The nodes (n, 3) at the ends of its edges."""
    first = np.argwhere(box.drawn) + np.array(box.lower)
    return np.concatenate((first, first + UNIT[box.component]))


def _rim(body: Body, spans: Sequence[tuple[int, int]], grid: YeeGrid, axis: int, way: int) -> Ends:
    """The nodes of a rim across an axis, and where they are drawn."""
    low, high = np.array(body.lower), np.array(body.upper)
    ranges = [np.arange(max(first, 0), min(last, n) + 1) for (first, last), n in zip(spans, grid.cells)]
    rim = spans[axis][int(way > 0)]
    ranges[axis] = ranges[axis][ranges[axis] == rim]  # none past the end of a closed axis
    nodes = np.stack([part.ravel() for part in np.meshgrid(*ranges, indexing="ij")], axis=1)
    places = np.clip(np.stack([grid.lines[a][nodes[:, a]] for a in range(3)], axis=1), low, high)
    places[:, axis] = (high if way > 0 else low)[axis]
    return places, nodes, (axis, way)
