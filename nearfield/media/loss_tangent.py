"""Loss tangents as data sheets state them, made into what a time-domain run can hold: a conductivity, or poles.

At one frequency a conductivity does: tan d = conductivity/(2 pi f eps0 permittivity), which falls as 1/f beside it. A
constant one over a band takes Debye poles, three a decade: their strengths are the least squares solution that is not
negative (so the medium is passive), with the stated permittivity in the middle of the band (geometric mean).
"""

from __future__ import annotations

import math

import numpy as np

from nearfield.entry.constants import VACUUM_PERMITTIVITY
from nearfield.media.poles import Debye

A_DECADE = 3  # poles; two leave a ripple of 4 % of the loss tangent, three of 1 %
BEYOND = 10**0.5  # factor by which poles reach past the band on either side
LOOKED_AT = 40  # frequencies a decade at which the loss is fitted
MOST_RIPPLE = 0.03  # of the loss tangent, in the band; more is refused
MOST_DECADES = 6.0


def conductivity_of(tangent: float, frequency: float, permittivity: float) -> float:
    """The conductivity (S/m) with this loss tangent at a frequency (Hz)."""
    return 2.0 * math.pi * frequency * VACUUM_PERMITTIVITY * permittivity * tangent


def poles_of(tangent: float, band: tuple[float, float], permittivity: float) -> tuple[float, tuple[Debye, ...]]:
    """Permittivity far above the band, and poles, for a constant loss tangent over it. ValueError: there are none."""
    from scipy.optimize import nnls

    low, high = band
    if not 0.0 < low < high or math.log10(high / low) > MOST_DECADES:
        raise ValueError(f"loss_band {band} Hz: give two frequencies above 0, the lower first, at most 1e6 apart")
    if not tangent:
        return permittivity, ()
    decades = math.log10(high / low)
    count = math.ceil(A_DECADE * (decades + 2 * math.log10(BEYOND))) + 1
    centres = np.geomspace(low / BEYOND, high * BEYOND, count)
    at = np.geomspace(low, high, math.ceil(LOOKED_AT * decades) + 2)

    def debye(frequency: np.ndarray) -> np.ndarray:
        return 1.0 / (1.0 + 1j * frequency[:, None] / centres)  # (frequencies, poles), per unit of strength

    here, middle = debye(at), debye(np.array([math.sqrt(low * high)])).real
    # -Im eps = tan d Re eps with Re eps = permittivity + sum strengths (Re here - Re middle)
    matrix = -here.imag - tangent * (here.real - middle)
    strengths = nnls(matrix, np.full(at.size, tangent * permittivity))[0]
    instant = permittivity - float(middle[0] @ strengths)
    found = instant + here @ strengths
    ripple = float(np.abs(-found.imag / found.real / tangent - 1.0).max())
    if instant < 0.01 or ripple > MOST_RIPPLE:
        raise ValueError(
            f"loss_tangent {tangent:g} cannot be constant from {low:.4g} to {high:.4g} Hz (poles miss it by "
            f"{100 * ripple:.0f} %); give a narrower loss_band, or fit the data sheet's table with fit_medium"
        )
    kept = strengths > 0.0
    times = 1.0 / (2.0 * np.pi * centres[kept])
    return instant, tuple(Debye(float(each), float(time)) for each, time in zip(strengths[kept], times))
