"""Media whose permittivity is below zero in the pulse's band, with surfaces that the grid has no mean for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from nearfield.discretization.cpml import LOOKED_AT, lowest_of
from nearfield.grid.yee import AXES
from nearfield.media.materials import Medium

if TYPE_CHECKING:
    from nearfield.bodies.geometry import FilledShape
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
    """Whether Re eps_r is 0 or below somewhere in the band."""
    if not medium.dispersive or not setup.band[1] > 0.0:
        return False
    frequencies = np.geomspace(lowest_of(setup.band), setup.band[1], LOOKED_AT)
    return bool(np.real(medium.relative_permittivity(frequencies)).min() <= 0.0)


def _off_lines(setup: Discretization, body: FilledShape) -> Iterator[tuple[float, str]]:
    """(cells, words) of each face or curve of a body within the grid."""
    grid, shape = setup.grid, body.shape
    low, high = shape.bounds()
    if not grid.reached_by(low, high):
        return
    for axis, line in enumerate(grid.lines):
        if not shape._constant_along(axis):
            yield CURVED, "its surface is curved or slants"
            continue
        for end in (low[axis], high[axis]):
            if line[0] < end < line[-1]:
                cell = grid.primary(axis)[int(np.searchsorted(line, end)) - 1]
                off = abs(end - grid.nearest_line(axis, end)[1]) / float(cell)
                yield off, f"its face at {AXES[axis]}={end:.6g} m lies {off:.2g} cells off the grid's lines"
