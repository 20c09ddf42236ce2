"""Lengths of a grid in the unit in which the update measures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from nearfield.yee import YeeGrid


def inverse_lengths(lengths: np.ndarray, unit: float) -> np.ndarray:
    """unit / lengths; rounding must not hide a grid of cubes, on which all are exactly 1."""
    found = unit / lengths
    return np.where(np.abs(found - 1.0) < 1e-12, 1.0, found)


def unit_length(grid: YeeGrid) -> float:
    """The length (m) that a plan measures in: the smallest cell."""
    return min(float(grid.primary(axis).min()) for axis in range(3))
