"""Conductivity and permittivity that lumped parts add to the media of E edges."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from nearfield.grid.yee import YeeGrid
from nearfield.metal.patches import Patch, SamplesByPlane
from nearfield.metal.sample_numbers import SampleNumbers
from nearfield.metal.wire_ends import Edges


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
        component, *index = (column.astype(np.int64) for column in columns[:4])
        self._samples = SamplesByPlane(component, index)
        self._conductivity, self._permittivity = columns[4:]

    def signature(self, axis: int, plane: int) -> int | None:
        """The plane across `axis` where it has loads: none is like another."""
        return plane if self._samples.rows(axis, plane).size else None

    def added(self, patch: Patch) -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray, np.ndarray]:
        """(places in the window, conductivity, permittivity) of the edges of a patch that have loads."""
        rows, at = self._samples.inside(patch)
        return at, self._conductivity[rows], self._permittivity[rows]


class NodesMet:
    """Whether metal or circuits come to nodes (n, 3); `holds`: see `GridMetal`, `gaps`: edges of circuits."""

    def __init__(
        self, grid: YeeGrid, holds: Callable[..., np.ndarray], loads: Sequence[EdgeLoad], gaps: Iterable[Edges]
    ) -> None:
        self._samples, self._holds = SampleNumbers(grid), holds
        every = [*((o.component, o.i, o.j, o.k) for o in loads), *gaps]
        numbers = [
            self._samples.number(component, np.stack(np.broadcast_arrays(*index), axis=-1).reshape(-1, 3))
            for component, *index in every
        ]
        self._circuits = np.concatenate([np.empty(0, dtype=np.int64), *numbers])

    def __call__(self, nodes: np.ndarray) -> np.ndarray:
        edges = self._samples.edges_at(self._samples.node(nodes)).reshape(len(nodes), 6)
        found = np.isin(edges, self._circuits) & (edges >= 0)
        component, index = self._samples.place(np.maximum(edges, 0).ravel())
        for kind in range(3):
            own = (component == kind) & (edges.ravel() >= 0)
            if own.any():
                found.reshape(-1)[own] |= self._holds(kind, *index[own].T)
        return np.asarray(found.any(axis=1))
