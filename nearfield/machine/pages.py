"""Locality of the pages of a run: near the threads that update them, or not; and settings of the system for it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nearfield.machine.system_files import CPUS, SYSTEM, nodes_in, text

POLICIES = ("first-touch", "bind", "interleave", "off")
KERNEL = Path("/proc/sys/kernel")
MAPS = Path("/proc/self/numa_maps")


@dataclass(frozen=True)
class Locality:
    """Pages of a run and the share of them that lie on the node of the thread which updates them.

    `share` is None where the system does not tell, and `reason` says why. Where several threads, or one that is free to
    move, update a page, it counts by their chance to be on its node.
    """

    share: float | None
    by_node: tuple[int, ...] = ()  # pages found on each node, of those that were looked up
    pages: int = 0  # in all
    reason: str = ""

    def words(self) -> str:
        """Such as `98.4 % of 51,200 pages are local`; in capitals where most are not."""
        if self.share is None:
            return f"where its pages lie is unknown: {self.reason}"
        found = f"{100 * self.share:.1f} % of {self.pages:,} pages are local"
        return found if self.share > 0.5 else f"ONLY {found.upper()}"


def locality(counts: Sequence[tuple[Sequence[int], int]], places: Sequence[Sequence[Sequence[int]]]) -> Locality:
    """The locality share of all domains together.

    `counts` has for each domain the pages found on each node, and how many there are in all; `places` for each domain,
    for each of its threads, the nodes of the processors that it may run on, one entry a processor.
    """
    near, by_node = 0.0, [0] * max((len(found) for found, _ in counts), default=0)
    for (found, _), threads in zip(counts, places, strict=True):
        for node, pages in enumerate(found):
            by_node[node] += pages
            near += pages * sum(nodes.count(node) / len(nodes) for nodes in threads if nodes) / len(threads)
    total, known = sum(pages for _, pages in counts), sum(by_node)
    if not known:
        return Locality(None, tuple(by_node), total, "no page was found")
    return Locality(near / known, tuple(by_node), total)


def policy_refused(policy: str, nodes: Sequence[int]) -> str:
    """The reason why this system refuses a memory policy on these nodes, tried with a page; "" where it does not."""
    from nearfield import _core

    return _core.machine.policy_refused(policy, list(nodes))


def node_of(processor: int, system: Path = SYSTEM) -> int:
    """The NUMA node of a processor, by the system's number; 0 where the system names none."""
    return min(nodes_in(system / CPUS / f"cpu{processor}"), default=0)


def process_policy(maps: Path = MAPS) -> str:
    """The memory policy that this process was started with (numactl), such as `interleave:0-1`; `default` if none."""
    try:
        with maps.open(encoding="utf-8", errors="replace") as file:
            fields = file.readline().split()
    except OSError:
        fields = []
    return fields[1] if len(fields) > 1 else "default"


def numa_balancing(kernel: Path = KERNEL) -> bool:
    """Whether the kernel moves pages that are not bound towards the threads that use them, by its own guess."""
    return text(kernel / "numa_balancing") not in ("", "0")


def huge_pages(system: Path = SYSTEM) -> str:
    """The setting of huge pages: `always`, `madvise` (on request, which Nearfield makes), `never`; "" unknown."""
    chosen = re.search(r"\[(\w+)\]", text(system / "kernel" / "mm" / "transparent_hugepage" / "enabled"))
    return chosen[1] if chosen else ""


def system_facts() -> dict[str, Any]:
    """Settings of the system that decide where pages lie."""
    return {"process_policy": process_policy(), "numa_balancing": numa_balancing(), "huge_pages": huge_pages()}
