"""Thin metal that slants to the grid, or is curved: how thick it is, and what the grid makes of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from nearfield.bodies.closed_surface import volume
from nearfield.bodies.geometry import FilledShape
from nearfield.bodies.layout import Layout
from nearfield.bodies.mesh import Mesh
from nearfield.bodies.revolved import Revolved
from nearfield.bodies.shapes import Cylinder, Polygon, Solid
from nearfield.entry.wording import quantity
from nearfield.grid.moves import Moved
from nearfield.grid.yee import YeeGrid
from nearfield.media.surface_media import is_metal
from nearfield.metal.conformal import cell_near
from nearfield.metal.grid_metal import GridMetal

THIN = 1.5  # cells; thinner walls have both sides in one face (docs/method.md, Thin walls)
OFF = 0.5  # cells by which one side of a followed thin wall lies too far out at most


def slanted_walls(
    bodies: Sequence[FilledShape], grid: YeeGrid, metal: GridMetal
) -> Iterator[tuple[FilledShape, float, float, bool]]:
    """Metal thinner than `THIN` cells across no axis: body, mean thickness and cell (m), whether cells follow it."""
    for body in bodies:
        thickness = mean_thickness(body.shape) if is_metal(body.medium) else np.inf
        if np.isfinite(thickness):
            lower, upper = body.shape.bounds()
            across = [a for a in range(3) if not body.shape._constant_along(a)]
            cell = max(cell_near(grid, a, lower[a], upper[a]) for a in across)
            if thickness < THIN * cell:
                yield body, thickness, cell, metal.follows(body.shape)


def mean_thickness(shape: Solid) -> float:
    """Twice volume over surface of a body (m), of an extruded one twice area over outline, of a slanting disc its
    length: of a plate or a shell the thickness. Infinite for other shapes, and for those without thickness."""
    if isinstance(shape, Polygon | Layout) and shape.lower == shape.upper:
        return np.inf
    if isinstance(shape, Polygon):
        return _of_outline(np.asarray(shape.vertices))
    if isinstance(shape, Layout):
        return min(_of_outline(np.asarray(polygon.vertices)) for polygon in shape.polygons())
    if isinstance(shape, Revolved):
        return _of_outline(np.asarray(shape.profile))
    if isinstance(shape, Mesh):
        return _of_mesh(shape)
    if isinstance(shape, Cylinder) and shape.length < shape.radius:
        return np.inf if any(shape._constant_along(a) for a in range(3)) else shape.length
    return np.inf


def _of_outline(corners: np.ndarray) -> float:
    u, v = (corners - corners.mean(axis=0)).T
    area = 0.5 * abs(np.sum(u * np.roll(v, -1) - v * np.roll(u, -1)))
    return float(2.0 * area / np.hypot(*(np.roll(corners, -1, axis=0) - corners).T).sum())


def _of_mesh(shape: Mesh) -> float:
    corners, triangles = shape._surface.corners, shape._surface.triangles
    a, b, c = (corners[triangles[:, n]] for n in range(3))
    return float(4.0 * abs(volume(corners, triangles)) / np.linalg.norm(np.cross(b - a, c - a), axis=1).sum())


def thin_walls_text(cell: float, follows: bool) -> str:
    """What becomes of such a wall."""
    if follows:
        off = f"{OFF:g} cells ({quantity(OFF * cell, 'm')})"
        return f"it is closed, but one of its sides acts up to {off} too far out, and its rims as far off either way"
    return (
        "it takes the whole cells whose centre it holds, so that it has holes, and steps of a cell "
        f"({quantity(cell, 'm')})"
    )


def moved_walls(bodies: Sequence[FilledShape], grid: YeeGrid, metal: GridMetal) -> Iterator[Moved]:
    """Their thickness, and what acts."""
    for body, thickness, cell, follows in slanted_walls(bodies, grid, metal):
        acts = thickness + OFF * cell if follows else cell
        effect = f"its faces lie across no axis; {thin_walls_text(cell, follows)}"
        yield {
            "what": f"{body.label}, its thickness",
            "from": thickness,
            "to": acts,
            "effect": effect,
            "cells": abs(acts - thickness) / cell,
        }


def thin_slanted_walls(bodies: Sequence[FilledShape], grid: YeeGrid, metal: GridMetal) -> Iterator[str]:
    """Warnings about them."""
    for body, thickness, cell, follows in slanted_walls(bodies, grid, metal):
        cure = f"drawn a cell thick ({quantity(cell, 'm')}) it acts more nearly where it is"
        if not follows:
            cure = f'take metal="conformal", or cells below {quantity(thickness / THIN, "m")}'
        yield (
            f"{body.label}: metal some {quantity(thickness, 'm')} thick, {thickness / cell:.2g} of a cell, whose faces "
            f"lie across no axis: {thin_walls_text(cell, follows)}; {cure}"
        )
