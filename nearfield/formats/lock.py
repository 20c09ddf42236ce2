"""One run at a time in a folder."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from nearfield.entry.errors import ModelError, RunFailed
from nearfield.entry.untrusted_file import refuse_other_than_ordinary
from nearfield.entry.whole_file import is_full

LOCK_NAME = ".nearfield-lock"


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep other processes from running into the folder. Error: `ModelError` if one does so already.

    The system frees the lock when this process dies, however it does. On a file system without locks there is none.
    """
    path = folder / LOCK_NAME
    descriptor = _locked_file(path)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):  # the folder may have been removed, and another run have made it again
            if os.path.samestat(os.stat(path, follow_symlinks=False), os.fstat(descriptor)):
                path.unlink()
        os.close(descriptor)


def _locked_file(path: Path) -> int:
    while True:
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666)
            refuse_other_than_ordinary(descriptor, path)
        except OSError as error:
            reason = "a link stands in its place" if error.errno == errno.ELOOP else error.strerror
            do = "free some space" if is_full(error) else "remove what is there"
            raise (RunFailed if is_full(error) else ModelError)(
                f"{path} cannot be made ({reason}), by which runs keep out of each other's folder; {do}, or give "
                "another folder with --output"
            ) from None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(descriptor, 100, 0).decode(errors="replace")
            os.close(descriptor)
            raise ModelError(
                f"{path.parent} is in use by another run{f' ({holder})' if holder else ''}; wait for its end, or give "
                "another folder with --output"
            ) from None
        except OSError:
            return descriptor
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
