"""A hybrid mode over a band, as a port launches and measures it: profiles at a few frequencies, smooth between them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from nearfield.analysis.loaded_line import LoadedLine, chebyshev_points, frequency_of, wave_number
from nearfield.entry.errors import ModelError
from nearfield.guides.loaded import Equations, Wave, first_waves, followed, slope, static_first, whole
from nearfield.guides.loaded_launch import LaunchedProfiles
from nearfield.guides.modes import on_edges
from nearfield.guides.section import Section, Traces
from nearfield.plan.excitations import Waveform

POINTS = (5, 9, 17, 33)  # numbers of frequencies at which the mode is found, each those before among them
SMOOTH = 1e-4  # largest relative error of the previous, halved set of frequencies; that of the last set is its square
ROUGH = 1e-2  # relative error above which the mode is refused
LEAST_PROFILE = 1e-9  # singular values of the profiles below it, relative to the largest, are left out
AT_CUTOFF = 1e-4  # relative change of k^2 by which a cut-off is found: its square is left, as Newton's method has it
MOST_STEPS = 30  # of Newton's method
STRIDE = 0.02  # least k^2 of the next step to a cut-off over that of the last
NO_CUTOFF = 1e-3  # of the lowest frequency of a mode; a wave that goes on there goes on to 0 Hz
HALVINGS = 5  # most halvings of the way from one frequency to the next, where a mode changes fast


Edges = np.ndarray | slice


@dataclass(frozen=True)
class Own:
    """The part of a cross-section that a port sees: its live edges, how well polynomials are to give profiles there,
    the least part of the power that a mode has there; whether its conductors are `alone` (loaded.turned_apart)."""

    edges: Edges
    smooth: float = SMOOTH
    least: float = 0.0
    alone: bool = False

    def refuse_unguided(self, equations: Equations, wave: Wave, number: int, who: str) -> None:
        """Refuse a mode with less power there."""
        part = float(np.sum((equations.area * wave.electric * wave.magnetic)[self.edges]))
        if part < self.least:
            raise ModelError(
                f"{who}: mode {number} has {100 * max(0.0, part):.2g} % of its power within the rectangle (beta = "
                f"{abs(wave.square) ** 0.5:.4g} 1/m), so it is no wave that this line guides all over the pulse's "
                "band; lower the number, enlarge the rectangle, give a pulse that begins (60 dB down) above the mode's "
                "cut-off, or let a dense medium end within the rectangle: beyond it, it carries waves of its own"
            )


ALL = Own(slice(None))


@dataclass(frozen=True)
class LoadedMode:
    """A mode at `frequencies` (Hz): beta^2 and drive (1/m^2), and what its E and n x H hold of `electric`, `magnetic`.

    electric_parts, magnetic_parts: (points, profiles); electric, magnetic: (profiles, live edges).
    """

    section: Section
    frequencies: np.ndarray
    squares: np.ndarray
    drives: np.ndarray
    electric_parts: np.ndarray
    magnetic_parts: np.ndarray
    electric: np.ndarray
    magnetic: np.ndarray

    def line(self, cell: float, time_step: float) -> LoadedLine:
        """The line of the mode along a guide with cells of this length (m)."""
        parts = self.electric_parts, self.magnetic_parts
        return LoadedLine(self.frequencies, self.squares, self.drives, *parts, cell, time_step)

    def cutoff_below(self, time_step: float) -> float:
        """Cut-off (Hz) below all frequencies of the mode, followed down to beta = 0 by Newton's method.

        0 where the wave goes on to 0 Hz, as quasi-TEM waves do; NaN where the mode is not to be told from others on the
        way.
        """
        equations, k2 = Equations(self.section), float(wave_number(self.frequencies[:1], time_step)[0]) ** 2
        electric, least = self.electric_parts[0] @ self.electric, NO_CUTOFF**2 * k2
        wave: Wave | None = equations.wave(k2, electric)
        for _ in range(MOST_STEPS):
            if wave is None:
                break
            steep = slope(equations, wave)
            if not steep > 0.0:
                break
            root = k2 - wave.square / steep
            if abs(root - k2) < AT_CUTOFF * k2:
                return float(frequency_of(root, time_step))
            root = max(root, STRIDE * k2)
            if root < least:
                return 0.0
            wave, k2 = stepped(equations, wave, k2, root, HALVINGS), root
        return float("nan")

    @property
    def traces(self) -> Traces:
        """Its samples in the plane, and their weights."""
        edges, shares = self.section.edges, (self.magnetic.T, self.electric.T)
        received = self.magnetic * edges.area, self.electric * edges.area * edges.turn
        launched = edges.cb, edges.turn * edges.db
        return Traces(launched, shares, received)

    def wave(self, line: Any, dual: float, signal: Waveform, steps: int) -> LaunchedProfiles:
        """The incident wave of the mode with modal voltage `signal`; `steps`: most that run."""
        return LaunchedProfiles(line, dual, signal.value, signal.excitation, signal.end, steps)

    @property
    def pictured(self) -> tuple[np.ndarray, np.ndarray]:
        """E_u and E_v at the first frequency."""
        return on_edges(self.section, whole(self.section, self.electric_parts[0] @ self.electric))


def loaded_mode(
    section: Section,
    number: int,
    band: tuple[float, float],
    time_step: float,
    who: str,
    own: Own = ALL,
) -> LoadedMode:
    """The mode that has the number-th largest wave number in the middle of the band (Hz); in one medium after all that
    are like TEM waves.

    Frequencies are added until polynomials between them give the profiles.

    Errors: fewer modes, complex waves, one that cannot be told from others all over the band or changes too fast there.
    """
    equations = Equations(section)
    middle = float(wave_number(np.array([0.5 * sum(band)]), time_step)[0]) ** 2
    counted = static_first if section.filling.even and own is ALL else partial(first_waves, alone=own.alone)
    known = {middle: counted(equations, middle, number, who)[number - 1]}
    own.refuse_unguided(equations, known[middle], number, who)
    waves: list[Wave] = []
    miss = np.inf
    for count in POINTS:
        frequencies, before = chebyshev_points(*band, count, time_step), waves
        try:
            waves = [found_at(equations, known, float(k) ** 2) for k in wave_number(frequencies, time_step)]
        except LookupError as lost:
            raise ModelError(
                f"{who}: mode {number} of this filled guide cannot be followed from the middle of the pulse's band to "
                f"k = {lost} 1/m: it meets another mode on the way, or both become complex. Give a pulse with a "
                "narrower band (60 dB down)"
            ) from None
        miss = missed(equations.area, own.edges, before, waves, frequencies, time_step) if before else np.inf
        if miss < own.smooth:
            break
    if miss > ROUGH:
        raise ModelError(
            f"{who}: the fields of mode {number} of this filled guide change so fast within the pulse's band that even "
            f"{count} frequencies tell them to {miss:.1g} only; give a pulse with a narrower band (60 dB down)"
        )
    for one in waves:
        own.refuse_unguided(equations, one, number, who)
    numbers = (np.array([getattr(one, name) for one in waves]) for name in ("square", "drive"))
    electric, magnetic = (np.stack([getattr(one, name) for one in waves]) for name in ("electric", "magnetic"))
    parts, profiles = zip(*few([electric, magnetic]))
    return LoadedMode(section, frequencies, *numbers, *parts, *profiles)


def found_at(equations: Equations, known: dict[float, Wave], k2: float) -> Wave:
    """The mode at a k^2, followed from the nearest one of those that are known, which it joins. LookupError: k."""
    near = min(known, key=lambda value: abs(value - k2))
    if abs(near - k2) > 1e-9 * k2:
        one = stepped(equations, known[near], near, k2, HALVINGS)
        if one is None:
            raise LookupError(f"{np.sqrt(k2):.4g}")
        known[k2], near = one, k2
    return known[near]


def missed(area: np.ndarray, own: Edges, before: list, waves: list, frequencies: np.ndarray, time_step: float) -> float:
    """Largest difference of a profile at every second point from the polynomial through the others, on some edges."""
    empty = np.zeros((len(before), 0))
    line = LoadedLine(frequencies[::2], empty, empty, empty, empty, 1.0, time_step)
    shares, found = line.shares(frequencies[1::2]), 0.0
    for name in ("electric", "magnetic"):
        coarse, fine = (np.stack([getattr(one, name)[own] for one in each]) for each in (before, waves[1::2]))
        size = np.sqrt(np.sum(area[own] * fine**2, axis=1))
        miss = np.sqrt(np.sum(area[own] * (shares @ coarse - fine) ** 2, axis=1))
        found = max(found, float((miss / size).max()))
    return found


def few(stacks: list[np.ndarray]) -> list[tuple[np.ndarray, np.ndarray]]:
    """Each stack of profiles as (what every one holds of a few, these), of one number for all stacks."""
    split = [np.linalg.svd(stack, full_matrices=False) for stack in stacks]
    count = max(int(np.sum(sizes > LEAST_PROFILE * sizes[0])) for _, sizes, _ in split)
    return [(left[:, :count] * sizes[:count], right[:count]) for left, sizes, right in split]


def stepped(equations: Equations, known: Wave, before: float, k2: float, halvings: int) -> Wave | None:
    """The mode at another k^2, by way of some between where that is too far."""
    one = followed(equations, known, before, k2)
    if one is not None or not halvings:
        return one
    between = 0.5 * (before + k2)
    half = stepped(equations, known, before, between, halvings - 1)
    return half and stepped(equations, half, between, k2, halvings - 1)
