"""The CPML of each face: what comes to it, what fills it, and the whole profile that follows. `face_profile` decides.

Numbers that are given stay. Of those left out, n are the indices of the media in the layer, f is the lowest frequency;
with an index given the media are not looked at, as if they were vacuum:

| what comes to the face | its media | order, sigma_ratio, kappa_maximum, alpha_order | index | alpha_maximum |
|---|---|---|---|---|
| waves with a cut-off alone, and no number is given | lossless | `GUIDE_END` | lowest n | 0.22 (2 pi f) eps0 |
| waves between walls or periodic faces | lossless | defaults | lowest n | 0 |
| the same | absorbing | defaults | lowest n | 2 (2 pi f) eps0 spread, at most as below |
| waves along conductors in an open box | not vacuum | defaults | lowest n | the same |
| waves of open space | any | defaults | lowest n | 0.08/(eta0 cell n), highest n |

In a medium of index n a wave of the same number of cells has an n-th of the frequency, so that sigma/n and alpha/n do
to it what sigma and alpha do in vacuum. A layer has one profile across the whole face: of several media sigma follows
the lowest index, since too much of it costs little and too little lets waves through to the wall behind, and alpha the
highest. docs/method.md has the figures.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum, auto

import numpy as np

from nearfield.coefficients.coefficients import Coefficients
from nearfield.entry.constants import VACUUM_IMPEDANCE, VACUUM_PERMITTIVITY
from nearfield.grid.boundaries import CPML, DEFAULT_ALPHA, FACES, Boundaries, layer_extent, repeats
from nearfield.grid.yee import AXES
from nearfield.media.materials import Medium

LOOKED_AT = 60  # frequencies of the band at which indices are taken
WIDEST = 50.0  # highest over lowest frequency that is looked at in a band that begins at 0
LOWEST_INDEX = 0.5  # below it (plasmas at their cut-off) sigma would be too strong for waves at other frequencies
GUIDE_END = {"order": 2.75, "sigma_ratio": 2.3, "kappa_maximum": 1.0, "alpha_order": 0.0}  # see docs/method.md, CPML
GUIDE_SHIFT = 0.22  # alpha over 2 pi eps0 (lowest frequency) where guides end
SHIFT = 2.0  # alpha over 2 pi eps0 (lowest frequency) where lines end; 1 to 4 serve lossy media, more passes long waves
VACUUM = {"permittivity": 1.0, "permeability": 1.0, "conductivity": 0.0, "magnetic_conductivity": 0.0}


class Waves(Enum):
    """What comes to a face."""

    CUT_OFF = auto()  # guided waves that all have a cut-off: one conductor, walls among them, and no period about it
    GUIDED = auto()  # others between walls or periodic faces: of lines, plane waves, orders of a grating
    LINE = auto()  # waves along two conductors or more that leave an open box
    OPEN = auto()


@dataclass(frozen=True)
class Filling:
    """What a layer holds: whether something there absorbs waves, and indices of its media over the band."""

    absorbs: bool
    lowest: float
    highest: float
    spread: float  # lowest over highest of the media's own lowest indices; 1 where one medium fills the layer


def layer_media(coefficients: Coefficients) -> dict[tuple[int, str], list[Medium]]:
    """The media in each CPML by its axis and side, see `cells_media`."""
    boundaries = coefficients.boundaries
    layers = [(axis, side) for axis, side in FACES if isinstance(boundaries.face(axis, side), CPML)]
    return {(axis, side): cells_media(coefficients, axis, side) for axis, side in layers}


def suited_layers(
    coefficients: Coefficients, media: dict[tuple[int, str], list[Medium]], band: tuple[float, float]
) -> Boundaries:
    """The boundaries with the profile of each CPML.

    `media`: `layer_media`; `band`: lowest and highest frequency (Hz) of the excitations.
    """
    suited = {
        f"{AXES[axis]}_{side}": face_profile(coefficients, axis, side, found, band)
        for (axis, side), found in media.items()
    }
    return coefficients.boundaries.model_copy(update=suited)


def face_profile(
    coefficients: Coefficients, axis: int, side: str, media: list[Medium], band: tuple[float, float]
) -> CPML:
    """The CPML of a face with the numbers that its user left out; alpha stays None where it is `CPML`'s own."""
    layer = coefficients.boundaries.face(axis, side)
    assert isinstance(layer, CPML)
    filling = filling_of(media, band) if layer.index is None else None
    numbers: dict[str, float] = {} if filling is None else {"index": max(LOWEST_INDEX, filling.lowest)}
    lossless = filling is None or not filling.absorbs
    comes, end = waves_at(coefficients, axis, side, filling), guide_end(lowest_of(band))
    if comes is Waves.CUT_OFF and lossless and end["alpha_maximum"] and is_default(layer, (*end, "index")):
        numbers |= end
    elif layer.alpha_maximum is None and lossless and comes in (Waves.CUT_OFF, Waves.GUIDED):
        numbers["alpha_maximum"] = 0.0
    elif layer.alpha_maximum is None and filling is not None:
        _, thickness = layer_extent(layer, coefficients.grid.lines[axis], side == "low")
        near = DEFAULT_ALPHA * layer.cells / (VACUUM_IMPEDANCE * thickness * max(1.0, filling.highest))
        far = SHIFT * 2.0 * math.pi * lowest_of(band) * VACUUM_PERMITTIVITY * filling.spread
        numbers["alpha_maximum"] = near if comes is Waves.OPEN else min(near, far)
    return layer.model_copy(update=numbers)


