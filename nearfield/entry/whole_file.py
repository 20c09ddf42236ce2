"""Files that appear under their name whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nearfield.entry.errors import ModelError, NearfieldError, RunFailed

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # of a disk, of a user's share, of what a file may have


def reason_of(error: OSError | ValueError) -> str:
    """Why the system refuses, in its words, but for a folder in whose place a file is."""
    if isinstance(error, FileExistsError) and error.filename and Path(os.fsdecode(error.filename)).is_file():
        return f"{os.fsdecode(error.filename)} is a file, not a folder"
    return getattr(error, "strerror", None) or str(error)


def is_full(error: BaseException | None) -> bool:
    """Whether an error, or one that led to it, is that of a full disk."""
    while error is not None and getattr(error, "errno", None) not in FULL:
        error = error.__cause__ or error.__context__
    return error is not None


def unwritable(path: Path, error: OSError | ValueError, option: str = "--output", kind: str = "file") -> NearfieldError:
    """That the system does not take the file of an option: `RunFailed` where its disk is full, else `ModelError`."""
    full = getattr(error, "errno", None) in FULL
    advice = f"{'free some space, or ' if full else ''}give another {kind} with {option}"
    return (RunFailed if full else ModelError)(f"{path} cannot be written: {reason_of(error)}; {advice}")


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """The name of a file beside `path` to create; it takes that place when all went well, and is gone when not.

    Create it with mode "x", which follows no link.
    """
    part = path.with_name(f".{path.name}.part")
    try:
        part.unlink(missing_ok=True)  # of a run that was killed, or a link that somebody put there
        yield part
        flush_to_disk(part)
        os.replace(part, path)
        flush_to_disk(path.parent)
    except BaseException:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
        raise


def write_whole(path: Path, content: bytes | str) -> None:
    """Write bytes, or text as UTF-8, whole or not at all."""
    with replacing(path) as part:
        with open(part, "xb") as file:
            file.write(content.encode() if isinstance(content, str) else content)


def flush_to_disk(path: Path) -> None:
    """Have the disk know a file, or what a folder holds."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def replacing_hdf5(path: Path, **options: Any) -> Iterator[Any]:
    """An HDF5 file to fill, which takes the place of `path` when all went well. Error: OSError, in the disk's words."""
    with replacing(path) as part, PatientFile(part) as raw, filled_hdf5(raw, **options) as file:
        yield file


@contextlib.contextmanager
def filled_hdf5(raw: PatientFile, **options: Any) -> Iterator[Any]:
    """An HDF5 file to fill, within an open one, which stays open. Error: OSError, in the disk's words."""
    import h5py

    try:
        with h5py.File(raw, "w", **options) as file:
            yield file
    finally:
        raw.settle()  # what the disk said, rather than what HDF5 made of it


class PatientFile(io.FileIO):
    """A file that takes every write and says only at the end, by `settle()`, that the disk did not.

    HDF5 cannot close a file whose writes fail: it tries again when the process exits, and crashes (HDF5 2.0).
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path, "x+")
        self._error: OSError | None = None

    def write(self, content: Any) -> int:
        """Write all, or remember why not."""
        content = memoryview(content).cast("B")
        written = 0
        try:
            while self._error is None and written < len(content):
                written += super().write(content[written:])
        except OSError as error:
            self._error = error
        return len(content)

    def truncate(self, size: int | None = None) -> int:
        """Set the length, or remember why not."""
        try:
            return super().truncate(size)
        except OSError as error:
            self._error = self._error or error
            return 0 if size is None else size

    def settle(self) -> None:
        """Raise the first error, if there was one."""
        if self._error is not None:
            raise self._error
