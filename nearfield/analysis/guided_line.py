"""The wave of a mode along its guide: the grid's own transmission line, of modal voltage V (V) and current I (A).

With H as eta0 H, tau = c dt, cells d, and W of H along the guide (TE) or U of E along it (TM),

    V <- V + tau/eps (kc W - dI/dn),   I <- I - tau/mu (dV/dn + kc U),   W <- W - tau kc V/mu,   U <- U + tau kc I/eps

V and U at nodes or between them at m dt, I and W at (m + 1/2) dt. A wave is multiplied by q in each cell where

    1/q - 2 + q = (D^2 + kappa)/ratio,   D = z^(1/2) - z^(-1/2),   ratio = tau^2/(eps mu d^2),   kappa = ratio kc^2 d^2

with z = exp(j w dt): q = exp(-j beta d) above the cut-off, real below. I half a cell on is Y V of a wave that goes on
and Y' V of one that comes back, (Y - Y')/2 being the line's admittance: real above the cut-off, imaginary below.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from nearfield.analysis.faces import time_factor
from nearfield.entry.constants import VACUUM_IMPEDANCE, VACUUM_SPEED


def per_cell(x: np.ndarray) -> np.ndarray:
    """The q with q - 2 + 1/q = x that decays or travels on."""
    root = np.sqrt((x + 0.25 * x**2).astype(complex))
    return 1 + 0.5 * x - np.where(np.real(x) < -4, -root, root)


class Line(ABC):
    """The transmission line of a mode on the grid."""

    cell: float
    time_step: float

    @abstractmethod
    def per_cell(self, frequencies: np.ndarray) -> np.ndarray:
        """q: the factor by which a cell multiplies a wave."""

    @abstractmethod
    def admittances(self, frequencies: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(Y, Y') in S: I half a cell on and half a step later, over V, of a wave that goes on and one that returns."""

    def inside(self, frequencies: np.ndarray) -> np.ndarray:
        """The part of the mode's power that lies in the port's opening: all of a closed guide's."""
        return np.ones(frequencies.size)

    def waves(
        self, voltage: np.ndarray, current: np.ndarray, frequencies: np.ndarray, cells: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Waves (a, b), in sqrt(W) s of spectra, `cells` cells on from where V was recorded, and I half a cell on.

        a = sqrt(Y0 cos(w dt/2)) V of the wave that goes on, b of the one that returns, Y0 = (Y - Y')/2. V and I stand
        half a step apart, so abs(a)^2 - abs(b)^2 = Re(V conj(I)) cos(w dt/2), above the cut-off, is the power of the
        grid, as a flux through a plane, a lumped port's circuit and the work of currents count it. Below the cut-off
        they decay and grow along the guide, and carry power only together. Zero where the line has no two waves: at
        the cut-off, and where there is no frequency.
        """
        on, back = self.admittances(frequencies)
        with np.errstate(divide="ignore", invalid="ignore"):
            scale = np.sqrt(0.5 * (on - back) * time_factor(frequencies, self.time_step)) / (on - back)
            moved = self.per_cell(frequencies) ** cells
            a, b = scale * moved * (current - back * voltage), scale / moved * (on * voltage - current)
        good = np.isfinite(a) & np.isfinite(b)
        return np.where(good, a, 0.0), np.where(good, b, 0.0)


@dataclass(frozen=True)
class GuideLine(Line):
    """A mode's line: `family` "TE", "TM" or "TEM", `cutoff` kc (1/m), `cell` (m) along the guide, `time_step` (s)."""

    family: str
    cutoff: float
    cell: float
    time_step: float
    permittivity: float
    permeability: float

    @property
    def ratio(self) -> float:
        """(c dt/(n d))^2."""
        index = self.permittivity * self.permeability
        return (VACUUM_SPEED * self.time_step / self.cell) ** 2 / index

    @property
    def kappa(self) -> float:
        """(c dt kc/n)^2."""
        return self.ratio * (self.cutoff * self.cell) ** 2

    @property
    def cutoff_frequency(self) -> float:
        """Cut-off (Hz) on the grid."""
        return float(np.arcsin(min(1.0, 0.5 * self.kappa**0.5)) / (np.pi * self.time_step))

    def per_cell(self, frequencies: np.ndarray) -> np.ndarray:
        return per_cell((self.kappa - 4 * np.sin(np.pi * np.asarray(frequencies) * self.time_step) ** 2) / self.ratio)

    def admittances(self, frequencies: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        q, d = self.per_cell(frequencies), 2j * np.sin(np.pi * np.asarray(frequencies) * self.time_step)
        scale = VACUUM_SPEED * self.time_step / self.cell

        def admittance(q: np.ndarray) -> np.ndarray:
            if self.family == "TE":
                return scale / self.permeability * (1 - q) / d / VACUUM_IMPEDANCE
            return self.permittivity / scale * d * q / (1 - q) / VACUUM_IMPEDANCE

        with np.errstate(divide="ignore", invalid="ignore"):
            return admittance(q), admittance(1 / q)
