"""A run of a study, which needs it whole."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nearfield.results import Result
    from nearfield.simulation import Simulation


def run_whole(model: Simulation, threads: int | None, output: Path | str | None = None) -> Result:
    """The result of a run that came to its end. Error: `KeyboardInterrupt` where Ctrl-C or SIGTERM ended it.

    `Simulation.run` gives such a result back; what a study would make of it is wrong, and the next run is not wanted.
    """
    result = model.run(threads=threads, output=output)
    if result.status == "interrupted":
        raise KeyboardInterrupt
    return result
