"""A component that several ranks sent in pieces, put together only where it is read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from nearfield.entry.triples import triple
from nearfield.plan.boxes import Box

Placed = tuple[Sequence[int], np.ndarray, int]  # offset of a piece, its values, and their sign


def box_at(offset: Sequence[int], shape: Sequence[int]) -> Box:
    """The box of this shape whose first sample is `offset`."""
    return Box(triple(offset), triple(first + count for first, count in zip(offset, shape)))


class Pieced:
    """A box (x, y, z) of a component; samples that no piece holds, on a high wall, are zero.

    A slice of it, of step 1, is a `Pieced` too; `numpy.asarray` gives the values, a view where one piece has them all.
    """

    ndim = 3

    def __init__(
        self, pieces: Sequence[Placed], shape: Sequence[int], dtype: np.dtype, lower: Sequence[int] = (0, 0, 0)
    ) -> None:
        self._pieces, self._box, self.dtype = pieces, box_at(lower, shape), dtype
        self.shape, self.size = self._box.shape, self._box.size

    def __getitem__(self, box: tuple[slice, ...]) -> Pieced:
        ends = [each.indices(n) for each, n in zip(box, self.shape)]
        shape = [stop - start for start, stop, _ in ends]
        lower = [low + start for low, (start, _, _) in zip(self._box.lower, ends)]
        return Pieced(self._pieces, shape, self.dtype, lower)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        parts = [part for piece in self._pieces if (part := self._common(*piece))]
        if len(parts) == 1 and parts[0][1].shape == self.shape and parts[0][2] > 0 and not copy:
            return np.asarray(parts[0][1], dtype)
        there = sum(part.size for _, part, _ in parts)
        values = (np.empty if there == self.size else np.zeros)(self.shape, dtype or self.dtype)
        for place, part, sign in parts:
            np.multiply(part, sign, out=values[place], dtype=part.dtype, casting="same_kind")
        return values

    def _common(self, offset: Sequence[int], values: np.ndarray, sign: int) -> Any:
        """The slices of the box in which a piece lies, the part of the piece there, and its sign; None: it has none."""
        piece = box_at(offset, values.shape)
        common = piece.intersection(self._box)
        return common and (common.slices(self._box.lower), values[common.slices(piece.lower)], sign)
