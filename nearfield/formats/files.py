"""The base of all field files: takes blocks, commits whole snapshots, and keeps a status that is true.

    with open_field_file(path, description, threads=2) as file:
        for block in blocks:       # in the order of time
            file.write(block)      # keeps nothing of block.values: the memory is yours again
            file.flush()           # now and then: the whole snapshots so far survive any crash

`status` in the file is "running", then "complete" or "interrupted: why". A writer that is killed leaves "running" and
no lock, by which `open_fields` tells it from a writer that is alive.
"""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from nearfield.entry.errors import ModelError, RunFailed
from nearfield.formats.claimed import ClaimedFile
from nearfield.formats.description import Block, FieldDescription, Tally
from nearfield.formats.untrusted import refusing

RUNNING, COMPLETE, INTERRUPTED = "running", "complete", "interrupted: "
BROKEN_OFF = "the run was broken off"
FIELDS_VERSION = 1
Moment = tuple[int, dict[str, float]]  # step, and time (s) along each time axis


class FieldFile(ABC):
    """A file that takes blocks; its `committed` snapshots can be read by anyone, whatever happens next.

    `keep` continues a file of an earlier run: its first `keep` snapshots stay, the rest is written again.
    Errors: `ModelError` from the constructor, before anything is written; `RunFailed` when the disk refuses later,
    after which the file stays as it was last committed.
    """

    def __init__(self, path: str | Path, description: FieldDescription, keep: int | None = None) -> None:
        self.path, self.description = Path(path), description
        self.tally = Tally(description, keep or 0)
        self.committed = keep or 0
        self._moments: dict[int, Moment] = {}
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
        """Whether the file still takes blocks."""
        return self._file.descriptor >= 0

    def write(self, block: Block) -> None:
        """Take a block; its memory is the caller's again on return."""
        self._refuse_failed()
        self.tally.check(block)
        _, times = self._moments.setdefault(block.snapshot, (block.step, {}))
        times[self.description.components[block.component].dims[0]] = block.time
        with self._guarded():
            self._put(block)
            if self.tally.add(block):
                self._finish(block.snapshot)

    def flush(self) -> int:
        """Commit the whole snapshots so far, and return their number."""
        self._refuse_failed()
        if self.tally.complete > self.committed:
            numbers = range(self.committed, self.tally.complete)
            with self._guarded():
                self._file.refuse_removed()
                self._commit({number: self._moments[number] for number in numbers})
            for number in numbers:
                del self._moments[number]
            self.committed = self.tally.complete
        return self.committed

    def settle(self) -> None:
        """Wait until the disk has what is committed, which a power cut then leaves."""
        with self._guarded():
            self._file.settle()

    def close(self, complete: bool = True, reason: str = BROKEN_OFF) -> None:
        """Commit and end: status `complete`, or `interrupted` with the reason. Unfinished snapshots are cut off."""
        if not self.is_open:
            return
        self.flush()
        if complete and self._moments:
            complete, reason = False, f"snapshot {min(self._moments)} lacks samples"
        with self._guarded():
            self._file.settle()
            self._end(COMPLETE if complete else interrupted(reason))
            self._file.settle()
            self._file.refuse_removed()
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
        """Where the disk refuses: mark the file if that is still possible, close it, raise `RunFailed`."""
        try:
            yield
        except OSError as error:
            left = f"its first {self.committed} snapshots can be read" if self.path.is_file() else "no file is left"
            self._failure = (
                f"fields could not be written to {self.path}: {error}; {left}. Free some space or choose another "
                "folder with --output"
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
        """Write a file without snapshots that can be opened."""

    @abstractmethod
    def _continue(self, keep: int) -> None:
        """Open an existing file, with its first `keep` snapshots."""

    @abstractmethod
    def _put(self, block: Block) -> None:
        """Store a block."""

    def _finish(self, snapshot: int) -> None:  # noqa: B027  - most formats write blocks at once
        """Write a whole snapshot that `_put` has gathered."""

    @abstractmethod
    def _commit(self, moments: dict[int, Moment]) -> None:
        """Make the snapshots with these numbers part of the file."""

    @abstractmethod
    def _end(self, status: str) -> None:
        """Cut what is not committed and write the status."""

    def _discard(self) -> None:  # noqa: B027  - most formats keep nothing in memory
        """After an error: forget what is not on the disk."""

    def _abandon(self, status: str) -> None:
        """After an error: write the status over the committed state."""
        self._end(status)


class FixedLayout(NamedTuple):
    """A format of snapshots of equal length behind a header, which holds the status and the committed snapshots."""

    header: Callable[[FieldDescription], bytes]  # of a file without snapshots
    read_header: Callable[[Path], tuple[FieldDescription, int, str, int]]  # with committed snapshots, status, length
    snapshot_bytes: Callable[[FieldDescription], int]
    status: Callable[[str], bytes]
    status_at: int
    committed: Callable[[int], bytes]
    committed_at: int


class FixedFieldFile(FieldFile):
    """A field file with a `FixedLayout`."""

    layout: FixedLayout

    def _create(self) -> None:
        content = self.layout.header(self.description)
        self._begin = len(content)
        self._file.write_at(0, content)

    def _continue(self, keep: int) -> None:
        with refusing(self.path):
            stored, committed, _, self._begin = self.layout.read_header(self.path)
        refuse_other_fields(self.path, stored, self.description)
        if keep > committed:
            raise too_short(self.path, committed, keep)
        self._write_status(RUNNING)  # first: not complete with fewer snapshots
        self._file.write_at(self.layout.committed_at, self.layout.committed(keep))

    def _write_status(self, status: str) -> None:
        self._file.write_at(self.layout.status_at, self.layout.status(status))

    def _place(self, snapshot: int) -> int:
        """Where a snapshot begins in the file."""
        return self._begin + snapshot * self.layout.snapshot_bytes(self.description)

    def _commit(self, moments: dict[int, Moment]) -> None:
        for number, (step, times) in moments.items():
            self._write_moment(number, step, times)
        self._file.write_at(self.layout.committed_at, self.layout.committed(max(moments) + 1))

    @abstractmethod
    def _write_moment(self, number: int, step: int, times: dict[str, float]) -> None:
        """Write step and times, with which a snapshot begins, and its checksums."""

    def _end(self, status: str) -> None:
        self._file.truncate(self._place(self.committed))
        self._write_status(status)


def interrupted(reason: str) -> str:
    """The status of a file that ended early."""
    return f"{INTERRUPTED}{' '.join(reason.split())[:150]}"


def refuse_other_fields(path: Path, stored: FieldDescription, given: FieldDescription) -> None:
    """Raise `ModelError` for a file that cannot be continued because its fields are others."""
    if stored.to_json() != given.to_json():
        raise ModelError(
            f"{path} holds other fields than this run records (components, points, precision or codec differ); "
            "go on with the model it was begun with, or give another --output"
        )


def too_short(path: Path, committed: int, keep: int, what: str = "snapshots") -> ModelError:
    """The error for a file that cannot be continued because it lost snapshots that the run has passed."""
    return ModelError(
        f"{path} holds {committed} {what}, {keep} are needed to go on; remove the newest checkpoint to go on from the "
        "one before, or run from the start"
    )
