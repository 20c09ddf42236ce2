"""Ratios in dB."""

from __future__ import annotations

from typing import Any

import numpy as np

from nearfield.entry.errors import ModelError


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
