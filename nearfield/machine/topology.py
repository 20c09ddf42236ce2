"""Cores that this process may use, and their caches, as tiles and teams of threads need them."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path

from nearfield.machine.system_files import (
    CPUS,
    SYSTEM,
    caches_of,
    cgroup_limit,
    core_of,
    numbers_in,
    text,
    usable_processors,
)

KIB = 1024


@dataclass(frozen=True)
class Topology:
    """Cores and caches. By default: each processor a core, the smallest caches in use, no third level.

    `l1` and `l2` are what one core may call its own (bytes); `l3` is all that the cores of this process reach together.
    """

    cores: int  # physical ones, never more than the control group's share
    processors: int  # hyper-threads counted
    l1: int = 32 * KIB
    l2: int = 512 * KIB
    l3: int = 0

    def per_thread(self, size: int, threads: int) -> int:
        """Bytes that each of so many threads has of a core's cache of `size` bytes."""
        return size // -(-threads // self.cores)


@functools.cache
def topology() -> Topology:
    """This machine, as this process may use it; examined once."""
    return examine(usable_processors(), SYSTEM, cgroup_limit())


def available_threads() -> int:
    """Threads of a run that names none: one for each physical core that this process may use."""
    return topology().cores


def threads_beside(sharers: int) -> int:
    """`available_threads` of one of so many processes on this machine: no more than its share of all cores."""
    return max(1, min(available_threads(), _all_cores() // sharers))


@functools.cache
def _all_cores() -> int:
    """Physical cores of this machine, whichever this process may use; no more than its control group's share."""
    folder = SYSTEM / CPUS
    online = numbers_in(text(folder / "online")) | usable_processors()
    cores = len({core_of(folder, processor) for processor in online})
    return min(cores, cgroup_limit() or cores)


def examine(usable: frozenset[int], system: Path, limit: int | None = None) -> Topology:
    """The topology of the usable processors by the files below `system`; `limit`: cores at most."""
    folder = system / CPUS
    shares: dict[int, list[int]] = {1: [], 2: [], 3: []}
    for (level, sharers), size in caches_of(folder, usable).items():
        share = size // len({core_of(folder, sharer) for sharer in sharers}) if level < 3 else size
        shares.setdefault(level, []).append(share)
    found = {f"l{level}": min(shares[level]) for level in (1, 2) if shares[level]}  # the slowest core sets the pace
    cores = len({core_of(folder, processor) for processor in usable})
    return Topology(max(1, min(cores, limit or cores)), len(usable), **found, l3=sum(shares[3]))
