"""Cells against wavelengths, media and structures: resolution in every medium, and warnings about it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nearfield.bodies.geometry import FilledShape, labelled
from nearfield.bodies.shapes import Solid
from nearfield.entry.constants import VACUUM_SPEED
from nearfield.entry.wording import quantity
from nearfield.grid.boundaries import CPML
from nearfield.grid.images import images
from nearfield.grid.yee import AXES, SIDES, YeeGrid
from nearfield.media.materials import Medium
from nearfield.media.surface_media import Conductor, ResistiveSheet
from nearfield.metal.patches import is_grain
from nearfield.plan.sizes import phase_error_per_wavelength

if TYPE_CHECKING:
    from nearfield.discretization.discretization import Discretization
    from nearfield.discretization.model import Model

FEW_CELLS = 10.0  # per wavelength; about 4.5 degrees of phase error in every wavelength
USUAL_CELLS = 20.0  # per wavelength
MANY_CELLS = 5000.0  # per wavelength, in the largest cell; structures of a 100th of a wavelength have less
SLIPS = {
    1e3: ("thousand", "with kHz taken for Hz, lengths in mm converted twice, or c = 3e5 (km/s) in a wavelength"),
    1e6: ("million", "with MHz taken for Hz, lengths in um converted twice, or c = 300 (m/us) in a wavelength"),
    1e9: ("billion", "with GHz taken for Hz, lengths in nm converted twice, or c = 0.3 (m/ns) in a wavelength"),
}
SLIP_WIDTH = 30.0  # factor about each of them
SKIN_CELLS = 3.0, 1.0  # per skin depth: 3 keep the loss of a half space to some 5 %
CONDUCTS = 0.5  # imaginary over real part of the index from which a depth, not a wavelength, must be resolved
LARGEST_RATIO = 1.5  # between neighbouring cells
FROM_FILES = ("mesh", "layout", "voxels")  # shapes whose unit may be mistaken
HUGE = 10  # extents of the grid


@dataclass(frozen=True)
class MediumCheck:
    """Resolution of the waves in one medium, at the highest excited frequency."""

    name: str
    refractive_index: float  # abs(n), `Medium.index_at`
    largest_cell: float  # m
    cells_per_wavelength: float
    phase_error: float  # degrees per wavelength, along an axis


def rounded(value: float, digits: int) -> str:
    """A number to so many digits, without an exponent below a million: `100`, where `.2g` gives `1e+02`."""
    return f"{float(f'{value:.{digits}g}'):.6g}"


def slip(factor: float) -> str:
    """The likely slip of units behind a factor (above 1) by which waves are too long or too short for the cells.

    The nearest of a thousand, a million and a billion, where the factor is within 30 of it.
    """
    found = min(SLIPS, key=lambda each: abs(math.log(factor / each)))
    near = 1.0 / SLIP_WIDTH < factor / found < SLIP_WIDTH
    return f"some {SLIPS[found][0]} times, as {SLIPS[found][1]}" if near else f"some {factor:.1g} times"


def fine_media(media: Iterable[MediumCheck], frequency: float) -> Iterator[str]:
    """A warning about a grid with far more cells per wavelength than any accuracy needs, in every medium."""
    finest = min((medium for medium in media), key=lambda medium: medium.cells_per_wavelength, default=None)
    if finest is not None and MANY_CELLS < finest.cells_per_wavelength < math.inf:
        yield (
            f"{finest.cells_per_wavelength:.3g} cells per wavelength in {finest.name} at the highest frequency, "
            f"{quantity(frequency, 'Hz')}; 20 are usual, and time steps are as small as cells: the frequency is too "
            f"low or lengths are too small, by {slip(finest.cells_per_wavelength / USUAL_CELLS)}"
        )


def coarse_media(media: Iterable[MediumCheck]) -> Iterator[str]:
    """Warnings about media with few cells per wavelength."""
    for medium in media:
        if medium.cells_per_wavelength < FEW_CELLS:
            yield (
                f"{medium.cells_per_wavelength:.3g} cells per wavelength in {medium.name} at the highest frequency: "
                f"waves lag by {rounded(medium.phase_error, 2)} degrees in every wavelength; 20 cells are usual"
            )


def coarse_skins(cells: Mapping[str, float]) -> Iterator[str]:
    """Warnings about media that conduct well, whose skin depth is below a cell."""
    for name, count in cells.items():
        if count < SKIN_CELLS[1]:
            yield (
                f"{count:.2g} cells per skin depth in {name} at the highest frequency: what it reflects and absorbs is "
                "that of another medium (with 0.2 cells a half space took 6 % of a wave's power for 2.6). Make cells "
                "finer there, or give it as a Conductor, whose surface is known"
            )


def steep_grading(grid: YeeGrid) -> Iterator[str]:
    """A warning about neighbouring cells of very different size."""
    ratio, axis, at = largest_ratio(grid)
    if ratio > LARGEST_RATIO * (1 + 1e-6):
        yield (
            f"neighbouring cells differ by a factor of {ratio:.3g} at {AXES[axis]}={at:.6g} m; above {LARGEST_RATIO:g} "
            "the grid itself reflects. Grade it more gently"
        )


def lost_bodies(bodies: Iterable[FilledShape], grid: YeeGrid) -> Iterator[str]:
    """Warnings about structures outside the grid, smaller than a cell, or read in a wrong unit."""
    for body in bodies:
        lower, upper = body.shape.bounds()
        if not grid.reached_by(lower, upper):
            yield f"{body.label} lies outside the grid, {grid.extent_text()}, and has no effect; move it or remove it"
            continue
        size = [high - low for low, high in zip(lower, upper)]
        text = f"{body.label}, {' x '.join(quantity(part, 'm') for part in size)},"
        if is_grain(grid, lower, upper):
            yield f"{text} is smaller than a cell and may have no effect; make the cells there finer, or check its unit"
        elif body.shape.kind in FROM_FILES and any(
            part > HUGE * (line[-1] - line[0]) for part, line in zip(size, grid.lines)
        ):
            yield f"{text} is more than {HUGE} times as large as the grid, {grid.extent_text()}; check its unit"


def largest_ratio(grid: YeeGrid) -> tuple[float, int, float]:
    """Largest ratio of two neighbouring cells, over periodic faces too, its axis, and where they meet (m)."""
    found = [(1.0, 0, float(grid.lines[0][0]))]
    for axis, line in enumerate(grid.lines):
        length = grid.primary(axis)
        after = np.append(length[1:], length[0] if grid.closed(axis) else length[-1])
        ratio = np.maximum(after / length, length / after)
        found += [(float(value), axis, float(place)) for value, place in zip(ratio, line[1:])]
    return max(found, key=lambda each: each[0])


def media_in_use(model: Model) -> list[tuple[str, Medium]]:
    """Every medium that may fill some space, metal apart, with its name in messages, which several may share."""
    named = [(body.medium_name, body.medium) for body in model._bodies if isinstance(body.medium, Medium)]
    found = {(name, id(medium)): (name, medium) for name, medium in named}  # hashes of media take long: once each
    return list(dict.fromkeys([_background(model), *found.values()]))


def _background(model: Model) -> tuple[str, Medium]:
    return model.background.name or "background", model.background


def cells_in_media(model: Model, grid: YeeGrid, index: Callable[[Medium], float]) -> Iterator[tuple[str, float, float]]:
    """(name, largest cell (m), `index`) of each medium where it may be: in the boxes about its structures.

    The background may be anywhere. A structure outside the grid counts for nothing.
    """
    largest = {_background(model): max(float(grid.primary(axis).max()) for axis in wave_axes(grid))}
    for body in model._bodies:
        if isinstance(body.medium, Medium):
            named = body.medium_name, body.medium
            largest[named] = max(largest.get(named, 0.0), largest_cell_in(body.shape, grid))
    return ((name, cell, index(medium)) for (name, medium), cell in largest.items() if cell > 0.0)


def wave_axes(grid: YeeGrid) -> list[int]:
    """The axes along which waves can travel: a slice one cell thick carries none across it."""
    return [axis for axis in range(3) if grid.cells[axis] > 1] or [0, 1, 2]


def largest_cell_between(
    grid: YeeGrid, lower: tuple[float, ...], upper: tuple[float, ...], axes: Sequence[int] | None = None
) -> float:
    """Length (m) of the longest cell along waves, or some axes, in a box; 0 where the box lies outside the grid."""
    inside = [(line[1:] > low) & (line[:-1] < high) for line, low, high in zip(grid.lines, lower, upper)]
    if not all(cells.any() for cells in inside):
        return 0.0
    return max(float(grid.primary(axis)[inside[axis]].max()) for axis in axes or wave_axes(grid))


def largest_cell_in(shape: Solid, grid: YeeGrid, axes: Sequence[int] | None = None) -> float:
    """`largest_cell_between` the ends of a body and of its copies over periodic faces."""
    return max(largest_cell_between(grid, *image.bounds(), axes) for image in images(shape, grid))


def skin_cells(setup: Discretization) -> dict[str, float]:
    """Cells per skin depth at the highest frequency of each medium that conducts well there, across its surfaces.

    A body thinner than that depth has no skin.
    """
    frequency, model, grid = setup.band_edge, setup.simulation, setup.grid
    if not frequency > 0:
        return {}
    everywhere = [(line[0], line[-1]) for line in grid.lines]
    depths = {named: _skin_depth(named[1], frequency) for named in media_in_use(model)}
    places = [(*_background(model), everywhere)]
    for body in model._bodies:
        if isinstance(body.medium, Medium):
            ends_of = ([*zip(*image.bounds())] for image in images(body.shape, grid))
            places += [(body.medium_name, body.medium, ends) for ends in ends_of]
    found: dict[str, float] = {}
    for name, medium, ends in places:
        depth = depths[name, medium]
        axes = [a for a in wave_axes(grid) if ends[a][0] > grid.lines[a][0] or ends[a][1] < grid.lines[a][-1]]
        if depth < min((high - low for low, high in ends), default=0.0):
            lower, upper = zip(*ends)
            cell = largest_cell_between(grid, lower, upper, axes)
            if cell > 0.0:
                found[name] = min(depth / cell, found.get(name, math.inf))
    return found


def _skin_depth(medium: Medium, frequency: float) -> float:
    """Metres in which waves of a frequency (Hz) fall to 1/e in a medium; infinite where they get through."""
    depth = math.inf
    for wave in medium._waves() if medium.anisotropic else (medium,):
        square = np.ravel(wave.relative_permittivity(frequency) * wave.relative_permeability(frequency))[0]
        index = np.sqrt(complex(square))
        if abs(index.imag) > CONDUCTS * abs(index.real):
            depth = min(depth, VACUUM_SPEED / (2.0 * math.pi * frequency * abs(index.imag)))
    return depth


def resolved_media(setup: Discretization) -> tuple[MediumCheck, ...]:
    """Resolution in every medium."""
    frequency, low, found = setup.band_edge, setup.band[0], []
    for name, cell, index in cells_in_media(setup.simulation, setup.grid, lambda each: each.index_at(frequency, low)):
        speed = VACUUM_SPEED / index
        per_wavelength = speed / (frequency * cell) if frequency > 0 else math.inf
        error = phase_error_per_wavelength(cell, setup.time_step, frequency, speed)
        found.append(MediumCheck(name, index, cell, per_wavelength, error))
    return tuple(found)


def phase_across(grid: YeeGrid, media: Iterable[MediumCheck], frequency: float) -> float:
    """Phase error (degrees) at a frequency (Hz) along the grid's longest side, in the medium where it is worst."""
    waves = max(float(line[-1] - line[0]) for line in grid.lines) * frequency / VACUUM_SPEED  # wavelengths in vacuum
    return (
        max((medium.phase_error * waves * medium.refractive_index for medium in media), default=0.0) if waves else 0.0
    )


def lossless(model: Model) -> bool:
    """Whether nothing but ports takes energy: metal or periodic walls, media without loss, no resistors."""
    return not has_cpml(model) and not takers_inside(model)


def has_cpml(model: Model) -> bool:
    """Whether waves can leave through a CPML."""
    return any(isinstance(model.boundaries.face(axis, side), CPML) for axis in range(3) for side in SIDES)


def takers_inside(model: Model) -> list[str]:
    """Names of what turns energy into heat: bodies, background, walls and elements."""
    found = [body.label for body in model._bodies if _takes_energy(body.medium)]
    found += ["the background"] if _takes_energy(model.background) else []
    walls = model.boundaries
    found += ["the walls"] if walls.walls_of_metal and _takes_energy(walls.conductor) else []
    return found + [labelled(each, "element", n) for n, each in enumerate(model.elements) if each.resistance]


def _takes_energy(medium: object) -> bool:
    if isinstance(medium, Medium):
        return bool(medium.conductivity or medium.magnetic_conductivity or medium.dispersive)
    return isinstance(medium, ResistiveSheet | Conductor)
