"""A textbook segmentation to compare with: path compression as in TTK, by NumPy alone, on periodic grids.

Every point goes to the steepest of its 26 neighbours, upwards and downwards; pointers are jumped over until none
changes (Maack, Lukasczyk, Tierny, Hagen, Maciejewski, Garth: Parallel Computation of Piecewise Linear Morse-Smale
Segmentations, 2023). Images of a period are not told apart, and equal values are decided by the index.
"""

from __future__ import annotations

import itertools

import numpy as np


def path_compression(field: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Flat indices of the maximum and of the minimum to which each point leads."""
    index = np.arange(field.size).reshape(field.shape)
    found = []
    for sign in (1, -1):
        best, target = np.zeros(field.shape, np.float32), index.copy()
        for step in itertools.product((-1, 0, 1), repeat=3):
            if not any(step):
                continue
            back = tuple(-each for each in step)
            slope = sign * (np.roll(field, back, (0, 1, 2)) - field) / np.linalg.norm(step).astype(np.float32)
            steeper = slope > best
            best[steeper] = slope[steeper]
            target[steeper] = np.roll(index, back, (0, 1, 2))[steeper]
        pointer = target.ravel()
        while not np.array_equal(further := pointer[pointer], pointer):
            pointer = further
        found.append(pointer)
    return found[0], found[1]
