"""Memory and cost of dispersive media, from some of the cells: no array of the size of the grid."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from nearfield.engines.cpu.heuristics import DISPERSIVE, LOOKED_AT, REMEMBERED
from nearfield.entry.triples import Triple
from nearfield.plan.plan import Plan
from nearfield.plan.sizes import BYTES_OF, LANES


def lattice(plan: Plan, lower: Triple = (0, 0, 0), upper: Triple | None = None) -> list[np.ndarray]:
    """An even lattice of cells in a box: indices along x, y, z."""
    return [
        np.unique(np.linspace(low, high - 1, min(LOOKED_AT, high - low)).round().astype(int))
        for low, high in zip(lower, upper or plan.active)
    ]


def kept_numbers(plan: Plan, lower: Triple = (0, 0, 0), upper: Triple | None = None) -> np.ndarray:
    """Numbers that dispersive media keep in a cell, on an even lattice of cells in a box along x, y, z."""
    return kept_numbers_at(plan, lattice(plan, lower, upper))


def kept_numbers_at(plan: Plan, index: Sequence[np.ndarray]) -> np.ndarray:
    """Numbers that dispersive media keep in a cell, on the lattice of these cells along x, y, z."""
    i, j, k = index
    return plan.coefficients.kept_numbers(i, j, k) if plan.pole_media else np.zeros((len(i), len(j), len(k)))


def row_bytes(plan: Plan) -> np.ndarray:
    """Bytes of poles in each row of an even lattice of rows: whole blocks of 16 cells."""
    unit, index = plan.unit_axis, lattice(plan)
    index[unit] = np.arange(plan.active[unit])
    kept = np.moveaxis(kept_numbers_at(plan, index), unit, -1)
    numbers: np.ndarray = np.maximum.reduceat(kept, np.arange(0, kept.shape[-1], LANES), axis=-1).sum(axis=-1)
    return numbers * LANES * BYTES_OF[plan.precision] * (1 + plan.complex_fields)


def pole_bytes(plan: Plan) -> int:
    """Bytes of all poles."""
    rows = math.prod(n for axis, n in enumerate(plan.active) if axis != plan.unit_axis)
    return round(row_bytes(plan).mean() * rows) if plan.pole_media else 0


def fullest_rows(plan: Plan) -> tuple[float, float]:
    """Bytes of poles in the row that keeps most, and the part of such rows if all others were empty."""
    kept = row_bytes(plan) if plan.pole_media else np.zeros(1)
    return float(kept.max()), float(kept.mean() / max(1.0, kept.max()))


def pole_cost(kept: np.ndarray) -> np.ndarray:
    """Cost of cells that keep so many numbers, beside the update, in plain cells."""
    return np.where(kept > 0, DISPERSIVE + REMEMBERED * kept, 0.0)
