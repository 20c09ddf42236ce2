"""`nearfield run MODEL`: the result file, Touchstone, plots and report of one model."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nearfield.commands.console import CHECKPOINTED, CODE_OF_STATUS, Console, console, output_folder
from nearfield.commands.progress import progress
from nearfield.commands.writing import make_folder
from nearfield.discretization.cautions import cautions
from nearfield.discretization.discretization import Discretization
from nearfield.engines import UNDIVIDED
from nearfield.engines.cpu.tuning import TILE_FACTS, choose, tiles_text
from nearfield.entry.attempts import Attempts
from nearfield.entry.errors import DivergedError, ModelError, Requeue, RunFailed
from nearfield.entry.wording import counted, duration, memory
from nearfield.machine.compiled import core
from nearfield.machine.interruption import Terminated
from nearfield.machine.machine_rate import remember_rate
from nearfield.machine.transport import Alone, agreed, world
from nearfield.model_file import load, loads
from nearfield.output.writers import started_ahead
from nearfield.parallel.decomposition import times
from nearfield.parallel.start import Parallel, refuse_spread
from nearfield.report.show import keep_in_facts, write_files
from nearfield.results import Result
from nearfield.run.checkpoint.folder import checkpoints, remove, still_there
from nearfield.run.checkpoint.keeper import Checkpoints
from nearfield.run.checkpoint.schedule import Schedule
from nearfield.run.forecast import Forecast, forecast, long_run, refuse_unasked
from nearfield.run.memory import short_of_memory
from nearfield.run.options import RunOptions
from nearfield.run.resume import alone_in, going_on, refuse_unfinished, unmade_where_refused
from nearfield.run.roofline import copy_text, roofline_text
from nearfield.run.time_loop import run
from nearfield.trust.entries import Trust, counts_text, read

if TYPE_CHECKING:
    from nearfield.discretization.model import Model

RESULT_NAME = "result.h5"
UNWATCHED = (
    "this MPI lets one thread of a process call it (no MPI_THREAD_MULTIPLE): ranks that are stopped, or behind a cut "
    "link, are waited for without end, and --patience changes nothing"
)
ARRANGED = ("ranks", "domains", "arrangement", "rank_arrangement", "imbalance", "halo_depth")
PARALLEL_FACTS = (*ARRANGED, "messages", "placement", "rank_seconds")
ENDED = {"steps": "its last step", "decayed": "decay", "diverged": "divergence", "interrupted": "interruption"}


@dataclass(frozen=True)
class Options:
    """Options of a run beside its model."""

    run: RunOptions
    report: bool
    as_json: bool
    checkpoint: str | None = None  # a schedule
    parameters: Mapping[str, Any] = field(default_factory=dict)  # other values for the model's


def run_model(model: Path, output: Path | None, force: bool, options: Options) -> int:
    """Run a model file; the exit code follows from how it ended."""
    schedule = None if options.checkpoint is None else Schedule.of(options.checkpoint)
    simulation = load(model, options.parameters)
    folder = output_folder(model, output)
    refuse_overwriting(folder, force)
    with console(options.as_json) as out, requeued(folder, schedule is not None):
        kept = Checkpoints(folder, schedule, stem=model.stem, result=RESULT_NAME, tell=out.warn)
        result = run_into(simulation, folder, options.run, out, kept, force)
        return presented(result, simulation, kept, {"model": str(model)}, out, options)


def resume_run(folder: Path, model: Path | None, output: Path | None, options: Options) -> int:
    """Go on with the run in a folder; `model`, where it is given, must be the run's own."""
    if output is not None and output != folder:
        raise ModelError(f"a run that is resumed writes into its own folder, {folder}; leave --output out")
    if not folder.is_dir():
        raise ModelError(f"{folder} is no folder; give that of a run with --checkpoint")
    if options.parameters and model is None:
        raise ModelError("--set: a run goes on with the parameters it has; leave --set out, or give the model as well")
    given = None if model is None else load(model, options.parameters)
    with console(options.as_json) as out, requeued(folder, True), alone_in(folder, world()):
        kept, simulation = going_on(folder, given, options.checkpoint, out.warn, loads)
        assert kept.resumed is not None  # `going_on` refuses a folder without a whole checkpoint
        out.note(f"resumed from {kept.resumed.path} at {kept.resumed.place}")
        result = run_into(simulation, folder, options.run, out, kept)
        heading = {"model": str(model or kept.resumed.path), "resumed": str(kept.resumed.path)}
        return presented(result, simulation, kept, heading, out, options)


def presented(
    result: Result, simulation: Model, kept: Checkpoints, heading: dict[str, str], out: Console, options: Options
) -> int:
    """Exit code of a run that has ended, after writing its files and its summary."""
    assert kept.folder is not None
    folder, names = kept.folder, kept.names
    attempts = Attempts(out.warn)
    refuse_vanished(folder / names["result"])
    files = write_files(result, simulation, folder / names["result"], names["stem"], options.report, attempts=attempts)
    told = options.report and not options.as_json and result.status == "done" and world().rank == 0
    found = attempts.at("the answers of the run", partial(answers_of, result), []) if told else []
    keep_warnings(result, folder / names["result"], attempts)
    summary = summary_of(result, folder, files)
    out.answer(heading | summary, readable(summary))
    for number, what in found:
        out.say(f"{what}: {number}")
    if result.status == "interrupted" and kept.asked:
        out.note(going_on_line(folder))
        return CHECKPOINTED
    if result.status == "interrupted" and kept.cut_off:
        out.note(f"ended by SIGTERM, and {folder} holds no checkpoint: the run can only be started over")
    return CODE_OF_STATUS[result.status]


