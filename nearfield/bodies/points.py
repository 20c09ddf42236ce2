"""Points that are moved, and the axes along which two differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from nearfield.entry.triples import Point


def shifted(point: Sequence[Any], by: Sequence[float]) -> tuple[Any, ...]:
    """A point, or each of several points, moved by a vector (m)."""
    if isinstance(point[0], tuple):
        return tuple(shifted(each, by) for each in point)
    return tuple(float(value + step) for value, step in zip(point, by))


def axes_moved(start: Point, end: Point) -> int:
    """Along how many axes two points differ."""
    moved = np.abs(np.subtract(end, start))
    return int((moved > 1e-9 * moved.max()).sum())
