"""A plane wave along a grid axis on a grid of its own: one dimension, the same cells, coefficients and time step.

    E <- Ca E - Cb (H[n + 1/2] - H[n - 1/2]) u/dual     both rows, E at m dt
    H <- Da H - Db (E[n + 1] - E[n]) u/primary          H, as eta0 H, at (m + 1/2) dt

Row 1 is the incident field, layers and all; row 0 is the same wave in the medium before the box alone, launched by
E = signal at one node. It enters row 1 one cell before the box as total and scattered fields do, so that what the
layers send back leaves there. Both ends are CPML. Source: Taflove and Hagness, Computational
Electrodynamics, 3rd ed., section 5.5 ("matched" one-dimensional grid).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

FORWARD, BACKWARD = 1, -1


@dataclass(frozen=True)
class LineProfile:
    """What the update needs in each row, (2, nodes): coefficients times c dt/u, inverse lengths, the CPML's numbers.

    `electric`, `magnetic`: (stay, drive, inverse, decay, psi_drive) at the nodes and between them; what lies past
    the last node is zero.
    """

    electric: tuple[np.ndarray, ...]
    magnetic: tuple[np.ndarray, ...]


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

    def march(self, dtype: type) -> LineMarch:
        """From rest."""
        return LineMarch(self, dtype)


class LineMarch:
    """The states of an `IncidentLine` after the last step that was asked for."""

    def __init__(self, line: IncidentLine, dtype: type) -> None:
        self.line, self.dtype = line, dtype
        self._electric, self._magnetic = (
            tuple(np.asarray(values, dtype) for values in part) for part in (line.profile.electric, line.profile.magnetic)
        )
        self._restart()

    def _restart(self) -> None:
        nodes = self._electric[0].shape[1]
        self.step = 0
        # H of half node n + 1/2 in column n + 1, so that both ends read a zero
        self.e, self.h = np.zeros((2, nodes + 1), self.dtype), np.zeros((2, nodes + 1), self.dtype)
        self._psi = [np.zeros((2, nodes), self.dtype) for _ in range(2)]
        self._work = [np.zeros((2, nodes), self.dtype) for _ in range(2)]

    def tables(self, first: int, steps: int) -> np.ndarray | None:
        """See `nearfield.incident.term.March`; steps gone by are made again from rest."""
        if first <= self.step:
            self._restart()
        line = self.line
        now = np.arange(self.step + 1, first + steps) * line.time_step
        signal = np.asarray(line.signal(now), self.dtype)
        columns = slice(line.first, line.last + 2)
        table = np.zeros((2, steps, line.last - line.first + 2), self.dtype)
        with np.errstate(under="ignore"):
            for n, value in enumerate(signal):
                row = n - (now.size - steps)
                if row >= 0:
                    table[0, row] = self.h[1, columns]
                self._advance_electric(value)
                if row >= 0:
                    table[1, row, :-1] = self.e[1, line.first : line.last + 1]
                self._advance_magnetic()
        self.step = first + steps - 1
        return table if table.any() else None

    def _advance_electric(self, signal: np.floating) -> None:
        line, (_, drive, inverse, *_) = self.line, self._electric
        self._update(self.e[:, :-1], self.h[:, 1:], self.h[:, :-1], self._electric, self._psi[0])
        side = line.entry + (line.direction == BACKWARD)  # column of the H before the entry
        self.e[1, line.entry] += line.direction * (drive[1, line.entry] * (self.h[0, side] * inverse[1, line.entry]))
        self.e[0, line.entry - line.direction] = signal

    def _advance_magnetic(self) -> None:
        line, (_, drive, inverse, *_) = self.line, self._magnetic
        self._update(self.h[:, 1:], self.e[:, 1:], self.e[:, :-1], self._magnetic, self._psi[1])
        before = line.entry - (line.direction == FORWARD)  # half node before the entry
        self.h[1, before + 1] += line.direction * (
            drive[1, before] * (self.e[0, line.entry] * inverse[1, before])
        )

    def _update(self, field, upper, lower, numbers, psi) -> None:
        """field <- stay field - drive (difference inverse + psi), psi <- decay psi + psi_drive difference."""
        stay, drive, inverse, decay, psi_drive = numbers
        difference, product = self._work
        np.subtract(upper, lower, out=difference)
        np.multiply(psi, decay, out=psi)
        np.multiply(difference, psi_drive, out=product)
        np.add(psi, product, out=psi)
        np.multiply(difference, inverse, out=difference)
        np.add(difference, psi, out=difference)
        np.multiply(difference, drive, out=difference)
        np.multiply(field, stay, out=field)
        np.subtract(field, difference, out=field)
