"""A component that several ranks sent in pieces, put together where it is looked at and not before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

Placed = tuple[Sequence[int], np.ndarray, int]  # offset of a piece, its values, and their sign


class Pieced:
    """A box (x, y, z) of a component; what no piece holds, on a high wall, is zero.

    Slices of it, of step 1, are of its kind; `numpy.asarray` gives the values, a view where one piece has them all.
    """

    ndim = 3

    def __init__(
        self, pieces: Sequence[Placed], shape: Sequence[int], dtype: np.dtype, lower: Sequence[int] = (0, 0, 0)
    ) -> None:
        self.shape, self.dtype, self._lower = tuple(shape), dtype, tuple(lower)
        self._pieces = pieces
        self.size = int(np.prod(self.shape))

    def __getitem__(self, box: tuple[slice, ...]) -> Pieced:
        ends = [each.indices(n) for each, n in zip(box, self.shape)]
        shape = [stop - start for start, stop, _ in ends]
        return Pieced(self._pieces, shape, self.dtype, [low + start for low, (start, _, _) in zip(self._lower, ends)])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        parts = [part for piece in self._pieces if (part := self._common(*piece))]
        if len(parts) == 1 and parts[0][1].shape == self.shape and parts[0][2] > 0 and not copy:
            return np.asarray(parts[0][1], dtype)
        there = sum(part.size for _, part, _ in parts)
        values = (np.empty if there == self.size else np.zeros)(self.shape, dtype or self.dtype)
        for place, part, sign in parts:
            np.multiply(part, sign, out=values[place], dtype=part.dtype, casting="same_kind")
        return values

    def _common(
        self, offset: Sequence[int], values: np.ndarray, sign: int
    ) -> tuple[tuple[slice, ...], np.ndarray, int] | None:
        """Where in the box a piece lies, the part of it that does, and its sign."""
        first = [max(a, b) for a, b in zip(offset, self._lower)]
        end = [min(a + n, b + m) for a, n, b, m in zip(offset, values.shape, self._lower, self.shape)]
        if any(a >= b for a, b in zip(first, end)):
            return None
        place = tuple(slice(a - low, b - low) for a, b, low in zip(first, end, self._lower))
        return place, values[tuple(slice(a - low, b - low) for a, b, low in zip(first, end, offset))], sign
