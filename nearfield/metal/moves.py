"""What of metal and sheets the grid moves to its lines: planes of thin bodies, flat faces, wires."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from nearfield.bodies.geometry import FilledShape
from nearfield.bodies.shapes import Wire
from nearfield.entry.wording import quantity
from nearfield.grid.moves import Moved, moved_place, moved_span
from nearfield.grid.yee import AXES, YeeGrid
from nearfield.media.surface_media import ResistiveSheet, is_metal
from nearfield.metal.grid_metal import GridMetal
from nearfield.metal.slanted_walls import moved_walls
from nearfield.metal.slanting_chains import slack_of
from nearfield.metal.wire_ends import ends_of
from nearfield.metal.wire_path import path_of


def moved_metal(bodies: Sequence[FilledShape], grid: YeeGrid, metal: GridMetal) -> Iterator[Moved]:
    """All of it, in the order of the structures."""
    for body in bodies:
        if isinstance(body.shape, Wire):
            yield from moved_wire(body, body.shape, grid, metal)
        elif is_metal(body.medium) or body.medium == "pmc" or isinstance(body.medium, ResistiveSheet):
            yield from moved_planes(body, grid)
            if not isinstance(body.medium, ResistiveSheet) and not metal.follows(body.shape):
                yield from moved_faces(body, grid)
    yield from moved_walls(bodies, grid, metal)


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


def moved_faces(body: FilledShape, grid: YeeGrid) -> Iterator[Moved]:
    """Flat faces of metal on whole cells and edges."""
    lower, upper = body.shape.bounds()
    ends = [[grid.nearest_node(axis, place) for place in pair] for axis, pair in enumerate(zip(lower, upper))]
    thin = any(body.shape._constant_along(a) and low == high for a, (low, high) in enumerate(ends))
    for axis, (low, high) in enumerate(ends):
        if body.shape._constant_along(axis) and low != high:
            yield from moved_span(body.label, grid, axis, lower[axis], upper[axis], thin)


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
