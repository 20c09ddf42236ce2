"""Runs with checkpoints, and runs that go on from one, from Python."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from nearfield.entry.errors import ModelError, RunFailed
from nearfield.entry.untrusted_file import plain_name
from nearfield.entry.whole_file import unwritable
from nearfield.formats.lock import locked
from nearfield.machine.transport import Alone, agreed, world
from nearfield.records.hdf5 import read_status
from nearfield.run.checkpoint.contents import model_of
from nearfield.run.checkpoint.folder import checkpoints, newest, remove
from nearfield.run.checkpoint.keeper import Checkpoints
from nearfield.run.checkpoint.manifest import Damaged, read_manifest
from nearfield.run.checkpoint.schedule import Schedule
from nearfield.run.time_loop import run

if TYPE_CHECKING:
    from nearfield.discretization.model import Model
    from nearfield.records.records import RunRecord
    from nearfield.run.options import RunOptions


def run_from_the_start(model: Model, schedule: str | None, options: RunOptions) -> RunRecord:
    """`run`, with checkpoints beside the output where there is a schedule. Error: there are some of a run that did not
    end, or another run goes on in the folder; runs without checkpoints share it."""
    chosen = None if schedule is None else Schedule.of(schedule)
    if options.output is None:
        if chosen is not None:
            raise ModelError("checkpoints need a folder; give output, such as 'out/model/result.h5': they go beside it")
        return run(model, options)
    output, ranks = options.output, world()
    with unmade_where_refused(output.parent, ranks), alone_in(output.parent, ranks, shared=chosen is None):
        agreed(ranks, lambda: clear(output, every=chosen is not None), at_root=True)
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


def alone_in(folder: Path, ranks: Alone, shared: bool = False) -> ExitStack:
    """While this lasts, no other run goes on in the folder, unless both share it; rank 0 sees to it.

    Error: one does so already, or the folder cannot be made.
    """
    stack = ExitStack()

    def enter() -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except (OSError, ValueError) as error:
            raise unwritable(folder, error, kind="folder") from None
        try:
            stack.enter_context(locked(folder, shared))
        except RunFailed:  # the disk is full, which such a run says with the room that it needs
            if not shared:
                raise

    agreed(ranks, enter if ranks.rank == 0 else lambda: None)
    return stack


def clear(output: Path, every: bool) -> None:
    """Remove the checkpoints of runs that ended: `every` one in the folder, or those whose result this output is.

    Error: there are some of a run that did not end.
    """
    found = [path for path in checkpoints(output.parent) if every or result_of(path) == output]
    refuse_unfinished(found, output, f"nearfield.resume({str(output.parent)!r})", "remove it")
    remove(found)


def result_of(checkpoint: Path) -> Path | None:
    """The result file of a checkpoint's run; None where the checkpoint is damaged and does not say."""
    try:
        return checkpoint.parent / plain_name(read_manifest(checkpoint).get("result"))
    except (Damaged, ValueError):
        return None


def refuse_unfinished(found: Iterable[Path], output: Path, going_on: str, starting_over: str) -> None:
    """Error: the result of one of these checkpoints does not say that its run has ended.

    `output`: taken for the result of those that do not name one.
    """
    results = {path: result_of(path) or output for path in found}
    ended = {result: has_ended(result) for result in set(results.values())}
    for path, result in results.items():
        if not ended[result]:
            raise ModelError(
                f"{path.parent} holds {path.name} of a run that did not end; go on with it by {going_on}, or "
                f"{starting_over} to start from the beginning"
            )


def has_ended(result: Path) -> bool:
    """Whether a run came to its end, or diverged, upon which it cannot go on."""
    try:
        return read_status(result) in ("done", "diverged")
    except ModelError:
        return False


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
