"""Samples that a conductor keeps at zero: E in metal and on conducting walls, H in PMC."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from nearfield.grid.boundaries import Boundaries
from nearfield.grid.yee import YeeGrid, is_half
from nearfield.metal.metal import Body, Metal
from nearfield.metal.patches import Patch, next_axes, pair, spread

Walls = Sequence[tuple[int, int]] | None


class Conductors:
    """Bodies of metal on whole cells and edges, conducting walls and the ends of the grid.

    `walls`: the faces (axis, side) that conduct, side 0 or 1; left out, all but PMC.
    """

    def __init__(
        self, grid: YeeGrid, boundaries: Boundaries, bodies: Sequence[Body], walls: Walls | None = None
    ) -> None:
        self.grid = grid
        faces = [(a, side) for a in range(3) for side in (0, 1) if boundaries.face(a, side) != "pmc"]
        self._walls = faces if walls is None else walls
        self._metals = [Metal(grid, boundaries.interior(grid), bodies, a) for a in range(3)]

    def signature(self, axis: int, plane: int) -> tuple:
        """Equal for planes across `axis` where the same samples conduct."""
        metal, wall = self._metals[axis], plane in (0, self.grid.cells[axis])
        return metal.signature(plane - 1), metal.signature(plane), plane if wall else None

    def take(self, patch: Patch) -> np.ndarray:
        """Mask of the E samples in PEC or on a PEC wall (also the CPML's), of the H samples in PMC."""
        component, axis, plane, window = patch
        metal = self._metals[axis]
        taken = metal.samples(component, plane, window)
        taken = np.zeros(patch.shape, dtype=bool) if taken is None else taken
        if patch.magnetic:
            return taken
        wide = pair((start - 1, stop) for start, stop in window)
        for layer in (plane,) if component == axis else (plane - 1, plane):
            solid = metal.cells(layer, wide)
            if solid is not None:
                for place, a in enumerate(next_axes(axis)):
                    ends = solid.swapaxes(0, place)
                    solid = (ends[1:] if component == a else ends[1:] | ends[:-1]).swapaxes(0, place)
                taken |= solid
        for a, index in _indices(patch):
            if a != component and not self.grid.closed(a):
                low, high = ((a, side) in self._walls for side in (0, 1))
                taken |= ((index == 0) & low) | ((index == self.grid.cells[a]) & high)
        return taken

    def absent(self, patch: Patch) -> np.ndarray:
        """Mask of the samples of the active shape that lie past the end of the grid."""
        gone = np.zeros(patch.shape, dtype=bool)
        for a, index in _indices(patch):
            if is_half(patch.component, a):
                gone |= index >= self.grid.cells[a]
        return gone


def _indices(patch: Patch) -> Iterator[tuple[int, np.ndarray]]:
    """(axis, sample numbers) of a patch, shaped to broadcast over it."""
    yield patch.axis, np.full((1, 1), patch.plane)
    for place, (a, span) in enumerate(zip(next_axes(patch.axis), patch.window)):
        yield a, spread(np.arange(*span), place)
