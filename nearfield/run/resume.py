"""Runs with checkpoints, and runs that go on from one, from Python."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from nearfield.entry.errors import ModelError
from nearfield.machine.transport import Alone, agreed, world
from nearfield.run.checkpoint.folder import checkpoints, newest, remove_all

if TYPE_CHECKING:
    from nearfield.engines.cpu.tiling import Tiling
    from nearfield.parallel.start import Parallel
    from nearfield.results import Result
    from nearfield.run.checkpoint.keeper import Checkpoints
    from nearfield.simulation import ProgressInfo, Simulation


def run_with_checkpoints(
    simulation: Simulation,
    schedule: str,
    threads: int | None,
    output: str | Path | None,
    progress: Callable[[ProgressInfo], None] | None,
    tiling: str | Tiling | None,
    parallel: Parallel | None,
) -> Result:
    """`Simulation.run` with checkpoints in the output's folder. Error: there are some of a run that did not end."""
    from nearfield.run.checkpoint.keeper import Checkpoints
    from nearfield.run.checkpoint.schedule import Schedule
    from nearfield.run.time_loop import run

    chosen = Schedule.of(schedule)
    if output is None:
        raise ModelError("checkpoints need a folder; give output, such as 'out/model/result.h5': they go beside it")
    output, ranks = Path(output), world()
    with alone_in(output.parent, ranks):
        agreed(ranks, lambda: clear(output), at_root=True)
        kept = Checkpoints(output.parent, chosen, stem=output.stem, result=output.name)
        return run(simulation, threads, output, progress, None, tiling, parallel, kept)


def alone_in(folder: Path, ranks: Alone) -> ExitStack:
    """While this lasts, no other run goes on in the folder; rank 0 sees to it. Error: one does so already."""
    from nearfield.formats.lock import locked

    stack = ExitStack()

    def enter() -> None:
        folder.mkdir(parents=True, exist_ok=True)
        stack.enter_context(locked(folder))

    agreed(ranks, enter if ranks.rank == 0 else lambda: None)
    return stack


def clear(output: Path) -> None:
    """Remove the checkpoints of a run that is done. Error: there are some of one that is not."""
    refuse_unfinished(output, f"nearfield.resume({str(output.parent)!r})", "remove it")
    remove_all(output.parent)


def refuse_unfinished(output: Path, going_on: str, starting_over: str) -> None:
    """Error: beside this result are checkpoints, and it does not say that its run was done."""
    from nearfield.results import open_result

    found = checkpoints(output.parent)
    try:
        done = not found or open_result(output).status == "done"
    except ModelError:
        done = False
    if not done:
        raise ModelError(
            f"{output.parent} holds {found[0].name} of a run that did not end; go on with it by {going_on}, or "
            f"{starting_over} to start from the beginning"
        )


def resume(
    folder: str | Path,
    simulation: Simulation | None = None,
    threads: int | None = None,
    progress: Callable[[ProgressInfo], None] | None = None,
    tiling: str | Tiling | None = None,
    parallel: Parallel | None = None,
    checkpoint: str | None = None,
) -> Result:
    """Go on with the run whose checkpoints lie in `folder`, to its end; the same bits as if it had never stopped.

    The newest whole checkpoint is taken; a warning names those that are damaged. The result goes where the run's was
    to go. `simulation`: only to make sure that it is this one. Threads, tiles, domains and ranks may be others than
    before; `checkpoint`: another schedule than before. Errors: `ModelError` for no checkpoint that can be used, or one
    of another model or another version; `DivergedError` as of `Simulation.run`.

    >>> import nearfield as nf
    >>> sim = nf.Simulation(
    ...     grid=nf.Grid.uniform(1e-3, (9, 9, 9)), boundaries=nf.Boundaries(all=nf.PEC), steps=60,
    ...     sources=[nf.PointCurrent((4e-3, 4e-3, 4e-3), "z", nf.Gaussian(15e9))],
    ...     monitors=[nf.Probe("tip", (5e-3, 5e-3, 5e-3))],
    ... )
    >>> result = sim.run(output="out/resumed/result.h5", checkpoint="every 40 steps")
    >>> again = nf.resume("out/resumed")  # from step 40 on
    >>> bool((again["tip"] == result["tip"]).all())
    True
    """
    from nearfield.run.time_loop import run

    folder, ranks = Path(folder), world()
    if not folder.is_dir():
        raise ModelError(f"{folder} is no folder; give the folder of a run with checkpoints")
    with alone_in(folder, ranks):
        kept, model = going_on(folder, simulation, checkpoint, warnings.warn)
        return run(model, threads, folder / kept.names["result"], progress, None, tiling, parallel, kept)


def going_on(
    folder: Path, simulation: Simulation | None, checkpoint: str | None, warn: Callable[[str], None]
) -> tuple[Checkpoints, Simulation]:
    """The newest whole checkpoint of a folder, ready to be run on from, and its model."""
    from nearfield.run.checkpoint.contents import model_of
    from nearfield.run.checkpoint.keeper import Checkpoints
    from nearfield.run.checkpoint.schedule import Schedule

    schedule = Schedule.of(checkpoint) if checkpoint is not None else None
    said: list[str] = []

    def tell(text: str) -> None:
        said.append(text)
        if world().rank == 0:
            warn(text)

    found = newest(folder, world(), tell)
    manifest = found.manifest
    schedule = schedule or Schedule.of(manifest["checkpoint"])
    kept = Checkpoints(folder, schedule, found, manifest["stem"], manifest["result"], warn)
    kept.warnings += said
    return kept, model_of(found, simulation)
