"""Circuit boards and walls of buildings: losses over decades of frequency, here fitted by Debye's relaxations."""

from __future__ import annotations

import numpy as np

from nearfield.entry.constants import VACUUM_PERMITTIVITY
from nearfield.media.entry import GHZ, Entry

# (Hz, relative permittivity), then (Hz, loss tangent) at one or two frequencies
LAMINATES = {
    "fr4": (
        "FR-4, Isola 370HR",
        "Isola Group, 370HR laminate data sheet, permittivity 4.04 and loss tangent 0.0210 at 2 GHz",
        (2 * GHZ, 4.04),
        (2 * GHZ, 0.0210),
    ),
    "ro4003c": (
        "RO4003C",
        "Rogers Corporation, RO4000 series data sheet 92-004, process permittivity 3.38 at 10 GHz, loss tangent 0.0021 "
        "at 2.5 GHz and 0.0027 at 10 GHz",
        (10 * GHZ, 3.38),
        (2.5 * GHZ, 0.0021),
        (10 * GHZ, 0.0027),
    ),
    "ro4350b": (
        "RO4350B",
        "Rogers Corporation, RO4000 series data sheet 92-004, process permittivity 3.48 at 10 GHz, loss tangent 0.0031 "
        "at 2.5 GHz and 0.0037 at 10 GHz",
        (10 * GHZ, 3.48),
        (2.5 * GHZ, 0.0031),
        (10 * GHZ, 0.0037),
    ),
    "rt-duroid-5880": (
        "RT/duroid 5880",
        "Rogers Corporation, RT/duroid 5870/5880 data sheet 92-101, permittivity 2.20, loss tangent 0.0009 at 10 GHz",
        (10 * GHZ, 2.20),
        (10 * GHZ, 0.0009),
    ),
}
SUMMARIES = "the permittivity and the loss at 10 GHz in Rogers' product selector guide and in summaries of dealers"
NOT_FOUND = "; not the loss at 2.5 GHz: no copy of the data sheet itself was found"
CHECKED = {
    "fr4": "the loss tangent in summaries of dealers; not the permittivity: no copy of the data sheet itself was found",
    "ro4003c": SUMMARIES + NOT_FOUND,
    "ro4350b": SUMMARIES + NOT_FOUND,
    "rt-duroid-5880": SUMMARIES,
}
TRANSCRIBED = "a transcription of table 3; the later recommendations P.2040-2 to -4 have other constants of concrete"
CAUSAL = (
    "; over frequency by the causal wide-band model of A. R. Djordjevic, R. M. Biljic, V. D. Likar-Smiljanic, T. K. "
    "Sarkar, IEEE Transactions on Electromagnetic Compatibility 43 (2001) 662-667"
)
BAND = (0.1 * GHZ, 20 * GHZ)

# real part of the permittivity, conductivity = c (f/GHz)^d S/m, band (Hz)
WALLS = {
    "concrete": (5.31, 0.0326, 0.8095, (1 * GHZ, 100 * GHZ)),
    "brick": (3.75, 0.038, 0.0, (1 * GHZ, 10 * GHZ)),
    "plasterboard": (2.94, 0.0116, 0.7076, (1 * GHZ, 100 * GHZ)),
    "wood": (1.99, 0.0047, 1.0718, (1 * GHZ, 100 * GHZ)),
    "window-glass": (6.27, 0.0043, 1.1925, (1 * GHZ, 100 * GHZ)),
}
P2040 = "Recommendation ITU-R P.2040-1 (2015), table 3"


def laminate(name: str, frequency: np.ndarray) -> np.ndarray:
    """Loss linear in the logarithm of the frequency, through one or two values, and the permittivity that causality
    gives it: e0 - (2/pi) (a L + b L^2/2) with L = ln(j f/f0) has the loss a + b ln(f/f0)."""
    _, _, (at, real), *losses = LAMINATES[name]
    (first, low), (last, high) = losses[0], losses[-1]
    a = real * low
    b = real * (high - low) / np.log(last / first) if last != first else 0.0
    infinite = real + drop(at / first, a, b).real
    return infinite - drop(np.asarray(frequency, dtype=float) / first, a, b)


def drop(ratio: np.ndarray | float, a: float, b: float) -> np.ndarray:
    """What the permittivity has lost at a frequency over the first."""
    log = np.log(ratio) + 0.5j * np.pi
    return 2 / np.pi * (a * log + 0.5 * b * log**2)


def wall(name: str, frequency: np.ndarray) -> np.ndarray:
    """The recommendation's powers of the frequency."""
    real, c, d, _ = WALLS[name]
    return real - 1j * c * (frequency / GHZ) ** d / (2 * np.pi * frequency * VACUUM_PERMITTIVITY)


def exact(name: str) -> dict[str, float] | None:
    """The constants of a wall that needs no pole."""
    real, c, d, _ = WALLS[name]
    return {"permittivity": real, "conductivity": c} if d == 0 else None


ENTRIES = (
    *(
        Entry(name, title, source + CAUSAL, BAND, lambda f, name=name: laminate(name, f))
        .of("laminates")
        .held_against(CHECKED[name])
        for name, (title, source, *_) in LAMINATES.items()
    ),
    *(
        Entry(
            name,
            f"{name.replace('-', ' ').capitalize()} (ITU-R P.2040)",
            P2040,
            band,
            lambda f, name=name: wall(name, f),
            exact(name),
        )
        .of("walls")
        .held_against(TRANSCRIBED)
        for name, (*_, band) in WALLS.items()
    ),
)
