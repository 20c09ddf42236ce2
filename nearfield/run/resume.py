"""Runs with checkpoints, and runs that go on from one, from Python."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from nearfield.entry.errors import ModelError
from nearfield.formats.lock import locked
from nearfield.machine.transport import Alone, agreed, world
from nearfield.records.hdf5 import read_record
from nearfield.run.checkpoint.contents import model_of
from nearfield.run.checkpoint.folder import checkpoints, newest, remove_all
from nearfield.run.checkpoint.keeper import Checkpoints
from nearfield.run.checkpoint.schedule import Schedule
from nearfield.run.time_loop import run

if TYPE_CHECKING:
    from nearfield.discretization.model import Model
    from nearfield.records.records import RunRecord
    from nearfield.run.options import RunOptions


def run_with_checkpoints(model: Model, schedule: str, options: RunOptions) -> RunRecord:
    """`run` with checkpoints in the output's folder. Error: there are some of a run that did not end."""
    chosen = Schedule.of(schedule)
    if options.output is None:
        raise ModelError("checkpoints need a folder; give output, such as 'out/model/result.h5': they go beside it")
    output, ranks = options.output, world()
    with unmade_where_refused(output.parent, ranks), alone_in(output.parent, ranks):
        agreed(ranks, lambda: clear(output), at_root=True)
        return run(model, options, checkpoints=Checkpoints(output.parent, chosen, stem=output.stem, result=output.name))


@contextmanager
def unmade_where_refused(folder: Path, ranks: Alone) -> Iterator[None]:
    """Where what is done meanwhile is refused, remove the folder and those it lies in that it made and left empty."""
    made = [each for each in (folder, *folder.parents) if not os.path.exists(each)] if ranks.rank == 0 else []
    try:
        yield
    except ModelError:
        for each in made:
            with suppress(OSError, ValueError):
                each.rmdir()
        raise


def alone_in(folder: Path, ranks: Alone) -> ExitStack:
    """While this lasts, no other run goes on in the folder; rank 0 sees to it. Error: one does so already."""
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
    found = checkpoints(output.parent)
    try:
        done = not found or read_record(output).status == "done"
    except ModelError:
        done = False
    if not done:
        raise ModelError(
            f"{output.parent} holds {found[0].name} of a run that did not end; go on with it by {going_on}, or "
            f"{starting_over} to start from the beginning"
        )


def run_on(
    folder: Path, model: Model | None, options: RunOptions, checkpoint: str | None, read: Callable[..., Model]
) -> RunRecord:
    """Go on with the run whose checkpoints lie in a folder, to its end; `read` makes a model of its text."""
    ranks = world()
    if not folder.is_dir():
        raise ModelError(f"{folder} is no folder; give the folder of a run with checkpoints")
    with alone_in(folder, ranks):
        stored, model = going_on(folder, model, checkpoint, warnings.warn, read)
        return run(model, replace(options, output=folder / stored.names["result"]), checkpoints=stored)


def going_on(
    folder: Path, model: Model | None, checkpoint: str | None, warn: Callable[[str], None], read: Callable[..., Model]
) -> tuple[Checkpoints, Model]:
    """The newest whole checkpoint of a folder, ready to be run on from, and its model."""
    schedule = None if checkpoint is None else Schedule.of(checkpoint)
    damaged: list[str] = []

    def tell(text: str) -> None:
        damaged.append(text)
        if world().rank == 0:
            warn(text)

    found = newest(folder, world(), tell)
    manifest = found.manifest
    schedule = schedule or Schedule.of(manifest["checkpoint"])
    stored = Checkpoints(folder, schedule, found, manifest["stem"], manifest["result"], warn)
    stored.warnings += damaged
    return stored, model_of(found, model, read)
