"""Three values, along x, y and z."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

Value = TypeVar("Value")
Triple = tuple[int, int, int]
Point = tuple[float, float, float]


def triple(values: Iterable[Value]) -> tuple[Value, Value, Value]:
    """Three values as a tuple of three, which type checkers can count."""
    x, y, z = values
    return x, y, z
