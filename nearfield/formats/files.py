"""What all field files have in common: blocks in, whole snapshots committed, a status that tells the truth.

    with open_field_file(path, description, threads=2) as file:
        for block in blocks:       # in the order of time
            file.write(block)      # keeps nothing of block.values: the memory is yours again
            file.flush()           # now and then: whole snapshots so far outlive anything

`status` in the file is "running", then "complete" or "interrupted: why". Whatever kills the writer leaves "running" and
no lock; `open_fields` tells that apart from a writer that lives.
"""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nearfield.entry.errors import ModelError, RunFailed
from nearfield.formats.claimed import ClaimedFile
from nearfield.formats.description import Block, FieldDescription, Tally

RUNNING, COMPLETE = "running", "complete"
FIELDS_VERSION = 1


class FieldFile(ABC):
    """A file that takes blocks; `committed` snapshots can be read by anyone, whatever happens next.

    `keep` goes on with a file that an earlier run left: its first `keep` snapshots stay, the rest is written again.
    Errors: `ModelError` from the constructor, before anything is written; `RunFailed` when the disk refuses later,
    after which the file stays as it was last committed.
    """

    def __init__(self, path: str | Path, description: FieldDescription, keep: int | None = None) -> None:
        self.path, self.description = Path(path), description
        self.tally = Tally(description, keep or 0)
        self.committed = keep or 0
        self._moments: dict[int, tuple[int, dict[str, float]]] = {}
        self._failure: str | None = None
        description.codec.refuse_missing()
        self._file = self._claimed(keep is not None)
        try:
            if keep is None:
                self._create()
                self._file.show()
            else:
                self._continue(keep)
        except BaseException as error:
            self._file.drop()
            self._discard()
            self._file.close()
            if not isinstance(error, OSError):
                raise
            raise RunFailed(f"{self.path} could not be written: {error}; free some space or change --output") from error

    def _claimed(self, existing: bool) -> ClaimedFile:
        return ClaimedFile(self.path, existing)

    @property
    def is_open(self) -> bool:
        """Whether it still takes blocks."""
        return self._file.descriptor >= 0

    def write(self, block: Block) -> None:
        """Take a block; when this returns its memory is the caller's again."""
        self._refuse_failed()
        self.tally.check(block)
        _, times = self._moments.setdefault(block.snapshot, (block.step, {}))
        times[self.description.components[block.component].dims[0]] = block.time
        with self._guarded():
            self._put(block)
            whole = self.tally.add(block)
            if whole:
                self._finish(block.snapshot)

    def flush(self) -> int:
        """Commit the whole snapshots so far, and return their number."""
        self._refuse_failed()
        if self.tally.complete > self.committed:
            with self._guarded():
                self._commit({number: self._moments[number] for number in range(self.committed, self.tally.complete)})
            for number in range(self.committed, self.tally.complete):
                del self._moments[number]
            self.committed = self.tally.complete
        return self.committed

    def close(self, complete: bool = True, reason: str = "the run was broken off") -> None:
        """Commit and end: status `complete`, or `interrupted` with the reason. Part of a snapshot is cut off."""
        if not self.is_open:
            return
        self.flush()
        if complete and self._moments:
            complete, reason = False, f"snapshot {min(self._moments)} lacks samples"
        with self._guarded():
            self._file.settle()
            self._end(COMPLETE if complete else interrupted(reason))
            self._file.settle()
        self._file.close()

    def __enter__(self) -> FieldFile:
        return self

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if error is None:
            self.close()
        elif self._failure is None:
            with contextlib.suppress(RunFailed):
                self.close(complete=False, reason=str(error) or type(error).__name__)

    @contextlib.contextmanager
    def _guarded(self) -> Iterator[None]:
        """Where the disk refuses: mark the file if that is still possible, let it go, raise `RunFailed`."""
        try:
            yield
        except OSError as error:
            self._failure = (
                f"fields could not be written to {self.path}: {error}; its first {self.committed} snapshots "
                "can be read. "
                "Free some space or choose another folder with --output"
            )
            self._file.drop()
            self._discard()
            with contextlib.suppress(Exception):  # a broken disk makes h5py raise every kind
                self._abandon(interrupted(str(error)))
            self._file.close()
            raise RunFailed(self._failure) from error

    def _refuse_failed(self) -> None:
        if self._failure is not None:
            raise RunFailed(self._failure)
        if not self.is_open:
            raise ValueError(f"{self.path} is closed")

    @abstractmethod
    def _create(self) -> None:
        """Write what can be opened and holds no snapshot."""

    @abstractmethod
    def _continue(self, keep: int) -> None:
        """Take up a file that is there, with its first `keep` snapshots."""

    @abstractmethod
    def _put(self, block: Block) -> None:
        """Store a block."""

    @abstractmethod
    def _finish(self, snapshot: int) -> None:
        """A snapshot has come whole."""

    @abstractmethod
    def _commit(self, moments: dict[int, tuple[int, dict[str, float]]]) -> None:
        """Make these snapshots part of the file: number to step and time along each time axis."""

    @abstractmethod
    def _end(self, status: str) -> None:
        """Cut what is not committed and write the status."""

    @abstractmethod
    def _discard(self) -> None:
        """After an error: forget what is not on the disk."""

    @abstractmethod
    def _abandon(self, status: str) -> None:
        """After an error: write the status over the committed state."""


def interrupted(reason: str) -> str:
    """The status of a file that ended early."""
    return f"interrupted: {' '.join(reason.split())[:150]}"


def same_description(path: Path, found: FieldDescription, given: FieldDescription) -> None:
    """Refuse to go on with a file of other fields."""
    if found.to_json() != given.to_json():
        raise ModelError(
            f"{path} holds other fields than this run records (components, points, precision or codec differ); "
            "go on with the model it was begun with, or give another --output"
        )


def refuse_unfit(path: Path, found: FieldDescription, given: FieldDescription, committed: int, keep: int) -> None:
    """Refuse to go on with a file of other fields, or of fewer snapshots than are to be kept."""
    same_description(path, found, given)
    if keep > committed:
        raise too_short(path, committed, keep)


def too_short(path: Path, committed: int, keep: int) -> ModelError:
    """A file that cannot be gone on with, because it lost snapshots that the run has behind it."""
    return ModelError(f"{path} holds {committed} snapshots, {keep} are needed to go on; run from the start")
