"""Ratios in dB."""

from __future__ import annotations

from typing import Any

import numpy as np


def decibels(waves: Any) -> Any:
    """20 log10 of the magnitude, of S-parameters or any other ratio of amplitudes; -inf of 0, same shape.

    >>> import nearfield as nf
    >>> print(nf.decibels(0.1j))
    -20.0
    """
    with np.errstate(divide="ignore"):
        return 20.0 * np.log10(np.abs(waves))


def power_decibels(ratio: Any) -> Any:
    """10 log10 of a ratio of powers; -inf of 0, same shape."""
    with np.errstate(divide="ignore"):
        return 10 * np.log10(ratio)
