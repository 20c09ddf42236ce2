"""A first look at a file by another process: a damaged header can make a library loop without end, or crash.

python -m nearfield.entry.file_trial hdf5 FILE      exit code 0, or 1 and the reason on stderr
"""

from __future__ import annotations

import contextlib
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

from nearfield.entry.errors import ModelError

SECONDS = 30.0  # for reading headers; the slowest disks take a few
SECONDS_PER_MEBIBYTE = 1.0  # more, of a file that is read as a whole
READER = ("-P", "-m", "nearfield.entry.file_trial")
MEMORY = 8 << 30  # bytes of addresses: a damaged length may ask for any number
NAMES = {"hdf5": "HDF5", "gds": "GDSII"}


def refuse_unreadable(path: str | Path, kind: str, advice: str) -> None:
    """Error: the library cannot read the headers of this file, or all of it; `advice` ends the message.

    `kind` is "hdf5" or "gds". `OSError` where there is no file.
    """
    status = os.stat(path)
    reason = _tried(kind, str(path), status.st_size, status.st_ino, status.st_mtime_ns)
    if reason:
        raise ModelError(f"{path} is no {NAMES[kind]} file that can be read ({reason}); {advice}")


@lru_cache(maxsize=64)
def _tried(kind: str, path: str, size: int, *state: int) -> str:
    """Why the file cannot be read; empty where it can."""
    if kind == "hdf5" and not begins_as_hdf5(path):
        return "it does not begin like one"
    seconds = SECONDS + (SECONDS_PER_MEBIBYTE * size / 2**20 if kind == "gds" else 0.0)
    command = [sys.executable, *READER, kind, path]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return f"its reading had not ended after {seconds:.3g} s: it is damaged"
    if done.returncode < 0:
        return "the library that reads it crashes: it is damaged"
    lines = done.stderr.decode(errors="replace").strip().splitlines()
    return "" if done.returncode == 0 else lines[-1] if lines else "the library refuses it"


def begins_as_hdf5(path: str) -> bool:
    """Whether HDF5's signature stands where it may."""
    import h5py

    return bool(h5py.is_hdf5(path))


def try_hdf5(path: str) -> None:
    """Read everything of an HDF5 file but its numbers."""
    import h5py

    def look_at(name: str, item: Any) -> None:
        for key in item.attrs:
            item.attrs[key]
        if isinstance(item, h5py.Dataset):
            if h5py.check_string_dtype(item.dtype):
                item[()]
            if item.chunks:
                item.id.chunk_iter(lambda chunk: None)

    with h5py.File(path, "r") as file:
        look_at("/", file)
        file.visititems(look_at)


def try_gds(path: str) -> None:
    """Read all cells of a GDS file, and the polygons of those that no other refers to."""
    import gdstk

    for cell in gdstk.read_gds(path).top_level():
        if hasattr(cell, "get_polygons"):
            cell.get_polygons()


TRIALS: dict[str, Callable[[str], None]] = {"hdf5": try_hdf5, "gds": try_gds}


def main(kind: str, path: str) -> int:
    """Walk through a file."""
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    try:
        TRIALS[kind](path)
    except Exception as error:  # a damaged file raises every kind
        print(" ".join(str(error).split()) or type(error).__name__, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
