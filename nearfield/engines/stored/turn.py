"""Exchange of axes: the core stores (a, b, c) with the plan's unit-stride axis as c, callers see x, y, z."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nearfield.entry.triples import Triple, triple
from nearfield.plan.boxes import Box


@dataclass(frozen=True)
class Turn:
    """Storage axes of a plan, and both ways between them and x, y, z; of arrays it turns the last three axes."""

    axes: Triple

    def place(self, triple: Sequence[int]) -> list[int]:
        """An index or shape along storage axes."""
        return [int(triple[axis]) for axis in self.axes]

    def back(self, place: Sequence[int]) -> Triple:
        """An index or shape along x, y, z."""
        return triple(place[self.axes.index(axis)] for axis in range(3))

    def ends(self, box: Box) -> tuple[list[int], list[int]]:
        """Lower and upper end of a box along storage axes."""
        return self.place(box.lower), self.place(box.upper)

    def stored(self, values: np.ndarray) -> np.ndarray:
        """An array of x, y, z over storage axes, contiguous."""
        return np.ascontiguousarray(_turned(values, self.axes))

    def seen(self, values: np.ndarray) -> np.ndarray:
        """A view over x, y, z of an array of the core."""
        return _turned(values, self.back((0, 1, 2)))


def _turned(values: np.ndarray, axes: Sequence[int]) -> np.ndarray:
    leading = values.ndim - 3
    return values.transpose(*range(leading), *(leading + axis for axis in axes))
