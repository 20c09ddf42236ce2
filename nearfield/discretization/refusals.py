"""Refusals before a run: each function checks one thing and says what is given, what is allowed, why, and what to do.

`refuse_entries` needs the entries alone, `refuse_on_grid` the grid and the time step, `refuse_in_metal` the
coefficients; `Discretization` calls each of the three once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.bodies.geometry import FilledShape, labelled
from nearfield.coefficients.stability import lowest_index, refuse_active
from nearfield.discretization.metal_choice import MetalChoice, named
from nearfield.discretization.resolution import USUAL_CELLS, cells_in_media, media_in_use
from nearfield.entry.constants import VACUUM_SPEED
from nearfield.entry.errors import ModelError
from nearfield.grid.meshing import corners_of
from nearfield.grid.yee import AXES, SAMPLE_TOLERANCE, YeeGrid, is_half
from nearfield.lowering.context import Site
from nearfield.media.materials import written
from nearfield.sources.edges import Edges
from nearfield.sources.sources import SOURCES

if TYPE_CHECKING:
    from nearfield.coefficients.coefficients import Coefficients
    from nearfield.discretization.model import Model

MOST_EXTENTS = 1e4  # longest sides of the grid that a body may reach beyond it; curved or slanted ones are refused
FEWEST_CELLS_PER_WAVELENGTH = 3.0
ROUNDING = 1e-12  # relative; a time step given as the limit itself is no excess
FEATURES = ("source", "port", "element", "monitor")
CIRCUITS = ("port", "element")
IMAGED = ("point-current", "magnetic-point-current", "line-current", "current-sheet", "lumped-element")  # may be drawn


def features(model: Model, kinds: Sequence[str] = FEATURES) -> Iterator[tuple[str, Any]]:
    """Sources, ports, elements and monitors, each with its name for messages."""
    for kind in kinds:
        for number, entry in enumerate(getattr(model, f"{kind}s")):
            yield labelled(entry, kind, number), entry


def edges_of(entry: Any, site: Site) -> list[Edges]:
    """The samples (component, i, j, k) that a source, port or element acts on."""
    return entry._edges(site) if hasattr(entry, "_edges") else []


def feature_edges(
    model: Model, site: Site, kinds: Sequence[str] = FEATURES
) -> Iterator[tuple[str, int, list[np.ndarray]]]:
    """(name, component, (i, j, k)) of the samples that features act on."""
    for who, entry in features(model, kinds):
        for component, *index in edges_of(entry, site):
            yield who, component, index


def refuse_entries(model: Model) -> None:
    """Refuse what is wrong whatever the grid: names used twice, media undefined or in the wrong shape."""
    names = Counter(entry.name for entry in (*model._channels, *model.monitors))
    twice = [name for name, count in names.items() if count > 1]
    if twice:
        raise ModelError(
            f"name {twice[0]!r} is used by more than one port or monitor; each needs a name of its own, because "
            "results are found by it. Rename all but one"
        )
    if any(port.name == SOURCES for port in model.ports):
        raise ModelError("port name 'sources' is taken: it names the excitation by all sources. Rename the port")
    _ = model._bodies
    uneven = next((name for name, medium in media_in_use(model) if medium.anisotropic), None)
    if model.averaging == "tensor" and uneven is not None:
        raise ModelError(
            f'averaging="tensor" couples the components of media that are alike along all axes, and medium {uneven} is '
            'not; leave averaging at "diagonal", which is exact at faces along the axes'
        )


def refuse_on_grid(model: Model, site: Site, metal: MetalChoice, limit: float, band: tuple[float, float]) -> None:
    """Refuse what needs the grid but no coefficients; `limit` (s) of the time step, excited `band` (Hz)."""
    for name, medium in media_in_use(model):
        refuse_active(name, medium)
    grid = site.grid
    refuse_far(model, grid)
    refuse_time_step(model, grid, metal, limit)
    model.boundaries.interior(grid)  # refuses a CPML that leaves no cell
    refuse_complex(model)
    refuse_mirrored(model, site)
    refuse_outside(model, grid)
    refuse_in_cpml(model, site)
    refuse_overlaps(model, site)
    refuse_coarse_grid(model, grid, *band)


def refuse_far(model: Model, grid: YeeGrid) -> None:
    """Refuse curved and slanted bodies that reach out of all proportion: their rims are followed cell by cell."""
    for body, axis, beyond, side in far_bodies(model, grid):
        if not body.shape._constant_along(axis):
            raise ModelError(
                f"{body.label} reaches {beyond:.3g} m beyond the grid along {AXES[axis]}, over {MOST_EXTENTS:g} "
                f"times the grid's longest side, {side:.3g} m; check its unit, or cut it off there"
            )


def far_bodies(model: Model, grid: YeeGrid) -> Iterator[tuple[FilledShape, int, float, float]]:
    """Bodies that reach MOST_EXTENTS of the grid's longest side beyond it: the axis, how far (m), and that side (m)."""
    side = max(float(line[-1] - line[0]) for line in grid.lines)
    for body in model._bodies:
        for axis, (low, high, line) in enumerate(zip(*body.shape.bounds(), grid.lines)):
            beyond = max(float(line[0]) - low, high - float(line[-1]))
            if beyond > MOST_EXTENTS * side:
                yield body, axis, beyond, side