def refuse_vanished(file: Path) -> None:
    """Error: the result was written, and somebody has removed it since."""
    if world().rank == 0 and not file.is_file():
        raise RunFailed(f"{file} was written and is no longer there; give a folder that nothing else cleans up")


def going_on_line(folder: Path) -> str:
    """The command that resumes a run which a signal ended."""
    return f"ended by SIGTERM with a checkpoint; `nearfield run --resume {folder}` goes on"


@contextmanager
def requeued(folder: Path, with_checkpoints: bool) -> Iterator[None]:
    """Before and after the steps, SIGTERM leaves a run that can go on where it can."""
    try:
        yield
    except Terminated:
        if with_checkpoints and any(map(still_there, checkpoints(folder))):
            raise Requeue(going_on_line(folder)) from None
        raise


def refuse_overwriting(folder: Path, force: bool) -> None:
    """Refuse a folder that holds a result already, or checkpoints."""
    try:
        there = (folder / RESULT_NAME).exists()
    except (OSError, ValueError):
        return  # `make_folder` says what is wrong with it
    if force:
        return
    going_on = f"`nearfield run --resume {folder}`"
    refuse_unfinished(checkpoints(folder), folder / RESULT_NAME, going_on, "give --force")
    if there:
        raise ModelError(f"{folder} has a result already; give another folder with --output, or --force to replace it")


def begin_anew(folder: Path, force: bool) -> None:
    """Remove the checkpoints of an earlier run. Error: as `refuse_overwriting`, which may have looked long ago."""
    refuse_overwriting(folder, force)
    remove(checkpoints(folder))


def run_into(
    simulation: Model,
    folder: Path,
    options: RunOptions,
    out: Console,
    kept: Checkpoints | None = None,
    force: bool = True,
) -> Result:
    """Run a simulation into the result file of a folder; warnings before it where they are known before.

    `force`: replace what is there.
    """
    ranks, kept = world(), kept or Checkpoints(result=RESULT_NAME)
    agreed(ranks, partial(refuse_trace, options.trace, ranks), at_root=True)
    with unmade_where_refused(folder, ranks), started_ahead(simulation, ranks) as writer:
        return run_set_up(simulation, folder, replace(options, writer=writer), out, kept, force)


def run_set_up(
    simulation: Model, folder: Path, options: RunOptions, out: Console, kept: Checkpoints, force: bool
) -> Result:
    """Set a simulation up and run it."""
    ranks = world()
    setup = Discretization(simulation, ranks)
    _ = setup.lowered  # sources, ports and monitors refuse their own faults before anything is said or made
    before = cautions(setup)
    later: list[str] = []
    options = options.settled(simulation.engine, setup.plan)  # so do engines, threads and tiles that cannot be
    name = str(options.engine)
    if name in UNDIVIDED:
        refuse_spread(name, options.threads, options.tiling, options.parallel or Parallel(), ranks)
    choose(setup.plan, options.threads, simulation.schedule, options.tiling)
    expected = None if kept.resumed else asked_for(setup, options, before, out)
    if ranks.rank == 0:
        make_folder(folder)
    if options.engine_why and name == "cuda":
        out.note(f"engine cuda: {options.engine_why}; --engine cpu has the same bits")
    if expected:
        out.note(str(expected))
        before += [] if options.long else long_run(expected)
    before += [] if ranks.watched else [UNWATCHED]
    out.warn(*before)  # first: what it warns of may be the reason of a refusal
    crowded = short_of_memory(setup, options.engine)
    out.warn(*crowded)
    before += crowded
    with nullcontext() if kept.resumed else alone_in(folder, ranks), progress(setup.decay) as display:
        if not kept.resumed:
            agreed(ranks, partial(begin_anew, folder, force), at_root=True)
        options = replace(
            options, output=folder / kept.names["result"], progress=display, say=out.note, warn=later.append
        )
        try:
            result = Result(run(simulation, options, setup, before, kept))
        except DivergedError as error:
            if error.result is None:
                raise
            result = Result(error.result)
            out.note(f"error: {error}")
    out.warn(*later)
    if ranks.size == 1 and name == "cpu" and not core().debug:  # a core that counts steps is many times slower
        remember_rates(result, simulation.precision)
    return result


def refuse_trace(trace: Path | None, ranks: Alone) -> None:
    """Refuse a trace of one rank, and one that cannot be written."""
    if trace is None:
        return
    if ranks.size == 1:
        raise ModelError(
            "--trace shows what several ranks compute, send and wait for, and this run has one rank; add --ranks 2, or "
            "leave --trace out"
        )
    if trace.is_dir() or not os.access(trace.absolute().parent, os.W_OK):
        raise ModelError(f"--trace {trace} cannot be written; give a file in a folder that is there")


