"""Options of a run, beside its model; its state, as its progress is reported."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from nearfield.engines import chosen_engine
from nearfield.parallel.start import Parallel, wishes_of_cpu

if TYPE_CHECKING:
    from nearfield.engines.cpu.tiling import Tiling
    from nearfield.output.writer_process import WriterProcess
    from nearfield.plan.plan import Plan


@dataclass(frozen=True)
class ProgressInfo:
    """The state of a run: step of steps (at most), rate, energy over its peak, seconds left at most."""

    step: int
    steps: int
    mcells_per_second: float
    energy_ratio: float
    seconds_left: float
    excitation: str
    note: str = ""  # a trial of tiles that goes on


@dataclass(frozen=True)
class RunOptions:
    """Options of a run, on which no bit of its results depends. See `Simulation.run` for each entry."""

    threads: int | None = None
    output: Path | None = None
    progress: Callable[[ProgressInfo], None] | None = None
    tiling: str | Tiling | None = None
    parallel: Parallel | None = None
    space_check: bool = True  # refuse a run whose field files do not fit on the disk
    engine: str | None = None  # None: the model's own choice
    trace: Path | None = None  # file for what each rank did in the last block of steps, with `Parallel.timeline`
    engine_why: str = ""  # the reason, where the choice was "auto"
    long: bool = False  # a run of more than a day is meant
    writer: WriterProcess | None = None  # of this host's field files, where it was started ahead
    say: Callable[[str], None] = lambda text: None  # called with what was measured before the first step
    warn: Callable[[str], None] = lambda text: None  # called with each warning that was not known before the run

    def settled(self, own: str, plan: Plan) -> RunOptions:
        """The options with the engine that makes the steps of a plan; `own`: the model's choice. Error: it cannot."""
        choice = chosen_engine(self.engine or own, plan, wishes_of_cpu(self.tiling, self.parallel))
        return replace(self, engine=choice.name, engine_why=self.engine_why or choice.why)
