"""Media whose permittivity is below zero in the pulse's band, with surfaces that the grid has no mean for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from nearfield.bodies.outlines import straight_sides
from nearfield.discretization.cpml import looked_at
from nearfield.grid.yee import AXES
from nearfield.media.materials import NAMES, Medium

if TYPE_CHECKING:
    from nearfield.bodies.geometry import FilledShape
    from nearfield.bodies.shapes import Solid
    from nearfield.discretization.discretization import Discretization

CURVED = 0.5  # cells by which a surface that follows no grid lines lies off them at worst
OFF = 0.05  # cells from which a flat face is named


def rough_surfaces(setup: Discretization) -> list[tuple[FilledShape, float, str]]:
    """Bodies of such media, or in such a background, how far (cells) their surfaces lie off grid lines, and where."""
    model, found = setup.simulation, []
    around = _negative(setup, model.background)
    for body in model._bodies:
        if isinstance(body.medium, Medium) and (around or _negative(setup, body.medium)):
            worst = max(_off_lines(setup, body), default=None)
            if worst is not None:
                found.append((body, *worst))
    return found


def negative_media_cautions(setup: Discretization) -> Iterator[str]:
    """A warning that names the body whose surface is worst."""
    found = [each for each in rough_surfaces(setup) if each[1] > OFF]
    if found:
        body, _, where = max(found, key=lambda each: each[1])
        yield (
            f"{body.label}: {body.medium_name} or what is around it has a permittivity below 0 within the pulse's "
            f"band, and {where}, where no mean of media holds: slabs so reflected 7 % less, spheres of 10 cells a "
            "radius absorbed 20 to 30 % more than they should. Put flat faces on grid lines; at curved ones take finer "
            "cells, and `nearfield converge` to see what is left"
        )


def _negative(setup: Discretization, medium: Medium) -> bool:
    """Whether Re eps_r is 0 or below somewhere in the band, along x, y or z."""
    if not medium.dispersive or not setup.band[1] > 0.0:
        return False
    seen = [medium.along(axis).relative_permittivity(looked_at(setup.band)) for axis in NAMES]
    return bool(np.real(seen).min() <= 0.0)


def _off_lines(setup: Discretization, body: FilledShape) -> Iterator[tuple[float, str]]:
    """(cells, words) of each face of a body within the grid, or of what is no face along the axes."""
    grid = setup.grid
    if not grid.reached_by(*body.shape.bounds()):
        return
    faces = _faces(body.shape)
    if faces is None:
        yield CURVED, "its surface is curved or slants"
        return
    for axis, place in faces:
        line = grid.lines[axis]
        if line[0] < place < line[-1]:
            cell = grid.primary(axis)[int(np.searchsorted(line, place)) - 1]
            off = abs(place - grid.nearest_line(axis, place)[1]) / float(cell)
            yield off, f"its face at {AXES[axis]}={place:.6g} m lies {off:.2g} cells off the grid's lines"


def _faces(shape: Solid) -> list[tuple[int, float]] | None:
    """(axis, coordinate (m)) of all faces of a body that has none but those across the axes; None of others."""
    if shape._blocks:
        return [(axis, place) for axis in range(3) for place in shape._faces(axis)]
    for normal in range(3):
        sides = straight_sides(shape, normal) if shape._constant_along(normal) else None
        if sides is not None and np.abs(sides[1] - sides[0]).min(axis=1).max(initial=0.0) == 0.0:
            return [(axis, place) for axis in range(3) for place in (*shape._faces(axis), *shape._levels(axis))]
    return None
