"""From a simulation to a plan: grid, time step, loads, coefficients, the terms of every feature."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from nearfield.coefficients.coefficients import Coefficients
from nearfield.coefficients.coupling import coupling_term
from nearfield.coefficients.stability import lowest_index, refuse_active
from nearfield.discretization.folded_plan import folded_plan
from nearfield.discretization.refusals import (
    edges_of,
    media_in_use,
    refuse_coarse_grid,
    refuse_entries,
    refuse_in_metal,
    refuse_on_grid,
    refuse_time_step,
)
from nearfield.discretization.resolution import cells_in_media
from nearfield.entry.constants import VACUUM_SPEED
from nearfield.entry.errors import ModelError
from nearfield.grid.grid import AutoGrid
from nearfield.grid.symmetry import symmetric_grid
from nearfield.grid.yee import YeeGrid
from nearfield.incident.seen import marked, parts_seen
from nearfield.lowering.context import Context, Illumination
from nearfield.machine.transport import ALONE, Alone
from nearfield.metal import conformal
from nearfield.plan.excitations import Waveform
from nearfield.plan.plan import Plan
from nearfield.plan.planning import build_plan
from nearfield.plan.recorders import Recording, recorders
from nearfield.records.records import Variables
from nearfield.sources.waveforms import Gaussian

if TYPE_CHECKING:
    from nearfield.discretization.model import Model

SOURCES = "sources"
DEFAULT_DECAY = 1e-6
GUIDED_DECAY = 1e-8  # what a guide holds next to its cut-off leaves slowly
TRANSITS = 150  # most crossings of the box before a run that does not decay is cut off


def port_waveform(simulation: Model, port):
    """The voltage waveform of a port: its own, the simulation's, or a Gaussian up to the automatic grid's limit."""
    waveform = port.waveform or simulation.waveform
    if waveform is None and port.kind == "waveguide":
        raise ModelError(
            f'port "{port.name}" has no waveform, and neither has the simulation; a guide carries waves above its '
            "cut-off alone, so give one a pulse there, for example ModulatedGaussian(10e9, 6e9)"
        )
    if waveform is None:
        highest = getattr(simulation.grid, "maximum_frequency", None)
        if highest is None:
            raise ModelError(
                f'port "{port.name}" has no waveform, the simulation has none, and the grid states no maximum '
                "frequency to derive one from; give the simulation `waveform`, for example Gaussian(20e9)"
            )
        waveform = Gaussian(highest)
    return waveform


def excitation_names(simulation: Model) -> tuple[str, ...]:
    """The runs to make: as asked, else the sources if there are any, else every port, else one silent run."""
    ports = tuple(channel.name for channel in simulation._channels)
    allowed = (*([SOURCES] if simulation.sources or not ports else []), *ports)
    if simulation.excitations is None:
        return (SOURCES,) if simulation.sources or not ports else ports
    modes = {port.name: tuple(channel.name for channel in port._channels) for port in simulation.ports}
    asked = [each for name in simulation.excitations for each in modes.get(name, (name,))]
    for name in asked:
        if name not in allowed:
            raise ModelError(f'excitations: {name!r} is neither a port nor "sources"; there is: {", ".join(allowed)}')
    if not simulation.excitations:
        raise ModelError(f"excitations is empty; name at least one of {', '.join(allowed)} or leave it out")
    return tuple(dict.fromkeys(asked))


def all_waveforms(simulation: Model) -> list:
    """Every waveform that some excitation of the simulation uses."""
    names = excitation_names(simulation)
    found = [source.waveform for source in simulation.sources] if SOURCES in names else []
    return found + [port_waveform(simulation, port) for port in simulation._channels if port.name in names]


def lowest_frequency(waveform) -> float:
    """Below it (Hz) a pulse holds as little as above its highest frequency, as far beyond its band's other edge."""
    low, high = waveform.band
    return max(0.0, low - (waveform.highest_frequency - high))


