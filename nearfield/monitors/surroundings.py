"""The medium about a far-field surface, by what most of its samples lie in."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable

import numpy as np

from nearfield.analysis.farfield import Exterior, Wall
from nearfield.entry.errors import ModelError
from nearfield.lowering.context import Context
from nearfield.media.materials import Medium, along_axes
from nearfield.monitors.surfaces import FacePlace

LOSSLESS = 1e-9  # s = sigma dt/(2 eps) below this counts as rounding
SOME = 8  # samples along each side of a face from which the medium is judged
ALIKE = 1e-6  # relative difference of constants of one medium
PLACES = 24  # along each side of a face at which other matter is looked for
DIGITS = 6  # decimals to which constants of one medium are equal


def surrounding(context: Context, places: list[FacePlace], walls: tuple[Wall, ...]) -> Exterior:
    """The medium that most of the surface lies in, from the update coefficients of its samples.

    With s = (1 - Ca)/(1 + Ca): eps_r = 1/(Cb (1 + s)), and likewise mu_r. A board that runs through a side of the
    surface is a minority there, and counts as the rest does. Errors: `ModelError` where most of the surface is lossy or
    anisotropic.
    """

    def find() -> Exterior:
        found = [_median_constants(context, places, parts) for parts in ((0, 1), (2, 3))]  # E samples, H samples
        if max(loss for _, loss in found) > LOSSLESS:
            raise ModelError(
                "the far-field surface lies in a lossy medium, in which nothing reaches the far field; let a lossless "
                "medium surround it (the background is one unless it was given a conductivity), or use a Flux monitor"
            )
        _refuse_anisotropic(context, *(value for value, _ in found))
        return Exterior(found[0][0], found[1][0], walls)

    return context.once(("surrounding", tuple(places), walls), find)


def foreign_share(context: Context, places: list[FacePlace]) -> float:
    """The part of a surface's area, metal apart, that lies in other matter than the largest part of it."""

    def find() -> float:
        shares = [0.0]
        for number in (0, 2):  # E and H along the faces: permittivity and permeability
            areas: dict[float, float] = defaultdict(float)
            for place in places:
                sides = [float(line[b] - line[a]) for line, a, b in zip(context.grid.lines, place.first, place.last)]
                area = float(np.prod([side for axis, side in enumerate(sides) if axis != place.axis]))
                for value in _along_face(context, place, place.components[number]):
                    areas[round(float(value), DIGITS)] += area
            shares += [1.0 - max(areas.values()) / sum(areas.values())] if areas else []
        return max(shares)

    return context.once(("foreign", tuple(places)), find)


def _along_face(context: Context, place: FacePlace, component: int) -> np.ndarray:
    """Relative constants of a component outside metal at places on a face that are spread evenly over its area."""
    region, spans = place.region(context.grid, component), []
    for axis, line in enumerate(context.grid.component_axes(component)):
        low, high = region.lower[axis], region.upper[axis] - 1
        near = np.searchsorted(line, np.linspace(line[low], line[high], PLACES))
        spans.append([low] if axis == place.axis else np.clip(near, low, high))
    index = [axis.ravel() for axis in np.meshgrid(*spans, indexing="ij")]
    keep, drive = context.coefficients.media_at(component, *index)
    alive = (drive != 0.0) & ~context.coefficients.is_metal(component, *index)
    return _constants(keep[alive], drive[alive])[0]


def _constants(keep: np.ndarray, drive: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(relative constants, losses s) of coefficients that are not 0."""
    keep, drive = np.asarray(keep, dtype=float), np.asarray(drive, dtype=float)
    loss = (1 - keep) / (1 + keep)
    return 1 / (drive * (1 + loss)), loss


def _refuse_anisotropic(context: Context, permittivity: float, permeability: float) -> None:
    """Refuse an anisotropic medium with one of the constants that most of the surface has, unless another has both."""
    media = [medium for _, medium, _ in context.coefficients.fillings() if isinstance(medium, Medium)]
    wanted = permittivity, permeability

    def near(medium: Medium, each: Callable[[Iterable[bool]], bool]) -> bool:
        along = along_axes(medium.permittivity), along_axes(medium.permeability)
        return all(each(abs(a - b) <= ALIKE * b for a in own) for own, b in zip(along, wanted))

    if any(near(medium, all) for medium in media):
        return
    for medium in media:
        if medium.anisotropic and near(medium, any):
            raise ModelError(
                f"the far-field surface lies in the anisotropic medium {medium.label()}, and far fields are those of "
                "an isotropic one; let such a medium surround the surface, or use a Flux monitor"
            )


def _median_constants(context: Context, places: list[FacePlace], parts: tuple[int, int]) -> tuple[float, float]:
    """(relative constant, loss s) of the middle sample."""
    constants, losses = [], []
    for place in places:
        for number in parts:
            region = place.region(context.grid, place.components[number])
            some = [np.unique(np.linspace(a, b - 1, SOME).astype(int)) for a, b in zip(region.lower, region.upper)]
            index = [axis.ravel() for axis in np.meshgrid(*some, indexing="ij")]
            keep, drive = context.coefficients.at(region.component, *index)
            alive = drive != 0.0
            found, loss = _constants(keep[alive], drive[alive])
            constants.append(found)
            losses.append(loss)
    values = np.concatenate(constants)
    return (round(float(np.median(values)), 9), float(np.median(np.concatenate(losses)))) if values.size else (1.0, 0.0)
