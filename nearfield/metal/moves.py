"""What of metal and sheets the grid moves to its lines: planes of thin bodies, flat faces, wires."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from nearfield.bodies.geometry import FilledShape
from nearfield.bodies.shapes import Wire
from nearfield.entry.triples import triple
from nearfield.entry.wording import quantity
from nearfield.grid.moves import Moved, cell_beyond, moved_place, moved_span
from nearfield.grid.yee import AXES, SAMPLE_TOLERANCE, YeeGrid
from nearfield.media.surface_media import ResistiveSheet, is_metal
from nearfield.metal.grid_metal import GridMetal
from nearfield.metal.slanted_walls import moved_slanting_rims, moved_walls
from nearfield.metal.slanting_chains import slack_of
from nearfield.metal.wire_ends import ends_of
from nearfield.metal.wire_path import path_of

BESIDE = 0.01  # cells past a face at which metal that goes on is looked for


def moved_metal(bodies: Sequence[FilledShape], grid: YeeGrid, metal: GridMetal) -> Iterator[Moved]:
    """All of it, in the order of the structures."""
    for body in bodies:
        if isinstance(body.shape, Wire):
            yield from moved_wire(body, body.shape, grid, metal)
        elif is_metal(body.medium) or body.medium == "pmc" or isinstance(body.medium, ResistiveSheet):
            yield from moved_planes(body, grid)
            if not isinstance(body.medium, ResistiveSheet) and not metal.follows(body.shape):
                yield from moved_faces(body, bodies, grid)
    yield from moved_walls(bodies, grid, metal)
    yield from moved_slanting_rims(bodies, grid, metal)


def moved_planes(body: FilledShape, grid: YeeGrid) -> Iterator[Moved]:
    """The plane of a body without thickness, or of one whose faces fall on one line."""
    lower, upper = body.shape.bounds()
    for axis in (a for a in range(3) if body.shape._constant_along(a)):
        low, high = lower[axis], upper[axis]
        node = grid.nearest_node(axis, low)
        if low == high:
            yield from moved_place(f"{body.label}, its plane across {AXES[axis]}", grid, axis, low)
        elif node == grid.nearest_node(axis, high):
            effect = "it counts as a sheet without thickness"
            yield from moved_place(f"{body.label}, thinner than a cell", grid, axis, 0.5 * (low + high), effect)


def moved_faces(body: FilledShape, bodies: Sequence[FilledShape], grid: YeeGrid) -> Iterator[Moved]:
    """Flat faces of metal on whole cells and edges."""
    lower, upper = body.shape.bounds()
    for axis in _spanned(body, grid):
        thin = len(_spanned(body, grid)) < 3
        rims = [thin and not _goes_on(body, bodies, grid, axis, way) for way in (-1, 1)]
        yield from moved_span(body.label, grid, axis, lower[axis], upper[axis], *rims)


def whole_rims(
    bodies: Sequence[FilledShape], grid: YeeGrid, metal: GridMetal
) -> Iterator[tuple[FilledShape, str, float]]:
    """Sheets on whole edges: body, axis, by what part of its width it acts wider there than it is drawn.

    Whole edges act a third of a cell past the line on which they end; ends at other metal and out of the grid do not.
    """
    for body in bodies:
        spanned = _spanned(body, grid)
        if is_metal(body.medium) and len(spanned) == 2 and not metal.follows(body.shape):
            lower, upper = body.shape.bounds()
            for axis in spanned:
                wider = 0.0
                for end, way in ((lower[axis], -1), (upper[axis], 1)):
                    node = grid.nearest_node(axis, end)
                    if not _goes_on(body, bodies, grid, axis, way):
                        acts = grid.lines[axis][node] + way * cell_beyond(grid, axis, node, way) / 3
                        wider += way * (float(acts) - end)
                yield body, AXES[axis], wider / (upper[axis] - lower[axis])


def _spanned(body: FilledShape, grid: YeeGrid) -> list[int]:
    """Axes across which a body has two flat faces on different lines."""
    if isinstance(body.shape, Wire):
        return []
    nodes = [[grid.nearest_node(a, place) for place in pair] for a, pair in enumerate(zip(*body.shape.bounds()))]
    return [a for a, (low, high) in enumerate(nodes) if body.shape._constant_along(a) and low != high]


def _goes_on(body: FilledShape, bodies: Sequence[FilledShape], grid: YeeGrid, axis: int, way: int) -> bool:
    """Whether other metal, or the end of the grid, lies past the middle of a flat face."""
    lower, upper = body.shape.bounds()
    place, line = (lower if way < 0 else upper)[axis], grid.lines[axis]
    at = [0.5 * (low + high) for low, high in zip(lower, upper)]
    at[axis] = place + way * BESIDE * cell_beyond(grid, axis, grid.nearest_node(axis, place), way)
    if not line[0] < at[axis] < line[-1]:
        return True
    margin = SAMPLE_TOLERANCE * float(grid.primary(axis).min())
    return any(
        bool(other.shape.contains(*triple(at), margin))
        for other in bodies
        if other is not body and is_metal(other.medium) and not isinstance(other.shape, Wire)
    )


def moved_path(body: FilledShape, wire: Wire, grid: YeeGrid) -> Iterator[Moved]:
    """How far the edges of a wire along no axis lie beside it, and what that asks of the time step."""
    path = path_of(wire, grid)
    places = np.stack([grid.lines[a][path.nodes[:, a]] for a in range(3)], axis=1)
    beside = np.linalg.norm(places - path.at, axis=1)
    cell = min(float(grid.primary(a).min()) for a in range(3))
    farthest = float(beside.max())
    shorter = 100.0 * (1.0 - slack_of([wire]) ** -0.5)
    yield {
        "what": f"{body.label}, a wire along no axis",
        "from": 0.0,
        "to": farthest,
        "effect": f"its edges lie up to {quantity(farthest, 'm')} beside it, {farthest / cell:.2g} of a cell; the time "
        f"step is {shorter:.0f} % shorter than without it",
        "cells": float(beside.mean()) / cell,
    }


def moved_wire(body: FilledShape, wire: Wire, grid: YeeGrid, metal: GridMetal) -> Iterator[Moved]:
    """A wire's places across its parts, and its ends where something goes on from them; free ends act where drawn."""
    if wire._slants:
        yield from moved_path(body, wire, grid)
        return
    free = {end for chain in metal.chains for end in chain.ends}
    for axis in range(3):
        places = {corner[axis] for corner in wire.points}
        for last, before in ((wire.points[0], wire.points[1]), (wire.points[-1], wire.points[-2])):
            if int(np.argmax(np.abs(np.subtract(last, before)))) == axis:
                places.discard(last[axis])
        for place in sorted(places):
            yield from moved_place(f"{body.label}, a part of it", grid, axis, place)
    for end in ends_of(wire, grid):
        if end not in free:
            axis = end.axis
            low, high = sorted((end.node[axis], end.node[axis] + end.way))
            length = float(grid.lines[axis][high] - grid.lines[axis][low])
            place = float(grid.lines[axis][end.node[axis]]) + end.way * end.part * length
            yield from moved_place(f"{body.label}, an end of it", grid, axis, place, "it meets what it touches there")
