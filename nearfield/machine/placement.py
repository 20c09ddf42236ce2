"""Who runs where: which unit of which host a rank gets, and which processor of its unit a thread gets.

Pure functions of the hardware; nothing here binds anything. All hosts have the same hardware.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from nearfield.entry.errors import ModelError
from nearfield.machine.hardware import Core, Hardware, Unit

MOST_RANKS = 1 << 20
LEVELS = ("package", "numa", "l3", "index")
MEMORY = {"node": "first-touch", "none": "off"}  # of every other scheme: bind
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
        return "numa", (
            f"{len(near)} NUMA nodes: one rank in each reads and writes memory of its own node, and its "
            "threads share it there"
        )
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
    wrong = [name for name in names if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name)]
    if wrong:
        raise ModelError(
            f"hosts={','.join(names)}: '{wrong[0]}' is no host name (letters, digits, - . _); names are "
            "separated by commas without spaces"
        )
    if len(set(names)) < len(names):
        raise ModelError(f"hosts={','.join(names)}: name each host once; --bind says how many ranks each gets")
    if len(names) != nodes:
        raise ModelError(
            f"hosts={','.join(names)} names {len(names)} for nodes={nodes}; name as many hosts as there "
            "are nodes, or leave hosts out for host0, host1, ..."
        )
    return names


def ranks(hardware: Hardware, scheme: str, hosts: Sequence[str]) -> tuple[Rank, ...]:
    """One rank for each unit of each host, in compact order: all of the first host, then all of the next.

    Raises ModelError for a scheme that does not exist or that the hardware does not have.
    """
    units = hardware.units(scheme)
    if len(units) * len(hosts) > MOST_RANKS:
        raise ModelError(
            f"{len(units)} ranks on each of {len(hosts)} hosts are more than {MOST_RANKS}; bind to larger units"
        )
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
    taken: dict[int, int] = {}
    chosen = []
    for part in shares(hardware, unit, threads):
        processors = hardware.cores[part[0]].processors
        turn = taken.get(part[0], 0)
        taken[part[0]] = turn + 1
        chosen.append(processors[turn % len(processors)])
    return tuple(chosen)


def crowding(hardware: Hardware, unit: Unit, threads: int) -> list[str]:
    """A warning where the threads of a rank must share cores, framed so that nobody misses it."""
    cores, processors = len(unit.cores), len(hardware.processors_of(unit))
    if threads <= cores:
        return []
    slow = "they will hinder each other" if threads > processors else "pairs will share a core's arithmetic and caches"
    return [
        framed(
            f"WARNING: {threads} threads on {cores} core{'s' * (cores > 1)} ({processors} processors): {slow}. "
            f"Use --threads {cores}, or bind to larger units (--bind), or have the launcher give each rank more "
            "processors."
        )
    ]


def framed(text: str) -> str:
    """Text in a frame of exclamation marks."""
    lines = textwrap.wrap(text, 92)
    return "\n".join(["!" * 96, *(f"! {line:92} !" for line in lines), "!" * 96])