def is_default(layer: CPML, names: Iterable[str]) -> bool:
    """Whether numbers of a layer are what they are when left out."""
    return all(getattr(layer, name) == CPML.model_fields[name].default for name in names)


def waves_at(coefficients: Coefficients, axis: int, side: str, filling: Filling | None) -> Waves:
    """What comes to a face; in an open box of vacuum lines' waves count as those of open space."""
    beside = [coefficients.boundaries.face(other, each) for other, each in FACES if other != axis]
    if any(isinstance(face, CPML) for face in beside):
        return Waves.LINE if filling and conductors_through(coefficients, axis, side) > 1 else Waves.OPEN
    closed = not any(map(repeats, beside)) and conductors_through(coefficients, axis, side) == 1
    return Waves.CUT_OFF if closed else Waves.GUIDED


def guide_end(lowest: float) -> dict[str, float]:
    """The profile of a layer at the end of a guide, for a band from a lowest frequency (Hz).

    Of a mode below its cut-off a layer with alpha 0 turns the phase of what the wall behind it sends back, and so gives
    as well as takes power. With alpha the same through the layer, s has a real part in proportion to its imaginary one,
    which weakens the wave before its phase has turned by pi.
    """
    return GUIDE_END | {"alpha_maximum": GUIDE_SHIFT * 2.0 * math.pi * lowest * VACUUM_PERMITTIVITY}


def cells_media(coefficients: Coefficients, axis: int, side: str) -> list[Medium]:
    """The media in the cells next to a layer, outside all layers, as waves into it see them; it continues them."""
    cells = [np.arange(low, high) for low, high in coefficients.boundaries.interior(coefficients.grid)]
    cells[axis] = cells[axis][:1] if side == "low" else cells[axis][-1:]
    return [wave for medium in coefficients.media_in(*cells) for wave in medium._waves(axis)]


def filling_of(media: list[Medium], band: tuple[float, float]) -> Filling | None:
    """What media are to waves of a band (Hz); None of vacuum, and of media that keep all waves out."""
    indices = [index for index in (wave_indices(medium, band) for medium in media) if index.size]
    if not indices or all(is_vacuum(medium) for medium in media):
        return None
    lowest, highest = [float(index.min()) for index in indices], max(float(index.max()) for index in indices)
    absorbing = any(m.dispersive or m.conductivity or m.magnetic_conductivity for m in media)
    return Filling(absorbing, min(lowest), highest, min(lowest) / max(lowest))


def lowest_of(band: tuple[float, float]) -> float:
    """The lowest frequency (Hz) that counts of a band, which may begin at 0."""
    return max(band[0], band[1] / WIDEST)


def looked_at(band: tuple[float, float]) -> np.ndarray:
    """Frequencies (Hz) of a band at which media are judged."""
    return np.geomspace(lowest_of(band), band[1], LOOKED_AT)


def travels(index: np.ndarray) -> np.ndarray:
    """Where a medium of these complex indices carries waves and does not only keep them out."""
    return np.abs(index.real) > 0.5 * np.abs(index.imag)


def wave_indices(medium: Medium, band: tuple[float, float]) -> np.ndarray:
    """Real parts of a medium's refractive index over the band, where it carries waves."""
    if not band[1] > 0.0:
        return np.array([medium.index])
    frequencies = looked_at(band)
    index = np.sqrt(medium.relative_permittivity(frequencies) * medium.relative_permeability(frequencies))
    return np.abs(index.real)[travels(index)]


def is_vacuum(medium: Medium) -> bool:
    """Whether a medium is nothing at all."""
    return not medium.dispersive and all(getattr(medium, name) == value for name, value in VACUUM.items())


def conductors_through(coefficients: Coefficients, axis: int, side: str) -> int:
    """Number of conductors, walls among them, that run into a layer apart from each other: two make a line."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    low, high = coefficients.boundaries.interior(coefficients.grid)[axis]
    nodes = [count + 1 for count in coefficients.grid.cells]
    nodes[axis] = 1
    number = np.arange(math.prod(nodes)).reshape(nodes)

    def metal(component: int, plane: int) -> np.ndarray:
        places = np.indices([count - (component == each != axis) for each, count in enumerate(nodes)])
        places[axis] = plane
        return coefficients.is_metal(component, *places.reshape(3, -1)).reshape(places.shape[1:])

    through = metal(axis, low if side == "low" else high - 1)
    pairs = []
    for across in range(3):
        if across != axis:  # points that an edge of metal joins
            joined = metal(across, low if side == "low" else high)
            pairs.append([np.take(number, range(m, m + joined.shape[across]), across)[joined] for m in (0, 1)])
    first, second = np.concatenate(pairs, axis=1)
    links = coo_array((np.ones(first.size), (first, second)), shape=(number.size, number.size))
    return np.unique(connected_components(links, directed=False)[1][through.ravel()]).size
