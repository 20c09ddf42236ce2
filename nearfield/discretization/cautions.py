"""What runs but probably does not mean what its author thinks: one warning each, with what to do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.bodies.geometry import Structure, medium_of
from nearfield.discretization.discretization import all_waveforms
from nearfield.discretization.enclosure import open_far_field_surfaces
from nearfield.discretization.guide_cautions import guide_cautions
from nearfield.discretization.refusals import edges_of, features, media_in_use
from nearfield.discretization.resolution import MediumCheck, largest_ratio, media_of_structures, resolved_media
from nearfield.entry.wording import quantity
from nearfield.grid.boundaries import CPML
from nearfield.grid.yee import AXES, SIDES
from nearfield.lowering.interpolation import point_samples
from nearfield.media.surface_media import Conductor, ResistiveSheet, is_metal
from nearfield.metal.conformal import cell_near, too_slight
from nearfield.metal.skin import THICK
from nearfield.metal.skin_fit import WIDEST
from nearfield.metal.wire_lattice import edge_radius

if TYPE_CHECKING:
    from nearfield.discretization.discretization import Discretization

FEW_CELLS = 10.0  # per wavelength: about 4.5 degrees of phase error in every wavelength
LARGEST_RATIO = 1.5
SNAP = 0.1  # of a cell
FROM_FILES = ("mesh", "layout", "voxels")  # whose unit may be mistaken
HUGE = 10  # times the grid


def cautions(setup: Discretization) -> list[str]:
    """All warnings about a model."""
    return [
        *coarse_media(resolved_media(setup)),
        *steep_grading(setup),
        *lost_structures(setup),
        *moved_sheets(setup),
        *unused_media(setup),
        *media_beyond_band(setup),
        *nothing_recorded(setup),
        *early_end(setup),
        *no_decay(setup),
        *frequencies_outside_band(setup),
        *recorders_in_cpml(setup),
        *floating_ports(setup),
        *open_far_field_surfaces(setup),
        *idle_sources(setup),
        *probes_in_metal(setup),
        *cut_sources(setup),
        *bare_wires(setup),
        *slight_conductors(setup),
        *slight_rods(setup),
        *guide_cautions(setup),
    ]


def band_of(setup: Discretization) -> tuple[float, float]:
    """Lowest and highest frequency (Hz) that the excitations fill; 0, 0 without any."""
    bands = [waveform.band for waveform in all_waveforms(setup.simulation)]
    return min((low for low, _ in bands), default=0.0), max((high for _, high in bands), default=0.0)


def named(number: int, structure: Structure) -> str:
    """A structure, in words."""
    return f"structure {structure.name!r}" if structure.name else f"structures[{number}]"


def coarse_media(media: tuple[MediumCheck, ...]) -> Iterator[str]:
    """Media with few cells per wavelength."""
    for medium in media:
        if medium.cells_per_wavelength < FEW_CELLS:
            yield (
                f"{medium.cells_per_wavelength:.3g} cells per wavelength in {medium.name} at the highest frequency: "
                f"waves lag by {medium.phase_error:.2g} degrees in every wavelength; 20 cells are usual"
            )


def steep_grading(setup: Discretization) -> Iterator[str]:
    """Neighbouring cells of very different size; not those that an AutoGrid halves at a plane of symmetry."""
    ratio, axis, at = largest_ratio(setup.grid)
    given = setup.simulation.grid
    automatic = given.kind == "auto" and given.maximum_ratio <= LARGEST_RATIO
    if ratio > LARGEST_RATIO * (1 + 1e-6) and not automatic:
        yield (
            f"neighbouring cells differ by a factor of {ratio:.3g} at {AXES[axis]}={at:.6g} m; above {LARGEST_RATIO:g} "
            "the grid itself reflects. Grade it more gently"
        )


def lost_structures(setup: Discretization) -> Iterator[str]:
    """Structures of which nothing is in the grid, or that no cell may see."""
    for number, structure in enumerate(setup.simulation.structures):
        lower, upper = structure.shape.bounds()
        line = setup.grid.lines
        name = named(number, structure)
        if any(lower[axis] > line[axis][-1] or upper[axis] < line[axis][0] for axis in range(3)):
            yield f"{name} lies outside the grid, {setup.grid.extent_text()}, and has no effect; move it or remove it"
            continue
        size = [high - low for low, high in zip(lower, upper)]
        if all(0.0 < part < cell_near(setup.grid, a, lower[a], upper[a]) for a, part in enumerate(size)):
            yield (
                f"{name}, {' x '.join(quantity(part, 'm') for part in size)}, is smaller than a cell and may have no "
                "effect; make the cells there finer, or check its unit"
            )
        elif structure.shape.kind in FROM_FILES and any(
            part > HUGE * (line[axis][-1] - line[axis][0]) for axis, part in enumerate(size)
        ):
            yield (
                f"{name}, {' x '.join(quantity(part, 'm') for part in size)}, is more than {HUGE} times as large as "
                f"the grid, {setup.grid.extent_text()}; check its unit"
            )


def moved_sheets(setup: Discretization) -> Iterator[str]:
    """Sheets between grid lines, which are moved to the nearest one."""
    for number, structure in enumerate(setup.simulation.structures):
        if structure.shape.kind != "sheet":
            continue
        axis, line = structure.shape._normal, setup.grid.lines[structure.shape._normal]
        place = structure.shape.lower[axis]
        if not line[0] <= place <= line[-1]:
            continue
        node = setup.grid.nearest_node(axis, place)
        cell = setup.grid.primary(axis)[min(node, line.size - 2)]
        if abs(line[node] - place) > SNAP * cell:
            yield (
                f"{named(number, structure)}, a sheet at {AXES[axis]}={place:.6g} m, lies between grid lines and is "
                f"moved to {line[node]:.6g} m; put a grid line there"
            )


def bare_wires(setup: Discretization) -> Iterator[str]:
    """Wires whose radius is that of metal edges, which the cells set."""
    bare = [
        (number, structure)
        for number, structure in enumerate(setup.simulation.structures)
        if structure.shape.kind == "wire" and structure.shape.radius is None
    ]
    if not bare:
        return
    first, structure = bare[0]
    start, end = structure.shape.points[:2]
    axis = next(a for a in range(3) if start[a] != end[a])
    node = tuple(setup.grid.nearest_node(a, start[a]) for a in ((axis + 1) % 3, (axis + 2) % 3))
    radius, others = edge_radius(setup.grid, axis, node), f" and {len(bare) - 1} more" if len(bare) > 1 else ""
    yield (
        f"{named(first, structure)}{others}: a wire without `radius` acts with that of metal edges, which the cells "
        f"set: {quantity(radius, 'm')} here; give the radius that it has"
    )


def slight_conductors(setup: Discretization) -> Iterator[str]:
    """Good conductors that fields go through at the low end of the band."""
    (low, high), found = band_of(setup), []
    for number, structure in enumerate(setup.simulation.structures):
        medium, ends = medium_of(structure, setup.simulation.media), structure.shape.bounds()
        size = min(b - a for a, b in zip(*ends))
        if isinstance(medium, Conductor) and size > 0.0:
            found.append(((THICK * medium.skin_depth(1.0) / size) ** 2, number, size, medium.label()))
    found = [each for each in found if each[0] > max(low, high / WIDEST)]
    if found and high:
        frequency, number, size, label = max(found)
        others = f" and {len(found) - 1} more" if len(found) > 1 else ""
        yield (
            f"{named(number, setup.simulation.structures[number])}{others}: {quantity(size, 'm')} of {label} are less "
            f"than {THICK:g} skin depths below {quantity(frequency, 'Hz')}; there fields go through and losses are "
            "others than those of thick metal, which it counts as here"
        )


def slight_rods(setup: Discretization) -> Iterator[str]:
    """Round metal that is too slight for conformal metal to follow."""
    model = setup.simulation
    slight = [
        (number, structure)
        for number, structure in enumerate(model.structures)
        if model.metal == "conformal"
        and is_metal(medium_of(structure, model.media))
        and too_slight(structure.shape, setup.grid)
    ]
    if slight:
        number, structure = slight[0]
        others = f" and {len(slight) - 1} more" if len(slight) > 1 else ""
        yield (
            f"{named(number, structure)}{others}: a radius of {quantity(structure.shape.radius, 'm')} is less than a "
            "cell across it, so conformal metal does not follow it and it takes whole cells; take smaller cells there, "
            "or for a thin rod a Wire with its radius"
        )


def unused_media(setup: Discretization) -> Iterator[str]:
    """Media that are defined for nothing."""
    used = {structure.medium for structure in setup.simulation.structures if isinstance(structure.medium, str)}
    for name in setup.simulation.media:
        if name not in used:
            yield f"medium {name!r} is defined but no structure uses it"


def media_beyond_band(setup: Discretization) -> Iterator[str]:
    """Media whose constants were found at other frequencies than those of the run."""
    low, high = band_of(setup)
    asked = [f for _, m in features(setup.simulation, ("monitor",)) for f in getattr(m, "frequencies", ()) or ()]
    low, high = min([low, *asked]), max([high, *asked])
    for name, medium in media_in_use(setup.simulation).items():
        if medium.valid_band is None or not high > 0.0:
            continue
        first, last = medium.valid_band
        if low < 0.999 * first or high > 1.001 * last:
            yield (
                f"medium {name!r} is known from {quantity(first, 'Hz')} to {quantity(last, 'Hz')}, but the run holds "
                f"{quantity(low, 'Hz')} to {quantity(high, 'Hz')}; outside, its poles go on, passive but unproven"
            )


def nothing_recorded(setup: Discretization) -> Iterator[str]:
    """A run without any result."""
    if not setup.simulation.monitors and not setup.simulation.ports:
        yield "nothing is recorded: the model has neither monitors nor ports"


def early_end(setup: Discretization) -> Iterator[str]:
    """A run that ends while its sources are on."""
    end = max((w.end for w in all_waveforms(setup.simulation)), default=0.0)
    last = setup.steps * setup.time_step
    if np.isfinite(end) and last < end:
        yield (
            f"the run ends at {quantity(last, 's')}, before its source does ({quantity(end, 's')}); spectra will not "
            "be those of the whole pulse. Give more steps"
        )


def no_decay(setup: Discretization) -> Iterator[str]:
    """A run that is to end by decay in a box that loses nothing."""
    simulation = setup.simulation
    if setup.decay is None or simulation.ports or any(e.resistance for e in simulation.elements):
        return
    faces = [simulation.boundaries.face(axis, side) for axis in range(3) for side in SIDES]
    media = [simulation.background, *(medium for _, medium, _ in media_of_structures(simulation))]
    media_of = [medium_of(structure, simulation.media) for structure in simulation.structures]
    if any(isinstance(one, ResistiveSheet | Conductor) for one in (*media_of, simulation.boundaries.conductor)):
        return
    if not any(isinstance(face, CPML) for face in faces) and not any(
        medium.conductivity or medium.magnetic_conductivity or medium.dispersive for medium in media
    ):
        yield "nothing absorbs energy in this model, so it never decays and the run goes to its last step; give `steps`"


def frequencies_outside_band(setup: Discretization) -> Iterator[str]:
    """Monitors at frequencies that the excitation hardly holds."""
    low, high = band_of(setup)
    if not high > low:  # a continuous wave or no source
        return
    for who, monitor in features(setup.simulation, ("monitor",)):
        outside = [f for f in getattr(monitor, "frequencies", ()) or () if not 0.999 * low <= f <= 1.001 * high]
        if outside:
            yield (
                f"{who}: {quantity(outside[0], 'Hz')} lies outside the band of the excitation, {quantity(low, 'Hz')} "
                f"to {quantity(high, 'Hz')} (20 dB down); expect noise there"
            )


def recorders_in_cpml(setup: Discretization) -> Iterator[str]:
    """Monitors that reach into a CPML, where fields are no fields of the model."""
    grid, boundaries = setup.grid, setup.simulation.boundaries
    for who, monitor in features(setup.simulation, ("monitor",)):
        for axis, (low, high) in enumerate(map(boundaries.cpml_cells, range(3))):
            inner = grid.lines[axis][low], grid.lines[axis][grid.cells[axis] - high]
            spare = 1e-6 * float(grid.primary(axis).min())
            places = [corner[axis] for corner in corners_of(monitor)]
            if any(place < inner[0] - spare or place > inner[1] + spare for place in places):
                yield (
                    f"{who} reaches into the CPML along {AXES[axis]} (free space ends at {inner[0]:.6g} and "
                    f"{inner[1]:.6g} m), where fields are damped; keep it between"
                )
                break


def corners_of(monitor: Any) -> list[tuple[float, float, float]]:
    """The points that a monitor gives."""
    found = [getattr(monitor, name, None) for name in ("position", "start", "end", "lower", "upper")]
    return [corner for corner in found if corner is not None]


def probes_in_metal(setup: Discretization) -> Iterator[str]:
    """Probes of E where it is zero."""
    for who, monitor in features(setup.simulation, ("monitor",)):
        if monitor.kind == "probe" and monitor.component.startswith("E"):
            component = "xyz".index(monitor.component[1])
            index, _ = point_samples(setup.context, component, monitor.position)
            if np.asarray(setup.coefficients.is_metal(component, *index)).all():
                yield f"{who} lies in a conductor, where {monitor.component} is zero; move it out"


def idle_sources(setup: Discretization) -> Iterator[str]:
    """Currents that flow in metal alone, where no field answers."""
    for who, source in features(setup.simulation, ("source",)):
        metal = [np.asarray(setup.coefficients.is_metal(part, *index)) for part, *index in edges_of(source, setup.grid)]
        if metal and all(part.all() for part in metal):
            yield f"{who} lies in a conductor, where no field answers it, and has no effect; move it out"


def cut_sources(setup: Discretization) -> Iterator[str]:
    """Boxes of flux through the samples that share a point current: part of its power leaves outside."""
    for who, monitor in features(setup.simulation, ("monitor",)):
        if monitor.kind != "flux" or any(a == b for a, b in zip(monitor.lower, monitor.upper)):
            continue
        nodes = [[setup.grid.nearest_node(a, corner[a]) for a in range(3)] for corner in (monitor.lower, monitor.upper)]
        lower = [line[n] if n > 0 else -np.inf for line, n in zip(setup.grid.lines, nodes[0])]
        upper = [line[n] if n < line.size - 1 else np.inf for line, n in zip(setup.grid.lines, nodes[1])]
        for source, item in features(setup.simulation, ("source",)):
            if not hasattr(item, "position"):
                continue
            component = item._edges(setup.grid)[0][0]
            index, _ = point_samples(setup.context, component, item.position)
            samples = zip(setup.grid.component_axes(component), setup.grid.in_cell(index))
            places = [axis[part] for axis, part in samples]
            inside = all(low < place.min() and place.max() < high for place, low, high in zip(places, lower, upper))
            apart = any(place.max() < low or place.min() > high for place, low, high in zip(places, lower, upper))
            if not inside and not apart:
                yield (
                    f"{who}: its surface cuts the samples that share {source}, so the power through it is not that of "
                    "the whole current; keep the box at least 3 cells away from it"
                )


def floating_ports(setup: Discretization) -> Iterator[str]:
    """Ports of which one end touches no metal, so that no current can flow on."""
    for who, port in features(setup.simulation, ("port",)):
        for component, *index in edges_of(port, setup.grid):
            axis = component % 3
            for end, node in (("lower", int(index[axis].min())), ("upper", int(index[axis].max()) + 1)):
                if not touches_metal(setup, axis, node, index):
                    yield (
                        f"{who}: its {end} end at {AXES[axis]}={setup.grid.lines[axis][node]:.6g} m touches no metal, "
                        "so it feeds nothing there; let it span the gap between two conductors"
                    )


def touches_metal(setup: Discretization, axis: int, node: int, index: list[np.ndarray]) -> bool:
    """Whether any edge that meets the nodes of a port's end is metal or lies on a PEC wall."""
    columns = [np.unique(index[a]) if a != axis else np.array([node]) for a in range(3)]
    for other in range(3):
        reach = list(columns)
        if other == axis:
            reach[axis] = np.array([node - 1, node])
        else:
            reach[other] = np.unique(np.concatenate((columns[other] - 1, columns[other])))
        shape = setup.grid.component_shape(other)
        reach = [values[(values >= 0) & (values < shape[a])] for a, values in enumerate(reach)]
        i, j, k = (part.ravel() for part in np.meshgrid(*reach, indexing="ij"))
        if i.size and np.asarray(setup.coefficients.is_metal(other, i, j, k)).any():
            return True
    return False
