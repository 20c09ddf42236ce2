"""Media whose permittivity or permeability is below zero in the pulse's band, with surfaces that have no mean.

Of media of opposite sign the mean across a face, 1/<1/eps>, has other poles than theirs. E across a face lies in the
middles of cells, so that faces on grid lines need no mean; H across one lies on grid lines, and there it is those in
the middles of cells that need none.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nearfield.bodies.outlines import straight_sides
from nearfield.discretization.cpml import looked_at
from nearfield.discretization.resolution import largest_cell_in, wave_axes
from nearfield.grid.yee import AXES
from nearfield.media.materials import NAMES, Medium

if TYPE_CHECKING:
    from nearfield.bodies.geometry import FilledShape
    from nearfield.bodies.shapes import Solid
    from nearfield.discretization.discretization import Discretization

CURVED = 0.5  # cells by which a surface that follows no grid lines lies off them at worst
OFF = 0.05  # cells from which a flat face is named
RINGS = -8.0, -1.0  # Re eps_r over that of the background at which round bodies resonate, large and small ones
LOSSLESS = 5.0  # abs(Re eps_r) over its loss, from which they ring so sharply that a cell's error spoils them
RADIUS = 30.0  # cells across half the body, up to which they are then called bad
HALVES = {False: "permittivity", True: "permeability"}  # by whether it is the magnetic one
FLAT = {
    False: "slabs so reflected 7 % less. Put flat faces on grid lines",
    True: "a film of 5 cells so reflected 0.37 to 0.57 at 35 degrees for 0.54, with its faces on grid lines 0.57. "
    "Put flat faces in the middles of cells",
}
ROUND = {
    False: "spheres of 10 cells a radius absorbed 1 to 1.6 times what they should (gold), and with little loss "
    "where they ring (silver, eps_r about -6) 3.5 times, of 16 cells 2.3, of 24 1.9 and of 40 1.5 times; those of 10 "
    "cells scattered 0.6 to 1.5 times what they should",
    True: "spheres of little loss absorbed up to 2.7 times what they should at 10 cells a radius where they ring "
    "(mu_r about -6), 2.3 times at 15 and 1.7 times at 24; those of 10 cells scattered 0.5 to 1.3 times what they "
    "should",
}
FINER = ". Take finer cells at them, and `nearfield converge` to see what is left"


class Rough(NamedTuple):
    """A body with a surface of such a medium."""

    body: FilledShape
    off: float  # cells by which its worst surface lies off the places that need no mean
    where: str
    curved: bool  # whether it has others than flat faces across the axes
    rings: bool  # and resonates in the band with little loss, and has few cells


def rough_surfaces(setup: Discretization, magnetic: bool) -> list[Rough]:
    """Bodies of media of negative permittivity (or permeability), or in such a background."""
    model, found = setup.simulation, []
    around = _negative(setup, model.background, magnetic)
    for body in model._bodies:
        if isinstance(body.medium, Medium) and (around or _negative(setup, body.medium, magnetic)):
            worst = max(_off(setup, body, magnetic), default=None)
            if worst is not None:
                curved = _faces(body.shape) is None
                found.append(Rough(body, *worst, curved, curved and _rings(setup, body, magnetic)))
    return found


def worst_of(found: list[Rough]) -> Rough:
    """The one to name: one that rings, if any does."""
    return max(found, key=lambda each: (each.rings, each.off))


def negative_media_cautions(setup: Discretization) -> Iterator[str]:
    """A warning for each half that names the body whose surface is worst."""
    for magnetic, half in HALVES.items():
        found = [each for each in rough_surfaces(setup, magnetic) if each.off > OFF]
        if found:
            worst = worst_of(found)
            cost = ROUND[magnetic] + FINER if worst.curved else FLAT[magnetic]
            yield (
                f"{worst.body.label}: {worst.body.medium_name} or what is around it has a {half} below 0 within the "
                f"pulse's band, and {worst.where}, where no mean of media holds: {cost}"
            )


def _over_band(setup: Discretization, medium: Medium, magnetic: bool) -> np.ndarray:
    """eps_r, or mu_r, along x, y and z over the band, (axis, frequency)."""
    seen = [medium.along(axis) for axis in NAMES]
    band = looked_at(setup.band)
    return np.array([m.relative_permeability(band) if magnetic else m.relative_permittivity(band) for m in seen])


def _negative(setup: Discretization, medium: Medium, magnetic: bool) -> bool:
    """Whether its real part is 0 or below somewhere in the band, along x, y or z."""
    if not medium._poles(magnetic) or not setup.band[1] > 0.0:
        return False
    return bool(_over_band(setup, medium, magnetic).real.min() <= 0.0)


def _rings(setup: Discretization, body: FilledShape, magnetic: bool) -> bool:
    """Whether a body has resonances of little loss in the band, and too few cells for them."""
    assert isinstance(body.medium, Medium)
    lower, upper = body.shape.bounds()
    axes = wave_axes(setup.grid)
    half = 0.5 * min(upper[axis] - lower[axis] for axis in axes)
    if half > RADIUS * largest_cell_in(body.shape, setup.grid, axes):
        return False
    ratio = _over_band(setup, body.medium, magnetic) / _over_band(setup, setup.simulation.background, magnetic)
    sharp = np.abs(ratio.real) > LOSSLESS * np.abs(ratio.imag)
    return bool((sharp & (ratio.real >= RINGS[0]) & (ratio.real <= RINGS[1])).any())


def _off(setup: Discretization, body: FilledShape, magnetic: bool) -> Iterator[tuple[float, str]]:
    """(cells, words) of each face of a body within the grid, or of what is no face along the axes."""
    grid = setup.grid
    if not grid.reached_by(*body.shape.bounds()):
        return
    faces = _faces(body.shape)
    if faces is None:
        yield CURVED, "its surface is curved or slants"
        return
    right = "the middle of a cell" if magnetic else "the grid's lines"
    for axis, place in faces:
        line = grid.lines[axis]
        if line[0] < place < line[-1]:
            number = int(np.searchsorted(line, place)) - 1
            near = grid.centres(axis)[number] if magnetic else grid.nearest_line(axis, place)[1]
            off = abs(place - float(near)) / float(grid.primary(axis)[number])
            yield off, f"its face at {AXES[axis]}={place:.6g} m lies {off:.2g} cells off {right}"


def _faces(shape: Solid) -> list[tuple[int, float]] | None:
    """(axis, coordinate (m)) of all faces of a body that has none but those across the axes; None of others."""
    if shape._blocks:
        return [(axis, place) for axis in range(3) for place in shape._faces(axis)]
    for normal in range(3):
        sides = straight_sides(shape, normal) if shape._constant_along(normal) else None
        if sides is not None and np.abs(sides[1] - sides[0]).min(axis=1).max(initial=0.0) == 0.0:
            return [(axis, place) for axis in range(3) for place in (*shape._faces(axis), *shape._levels(axis))]
    return None
