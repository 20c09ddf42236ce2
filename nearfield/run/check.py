"""Costs and warnings of a model from its shapes alone: no field array is built, 10^8 cells take seconds."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from nearfield.discretization.cautions import cautions
from nearfield.discretization.discretization import Discretization
from nearfield.discretization.guide_table import PortMode, port_modes
from nearfield.discretization.resolution import MediumCheck, resolved_media, rounded
from nearfield.engines.cpu.pole_sizes import kept_numbers, pole_bytes, pole_cost
from nearfield.engines.cpu.tuning import choose, described
from nearfield.entry.constants import VACUUM_SPEED
from nearfield.entry.errors import ModelError
from nearfield.entry.wording import duration, memory, quantity
from nearfield.machine.machine_rate import known_rate
from nearfield.machine.system_files import free_memory
from nearfield.plan.planning import unit_length
from nearfield.plan.sizes import HDF5_OVERHEAD, domain_bytes, term_bytes
from nearfield.run.surface_costs import surfaces

if TYPE_CHECKING:
    from nearfield.discretization.model import Model

FROM_SETUP = ("time_step", "time_step_limit", "steps", "expected_steps", "decay", "excitations")


@dataclass(frozen=True)
class Check:
    """Costs of a simulation and warnings about it; `print(check)` reads well, `as_dict()` is for programs."""

    title: str
    cells: tuple[int, int, int]
    total_cells: int
    smallest_cell: float  # m
    largest_cell: float  # m
    extent: tuple[float, ...]  # m, along x, y, z
    time_step: float  # s
    time_step_limit: float  # s
    steps: int  # of each excitation, at most
    expected_steps: int  # usual for such a run
    decay: float | None  # the run ends earlier when energy over peak energy falls below
    excitations: tuple[str, ...]
    highest_frequency: float  # Hz, where the excitation is 20 dB down; 0 without any
    memory_bytes: int
    output_bytes: int
    checkpoint_bytes: int  # of one checkpoint; two are kept, and one more while it is written
    predicted_seconds: float  # all excitations, all steps
    mcells_per_second: float
    rate_source: str
    threads: int
    tiles: dict[str, Any]  # schedule, depth, width, how they were chosen, footprint, predicted gain
    media: tuple[MediumCheck, ...]
    field_files: str  # bytes of the monitors' own files, of all excitations; empty without any
    phase_error: float  # degrees across the longest side of the grid, in the medium where it is worst
    warnings: tuple[str, ...]
    modes: tuple[PortMode, ...] = ()  # of the waveguide ports

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers, lists and strings, SI."""
        return asdict(self)

    def __str__(self) -> str:
        nx, ny, nz = self.cells
        runs = len(self.excitations)
        end = f", or when the energy has fallen to {self.decay:g} of its peak" if self.decay else ""
        several = f" for each of {runs} excitations ({', '.join(self.excitations)})" if runs > 1 else ""
        lines = {
            "cells": f"{nx} x {ny} x {nz} = {self.total_cells:,}",
            "extent": " x ".join(quantity(length, "m") for length in self.extent),
            "cell size": f"{quantity(self.smallest_cell, 'm')} to {quantity(self.largest_cell, 'm')}",
            "time step": f"{quantity(self.time_step, 's')} (stable below {quantity(self.time_step_limit, 's')})",
            "steps": f"at most {self.steps:,}, {quantity(self.steps * self.time_step, 's')}{end}{several}",
            "memory": memory(self.memory_bytes),
            "time": f"{duration(self.predicted_seconds)} for {self.expected_steps * runs:,} steps at "
            f"{self.mcells_per_second:.0f} Mcells/s ({self.rate_source})",
            "threads": str(self.threads),
            "tiles": described(self.tiles),
            "output": memory(self.output_bytes),
            **({"field files": self.field_files} if self.field_files else {}),
            "a checkpoint": memory(self.checkpoint_bytes),
            "highest frequency": quantity(self.highest_frequency, "Hz") if self.highest_frequency else "none excited",
        }
        text = [self.title] if self.title else []
        text += [f"{name:18} {value}" for name, value in lines.items()]
        if self.media and self.highest_frequency:
            text += ["", "at the highest frequency     cells per wavelength   phase error per wavelength"]
            text += [
                f"  {medium.name[:24]:24} {medium.cells_per_wavelength:>22.4g} {rounded(medium.phase_error, 3):>22} deg"
                for medium in self.media
            ]
            text.append(f"estimated phase error across the grid: {rounded(self.phase_error, 3)} deg")
        if self.modes:
            text += ["", "modes of the waveguide ports             cut-off  wavelength at the middle of the pulse"]
            text += [each.described() for each in self.modes]
        text += [""] + [f"warning: {warning}" for warning in self.warnings] if self.warnings else ["", "no warnings"]
        return "\n".join(text)


