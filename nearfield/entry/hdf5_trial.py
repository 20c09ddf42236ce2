"""A first look at an HDF5 file by another process: a damaged header can make HDF5 loop without end, or crash.

python -m nearfield.entry.hdf5_trial FILE      exit code 0, or 1 and the reason on stderr
"""

from __future__ import annotations

import contextlib
import os
import resource
import subprocess
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any

from nearfield.entry.errors import ModelError

SECONDS = 30.0  # for reading the headers; the slowest disks take a few
READER = ("-P", "-m", "nearfield.entry.hdf5_trial")
MEMORY = 8 << 30  # bytes of addresses: a damaged length may ask for any number


def refuse_unreadable(path: str | Path, advice: str) -> None:
    """Error: HDF5 cannot read the headers of this file; `advice` ends the message. `OSError` where there is none."""
    import h5py

    status = os.stat(path)
    reason = "it does not begin like one"
    if h5py.is_hdf5(path):
        reason = _tried(str(path), status.st_ino, status.st_mtime_ns, status.st_size)
    if reason:
        raise ModelError(f"{path} is no HDF5 file that can be read ({reason}); {advice}")


@lru_cache(maxsize=64)
def _tried(path: str, *state: int) -> str:
    """Why the file cannot be read; empty where it can."""
    command = [sys.executable, *READER, path]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return f"HDF5 had not read its headers after {SECONDS:g} s: they are damaged"
    if done.returncode < 0:
        return "HDF5 crashes at its headers: they are damaged"
    lines = done.stderr.decode(errors="replace").strip().splitlines()
    return "" if done.returncode == 0 else lines[-1] if lines else "HDF5 refuses it"


def look_at(name: str, item: Any) -> None:
    """Read everything of an object but its numbers."""
    import h5py

    for key in item.attrs:
        item.attrs[key]
    if not isinstance(item, h5py.Dataset):
        return
    if h5py.check_string_dtype(item.dtype):
        item[()]
    if item.chunks:
        item.id.chunk_iter(lambda chunk: None)


def main(path: str) -> int:
    """Walk through a file."""
    import h5py

    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    try:
        with h5py.File(path, "r") as file:
            look_at("/", file)
            file.visititems(look_at)
    except Exception as error:  # a damaged file makes h5py raise every kind
        print(" ".join(str(error).split()) or type(error).__name__, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
