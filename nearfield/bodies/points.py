"""Points that are moved, and what lies between two: the axes along which they differ, their direction."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from nearfield.entry.errors import ModelError
from nearfield.entry.quantities import LENGTH, Quantity, three
from nearfield.entry.triples import Point, triple

ON_A_LINE = 1e-12  # of their length: points that lie nearer to a line lie on it


def lengths(what: str, given: Any) -> Point:
    """Three lengths (m) of numbers or texts; `what` opens the message. Error: ModelError."""
    try:
        return triple(Quantity(LENGTH).read(each) for each in three(given))
    except ValueError as error:
        raise ModelError(f"{what}: {error}") from None


def shifted(point: Sequence[Any], by: Sequence[float]) -> tuple[Any, ...]:
    """A point, or each of several points, moved by a vector (m)."""
    if isinstance(point[0], tuple):
        return tuple(shifted(each, by) for each in point)
    return tuple(float(value + step) for value, step in zip(point, by))


def on_a_line(points: np.ndarray) -> bool:
    """Whether points (n, 2) lie on one line, or are one."""
    ways = points - points[0]
    far = ways[np.argmax(np.hypot(*ways.T))]
    beside = np.abs(ways[:, 0] * far[1] - ways[:, 1] * far[0]).max()  # distance from the line, times the length
    return bool(beside <= ON_A_LINE * np.hypot(*far) ** 2)


def axes_moved(start: Point, end: Point) -> int:
    """Along how many axes two points differ."""
    moved = np.abs(np.subtract(end, start))
    return int((moved > 1e-9 * moved.max()).sum())


@lru_cache(1 << 14)
def direction(start: Point, end: Point, tiny: float) -> np.ndarray:
    """Unit vector from one point to another, not to be changed; along an axis but for a tiny length (m), that axis."""
    way: np.ndarray = np.subtract(end, start)
    far = np.abs(way) > tiny
    return np.where(far, np.sign(way), 0.0) if far.sum() == 1 else way / np.linalg.norm(way)
