"""Launching one mode in one direction: electric and magnetic currents in one plane whose wave exists on one side only.

On the structure's side of the plane fields are total; E in the plane and H half a cell before it lack the incident
field, or have it too much, as at the face of a total-field box:

    E_t <- E_t + Cb (c dt/dual) I e            I half a cell before the plane, at (m - 1/2) dt
    H_t <- H_t + Db (c dt/cell) V (n x e)      V in the plane, at m dt

V is the port's signal, and I follows from it in an endless even line (guided_line.py). In powers of 1/z, by
the generating function of Legendre's polynomials, (1 - 2 x w + w^2)^(-1/2) = sum of P_n(x) w^n, both

    (D^2 + kappa)^(1/2) and its inverse, and those of D^2 + kappa + 4 ratio

are known to any order, and with them q and (1 + q)/(1 - q), so nothing is cut off and no line is marched.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike

from nearfield.analysis.guided_line import GuideLine
from nearfield.entry.constants import VACUUM_SPEED

FIRST = 4096  # steps that are made at once, then twice as many, and so on


def legendre(x: float, count: int) -> np.ndarray:
    """P_0(x) ... P_(count - 1)(x)."""
    found = [1.0, x]
    for n in range(2, count):
        found.append(((2 * n - 1) * x * found[-1] - (n - 1) * found[-2]) / n)
    return np.array(found[:count])


def root(x: float, count: int) -> np.ndarray:
    """Coefficients of (1 - 2 x w + w^2)^(1/2)."""
    p = np.concatenate(([0.0, 0.0], legendre(x, count)))
    return p[2:] - 2 * x * p[1:-1] + p[:-2]


def convolved(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The first terms of the product of two series of equal length."""
    size = 2 * one.size
    return np.fft.irfft(np.fft.rfft(one, size) * np.fft.rfft(other, size), size)[: one.size]


@dataclass(frozen=True)
class LaunchedMode:
    """The incident wave of a mode: `signal(t)` is V in the plane; `dual` (m) what the plane's E stands for.

    One column: I before the plane (as eta0 I) for E samples, V for H samples.
    """

    line: GuideLine
    dual: float
    signal: Callable[[np.ndarray], np.ndarray]
    excitation: str
    end: float

    def march(self, dtype: DTypeLike) -> LaunchMarch:
        """From rest."""
        return LaunchMarch(self, dtype)


class LaunchMarch:
    """V and I up to the last step that was asked for, made in the same pieces whoever asks."""

    def __init__(self, wave: LaunchedMode, dtype: DTypeLike) -> None:
        self.wave, self.dtype = wave, dtype
        self._voltage, self._answer = np.zeros(0), np.zeros(0)  # at 0, dt, ...
        self._current = np.zeros(0)  # at -dt/2, dt/2, ...

    def tables(self, first: int, steps: int) -> np.ndarray | None:
        """See `nearfield.plan.excitations.March`."""
        while self._voltage.size < first + steps:
            self._double()
        span = slice(first, first + steps)
        table = np.stack((self._current[span], self._voltage[span]))[:, :, None].astype(self.dtype)
        return table if table.any() else None

    def _double(self) -> None:
        """Twice as many steps: the answer is V one cell on (TE), else the sum over the cells from half a cell on."""
        line, known = self.wave.line, self._voltage.size
        count = max(FIRST, 2 * known)
        voltage = self.wave.signal(np.arange(known, count) * line.time_step)
        if not known:
            voltage[0] = 0.0  # at rest
        self._voltage = np.concatenate((self._voltage, voltage))
        near, far = 1 - 0.5 * line.kappa, 1 - 0.5 * line.kappa - 2 * line.ratio
        if line.family == "TE":
            q = -convolved(root(near, count + 1), root(far, count + 1))[1:] / (2 * line.ratio)
            q[0] += (2 * line.ratio - 2 + line.kappa) / (2 * line.ratio)
            q[1] += 1 / (2 * line.ratio)
        else:
            q = 0.5 * convolved(legendre(near, count), root(far, count))
            q[0] -= 0.5
        self._answer = np.concatenate((self._answer, convolved(q, self._voltage)[known:]))
        self._current = self._before()

    def _before(self) -> np.ndarray:
        """I half a cell before the plane, from that behind it and the update of V between them."""
        line, voltage, dual = self.wave.line, self._voltage, self.wave.dual
        advance = VACUUM_SPEED * line.time_step
        change = np.diff(voltage, prepend=0.0)
        after = dual * line.permittivity / advance * change
        if line.family == "TE":
            drop = (voltage - self._answer) / line.cell + dual * line.cutoff**2 * voltage
            return after + advance / line.permeability * np.concatenate(([0.0], np.cumsum(drop)[:-1]))
        return after + line.cell * line.permittivity / advance * np.diff(self._answer, prepend=0.0)
