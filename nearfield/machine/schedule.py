"""Schedules of the core's loops: who makes which block, how much of it lay on another NUMA node, and replays.

Every node has a range of blocks, in proportion to its threads. With `local` a thread takes from the front of its own
node's range, then from the back of that of the nearest node that has most left, each time a part of what is left.
`dynamic` hands all blocks out by one counter, `static` gives every thread one range: what there is to compare with.
No bit of an answer depends on it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nearfield.entry.errors import ModelError
from nearfield.machine.compiled import core
from nearfield.machine.hardware import Hardware

SCHEDULES = ("local", "dynamic", "static")
OWN, OTHER = 10.0, 20.0  # distances where firmware has no table, as Linux assumes them
Matrix = Sequence[Sequence[float]]


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
    """Within it all loops of the core follow this schedule; counters begin at zero. Error: no such schedule."""
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

    `local`: the thread's own; `near`: the closest of the others; `far`: further away; `local_share` of the blocks.
    """
    loops = core().schedule
    found = loops.counted()
    blocks = found["local"] + found["near"] + found["far"]
    return {"kind": loops.chosen(), **found, "local_share": found["local"] / blocks if blocks else 1.0}


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
