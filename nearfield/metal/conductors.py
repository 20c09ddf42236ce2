"""Samples that a conductor keeps at zero: E in metal and on conducting walls, H in PMC."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from nearfield.grid.boundaries import Boundaries
from nearfield.grid.yee import YeeGrid, is_half
from nearfield.metal.metal import Body, Metal, Window, shape_of


class Conductors:
    """Bodies of metal on whole cells and edges, conducting walls and the ends of the grid.

    `walls`: the faces (axis, side) that conduct, side 0 or 1; left out, all but PMC.
    """

    def __init__(
        self,
        grid: YeeGrid,
        boundaries: Boundaries,
        interior,
        bodies: Sequence[Body],
        walls: Sequence[tuple[int, int]] | None = None,
    ) -> None:
        self.grid = grid
        faces = [(a, side) for a in range(3) for side in (0, 1) if boundaries.face(a, side) != "pmc"]
        self._walls = faces if walls is None else walls
        self._metals = [Metal(grid, interior, list(bodies), a) for a in range(3)]

    def signature(self, axis: int, plane: int) -> tuple:
        """Equal for planes across `axis` where the same samples conduct."""
        metal, wall = self._metals[axis], plane in (0, self.grid.cells[axis])
        return metal.signature(plane - 1), metal.signature(plane), plane if wall else None

    def take(self, component: int, axis: int, plane: int, window: Window) -> np.ndarray:
        """Mask of the E samples in PEC or on a PEC wall (also the CPML's), of the H samples in PMC."""
        metal, across = self._metals[axis], ((axis + 1) % 3, (axis + 2) % 3)
        taken = metal.samples(component, plane, window)
        taken = np.zeros(shape_of(window), dtype=bool) if taken is None else taken
        if component >= 3:
            return taken
        wide = tuple((start - 1, stop) for start, stop in window)
        layers = (plane,) if component == axis else (plane - 1, plane)
        for solid in (metal.cells(layer, wide) for layer in layers):
            if solid is not None:
                for place, a in enumerate(across):
                    cut = (slice(None),) * place
                    shifted = solid[*cut, 1:]
                    solid = shifted if component == a else shifted | solid[*cut, :-1]
                taken |= solid
        for a, index in _indices(axis, plane, window):
            if a != component and not self.grid.closed(a):
                low, high = ((a, side) in self._walls for side in (0, 1))
                taken |= ((index == 0) & low) | ((index == self.grid.cells[a]) & high)
        return taken

    def absent(self, component: int, axis: int, plane: int, window: Window) -> np.ndarray:
        """Mask of the samples of the active shape that lie past the end of the grid."""
        gone = np.zeros((1, 1), dtype=bool)
        for a, index in _indices(axis, plane, window):
            if is_half(component, a):
                gone = gone | (index >= self.grid.cells[a])
        return np.broadcast_to(gone, shape_of(window))


def _indices(axis: int, plane: int, window: Window) -> Iterator[tuple[int, np.ndarray]]:
    """(axis, sample numbers) of a window, shaped to broadcast over it."""
    yield axis, np.full((1, 1), plane)
    yield (axis + 1) % 3, np.arange(*window[0])[:, None]
    yield (axis + 2) % 3, np.arange(*window[1])[None, :]
