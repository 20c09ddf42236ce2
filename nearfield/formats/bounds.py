"""Lossy storage with a proven bound: digits below it are rounded away, so that the codec finds zeros there.

Absolute bound a: x' = q rint(x / q) with q the largest power of two not above 2a. Scaling by q is exact, so is x'
(rint(x / q) has fewer digits than x), hence abs(x' - x) <= q / 2 <= a. From 2^p q on (p digits in a sample) x is a
multiple of q itself and does not change.

Relative bound r: the mantissa is rounded to its k leading binary digits, k the least with 2^-(k+1) <= r, hence
abs(x' - x) <= r abs(x). Subnormal numbers, infinities, nan and numbers that would round to infinity do not change.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from nearfield.entry.errors import ModelError

SMALLEST = 1e-30  # V/m or A/m: 1 / q stays finite in single precision


@dataclass(frozen=True)
class Bound:
    """An error bound: either `absolute` (in the unit of the values) or `relative`."""

    absolute: float | None = None
    relative: float | None = None

    def __post_init__(self) -> None:
        if (self.absolute is None) == (self.relative is None):
            raise ModelError("an error bound is either absolute (V/m) or relative; give one of the two")
        if self.absolute is not None and not SMALLEST <= self.absolute < 1e30:
            raise ModelError(f"absolute error bound {self.absolute:g} must lie between {SMALLEST:g} and 1e30")
        if self.relative is not None and not 0 < self.relative < 0.5:
            raise ModelError(f"relative error bound {self.relative:g} must lie between 0 and 0.5, such as 1e-3")

    @property
    def kind(self) -> tuple[str, float]:
        """`absolute` or `relative`, and the number."""
        return ("relative", self.relative) if self.relative is not None else ("absolute", self.absolute or 0.0)

    def __str__(self) -> str:
        return "{} {:g}".format(*self.kind)

    def applied(self, values: np.ndarray, spent: float = 0.0) -> np.ndarray:
        """Floating-point values rounded within the bound, of equal shape and type.

        spent: relative error that they already have, of a relative bound: (1 + left)(1 + spent) is 1 + bound.
        """
        kind, bound = self.kind
        if kind == "absolute":
            return _to_multiples(values, bound)
        return _to_digits(values, (bound - spent) / (1 + spent)) if bound > spent else values


def narrowing_error(wide: np.dtype, narrow: np.dtype) -> float:
    """Largest relative error of a number of a wide type that a narrower one takes as an ordinary one; else 0."""
    return float(np.finfo(narrow).eps) / 2 if narrow.itemsize < wide.itemsize else 0.0


def _to_multiples(values: np.ndarray, bound: float) -> np.ndarray:
    digits, exponent = np.finfo(values.dtype).nmant + 1, math.floor(math.log2(2 * bound))
    with np.errstate(over="ignore"):
        quantum, inverse = values.dtype.type(2.0**exponent), values.dtype.type(2.0**-exponent)
    if quantum == 0 or not np.isfinite(inverse) or not np.isfinite(quantum):
        return values  # finer or coarser than the type itself
    largest = np.max(np.abs(values), initial=0.0)
    with np.errstate(over="ignore", invalid="ignore"):
        rounded = np.rint(values * inverse) * quantum
        if largest < 2.0 ** (digits + exponent):
            return rounded
        return np.where(np.abs(values) < 2.0 ** (digits + exponent), rounded, values)


def _to_digits(values: np.ndarray, bound: float) -> np.ndarray:
    type_ = np.finfo(values.dtype)
    dropped = type_.nmant - max(math.ceil(-math.log2(bound)) - 1, 0)
    if dropped <= 0:
        return values
    word = np.dtype(f"u{values.dtype.itemsize}")
    half, mask = word.type(1 << (dropped - 1)), word.type(~((1 << dropped) - 1) & ((1 << 8 * word.itemsize) - 1))
    bits = np.ascontiguousarray(values).view(word)
    rounded = ((bits + half) & mask).view(values.dtype)  # a carry out of the mantissa raises the exponent: right
    magnitude = np.abs(values)
    ordinary = (magnitude >= type_.smallest_normal) & (magnitude < type_.max / 2)
    return np.where(ordinary, rounded, values)
