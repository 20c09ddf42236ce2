"""Files and folders that options name for what a command writes: one that cannot be written is refused by its option.

Before the work where it takes long, and when the file is written.
"""

from __future__ import annotations

import contextlib
import errno
import tempfile
from collections.abc import Iterator
from pathlib import Path

from nearfield.entry.errors import ModelError
from nearfield.entry.whole_file import reason_of, unwritable


def make_folder(folder: Path, option: str = "--output", what: str = "the results") -> None:
    """The folder for what a command writes, refused before its work if it cannot be written."""
    with _taking(folder, option, what):
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass


def refuse_folder(folder: Path, option: str, what: str) -> None:
    """Error, before the work and without making any: the folder of an option cannot be made or written."""
    with _taking(folder, option, what):
        there = next(each for each in (folder, *folder.absolute().parents) if each.exists())
        with tempfile.TemporaryFile(dir=there):
            pass


@contextlib.contextmanager
def _taking(folder: Path, option: str, what: str) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:
        raise ModelError(
            f"{folder} cannot take {what}: {reason_of(error)}; give another folder with {option}"
        ) from None


def refuse_existing(file: Path, force: bool) -> None:
    """Error, before the work: the file of `--output` is there, and `--force` does not give it away."""
    if file.exists() and not force:
        raise ModelError(f"{file} exists; give another file with --output, or --force to replace it")


def refuse_unwritable(file: Path, option: str = "--output") -> None:
    """Error, before the work: the file of an option is a folder, or lies in one that cannot be written."""
    with written_to(file, option):
        file.parent.mkdir(parents=True, exist_ok=True)
        if file.is_dir():
            raise IsADirectoryError(errno.EISDIR, "it is a folder")
        with tempfile.TemporaryFile(dir=file.parent):
            pass


@contextlib.contextmanager
def written_to(path: Path, option: str = "--output", kind: str = "file") -> Iterator[None]:
    """While the place of an option is written. Error: the system refuses; `RunFailed` where its disk is full."""
    try:
        yield
    except ModelError:
        raise
    except (OSError, ValueError) as error:
        raise unwritable(path, error, option, kind) from None
