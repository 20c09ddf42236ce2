"""Tissues of the human body: four relaxations of Cole and Cole each, here fitted by Debye's."""

from __future__ import annotations

import numpy as np

from nearfield.entry.constants import VACUUM_PERMITTIVITY
from nearfield.media.entry import GHZ, Entry

SOURCE = (
    "S. Gabriel, R. W. Lau, C. Gabriel, Physics in Medicine and Biology 41 (1996) 2271-2293, table 1, and C. Gabriel, "
    "Compilation of the dielectric properties of body tissues, AL/OE-TR-1996-0037, appendix C"
)
CHECKED = (
    "the summary table of appendix C, as far as a copy of the report was found (aorta to cartilage), and for all a "
    "transcription to four digits, with the conductivities of the skins that appendix C rounds to 0.000"
)
BAND = (0.01 * GHZ, 20 * GHZ)
UNITS = (1e-12, 1e-9, 1e-6, 1e-3)  # of the four relaxation times, s
# permittivity at infinity, conductivity (S/m), then strength, time (ps, ns, us, ms) and exponent of each relaxation
TABLE = {
    "blood": (4.0, 0.700, (56.0, 8.377, 0.10), (5200, 132.629, 0.10), (0, 159.155, 0.20), (0, 15.915, 0.0)),
    "bone-cancellous": (2.5, 0.070, (18, 13.263, 0.22), (300, 79.577, 0.25), (2e4, 159.155, 0.20), (2e7, 15.915, 0.0)),
    "bone-cortical": (2.5, 0.020, (10.0, 13.263, 0.20), (180, 79.577, 0.20), (5e3, 159.155, 0.20), (1e5, 15.915, 0.0)),
    "brain-grey": (4.0, 0.020, (45.0, 7.958, 0.10), (400, 15.915, 0.15), (2e5, 106.103, 0.22), (4.5e7, 5.305, 0.0)),
    "brain-white": (4.0, 0.020, (32.0, 7.958, 0.10), (100, 7.958, 0.10), (4e4, 53.052, 0.30), (3.5e7, 7.958, 0.02)),
    "breast-fat": (2.5, 0.010, (3.0, 17.680, 0.10), (15, 63.660, 0.10), (5e4, 454.700, 0.10), (2e7, 13.260, 0.0)),
    "cartilage": (4.0, 0.150, (38.0, 13.263, 0.15), (2500, 144.686, 0.15), (1e5, 318.310, 0.10), (4e7, 15.915, 0.0)),
    "cerebro-spinal-fluid": (4.0, 2.000, (65.0, 7.958, 0.10), (40, 1.592, 0.0), (0, 159.155, 0.0), (0, 15.915, 0.0)),
    "fat": (2.5, 0.010, (3.0, 7.958, 0.20), (15, 15.915, 0.10), (3.3e4, 159.155, 0.05), (1e7, 7.958, 0.01)),
    "heart": (4.0, 0.050, (50.0, 7.958, 0.10), (1200, 159.155, 0.05), (4.5e5, 72.343, 0.22), (2.5e7, 4.547, 0.0)),
    "kidney": (4.0, 0.050, (47.0, 7.958, 0.10), (3500, 198.944, 0.22), (2.5e5, 79.577, 0.22), (3e7, 4.547, 0.0)),
    "liver": (4.0, 0.020, (39.0, 8.842, 0.10), (6000, 530.516, 0.20), (5e4, 22.736, 0.20), (3e7, 15.915, 0.05)),
    "lung-inflated": (2.5, 0.030, (18.0, 7.958, 0.10), (500, 63.662, 0.10), (2.5e5, 159.155, 0.20), (4e7, 7.958, 0.0)),
    "muscle": (4.0, 0.200, (50.0, 7.234, 0.10), (7000, 353.678, 0.10), (1.2e6, 318.310, 0.10), (2.5e7, 2.274, 0.0)),
    "skin-dry": (4.0, 2e-4, (32.0, 7.234, 0.0), (1100, 32.481, 0.20), (0, 159.155, 0.20), (0, 15.915, 0.20)),
    "skin-wet": (4.0, 4e-4, (39.0, 7.958, 0.10), (280, 79.577, 0.0), (3e4, 1.592, 0.16), (3e4, 1.592, 0.20)),
}
TITLES = {
    "bone-cancellous": "Bone, cancellous",
    "bone-cortical": "Bone, cortical",
    "brain-grey": "Brain, grey matter",
    "brain-white": "Brain, white matter",
    "breast-fat": "Breast fat",
    "cerebro-spinal-fluid": "Cerebrospinal fluid",
    "lung-inflated": "Lung, inflated",
    "skin-dry": "Skin, dry",
    "skin-wet": "Skin, wet",
}


def permittivity(name: str, frequency: np.ndarray) -> np.ndarray:
    """Cole and Cole's formula."""
    infinity, conductivity, *terms = TABLE[name]
    s = 2j * np.pi * np.asarray(frequency, dtype=float)
    found = infinity + conductivity / (s * VACUUM_PERMITTIVITY)
    for (strength, time, exponent), unit in zip(terms, UNITS):
        found = found + strength / (1 + (s * time * unit) ** (1 - exponent))
    return found


ENTRIES = tuple(
    Entry(
        name,
        f"{TITLES.get(name, name.capitalize())} (Gabriel 1996)",
        SOURCE,
        BAND,
        lambda f, name=name: permittivity(name, f),
    )
    .of("tissues")
    .held_against(CHECKED)
    for name in TABLE
)