def answers_of(result: Result) -> list[tuple[str, str]]:
    """The numbers that the screen shows."""
    from nearfield.report.page import answers

    return answers(result)


def asked_for(setup: Discretization, options: RunOptions, before: list[str], out: Console) -> Forecast:
    """How long the run will take. Error, after the warnings, which may say why: more than a day, and nobody asked."""
    found = forecast(setup, options.threads, setup.ranks.size, options.engine)
    try:
        refuse_unasked(found, options.long)
    except ModelError:
        out.note(str(found))
        out.warn(*before)
        raise
    return found


def keep_warnings(result: Result, file: Path, attempts: Attempts) -> None:
    """Add what failed after the run to the warnings in its result file."""
    if attempts.failed and world().rank == 0:
        keep_in_facts(result, attempts.warnings)
        attempts.at("adding warnings to the result", lambda: result.save(file), None)


def remember_rates(result: Result, precision: str) -> None:
    """Keep the rate of the longest run for the next `check`."""
    runs = result.facts.get("runs", {}).values()
    longest = max(runs, key=lambda facts: facts["seconds"], default=None)
    if longest is not None:
        facts = result.facts
        remember_rate(longest["mcells_per_second"], precision, facts["threads"], longest["seconds"], facts["cells"])


def summary_of(result: Result, folder: Path, files: list[Path]) -> dict[str, Any]:
    """Facts of the run for the JSON object and the screen."""
    facts = result.facts
    summary: dict[str, Any] = {"status": result.status, "folder": str(folder), "files": [str(file) for file in files]}
    summary |= {name: facts.get(name) for name in ("cells", "time_step", "engine", "device", "threads", "isa")}
    summary |= {"runs": facts.get("runs", {}), "warnings": facts.get("warnings", [])}
    summary["trust"] = [entry.json_data() for entry in result.trust]
    optional = (*TILE_FACTS, *PARALLEL_FACTS, "checkpoints", "fields")
    return summary | {name: facts[name] for name in optional if name in facts}


def readable(summary: dict[str, Any]) -> str:
    files = ", ".join(Path(file).name for file in summary["files"])
    lines = [
        *(
            f"{name}: {facts['steps']:,} steps in {duration(facts['seconds'])}, "
            f"{facts['mcells_per_second']:.0f} Mcells/s, ended by {ENDED.get(facts['ended'], facts['ended'])}"
            for name, facts in summary["runs"].items()
        ),
        *{roofline_text(facts): None for facts in summary["runs"].values() if "roofline_multiple" in facts},
        *{copy_text(facts, summary["device"]): None for facts in summary["runs"].values() if "copy_share" in facts},
        f"tiles: {tiles_text(summary)}; {counted(summary['threads'], 'thread')}",
        *spread_lines(summary),
        *trust_lines(read(summary["trust"])),
        f"{summary['status']}; in {summary['folder']}: {files}",
    ]
    return "\n".join(lines)


def trust_lines(entries: Sequence[Trust]) -> list[str]:
    """How many properties of a result are good, and each that is not."""
    doubtful = [f"  {entry.verdict}: {entry}" for entry in entries if entry.verdict != "good"]
    return [f"trust: {counts_text(entries)}", *doubtful]


def spread_lines(summary: dict[str, Any]) -> list[str]:
    """Lines about ranks, domains, processors and pages, and about the time that ranks waited for each other."""
    placed = summary.get("placement", [])
    lines = []
    if summary.get("domains", 1) > 1:
        domains = f"{summary['domains']} domains ({times(summary['arrangement'])})"
        halos = f", halos of {counted(summary['halo_depth'], 'layer')}" if summary["ranks"] > 1 else ""
        halos += f", messages {summary['messages']}" if summary.get("messages") else ""
        ranks = counted(summary["ranks"], "rank")
        lines.append(f"{domains} on {ranks}, imbalance {summary['imbalance']:.3f}{halos}")
    if waits := summary.get("rank_seconds"):
        total = [sum(parts) for parts in zip(waits["compute"], waits["pack"], waits["wait"])]
        shares = [100 * wait / max(whole, 1e-9) for wait, whole in zip(waits["wait"], total)]
        lines.append(f"waiting for halos: {min(shares):.1f} to {max(shares):.1f} % of the ranks' time")
    if fields := summary.get("fields"):
        spent = sum(facts["seconds"] for facts in summary["runs"].values())
        stalled = max(fields["stalled_seconds"])  # beside the seconds of the steps
        share = 100 * stalled / max(spent + stalled, 1e-9)
        written = f"fields: {memory(fields['bytes'])} into {Path(fields['folder']).name}"
        lines.append(f"{written}; waiting for their writer: {share:.1f} % of the time of steps and waiting")
    for rank, own in enumerate(placed):
        name = f"rank {rank} on {own['host']}: " if len(placed) > 1 else ""
        lines += [name + line for line in own["header"].splitlines()]
    return lines
