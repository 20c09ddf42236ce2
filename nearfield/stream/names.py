"""Names of rings and the files behind them: `nearfield.<user's number>.<name>` in the system's shared memory."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from nearfield.entry.errors import ModelError

SHARED_MEMORY = "/dev/shm"
VARIABLE = "NEARFIELD_SHARED_MEMORY"  # another folder, which must lie in memory too
ALLOWED = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,99}")


def folder() -> Path:
    """The folder of rings. Raises ModelError where there is no such folder."""
    chosen = Path(os.environ.get(VARIABLE) or SHARED_MEMORY)
    if not chosen.is_dir():
        raise ModelError(f"rings lie in {chosen}, which is no folder here. Set {VARIABLE} to one in memory (tmpfs)")
    return chosen


def path_of(name: str) -> Path:
    """The file of a ring of this user. Raises ModelError for a name that a file cannot have."""
    if not isinstance(name, str) or not ALLOWED.fullmatch(name):
        raise ModelError(f"ring name {name!r}: allowed are up to 100 letters, digits, and _ . - (no . first)")
    return folder() / f"nearfield.{os.getuid()}.{name}"


def ring_files() -> Iterator[tuple[str, Path]]:
    """Names and files of this user's rings, in order."""
    prefix = f"nearfield.{os.getuid()}."
    for path in sorted(folder().glob(f"{prefix}*")):
        yield path.name.removeprefix(prefix), path
