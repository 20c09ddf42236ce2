"""The rings of runs: their names, and what is left of runs that were killed."""

from __future__ import annotations

import contextlib
import os
from itertools import count

from nearfield import stream
from nearfield.entry.errors import ModelError
from nearfield.stream.rings import remove as remove_ring

RING = "run."  # begins their names
SERIAL = count()  # of this process: its threads may run models at the same time


def new_ring(blocks: int, block_bytes: int) -> stream.Writer:
    """A ring of this process under a name of its own."""
    return stream.create(f"{RING}{os.getpid()}.{next(SERIAL)}", blocks, block_bytes)


def remove_left_rings() -> None:
    """Remove what runs left that were killed together with their writers."""
    for each in stream.rings():
        if each.name.startswith(RING) and each.stale:
            with contextlib.suppress(ModelError):
                remove_ring(each)