def choose_steps(simulation: Model, grid: YeeGrid, time_step: float) -> tuple[int, float | None]:
    """(most steps, decay or None): as given, or enough for a decaying run."""
    if simulation.steps is not None:
        return simulation.steps, simulation.decay
    if simulation.duration is not None:
        return max(1, int(np.ceil(simulation.duration / time_step - 1e-9))), simulation.decay
    ends = [waveform.end for waveform in all_waveforms(simulation)]
    if not ends:
        raise ModelError("nothing ends this run: it has no source and no `steps` or `duration`; give one of these two")
    if not np.isfinite(max(ends)):
        raise ModelError("a source never ends, so the energy cannot decay; give `steps` or `duration`")
    diagonal = float(np.sqrt(sum((line[-1] - line[0]) ** 2 for line in grid.lines)))
    duration = max(ends) + TRANSITS * diagonal / VACUUM_SPEED
    guided = any(port.kind == "waveguide" for port in simulation.ports)
    return int(np.ceil(duration / time_step)), simulation.decay or (GUIDED_DECAY if guided else DEFAULT_DECAY)


@dataclass(frozen=True)
class Feature:
    """A port or monitor and where its recordings lie among those of the plan.

    Of complex fields the imaginary parts follow the real ones.
    """

    item: object
    first: int
    count: int
    complex_fields: bool = False

    def own(self, recordings: list[Recording]) -> list[Recording]:
        """Its recordings of all, complex where fields are."""
        found = recordings[self.first : self.first + self.count]
        if not self.complex_fields:
            return found
        half = len(found) // 2
        return [real.with_imaginary(other) for real, other in zip(found[:half], found[half:])]


