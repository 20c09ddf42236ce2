"""Indices into the arrays of a field file."""

from __future__ import annotations

from typing import Any

import numpy as np

Key = tuple[Any, ...]  # an index for each of time, x, y, z


def is_falling(part: Any) -> bool:
    """Whether part of an index runs from the end of an axis to its begin."""
    return isinstance(part, range) and part.step < 0


def rising(part: range) -> slice:
    """The same indices in rising order, which is how files are read."""
    ordered = part[::-1] if part.step < 0 else part
    return slice(ordered.start, ordered.stop, ordered.step)


def is_number(part: Any) -> bool:
    """Whether part of an index is a single number, not a slice or array."""
    return isinstance(part, (int, np.integer))


def indices(key: Key, shape: tuple[int, ...]) -> list[np.ndarray]:
    """The indices along each axis that a key selects."""
    return [np.atleast_1d(np.arange(n)[part]) for n, part in zip(shape, key)]
