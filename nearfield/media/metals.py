"""Noble metals: the Lorentz-Drude model of Rakic and others, and the measurements of Johnson and Christy."""

from __future__ import annotations

from functools import lru_cache, partial
from math import pi, sqrt
from pathlib import Path

import numpy as np

from nearfield.entry.constants import VACUUM_SPEED
from nearfield.media.entry import Entry
from nearfield.media.poles import Drude, Lorentz

ELECTRONVOLT = 1.602176634e-19 / 6.62607015e-34  # Hz, exact
SOURCE = (
    "A. D. Rakic, A. B. Djurisic, J. M. Elazar, M. L. Majewski, Applied Optics 37 (1998) 5271-5283, tables 1 and 2, "
    "Lorentz-Drude model"
)
# plasma frequency (eV); then strength, collision rate or width (eV), resonance (eV) of each term
TABLES = {
    "gold": (
        9.03,
        (0.760, 0.053, 0.0),
        (0.024, 0.241, 0.415),
        (0.010, 0.345, 0.830),
        (0.071, 0.870, 2.969),
        (0.601, 2.494, 4.304),
        (4.384, 2.214, 13.32),
    ),
    "silver": (
        9.01,
        (0.845, 0.048, 0.0),
        (0.065, 3.886, 0.816),
        (0.124, 0.452, 4.481),
        (0.011, 0.065, 8.185),
        (0.840, 0.916, 9.083),
        (5.646, 2.419, 20.29),
    ),
    "copper": (
        10.83,
        (0.575, 0.030, 0.0),
        (0.061, 0.378, 0.291),
        (0.104, 1.056, 2.957),
        (0.723, 3.213, 5.300),
        (0.638, 4.305, 11.18),
    ),
}
BANDS = {"gold": (0.2, 5.0), "silver": (0.1, 5.0), "copper": (0.1, 6.0)}  # eV


def permittivity(name: str, frequency: np.ndarray) -> np.ndarray:
    """The formula of the paper, with its signs turned to exp(+j w t)."""
    plasma, *terms = TABLES[name]
    energy = frequency / ELECTRONVOLT
    return 1 + sum(f * plasma**2 / (w**2 - energy**2 + 1j * energy * g) for f, g, w in terms)


def poles(name: str) -> list[Drude | Lorentz]:
    """The terms as poles: the first is the free electrons'."""
    plasma, (strength, rate, _), *bound = TABLES[name]
    free = Drude(sqrt(strength) * plasma * ELECTRONVOLT, 2 * pi * rate * ELECTRONVOLT)
    return [free, *(Lorentz(f * plasma**2 / w**2, w * ELECTRONVOLT, pi * g * ELECTRONVOLT) for f, g, w in bound)]


def wavelengths(name: str) -> str:
    """The band in the unit of the field."""
    low, high = (VACUUM_SPEED / (energy * ELECTRONVOLT) * 1e6 for energy in BANDS[name])
    return f"{high:.3g} to {low:.3g} um"


OWN_TABLE = "n and k that the authors' model has in the data base of refractiveindex.info"
ALL_ROWS = "all 49 rows in the data base of refractiveindex.info"
JOHNSON_CHRISTY = Path(__file__).with_name("johnson_christy.csv")
MEASURED = "P. B. Johnson, R. W. Christy, Physical Review B 6 (1972) 4370-4379, table I"
SHORTEST = 0.38e-6  # m: below, interband transitions ask for more poles than they are worth


@lru_cache(maxsize=3)
def measured(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Increasing frequencies (Hz) and permittivity of a metal's rows."""
    rows = np.genfromtxt(JOHNSON_CHRISTY, delimiter=",", skip_header=2, names=True)[::-1]
    rows = rows[rows["wavelength_um"] * 1e-6 > SHORTEST]
    return VACUUM_SPEED / (rows["wavelength_um"] * 1e-6), (rows[f"{name}_n"] - 1j * rows[f"{name}_k"]) ** 2


def between_rows(name: str, frequency: np.ndarray) -> np.ndarray:
    """The table, linear between its rows."""
    return np.interp(frequency, *measured(name))


def from_formula(name: str) -> Entry:
    """A metal of Rakic's."""
    band = tuple(energy * ELECTRONVOLT for energy in BANDS[name])
    return (
        Entry(
            name,
            f"{name.capitalize()} (Rakic 1998)",
            f"{SOURCE}; {wavelengths(name)}",
            band,
            partial(permittivity, name),
            {"poles": poles(name)},
        )
        .of("metals")
        .held_against(OWN_TABLE)
    )


def from_table(name: str) -> Entry:
    """A metal of Johnson and Christy's."""
    rows = tuple(measured(name)[0].tolist())
    source = f"{MEASURED}; {VACUUM_SPEED / rows[-1] * 1e6:.4g} to {VACUUM_SPEED / rows[0] * 1e6:.4g} um"
    return (
        Entry(
            f"{name}-visible",
            f"{name.capitalize()} (Johnson and Christy 1972)",
            source,
            (rows[0], rows[-1]),
            partial(between_rows, name),
            rows=rows,
        )
        .of("metals")
        .held_against(ALL_ROWS)
    )


ENTRIES = (*map(from_formula, TABLES), *map(from_table, TABLES))
