"""The time loop: every excitation in turn, in blocks of steps, guarded, with progress; then the result."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence

import numpy as np

from nearfield.discretization.cautions import cautions
from nearfield.discretization.discretization import Discretization, port_waveform
from nearfield.discretization.model import Model
from nearfield.engines.cpu.tuning import RunTuner
from nearfield.engines.protocol import Engine
from nearfield.entry.errors import DivergedError, RunFailed
from nearfield.entry.toml_text import dumps, inline, plain
from nearfield.machine.facts import machine_facts
from nearfield.machine.interruption import Interruption
from nearfield.machine.transport import Alone, world
from nearfield.media.materials import Medium
from nearfield.output.field_streams import FieldStreams
from nearfield.parallel.start import start
from nearfield.records.hdf5 import write_result
from nearfield.records.records import ExcitationRecord, MonitorRecord, RunRecord, Variable, Variables
from nearfield.run.check import expected_steps
from nearfield.run.checkpoint.keeper import Checkpoints
from nearfield.run.guard import Guard, explain_divergence
from nearfield.run.options import RunOptions
from nearfield.run.progress import ProgressInfo

HOW_ENDED = {"diverged": "diverged", "interrupted": "was interrupted"}
SECONDS_PER_BLOCK = 0.2  # between looks at progress; results do not depend on where blocks end


class TimeLoop:
    """One excitation: advance in blocks, feed the guard, tell the progress."""

    def __init__(
        self,
        setup: Discretization,
        tuner: RunTuner,
        ranks: Alone,
        excitation: str,
        progress,
        checkpoints: Checkpoints,
        fields: FieldStreams,
    ) -> None:
        self.setup, self.tuner, self.excitation, self.progress = setup, tuner, excitation, progress
        self.checkpoints, self.fields = checkpoints, fields
        self.engine, self.ranks = tuner.engine, ranks
        volume = np.prod([line[-1] - line[0] for line in setup.grid.lines]) / np.prod(setup.plan.cells, dtype=float)
        self.guard = Guard(setup.source_end(excitation), setup.decay, float(volume))
        self.seconds = 0.0
        self.rate = 0.0  # steps a second, of the latest blocks
        self.ended: str | None = None  # what the guard said

    def run(self, stop: Interruption) -> str:
        """Advance to the end; returns why it ended: "steps", "decayed", "diverged", "interrupted" or "failed"."""
        steps, every = self.setup.steps, self.setup.simulation.check_every
        block = 1
        while self.engine.step < steps and not self.ended:
            to_check = every - self.engine.step % every
            depth = self.tuner.tiling.depth or 1
            whole = max(2 * depth, block // depth * depth)  # others would cut the tiles
            room = min(self.checkpoints.room, self.fields.room(self.engine.step))
            size = self.ranks.from_root(min(whole, to_check, steps - self.engine.step, room))
            weigh = size == to_check or self.engine.step + size == steps
            self.fields.before(self.engine.step, size)
            begun = time.perf_counter()
            result = self.engine.advance(size, self.excitation, weigh, stop.asked)
            self.fields.after(result is not None)
            if result is None or self.ranks.any(stop.asked()):
                return "interrupted"
            spent = time.perf_counter() - begun
            self.seconds += spent
            self.rate = size / max(spent, 1e-9)
            block = min(2 * whole, int(self.rate * SECONDS_PER_BLOCK))
            self.tuner.add(size, spent, weigh)
            self.ended = self.guard.add(self.engine.step * self.setup.time_step, result.energy) if weigh else None
            self.tell()
            if self.fields.failure:
                return "failed"
            if self.ended != "diverged" and self.checkpoints.after(self, size, stop.terminated()):
                return "interrupted"
        return self.ended or "steps"

    def tell(self) -> None:
        """Report where the run stands."""
        if self.progress:
            step, steps = self.engine.step, self.setup.steps
            rate = step / max(self.seconds, 1e-9)
            cells = np.prod(self.setup.plan.cells, dtype=float)
            left = (steps - step) / rate
            rate, note = self.rate * cells / 1e6, self.tuner.note
            self.progress(ProgressInfo(step, steps, rate, self.guard.ratio, left, self.excitation, note))

    def recorded(self, ended: str, stop: Interruption) -> tuple[ExcitationRecord, str]:
        """What was recorded, and how it ended: a signal while more is derived from it makes that "interrupted"."""
        if ended in ("steps", "decayed"):
            if self.ranks.size > 1:
                return self.record(complete=True), ended
            try:
                with stop.at_once():
                    return self.record(complete=True), ended
            except KeyboardInterrupt:
                ended = "interrupted"
                if stop.terminated():
                    self.checkpoints.end(self)
        return self.record(complete=False), ended

    def record(self, complete: bool) -> ExcitationRecord:
        """What was recorded, as labelled arrays; `complete`: with what takes long to derive from it."""
        setup, context = self.setup, self.setup.context
        recordings = self.engine.recordings()
        if recordings is None:  # they are with rank 0
            return ExcitationRecord({}, {}, {}, None)
        _, ports, monitors = setup.lowered

        def own(feature) -> Variables:
            mine = feature.own(recordings)
            return feature.item.collect(context, mine, self.excitation)

        def seen(feature) -> Variables:
            variables = feature.item.complete(own(feature)) if complete else own(feature)
            return setup.seen(feature, variables, self.excitation)

        return ExcitationRecord(
            energy=series(np.array(self.guard.times), np.array(self.guard.energies), "energy", "J"),
            ports={name: own(feature) for name, feature in ports.items()},
            monitors={
                name: MonitorRecord(
                    feature.item.kind,
                    feature.item.model_dump(mode="json"),
                    seen(feature),
                    self.fields.file_of(name, self.excitation),
                )
                for name, feature in monitors.items()
            },
            waveform=self.used_waveform(),
        )

    def used_waveform(self) -> Variables | None:
        """The samples of the excitation's waveform that were used, at (m - 1/2) dt."""
        waveform = self.setup.excitation_waveform(self.excitation)
        if waveform is None:
            return None
        times = (np.arange(1, self.engine.step + 1) - 0.5) * self.setup.time_step
        return series(times, waveform.value(times), "value", "1")


