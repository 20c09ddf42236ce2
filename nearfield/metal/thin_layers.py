"""Flat faces of followed metal just past a line: the thin layer of cells before them may count as thicker than it is.

Faces of H that are small against their edges count with a larger area, and those beyond with as much less, where they
may (open_parts.py): cubes may, cells much longer along one axis than along the others may not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from nearfield.bodies.combined import Difference
from nearfield.bodies.geometry import FilledShape
from nearfield.bodies.shapes import Solid
from nearfield.entry.wording import quantity
from nearfield.grid.moves import AT_HOME, Moved
from nearfield.grid.yee import AXES, YeeGrid
from nearfield.media.surface_media import is_metal
from nearfield.metal.grid_metal import GridMetal
from nearfield.metal.patches import Patch, next_axes, pair

THIN = 0.5  # cells of a layer up to which its faces may count with a larger area
LOOKED_AT = 4  # cells along both axes of a face
SAME = 1e-3  # of an edge: the open part of those that a flat face cuts


def moved_flat_faces(bodies: Sequence[FilledShape], grid: YeeGrid, metal: GridMetal) -> Iterator[Moved]:
    """Those that act more than `AT_HOME` cells deeper in the metal than they are drawn; each place once."""
    seen = set()
    for body in bodies if metal.openings else ():
        cut = body.shape.minus if isinstance(body.shape, Difference) else ()
        outward = 1 if is_metal(body.medium) else -1  # to the open side: metal lies in the body, or about a hole
        for shape, way in ((body.shape, outward), *((hole, -outward) for hole in cut)):
            faces = ((a, side) for a in range(3) if shape._constant_along(a) for side in (0, 1))
            for axis, side in faces:
                place, towards = float(shape.bounds()[side][axis]), way if side else -way
                if (axis, towards, place) in seen:
                    continue
                deeper, cell = _deeper(shape, grid, metal, axis, place, towards)
                if deeper <= AT_HOME:
                    continue
                seen.add((axis, towards, place))
                yield {
                    "what": f"{body.label}, its {('lower', 'upper')[side]} face across {AXES[axis]}",
                    "from": place,
                    "to": place - towards * deeper * cell,
                    "effect": f"it acts {deeper:.2g} of a cell ({quantity(deeper * cell, 'm')}) deeper in the metal: "
                    "it lies just past a line, and the time step bounds so thin a layer of flat cells; draw it on a "
                    "line or further past one, or take a smaller `courant`",
                    "cells": deeper,
                }


def _deeper(shape: Solid, grid: YeeGrid, metal: GridMetal, axis: int, place: float, way: int) -> tuple[float, float]:
    """By how many cells a face acts deeper if it is metal's with the open side towards `way`, and that cell (m)."""
    line = grid.lines[axis]
    plane = int(np.searchsorted(line, place, side="right" if way > 0 else "left")) - 1
    if not 0 <= plane < line.size - 1:
        return 0.0, 0.0
    cell = float(line[plane + 1] - line[plane])
    layer = abs(float(line[plane + (way > 0)]) - place) / cell
    if not SAME < layer < THIN:
        return 0.0, cell
    across = next_axes(axis)
    window = pair(_about_middle(shape, grid, a) for a in across)
    openings = metal.openings[axis]
    edges = openings.fraction(Patch(axis, axis, plane, window))
    if edges is None:
        return 0.0, cell
    cut = np.abs(edges - layer) < SAME
    found = 0.0
    for component in across:
        thin, whole = (openings.fraction(Patch(3 + component, axis, at, window)) for at in (plane, plane + way))
        if thin is None or whole is None:
            continue
        along = next(a for a in across if a != component)
        both = cut[:-1] & cut[1:] if across.index(along) == 0 else cut[:, :-1] & cut[:, 1:]  # edges of a face
        inner = np.s_[: both.shape[0], : both.shape[1]]
        found = max([found, *(thin[inner] - layer + whole[inner] - 1.0)[both & (thin[inner] < 1.0)].tolist()])
    return found, cell


def _about_middle(shape: Solid, grid: YeeGrid, axis: int) -> tuple[int, int]:
    """Cells about the middle of what lies of a shape in the grid: a flat face is alike all over."""
    lower, upper = (end[axis] for end in shape.bounds())
    line = grid.lines[axis]
    middle = int(np.searchsorted(line, 0.5 * (max(lower, line[0]) + min(upper, line[-1])))) - 1
    first = min(max(middle - LOOKED_AT // 2, 0), max(grid.cells[axis] - LOOKED_AT, 0))
    return first, min(first + LOOKED_AT, grid.cells[axis])
