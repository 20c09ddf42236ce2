"""What lumped parts add to the media of E edges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from nearfield.metal.metal import Window


@dataclass(frozen=True)
class EdgeLoad:
    """Edges of a component (equal arrays i, j, k) and what they gain: conductivity (S/m), relative permittivity."""

    component: int
    i: np.ndarray
    j: np.ndarray
    k: np.ndarray
    conductivity: np.ndarray | float
    permittivity: np.ndarray | float


class EdgeLoads:
    """The edges of all loads, found by plane; several on one edge add up."""

    def __init__(self, loads: Sequence[EdgeLoad]) -> None:
        parts = [np.broadcast_arrays(o.component, o.i, o.j, o.k, o.conductivity, o.permittivity) for o in loads]
        columns = [np.concatenate([np.empty(0), *(part[n].ravel() for part in parts)]) for n in range(6)]
        self._component, *self._index = (column.astype(np.int64) for column in columns[:4])
        self._conductivity, self._permittivity = columns[4:]
        self._order = [np.argsort(index, kind="stable") for index in self._index]
        self._sorted = [index[order] for index, order in zip(self._index, self._order)]

    def signature(self, axis: int, plane: int) -> int | None:
        """The plane across `axis` where it has loads: none is like another."""
        return plane if self._rows(axis, plane).size else None

    def added(self, component: int, axis: int, plane: int, window: Window):
        """(places in the window, conductivity, permittivity) of the edges of a component that have loads."""
        rows = self._rows(axis, plane)
        rows = rows[self._component[rows] == component]
        place = [self._index[(axis + shift) % 3][rows] for shift in (1, 2)]
        inside = np.ones(rows.size, dtype=bool)
        for n, (start, stop) in zip(place, window):
            inside &= (n >= start) & (n < stop)
        at = tuple(n[inside] - start for n, (start, _) in zip(place, window))
        return at, self._conductivity[rows[inside]], self._permittivity[rows[inside]]

    def _rows(self, axis: int, plane: int) -> np.ndarray:
        first, last = np.searchsorted(self._sorted[axis], (plane, plane + 1))
        return self._order[axis][first:last]
