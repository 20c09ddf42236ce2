"""What dispersive media keep and cost, from a look at some cells: no array of the size of the grid."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from nearfield.coefficients.coefficients import Coefficients
from nearfield.plan.plan import Plan
from nearfield.plan.sizes import BYTES_OF, LANES

if TYPE_CHECKING:
    from nearfield.discretization.discretization import Discretization

LOOKED_AT = 32  # cells along each axis of a box
MOST_PLANES = 64  # that surfaces are looked for in
# In units of a plain vacuum cell, of a cube of 128 cells full of media of 1 to 6 Debye poles against the same without
# (Xeon, AVX-512, one core, single precision, on a busy machine: rough).
DISPERSIVE = 0.7  # of a cell with poles
REMEMBERED = 0.2  # of each number that it keeps


def kept_numbers(plan: Plan, lower=(0, 0, 0), upper=None) -> np.ndarray:
    """Numbers that dispersive media keep in a cell, on an even lattice of cells in a box along x, y, z."""
    return kept_numbers_at(
        plan,
        [
            np.unique(np.linspace(low, high - 1, min(LOOKED_AT, high - low)).round().astype(int))
            for low, high in zip(lower, upper or plan.active)
        ],
    )


def kept_numbers_at(plan: Plan, index: Sequence[np.ndarray]) -> np.ndarray:
    """The same on the lattice of these cells along x, y, z."""
    if not plan.pole_media:
        return np.zeros(tuple(len(i) for i in index))
    return plan.coefficients.kept_numbers(*index)


def row_bytes(plan: Plan) -> np.ndarray:
    """What poles remember in each row of an even lattice of rows: whole blocks of 16 cells."""
    unit = plan.unit_axis
    index = [np.unique(np.linspace(0, n - 1, min(LOOKED_AT, n)).round().astype(int)) for n in plan.active]
    index[unit] = np.arange(plan.active[unit])
    kept = np.moveaxis(kept_numbers_at(plan, index), unit, -1)
    blocks = np.maximum.reduceat(kept, np.arange(0, kept.shape[-1], LANES), axis=-1)
    return blocks.sum(axis=-1) * LANES * BYTES_OF[plan.precision] * (1 + plan.complex_fields)


def pole_bytes(plan: Plan) -> int:
    """Memory of all that poles remember."""
    rows = math.prod(n for axis, n in enumerate(plan.active) if axis != plan.unit_axis)
    return round(row_bytes(plan).mean() * rows) if plan.pole_media else 0


def surface_samples(coefficients: Coefficients, axes: Sequence[int]) -> list[tuple[float, int]]:
    """(samples, numbers that each keeps) of each sheet and conductor that remembers: whole blocks of 16 along axes[2].

    Planes across axes[0] are looked at where they differ, at most 64 of them.
    """
    found, (count, *across) = [], (coefficients.active[axis] for axis in axes)
    for surface, medium in coefficients.remembering_surfaces:
        kinds = [surface.signature(axes[0], plane) for plane in range(count)]
        firsts = np.array([plane for plane in range(count) if plane == 0 or kinds[plane] != kinds[plane - 1]])
        places = np.unique(np.linspace(0, len(firsts) - 1, min(MOST_PLANES, len(firsts))).round().astype(int))
        blocks = []
        for plane in firsts[places]:
            parts = [
                surface.part(3 * surface.magnetic + n, axes[0], plane, [(0, size) for size in across]) for n in range(3)
            ]
            touched = np.stack([np.broadcast_to(part, across) for part in parts]) != 0.0
            blocks.append(np.logical_or.reduceat(touched, np.arange(0, across[1], LANES), axis=-1).sum())
        alike = np.diff(firsts, append=count)
        total = np.sum(alike * np.interp(np.arange(len(firsts)), places, blocks))
        found.append((float(total) * LANES, medium.states))
    return found


def surfaces(setup: Discretization) -> tuple[int, float]:
    """Memory (bytes) of what sheets and conductors remember, and their cost in plain cells, a cell of the model.

    Conformal metal counts as that on whole cells does: of a sphere some 5 % fewer blocks.
    """
    plan, coefficients, model = setup.plan, setup.coefficients, setup.simulation
    if model.metal == "conformal" and coefficients.remembering_surfaces:
        structures = [structure for structure in model.structures if structure.shape.kind != "wire"]
        band = setup.lowest_frequency, setup.highest_frequency
        coefficients = Coefficients(
            setup.grid, structures, model.media, model.background, model.boundaries, setup.time_step, band=band
        )
    found, whole = surface_samples(coefficients, plan.storage_axes), math.prod(setup.grid.cells)
    numbers = sum(samples * states for samples, states in found) * math.prod(plan.cells) / whole
    cost = sum(samples * (DISPERSIVE / 3 + REMEMBERED * states) for samples, states in found) / whole
    return round(numbers) * BYTES_OF[plan.precision] * (1 + plan.complex_fields), cost


def fullest_rows(plan: Plan) -> tuple[float, float]:
    """What poles remember in the row that keeps most, and the part of such rows were all others empty."""
    kept = row_bytes(plan) if plan.pole_media else np.zeros(1)
    return float(kept.max()), float(kept.mean() / max(1.0, kept.max()))


def pole_cost(kept: np.ndarray) -> np.ndarray:
    """What cells cost that keep so many numbers, beside the update, in plain cells."""
    return np.where(kept > 0, DISPERSIVE + REMEMBERED * kept, 0.0)
