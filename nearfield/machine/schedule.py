"""Schedules of loops, the core's and those in Python: who makes which block, how much of it lay on another NUMA node,
and replays.

Every node has a range of blocks, in proportion to its threads. With `local` a thread takes from the front of its own
node's range, then from the back of that of the nearest node that has most left, each time a part of what is left.
`dynamic` hands all blocks out by one counter, `static` gives every thread one range: what there is to compare with.
No bit of an answer depends on it.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from contextvars import copy_context
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, pairwise
from typing import Any, TypeVar

import numpy as np

from nearfield.entry.errors import ModelError
from nearfield.machine.compiled import core
from nearfield.machine.hardware import Hardware
from nearfield.machine.topology import available_threads

SCHEDULES = ("local", "dynamic", "static")
TOGETHER = 16  # neighbours that one thread makes in turn, where they have work in common
OWN, OTHER = 10.0, 20.0  # distances where firmware has no table, as Linux assumes them
Matrix = Sequence[Sequence[float]]
Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Layout:
    """Threads of a loop on NUMA nodes: node and processors of each, and distances between the nodes, 10 the own one."""

    node_of_thread: tuple[int, ...]
    distances: Matrix
    processors: tuple[tuple[int, ...], ...]

    @property
    def threads(self) -> int:
        return len(self.node_of_thread)


def layout_of(hardware: Hardware, threads: int) -> Layout:
    """So many threads on the NUMA nodes of any machine, each node in proportion to its processors; any number of them.

    Nodes are counted from 0 among those that have processors. Threads are bound to all processors of their node.
    """
    nodes = [node for node in hardware.numa if node.cores]
    near = [tuple(sorted(n for core in node.cores for n in hardware.cores[core].processors)) for node in nodes]
    homes = core().schedule.spread([list(mine) for mine in near], threads)
    known = hardware.distances
    distances = [
        [known[a.index][b.index] if known is not None else OWN if a is b else OTHER for b in nodes] for a in nodes
    ]
    return Layout(tuple(homes), distances, tuple(near[node] for node in homes))


@contextlib.contextmanager
def scheduled(kind: str) -> Iterator[None]:
    """Within it all loops follow this schedule; counters begin at zero. Error: no such schedule."""
    if kind not in SCHEDULES:
        raise ModelError(f"schedule '{kind}' is unknown; allowed: {', '.join(SCHEDULES)}")
    loops = core().schedule
    before = loops.chosen()
    loops.choose(kind)
    loops.forget()
    try:
        yield
    finally:
        loops.choose(before)


def counted() -> dict[str, Any]:
    """Blocks and seconds of all loops since `scheduled` began, by where their memory's node was.

    Loops are those of the core (elements; crossings and distances of solids) and of `by_threads` (planes of update
    coefficients, directions of far fields), whose seconds hold the time in which a block waits for Python's lock.
    `local`: the thread's own; `near`: the closest of the others; `far`: further away; `local_share` of the blocks.
    """
    loops = core().schedule
    found = loops.counted()
    blocks = found["local"] + found["near"] + found["far"]
    return {"kind": loops.chosen(), **found, "local_share": found["local"] / blocks if blocks else 1.0}


def by_threads(work: Callable[[int], Answer], blocks: int, threads: int | None = None) -> list[Answer]:
    """`[work(0), work(1), ...]`, the blocks of a loop in Python, by threads of the chosen schedule; counted.

    For blocks of some milliseconds in which NumPy works on large arrays: it lets go of Python's lock then, and all else
    takes turns. The answers are the same for any threads (one a physical core if left out) and schedule if no block
    reads what another one writes; `kept_by_thread` gives each thread a memory of its own. An error in a block ends the
    loop and is raised here, KeyboardInterrupt too; context variables have the values that they have here.
    """
    context, found = copy_context(), {}

    def make(block: int) -> None:
        found[block] = context.copy().run(work, block)

    core().schedule.calls(blocks, min(threads or available_threads(), max(1, blocks)), make)
    return [found[block] for block in range(blocks)]


def in_order(work: Callable[[int], Answer], blocks: int, threads: int) -> Iterator[Answer]:
    """`work(0)`, `work(1)`, ... as `by_threads` makes them, `TOGETHER` ahead for each thread.

    A thread makes these one after the other, so that neighbours may share what `kept_by_thread` keeps, and no more
    answers than these are in memory; one thread makes none ahead.
    """
    ahead = threads * TOGETHER if threads > 1 else 1
    for first in range(0, blocks, ahead):
        count = min(ahead, blocks - first)
        ends = [first + count * n // threads for n in range(threads + 1)]
        yield from chain.from_iterable(_made(work, list(pairwise(ends))))


def _made(work: Callable[[int], Answer], spans: list[tuple[int, int]]) -> list[list[Answer]]:
    """The answers of spans of blocks, each span by one thread."""
    return by_threads(lambda n: [work(block) for block in range(*spans[n])], len(spans), len(spans))


def kept_by_thread(count: int) -> Callable[[Callable[..., Answer]], Callable[..., Answer]]:
    """`lru_cache(count)` of each thread by itself; those of `by_threads` forget at the end of the blocks they took."""

    def keeping(draw: Callable[..., Answer]) -> Callable[..., Answer]:
        own = threading.local()

        def answer(*given: Any) -> Answer:
            if not hasattr(own, "draw"):
                own.draw = lru_cache(count)(draw)
            return own.draw(*given)

        return answer

    return keeping


def recorded(work: Callable[[], object]) -> list[np.ndarray]:
    """Seconds of every block of each loop that `work` runs, by one thread, block after block: what `replay` takes."""
    loops = core().schedule
    loops.record(True)
    try:
        work()
        return [np.array(seconds) for seconds in loops.recorded()]
    finally:
        loops.record(False)


def replay(
    blocks: np.ndarray, kind: str, layout: Layout, slower: Matrix | None = None, take: Matrix | None = None
) -> dict[str, Any]:
    """A loop on a machine that is only described, by the real scheduler and a make-believe clock.

    `blocks`: seconds of each where its memory is near; `slower`: the factor of that on a node (row) with memory on
    another (column), left out their distance over that of the own one; `take`: seconds that a take from the counter of
    a node (column) occupies it, from a node (row), left out none. Returns `seconds`, `efficiency` (work over threads
    times seconds), the shares of the threads' time that went to `distance`, `counters` and `idle`, and the counters.
    """
    size = len(layout.distances)
    if slower is None:
        slower = [[each / row[node] for each in row] for node, row in enumerate(layout.distances)]
    take = np.zeros((size, size)).tolist() if take is None else take
    found = core().schedule.replay(blocks.tolist(), kind, list(layout.node_of_thread), layout.distances, slower, take)
    spent = layout.threads * found["seconds"]
    lost = {name: found[name] / spent for name in ("distance", "counters", "idle")}
    made = found["local"] + found["near"] + found["far"]
    return found | lost | {"efficiency": found["work"] / spent, "local_share": found["local"] / made}
