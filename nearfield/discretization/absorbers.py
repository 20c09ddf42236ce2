"""The numbers of each CPML that suit the media in it: sigma, alpha and the refractive index they are scaled for.

In a medium of index n a wave of the same number of cells has an n-th of the frequency, so that sigma/n and alpha/n do
to it what sigma and alpha do in vacuum. A layer has one profile across the whole face: of several media sigma follows
the lowest index, since too much of it costs little and too little lets waves through to the wall behind, and alpha the
highest. docs/method.md has the figures.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from nearfield.coefficients.coefficients import Coefficients
from nearfield.entry.constants import VACUUM_IMPEDANCE, VACUUM_PERMITTIVITY
from nearfield.grid.boundaries import CPML, DEFAULT_ALPHA, FACES, Boundaries, layer_extent
from nearfield.grid.yee import AXES
from nearfield.media.materials import Medium

LOOKED_AT = 60  # frequencies of the band at which indices are taken
WIDEST = 50.0  # highest over lowest frequency that is looked at in a band that begins at 0
LOWEST_INDEX = 0.5  # below it (plasmas at their cut-off) sigma would be too strong for waves at other frequencies
GUIDE_END = {"order": 2.75, "sigma_ratio": 2.3, "kappa_maximum": 1.0, "alpha_order": 0.0}  # see docs/method.md, CPML
GUIDE_SHIFT = 0.22  # alpha over 2 pi eps0 (lowest frequency) where guides end
SHIFT = 2.0  # alpha over 2 pi eps0 (lowest frequency) where lines end; 1 to 4 serve lossy media, more passes long waves
VACUUM = {"permittivity": 1.0, "permeability": 1.0, "conductivity": 0.0, "magnetic_conductivity": 0.0}


@dataclass(frozen=True)
class Filling:
    """What a layer holds: whether something there absorbs waves, and indices of its media over the band."""

    absorbs: bool
    lowest: float
    highest: float
    spread: float  # lowest over highest of the media's own lowest indices; 1 where one medium fills the layer


def layer_media(boundaries: Boundaries, coefficients: Coefficients) -> dict[tuple[int, str], list[Medium]]:
    """The media in each CPML by its axis and side, see `cells_media`."""
    return {
        (axis, side): cells_media(boundaries, coefficients, axis, side)
        for axis, side in FACES
        if isinstance(boundaries.face(axis, side), CPML)
    }


def suited_layers(
    boundaries: Boundaries,
    coefficients: Coefficients,
    media: dict[tuple[int, str], list[Medium]],
    band: tuple[float, float],
) -> Boundaries:
    """The boundaries with an index and alpha for each CPML with media in it, where they are not given.

    `media`: `layer_media`; `band`: lowest and highest frequency (Hz) of the excitations.
    """
    suited: dict[str, CPML] = {}
    for axis, side in FACES:
        layer = boundaries.face(axis, side)
        if isinstance(layer, CPML) and layer.index is None:
            numbers = suited_numbers(layer, coefficients, axis, side, filling_of(media[axis, side], band), band)
            if numbers:
                suited[f"{AXES[axis]}_{side}"] = layer.model_copy(update=numbers)
    return boundaries.model_copy(update=suited) if suited else boundaries


def suited_numbers(
    layer: CPML, coefficients: Coefficients, axis: int, side: str, filling: Filling | None, band: tuple[float, float]
) -> dict[str, float]:
    """What a layer takes in place of its defaults; a profile of which the user gave a number stays as it is."""
    numbers: dict[str, float] = {} if filling is None else {"index": max(LOWEST_INDEX, filling.lowest)}
    suited = guide_end(lowest_of(band))
    own = any(getattr(layer, name) != CPML.model_fields[name].default for name in suited)
    lossless = filling is None or not filling.absorbs
    if not own and lossless and suited["alpha_maximum"] and ends_guide(coefficients, axis, side):
        return numbers | suited
    if filling is not None and layer.alpha_maximum is None:
        numbers["alpha_maximum"] = suited_alpha(layer, coefficients, axis, side, filling, band)
    return numbers


def guide_end(lowest: float) -> dict[str, float]:
    """The profile of a layer at the end of a guide, for a band from a lowest frequency (Hz).

    Of a mode below its cut-off a layer with alpha 0 turns the phase of what the wall behind it sends back, and so gives
    as well as takes power. With alpha the same through the layer, s has a real part in proportion to its imaginary one,
    which weakens the wave before its phase has turned by pi.
    """
    return GUIDE_END | {"alpha_maximum": GUIDE_SHIFT * 2.0 * math.pi * lowest * VACUUM_PERMITTIVITY}


def ends_guide(coefficients: Coefficients, axis: int, side: str) -> bool:
    """Whether every wave that comes to a layer has a cut-off: it is closed in, by one conductor and by no period."""
    boundaries = coefficients.boundaries
    closed = boundaries.guided(axis) and not any(boundaries.repeat(other) for other in range(3) if other != axis)
    return closed and conductors_through(coefficients, axis, side) == 1


def cells_media(boundaries: Boundaries, coefficients: Coefficients, axis: int, side: str) -> list[Medium]:
    """The media in the cells next to a layer, outside all layers, as waves into it see them; it continues them."""
    cells = [np.arange(low, high) for low, high in boundaries.interior(coefficients.grid)]
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


def suited_alpha(
    layer: CPML, coefficients: Coefficients, axis: int, side: str, filling: Filling, band: tuple[float, float]
) -> float:
    """alpha (S/m) at a layer's inner face: for near fields in open space, less where waves come along a line."""
    boundaries, line = coefficients.boundaries, coefficients.grid.lines[axis]
    _, thickness = layer_extent(layer, line, side == "low")
    alpha = DEFAULT_ALPHA * layer.cells / (VACUUM_IMPEDANCE * thickness * max(1.0, filling.highest))
    guided = boundaries.guided(axis)
    if guided and not filling.absorbs:
        return 0.0
    if not guided and conductors_through(coefficients, axis, side) < 2:
        return alpha
    return min(alpha, SHIFT * 2.0 * math.pi * lowest_of(band) * VACUUM_PERMITTIVITY * filling.spread)


def lowest_of(band: tuple[float, float]) -> float:
    """The lowest frequency (Hz) that counts of a band, which may begin at 0."""
    return max(band[0], band[1] / WIDEST)


def travels(index: np.ndarray) -> np.ndarray:
    """Where a medium of these complex indices carries waves and does not only keep them out."""
    return np.abs(index.real) > 0.5 * np.abs(index.imag)


def wave_indices(medium: Medium, band: tuple[float, float]) -> np.ndarray:
    """Real parts of a medium's refractive index over the band, where it carries waves."""
    if not band[1] > 0.0:
        return np.array([medium.index])
    frequencies = np.geomspace(lowest_of(band), band[1], LOOKED_AT)
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
