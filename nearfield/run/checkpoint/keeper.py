"""Checkpoints of one run: when they are due, how they are written, and how a resumed run begins."""

from __future__ import annotations

import contextlib
import shutil
import time
import warnings
from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import nearfield
from nearfield.entry.errors import ModelError
from nearfield.entry.json_data import json_data
from nearfield.machine.transport import agreed
from nearfield.records.records import ExcitationRecord
from nearfield.run.checkpoint.contents import fingerprint, self_contained
from nearfield.run.checkpoint.finished import Shelf, description_of, rebuilt
from nearfield.run.checkpoint.folder import (
    BESIDE,
    KEPT,
    Checkpoint,
    checkpoints,
    keep_only,
    put_in_place,
    remove_unfinished,
    still_there,
)
from nearfield.run.checkpoint.manifest import FORMAT, Damaged, write_manifest
from nearfield.run.checkpoint.pieces import Holder, Piece
from nearfield.run.checkpoint.schedule import Schedule
from nearfield.run.checkpoint.store import write_arrays

if TYPE_CHECKING:
    from nearfield.discretization.discretization import Discretization
    from nearfield.machine.transport import Alone
    from nearfield.records.records import RunRecord
    from nearfield.run.time_loop import TimeLoop

NEVER = 10**18  # steps


@contextlib.contextmanager
def usable(checkpoint: Checkpoint) -> Iterator[None]:
    """Error: what is taken from a whole checkpoint does not fit the run, so that somebody else has written it."""
    try:
        yield
    except (Damaged, OSError, ValueError, TypeError, LookupError) as error:
        raise ModelError(
            f"{checkpoint.path} cannot be used: {error}; remove it to go on from the one before, or run the model from "
            "its beginning with --force"
        ) from None


def once(*texts: list[str]) -> list[str]:
    """All texts, each once: what a resumed run finds again stands in its checkpoint already."""
    return list(dict.fromkeys(chain(*texts)))


