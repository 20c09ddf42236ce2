"""Options of a run, beside its model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nearfield.engines.cpu.tiling import Tiling
    from nearfield.parallel.start import Parallel
    from nearfield.run.progress import ProgressInfo


@dataclass(frozen=True)
class RunOptions:
    """Options of a run, on which no bit of its results depends. See `Simulation.run` for each entry."""

    threads: int | None = None
    output: Path | None = None
    progress: Callable[[ProgressInfo], None] | None = None
    tiling: str | Tiling | None = None
    parallel: Parallel | None = None
    space_check: bool = True  # refuse a run whose field files do not fit on the disk
    warn: Callable[[str], None] = lambda text: None  # called with each warning that was not known before the run
