"""All warnings about a model that runs but probably does not mean what its author thinks; each says what to do."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from nearfield.discretization.covered import covered_bodies
from nearfield.discretization.enclosure import open_far_field_surfaces
from nearfield.discretization.excitations import all_waveforms, diagonal, port_waveform
from nearfield.discretization.layer_ends import ends_in_layers
from nearfield.discretization.negative_media import negative_media_cautions
from nearfield.discretization.one_sided import one_sided
from nearfield.discretization.refusals import edges_of, features
from nearfield.discretization.resolution import (
    MANY_CELLS,
    coarse_media,
    coarse_skins,
    fine_media,
    lossless,
    lost_bodies,
    media_in_use,
    resolved_media,
    skin_cells,
    steep_grading,
)
from nearfield.discretization.unit_slips import slipped_units
from nearfield.entry.constants import VACUUM_SPEED
from nearfield.entry.triples import Point
from nearfield.entry.wording import quantity
from nearfield.grid.yee import COMPONENTS
from nearfield.guides.cautions import guide_cautions
from nearfield.incident.cautions import mixed_fields, surfaces_in_boxes, unlit_bodies
from nearfield.metal.cautions import (
    bare_wires,
    idle_metal,
    moved_sheets,
    rims_on_anisotropic_media,
    thin_conductors,
    thin_rods,
    uncut_sheets,
)
from nearfield.metal.crowded_current import conductors_that_lose_too_little
from nearfield.metal.patches import pair
from nearfield.metal.resistive_cautions import coarse_resistive_rims
from nearfield.metal.slanted_walls import thin_slanted_walls
from nearfield.monitors.cautions import (
    cut_sources,
    frequencies_outside_band,
    monitors_in_cpml,
    one_sided_planes,
    probes_in_metal,
    walls_without_flux,
)
from nearfield.monitors.points_across import points_across
from nearfield.ports.cautions import floating_circuits, idle_sources, lines_drawn_on, ringing_columns
from nearfield.sources.cautions import static_parts, sudden
from nearfield.sources.sources import SOURCES

if TYPE_CHECKING:
    from nearfield.discretization.discretization import Discretization
    from nearfield.lowering.context import Context
    from nearfield.sources.edges import Edges

SUDDEN = 1e-3  # of a pulse's peak, at which it may begin or end
LONGEST_PULSE = 1e5  # crossings of the grid; a pulse of 1000 periods in a box of a 50th of a wavelength has half


def cautions(setup: Discretization) -> list[str]:
    """All warnings about a model."""
    model, grid, context, bodies = setup.simulation, setup.grid, setup.context, setup.simulation._bodies
    sources, monitors = (list(features(model, (kind,))) for kind in ("source", "monitor"))
    placed = pair(
        [(who, each, edges_of(each, context)) for who, each in features(model, (kind,))] for kind in ("port", "element")
    )
    circuits = pair([(who, edges) for who, _, edges in each] for each in placed)
    two_poles = [(who, each, edges) for own in placed for who, each, edges in own if hasattr(each, "_circuit")]
    lit = SOURCES in setup.excitations
    waves = [(who, source) for who, source in sources if lit and source.kind == "plane-wave"]
    guides = [port for port in model.ports if port.kind == "waveguide"]
    excited = [port for guide in guides for port in guide._channels if port.name in setup.waveforms]
    return [
        *coarse_media(resolved_media(setup)),
        *coarse_skins(skin_cells(setup)),
        *fine_media(resolved_media(setup), setup.band_edge),
        *long_pulse(setup),
        *slipped_units(setup),
        *steep_grading(grid),
        *lost_bodies(bodies, grid),
        *idle_metal(bodies, grid, setup.coefficients.metal),
        *covered_bodies(bodies, grid),
        *one_sided(setup),
        *ends_in_layers(setup),
        *moved_sheets(bodies, grid),
        *unused_media(setup),
        *idle_conductor(setup),
        *media_beyond_band(setup),
        *negative_media_cautions(setup),
        *nothing_recorded(setup),
        *early_end(setup),
        *sudden_pulses(setup),
        *sparse_probes(setup),
        *no_decay(setup),
        *(static_parts(sources, context) if lit else ()),
        *frequencies_outside_band(monitors, setup.band),
        *monitors_in_cpml(monitors, grid, model.boundaries),
        *one_sided_planes(monitors, context),
        *walls_without_flux(monitors, context),
        *floating_circuits(*circuits, context),
        *ringing_columns((who, each._circuit(), edges) for who, each, edges in two_poles),
        *lines_drawn_on((port for port in model.ports if port.kind == "microstrip"), context),
        *open_far_field_surfaces(setup),
        *surfaces_in_boxes(waves, monitors, context),
        *mixed_fields(waves, monitors, context),
        *unlit_bodies(waves, bodies, model.background, context),
        *idle_sources(((who, driven_by(source, context)) for who, source in sources), context),
        *points_across(points_of([*sources, *monitors]), context),
        *probes_in_metal(monitors, context),
        *cut_sources(monitors, sources, context),
        *bare_wires(bodies, grid),
        *uncut_sheets(bodies, grid),
        *rims_on_anisotropic_media(setup.coefficients.drawn, grid, model.boundaries, setup.coefficients.metal),
        *thin_conductors(bodies, setup.band),
        *coarse_resistive_rims(bodies, grid, setup.band_edge),
        *conductors_that_lose_too_little(bodies, grid, setup.metal == "conformal"),
        *thin_rods(bodies, grid, setup.coefficients.metal, setup.metal == "conformal"),
        *thin_slanted_walls(bodies, grid, setup.coefficients.metal),
        *guide_cautions(guides, [(port, port_waveform(model, port)) for port in excited], context),
    ]


def driven_by(source: Any, context: Context) -> list[Edges]:
    """The samples in which a source's current flows."""
    return source._driven(context) if hasattr(source, "_driven") else edges_of(source, context)


