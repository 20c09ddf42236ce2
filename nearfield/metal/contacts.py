"""Edges that keep thin metal joined to the solid metal it stands on, where that ends between lines of the grid.

A sheet, strip, rod or wire that ends at a face of solid metal, or lies on it, takes edges of the nearest nodes. Where
the face is followed through its cell these may lie outside: the edge from there into the solid is metal too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from nearfield.bodies.shapes import Wire
from nearfield.entry.triples import triple
from nearfield.grid.yee import YeeGrid
from nearfield.metal.metal import Body
from nearfield.metal.patches import margin_of
from nearfield.metal.sample_numbers import UNIT
from nearfield.metal.thin_metal import EdgeBox

Ends = tuple[np.ndarray, np.ndarray, tuple[int, int]]  # drawn places (n, 3) (m), nodes (n, 3), axis and way out


def joining_edges(bodies: Sequence[Body], grid: YeeGrid) -> list[tuple[EdgeBox, ...]]:
    """For each body, edges from its ends and its sides into the solid metal that they touch."""
    solid = [body for body in bodies if body.kind == "pec" and body.solid]
    margin, cell = margin_of(grid), max(float(grid.primary(a).max()) for a in range(3))
    return [
        tuple(_joining(body, _beside(body, solid, cell), grid, margin)) if body.kind == "pec" and body.edges else ()
        for body in bodies
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


def _joining(body: Body, solid: Sequence[Body], grid: YeeGrid, margin: float) -> Iterator[EdgeBox]:
    for places, nodes, (axis, way) in (*_ends(body, grid), *_sides(body, grid, margin)) if solid else ():
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
            touched, held, reached = (_holds(other, each[near], margin) for each in (places, at, further))
            for node in nodes[near[touched & ~held & reached]]:
                first = triple(int(n) - (way < 0) * (a == axis) for a, n in enumerate(node))
                yield EdgeBox(axis, first, triple(n + 1 for n in first))


def _in_box(body: Body, places: np.ndarray, margin: float) -> np.ndarray:
    """Whether points lie in the box about a body."""
    inside = (places >= np.array(body.lower) - margin) & (places <= np.array(body.upper) + margin)
    return np.asarray(inside.all(axis=1))


def _holds(body: Body, places: np.ndarray, margin: float) -> np.ndarray:
    """Whether points lie in a body or on its surface."""
    x, y, z = places.T
    return np.asarray(body.shape.contains(x, y, z, margin), dtype=bool)


def _ends(body: Body, grid: YeeGrid) -> Iterator[Ends]:
    """The ends of wires, along any axis, and the rims of flat rectangular metal."""
    if isinstance(body.shape, Wire):
        for point in (body.shape.points[0], body.shape.points[-1]):
            node = np.array([[grid.nearest_node(a, place) for a, place in enumerate(point)]])
            for axis, way in product(range(3), (-1, 1)):
                yield np.array([point]), node, (axis, way)
        return
    spans = [pair for pair in body.nodes if pair]
    if len(spans) < 3:
        return
    for axis, way in product(range(3), (-1, 1)):
        if spans[axis][0] != spans[axis][1]:
            yield _rim(body, spans, grid, axis, way)


def _sides(body: Body, grid: YeeGrid, margin: float) -> Iterator[Ends]:
    """The nodes of metal that is thin across an axis, on either side of it."""
    nodes = np.unique(np.concatenate([_nodes_of(box) for box in body.edges]), axis=0)
    for axis in np.flatnonzero(np.ptp(nodes, axis=0) == 0).tolist():
        for way, ends in ((-1, body.lower), (1, body.upper)):
            places = np.stack([grid.lines[a][np.clip(nodes[:, a], 0, grid.cells[a])] for a in range(3)], axis=1)
            places[:, axis] = ends[axis]
            own = ((nodes >= 0) & (nodes <= grid.cells)).all(axis=1)
            own &= isinstance(body.shape, Wire) or _holds(body, places, margin)
            yield places[own], nodes[own], (axis, way)


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
