"""Maxima and minima of a field."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Extrema:
    """All maxima, or all minima, in the order of their points."""

    index: np.ndarray
    "Flat index of the highest (lowest) point of the grid."
    position: np.ndarray
    "Refined by one step of Newton's method on the parabola through the points around: (extrema, axes), as `spacing`."
    value: np.ndarray
    "Of that parabola there."

    def __len__(self) -> int:
        return len(self.index)
