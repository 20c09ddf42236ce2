"""Memory that the control group of this process grants: what exceeds it is killed by the kernel, without a word.

A group may use no more than the least of its own limit and those of the groups that it lies in; versions 1 and 2.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from nearfield.machine.pages import MAPS, process_policy
from nearfield.machine.system_files import (
    CONTROL_GROUP,
    NODES,
    STATUS,
    SYSTEM,
    allowed_in,
    groups_of,
    memory_free,
    node_memory,
    nodes_in,
    number_in,
    numbers_in,
    text,
)

UNLIMITED = 1 << 60  # bytes: version 1 has no word for no limit, but a number near 2^63


@dataclass(frozen=True)
class GroupMemory:
    """The limit that leaves least room."""

    group: str  # folder of the group in the system's files
    limit: int  # bytes
    free: int  # bytes that may still be used, with what the kernel gives back (pages of files)


def group_memory(system: Path = SYSTEM, membership: Path = CONTROL_GROUP) -> GroupMemory | None:
    """The narrowest limit on the memory of this process; None where no group sets one."""
    found = [each for folder in groups_of("memory", system, membership) if (each := _limit_of(folder))]
    return min(found, key=lambda each: each.free, default=None)


def free_memory() -> int | None:
    """Bytes of memory that are free for use now, in the machine, the control group and the NUMA nodes that this process
    is held to; None where none says."""
    group = group_memory()
    known = [free for free in (memory_free(), group.free if group else None, nodes_free()) if free is not None]
    return min(known, default=None)


def nodes_free(system: Path = SYSTEM, status: Path = STATUS, maps: Path = MAPS) -> int | None:
    """Bytes free on the NUMA nodes that this process is held to (cpusets, `numactl --membind`); None: to none."""
    every = frozenset(nodes_in(system / NODES))
    policy, _, listed = process_policy(maps).partition(":")
    bound = numbers_in(listed) if policy.startswith("bind") else every
    held = every & bound & (allowed_in(status, "Mems") or every)
    return sum(node_memory(node, system) for node in held) or None if held < every else None


def _limit_of(group: Path) -> GroupMemory | None:
    """The limit of one group; None where it sets none, or has gone."""
    for limit_file, usage_file, given_back in (
        ("memory.max", "memory.current", "inactive_file"),
        ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
    ):
        limit, used = number_in(group / limit_file), number_in(group / usage_file)
        if 0 <= limit < UNLIMITED:
            kept = re.search(rf"^{given_back} (\d+)$", text(group / "memory.stat"), re.MULTILINE)
            in_use = max(used, 0) - (int(kept[1]) if kept else 0)
            return GroupMemory(str(group), limit, max(0, limit - max(in_use, 0)))
    return None