class Discretization:
    """A simulation on its Yee grid: everything that does not change from one excitation to the next.

    Refuses, with a `ModelError`, what cannot run. Coefficients, terms and plan are made when they are first asked for.
    `ranks`: those that make the same one together, where there are several; all then ask for the same, in one order.
    """

    def __init__(self, simulation: Model, ranks: Alone = ALONE) -> None:
        self.simulation, self.ranks = simulation, ranks
        refuse_entries(simulation)
        self.excitations = excitation_names(simulation)
        grid = symmetric_grid(
            simulation.grid.resolve(simulation),
            simulation.symmetry.kinds,
            simulation.boundaries,
            isinstance(simulation.grid, AutoGrid),
        )
        self.grid = replace(grid, phases=simulation.boundaries.phases(grid))
        index = lowest_index(media_in_use(simulation).values())
        self.time_step_limit = self.grid.maximum_time_step(index)
        if simulation.metal == "conformal" and conformal.cuts(simulation.structures, self.grid, simulation.media):
            self.time_step_limit = min(self.time_step_limit, conformal.maximum_time_step(self.grid, index))
        for name, medium in media_in_use(simulation).items():
            refuse_active(name, medium)
        refuse_time_step(simulation, self.grid, self.time_step_limit)
        self.time_step = simulation.time_step or simulation.courant * self.time_step_limit
        used = all_waveforms(simulation)
        self.band_edge = max((waveform.maximum_frequency for waveform in used), default=0.0)  # Hz, -20 dB
        self.highest_frequency = max((waveform.highest_frequency for waveform in used), default=0.0)  # Hz, -60 dB
        self.lowest_frequency = min((lowest_frequency(waveform) for waveform in used), default=0.0)
        refuse_on_grid(simulation, self.grid)
        waves = cells_in_media(simulation, self.grid, lambda medium: medium.wave_index_at(self.band_edge))
        refuse_coarse_grid(self.band_edge, waves)
        self.steps, self.decay = choose_steps(simulation, self.grid, self.time_step)
        self.waveforms = self._waveforms()

    def _waveforms(self) -> dict[str, Waveform]:
        """Port waveforms by port name, for the ports that are excited."""
        found = {}
        for port in self.simulation._channels:
            if port.name in self.excitations:
                waveform = port_waveform(self.simulation, port)
                found[port.name] = Waveform(waveform.value, port.name, waveform.end)
        return found

    @cached_property
    def coefficients(self) -> Coefficients:
        """The media on the grid, lumped resistors and capacitors included."""
        simulation = self.simulation
        items = (*simulation.ports, *simulation.elements)
        loads = [load for item in items for load in item._loads(self.grid, self.time_step)]
        gaps = (e for item in items for e in edges_of(item, self.grid))
        coefficients = Coefficients(
            self.grid,
            simulation.structures,
            simulation.media,
            simulation.background,
            simulation.boundaries,
            self.time_step,
            loads,
            simulation.metal,
            gaps,
            (self.lowest_frequency, self.highest_frequency),
            simulation.averaging,
        )
        refuse_in_metal(simulation, self.grid, coefficients)
        return coefficients

    @cached_property
    def context(self) -> Context:
        """What features may know when they are lowered."""
        return Context(
            grid=self.grid,
            time_step=self.time_step,
            coefficients=self.coefficients,
            boundaries=self.simulation.boundaries,
            maximum_frequency=self.highest_frequency,
            precision=self.simulation.precision,
            steps=self.steps,
            waveforms=self.waveforms,
            illuminations=self.illuminations,
            minimum_frequency=self.lowest_frequency,
            ranks=self.ranks,
            guides=tuple(port for port in self.simulation.ports if port.kind == "waveguide"),
        )

    @property
    def illuminations(self) -> tuple[Illumination, ...]:
        """The plane waves, as monitors know them."""
        sources, boundaries = self.simulation.sources, self.simulation.boundaries
        waves = [source for source in sources if source.kind == "plane-wave"]
        return tuple(wave._illumination(self.grid, boundaries, len(sources) == 1) for wave in waves)

    def seen(self, feature: Feature, variables: Variables, excitation: str) -> Variables:
        """A monitor's variables, told which fields it saw where a plane wave was on: total, scattered, or both."""
        for light in self.context.illuminations if excitation == SOURCES else ():
            fields = parts_seen(light, recorders(self.terms)[feature.first : feature.first + feature.count])
            variables = marked(variables, fields)
        return variables

    @cached_property
    def lowered(self) -> tuple[tuple, dict[str, Feature], dict[str, Feature]]:
        """(all terms, ports by name, monitors by name)."""
        simulation, terms = self.simulation, []
        for item in (*simulation.sources, *simulation.elements):
            terms += item._terms(self.context)
        ports, monitors, recorded = {}, {}, 0
        for item, found in [(p, ports) for p in simulation._channels] + [(m, monitors) for m in simulation.monitors]:
            own = item._terms(self.context)
            if simulation.boundaries.complex_fields:
                own += [term.imaginary() for term in recorders(own)]
            count = len(recorders(own))
            found[item.name] = Feature(item, recorded, count, simulation.boundaries.complex_fields)
            recorded += count
            terms += own
        return tuple(terms), ports, monitors

    @property
    def terms(self) -> tuple:
        """Everything that happens in rows besides the update."""
        return self.lowered[0]

    @cached_property
    def plan(self) -> Plan:
        """What the engine is given."""
        simulation = self.simulation
        plan = build_plan(
            self.grid,
            simulation.boundaries,
            self.coefficients,
            self.time_step,
            simulation.precision,
            self.terms,
            self.coefficients.pole_media,
        )
        if simulation.averaging == "tensor":
            plan = replace(plan, coupling=coupling_term(plan, self.grid, self.coefficients))
        return folded_plan(plan, self.grid)

    def source_end(self, excitation: str) -> float:
        """When (s) the last source of an excitation is off."""
        drives = (*self.plan.waveforms, *self.plan.waves)
        ends = [drive.end for drive in drives if drive.excitation == excitation]
        return max(ends, default=0.0)

    def excitation_waveform(self, excitation: str):
        """The one waveform of an excitation, or None where its sources differ."""
        if excitation != SOURCES:
            port = next(port for port in self.simulation._channels if port.name == excitation)
            return port_waveform(self.simulation, port)
        waveforms = [source.waveform for source in self.simulation.sources]
        return waveforms[0] if waveforms and all(waveform == waveforms[0] for waveform in waveforms) else None
