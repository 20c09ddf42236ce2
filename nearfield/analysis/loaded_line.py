"""The wave of a hybrid mode along its guide: wave number and admittance between the frequencies where it is known.

The mode's profiles and numbers are analytic in k^2, k = 2 sin(w dt/2)/(c dt), so polynomials in k^2 through Chebyshev's
points of a band have errors that fall by a factor with each point. Of a wave that goes on to 0 Hz beta^2 and the drive
over k^2 are interpolated, so that they keep their digits there. With beta and `drive` of nearfield/guides/loaded.py,
q = exp(-j beta d) on the grid and V e, I h of E and eta0 H,

    q - 2 + 1/q = -(beta d)^2,    I = +-drive/(k beta) V at one place,    I ahead - I before = -j dual drive/k V
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from nearfield.analysis.guided_line import Line, per_cell
from nearfield.entry.constants import VACUUM_IMPEDANCE, VACUUM_SPEED

TAPER = 0.15  # margin of the points on either side of a pulse's band, as part of the band
LEAST = 0.02  # lowest frequency of the points over the highest


def wave_number(frequencies: np.ndarray, time_step: float) -> np.ndarray:
    """k (1/m) of the grid's time."""
    return 2 * np.sin(np.pi * np.asarray(frequencies) * time_step) / (VACUUM_SPEED * time_step)


def frequency_of(k2: Any, time_step: float) -> Any:
    """Frequency (Hz) at which the squared wave number of the grid's time is k2 (1/m^2)."""
    return np.arcsin(0.5 * VACUUM_SPEED * time_step * np.sqrt(k2)) / (np.pi * time_step)


def chebyshev_points(low: float, high: float, count: int, time_step: float) -> np.ndarray:
    """Frequencies (Hz) at the Chebyshev points of the second kind in k^2 of a band and its margins."""
    margin = TAPER * (high - low)
    low, high = max(low - margin, LEAST * (high + margin)), high + margin
    ends = wave_number(np.array([low, high]), time_step) ** 2
    k2 = ends.mean() - 0.5 * np.diff(ends) * np.cos(np.pi * np.arange(count) / (count - 1))
    found: np.ndarray = frequency_of(k2, time_step)
    return found


@dataclass(frozen=True)
class LoadedLine(Line):
    """At `frequencies` (Hz), Chebyshev points of k^2: `squares` beta^2 (1/m^2), `drives` (1/m^2); `cell` (m) along.

    `electric`, `magnetic` (points, profiles): the shares of the recorded profiles in the mode's E and H.
    """

    frequencies: np.ndarray
    squares: np.ndarray
    drives: np.ndarray
    electric: np.ndarray
    magnetic: np.ndarray
    cell: float
    time_step: float

    def shares(self, frequencies: np.ndarray) -> np.ndarray:
        """(frequency, point): the Lagrange polynomials of the points, by the barycentric formula."""
        points = wave_number(self.frequencies, self.time_step) ** 2
        weights = (-1.0) ** np.arange(points.size)
        weights[[0, -1]] *= 0.5
        apart = wave_number(frequencies, self.time_step)[:, None] ** 2 - points
        apart[apart == 0] = 1e-30 * points[-1]
        parts = weights / apart
        return parts / parts.sum(axis=1, keepdims=True)

    def weights(self, name: str, frequencies: np.ndarray) -> np.ndarray:
        """(frequency, profile): what each recorded sum counts; `name` "electric" or "magnetic", the shares to take."""
        found: np.ndarray = self.shares(frequencies) @ getattr(self, name)
        return found

    def known(self, frequencies: np.ndarray) -> np.ndarray:
        """Whether frequencies lie among the points, or next to them."""
        low, high = self.frequencies[[0, -1]]
        slack = 0.02 * (high - low)
        return (frequencies >= low - slack) & (frequencies <= high + slack)

    @property
    def cutoff_frequency(self) -> float:
        """Cut-off (Hz) on the grid; NaN where it lies below or above all points."""
        frequencies = np.linspace(self.frequencies[0], self.frequencies[-1], 4001)
        below = np.flatnonzero(self._between(self.squares, frequencies) < 0)
        within = below.size and below[-1] + 1 < frequencies.size
        return float(frequencies[below[-1]]) if within else float("nan")

    def per_cell(self, frequencies: np.ndarray) -> np.ndarray:
        return per_cell(-self._between(self.squares, frequencies) * self.cell**2)

    def _between(self, values: np.ndarray, frequencies: np.ndarray) -> np.ndarray:
        """beta^2 or the drive, known at the points, at other frequencies."""
        if self.frequencies[0] > 1.5 * LEAST * self.frequencies[-1] or self.squares[0] < 0.0:
            return self.shares(frequencies) @ values
        points, k = (wave_number(at, self.time_step) for at in (self.frequencies, frequencies))
        return k**2 * (self.shares(frequencies) @ (values / points**2))

    def _wave(self, frequencies: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """sqrt(q), k and the drive."""
        root, k = np.sqrt(self.per_cell(frequencies)), wave_number(frequencies, self.time_step)
        return root, k, self._between(self.drives, frequencies)

    def admittances(self, frequencies: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        root, k, drive = self._wave(frequencies)
        with np.errstate(divide="ignore", invalid="ignore"):
            scale = drive * self.cell / (1j * k * (root - 1 / root) * VACUUM_IMPEDANCE)
            good = self.known(np.real(frequencies))
            return np.where(good, scale * root, np.nan), np.where(good, -scale / root, np.nan)

    def before(self, frequencies: np.ndarray, dual: float) -> np.ndarray:
        """eta0 I half a cell before a plane, over V in it, of a wave that goes on."""
        root, k, drive = self._wave(frequencies)
        return drive / k * (self.cell * root / (1j * (root - 1 / root)) + 1j * dual)
