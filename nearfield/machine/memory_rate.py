"""The rate of the memory: a triad, three streams over arrays that are larger than nearly every cache."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from nearfield.machine.group_memory import free_memory

ELEMENT_BYTES = 24  # two reads and a write of 8 bytes, as STREAM counts: the line fetched for the write is left out
MOST_BYTES = 768 * 2**20  # three arrays together: three times the largest last-level caches in use, 256 MiB
SHARE_OF_MEMORY = 0.25  # at most this share of the free memory is used
RUNS = 5


def triad(threads: int) -> float | None:
    """Memory rate (GB/s) of so many threads together, the best of five runs; None where memory is short.

    a = b + c moves what STREAM's a = b + s c moves.
    """
    free = free_memory()
    most = MOST_BYTES if free is None else min(MOST_BYTES, int(SHARE_OF_MEMORY * free))
    elements = most // ELEMENT_BYTES // threads
    try:
        with ThreadPoolExecutor(threads) as pool:
            parts = list(pool.map(lambda _: np.ones((3, elements)), range(threads)))
            return max(run(pool, parts) for _ in range(RUNS))
    except MemoryError:
        return None


def run(pool: ThreadPoolExecutor, parts: list[np.ndarray]) -> float:
    """GB/s of one pass over all parts."""
    begun = time.perf_counter()
    list(pool.map(lambda part: np.add(part[1], part[2], out=part[0]), parts))
    seconds = time.perf_counter() - begun
    return ELEMENT_BYTES * sum(part.shape[1] for part in parts) / seconds / 1e9
