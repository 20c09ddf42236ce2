"""What tells media apart where they meet, for E and for H: how they answer over the band of the excitations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nearfield.coefficients.dispersion import Kind
from nearfield.coefficients.interfaces import Contrast
from nearfield.entry.constants import VACUUM_PERMEABILITY, VACUUM_PERMITTIVITY
from nearfield.media.materials import Medium
from nearfield.metal.skin_fit import limited_band

LOOKED_AT = 64  # frequencies of the band
DIPS = np.array([0.5, 1.0, 2.0])  # above a resonance, in its widths, is the least of the permittivity


def contrasts(
    media: Sequence[Medium], kinds: Sequence[Kind], band: tuple[float, float], time_step: float
) -> tuple[Contrast, Contrast]:
    """For E and for H, given the distinct media, the poles among them, and a band (Hz; 0: all that a step resolves)."""
    low, high = limited_band(*band, time_step)
    return tuple(_contrast(media, kinds, magnetic, (low, high), time_step) for magnetic in (False, True))


def _contrast(media, kinds, magnetic: bool, band: tuple[float, float], time_step: float) -> Contrast:
    answers, sizes, remembers, turns = [], [], [], []
    for medium in media:
        relative, loss, poles = medium.permittivity, medium.conductivity / VACUUM_PERMITTIVITY, medium.poles
        if magnetic:
            relative, poles = medium.permeability, medium.magnetic_poles
            loss = medium.magnetic_conductivity / VACUUM_PERMEABILITY
        now = sum(kind.now for kind in kinds if kind.magnetic == magnetic and kind.poles == poles)
        over = _over_band(medium, magnetic, poles, band) if poles else np.array([relative])
        turning = not ((over.real > 0.0) & np.isfinite(over)).all()
        answers.append(relative + 0.5 * time_step * loss + now)
        sizes.append(np.exp(np.log(np.abs(over)).mean()) if poles and not turning else relative)
        remembers.append(bool(poles))
        turns.append(turning)
    return Contrast(*(np.array(values) for values in (answers, sizes, remembers, turns)))


def _over_band(medium: Medium, magnetic: bool, poles, band: tuple[float, float]) -> np.ndarray:
    """Relative permittivity, or permeability, at frequencies of the band, and beside the resonances in it; infinite or
    no number on one without damping."""
    terms = np.array([pole for pole, _ in (term for each in poles for term in each._terms())])
    beside = (np.abs(terms.imag)[:, None] - terms.real[:, None] * DIPS).ravel() / (2.0 * np.pi)
    beside = beside[(terms.imag != 0.0).repeat(DIPS.size) & (beside > band[0]) & (beside < band[1])]
    frequencies = np.concatenate((np.linspace(*band, LOOKED_AT), beside))
    with np.errstate(divide="ignore", invalid="ignore"):
        return medium.relative_permeability(frequencies) if magnetic else medium.relative_permittivity(frequencies)
