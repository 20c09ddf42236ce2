"""Placement: the unit of a host that a rank gets, and the processor of its unit that a thread gets.

Pure functions of the hardware; nothing here binds anything. All hosts have the same hardware.
"""

from __future__ import annotations

import itertools
import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from nearfield.entry.errors import ModelError
from nearfield.entry.wording import counted
from nearfield.machine.hardware import Core, Hardware, Unit

MOST_RANKS = 1 << 20
LEVELS = ("package", "numa", "l3", "index")
MEMORY = {"node": "first-touch", "none": "off"}  # memory policies; every other scheme has bind
NAMES = {
    "node": "the whole machine",
    "socket": "a package",
    "numa": "a NUMA node",
    "l3": "a third-level cache",
    "core": "a core",
    "none": "whatever the system gives",
}


@dataclass(frozen=True)
class Rank:
    """One process: its number, the host it runs on, its number on that host, and its unit there."""

    number: int
    host: str
    local: int
    unit: Unit


def default_scheme(hardware: Hardware) -> tuple[str, str]:
    """The scheme that suits the hardware, and why."""
    near = {core.numa for core in hardware.cores}
    if len(near) > 1:
        why = "one rank in each reads and writes memory of its own node, and its threads share it there"
        return "numa", f"{len(near)} NUMA nodes: {why}"
    return "node", "one NUMA node: all memory is equally near to all cores, so one rank with a thread a core does it"


def host_names(nodes: int, hosts: str | Sequence[str] | None = None) -> tuple[str, ...]:
    """The names of so many hosts: those given, comma-separated or as a list, else host0, host1, ...

    Raises ModelError for fewer than one host, for another number of names than hosts, and for names that are none.
    """
    if nodes < 1:
        raise ModelError(f"nodes={nodes}: allowed are 1 or more hosts")
    if hosts is None:
        return tuple(f"host{index}" for index in range(nodes))
    names = tuple(name.strip() for name in (hosts.split(",") if isinstance(hosts, str) else hosts))
    given, wrong = ",".join(names), [name for name in names if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name)]
    if wrong:
        allowed = "letters, digits, - . _); names are separated by commas without spaces"
        raise ModelError(f"hosts={given}: '{wrong[0]}' is no host name ({allowed}")
    if len(set(names)) < len(names):
        raise ModelError(f"hosts={given}: name each host once; --bind says how many ranks each gets")
    if len(names) != nodes:
        remedy = "name as many hosts as there are nodes, or leave hosts out for host0, host1, ..."
        raise ModelError(f"hosts={given} names {len(names)} for nodes={nodes}; {remedy}")
    return names


def ranks(hardware: Hardware, scheme: str, hosts: Sequence[str]) -> tuple[Rank, ...]:
    """One rank for each unit of each host, in compact order: all of the first host, then all of the next.

    Raises ModelError for a scheme that does not exist or that the hardware does not have.
    """
    units = hardware.units(scheme)
    if len(units) * len(hosts) > MOST_RANKS:
        every = f"{len(units)} ranks on each of {len(hosts)} hosts"
        raise ModelError(f"{every} are more than {MOST_RANKS}; bind to larger units")
    return tuple(
        Rank(host * len(units) + local, name, local, unit)
        for host, name in enumerate(hosts)
        for local, unit in enumerate(units)
    )


def unit_of(hardware: Hardware, scheme: str, local_rank: int) -> Unit:
    """The unit of a rank by its number on its host; more ranks than units begin again with the first."""
    units = hardware.units(scheme)
    return units[local_rank % len(units)]


def memory_policy(scheme: str) -> str:
    """The memory policy that goes with a scheme: pages on the rank's own nodes, or where they are first touched."""
    return MEMORY.get(scheme, "bind")


def shares(hardware: Hardware, unit: Unit, parts: int) -> tuple[tuple[int, ...], ...]:
    """A unit's cores in so many parts, as far apart as its packages, NUMA nodes and caches allow.

    Every core is in a part; with more parts than cores, parts in turn hold the same core. hwloc's `hwloc-distrib` gives
    the same.
    """
    cores = [hardware.cores[index] for index in unit.cores]
    return tuple(tuple(core.index for core in part) for part in divide(cores, parts, LEVELS))


def divide(cores: list[Core], parts: int, levels: Sequence[str]) -> list[list[Core]]:
    """The parts; each group of the outermost level gets them in proportion to its cores, early groups rounded up."""
    if parts == 1 or len(cores) == 1:
        return [cores] * parts
    groups: dict[int, list[Core]] = {}
    for core in cores:
        groups.setdefault(getattr(core, levels[0]), []).append(core)
    found: list[list[Core]] = []
    given = 0
    for group in groups.values():
        before, given = given, given + len(group)
        count = -(-given * parts // len(cores)) - -(-before * parts // len(cores))
        if count:
            found += divide(group, count, levels[1:])
        else:
            found[-1] = found[-1] + group
    return found


def processors_of_threads(hardware: Hardware, unit: Unit, threads: int) -> tuple[int, ...]:
    """One processor for each thread of a rank: spread over its cores, and no hyper-thread before every core has one."""
    if threads < 1:
        raise ModelError(f"threads={threads}: allowed are 1 or more")
    parts = shares(hardware, unit, threads)
    turns = {part[0]: itertools.cycle(hardware.cores[part[0]].processors) for part in parts}
    return tuple(next(turns[part[0]]) for part in parts)


def crowding(hardware: Hardware, unit: Unit, threads: int) -> list[str]:
    """A warning where the threads of a rank must share cores."""
    cores, processors = len(unit.cores), len(hardware.processors_of(unit))
    advice = (
        f"Use --threads {cores}, or bind to larger units (--bind), or have the launcher give each rank more processors"
    )
    return crowded(f"{threads} threads", threads, cores, processors, counted(processors, "processor"), advice)


def crowded(who: str, threads: int, cores: int, processors: int, where: str, advice: str) -> list[str]:
    """A warning where so many threads must share cores, framed so that nobody misses it."""
    if threads <= cores:
        return []
    enough = threads <= processors
    slow = "hyper-threads share a core's arithmetic and caches" if enough else "they take turns and wait for each other"
    return [framed(f"MORE THREADS THAN CORES: {who} on {counted(cores, 'core')} ({where}): {slow}. {advice}.")]


def framed(text: str) -> str:
    """Text in a frame of exclamation marks."""
    lines = textwrap.wrap(text, 92)
    return "\n".join(["!" * 96, *(f"! {line:92} !" for line in lines), "!" * 96])
