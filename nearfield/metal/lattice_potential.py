"""The potential of a point charge on an endless lattice of cells.

    phi(n) = 1/(dx dy dz) * integral over t > 0 of the product over a of exp(-2 t/da^2) I_na(2 t/da^2)

solves -(sum over a of second differences/da^2) phi = 1/(dx dy dz) at n = 0, and tends to 1/(4 pi r) (the heat kernel of
the lattice; I: modified Bessel functions).
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

NEAR = 7  # cells along each axis up to which the lattice's potential differs from 1/(4 pi r) by 0.5 % or more
STEP = 0.02  # ratio of cells up to which tables are shared
TIMES = np.exp(np.linspace(-14.0, 18.0, 400))  # in squares of the mean cell; the integral is right to 1e-9


def tables(cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Potentials times the mean cell, (kinds, n, n, n) by the offset along x, y and z, and each one's kind, of lattices
    with cells (lattices, 3; m). The mean cell is `mean_cell`."""
    ratios = np.round(np.log(cells / mean_cell(cells)[:, None]) / STEP).astype(np.int64)
    kinds, which = np.unique(ratios, axis=0, return_inverse=True)
    return np.stack([_table(*kind) for kind in kinds.tolist()]), which.reshape(-1)


def mean_cell(cells: np.ndarray) -> np.ndarray:
    """The geometric mean (m) of the cells (..., 3; m) along three axes."""
    return np.exp(np.log(cells).mean(axis=-1))


@lru_cache(maxsize=4096)
def _table(*ratio: int) -> np.ndarray:
    x, y, z = (_kernel(one) for one in ratio)
    weights = TIMES * np.log(TIMES[1] / TIMES[0])
    rest = 2.0 / ((4.0 * np.pi) ** 1.5 * TIMES[-1] ** 0.5)  # from the last time on each kernel is that of free space
    found = (x[:, None] * y * weights).reshape(-1, TIMES.size) @ z.T
    return found.reshape(NEAR + 1, NEAR + 1, NEAR + 1) + rest


@lru_cache(maxsize=1024)
def _kernel(ratio: int) -> np.ndarray:
    """The heat kernel along an axis (offsets, times; per mean cell)."""
    from scipy.special import ive

    cell = np.exp(STEP * ratio)
    return ive(np.arange(NEAR + 1)[:, None], 2.0 * TIMES / cell**2) / cell


def potentials(
    table: np.ndarray, kind: np.ndarray, mean: np.ndarray, steps: np.ndarray, apart: np.ndarray
) -> np.ndarray:
    """phi (1/m) between points that are `steps` (..., 3) cells and `apart` (...; m) from each other."""
    steps = np.abs(steps)
    near: np.ndarray = np.all(steps <= NEAR, axis=-1)
    index = np.where(near[..., None], steps, 0)
    there = table[kind, index[..., 0], index[..., 1], index[..., 2]] / mean
    return np.where(near, there, 1.0 / (4.0 * np.pi * np.where(near, 1.0, apart)))
