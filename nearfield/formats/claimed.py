"""A file of one writer: made beside its place, put there whole, locked for as long as it is open.

The lock is an open-file-description lock of a byte far behind the end: it ends with its process, however that ends;
readers ignore it (HDF5 locks by other means), and a query tells whether a file is still being written. On a file
system without such locks, two writers go unnoticed and the status "running" is believed.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import struct
from pathlib import Path

from nearfield.entry.errors import ModelError
from nearfield.formats import direct
from nearfield.formats.direct import DirectWriter, write_all

FAR = 1 << 62  # byte that is locked
SHAPE = struct.Struct("hhqqi4x")  # struct flock of 64-bit Linux: type, whence, start, length, process
LOCK = SHAPE.pack(fcntl.F_WRLCK, os.SEEK_SET, FAR, 1, 0)


class ClaimedFile:
    """Positioned reads and writes of a file that is locked against other writers.

    A new file lies beside `path` until `show()`; `existing` opens the one that is there. Errors: `ModelError` where the
    place cannot be written or another writer has it.
    """

    def __init__(self, path: Path, existing: bool = False) -> None:
        self.path = path
        self._direct: DirectWriter | None = None
        self._place = path if existing else path.with_name(f".{path.name}.part")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            made = 0 if existing else os.O_CREAT
            self.descriptor = os.open(self._place, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC | made, 0o666)
        except OSError as error:
            reason = f"{self._place.name} is a link" if error.errno == errno.ELOOP else error.strerror
            raise ModelError(
                f"{path} cannot be written ({reason}); choose another folder or mend its permissions"
            ) from error
        try:
            if not _lock(self.descriptor) or (not existing and is_being_written(path)):
                raise ModelError(f"{path} is being written by another run; wait for its end, or give another --output")
            if not existing:
                os.ftruncate(self.descriptor, 0)
        except (OSError, ModelError) as error:
            os.close(self.descriptor)
            if isinstance(error, ModelError):
                raise
            raise ModelError(f"{path} cannot be written ({error.strerror}); choose another folder") from error

    def show(self) -> None:
        """Put the file in its place, instead of an earlier file of this name."""
        os.replace(self._place, self.path)
        self._place = self.path

    def write_at(self, offset: int, content: memoryview | bytes) -> None:
        """Write all of it, after all earlier writes, or raise OSError."""
        self.flush()
        write_all(self.descriptor, offset, memoryview(content).cast("B"))

    def stream_at(self, offset: int, content: memoryview | bytes) -> None:
        """Take part of a long run of bytes; the next `flush` writes it, and may raise its OSError."""
        content = memoryview(content).cast("B")
        if self._direct is None and len(content) >= direct.LEAST:
            self._direct = DirectWriter(self.descriptor)
        if self._direct is None or not self._direct.write(offset, content):
            write_all(self.descriptor, offset, content)

    def flush(self) -> None:
        """Return when the system has all writes."""
        if self._direct is not None:
            self._direct.flush()

    def drop(self) -> None:
        """Drop bytes that `stream_at` took and the system does not have."""
        if self._direct is not None:
            self._direct.close()
            self._direct = None

    def read_at(self, offset: int, count: int) -> bytes:
        """Up to `count` bytes."""
        self.flush()
        parts = []
        while count and (part := os.pread(self.descriptor, count, offset)):
            parts.append(part)
            offset, count = offset + len(part), count - len(part)
        return b"".join(parts)

    @property
    def size(self) -> int:
        """Length in bytes."""
        self.flush()
        return os.fstat(self.descriptor).st_size

    def truncate(self, size: int) -> None:
        self.flush()
        os.ftruncate(self.descriptor, size)

    def refuse_removed(self) -> None:
        """Error, `OSError`: what is written goes to no file of this name any more."""
        try:
            there = os.path.samestat(os.stat(self._place), os.fstat(self.descriptor))
        except FileNotFoundError:
            there = False
        if not there:
            raise OSError(errno.ENOENT, "it was removed while it was written")

    def settle(self) -> None:
        """Wait until the disk has everything."""
        self.flush()
        os.fsync(self.descriptor)

    def close(self) -> None:
        """Close the file; one that was never put in its place is removed."""
        if self.descriptor < 0:
            return
        self.drop()
        if self._place != self.path:
            with contextlib.suppress(OSError):
                self._place.unlink()
        os.close(self.descriptor)
        self.descriptor = -1


def is_being_written(path: Path) -> bool | None:
    """Whether a writer has locked the file; None where the system does not say."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return None
    try:
        return SHAPE.unpack(fcntl.fcntl(descriptor, fcntl.F_OFD_GETLK, LOCK))[0] != fcntl.F_UNLCK
    except OSError:
        return None
    finally:
        os.close(descriptor)


def _lock(descriptor: int) -> bool:
    """Lock a file where the system has such locks; False where another writer has locked it."""
    try:
        fcntl.fcntl(descriptor, fcntl.F_OFD_SETLK, LOCK)
    except OSError as error:
        return error.errno not in (errno.EAGAIN, errno.EACCES)
    return True
