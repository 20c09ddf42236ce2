"""A model on a finer grid, everything else as it is."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from nearfield.entry.errors import ModelError
from nearfield.entry.triples import triple
from nearfield.grid.boundaries import CPML, FACES, Boundaries
from nearfield.grid.grid import AnyGrid, AutoGrid, GradedGrid, Grading, Grid, UniformGrid
from nearfield.grid.yee import AXES

if TYPE_CHECKING:
    from nearfield.simulation import Simulation


def refined(simulation: Simulation, factor: float) -> Simulation:
    """The model with cells smaller by `factor`, over the same space and time.

    Cells of grids with given lines are cut into `factor` parts, which must be a whole number, and the CPML takes as
    many more of them; an `AutoGrid` takes any factor of at least 0.5 and adds a CPML of as many cells as before.
    `steps` and a given `time_step` change with the cells. Error: `ModelError`.
    """
    if factor == 1:
        return simulation
    if not math.isfinite(factor):
        raise ModelError(f"refinement {factor:g}: give a factor between 0.5 and 100; 1 is the model's own grid")
    automatic = isinstance(simulation.grid, AutoGrid)
    if not automatic and (factor < 1 or factor != int(factor)):
        raise ModelError(
            f"refinement {factor:g}: cells of a grid whose lines are given can be cut into whole numbers of parts "
            "only; give 2 or 3, or use an AutoGrid, which takes any factor"
        )
    if not 0.5 <= factor <= 100:
        raise ModelError(f"refinement {factor:g}: give a factor between 0.5 and 100; 1 is the model's own grid")
    changes: dict[str, object] = {"grid": _finer(simulation.grid, factor)}
    if not automatic:
        changes["boundaries"] = _thicker(simulation.boundaries, int(factor))
    if simulation.steps is not None:
        changes["steps"] = math.ceil(simulation.steps * factor)
    if simulation.time_step is not None:
        changes["time_step"] = simulation.time_step / factor
    return simulation.model_copy(update=changes)


def _finer(grid: AnyGrid, factor: float) -> AnyGrid:
    """The grid with smaller cells between the same ends."""
    if isinstance(grid, AutoGrid):
        finer: dict[str, object] = {"cells_per_wavelength": grid.cells_per_wavelength * factor}
        finer["finer"] = tuple(
            box.model_copy(update={"cell": triple(cell / factor for cell in box.cell)}) for box in grid.finer
        )
        finer |= {} if grid.minimum_cell is None else {"minimum_cell": grid.minimum_cell / factor}
        return grid.model_copy(update=finer)
    parts = int(factor)
    if isinstance(grid, UniformGrid):
        spacing, cells = (cell / parts for cell in grid.spacing), (count * parts for count in grid.cells)
        return UniformGrid(spacing=triple(spacing), cells=triple(cells), origin=grid.origin)
    if isinstance(grid, GradedGrid):
        gradings = [_finer_grading(grading, parts) for grading in (grid.x, grid.y, grid.z)]
        return GradedGrid(x=gradings[0], y=gradings[1], z=gradings[2])
    x, y, z = (_cut(np.asarray(line), parts) for line in (grid.x, grid.y, grid.z))
    return Grid(x=x, y=y, z=z)


def _finer_grading(grading: Grading, parts: int) -> Grading:
    sizes = tuple(size / parts for size in grading.size)
    return Grading(at=grading.at, size=sizes, cells=grading.count * parts)


def _cut(lines: np.ndarray, parts: int) -> tuple[float, ...]:
    """The lines, and those that cut the cells between them into equal parts."""
    places = np.arange(parts * (lines.size - 1) + 1) / parts
    return tuple(np.interp(places, np.arange(lines.size), lines).tolist())


def _thicker(boundaries: Boundaries, parts: int) -> Boundaries:
    """The boundaries with as many times more cells in each CPML, so that the space inside stays."""
    named = {}
    for axis, side in FACES:
        face = boundaries.face(axis, side)
        if isinstance(face, CPML):
            named[f"{AXES[axis]}_{side}"] = face.model_copy(update={"cells": face.cells * parts})
    return boundaries.model_copy(update=named)
