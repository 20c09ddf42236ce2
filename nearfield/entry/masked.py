"""Masked arrays of NumPy: their masks would be lost, and the numbers below them taken for values."""

from __future__ import annotations

from typing import Any

import numpy as np

from nearfield.entry.errors import ModelError
from nearfield.entry.wording import counted


def unmasked(label: str, given: Any) -> Any:
    """What was given, whatever it is. Error: an array, alone or in a list, of which values are masked."""
    for each in given if isinstance(given, list | tuple) else (given,):
        if isinstance(each, np.ma.MaskedArray) and (masked := int(np.ma.getmaskarray(each).sum())):
            raise ModelError(
                f"{label}: {counted(masked, 'value')} of {each.size:,} are masked, and nothing is known to stand for "
                "them; fill them (array.filled(0.0)), or cut them off"
            )
    return given
