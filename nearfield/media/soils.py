"""Soils: measured by Hipp, in two relaxations."""

from __future__ import annotations

from functools import partial

from nearfield.media.entry import GHZ, Entry
from nearfield.media.liquids import permittivity
from nearfield.media.poles import Debye

SOURCE = (
    "J. E. Hipp, Proceedings of the IEEE 62 (1974) 98-103, in the two Debye terms of F. L. Teixeira, W. C. Chew, "
    "M. Straka, M. L. Oristaglio, T. Wang, IEEE Transactions on Geoscience and Remote Sensing 36 (1998) 1928-1937; "
    "Puerto Rico clay loam"
)
# moisture in percent: permittivity at infinity, conductivity (S/m), two strengths and relaxation times (s)
TABLE = {
    "2.5": (3.20, 0.397e-3, (0.75, 2.71e-9), (0.30, 0.108e-9)),
    "5": (4.15, 1.11e-3, (1.80, 3.79e-9), (0.60, 0.151e-9)),
    "10": (6.00, 2.00e-3, (2.75, 3.98e-9), (0.75, 0.251e-9)),
}
NAMES = {"2.5": "soil-dry", "5": "soil-moist", "10": "soil-wet"}


def entry(moisture: str) -> Entry:
    """The soil at a moisture."""
    infinity, conductivity, *terms = TABLE[moisture]
    poles = tuple(Debye(*term) for term in terms)
    constants = {"permittivity": infinity, "conductivity": conductivity, "poles": list(poles)}
    title, source = f"Clay loam, {moisture} % water (Hipp 1974)", f"{SOURCE}, {moisture} % moisture"
    band = (0.03 * GHZ, 3 * GHZ)
    formula = partial(permittivity, infinity, conductivity, poles)
    return Entry(NAMES[moisture], title, source, band, formula, constants).of("soils")


ENTRIES = tuple(entry(moisture) for moisture in TABLE)
