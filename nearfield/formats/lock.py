"""One run at a time in a folder."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path

from nearfield.entry.errors import ModelError, RunFailed
from nearfield.entry.untrusted_file import refuse_other_than_ordinary
from nearfield.entry.whole_file import is_full

LOCK_NAME = ".nearfield-lock"
LEAVING = 0.1  # s: a run that shared the folder has it to itself while it removes its lock, far shorter than this


@contextlib.contextmanager
def locked(folder: Path, shared: bool = False) -> Iterator[None]:
    """Keep other runs out of the folder, unless they and this one share it. Error: `ModelError` if one is there.

    The system frees the lock when this process dies, however it does. On a file system without locks there is none.
    """
    path = folder / LOCK_NAME
    descriptor = _locked_file(path, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):  # the folder may have been removed, and another run have made it again
            if os.path.samestat(os.stat(path, follow_symlinks=False), os.fstat(descriptor)):
                if _taken(descriptor, fcntl.LOCK_EX):  # no other run shares it
                    path.unlink()
        os.close(descriptor)


def _taken(descriptor: int, kind: int, patience: float = 0.0) -> bool:
    """Whether a lock could be taken within so many seconds; a file system without locks refuses nobody."""
    end = time.monotonic() + patience
    while True:
        try:
            fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            if time.monotonic() >= end:
                return False
            time.sleep(LEAVING / 10)
        except OSError:
            return True


def _opened(path: Path, kind: int) -> int:
    """The lock file, made where it is not there; another user's, which cannot be written to, can be shared."""
    flags = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        return os.open(path, flags | os.O_RDWR | os.O_CREAT, 0o666)
    except PermissionError:
        if kind != fcntl.LOCK_SH:
            raise
        return os.open(path, flags | os.O_RDONLY)


def _locked_file(path: Path, kind: int) -> int:
    while True:
        try:
            descriptor = _opened(path, kind)
            refuse_other_than_ordinary(descriptor, path)
        except OSError as error:
            reason = "a link stands in its place" if error.errno == errno.ELOOP else error.strerror
            do = "free some space" if is_full(error) else "remove what is there"
            raise (RunFailed if is_full(error) else ModelError)(
                f"{path} cannot be made ({reason}), by which runs keep out of each other's folder; {do}, or give "
                "another folder with --output"
            ) from None
        if not _taken(descriptor, kind, LEAVING):
            holder = os.pread(descriptor, 100, 0).decode(errors="replace")
            os.close(descriptor)
            raise ModelError(
                f"{path.parent} is in use by another run{f' ({holder})' if holder else ''}; wait for its end, or give "
                "another folder with --output"
            )
        try:
            mine = os.path.samestat(os.stat(path), os.fstat(descriptor))
        except FileNotFoundError:
            mine = False  # the run that had it has ended and removed it
        if mine:
            with contextlib.suppress(OSError):
                os.truncate(descriptor, 0)
                os.pwrite(descriptor, f"process {os.getpid()} on {os.uname().nodename}".encode(), 0)
            return descriptor
        os.close(descriptor)
