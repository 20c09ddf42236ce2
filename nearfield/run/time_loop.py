"""The time loop: every excitation in turn, in blocks of steps, guarded, with progress; then the result."""

from __future__ import annotations

import contextlib
import math
import time
import warnings
from collections.abc import Sequence
from dataclasses import astuple, replace
from functools import partial
from itertools import chain
from pathlib import Path

import numpy as np

from nearfield.analysis.sparameters import scattering_variables
from nearfield.discretization.cautions import cautions
from nearfield.discretization.cpml import lowest_of
from nearfield.discretization.discretization import Discretization
from nearfield.discretization.excitations import port_waveform
from nearfield.discretization.model import Model, stated
from nearfield.discretization.resolution import lossless
from nearfield.engines.cpu.tuning import RunTuner
from nearfield.entry.attempts import Attempts
from nearfield.entry.errors import DivergedError, RunFailed
from nearfield.entry.toml_text import dumps
from nearfield.machine.facts import machine_facts
from nearfield.machine.interruption import Interruption
from nearfield.machine.transport import agreed, world
from nearfield.output.field_streams import FieldStreams
from nearfield.output.writers import started_ahead
from nearfield.parallel.start import start
from nearfield.parallel.timeline import few, write_trace
from nearfield.records.hdf5 import write_result
from nearfield.records.records import ExcitationRecord, RunRecord, Variable, Variables
from nearfield.run.checkpoint.keeper import Checkpoints, once
from nearfield.run.collecting import Collector
from nearfield.run.disk_space import DiskWatch, bytes_on_disk
from nearfield.run.endings import ending_warnings
from nearfield.run.facts import excitation_facts, media_table, plan_facts
from nearfield.run.forecast import Forecast, forecast, refuse_unasked, surely_short
from nearfield.run.guard import Guard, explain_divergence
from nearfield.run.memory import short_of_memory
from nearfield.run.options import ProgressInfo, RunOptions
from nearfield.run.static_rest import Look, moments, worth_a_look
from nearfield.run.storage_error import said, scaled
from nearfield.trust.balance import power_takers
from nearfield.trust.cut_off import records_left
from nearfield.trust.entries import Trust
from nearfield.trust.far_fields import surface_trust
from nearfield.trust.model import model_trust
from nearfield.trust.ports import returned_warnings

HALTED = ("diverged", "interrupted", "failed")  # ends of an excitation after which no other is run
HOW_ENDED = {"diverged": "diverged", "interrupted": "was interrupted"}
SECONDS_PER_BLOCK = 0.2  # between looks at progress; results do not depend on where blocks end


def run(
    model: Model,
    options: RunOptions,
    setup: Discretization | None = None,
    cautioned: Sequence[str] | None = None,
    checkpoints: Checkpoints | None = None,
) -> RunRecord:
    """Run all excitations of a model; returns the record, which rank 0 writes to the output after each of them.

    `setup` and `cautioned`: its discretisation and its warnings, where they are known. Errors: `ModelError`
    before anything is written; `RunFailed` and `DivergedError`, whose `result` is the record.
    """
    begun = time.perf_counter()
    if setup is not None:
        return run_set_up(setup, options, cautioned, checkpoints, begun)
    with started_ahead(model, world()) as writer:
        setup = Discretization(model, world())
        return run_set_up(setup, replace(options, writer=writer), cautioned, checkpoints, begun)


def run_set_up(
    setup: Discretization,
    options: RunOptions,
    cautioned: Sequence[str] | None,
    checkpoints: Checkpoints | None,
    begun: float,
) -> RunRecord:
    """Run all excitations of a discretisation; `begun`: when its set-up began. Errors: as of `run`."""
    options = options.settled(setup.simulation.engine, setup.plan)
    known = cautions(setup) if cautioned is None else cautioned
    checkpoints = checkpoints or Checkpoints()
    if not (options.long or checkpoints.resumed or surely_short(setup)):
        refuse_unasked(forecast(setup, options.threads, setup.ranks.size, options.engine), allowed=False)
    if cautioned is None:
        crowded = short_of_memory(setup, options.engine)
        known = [*known, *crowded]
        for warning in crowded:  # said at once: the system may end the run when its memory is gone
            warnings.warn(warning, stacklevel=2)
    whole = Run(setup, options, known, checkpoints, begun)
    record = whole.record
    try:
        with whole.stop as stop, contextlib.closing(whole.fields):
            whole.excite()
            later = whole.close()
    except RunFailed as error:
        error.result = record
        raise
    for warning in later:
        options.warn(warning)
    if stop.asked() and options.output is not None and record.status == "done":
        raise KeyboardInterrupt  # it came while the file was written
    if whole.fields.failure:
        raise RunFailed(f"{whole.fields.failure}. The run was ended; the other recordings are kept", record)
    if record.status == "diverged":
        raise DivergedError(record.facts["divergence"], record)
    return record


