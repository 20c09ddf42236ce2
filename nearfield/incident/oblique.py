"""A plane wave at any angle: the grid's own plane wave in a uniform medium, by its numerical dispersion.

On a uniform grid exp(j w t - j k u.r) solves Yee's equations where

    (n sin(w dt/2)/(c dt))^2 = S.S,    S_a = sin(k u_a d_a/2)/d_a,    a = x, y, z,    n^2 = eps_r mu_r

with E across S and eta0 H = S x E/(mu_r sin(w dt/2)/(c dt)). Each component is then a function of time and of the
distance u.r alone. It is tabulated at distances h apart, a third of the smallest cell or less (a quarter in double
precision): the signal is filtered by exp(-j k(w) d) in blocks of steps (overlap-save), and read between by Lagrange's
polynomials. What leaks is their error, (k h)^6/200 with six taps, (k h)^10/4000 with ten. Sources: Taflove and Hagness,
Computational Electrodynamics, 3rd ed., chapters 4 and 5.9; Guiffaut and Mahdjoubi, IEEE Antennas Propag. Soc. Symp.
2000, 236.

Distances that samples pass from one to the next along an axis are a whole number m of h: tables are kept as m combs, so
that neighbouring samples read neighbouring columns with the same shares.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from math import erfc

import numpy as np
from numpy.typing import DTypeLike

from nearfield.entry.constants import VACUUM_SPEED
from nearfield.machine.topology import available_threads

TAPS = {"single": 6, "double": 10}
FINENESS = {"single": 3, "double": 4}  # places of the table in the smallest cell, at least
PASS, STOP = 0.6, 0.95  # band over which the signal is cut, over the highest frequency that the grid carries along u
STEEP = 6.0  # erfc(6) = 2e-17
SLOWEST = 3.0  # c over the least group velocity below STOP
FEWEST = 512  # steps of a block
TOGETHER = 16  # columns that are made at a time: they stay in cache
LEAST_COMB = 0.125  # smallest cells that the wave passes in a cell along an axis, below which there is no comb


@dataclass(frozen=True)
class GridWave:
    """The plane wave of a uniform grid: `cells` (m), unit vectors `travels` and `electric`, the medium's constants."""

    cells: tuple[float, float, float]
    time_step: float
    travels: np.ndarray
    electric: np.ndarray
    permittivity: float
    permeability: float

    def sines(self, k: np.ndarray) -> np.ndarray:
        """S, (3, ...)."""
        return np.stack([np.sin(0.5 * k * u * d) / d for u, d in zip(self.travels, self.cells)])

    def frequency(self, k: np.ndarray) -> np.ndarray:
        """Frequency (Hz) of the numerical wave number k (1/m) along the direction."""
        index = (self.permittivity * self.permeability) ** 0.5
        argument = VACUUM_SPEED * self.time_step / index * np.sqrt((self.sines(k) ** 2).sum(axis=0))
        return np.arcsin(np.minimum(argument, 1.0)) / (np.pi * self.time_step)

    @cached_property
    def highest(self) -> tuple[float, float]:
        """(wave number, frequency) up to which the grid carries the wave."""
        k = np.linspace(0.0, 2 * np.pi, 4001)[1:] / max(abs(u) * d for u, d in zip(self.travels, self.cells)) / 2
        frequency = self.frequency(k)
        top = int(np.argmax(np.append(np.diff(frequency) <= 0, True)))
        return float(k[top]), float(frequency[top])

    def wave_number(self, frequency: np.ndarray) -> np.ndarray:
        """k (1/m) of frequencies below `highest`, by bisection: the same to the last digit everywhere."""
        low, high = np.zeros(frequency.shape), np.full(frequency.shape, self.highest[0])
        for _ in range(60):
            middle = 0.5 * (low + high)
            below = self.frequency(middle) < frequency
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return 0.5 * (low + high)

    def components(self, k: np.ndarray) -> np.ndarray:
        """E of unit length and its eta0 H, (6, wave numbers)."""
        sines = self.sines(np.maximum(k, 1e-9 * self.highest[0]))
        along = (sines * self.electric[:, None]).sum(axis=0) / (sines**2).sum(axis=0)
        electric = self.electric[:, None] - sines * along
        electric = electric / np.sqrt((electric**2).sum(axis=0))
        index = (self.permittivity * self.permeability) ** 0.5
        rate = np.sqrt((sines**2).sum(axis=0)) / index
        return np.concatenate((electric, np.cross(sines, electric, axis=0) / (self.permeability * rate)))


