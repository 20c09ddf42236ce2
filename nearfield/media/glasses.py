"""Glasses and silicon where they are clear: Sellmeier's formula, which is a sum of resonances without damping."""

from __future__ import annotations

from math import sqrt

import numpy as np

from nearfield.entry.constants import VACUUM_SPEED
from nearfield.media.entry import Entry
from nearfield.media.poles import Lorentz

MICROMETRE = 1e-6
# n^2 - 1 = sum of strength wavelength^2/(wavelength^2 - resonance^2), um
TABLES = {
    "fused-silica": ((0.6961663, 0.0684043), (0.4079426, 0.1162414), (0.8974794, 9.896161)),
    "bk7": ((1.03961212, sqrt(0.00600069867)), (0.231792344, sqrt(0.0200179144)), (1.01046945, sqrt(103.560653))),
    "silicon": ((10.6684293, 0.301516485), (0.0030434748, 1.13475115), (1.54133408, 1104.0)),
}


def permittivity(name: str, frequency: np.ndarray) -> np.ndarray:
    """n^2 of Sellmeier's formula."""
    square = (VACUUM_SPEED / frequency / MICROMETRE) ** 2
    return 1 + sum(strength * square / (square - at**2) for strength, at in TABLES[name]) + 0j


INFO = "the constants in the data base of refractiveindex.info"


def entry(name: str, title: str, source: str, shortest: float, longest: float, checked: str = INFO) -> Entry:
    """A glass between two wavelengths (um)."""
    poles = [Lorentz(strength, VACUUM_SPEED / (at * MICROMETRE), 0.0) for strength, at in TABLES[name]]
    band = tuple(VACUUM_SPEED / (wavelength * MICROMETRE) for wavelength in (longest, shortest))
    source = f"{source}; {shortest:g} to {longest:g} um"
    found = Entry(name, title, source, band, lambda f: permittivity(name, f), {"poles": poles})
    return found.of("glasses").held_against(checked)


ENTRIES = (
    entry(
        "fused-silica",
        "Fused silica, 20 C (Malitson 1965)",
        "I. H. Malitson, Journal of the Optical Society of America 55 (1965) 1205-1208, dispersion formula, 20 C",
        0.21,
        3.71,
    ),
    entry(
        "bk7",
        "N-BK7 glass (Schott)",
        "Schott AG, data sheet N-BK7 517642.251, constants of the dispersion formula, 20 C",
        0.3126,
        2.325,
        "the constants in Schott's catalogue of 2017-01-20, as refractiveindex.info has it",
    ),
    entry(
        "silicon",
        "Silicon, 26 C (Salzberg and Villa 1957)",
        "C. D. Salzberg, J. J. Villa, Journal of the Optical Society of America 47 (1957) 244-246, in the formula of "
        "B. Tatian, Applied Optics 23 (1984) 4477-4485; 26 C",
        1.357,
        11.04,
        f"{INFO}; n is 0.002 to 0.003 above the values that H. H. Li recommends at 20 C, Journal of Physical and "
        "Chemical Reference Data 9 (1980) 561-658",
    ),
)