class Run:
    """All excitations of a model, one after the other, on one engine into one record."""

    def __init__(
        self, setup: Discretization, options: RunOptions, known: Sequence[str], checkpoints: Checkpoints, begun: float
    ) -> None:
        self.setup, self.options, self.checkpoints = setup, options, checkpoints
        model = setup.simulation
        self.record = RunRecord(
            model_text=dumps(stated(model)),
            grid=setup.grid,
            media=media_table(model),
            facts=machine_facts(),
            status="failed",
            excitations={},
            title=model.title,
        )
        (plan, storage), wishes = scaled(setup, options.threads), (model.schedule, options.tiling, options.parallel)
        self.started = start(plan, options.threads, *wishes, options.engine or model.engine)
        self.ranks, self.engine = self.started.ranks, self.started.engine
        steps = setup.expected_steps * len(setup.excitations)
        self.tuner = RunTuner(self.engine, self.started.choice, steps, model.check_every)
        facts = self.record.facts
        facts["reference_impedances"] = {port.name: port.impedance for port in model._channels}
        facts |= plan_facts(setup, self.started) | self.tuner.facts() | self.started.facts()
        self.attempts = Attempts()
        judged = self.attempts.at("judging the model", partial(model_trust, setup), [])
        trust = [*map(Trust.json_data, judged), *said(storage, facts, options.say)]
        facts |= {"lossless": lossless(model), "trust": trust}
        facts["takers"] = self.attempts.at("naming what takes power", partial(power_takers, setup), None)
        facts |= {"warnings": [*known, *self.started.binding.warnings]}
        facts |= {"engine_choice": options.engine_why} if options.engine_why else {}
        facts |= {"setup_seconds": time.perf_counter() - begun, "runs": {}}
        wanted = options.space_check, options.writer, checkpoints.begun
        self.fields = FieldStreams(setup, self.started, options.output, *wanted)
        output = None if options.output is None or self.ranks.rank else Path(options.output).parent
        self.folder = output if output is not None and output.is_dir() else None  # as it was before the run
        self.disk = DiskWatch(output, bytes_on_disk(setup, self.fields.planned, checkpoints.to_come), checkpoints.tell)
        if options.space_check:
            agreed(self.ranks, self.disk.refuse_full, at_root=True)

        def expected() -> Forecast:  # asked where fields go to files alone
            return forecast(setup, options.threads, self.ranks.size, options.engine)

        self.known = [*known, *self.fields.foresee(expected, checkpoints.tell)]
        self.stop = Interruption(checkpoints.schedule is not None)
        self.fields.watch(self.stop)
        self.ranks.watch(kept=self.kept)
        checkpoints.begin(setup, self.ranks, self.record)
        self.fields.claim(self.record)

    def kept(self) -> str:
        """What is on the disk, for a run whose other ranks are lost."""
        newest = self.checkpoints.newest()
        return (
            f"{newest} is whole: `nearfield run --resume {newest.parent}` goes on with it"
            if newest
            else f"Finished excitations are in {self.options.output}"
            if self.record.excitations and self.options.output
            else "Nothing was finished; --checkpoint keeps the state of a run on its way"
        )

    def excite(self) -> None:
        """Run one excitation after the other into the record, until all are done or something ends the run.

        Between two of them the record is saved, marked "failed", so that whatever ends the next one leaves the others.
        """
        for excitation in self.setup.excitations[len(self.record.excitations) :]:
            loop = TimeLoop(self, excitation)
            if not self.checkpoints.restore(loop):
                if self.record.excitations:
                    self.save()
                self.engine.reset()
            self.fields.begin(excitation, self.engine.step)
            ended = loop.advance()
            self.fields.end(ended in ("steps", "decayed"), f"the run {HOW_ENDED.get(ended, ended)}")
            ended = loop.record_into(ended)
            self.record.facts["runs"][excitation] = excitation_facts(loop, ended)
            self.record.facts |= self.tuner.facts()
            if ended == "diverged":
                self.record.facts["divergence"] = self.attempts.at(
                    "finding where the fields diverged",
                    partial(explain_divergence, self.setup, self.engine, loop.guard),
                    f"diverged at step {self.engine.step}",
                )
            if ended in HALTED:
                self.record.status = ended
            if ended in HALTED or self.fields.failure:
                return
        self.record.status = "done"

    def close(self) -> list[str]:
        """Complete the record and save it; returns the warnings that were not known before the run."""
        facts = self.record.facts
        facts["rank_seconds"] = self.started.seconds()
        if (spans := self.started.timeline()) and self.options.trace:
            facts["timeline"] = [[astuple(span) for span in own] for own in few(spans)]
            self.attempts.at("the trace", partial(write_trace, self.options.trace, spans, self.ranks.hosts), None)
        if kernels := self.engine.facts().get("kernels"):
            facts["kernels"] = kernels
        if self.ranks.rank == 0:
            self.attempts.at("deriving S-parameters", lambda: finish(self.record, self.setup), None)
        ending = self.judged()
        later = [*self.started.binding.warnings, *ending, *self.attempts.warnings, *self.folder_made_again()]
        facts["warnings"] = once(self.known, later, self.checkpoints.warnings, self.disk.warnings)
        if failed := once(self.checkpoints.failed, self.attempts.failed):
            facts["failed_derivations"] = failed
        facts |= self.checkpoints.facts() | self.fields.facts()
        self.save()
        return later

    def judged(self) -> list[str]:
        """Put what the records say of their own accuracy into the facts; returns warnings of it."""
        facts = self.record.facts
        if self.ranks.rank > 0:
            return ending_warnings(self.setup, facts["runs"], {})
        attempts = self.attempts
        left: dict[str, list[Trust]] = {}
        for name, record in self.record.excitations.items():
            told = partial(records_left, self.setup, name, record, facts["runs"].get(name, {}).get("energy_ratio"))
            left[name] = attempts.at("what is left in the records", told, [])
        surfaces: list[list[Trust]] = [
            attempts.at("comparing far fields", partial(list, surface_trust(name, record)), [])
            for name, record in self.record.excitations.items()
        ]
        facts["trust"] += [entry.json_data() for entry in chain(*left.values(), *surfaces)]
        returned = attempts.at("what undriven ports send back", partial(returned_warnings, self.record), [])
        return [*ending_warnings(self.setup, facts["runs"], left), *returned]

    def folder_made_again(self) -> list[str]:
        """A warning where somebody has removed the folder of the results since the run began."""
        if self.folder is None or self.folder.is_dir():
            return []
        return [f"{self.folder} was removed during the run, with what was in it; it is made again for the result"]

    def save(self) -> None:
        """Write the record to the output, where there is one."""
        if self.options.output is not None and self.ranks.rank == 0:
            write_result(self.options.output, self.record)


