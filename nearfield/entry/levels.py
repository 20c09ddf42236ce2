"""Ratios in dB, and the width of what falls by so many."""

from __future__ import annotations

from typing import Any

import numpy as np

from nearfield.entry.errors import ModelError

HALF_POWER = -3.0103  # dB


def decibels(waves: Any) -> Any:
    """20 log10 of the magnitude, of S-parameters or any other ratio of amplitudes; -inf of 0, same shape.

    Error: `ModelError` for what is no number and no array of numbers.

    >>> import nearfield as nf
    >>> print(nf.decibels(0.1j))
    -20.0
    """
    try:
        with np.errstate(divide="ignore"):
            return 20.0 * np.log10(np.abs(waves))
    except (TypeError, ValueError):
        raise ModelError(f"decibels: given {repr(waves)[:60]}; give a number or an array of numbers") from None


def power_decibels(ratio: Any) -> Any:
    """10 log10 of a ratio of powers; -inf of 0, same shape."""
    with np.errstate(divide="ignore"):
        return 10 * np.log10(ratio)


def width_of_beam(circle: np.ndarray, level: float) -> float:
    """Samples between the points at `level` (dB) about the peak of a circle of levels (dB), NaN where a wall is; NaN
    where the circle does not fall to the level before a wall or all round, or holds nothing.
    """
    if not np.isfinite(circle).any():
        return float("nan")
    top, middle = int(np.nanargmax(circle)), circle.size // 2
    above = np.roll(circle, middle - top) - circle[top] - level
    width = 0.0
    for side in (above[middle::-1], above[middle:]):
        end = int(np.argmax(~(side > 0.0)))
        if not end or np.isnan(side[end]):
            return float("nan")
        width += end - 1 + side[end - 1] / (side[end - 1] - side[end])
    return float(width)
