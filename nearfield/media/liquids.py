"""Water and sea water at radio and microwave frequencies."""

from __future__ import annotations

from math import exp, pi

import numpy as np

from nearfield.entry.constants import VACUUM_PERMITTIVITY
from nearfield.media.entry import GHZ, Entry
from nearfield.media.poles import Debye

DIGITS = 7  # kept of what a formula gives, so that every machine has the same constants


def rounded(value: float) -> float:
    """The value to as many digits as every machine agrees on."""
    return float(f"{value:.{DIGITS - 1}e}")


def double_debye(celsius: float) -> tuple[float, tuple[Debye, Debye]]:
    """Recommendation ITU-R P.840-6, equations (4) to (11): permittivity at infinity and two relaxations."""
    theta = 300.0 / (celsius + 273.15) - 1.0
    static = 77.66 + 103.3 * theta
    middle, infinity = 0.0671 * static, 3.52
    first = (20.20 - 146.0 * theta + 316.0 * theta**2) * GHZ
    poles = [(static - middle, first), (middle - infinity, 39.8 * first)]
    return infinity, tuple(Debye(rounded(strength), rounded(1 / (2 * pi * f))) for strength, f in poles)


def sea_water(celsius: float, salinity: float) -> tuple[float, float, Debye]:
    """L. A. Klein and C. T. Swift 1977: permittivity at infinity, conductivity (S/m), relaxation; salinity in parts per
    thousand."""
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
    return 4.9, rounded(conductivity), Debye(rounded(static - 4.9), rounded(time))


def permittivity(infinity: float, conductivity: float, poles: tuple[Debye, ...], frequency: np.ndarray) -> np.ndarray:
    """Debye's formula."""
    s = 2j * np.pi * frequency
    return (
        infinity
        + conductivity / (s * VACUUM_PERMITTIVITY)
        + sum(pole.strength / (1 + s * pole.relaxation_time) for pole in poles)
    )


def entry(name: str, title: str, source: str, highest: float, constants: tuple) -> Entry:
    """A liquid up to a frequency (Hz)."""
    infinity, conductivity, poles = constants
    given = {"permittivity": infinity, "conductivity": conductivity, "poles": list(poles)}
    return Entry(name, title, source, (0.0, highest), lambda f: permittivity(*constants, f), given).of("liquids")


def water(celsius: float) -> tuple[float, float, tuple[Debye, ...]]:
    """Pure water."""
    infinity, poles = double_debye(celsius)
    return infinity, 0.0, poles


def sea(celsius: float, salinity: float) -> tuple[float, float, tuple[Debye, ...]]:
    """Sea water."""
    infinity, conductivity, pole = sea_water(celsius, salinity)
    return infinity, conductivity, (pole,)


P840 = (
    "Recommendation ITU-R P.840-6 (2013), double Debye model after H. J. Liebe, G. A. Hufford, T. Manabe, "
    "International Journal of Infrared and Millimeter Waves 12 (1991) 659-675"
)
ENTRIES = (
    entry("water", "Water, 25 C (ITU-R P.840)", f"{P840}; 25 C", 1000 * GHZ, water(25.0)),
    entry("water-20c", "Water, 20 C (ITU-R P.840)", f"{P840}; 20 C", 1000 * GHZ, water(20.0)),
    entry(
        "sea-water",
        "Sea water, 20 C, 35 g/kg (Klein and Swift 1977)",
        "L. A. Klein, C. T. Swift, IEEE Transactions on Antennas and Propagation 25 (1977) 104-111; 20 C, salinity "
        "35 parts per thousand",
        10 * GHZ,
        sea(20.0, 35.0),
    ).held_against("a transcription of the formulas"),
)
