"""How large the cells are where each medium is, and what that does to waves."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nearfield.entry.constants import VACUUM_SPEED
from nearfield.grid.yee import YeeGrid
from nearfield.media.materials import Medium
from nearfield.plan.sizes import phase_error_per_wavelength

if TYPE_CHECKING:
    from nearfield.discretization.discretization import Discretization
    from nearfield.discretization.model import Model


@dataclass(frozen=True)
class MediumCheck:
    """How finely the grid resolves the waves in one medium, at the highest excited frequency."""

    name: str
    refractive_index: float  # abs(n), `Medium.index_at`
    largest_cell: float  # m
    cells_per_wavelength: float
    phase_error: float  # degrees per wavelength, along an axis


def smallest_cell(grid: YeeGrid) -> float:
    """Length (m) of the shortest cell."""
    return float(min(grid.primary(axis).min() for axis in range(3)))


def largest_cell(grid: YeeGrid) -> float:
    """Length (m) of the longest cell."""
    return float(max(grid.primary(axis).max() for axis in range(3)))


def largest_ratio(grid: YeeGrid) -> tuple[float, int, float]:
    """Largest ratio of two neighbouring cells, its axis, and where they meet (m)."""
    worst = (1.0, 0, float(grid.lines[0][0]))
    for axis in range(3):
        length = grid.primary(axis)
        if length.size < 2:
            continue
        ratio = np.maximum(length[1:] / length[:-1], length[:-1] / length[1:])
        at = int(np.argmax(ratio))
        if ratio[at] > worst[0]:
            worst = (float(ratio[at]), axis, float(grid.lines[axis][at + 1]))
    return worst


def media_of_structures(simulation: Model) -> list[tuple[str, Medium, int]]:
    """Name, medium and number of each structure that waves go into."""
    found = []
    for number, structure in enumerate(simulation.structures):
        medium = structure.medium
        if isinstance(medium, str):
            if isinstance(simulation.media.get(medium), Medium):
                found.append((medium, simulation.media[medium], number))
        elif isinstance(medium, Medium):
            found.append((medium.name or structure.name or medium.label(), medium, number))
    return found


def cells_in_media(
    simulation: Model, grid: YeeGrid, index: Callable[[Medium], float]
) -> dict[str, tuple[float, float]]:
    """Largest cell (m) and `index` of each medium where it may be: in the boxes about its structures.

    The background may be anywhere. A structure outside the grid counts for nothing.
    """
    background = simulation.background
    everywhere = max(float(grid.primary(axis).max()) for axis in wave_axes(grid))
    found = {background.name or "background": (everywhere, index(background))}
    for name, medium, number in media_of_structures(simulation):
        cell = largest_cell_between(grid, *simulation.structures[number].shape.bounds())
        if cell > 0:
            known = found.get(name, (0.0, index(medium)))
            found[name] = (max(cell, known[0]), max(index(medium), known[1]))
    return found


def wave_axes(grid: YeeGrid) -> list[int]:
    """The axes along which waves can travel: a slice one cell thick carries none across it."""
    return [axis for axis in range(3) if grid.cells[axis] > 1] or [0, 1, 2]


def largest_cell_between(grid: YeeGrid, lower: tuple[float, ...], upper: tuple[float, ...]) -> float:
    """Length (m) of the longest cell along waves that overlaps a box; 0 where the box lies outside the grid."""
    longest, along = 0.0, wave_axes(grid)
    for axis in range(3):
        line = grid.lines[axis]
        inside = (line[1:] > lower[axis]) & (line[:-1] < upper[axis])
        if not inside.any():
            return 0.0
        if axis not in along:
            continue
        longest = max(longest, float(grid.primary(axis)[inside].max()))
    return longest


def resolved_media(setup: Discretization) -> tuple[MediumCheck, ...]:
    """Resolution in every medium."""
    frequency, found = setup.band_edge, []
    media = cells_in_media(setup.simulation, setup.grid, lambda medium: medium.index_at(frequency))
    for name, (cell, index) in media.items():
        speed = VACUUM_SPEED / index
        per_wavelength = speed / (frequency * cell) if frequency > 0 else math.inf
        error = phase_error_per_wavelength(cell, setup.time_step, frequency, speed)
        found.append(MediumCheck(name, index, cell, per_wavelength, error))
    return tuple(found)