def series(times: np.ndarray, values: np.ndarray, name: str, units: str) -> Variables:
    """A time series as labelled arrays."""
    return {"time": Variable(("time",), times, {"units": "s"}), name: Variable(("time",), values, {"units": units})}


def media_table(simulation: Model) -> dict[str, dict]:
    """The constants of every medium of the model by name; poles as a model file has them."""
    table = {"background": media_row(simulation.background)}
    table |= {name: media_row(medium) for name, medium in simulation.media.items()}
    for number, structure in enumerate(simulation.structures):
        if not isinstance(structure.medium, str):
            name = structure.medium.name or f"structure {number}"
            table.setdefault(name, media_row(structure.medium))
    return table


def media_row(medium: Medium) -> dict:
    """A medium's constants."""
    row = {name: getattr(medium, name) for name in type(medium).model_fields}
    return {
        name: inline(plain(value)) if isinstance(value, tuple) else value for name, value in row.items() if value != ()
    }


def run(
    model: Model,
    options: RunOptions,
    setup: Discretization | None = None,
    cautioned: Sequence[str] | None = None,
    checkpoints: Checkpoints | None = None,
) -> RunRecord:
    """Run all excitations of a model; what it leaves, which rank 0 writes to the output after each of them.

    `setup` and `cautioned`: its discretisation and its cautions, where they are known. Errors: `ModelError`
    before anything is written; `RunFailed` and `DivergedError`, whose `result` is the record.
    """
    begun = time.perf_counter()
    setup = setup or Discretization(model, world())
    known = list(cautions(setup) if cautioned is None else cautioned)
    record = RunRecord(
        model_text=dumps(model),
        grid=setup.grid,
        media=media_table(model),
        facts=machine_facts(),
        status="failed",
        excitations={},
        title=model.title,
    )
    started = start(setup.plan, options.threads, model.schedule, options.tiling, options.parallel)
    root, checkpoints = started.ranks.rank == 0, checkpoints or Checkpoints()
    steps = expected_steps(setup) * len(setup.excitations)
    tuner = RunTuner(started.engine, started.choice, steps, model.check_every)
    record.facts |= plan_facts(setup, started.engine) | tuner.facts() | started.facts()
    record.facts |= {"warnings": [*known, *started.binding.warnings]}
    record.facts |= {"setup_seconds": time.perf_counter() - begun, "runs": {}}
    fields = FieldStreams(setup, started, options.output, options.space_check)
    checkpoints.begin(setup, started.ranks, record)
    fields.claim(record)
    with Interruption(checkpoints.schedule is not None) as stop, contextlib.closing(fields):

        def keep() -> None:
            if options.output is not None and root:
                write_result(options.output, record)

        told = options.progress if root else None
        failure = run_excitations(setup, tuner, started.ranks, told, record, stop, keep, checkpoints, fields)
        record.facts["rank_seconds"] = started.seconds()
        found = [*started.binding.warnings, *ending_warnings(record, setup)]
        record.facts["warnings"] = [*known, *found, *checkpoints.warnings]
        record.facts |= checkpoints.facts() | fields.facts()
        if root:
            finish(record, setup)
        keep()
    for warning in found:
        options.warn(warning)
    if stop.asked() and options.output is not None and record.status == "done":
        raise KeyboardInterrupt  # it came while the file was written
    if fields.failure:
        raise RunFailed(f"{fields.failure}. The run was ended; what else was recorded is kept")
    if failure:
        raise DivergedError(failure, record)
    return record


