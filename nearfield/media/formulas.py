"""The formulas of the library's sources: complex relative permittivity over frequency (Hz), exp(+j w t).

Each function is given a source's constants, as the files of `data/` name them, and returns a `Formula`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import exp, pi, sqrt
from pathlib import Path
from typing import Any

import numpy as np

from nearfield.entry.constants import VACUUM_PERMITTIVITY, VACUUM_SPEED
from nearfield.media.poles import Debye, Drude, Lorentz

DATA = Path(__file__).with_name("data")
GHZ = 1e9
MICROMETRE = 1e-6
ELECTRONVOLT = 1.602176634e-19 / 6.62607015e-34  # Hz, exact
DIGITS = 7  # digits of constants from formulas of temperature, so that every machine has equal ones
COLE_COLE_UNITS = (1e-12, 1e-9, 1e-6, 1e-3)  # s, units of the four relaxation times
SHORTEST = 0.38e-6  # m: below, interband transitions of metals need more poles than they are worth


@dataclass(frozen=True)
class Formula:
    """A source's permittivity, and the medium's constants where it is a sum of poles."""

    permittivity: Callable[[np.ndarray], np.ndarray]
    constants: dict[str, Any] | None = None  # of a Medium
    rows: tuple[float, ...] = ()  # frequencies (Hz) of a table's rows


def rounded(value: float) -> float:
    """The value to as many digits as every machine agrees on."""
    return float(f"{value:.{DIGITS - 1}e}")


def debye(permittivity: float, conductivity: float, terms: Sequence[tuple[float, float]]) -> Formula:
    """Relaxations of a strength and a time (s), above a permittivity at infinity, and a conductivity (S/m)."""

    def value(frequency: np.ndarray) -> np.ndarray:
        s = 2j * np.pi * frequency
        relaxed = sum(strength / (1 + s * time) for strength, time in terms)
        return permittivity + conductivity / (s * VACUUM_PERMITTIVITY) + relaxed

    poles = [Debye(strength=strength, relaxation_time=time) for strength, time in terms]
    return Formula(value, {"permittivity": permittivity, "conductivity": conductivity, "poles": poles})


def double_debye(celsius: float) -> Formula:
    """Pure water. Recommendation ITU-R P.840-6, equations (4) to (11)."""
    theta = 300.0 / (celsius + 273.15) - 1.0
    static = 77.66 + 103.3 * theta
    middle, infinity = 0.0671 * static, 3.52
    first = (20.20 - 146.0 * theta + 316.0 * theta**2) * GHZ
    terms = [(static - middle, first), (middle - infinity, 39.8 * first)]
    return debye(infinity, 0.0, [(rounded(strength), rounded(1 / (2 * pi * f))) for strength, f in terms])


def sea_water(celsius: float, salinity: float) -> Formula:
    """Sea water of a salinity in parts per thousand. L. A. Klein and C. T. Swift 1977."""
    t, s = celsius, salinity
    static = (87.134 - 1.949e-1 * t - 1.276e-2 * t**2 + 2.491e-4 * t**3) * (
        1.0 + 1.613e-5 * s * t - 3.656e-3 * s + 3.210e-5 * s**2 - 4.232e-7 * s**3
    )
    time = (1.768e-11 - 6.086e-13 * t + 1.104e-14 * t**2 - 8.111e-17 * t**3) * (
        1.0 + 2.282e-5 * s * t - 7.638e-4 * s - 7.760e-6 * s**2 + 1.105e-8 * s**3
    )
    d = 25.0 - t
    decay = 2.033e-2 + 1.266e-4 * d + 2.464e-6 * d**2 - s * (1.849e-5 - 2.551e-7 * d + 2.551e-8 * d**2)
    conductivity = s * (0.182521 - 1.46192e-3 * s + 2.09324e-5 * s**2 - 1.28205e-7 * s**3) * exp(-d * decay)
    return debye(4.9, rounded(conductivity), [(rounded(static - 4.9), rounded(time))])


def cole_cole(permittivity: float, conductivity: float, terms: Sequence[tuple[float, float, float]]) -> Formula:
    """Strength, relaxation time (ps, ns, us, ms) and exponent of each term, and a conductivity (S/m)."""

    def value(frequency: np.ndarray) -> np.ndarray:
        s = 2j * np.pi * np.asarray(frequency, dtype=float)
        found = permittivity + conductivity / (s * VACUUM_PERMITTIVITY)
        for (strength, time, exponent), unit in zip(terms, COLE_COLE_UNITS):
            found = found + strength / (1 + (s * time * unit) ** (1 - exponent))
        return found

    return Formula(value)


def wide_band(permittivity: tuple[float, float], loss_tangents: Sequence[tuple[float, float]]) -> Formula:
    """(Hz, real part) and one or two (Hz, loss tangent): the loss is linear in the logarithm of the frequency.

    Causality gives the permittivity e0 - (2/pi) (a L + b L^2/2), L = ln(j f/f0), whose loss is a + b ln(f/f0).
    """
    (at, real), (first, low), (last, high) = permittivity, loss_tangents[0], loss_tangents[-1]
    a = real * low
    b = real * (high - low) / np.log(last / first) if last != first else 0.0

    def drop(ratio: np.ndarray | float) -> np.ndarray:
        log = np.log(ratio) + 0.5j * np.pi
        return 2 / np.pi * (a * log + 0.5 * b * log**2)

    infinite = real + drop(at / first).real
    return Formula(lambda frequency: infinite - drop(np.asarray(frequency, dtype=float) / first))


def power(permittivity: float, conductivity: float, exponent: float) -> Formula:
    """A constant real part and the conductivity (S/m) of a power of the frequency in GHz."""

    def value(frequency: np.ndarray) -> np.ndarray:
        conducted = 1j * conductivity * (frequency / GHZ) ** exponent
        return permittivity - conducted / (2 * np.pi * frequency * VACUUM_PERMITTIVITY)

    constants = {"permittivity": permittivity, "conductivity": conductivity}
    return Formula(value, None if exponent else constants)


def lorentz_drude(plasma: float, terms: Sequence[tuple[float, float, float]]) -> Formula:
    """Plasma frequency (eV); strength, width and resonance (eV) of each term, the free electrons' first."""

    def value(frequency: np.ndarray) -> Any:
        energy = frequency / ELECTRONVOLT
        return 1 + sum(f * plasma**2 / (w**2 - energy**2 + 1j * energy * g) for f, g, w in terms)

    (strength, rate, _), *bound = terms
    collisions = 2 * pi * rate * ELECTRONVOLT
    free = Drude(plasma_frequency=sqrt(strength) * plasma * ELECTRONVOLT, collision_frequency=collisions)
    others = [resonance(f * plasma**2 / w**2, w * ELECTRONVOLT, pi * g * ELECTRONVOLT) for f, g, w in bound]
    return Formula(value, {"poles": [free, *others]})


