"""The root of s as the impedance of resistors and inductors: what a conductor's surface is to the update."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

ENOUGH = 0.004  # relative error of the fit that needs no further pole
MOST_POLES = 16
BEYOND = (0.5, 0.7, 1.0, 1.4, 2.0, 3.0)  # factors past both ends of the band at which the outermost poles are tried
LOOKED_AT = 60  # frequencies a decade of the fit
WIDEST = 1e3  # highest over lowest frequency of a band; further below, the fit's resistance stands


@dataclass(frozen=True)
class Terms:
    """sqrt(s) over a band as resistance + inductance s + sum weights s/(s + rates), all positive."""

    resistance: float
    inductance: float
    rates: tuple[float, ...]
    weights: tuple[float, ...]
    error: float  # the largest relative one, of the magnitude of the complex difference

    def value(self, s: np.ndarray) -> np.ndarray:
        """The sum at complex frequencies (1/s)."""
        return self.resistance + self.inductance * s + sum(r * s / (s + p) for r, p in zip(self.weights, self.rates))


@lru_cache
def impedance_terms(ratio: float) -> Terms:
    """sqrt(s) for s = j 1 to j ratio by as few terms as are within 0.4 %: 3 poles for a decade, 5 for two, 7 for three.

    Least squares with weights that are not negative, on poles spaced evenly over the logarithm of frequency: with them
    the sum is passive (the impedance of resistors and inductors). Rounded, so that processors agree.
    """
    fits: list[Terms] = []
    for count in range(1, MOST_POLES + 1):
        fits += [_fitted(ratio, np.geomspace(1.0 / beyond, ratio * beyond, count)) for beyond in BEYOND]
        best = min(fits, key=lambda fit: fit.error)
        if best.error <= ENOUGH:
            break
    return best


def _fitted(ratio: float, rates: np.ndarray) -> Terms:
    from scipy.optimize import nnls

    s = 1j * np.geomspace(1.0, ratio, max(2, round(LOOKED_AT * np.log10(ratio)) + 1))
    columns = np.stack([np.ones_like(s), s / ratio, *(s / (s + rate) for rate in rates)], axis=1) / np.sqrt(s)[:, None]
    scale = np.abs(columns).max(axis=0)
    system, wanted = np.concatenate((columns.real, columns.imag)) / scale, np.repeat((1.0, 0.0), s.size)
    weights = np.array([float(f"{value:.8e}") for value in nnls(system, wanted)[0] / scale])
    error = float(np.abs(columns @ weights - 1.0).max())
    kept = weights[2:] > 0.0
    return Terms(weights[0], weights[1] / ratio, tuple(rates[kept]), tuple(weights[2:][kept]), error)


def fit_band(low: float, high: float, time_step: float) -> tuple[float, float]:
    """The band (Hz) of the fit: that of the excitations, at least a decade and at most three."""
    low, high = limited_band(low, high, time_step)
    return min(low, high / 10.0), high


def limited_band(low: float, high: float, time_step: float) -> tuple[float, float]:
    """The band (Hz) of the excitations, at most three decades; without an upper edge, up to a frequency of 20 steps a
    period."""
    high = high if 0.0 < high < np.inf else 0.05 / time_step
    return min(max(low, high / WIDEST), high), high
