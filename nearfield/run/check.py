"""Costs and warnings of a model from its shapes alone: no field array is built, 10^8 cells take seconds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from nearfield.discretization.cautions import cautions
from nearfield.discretization.discretization import Discretization
from nearfield.discretization.guide_table import PortMode, port_modes
from nearfield.discretization.moves import moves
from nearfield.discretization.resolution import MediumCheck, phase_across, resolved_media, rounded
from nearfield.engines import AUTO, UNDIVIDED, Choice, chosen_engine
from nearfield.engines.choice import refuse_narrow
from nearfield.engines.cpu.tuning import choose, tiles_text
from nearfield.entry.errors import ModelError
from nearfield.entry.wording import duration, memory, quantity
from nearfield.grid.moves import Moved
from nearfield.media.surface_media import is_metal
from nearfield.metal.cautions import and_others
from nearfield.plan.planning import unit_length
from nearfield.run.disk_space import checkpoint_bytes, result_bytes
from nearfield.run.forecast import forecast, long_run
from nearfield.run.memory import memory_of, too_full, too_much_memory
from nearfield.run.rank_memory import RankMemory, rank_memory

if TYPE_CHECKING:
    from nearfield.discretization.model import Model

SHOWN = 12  # moves that the text lists; --json has all
FROM_SETUP = ("time_step", "time_step_limit", "steps", "expected_steps", "decay", "excitations")


@dataclass(frozen=True)
class MetalCheck:
    """How metal lies on the grid, which bodies decide that, and what their cut cells cost."""

    method: str  # "staircase" or "conformal"
    off_lines: tuple[str, ...]  # metal that is curved, slanted or between grid lines, and what opens it there
    cutting: tuple[str, ...]  # those of them that cut cells
    expected_steps: int  # usual for such a run
    steps_without_cuts: int  # the same with the time step that uncut cells allow
    open_edges: tuple[str, ...]  # metal on grid lines that "auto" follows for its edges in the open field
    why: str  # what decided the method

    @classmethod
    def of(cls, setup: Discretization) -> MetalCheck:
        """That of a model on its grid."""
        choice = setup.metal_choice
        off, cutting, edges = (
            tuple(body.label for body in bodies) for bodies in (choice.off_lines, choice.cutting, choice.open_edges)
        )
        if off:
            why = f"{first_of(off)} off the grid lines"
        elif edges:
            why = f"on the grid lines, with edges in the open field: {first_of(edges)}"
        elif setup.simulation.metal == "auto":
            why = "on the grid lines, with no edge in the open field"
        else:
            why = "as the model states"
        return cls(choice.method, off, cutting, setup.expected_steps, setup.steps_without_cuts, edges, why)

    def __str__(self) -> str:
        text = [self.method, self.why]
        if self.method == "staircase" and self.off_lines:
            text.append("on whole cells and edges all the same")
        if self.cutting and self.expected_steps > self.steps_without_cuts:
            text.append(
                f"cells cut by {first_of(self.cutting)} make it {self.expected_steps:,} steps instead of "
                f"{self.steps_without_cuts:,}"
            )
        elif self.cutting:
            text.append(f"cells cut by {first_of(self.cutting)} make the time step shorter than that of whole cells")
        elif self.method == "conformal":
            text.append("no cell is cut, so the time step is that of whole cells")
        return "; ".join(text)


def first_of(labels: Sequence[str]) -> str:
    """The first of some names, and how many more there are."""
    return labels[0] + and_others(labels)


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
    engine: str
    threads: int
    tiles: dict[str, Any]  # schedule, depth, width, how they were chosen, footprint, predicted gain
    media: tuple[MediumCheck, ...]
    field_files: str  # bytes of the monitors' own files, of all excitations; empty without any
    phase_error: float  # degrees across the longest side of the grid, in the medium where it is worst
    warnings: tuple[str, ...]
    modes: tuple[PortMode, ...] = ()  # of the waveguide ports
    metal: MetalCheck | None = None  # None without metal bodies
    moved: tuple[Moved, ...] = ()  # what the grid moves to its lines: what, from, to (m), effect
    engine_why: str = ""  # of the choice "auto"
    device_memory_bytes: int = 0  # of the engine cuda
    setup_memory_bytes: int = 0  # beside memory_bytes, while coefficients are made
    device_free_bytes: int | None = None  # on the card; None: there is none
    parameters: dict[str, Any] = field(default_factory=dict)  # of the model: values with their units
    rank: RankMemory | None = None  # memory of a rank, where their number is given

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers, lists and strings, SI."""
        return asdict(self)

    def _on_device(self) -> str:
        free = self.device_free_bytes
        return memory(self.device_memory_bytes) + (f", {memory(free)} free on the card" if free is not None else "")

    def _parameters(self) -> list[tuple[str, str]]:
        return [(name, value if isinstance(value, str) else f"{value:g}") for name, value in self.parameters.items()]

    def _rows(self) -> dict[str, str]:
        """The costs by name, as text."""
        nx, ny, nz = self.cells
        runs = len(self.excitations)
        end = f", or when the energy has fallen to {self.decay:g} of its peak" if self.decay else ""
        several = f" for each of {runs} excitations ({', '.join(self.excitations)})" if runs > 1 else ""
        return {
            **({"parameters": given} if (given := ", ".join(map(" = ".join, self._parameters()))) else {}),
            "cells": f"{nx} x {ny} x {nz} = {self.total_cells:,}",
            "extent": " x ".join(quantity(length, "m") for length in self.extent),
            "cell size": f"{quantity(self.smallest_cell, 'm')} to {quantity(self.largest_cell, 'm')}",
            "time step": f"{quantity(self.time_step, 's')} (stable below {quantity(self.time_step_limit, 's')})",
            "steps": f"at most {self.steps:,}, {quantity(self.steps * self.time_step, 's')}{end}{several}",
            **({"metal": str(self.metal)} if self.metal else {}),
            "memory": memory(self.memory_bytes)
            + (f", and {memory(self.setup_memory_bytes)} while it is set up" if self.setup_memory_bytes else ""),
            **({"memory of a rank": str(self.rank)} if self.rank else {}),
            "time": f"{duration(self.predicted_seconds)} for {self.expected_steps * runs:,} steps at "
            f"{self.mcells_per_second:.0f} Mcells/s ({self.rate_source})",
            "engine": str(Choice(self.engine, self.engine_why)),
            **({"memory on device": self._on_device()} if self.device_memory_bytes else {}),
            "threads": str(self.threads),
            "tiles": tiles_text(self.tiles),
            "output": memory(self.output_bytes),
            **({"field files": self.field_files} if self.field_files else {}),
            "a checkpoint": memory(self.checkpoint_bytes),
            "highest frequency": quantity(self.highest_frequency, "Hz") if self.highest_frequency else "none excited",
        }

    def _repr_html_(self) -> str:
        from nearfield.pictures.notebook import picture_and_table

        warnings = {f"warning {number}": text for number, text in enumerate(self.warnings, start=1)}
        return picture_and_table(self.title or "Check", self._rows() | (warnings or {"warnings": "none"}))

    def __str__(self) -> str:
        text = [self.title] if self.title else []
        text += [f"{name:18} {value}" for name, value in self._rows().items()]
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
        if self.moved:
            text += ["", "moved to grid lines"]
            text += [f"  {each['what']}: {each['effect']}" for each in self.moved[:SHOWN]]
            more = len(self.moved) - SHOWN
            text += [f"  and {more} more, which `check --json` lists"] if more > 0 else []
        text += [""] + [f"warning: {warning}" for warning in self.warnings] if self.warnings else ["", "no warnings"]
        return "\n".join(text)


