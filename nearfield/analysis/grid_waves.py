"""Plane waves of the grid along each axis: exact solutions of Yee's equations on even and on graded lines.

On lines x_i, with cells l_(i+1/2) between them and dual lengths d_i about them, waves that vary as F at the nodes and
G halfway obey

    G_(i+1/2) - G_(i-1/2) = j K d_i F_i,    F_(i+1) - F_i = j K l_(i+1/2) G_(i+1/2)

In even cells F and G are exp(j q x) with K = (2/h) sin(q h/2). Products of such functions along x, y and z, G along the
axis of an E component and F across it, with E of amplitude A across K and H = -K x A/(w_t mu), are plane waves of the
grid if abs(K)^2 = eps mu w_t^2, w_t = (2/dt) sin(w dt/2): directions and polarisations are those of free space, the
phases alone are the grid's. Re(F* G) is the same all along a line: the power of the wave. At the line's anchor the wave
runs one way, with amplitude 1; at its reference it has the phase of free space.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

LARGEST = 0.99  # sin(q h/2) of a cell too coarse for its wave, three to a wavelength: beyond 1 it does not travel
TIE = 1e-6  # relative difference of lengths up to which cells count as equally small


@dataclass(frozen=True)
class AxisLine:
    """Nodes (m) of one axis of the grid; the anchor and the reference (m) of its waves."""

    nodes: np.ndarray
    anchor: float
    reference: float

    def waves(self, numbers: np.ndarray, phases: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """F (nodes, waves) and G (cells, waves) of numbers K (1/m); `phases`: k (1/m) of free waves along the axis."""
        cells, at = np.diff(self.nodes), self._cell(self.anchor)
        dual = 0.5 * (cells[1:] + cells[:-1])
        f = np.empty((self.nodes.size, numbers.size), complex)
        g = np.empty((cells.size, numbers.size), complex)
        numbers, half = self._travelling(numbers), self._half_turn(numbers, at)
        f[at] = np.exp(2j * half / cells[at] * (self.nodes[at] - self.anchor))
        g[at] = f[at] * np.exp(1j * half)
        turn = 1j * numbers
        for i in range(at, cells.size):
            f[i + 1] = f[i] + turn * cells[i] * g[i]
            if i + 1 < cells.size:
                g[i + 1] = g[i] + turn * dual[i] * f[i + 1]
        for i in range(at, 0, -1):
            g[i - 1] = g[i] - turn * dual[i - 1] * f[i]
            f[i - 1] = f[i] - turn * cells[i - 1] * g[i - 1]
        return self._referred(numbers, phases, f, g)

    def _referred(
        self, numbers: np.ndarray, phases: np.ndarray, f: np.ndarray, g: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """The waves with the phase of free space at the reference."""
        at = self._cell(self.reference)
        beside = self.reference - self.nodes[at]
        along = 2 * self._half_turn(numbers, at) / (self.nodes[at + 1] - self.nodes[at]) * beside
        turn = np.exp(1j * (phases * self.reference - along)) * f[at].conj() / np.abs(f[at])
        return f * turn, g * turn

    def power(self, numbers: np.ndarray) -> np.ndarray:
        """Re(F* G) of the waves, cos(q h/2) in the cell of the anchor."""
        return np.cos(self._half_turn(numbers, self._cell(self.anchor)))

    def _cell(self, place: float) -> int:
        """The cell that holds a place (m)."""
        return int(np.clip(np.searchsorted(self.nodes, place, "right") - 1, 0, self.nodes.size - 2))

    def _travelling(self, numbers: np.ndarray) -> np.ndarray:
        """The numbers, no larger than the largest cell carries."""
        most = 2 * LARGEST / np.diff(self.nodes).max()
        return np.clip(numbers, -most, most)

    def _half_turn(self, numbers: np.ndarray, cell: int) -> np.ndarray:
        """q h/2 in a cell."""
        return np.arcsin(0.5 * self._travelling(numbers) * (self.nodes[cell + 1] - self.nodes[cell]))

    def index(self, position: float) -> int:
        """The node nearest to a position (m)."""
        return int(np.argmin(np.abs(self.nodes - position)))


def axis_line(nodes: np.ndarray, wall: float | None) -> AxisLine:
    """The line of a whole axis, with a wall of the domain at a place (m) or none.

    The anchor is the wall, the middle of lines that are the same on both sides, else in the smallest cells, where
    sources are drawn best, nearest to the origin; the reference the wall, else what is nearest to the origin of
    coordinates.
    """
    if wall is not None:
        return AxisLine(nodes, wall, wall)
    cells, origin = np.diff(nodes), float(np.clip(0.0, nodes[0], nodes[-1]))
    if np.allclose(cells, cells[::-1], rtol=TIE, atol=0.0):
        return AxisLine(nodes, float(0.5 * (nodes[0] + nodes[-1])), origin)
    fine = np.flatnonzero(cells <= cells.min() * (1 + TIE))
    nearest = np.clip(0.0, nodes[fine], nodes[fine + 1])
    return AxisLine(nodes, float(nearest[np.argmin(np.abs(nearest))]), origin)


def grid_wavenumbers(wavenumbers: np.ndarray, frequencies: np.ndarray, time_step: float) -> np.ndarray:
    """abs(K) = k sin(w dt/2)/(w dt/2) of wavenumbers k of the medium (1/m)."""
    return wavenumbers * np.sinc(np.asarray(frequencies) * time_step)
