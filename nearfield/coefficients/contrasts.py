"""The contrast between media where they meet, for each component: how they answer over the excitations' band."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nearfield.coefficients.dispersion import Kind
from nearfield.coefficients.interfaces import Contrast
from nearfield.media.materials import NAMES, Medium
from nearfield.metal.skin_fit import limited_band

LOOKED_AT = 64  # frequencies of the band at which media are compared
DIPS = np.array([0.5, 1.0, 2.0])  # widths above a resonance about which the permittivity is least


def contrasts(
    media: Sequence[Medium], kinds: Sequence[Kind], band: tuple[float, float], time_step: float
) -> tuple[Contrast, ...]:
    """For Ex ... Hz, given the distinct media, the poles among them, and a band (Hz; 0: all that a step resolves).

    Where all media are isotropic, the three of E are one, and those of H.
    """
    limits = limited_band(*band, time_step)
    axes = NAMES if any(medium.anisotropic for medium in media) else NAMES[:1]
    found = []
    for magnetic in (False, True):
        for axis in axes:
            seen = [medium.along(axis) for medium in media]
            found += [_contrast(seen, kinds, magnetic, limits, time_step)] * (3 // len(axes))
    return tuple(found)


def _contrast(
    media: Sequence[Medium], kinds: Sequence[Kind], magnetic: bool, band: tuple[float, float], time_step: float
) -> Contrast:
    rows = []
    for medium in media:
        relative, loss, poles = medium._half(magnetic)
        now = sum(kind.now for kind in kinds if kind.magnetic == magnetic and kind.poles == poles)
        remembers = bool(poles) or loss != 0.0
        over = _over_band(medium, magnetic, poles, band) if remembers else np.array([relative])
        turns = not ((over.real > 0.0) & np.isfinite(over)).all()
        size = np.exp(np.log(np.abs(over)).mean()) if remembers and not turns else relative
        rows.append((relative + 0.5 * time_step * loss + now, size, remembers, turns))
    return Contrast(*(np.array(values) for values in zip(*rows)))


def _over_band(medium: Medium, magnetic: bool, poles: Sequence, band: tuple[float, float]) -> np.ndarray:
    """Relative permittivity, or permeability, at frequencies of the band, and beside the resonances in it; infinite or
    no number on one without damping. What conducts, without poles, is looked at octave by octave."""
    terms = np.array([pole for each in poles for pole, _ in each._terms()])
    beside = (np.abs(terms.imag)[:, None] - terms.real[:, None] * DIPS).ravel() / (2.0 * np.pi)
    beside = beside[(terms.imag != 0.0).repeat(DIPS.size) & (beside > band[0]) & (beside < band[1])]
    frequencies = np.concatenate(((np.linspace if poles else np.geomspace)(*band, LOOKED_AT), beside))
    with np.errstate(divide="ignore", invalid="ignore"):
        return medium.relative_permeability(frequencies) if magnetic else medium.relative_permittivity(frequencies)
