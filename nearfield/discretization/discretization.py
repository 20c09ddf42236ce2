"""From a model to a plan: grid, time step, loads, coefficients, the terms of every feature."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from nearfield.coefficients.coefficients import Coefficients
from nearfield.coefficients.coupling import coupling_term
from nearfield.coefficients.stability import lowest_index
from nearfield.discretization.cpml import layer_media, suited_layers
from nearfield.discretization.excitations import (
    all_waveforms,
    band_of,
    choose_steps,
    excitation_names,
    expected_steps,
    lowest_frequency,
    port_waveform,
    refuse_silence,
)
from nearfield.discretization.folded_plan import folded_plan
from nearfield.discretization.metal_choice import MetalChoice, metal_choice
from nearfield.discretization.refusals import edges_of, refuse_entries, refuse_in_metal, refuse_on_grid
from nearfield.discretization.resolution import media_in_use
from nearfield.grid.boundaries import Boundaries
from nearfield.grid.grid import AutoGrid
from nearfield.grid.symmetry import symmetric_grid
from nearfield.grid.yee import YeeGrid
from nearfield.incident.seen import marked, parts_seen
from nearfield.lowering.context import Context, Illumination, Site
from nearfield.machine.transport import ALONE, Alone
from nearfield.media.materials import Medium
from nearfield.metal import conformal
from nearfield.plan.excitations import Waveform
from nearfield.plan.plan import Plan
from nearfield.plan.planning import build_plan
from nearfield.plan.recorders import Recording, recorders
from nearfield.records.records import Variables
from nearfield.sources.edges import on_both_faces
from nearfield.sources.sources import SOURCES
from nearfield.sources.waveforms import AnyWaveform

if TYPE_CHECKING:
    from nearfield.discretization.model import Model


@dataclass(frozen=True)
class Feature:
    """A port or monitor and where its recordings lie among those of the plan.

    Of complex fields the imaginary parts follow the real ones.
    """

    item: Any
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


def grid_of(model: Model) -> YeeGrid:
    """The Yee grid of a model, with its planes of symmetry and the phases of its closed axes."""
    grid, fitted = model.grid.resolve(model), isinstance(model.grid, AutoGrid)
    grid = symmetric_grid(grid, model.symmetry.kinds, model.boundaries, fitted)
    return replace(grid, phases=model.boundaries.phases(grid))


def longest_step(model: Model, grid: YeeGrid, metal: MetalChoice) -> float:
    """The stable limit (s) of the time step."""
    index = lowest_index(medium for _, medium in media_in_use(model))
    limit = grid.maximum_time_step(index)
    limit = min(limit, conformal.maximum_time_step(grid, index)) if metal.cutting else limit
    return limit * metal.step_for_wires


class Discretization:
    """A model on its Yee grid: everything that does not change from one excitation to the next.

    Refuses, with a `ModelError`, what cannot run. Coefficients, terms and plan are made when they are first used.
    `ranks`: those that make the same one together, where there are several; all then use the same, in one order.
    """

    def __init__(self, simulation: Model, ranks: Alone = ALONE) -> None:
        self.simulation, self.ranks = simulation, ranks
        self.sharers = ranks.hosts.count(ranks.hosts[ranks.rank])
        refuse_entries(simulation)
        self.excitations = excitation_names(simulation)
        refuse_silence(simulation, self.excitations)
        waveforms = all_waveforms(simulation)
        self.band = band_of(simulation)  # Hz
        self.band_edge = max((waveform.maximum_frequency for waveform in waveforms), default=0.0)  # Hz, -20 dB
        self.highest_frequency = max((waveform.highest_frequency for waveform in waveforms), default=0.0)  # Hz, -60 dB
        self.lowest_frequency = min(map(lowest_frequency, waveforms), default=0.0)
        self.grid = grid_of(simulation)
        self.metal_choice = metal_choice(simulation, self.grid)
        self.time_step_limit = longest_step(simulation, self.grid, self.metal_choice)
        self.site = Site(self.grid)
        refuse_on_grid(simulation, self.site, self.metal_choice, self.time_step_limit, (self.band[0], self.band_edge))
        self.time_step = simulation.time_step or simulation.courant * self.time_step_limit
        self.steps, self.decay = choose_steps(simulation, self.grid, self.time_step)

    @property
    def metal(self) -> str:
        """How metal lies on the grid, "staircase" or "conformal"."""
        return self.metal_choice.method

    @property
    def expected_steps(self) -> int:
        """Steps that an excitation usually takes."""
        return expected_steps(self.simulation, self.grid, self.time_step, self.steps, self.decay)

    @property
    def steps_without_cuts(self) -> int:
        """Steps that an excitation would usually take if metal cut no cells: fewer, unless their number is given."""
        model, whole = self.simulation, replace(self.metal_choice, cutting=())
        step = model.time_step or model.courant * longest_step(model, self.grid, whole)
        return expected_steps(model, self.grid, step, *choose_steps(model, self.grid, step))

    @cached_property
    def waveforms(self) -> dict[str, Waveform]:
        """Port waveforms by port name, for the ports that are excited."""
        model = self.simulation
        found = {p.name: port_waveform(model, p) for p in model._channels if p.name in self.excitations}
        return {name: Waveform(waveform.value, name, waveform.end) for name, waveform in found.items()}

    @cached_property
    def coefficients(self) -> Coefficients:
        """The media on the grid, lumped resistors and capacitors included."""
        model, circuits = self.simulation, (*self.simulation.ports, *self.simulation.elements)
        coefficients = Coefficients(
            self.grid,
            model._bodies,
            model.background,
            model.boundaries,
            self.time_step,
            loads=[load for item in circuits for load in item._loads(self.site)],
            metal=self.metal,
            gaps=(on_both_faces(edges, self.grid) for item in circuits for edges in edges_of(item, self.site)),
            band=(self.lowest_frequency, self.highest_frequency),
            averaging=model.averaging,
            sharers=self.sharers,
        )
        refuse_in_metal(model, self.site, coefficients)
        return coefficients

    @cached_property
    def boundaries(self) -> Boundaries:
        """The six faces, each CPML with its whole profile."""
        return suited_layers(self.coefficients, self.layer_media, self.band)

    @cached_property
    def layer_media(self) -> dict[tuple[int, str], list[Medium]]:
        """The media in each CPML by its axis and side."""
        return layer_media(self.coefficients)

    @cached_property
    def context(self) -> Context:
        """The part of the model that features see when they are lowered."""
        return Context(
            grid=self.grid,
            cache=self.site.cache,
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
            guides=self.simulation._guides,
        )

    @property
    def illuminations(self) -> tuple[Illumination, ...]:
        """The plane waves, as monitors know them."""
        sources, boundaries = self.simulation.sources, self.simulation.boundaries
        waves = [source for source in sources if source.kind == "plane-wave"]
        return tuple(wave._illumination(self.grid, boundaries, len(sources) == 1) for wave in waves)

    def seen(self, feature: Feature, variables: Variables, excitation: str) -> Variables:
        """A monitor's variables, marked where a plane wave was on with the fields: total, scattered, or both."""
        for light in self.context.illuminations if excitation == SOURCES else ():
            fields = parts_seen(light, recorders(self.terms)[feature.first : feature.first + feature.count])
            variables = marked(variables, fields)
        return variables

    @cached_property
    def lowered(self) -> tuple[tuple[Any, ...], dict[str, Feature], dict[str, Feature]]:
        """(all terms, ports by name, monitors by name)."""
        model, complex_fields = self.simulation, self.simulation.boundaries.complex_fields
        terms: list[Any] = [term for item in (*model.sources, *model.elements) for term in item._terms(self.context)]
        features: tuple[dict[str, Feature], dict[str, Feature]] = ({}, {})
        recorded = 0
        for found, items in zip(features, (model._channels, model.monitors)):
            for item in items:
                own = item._terms(self.context)
                if complex_fields:
                    own += [term.imaginary() for term in recorders(own)]
                count = len(recorders(own))
                found[item.name] = Feature(item, recorded, count, complex_fields)
                recorded += count
                terms += own
        return tuple(terms), *features

    @property
    def terms(self) -> tuple[Any, ...]:
        """Everything that happens in rows besides the update."""
        return self.lowered[0]

    @cached_property
    def plan(self) -> Plan:
        """The plan that an engine executes."""
        model, coefficients = self.simulation, self.coefficients
        material = (self.grid, self.boundaries, coefficients, self.time_step, model.precision)
        plan = build_plan(*material, self.terms, coefficients.pole_media)
        plan = replace(plan, storage=model.storage)
        if model.averaging == "tensor":
            plan = replace(plan, coupling=coupling_term(plan, self.grid, coefficients))
        return folded_plan(plan, self.grid)

    def source_end(self, excitation: str) -> float:
        """When (s) the last source of an excitation is off."""
        drives: list[Any] = [*self.plan.waveforms, *self.plan.waves]
        return max((drive.end for drive in drives if drive.excitation == excitation), default=0.0)

    def excitation_waveform(self, excitation: str) -> AnyWaveform | None:
        """The one waveform of an excitation, or None where its sources differ."""
        if excitation != SOURCES:
            port = next(port for port in self.simulation._channels if port.name == excitation)
            return port_waveform(self.simulation, port)
        waveforms = [source.waveform for source in self.simulation.sources]
        return waveforms[0] if waveforms and all(waveform == waveforms[0] for waveform in waveforms) else None
