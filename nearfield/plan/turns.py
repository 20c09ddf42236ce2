"""Complex fields: recorders of imaginary parts, and complex recordings of their pairs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from nearfield.grid.yee import YeeGrid
    from nearfield.plan.plan import Recording, RecordingTerm


IMAGINARY = 6  # from a component's number to that of its imaginary part


def imaginary(term: RecordingTerm) -> RecordingTerm:
    """The term that records the imaginary part of what this one records the real part of."""
    if not hasattr(term, "weight"):
        return replace(term, component=term.component + IMAGINARY)
    real = term.component < IMAGINARY  # the imaginary part of F is the real part of -j F: re -> im, im -> -re
    component = np.where(real, term.component + IMAGINARY, term.component - IMAGINARY)
    return replace(term, component=component, weight=np.where(real, term.weight, -term.weight))


def joined(real: Recording, other: Recording) -> Recording:
    """The complex recording that a term and its `imaginary` one made."""
    return replace(real, values=real.values + 1j * other.values)


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
