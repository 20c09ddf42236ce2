"""Options of a run, beside its model; its state, as its progress is reported."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nearfield.engines.cpu.tiling import Tiling
    from nearfield.parallel.start import Parallel


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
    long: bool = False  # a run of more than a day is meant
    warn: Callable[[str], None] = lambda text: None  # called with each warning that was not known before the run
