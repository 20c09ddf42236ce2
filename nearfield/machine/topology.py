"""What the system says of the processor: the cores that this process may use, and the caches of one of them."""

from __future__ import annotations

import functools
import os
import re
from dataclasses import dataclass
from pathlib import Path

KIB = 1024
SYSTEM = Path("/sys")
CONTROL_GROUP = Path("/proc/self/cgroup")
UNITS = {"": 1, "K": KIB, "M": KIB**2, "G": KIB**3}


@dataclass(frozen=True)
class Topology:
    """Cores and caches. Without the system's word: each processor a core, the smallest caches in use, no third level.

    `l1` and `l2` are what one core may call its own (bytes); `l3` is all that the cores of this process reach together.
    """

    cores: int  # physical ones, never more than the control group's share
    processors: int  # hyper-threads counted
    l1: int = 32 * KIB
    l2: int = 512 * KIB
    l3: int = 0

    def per_thread(self, size: int, threads: int) -> int:
        """What is left to each of so many threads of a core's cache of `size` bytes."""
        return size // -(-threads // self.cores)


@functools.cache
def topology() -> Topology:
    """This machine, as this process may use it; asked once."""
    return examine(usable_processors(), SYSTEM, cgroup_limit(SYSTEM, CONTROL_GROUP))


def available_threads() -> int:
    """Threads of a run that names none: one for each physical core that this process may use."""
    return topology().cores


def too_many_threads(threads: int) -> list[str]:
    """A warning where threads must share cores."""
    cores, processors = topology().cores, topology().processors
    if threads <= cores:
        return []
    if threads <= processors:
        return [
            f"{threads} threads on {cores} physical cores: hyper-threads share a core's arithmetic and caches, "
            f"{cores} threads are usually as fast"
        ]
    return [f"{threads} threads on {cores} cores: they will hinder each other"]


def usable_processors() -> frozenset[int]:
    """Numbers of the processors that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return frozenset(os.sched_getaffinity(0))
    return frozenset(range(os.cpu_count() or 1))


def examine(usable: frozenset[int], system: Path, limit: int | None = None) -> Topology:
    """The topology that the files below `system` tell of the usable processors; `limit`: cores at most."""
    folder = system / "devices" / "system" / "cpu"

    def core_of(processor: int) -> frozenset[int]:
        siblings = processors_in(text(folder / f"cpu{processor}" / "topology" / "thread_siblings_list"))
        return siblings or frozenset({processor})

    cores = {core_of(processor) for processor in usable}
    found: dict[str, int] = {}
    third: dict[frozenset[int], int] = {}
    for processor in sorted(usable):
        for index in sorted((folder / f"cpu{processor}" / "cache").glob("index*")):
            level, size = text(index / "level"), bytes_in(text(index / "size"))
            if not size or text(index / "type") == "Instruction":
                continue
            sharers = processors_in(text(index / "shared_cpu_list")) or core_of(processor)
            if level == "3":
                third[sharers] = size
            elif level in ("1", "2"):
                share = size // len({core_of(sharer) for sharer in sharers})
                found[f"l{level}"] = min(share, found.get(f"l{level}", share))  # the slowest core sets the pace
    if third:
        found["l3"] = sum(third.values())
    return Topology(max(1, min(len(cores), limit or len(cores))), len(usable), **found)


def cgroup_limit(system: Path, membership: Path) -> int | None:
    """Whole processors that the control group of this process grants, at least one; None where it sets no limit."""
    own = re.search(r"^0::/(.*)$", text(membership), re.MULTILINE)
    root = system / "fs" / "cgroup"
    folder = root / (own.group(1) if own else "")
    granted = []
    for group in (folder, *folder.parents):
        quota, _, period = text(group / "cpu.max").partition(" ")
        if quota.isdigit() and period.isdigit() and int(period):
            granted.append(max(1, int(quota) // int(period)))
        if group == root:
            break
    return min(granted, default=None)


def text(file: Path) -> str:
    """What stands in a file of the system; nothing where it cannot be read."""
    try:
        return file.read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        return ""


def processors_in(listed: str) -> frozenset[int]:
    """The numbers in a list such as `0-3,8`; none where it is not one."""
    if not re.fullmatch(r"\d+(-\d+)?(,\d+(-\d+)?)*", listed):
        return frozenset()
    ends = [[int(end) for end in part.split("-")] for part in listed.split(",")]
    return frozenset(number for part in ends for number in range(part[0], part[-1] + 1))


def bytes_in(size: str) -> int:
    """Bytes of a size such as `2048K`; 0 where it is not one."""
    match = re.fullmatch(r"(\d+)([KMG]?)", size)
    return int(match.group(1)) * UNITS[match.group(2)] if match else 0