def examine(simulation: Model, threads: int | None = None) -> Check:
    """The check of a simulation. Error: ModelError for what `run` would refuse as well."""
    setup = Discretization(simulation)
    grid, plan, precision = setup.grid, setup.plan, simulation.precision
    media, frequency = resolved_media(setup), setup.band_edge
    total, extent = math.prod(plan.cells), tuple(float(line[-1] - line[0]) for line in grid.lines)
    choice = choose(plan, threads, simulation.schedule)
    threads = threads or choice.machine.threads
    rate = known_rate(precision, threads, total)
    on_surfaces, surface_cost = surfaces(setup)
    speed = rate.mcells_per_second / (1.0 + float(pole_cost(kept_numbers(plan)).mean()) + surface_cost)
    runs, steps = max(1, len(setup.excitations)), setup.expected_steps
    parts = 1 + plan.complex_fields
    fields = domain_bytes(plan.active, plan.cpml, precision) * parts + pole_bytes(plan) + on_surfaces
    in_terms, output = term_bytes(setup.terms, steps, precision)
    files, rings, full = field_files(setup)
    waves = max(extent) * frequency / VACUUM_SPEED  # wavelengths in vacuum along the longest side
    return Check(
        title=simulation.title,
        cells=plan.cells,
        total_cells=total,
        smallest_cell=unit_length(grid),
        largest_cell=max(float(grid.primary(axis).max()) for axis in range(3)),
        extent=extent,
        highest_frequency=frequency,
        memory_bytes=fields + in_terms + rings,
        output_bytes=HDF5_OVERHEAD + output * runs,
        checkpoint_bytes=fields + in_terms,
        predicted_seconds=total * parts * steps * runs / (speed * 1e6),
        mcells_per_second=speed,
        rate_source=rate.source,
        threads=threads,
        tiles=choice.facts(),
        field_files=files,
        media=media,
        phase_error=max(medium.phase_error * waves * medium.refractive_index for medium in media) if waves else 0.0,
        warnings=(*cautions(setup), *too_much_memory(fields + in_terms + rings), *full),
        modes=port_modes(setup),
        **{name: getattr(setup, name) for name in FROM_SETUP},
    )


def field_files(setup: Discretization) -> tuple[str, int, list[str]]:
    """Size of the monitors' own files, memory of their rings, and a warning where the disk here has too little room."""
    from nearfield.formats.sizes import PredictedSize, refuse_full_disk
    from nearfield.output.field_sizes import features_with_files, file_sizes, ring_bytes

    if not features_with_files(setup):
        return "", 0, []
    sizes, full = file_sizes(setup), []
    try:
        refuse_full_disk(".", sizes)
    except ModelError as error:
        full.append(str(error))
    return str(sum(sizes, PredictedSize(0, True))), ring_bytes(setup), full


def too_much_memory(needed: int) -> list[str]:
    """A warning where the machine has less memory than the run takes."""
    free = free_memory()
    if free is None or needed < free:
        return []
    return [f"needs {memory(needed)} of memory, {memory(free)} are free here; use fewer cells or monitors"]