def finish(record: RunRecord, setup: Discretization) -> None:
    """Add the S-parameters, when every run ended as it should."""
    ports = setup.simulation._channels
    excited = [port for port in ports if port.name in record.excitations]
    if record.status == "done" and excited:
        bands = [port_waveform(setup.simulation, port).band for port in excited]
        impedances = record.facts["reference_impedances"]
        record.sparameters = scattering_variables(record, bands, impedances, setup.time_step)


class TimeLoop:
    """One excitation: advance in blocks, feed the guard, report progress."""

    def __init__(self, whole: Run, excitation: str) -> None:
        self.whole, self.setup, self.excitation = whole, whole.setup, excitation
        self.engine, self.fields = whole.engine, whole.fields
        self.cells = float(np.prod(self.setup.plan.cells, dtype=float))
        self.guard = Guard.of(self.setup, excitation)
        self.block = 1  # steps
        self.seconds = 0.0
        self.rate = 0.0  # steps a second, of the latest blocks
        self.ended: str | None = None  # the guard's answer
        self.look = Look([])  # for a field that stays
        self.unsaved = 0  # steps since checkpoints were asked, none of which falls between the moments of a look

    def advance(self) -> str:
        """Advance to the end; returns why it ended: "steps", "decayed", "diverged", "interrupted" or "failed"."""
        whole, engine, stop = self.whole, self.engine, self.whole.stop
        while engine.step < self.setup.steps and not self.ended:
            size, weigh = self.next_block()
            ready = self.fields.before(engine.step, size)
            begun = time.perf_counter()
            result = engine.advance(size, self.excitation, weigh, stop.asked) if ready else None
            self.fields.after(result is not None)
            if result is None or whole.ranks.any(stop.asked()):
                whole.checkpoints.stop(stop.terminated())
                return "interrupted"
            self.add(size, time.perf_counter() - begun, weigh)
            if weigh:
                self.ended = self.guard.add(engine.step, result.energy)
            self.look_for_still_fields(weigh)
            self.report()
            if self.fields.failure:
                return "failed"
            if self.ended != "diverged" and self.saved(size):
                return "interrupted"
        return self.ended or self.guard.last()

    def saved(self, size: int) -> bool:
        """Let checkpoints have a block of steps, unless a look is under way; whether a signal ends the run there."""
        self.unsaved += size
        if self.look.steps and not self.ended:
            return False
        size, self.unsaved = self.unsaved, 0
        return self.whole.checkpoints.after(self, size, self.whole.stop.terminated())

    def look_for_still_fields(self, weighed: bool) -> None:
        """Where the energy hardly changes, look at the fields a few times, and end when what moves has decayed."""
        guard, setup, every = self.guard, self.setup, self.setup.simulation.check_every
        check = weighed and guard.weighings.is_check(self.engine.step)
        if check and not self.ended and guard.decay and worth_a_look(guard.since_end):
            room = setup.steps - self.engine.step
            self.look = Look(moments(self.engine.step, every) if room >= every else [])
        if self.look.steps and self.engine.step == self.look.steps[0]:
            self.look.take(self.engine)
            if not self.look.steps:
                turn = 2.0 * math.pi * lowest_of(setup.band) * (every - 1) * setup.time_step
                self.ended = guard.looked(self.whole.ranks.from_root(self.look.moving(turn)))
                self.look = Look([])

    def next_block(self) -> tuple[int, bool]:
        """(steps of the next block, whether the energy is taken at its end); whole tiles, the same on all ranks."""
        step, steps = self.engine.step, self.setup.steps
        to_weigh, depth = self.guard.following(step) - step, self.whole.tuner.tiling.depth or 1
        self.block = max(2 * depth, self.block // depth * depth)
        to_look = self.look.steps[0] - step if self.look.steps else steps
        streamed = self.fields.room(step)
        streamed = max(streamed // depth * depth, min(streamed, depth))
        room = min(max(1, self.whole.checkpoints.room - self.unsaved), streamed, to_look)
        size = self.whole.ranks.from_root(min(self.block, to_weigh, room))
        return size, size == to_weigh

    def add(self, size: int, seconds: float, weigh: bool) -> None:
        """Account for a block that was made, and choose the length of the next."""
        self.seconds += seconds
        self.rate = size / max(seconds, 1e-9)
        self.block = min(2 * self.block, int(self.rate * SECONDS_PER_BLOCK))
        self.whole.tuner.add(size, seconds, weigh)

    def report(self) -> None:
        """Call `progress` with where the run stands, and look at the disk that the result will need."""
        self.whole.disk.look()
        progress = self.whole.options.progress
        if progress and self.whole.ranks.rank == 0:
            step, steps = self.engine.step, self.setup.steps
            left = (steps - step) * max(self.seconds, 1e-9) / step
            rate, note = self.rate * self.cells / 1e6, self.whole.tuner.note
            progress(ProgressInfo(step, steps, rate, self.guard.ratio, left, self.excitation, note))

    def record_into(self, ended: str) -> str:
        """Put the recordings into the record, save it, then derive; how the run ended, also "interrupted" there."""
        recordings, record = self.engine.recordings(), ExcitationRecord({}, {}, {}, None)
        self.whole.record.excitations[self.excitation] = record
        if recordings is None:  # they are with rank 0
            return ended
        collector = Collector(self.setup, recordings, self.excitation, self.whole.attempts)
        record.energy = series(np.array(self.guard.times), np.array(self.guard.energies), "energy", "J")
        record.ports = collector.port_records()
        record.monitors = collector.monitor_records(self.fields.file_of)
        what = f"the samples of the waveform of excitation {self.excitation!r}"
        record.waveform = self.whole.attempts.at(what, self.used_waveform, None)
        record.source_end = self.setup.source_end(self.excitation)
        return self.derived(record, collector, ended) if ended in ("steps", "decayed") else ended

    def derived(self, record: ExcitationRecord, collector: Collector, ended: str) -> str:
        """Derive from a record that is safe; returns how the run ended."""
        if collector.derives:
            self.whole.attempts.at("saving the record before anything is derived from it", self.whole.save, None)
        if self.whole.ranks.size > 1:
            record.monitors = collector.derived(record.monitors)
            return ended
        try:
            with self.whole.stop.at_once():
                record.monitors = collector.derived(record.monitors)
        except KeyboardInterrupt:
            if self.whole.stop.terminated():
                self.whole.checkpoints.end(self)
            return "interrupted"
        return ended

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
