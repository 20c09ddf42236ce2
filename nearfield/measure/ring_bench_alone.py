"""Rates of a stream's two copies without a ring between them, by the same stores, on the same processors and memory."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from nearfield.machine.compiled import core
from nearfield.measure.ring_bench_team import Case
from nearfield.stream.placement import nodes_with_memory

PASSES = 5


def copies_alone(
    case: Case, places: Sequence[tuple[int, int]], pair: tuple[str, str], elements: int
) -> list[float] | None:
    """For each stream the bytes (1e6 a second) that its writer's and its reader's copy pass on, all at once.

    Each processor copies `elements` words of 8 bytes from an array to another, both on the memory's node, by the copy
    that the ring had there; the quickest of PASSES counts. None where a device makes a copy.
    """
    if any(stream.device for stream in case.streams):
        return None
    roles = [
        (processor, stream.memory, name)
        for stream, both in zip(case.streams, places)
        for processor, name in zip(both, pair)
    ]
    elements = elements * len({processor for processor, _, _ in roles}) // len(roles)  # of those that share one
    together = threading.Barrier(len(roles))
    with ThreadPoolExecutor(len(roles)) as threads:
        spans = list(threads.map(lambda role: _spans(role[0], role[1], role[2], elements, together), roles))
    rates = []
    for n in range(len(case.streams)):
        ends = zip(*spans[2 * n : 2 * n + 2])
        seconds = min(max(end for _, end in both) - min(begun for begun, _ in both) for both in ends)
        rates.append(8 * elements / seconds / 1e6)
    return rates


def _spans(
    processor: int, node: int, name: str, elements: int, together: threading.Barrier
) -> list[tuple[float, float]]:
    """When each pass of a processor's copy began and ended."""
    machine, copy = core().machine, np.copyto if name == "plain" else core().stream.copy_past_caches
    machine.bind_this_thread([processor])
    found = []
    try:
        with machine.ThreadPolicy(*(("bind", [node]) if len(nodes_with_memory()) > 1 else ("first-touch",))):
            source, target = (np.full(8 * elements, value, np.uint8) for value in (1, 2))
        for _ in range(PASSES + 1):  # the first one warms up
            together.wait()
            begun = time.perf_counter()
            copy(target, source)
            found.append((begun, time.perf_counter()))
    except BaseException:
        together.abort()
        raise
    return found[1:]