def points_of(entries: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, int, Point]]:
    """(label, component, place) of the probes and point currents among sources and monitors."""
    for who, entry in entries:
        if hasattr(entry, "position"):
            yield who, COMPONENTS.index(entry.component) if entry.kind == "probe" else entry._component, entry.position


def unused_media(setup: Discretization) -> Iterator[str]:
    """Media that are defined for nothing."""
    used = {body.key for body in setup.simulation._bodies}
    for name in setup.simulation.media:
        if name not in used:
            yield f"medium {name!r} is defined but no structure uses it"


def idle_conductor(setup: Discretization) -> Iterator[str]:
    """A metal of walls without a wall."""
    boundaries = setup.simulation.boundaries
    if boundaries.conductor is not None and not boundaries.walls_of_metal:
        yield 'conductor is the metal of "pec" faces, and none is, so that it has no effect; make a face "pec"'


def media_beyond_band(setup: Discretization) -> Iterator[str]:
    """Media whose constants were found at other frequencies than those of the run."""
    wanted = [f for monitor in setup.simulation.monitors for f in getattr(monitor, "frequencies", ()) or ()]
    low, high = min([setup.band[0], *wanted]), max([setup.band[1], *wanted])
    for name, medium in media_in_use(setup.simulation):
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
    if math.isfinite(end) and last < end:
        yield (
            f"the run ends at {quantity(last, 's')}, before its source does ({quantity(end, 's')}); spectra will not "
            "be those of the whole pulse. Give more steps"
        )


def sudden_pulses(setup: Discretization) -> Iterator[str]:
    """Pulses that are switched on or off, and so fill bands far above their own."""
    for waveform in all_waveforms(setup.simulation):
        jump = sudden(waveform)
        if jump > SUDDEN:
            yield (
                f"a pulse of kind {waveform.kind!r} is switched at {100 * jump:.2g} % of its peak: a step, which fills "
                "all frequencies, those too that the grid carries wrong or not at all, and may leave charge behind; "
                "give a later `delay` (left out, the pulse begins at zero), or samples that begin and end at zero"
            )
            return


def sparse_probes(setup: Discretization) -> Iterator[str]:
    """Probes that record too seldom for what the pulse holds."""
    nyquist = 0.5 / setup.time_step
    for monitor in setup.simulation.monitors:
        stride = getattr(monitor, "stride", 1)
        if stride > 1 and setup.highest_frequency > nyquist / stride:
            most = max(1, int(nyquist / setup.highest_frequency))
            yield (
                f"probe {monitor.name!r} takes a sample every {stride} steps, which holds frequencies up to "
                f"{quantity(nyquist / stride, 'Hz')}, while the pulse holds some up to "
                f"{quantity(setup.highest_frequency, 'Hz')} (60 dB down): its spectra are folded; give `stride` at "
                f"most {most}"
            )
            return


def long_pulse(setup: Discretization) -> Iterator[str]:
    """Pulses that last far longer than waves take through the model, where cells do not already say so."""
    ends = [w.end for w in all_waveforms(setup.simulation) if math.isfinite(w.end)]
    crossing = diagonal(setup.grid) / VACUUM_SPEED
    finest = min((m.cells_per_wavelength for m in resolved_media(setup)), default=math.inf)
    if ends and max(ends) > LONGEST_PULSE * crossing and finest <= MANY_CELLS:
        yield (
            f"a pulse lasts {quantity(max(ends), 's')}, {max(ends) / setup.time_step:,.0f} steps, while light crosses "
            f"the grid in {quantity(crossing, 's')}; is a bandwidth, a delay or a time in another unit (ns for s, MHz "
            "for GHz)?"
        )


def no_decay(setup: Discretization) -> Iterator[str]:
    """A run that is to end by decay in a box that loses nothing."""
    if setup.decay is not None and not setup.simulation.ports and lossless(setup.simulation):
        yield "nothing absorbs energy in this model, so it never decays and the run goes to its last step; give `steps`"