def resonance(strength: float, frequency: float, damping: float) -> Lorentz:
    """A pole at a frequency (Hz), with the decay rate (1/s) of its oscillation."""
    return Lorentz(strength=strength, resonance_frequency=frequency, damping=damping)


@lru_cache(maxsize=1)
def johnson_christy_rows() -> np.ndarray:
    """The table's rows from the near infrared to the visible, frequency increasing."""
    rows = np.genfromtxt(DATA / "johnson_christy.csv", delimiter=",", skip_header=2, names=True)[::-1]
    return rows[rows["wavelength_um"] * MICROMETRE > SHORTEST]


def johnson_christy(metal: str) -> Formula:
    """A metal's measured permittivity, linear between its rows."""
    rows = johnson_christy_rows()
    frequencies = VACUUM_SPEED / (rows["wavelength_um"] * MICROMETRE)
    values = (rows[f"{metal}_n"] - 1j * rows[f"{metal}_k"]) ** 2
    return Formula(lambda frequency: np.interp(frequency, frequencies, values), rows=tuple(frequencies.tolist()))


def sellmeier(
    strengths: Sequence[float], resonances: Sequence[float] = (), resonances_squared: Sequence[float] = ()
) -> Formula:
    """n^2 of resonances without damping, at wavelengths (um) or their squares."""
    terms = list(zip(strengths, resonances or [sqrt(square) for square in resonances_squared]))

    def value(frequency: np.ndarray) -> Any:
        square = (VACUUM_SPEED / frequency / MICROMETRE) ** 2
        return 1 + sum(strength * square / (square - at**2) for strength, at in terms) + 0j

    return Formula(value, {"poles": [resonance(x, VACUUM_SPEED / (at * MICROMETRE), 0.0) for x, at in terms]})


FUNCTIONS: list[Callable[..., Formula]] = [debye, double_debye, sea_water, cole_cole, wide_band, power]
FUNCTIONS += [lorentz_drude, johnson_christy, sellmeier]
FORMULAS = {function.__name__.replace("_", "-"): function for function in FUNCTIONS}  # by the names in `data/`
