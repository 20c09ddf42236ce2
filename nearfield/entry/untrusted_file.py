"""Files that others may have made: opened only if they are ordinary, and names in them that stay in their folder."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

LONGEST_NAME = 255  # bytes


def open_ordinary(path: str | Path, follow: bool = True) -> BinaryIO:
    """A file for reading. Error: `OSError`, also for a pipe or a device, which might never end, and for a link unless
    `follow`."""
    own = 0 if follow else os.O_NOFOLLOW
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | own)
    except OSError as error:
        if own and error.errno == errno.ELOOP:
            raise OSError(errno.ELOOP, "it is a link", str(path)) from None
        raise
    refuse_other_than_ordinary(descriptor, path)
    return open(descriptor, "rb")


def refuse_other_than_ordinary(descriptor: int, path: str | Path) -> None:
    """Error, `OSError`, after closing it: what is open is a folder, a pipe or a device."""
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is not an ordinary file", str(path))


def plain_name(name: object) -> str:
    """The name of a file that lies where the file lies that names it. Error: `ValueError` for any other."""
    if (
        not isinstance(name, str)
        or name in ("", ".", "..")
        or any(c in "/\\" or not c.isprintable() for c in name)
        or len(name.encode(errors="replace")) > LONGEST_NAME
    ):
        raise ValueError(f"{str(name)[:60]!r} is no plain file name: no folders and no .. may be in it")
    return name
