"""Processors that the threads of a run leave free, for a process beside them or a thread that sends its messages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Spare:
    """How many processors are free, and those that another thread may be bound to: all usable ones where none is free.

    Threads that may move leave a number of processors free, but none in particular: then `processors` are more than
    `count`, and the system moves the threads aside.
    """

    count: int
    processors: tuple[int, ...]


def left_free(threads: Sequence[Sequence[int]], usable: Iterable[int], granted: int | None = None) -> Spare:
    """What is left of the usable processors by threads that may run on these (an empty one: on all).

    Every thread needs a processor of its own, so those that are taken are the most that threads and processors can be
    matched. A processor is free if as many threads can have one without it: an unmatched one, or one whose thread can
    go to a free one. `granted`: processors that a control group grants in all, whichever these are.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    every = sorted({*usable})
    places = [frozenset(mine) & frozenset(every) or frozenset(every) for mine in threads]
    if not places or not every:
        return Spare(len(every), tuple(every))
    column = {number: index for index, number in enumerate(every)}
    columns = [column[number] for mine in places for number in mine]
    starts = np.cumsum([0, *map(len, places)])
    graph = csr_array((np.ones(len(columns)), np.array(columns), starts), shape=(len(places), len(every)))
    matched = [every[index] if index >= 0 else None for index in maximum_bipartite_matching(graph, "column")]
    free = set(every).difference(number for number in matched if number is not None)
    taken = len(every) - len(free)
    count = max(0, min(granted or len(every), len(every)) - taken)
    while more := {number for number, mine in zip(matched, places) if number is not None and mine & free} - free:
        free |= more
    return Spare(count, tuple(sorted(free)) if count else tuple(every))
