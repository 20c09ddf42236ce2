"""Single numbers for Yee samples, so that lists of them can be joined, sorted and looked up."""

from __future__ import annotations

import numpy as np

from nearfield.grid.yee import YeeGrid
from nearfield.metal.thin_metal import EdgeBox

UNIT = np.eye(3, dtype=np.int64)


class SampleNumbers:
    """Numbers of the samples of a grid, -1 for what lies outside; E components are 0 to 2, H components 3 to 5.

    Samples past the end of a closed axis have the numbers of those that they repeat.
    """

    def __init__(self, grid: YeeGrid) -> None:
        self.grid, self._shape = grid, (6, *(n + 1 for n in grid.cells))

    def number(self, component, index: np.ndarray) -> np.ndarray:
        """Numbers of samples (..., 3) of a component, or of one component each."""
        component = np.broadcast_to(component, index.shape[:-1])
        half = (component[..., None] % 3 == np.arange(3)) == (component[..., None] < 3)
        return self._number(component, index, half)

    def node(self, index: np.ndarray) -> np.ndarray:
        """Numbers of nodes (..., 3)."""
        return self._number(np.zeros(index.shape[:-1], dtype=np.int64), index, np.zeros(index.shape, dtype=bool))

    def _number(self, component: np.ndarray, index: np.ndarray, half: np.ndarray) -> np.ndarray:
        index = np.stack(self.grid.in_cell(np.moveaxis(index, -1, 0)), axis=-1)
        there = ((index >= 0) & (index + half <= np.array(self.grid.cells))).all(axis=-1)
        parts = (component, *np.moveaxis(np.where(there[..., None], index, 0), -1, 0))
        return np.where(there, np.ravel_multi_index(parts, self._shape), -1)

    def place(self, number: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(component, index of shape (n, 3)) of samples, or of nodes."""
        component, *index = np.unravel_index(number, self._shape)
        return component, np.stack(index, axis=-1)

    def of_box(self, box: EdgeBox) -> np.ndarray:
        """The edges of a box."""
        return self.number(box.component, np.argwhere(box.drawn) + box.lower)

    def ends_of(self, edges: np.ndarray) -> np.ndarray:
        """The nodes at both ends of edges (n,): (n, 2)."""
        component, index = self.place(edges)
        return self.node(np.stack((index, index + UNIT[component]), axis=1))

    def edges_at(self, nodes: np.ndarray) -> np.ndarray:
        """The edges that meet nodes (n,): (n, 3 axes, before and after)."""
        _, index = self.place(nodes)
        pairs = [[self.number(axis, index - UNIT[axis]), self.number(axis, index)] for axis in range(3)]
        return np.moveaxis(np.array(pairs), -1, 0)

    def edges_round(self, faces: np.ndarray) -> np.ndarray:
        """The edges round faces (n,): (n, 4)."""
        component, index = self.place(faces)
        pairs = [((component + n) % 3, UNIT[(component - n) % 3]) for n in (1, 2)]
        return np.stack([self.number(axis, index + by * step) for axis, step in pairs for by in (0, 1)], axis=-1)

    def faces_about(self, edges: np.ndarray) -> np.ndarray:
        """The faces about edges (n,): (n, 2 axes across in cyclic order, below and above along them)."""
        component, index = self.place(edges)
        sides = [(3 + (component - n) % 3, UNIT[(component + n) % 3]) for n in (1, 2)]
        pairs = [[self.number(normal, index - step), self.number(normal, index)] for normal, step in sides]
        return np.moveaxis(np.array(pairs), -1, 0)