class Checkpoints:
    """Writes checkpoints into `folder` by a schedule (None: never), and begins at the step of `resumed`.

    `stem` and `result` name the files of the run, so that a resumed run writes the same. `tell` reports what goes wrong
    while the run goes on. All ranks call the same methods in the same order.
    """

    def __init__(
        self,
        folder: Path = Path(),
        schedule: Schedule | None = None,
        resumed: Checkpoint | None = None,
        stem: str = "",
        result: str = "result.h5",
        tell: Callable[[str], None] = warnings.warn,
    ) -> None:
        self.folder, self.schedule, self.resumed, self.tell = folder, schedule, resumed, tell
        self.names = {"stem": stem, "result": result}
        self.made = self.stands_at = 0  # steps of all excitations; those of the newest checkpoint
        self.warnings: list[str] = []
        self.failed: list[str] = []  # derivations, before the checkpoint of a resumed run
        self.asked = False  # a signal ends the run, which can go on from a checkpoint
        self.cut_off = False  # a signal ends the run, and there is no checkpoint
        self._kept: list[Path] = []
        self._refused_once, self._since, self._last = False, 0, time.monotonic()
        self._written, self._bytes, self._seconds = 0, 0, 0.0

    # ---- before the first step

    @property
    def to_come(self) -> int:
        """Checkpoints for which the disk must have room: those that stay and one that is being written."""
        return (1 if self.resumed else KEPT + 1) if self.schedule else 0

    @property
    def begun(self) -> list[str]:
        """Excitations that a resumed run had begun, whose field files lie there."""
        return [*self.resumed.manifest["finished"], self.resumed.manifest["excitation"]] if self.resumed else []

    def begin(self, setup: Discretization, ranks: Alone, record: RunRecord) -> None:
        """Take a run, and give it back what a resumed one had finished. Error: another plan."""
        self.setup, self.ranks, self.record = setup, ranks, record
        if self.schedule and ranks.rank == 0:
            remove_unfinished(self.folder)
            self._model = self.resumed.manifest["model"] if self.resumed else self_contained(setup.simulation)
        if resumed := self.resumed:
            manifest, array = resumed.manifest, resumed.stored.array
            agreed(ranks, lambda: self._refuse_other_plan(resumed))
            self.made = self.stands_at = manifest["steps_made"]
            self._kept = [resumed.path]
            record.model_text = manifest["model_text"]
            finished = manifest["finished"].items()
            with usable(resumed):
                record.excitations |= {
                    n: ExcitationRecord() if ranks.rank else rebuilt(each, array) for n, each in finished
                }
            record.facts["runs"] = manifest["runs"]
            self.warnings += manifest.get("warnings", [])
            self.failed = manifest.get("failed_derivations", [])
            stood = {name: manifest[name] for name in ("excitation", "step", "steps_made")}
            record.facts["resumed"] = [*manifest["resumed"], stood | {"at": record.facts["started"]}]
        self._last = time.monotonic()

    def _refuse_other_plan(self, resumed: Checkpoint) -> None:
        manifest, names = resumed.manifest, list(self.setup.excitations)
        order = [*manifest["finished"], manifest["excitation"]]
        fits = order == names[: len(order)] and manifest["step"] <= self.setup.steps
        if not fits or manifest["plan"] != self._fingerprint:
            raise ModelError(
                f"{resumed.path} does not fit the plan that its model gives here; another version of a library "
                "may have made another grid. Run the model from its beginning"
            )

    @cached_property
    def _fingerprint(self) -> str:
        return fingerprint(self.setup.plan)

    def restore(self, loop: TimeLoop) -> bool:
        """Put the first excitation of a resumed run to its step; False where an excitation begins at step 0."""
        resumed = self.resumed
        if resumed is None or resumed.manifest["excitation"] != loop.excitation:
            return False
        manifest, stored = resumed.manifest, resumed.stored
        loop.engine.reset()

        def take() -> None:
            with usable(resumed):
                Holder(loop.engine).restore(manifest["step"], stored)
                loop.guard.times = stored.array("guard: times").tolist()
                loop.guard.energies = stored.array("guard: energies").tolist()
                loop.guard.still = manifest.get("still", 0.0)

        agreed(self.ranks, take)
        loop.ended, loop.seconds = manifest["ended"], manifest["seconds"]
        self._last = time.monotonic()
        return True

    # ---- between blocks of steps

    @property
    def room(self) -> int:
        """Steps until a checkpoint is due by their number."""
        return self.schedule.steps - self._since if self.schedule and self.schedule.steps else NEVER

    def after(self, loop: TimeLoop, steps: int, terminated: bool) -> bool:
        """A block of steps was made: write a checkpoint where one is due. Whether a signal ends the run with it."""
        self.made, self._since = self.made + steps, self._since + steps
        if not self.schedule:
            return False
        elapsed = time.monotonic() - self._last
        due = elapsed >= self.schedule.seconds if self.schedule.seconds else self.room <= 0
        wishes = self.ranks.everywhere((terminated, due))
        if any(ends for ends, _ in wishes):
            self.end(loop)
        elif wishes[0][1]:
            self.write(loop)
        return any(ends for ends, _ in wishes)

    def end(self, loop: TimeLoop) -> None:
        """A signal ends the run: write the last checkpoint, unless there is one of this step."""
        newest = self._kept[-1] if self.stands_at == self.made and self._kept else None
        if not self.ranks.from_root(newest is not None and still_there(newest)):
            self.write(loop)
        self.stop(True)

    def stop(self, terminated: bool) -> None:
        """The run ends here; where a signal ends it that asks for a checkpoint, see whether there is one."""
        if self.schedule and self.ranks.any(terminated):
            self.asked = self.ranks.from_root(any(map(still_there, self._kept)))
            self.cut_off = not self.asked

    def write(self, loop: TimeLoop) -> None:
        """Write a checkpoint; where the disk refuses, say so once, and let the run go on."""
        begun = time.monotonic()
        loop.fields.flush(loop.engine.step)
        if loop.fields.failure:  # the run ends with it; this checkpoint would need snapshots that are in no file
            return
        place = self.folder / f"checkpoint-{self.made}"
        part = place.with_name(BESIDE.format(place.name))
        refused = self._refused(lambda: self._make(part) if self.ranks.rank == 0 else None)
        files: dict[str, Any] = {}
        if not refused:
            refused = self._refused(lambda: self._write_files(part, loop, files))
        if not refused:
            self._bytes = sum(self.ranks.everywhere(sum(entry["bytes"] for entry in files.values())))
            gathered = self.ranks.gathered(files) or []
            refused = self._refused(lambda: self._put(part, place, loop, gathered) if gathered else None)
        if refused:
            self._give_up(part, refused)
        else:
            self._kept.append(place)
            self._written, self.stands_at = self._written + 1, self.made
            if self.ranks.rank == 0:
                keep_only(self.folder, self._kept)
        self._since, self._last = 0, time.monotonic()
        self._seconds += self._last - begun

    def _make(self, part: Path) -> None:
        """Rank 0: the folder of a checkpoint, and where somebody has removed it that of the run."""
        if not self.folder.is_dir():
            self.folder.mkdir(parents=True)
            self.warnings.append(f"{self.folder} was removed during the run; it was made again for a checkpoint")
            self.tell(self.warnings[-1])
        part.mkdir()

    def _refused(self, make: Callable[[], None]) -> str:
        """Why the disk refuses this on some rank; nothing where it does not."""
        refused = ""
        try:
            make()
        except OSError as error:
            refused = error.strerror or str(error)
        return next(filter(None, self.ranks.everywhere(refused)), "")

    def _write_files(self, part: Path, loop: TimeLoop, files: dict[str, Any]) -> None:
        name = f"rank-{self.ranks.rank}.bin"
        files[name] = write_arrays(part / name, Holder(loop.engine).pieces())

    def _put(self, part: Path, place: Path, loop: TimeLoop, gathered: list[dict[str, Any]]) -> None:
        """Rank 0: what is not of one rank's box, the manifest, and the name."""
        shelf = Shelf()
        others = {name: record for name, record in self.record.excitations.items() if name != loop.excitation}
        finished = {name: description_of(record, shelf.put) for name, record in others.items()}
        runs = {name: facts for name, facts in self.record.facts["runs"].items() if name in others}
        guard = [Piece(f"guard: {name}", np.array(getattr(loop.guard, name), float)) for name in ("times", "energies")]
        files = {name: entry for each in gathered for name, entry in each.items()}
        files["run.bin"] = write_arrays(part / "run.bin", [*guard, *shelf.pieces])
        write_manifest(
            part,
            json_data(
                {
                    "format": FORMAT,
                    "nearfield": nearfield.__version__,
                    **self.names,
                    "checkpoint": str(self.schedule),
                    "model": self._model,
                    "model_text": self.record.model_text,
                    "plan": self._fingerprint,
                    "excitation": loop.excitation,
                    "step": loop.engine.step,
                    "steps_made": self.made,
                    "ended": loop.ended,
                    "still": loop.guard.still,
                    "seconds": loop.seconds,
                    "warnings": once(self.warnings, loop.whole.attempts.warnings, loop.whole.disk.warnings),
                    "failed_derivations": once(self.failed, loop.whole.attempts.failed),
                    "runs": runs,
                    "finished": finished,
                    "resumed": self.record.facts.get("resumed", []),
                    "files": files,
                },
                float,
            ),
        )
        if not (self.resumed or self._kept or self.record.excitations):  # of an earlier run, and it may say "done"
            (self.folder / self.names["result"]).unlink(missing_ok=True)
        put_in_place(part, place)

    def _give_up(self, part: Path, why: str) -> None:
        if self.ranks.rank == 0:
            shutil.rmtree(part, ignore_errors=True)
        if self._refused_once:
            return
        self._refused_once = True
        left = "the ones before it are kept" if any(map(still_there, self._kept)) else "there is none before it"
        self.warnings.append(f"a checkpoint could not be written to {self.folder}: {why}; {left}, and the run goes on")
        if self.ranks.rank == 0:
            self.tell(self.warnings[-1])

    def newest(self) -> Path | None:
        """The newest checkpoint in the folder, of a run that writes them."""
        return next(iter(checkpoints(self.folder)), None) if self.schedule else None

    def facts(self) -> dict[str, Any]:
        """Entries of the result's facts."""
        if not self.schedule:
            return {}
        newest = self.newest() if self.ranks.rank == 0 else None
        return {
            "checkpoints": {
                "schedule": str(self.schedule),
                "written": self._written,
                "seconds": self._seconds,
                "bytes": self._bytes,
                "newest": newest.name if newest else None,
                "ended_by": "SIGTERM" if self.asked else None,
            }
        }
