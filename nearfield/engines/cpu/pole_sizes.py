"""What dispersive media keep and cost, from a look at some cells: no array of the size of the grid."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from nearfield.plan.plan import Plan
from nearfield.plan.sizes import BYTES_OF, LANES

if TYPE_CHECKING:
    pass

LOOKED_AT = 32  # cells along each axis of a box
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


def fullest_rows(plan: Plan) -> tuple[float, float]:
    """What poles remember in the row that keeps most, and the part of such rows were all others empty."""
    kept = row_bytes(plan) if plan.pole_media else np.zeros(1)
    return float(kept.max()), float(kept.mean() / max(1.0, kept.max()))


def pole_cost(kept: np.ndarray) -> np.ndarray:
    """What cells cost that keep so many numbers, beside the update, in plain cells."""
    return np.where(kept > 0, DISPERSIVE + REMEMBERED * kept, 0.0)