def run_excitations(
    setup: Discretization,
    tuner: RunTuner,
    ranks: Alone,
    progress: Callable[[ProgressInfo], None] | None,
    record: RunRecord,
    stop: Interruption,
    keep: Callable[[], None],
    checkpoints: Checkpoints,
    fields: FieldStreams,
) -> str | None:
    """Run one excitation after the other into the record; returns what went wrong if a field diverged.

    Between two of them the record is kept, marked "failed", so that whatever ends the next one leaves the others.
    """
    for excitation in setup.excitations[len(record.excitations) :]:
        loop = TimeLoop(setup, tuner, ranks, excitation, progress, checkpoints, fields)
        if not checkpoints.restore(loop):
            if record.excitations:
                keep()
            tuner.engine.reset()
        fields.begin(excitation, tuner.engine.step)
        ended = loop.run(stop)
        fields.end(ended in ("steps", "decayed"), f"the run {HOW_ENDED.get(ended, ended)}")
        record.excitations[excitation], ended = loop.recorded(ended, stop)
        record.facts["runs"][excitation] = run_facts(loop, ended)
        record.facts |= tuner.facts()
        if ended in ("diverged", "interrupted", "failed"):
            record.status = ended
        if ended == "diverged":
            record.facts["divergence"] = explain_divergence(setup, tuner.engine)
            return record.facts["divergence"]
        if ended in ("interrupted", "failed") or fields.failure:
            return None
    record.status = "done"
    return None


def finish(record: RunRecord, setup: Discretization) -> None:
    """Add the S-parameters, when every run ended as it should."""
    from nearfield.analysis.sparameters import scattering_variables

    excited = [name for name in record.excitations if name != "sources"]
    if record.status == "done" and excited:
        ports = setup.simulation.channels
        bands = [port_waveform(setup.simulation, port).band for port in ports if port.name in record.excitations]
        impedances = {port.name: port.impedance for port in ports}
        record.sparameters = scattering_variables(record, bands, impedances, setup.time_step)


def plan_facts(setup: Discretization, engine: Engine) -> dict:
    """Numbers of the discretised model and of the engine."""
    core = engine.facts()
    cells = int(np.prod(setup.plan.cells, dtype=np.int64))
    return {
        "cells": cells,
        "shape": list(setup.grid.cells),
        "time_step": setup.time_step,
        "precision": setup.plan.precision,
        "engine": "cpu",
        "isa": core["isa"],
        "threads": core["threads"],
        "bytes": core["bytes"],
        "bytes_per_cell": core["bytes"] / cells,
        "palette_blocks": core["palette_blocks"],
        "unit_stride_axis": "xyz"[engine.plan.unit_axis],
    }


def run_facts(loop: TimeLoop, ended: str) -> dict:
    """How one excitation went."""
    steps = loop.engine.step
    cells = float(np.prod(loop.setup.plan.cells, dtype=float))
    return {
        "ended": ended,
        "steps": steps,
        "seconds": loop.seconds,
        "simulated_time": steps * loop.setup.time_step,
        "mcells_per_second": cells * steps / max(loop.seconds, 1e-9) / 1e6,
        "energy_ratio": loop.guard.ratio,
    }


def ending_warnings(record: RunRecord, setup: Discretization) -> list[str]:
    """A run that was to decay and did not must say so."""
    found = []
    for name, facts in record.facts["runs"].items():
        if setup.decay and facts["ended"] == "steps" and facts["energy_ratio"] > setup.decay:
            found.append(
                f'excitation "{name}" was cut off after {facts["steps"]} steps with '
                f"{10 * np.log10(facts['energy_ratio']):.0f} dB of its peak energy left "
                f"(wanted {10 * np.log10(setup.decay):.0f} dB): spectra may ripple; "
                "give more `steps`, or a larger `decay`"
            )
    return found
