"""Where a waveguide port lies on the grid: a window of nodes in a plane across the guide."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nearfield.entry.triples import triple
from nearfield.grid.yee import is_half
from nearfield.lowering.interpolation import Index


@dataclass(frozen=True)
class Place:
    """Where a port's window lies: the guide's axis, node of the plane, first and last nodes along u and v."""

    axis: int
    node: int
    first: tuple[int, int]
    last: tuple[int, int]

    @property
    def across(self) -> tuple[int, int]:
        """The axes u and v."""
        return (self.axis + 1) % 3, (self.axis + 2) % 3

    def index(self, component: int, along: int) -> Index:
        """i, j, k of a component's samples in the window, arrays over (u, v); `along`: the number along the guide."""
        ends = [last + (not is_half(component, a)) for a, last in zip(self.across, self.last)]
        mesh = np.meshgrid(*(np.arange(low, high) for low, high in zip(self.first, ends)), indexing="ij")
        index = [np.full(mesh[0].shape, along)] * 3
        for a, values in zip(self.across, mesh):
            index[a] = values
        return triple(index)
