"""Launching a hybrid mode: its profiles change with frequency, so each of the few it is made of has its own signals.

V(f) e(f) is a sum of signals, each with a spectrum of its own, times fixed profiles, and I h likewise. They are made by
Fourier transforms over many times the pulse's length, at frequencies a little below the real axis, where nothing is
singular, the cut-off included. Beyond its band (60 dB down) the pulse is cut off smoothly, within that of the points.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike

from nearfield.analysis.loaded_line import LEAST, TAPER, LoadedLine

LENGTH = 8  # times the pulse, after which what still comes is left out; of a signal without end twice the run
DAMPING = 18.0  # exp(-18) = 1.5e-8 is left of what would come round again


@dataclass(frozen=True)
class LaunchedProfiles:
    """The incident wave of a hybrid mode: `signal(t)` is V in the plane; `dual` (m) what the plane's E stands for.

    A column for each profile: I before the plane (as eta0 I) for E samples, V for H samples. `steps`: most that run.
    """

    line: LoadedLine
    dual: float
    signal: Callable[[np.ndarray], np.ndarray]
    excitation: str
    end: float
    steps: int

    def march(self, dtype: DTypeLike) -> ProfilesMarch:
        """From rest."""
        return ProfilesMarch(self, dtype)


class ProfilesMarch:
    """All signals of a wave, made when the first are asked for."""

    def __init__(self, wave: LaunchedProfiles, dtype: DTypeLike) -> None:
        self.wave, self.dtype = wave, dtype
        self._signals: np.ndarray | None = None

    def tables(self, first: int, steps: int) -> np.ndarray | None:
        """See `nearfield.plan.excitations.March`."""
        if self._signals is None:
            self._signals = signals(self.wave)
        found = np.zeros((2, steps, self._signals.shape[2]), self.dtype)
        part = self._signals[:, first : first + steps]
        found[:, : part.shape[1]] = part
        return found if found.any() else None


def signals(wave: LaunchedProfiles) -> np.ndarray:
    """(2, steps, profiles): eta0 I at (m - 1/2) dt, V at m dt."""
    line, step = wave.line, wave.line.time_step
    count = int(LENGTH * wave.end / step if np.isfinite(wave.end) else 2 * wave.steps) + 1
    size = 2 ** int(np.ceil(np.log2(2 * count)))
    rate = DAMPING / (size * step)
    time = step * np.arange(count)
    frequencies = np.fft.rfftfreq(size, step)
    spectrum = np.fft.rfft(wave.signal(time) * np.exp(-rate * time), size) * taper(line, frequencies)
    heard = np.flatnonzero(spectrum)
    lower = frequencies[heard] - 1j * rate / (2 * np.pi)
    voltage = line.shares(lower) * spectrum[heard, None]
    current = voltage * (line.before(lower, wave.dual) * np.exp(-1j * np.pi * lower * step))[:, None]
    found = np.zeros((2, spectrum.size, line.electric.shape[1]), complex)
    found[:, heard] = current @ line.magnetic, voltage @ line.electric
    return np.fft.irfft(found, size, axis=1)[:, :count] * np.exp(rate * time)[:, None]


def taper(line: LoadedLine, frequencies: np.ndarray) -> np.ndarray:
    """1 over the pulse's band, falling smoothly to 0 at the ends of the points' band, but at one that is next to 0."""
    low, high = line.frequencies[[0, -1]]
    width = TAPER * (high - low) / (1 + 2 * TAPER)
    below = low + width - frequencies if low > 1.5 * LEAST * high else -frequencies
    beyond = np.maximum(below, frequencies - high + width) / width
    x = np.clip(beyond, 2e-3, 1 - 2e-3)
    return np.where(beyond <= 0, 1.0, np.where(beyond >= 1, 0.0, 1 / (1 + np.exp(1 / (1 - x) - 1 / x))))
