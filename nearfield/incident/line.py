"""A plane wave along a grid axis on a grid of its own: one dimension, the same cells, coefficients and time step.

    E <- Ca E - Cb (H[n + 1/2] - H[n - 1/2]) u/dual     both rows, E at m dt
    H <- Da H - Db (E[n + 1] - E[n]) u/primary          H, as eta0 H, at (m + 1/2) dt

and before each, where row 1 is dispersive, the recursions of `PoleMedium` in the arithmetic of the engine.
Row 1 is the incident field, layers and all; row 0 is the same wave in the medium before the box alone, launched by
E = signal at one node. It enters row 1 one cell before the box as total and scattered fields do, so that what the
layers send back leaves there. Both ends are CPML. Source: Taflove and Hagness, Computational
Electrodynamics, 3rd ed., section 5.5 ("matched" one-dimensional grid).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import DTypeLike

if TYPE_CHECKING:
    from nearfield.plan.planes import PoleMedium

FORWARD, BACKWARD = 1, -1


@dataclass(frozen=True)
class LinePoles:
    """A dispersive medium on row 1: its nodes (or half nodes) `at`, (n,), and (stay, weight) there, (2, n)."""

    medium: PoleMedium
    at: np.ndarray
    cells: np.ndarray


@dataclass(frozen=True)
class LineProfile:
    """Numbers of the update in each row, (2, nodes): coefficients times c dt/u, inverse lengths, the CPML's numbers.

    `electric`, `magnetic`: (stay, drive, inverse, decay, psi_drive) at the nodes and between them; what lies past
    the last node is zero.
    """

    electric: tuple[np.ndarray, ...]
    magnetic: tuple[np.ndarray, ...]
    poles: tuple[LinePoles, ...] = ()


@dataclass(frozen=True)
class IncidentLine:
    """The wave of one axis: `profile`, its `signal(t)` (V/m) at the node before `entry`, from which on row 1 is total.

    The tables' columns are the half nodes first - 1/2 ... last + 1/2 for the magnetic and the nodes first ... last for
    the electric field; H counts along axis x E, whichever way the wave travels.
    """

    profile: LineProfile
    signal: Callable[[np.ndarray], np.ndarray]
    time_step: float
    direction: int  # FORWARD | BACKWARD
    entry: int
    first: int
    last: int
    excitation: str
    end: float
    lead: int = 0  # steps that it makes before the run's first

    def march(self, dtype: DTypeLike) -> LineMarch:
        """From rest."""
        return LineMarch(self, dtype)


class LineMarch:
    """The states of an `IncidentLine` after the last step that was asked for."""

    def __init__(self, line: IncidentLine, dtype: DTypeLike) -> None:
        self.line, self.dtype = line, dtype
        self._numbers = np.ascontiguousarray([line.profile.electric, line.profile.magnetic], dtype)
        self._restart()

    def _restart(self) -> None:
        nodes, dtype = self._numbers.shape[-1], self.dtype
        self.step = -self.line.lead
        self._states = np.zeros((2, 2, nodes + 1), dtype)  # E and H; row 0, row 1
        self._psi = np.zeros((2, 2, nodes), dtype)
        self._layers = [self._layer(poles) for poles in self.line.profile.poles]

    def _layer(self, poles: LinePoles) -> tuple:
        """A dispersive medium as the core takes it, at rest."""
        medium, dtype = poles.medium, self.dtype
        constants = np.concatenate((medium.firsts.ravel(), medium.seconds.ravel())).astype(dtype)
        numbers = int(medium.magnetic), len(medium.firsts), len(medium.seconds)
        cells, states = np.ascontiguousarray(poles.cells, dtype), np.zeros((medium.states, poles.at.size), dtype)
        return *numbers, constants, poles.at.astype(np.int64), cells, states

    def tables(self, first: int, steps: int) -> np.ndarray | None:
        """See `nearfield.plan.excitations.March`; steps gone by are made again from rest."""
        from nearfield.machine.compiled import core

        if first <= self.step:
            self._restart()
        line, skipped = self.line, first - self.step - 1
        now = np.arange(self.step + 1, first + steps) * line.time_step
        table = np.zeros((2, steps, line.last - line.first + 2), self.dtype)
        signal = np.ascontiguousarray(line.signal(now), self.dtype)
        states, nodes = (self._numbers, self._states, self._psi), (line.entry, line.direction, line.first, line.last)
        core().march_line(*states, signal, skipped, table, *nodes, self._layers)
        self.step = first + steps - 1
        return table if table.any() else None