@dataclass(frozen=True)
class Combs:
    """Places s = 0, 1, ... of the table, `step` (m) apart along the direction, in `teeth` combs of `length` columns.

    `offset`: place of the corner where the distance is zero; `step` is negative where the axis runs against the wave.
    """

    step: float
    teeth: int
    length: int
    offset: int
    counted: bool  # neighbours along the axis lie `teeth` places apart

    @property
    def places(self) -> int:
        """Columns of one component."""
        return self.teeth * self.length

    def distances(self) -> np.ndarray:
        """Distance (m) of each column."""
        place = np.arange(self.length)[None, :] * self.teeth + np.arange(self.teeth)[:, None]
        return (place - self.offset).ravel() * self.step

    def columns(self, place: np.ndarray) -> np.ndarray:
        """Column of each place."""
        return place % self.teeth * self.length + place // self.teeth


def make_combs(cells, travels: np.ndarray, axis: int, extent: tuple[float, float], taps: int, fineness: int) -> Combs:
    """For samples that follow each other along an axis, and distances between the two given."""
    finest = min(cells)
    passed = abs(travels[axis]) * cells[axis]
    combed = passed >= LEAST_COMB * finest
    teeth = max(1, int(np.ceil(fineness * passed / finest - 1e-9))) if combed else 1
    step = passed / teeth if combed else finest / fineness
    before, after = extent if travels[axis] >= 0 else (-extent[1], -extent[0])
    offset = int(np.ceil(-before / step)) + taps + 1
    length = -(-(offset + int(np.ceil(after / step)) + taps + 2) // teeth)
    return Combs(step if travels[axis] >= 0 else -step, teeth, length, offset, combed)


def lagrange(fraction: np.ndarray, taps: int) -> np.ndarray:
    """Shares (samples, taps) of the places -taps/2 + 1 ... taps/2 about the one below, a fraction of a place on."""
    at = np.arange(taps) - taps // 2 + 1
    shares = np.ones((fraction.size, taps))
    for n in range(taps):
        for other in range(taps):
            if other != n:
                shares[:, n] *= (fraction - at[other]) / (at[n] - at[other])
    return shares


@dataclass(frozen=True)
class ObliqueWave:
    """The incident field of a `GridWave` at the places of `combs`; `signal(t)` is E (V/m) where the distance is 0.

    Tables hold the components `reads` alone, those of E and those of H from the first columns on.
    """

    wave: GridWave
    combs: Combs
    reads: tuple[int, ...]
    signal: Callable[[np.ndarray], np.ndarray]
    excitation: str
    end: float

    def march(self, dtype: DTypeLike) -> ObliqueMarch:
        """From rest."""
        return ObliqueMarch(self, dtype)

    @cached_property
    def slots(self) -> np.ndarray:
        """Place of each of the six components among those of its half step; -1: it is not read."""
        parts = [[c for c in self.reads if c // 3 == half] for half in range(2)]
        return np.array([parts[c // 3].index(c) if c in self.reads else -1 for c in range(6)])

    @property
    def columns(self) -> int:
        """Columns of a table."""
        return int(self.slots.max() + 1) * self.combs.places

    @cached_property
    def filters(self) -> Filters:
        """The filters that make blocks of steps of the signal."""
        return Filters(self)


class Filters:
    """The filters exp(-j k d) of all columns, and the lengths of the blocks that they are used on.

    A block of `steps` steps needs `before` samples of the signal before it and `after` behind it.
    """

    def __init__(self, oblique: ObliqueWave) -> None:
        wave, dt = oblique.wave, oblique.wave.time_step
        self.oblique = oblique
        highest = wave.highest[1]
        width = (STOP - PASS) * highest / (2 * STEEP)  # of the cut, erfc((f - f0)/width)
        ringing = int(np.ceil(STEEP / (np.pi * width * dt)))
        index = (wave.permittivity * wave.permeability) ** 0.5
        delays = oblique.combs.distances() * index / (VACUUM_SPEED * dt)
        self.before = int(np.ceil(SLOWEST * max(0.0, delays.max()))) + ringing
        self.after = int(np.ceil(SLOWEST * max(0.0, -delays.min()))) + ringing
        total = 1 << int(np.ceil(np.log2(self.before + self.after + FEWEST)))
        self.steps = total - self.before - self.after
        frequency = np.fft.rfftfreq(total, dt)
        frequency = frequency[frequency < STOP * highest]
        middle = 0.5 * (PASS + STOP) * highest
        self.cut = np.array([0.5 * erfc((f - middle) / width) for f in frequency])
        self.k = wave.wave_number(frequency)
        self.parts, self.frequency = wave.components(self.k), frequency
        apart = oblique.combs.teeth * oblique.combs.step  # columns of a comb
        self.turns = np.exp(-1j * np.outer(np.arange(TOGETHER) * apart, self.k))

    def block(self, number: int, dtype: DTypeLike) -> np.ndarray | None:
        """Tables (2, steps, columns) of block `number`; H stands half a step before E. None: silent."""
        oblique, dt = self.oblique, self.oblique.wave.time_step
        total = self.before + self.steps + self.after
        first = 1 + number * self.steps - self.before
        signal = oblique.signal((first + np.arange(total)) * dt)
        if not np.any(signal):
            return None
        spectrum = np.fft.rfft(signal)[: self.k.size] * self.cut
        late = np.exp(-1j * np.pi * self.frequency * dt)
        shaped = {c: spectrum * self.parts[c] * (late if c >= 3 else 1.0) for c in oblique.reads}
        distances, places, length = oblique.combs.distances(), oblique.combs.places, oblique.combs.length
        table = np.zeros((2, self.steps, oblique.columns), dtype)

        def fill(first: int) -> None:
            count = min(TOGETHER, length - first % length)  # of one comb
            turned = np.exp(-1j * distances[first] * self.k) * self.turns[:count]
            for component, factors in shaped.items():
                values = np.fft.irfft(turned * factors, total, axis=1)[:, self.before : self.before + self.steps]
                at = oblique.slots[component] * places + first
                table[int(component < 3), :, at : at + values.shape[0]] = values.T

        with ThreadPoolExecutor(available_threads()) as threads:
            list(threads.map(fill, [comb + n for comb in range(0, places, length) for n in range(0, length, TOGETHER)]))
        return table


class ObliqueMarch:
    """The blocks of an `ObliqueWave` that were asked for last."""

    def __init__(self, oblique: ObliqueWave, dtype: DTypeLike) -> None:
        self.oblique, self.dtype = oblique, dtype
        self._kept: dict[int, np.ndarray | None] = {}

    def tables(self, first: int, steps: int) -> np.ndarray | None:
        """See `nearfield.plan.excitations.March`."""
        size = self.oblique.filters.steps
        numbers = range((first - 1) // size, (first + steps - 2) // size + 1)
        filters, before = self.oblique.filters, self._kept
        self._kept = {n: before[n] if n in before else filters.block(n, self.dtype) for n in numbers}
        if all(block is None for block in self._kept.values()):
            return None
        table = np.zeros((2, steps, self.oblique.columns), self.dtype)
        for number, block in self._kept.items():
            begin = max(first, 1 + number * size)
            stop = min(first + steps, 1 + (number + 1) * size)
            if block is not None:
                source = slice(begin - 1 - number * size, stop - 1 - number * size)
                table[:, begin - first : stop - first] = block[:, source]
        return table