def examine(simulation: Model, threads: int | None = None, ranks: int | None = None) -> Check:
    """The check of a simulation, on so many ranks. Error: ModelError for what `run` would refuse as well."""
    setup = Discretization(simulation)
    grid, plan = setup.grid, setup.plan
    media, frequency = resolved_media(setup), setup.band_edge
    total, extent = math.prod(plan.cells), tuple(float(line[-1] - line[0]) for line in grid.lines)
    if plan.storage != "full":
        refuse_narrow(simulation.engine)
    found = chosen_engine(simulation.engine, plan if simulation.engine == AUTO else None)
    engine = found.name
    choice = (
        choose(plan, (engine == "cuda" and threads) or 1, "stepwise")
        if engine in UNDIVIDED
        else choose(plan, threads, simulation.schedule)
    )
    threads = threads or choice.machine.threads
    time = forecast(setup, threads, engine=engine)
    needed, (files, full) = memory_of(setup, time.surfaces.bytes, engine), field_files(setup)
    return Check(
        title=simulation.title,
        cells=plan.cells,
        total_cells=total,
        smallest_cell=unit_length(grid),
        largest_cell=max(float(grid.primary(axis).max()) for axis in range(3)),
        extent=extent,
        highest_frequency=frequency,
        memory_bytes=needed.total,
        setup_memory_bytes=needed.setup,
        output_bytes=result_bytes(setup),
        checkpoint_bytes=checkpoint_bytes(setup, time.surfaces.stored_bytes),
        predicted_seconds=time.seconds,
        mcells_per_second=time.mcells_per_second,
        rate_source=time.source,
        engine=engine,
        engine_why=found.why,
        device_memory_bytes=needed.device,
        device_free_bytes=needed.device_free,
        threads=threads,
        tiles=choice.facts(),
        field_files=files,
        media=media,
        phase_error=phase_across(grid, media, frequency),
        warnings=(
            *cautions(setup),
            *long_run(time),
            *too_much_memory(needed.total, needed.setup),
            *too_full(needed),
            *full,
        ),
        modes=port_modes(setup),
        metal=MetalCheck.of(setup) if any(is_metal(body.medium) for body in simulation._bodies) else None,
        moved=tuple(moves(setup)),
        parameters=dict(simulation.parameters),
        rank=rank_memory(setup, ranks, time.surfaces.bytes) if ranks and ranks > 1 else None,
        **{name: getattr(setup, name) for name in FROM_SETUP},
    )


def field_files(setup: Discretization) -> tuple[str, list[str]]:
    """Size of the monitors' own files, and a warning where the disk here has too little room."""
    from nearfield.formats.sizes import PredictedSize, refuse_full_disk
    from nearfield.output.element_file import cost
    from nearfield.output.field_sizes import features_with_files, file_sizes

    if not features_with_files(setup):
        return "", []
    sizes, full = file_sizes(setup), []
    try:
        refuse_full_disk(".", sizes)
    except ModelError as error:
        full.append(str(error))
    stored = str(sum(sizes, PredictedSize(0, True))) if sizes else ""
    return "; ".join(filter(None, (stored, cost(setup)))), full