def refuse_in_metal(model: Model, site: Site, coefficients: Coefficients) -> None:
    """Refuse ports and elements with an edge in metal, where the voltage is zero for good."""
    for who, component, index in feature_edges(model, site, CIRCUITS):
        metal = np.asarray(coefficients.is_metal(component, *index))
        if metal.any():
            raise ModelError(
                f"{who} lies in metal at {first_place(site.grid, component, index, metal)} "
                f"({int(metal.sum())} of {metal.size} edges), which shorts it. Let it span the gap between two "
                "conductors and end on them"
            )


def refuse_time_step(model: Model, grid: YeeGrid, metal: MetalChoice, limit: float) -> None:
    """Refuse a time step over the stable limit (s)."""
    if model.time_step is None or model.time_step <= limit * (1 + ROUNDING):
        return
    axis = min(range(3), key=lambda a: grid.primary(a).min())
    number, media = int(np.argmin(grid.primary(axis))), media_in_use(model)
    name, medium = min(media, key=lambda entry: lowest_index([entry[1]]))
    where = other = ""
    slanting = metal.step_for_wires
    if slanting < 1.0:
        where = ", which wires along no axis make shorter,"
    if metal.cutting:
        where += f", whose cells conformal metal cuts ({named(metal.cutting)}),"
        whole = grid.maximum_time_step(lowest_index(each for _, each in media)) * slanting
        other = f' (`metal = "staircase"`, on whole cells, allows {whole:.6g} s)' if model.time_step <= whole else ""
    if lowest_index([medium]) < 1.0:
        at = ", at infinite frequency" if medium.dispersive else ""
        permittivity, permeability = written(medium.permittivity, 6), written(medium.permeability, 6)
        where += f" in medium {name} (permittivity {permittivity}, permeability {permeability}{at})"
    raise ModelError(
        f"time_step={model.time_step:.6g} s exceeds the stable limit {limit:.6g} s of this grid{where} (smallest "
        f"cell {grid.primary(axis)[number] * 1e3:.6g} mm at {AXES[axis]}={grid.lines[axis][number]:.6g}); the fields "
        f"would grow without bound. Lower it, or leave it out to use {model.courant:g} of the limit{other}"
    )


def refuse_coarse_grid(model: Model, grid: YeeGrid, low: float, frequency: float) -> None:
    """Refuse fewer than three cells per wavelength at the upper end of a band (Hz)."""
    cells = cells_in_media(model, grid, lambda medium: medium.wave_index_at(frequency, low)) if frequency > 0 else ()
    for name, cell, index in cells:
        wavelength = VACUUM_SPEED / (frequency * index)
        if wavelength / cell < FEWEST_CELLS_PER_WAVELENGTH:
            raise ModelError(
                f"{wavelength / cell:.3g} cells per wavelength in {name} at the highest excited frequency "
                f"{frequency / 1e9:.6g} GHz (wavelength {wavelength * 1e3:.4g} mm, largest cell {cell * 1e3:.4g} mm); "
                f"at least {FEWEST_CELLS_PER_WAVELENGTH:g} are needed, 20 are usual, because a coarser grid carries no "
                f"true waves. Use cells of at most {wavelength / 20 * 1e3:.3g} mm, or a lower frequency"
                f"{coarse_slip(wavelength / cell)}"
            )


def coarse_slip(cells_per_wavelength: float) -> str:
    """A likely slip of units behind so few cells per wavelength; empty where they are not that few."""
    factor = USUAL_CELLS / cells_per_wavelength
    if factor < 300.0:
        return ""
    unit = "mm" if factor < 3e4 else "um" if factor < 3e7 else "nm"
    times = f"{float(f'{factor:.1g}'):,.0f}"
    return (
        f". That is {times} times too coarse: lengths in {unit} given as m, or a frequency in another unit than Hz, "
        "such as '10 GHz' written in full?"
    )


def refuse_outside(model: Model, grid: YeeGrid) -> None:
    """Refuse point sources and probes outside the grid."""
    for who, entry in features(model, ("source", "monitor")):
        position = getattr(entry, "position", None)
        if position is not None and not grid.contains(position):
            place = ", ".join(f"{value:.6g}" for value in position)
            raise ModelError(
                f"{who}: position ({place}) m lies outside the grid, {grid.extent_text()}; move it inside, or enlarge "
                "the grid"
            )


def in_cpml(model: Model, grid: YeeGrid, component: int, index: Sequence[np.ndarray]) -> np.ndarray:
    """Which samples lie inside a CPML; its inner face does not count."""
    inside = np.zeros(np.shape(index[0]), dtype=bool)
    for axis in range(3):
        low, high = model.boundaries.cpml_cells(axis)
        half = 0.5 if is_half(component, axis) else 0.0
        place = np.asarray(index[axis]) + half
        inside |= (place < low) | (place > grid.cells[axis] - high)
    return inside


