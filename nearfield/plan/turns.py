"""Samples past the seams of closed axes, by those of this cell that they repeat with a phase."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nearfield.plan.term import IMAGINARY

if TYPE_CHECKING:
    from nearfield.grid.yee import YeeGrid


def turned(grid: YeeGrid, index: tuple[np.ndarray, ...]) -> tuple[tuple[np.ndarray, ...], np.ndarray]:
    """Samples by those of this cell that they repeat, and the angle (rad) by which each lags behind that one."""
    angle = np.zeros(np.broadcast_shapes(*(np.shape(part) for part in index)))
    for part, phase, count in zip(index, grid.phases, grid.cells):
        if phase:
            angle = angle + phase * (np.asarray(part) // count)
    return grid.in_cell(index), angle


def lagging(
    grid: YeeGrid, component: np.ndarray, index: tuple[np.ndarray, ...], weight: np.ndarray
) -> tuple[np.ndarray, tuple[np.ndarray, ...], np.ndarray]:
    """(component, index, weight) of a weighted sum of samples, or of its real part, with those past seams brought back.

    A lagging sample has the real part re cos(angle) + im sin(angle): two terms.
    """
    index, angle = turned(grid, index)
    component, weight = np.broadcast_to(component, angle.shape), np.asarray(weight, dtype=float)
    if not angle.any():
        return component, index, weight
    late = angle != 0.0
    index = tuple(np.concatenate((part, part[late])) for part in index)
    component = np.concatenate((component, component[late] + IMAGINARY))
    return component, index, np.concatenate((weight * np.cos(angle), (weight * np.sin(angle))[late]))