def first_place(grid: YeeGrid, component: int, index: list[np.ndarray], wrong: np.ndarray) -> str:
    """Where the first of the wrong samples lies, for messages."""
    at = int(np.argmax(wrong))
    place = (float(axis[index[a][at]]) for a, axis in enumerate(grid.component_axes(component)))
    return f"({', '.join(f'{value:.6g}' for value in place)}) m"


def refuse_in_cpml(model: Model, site: Site) -> None:
    """Refuse sources, ports and elements inside a CPML."""
    grid = site.grid
    for who, component, index in feature_edges(model, site):
        inside = in_cpml(model, grid, component, index)
        if inside.any():
            raise ModelError(
                f"{who} lies in the CPML at {first_place(grid, component, index, inside)}, where waves are "
                f"absorbed and nothing may radiate; allowed: {interior_text(model, grid)}. Move it inside, or "
                "enlarge the grid"
            )


def interior_text(model: Model, grid: YeeGrid) -> str:
    """The part of the grid between the CPMLs."""
    spans = []
    for axis in range(3):
        low, high = model.boundaries.cpml_cells(axis)
        line = grid.lines[axis]
        spans.append(f"{AXES[axis]} {line[low]:.6g} to {line[grid.cells[axis] - high]:.6g}")
    return ", ".join(spans) + " m"


def refuse_overlaps(model: Model, site: Site) -> None:
    """Refuse ports and elements that share an edge."""
    shape = tuple(count + 1 for count in site.grid.cells)
    found = [
        (who, component, np.ravel_multi_index(tuple(index), shape).ravel())
        for who, component, index in feature_edges(model, site, CIRCUITS)
    ]
    if not found:
        return
    owner = np.repeat(np.arange(len(found)), [edges.size for _, _, edges in found])
    keys = np.concatenate([component * np.prod(shape) + edges for _, component, edges in found])
    order = np.argsort(keys, kind="stable")
    for at in np.nonzero(np.diff(keys[order]) == 0)[0]:
        other, who = (found[owner[order[n]]][0] for n in (at, at + 1))
        if who != other:
            component, edge = divmod(int(keys[order[at]]), int(np.prod(shape)))
            cell = tuple(int(part) for part in np.unravel_index(edge, shape))
            raise ModelError(
                f"{who} overlaps {other}: both have the edge along {AXES[component]} at cell {cell}; a grid "
                "edge can carry one circuit only. Move one of them, or make them narrower"
            )


def refuse_complex(model: Model) -> None:
    """Refuse what needs real fields where an axis has a phase."""
    if not model.boundaries.complex_fields:
        return
    for who, entry in features(model, CIRCUITS):
        if hasattr(entry, "_circuit"):
            raise ModelError(
                f"{who}: a Bloch phase makes the fields complex, and circuits take real voltages alone. "
                'Use "periodic" faces, or impressed currents and media'
            )


def refuse_mirrored(model: Model, site: Site) -> None:
    """Refuse sources and circuits that lie below a plane of symmetry alone."""
    grid = site.grid
    for who, entry in features(model):
        for axis in (axis for axis, kind in enumerate(grid.mirrors) if kind):
            edges = edges_of(entry, site)
            dead = grid.mirrors[axis] == "electric"
            if entry.kind in IMAGED and lies_below(entry, grid, axis) and has_image(model, entry, grid, axis):
                continue
            if edges and not any(above_plane(grid, axis, dead, *samples).any() for samples in edges):
                raise ModelError(
                    f"{who} has nothing above the plane of symmetry across {AXES[axis]} at "
                    f"{grid.lines[axis][grid.cells[axis] // 2]:.6g} m, and only what is there is stepped"
                    f"{', E along an electric plane being zero' if dead else ''}; mirror it, or leave the plane out"
                )


def lies_below(entry: Any, grid: YeeGrid, axis: int) -> bool:
    """Whether all of an entry lies below the middle of an axis."""
    return max(corner[axis] for corner in corners_of(entry)) < grid.lines[axis][grid.cells[axis] // 2]


def has_image(model: Model, entry: Any, grid: YeeGrid, axis: int) -> bool:
    """Whether an entry of the same kind lies where a plane of symmetry mirrors this one to; it may be itself."""
    own = np.sort(np.array(corners_of(entry), dtype=float), axis=0)
    image = own.copy()
    image[:, axis] = np.sort(2 * float(grid.lines[axis][grid.cells[axis] // 2]) - own[:, axis])
    slack = SAMPLE_TOLERANCE * float(grid.primary(axis).min())
    return any(
        other.kind == entry.kind
        and np.allclose(np.sort(np.array(corners_of(other), dtype=float), axis=0), image, rtol=0, atol=slack)
        for _, other in features(model, ("source", "port", "element"))
    )


def above_plane(grid: YeeGrid, axis: int, dead: bool, component: int, *index) -> np.ndarray:
    """Which samples lie above the middle of an axis, or on it, unless E there is `dead`."""
    zero_on_plane = dead and component < 3 and not is_half(component, axis)
    return np.asarray(index[axis]) >= grid.cells[axis] // 2 + zero_on_plane
