"""Measuring this machine: parts that all probes share, and the profile that is made of their results.

Each probe gives plain dictionaries: rates with least, median and most of several passes, and how threads and pages were
placed. The system is asked to bind every thread and refuses what it cannot; so what is printed was achieved.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

from nearfield.entry.errors import ModelError
from nearfield.machine.group_memory import free_memory
from nearfield.machine.hardware import Hardware
from nearfield.machine.processors import processors_text
from nearfield.machine.profile import WHERE, Profile

UNSTEADY = 0.05  # spread of the passes over their median; beyond it a figure is not to be relied on
SHARE_OF_MEMORY = 0.25  # all arrays together use at most this share of the free memory
MIB = 2**20

Worker = tuple[list[int], int]  # processors a thread is bound to, node of its pages (-1: where it touches them)


class Memory(Protocol):
    """The loops over memory: the compiled core's, or make-believe ones (probe_simulated.py)."""

    def stream_seconds(self, workers: Sequence[Worker], elements: int, passes: int) -> Sequence[Sequence[float]]:
        """Seconds of the passes of copy, scale, add, triad over arrays of so many doubles a worker."""

    def read_seconds(self, workers: Sequence[Worker], bytes: int, passes: int) -> Sequence[float]:
        """Seconds of the passes in which each worker reads so many bytes of its own."""

    def chase_nanoseconds(self, worker: Worker, bytes: int, loads: int, passes: int) -> Sequence[float]:
        """Nanoseconds a load along a random cycle through so many bytes."""


@dataclass(frozen=True)
class Effort:
    """Extent of a measurement: passes, and bytes of memory at most."""

    passes: int = 10
    most_bytes: int = 8 * 2**30
    quick: bool = False

    @classmethod
    def of(cls, quick: bool) -> Effort:
        """Seconds in all with `quick`, else about a minute."""
        return cls(3, 192 * MIB, True) if quick else cls()

    def bytes(self, wanted: int) -> int:
        """The part of `wanted` bytes that this effort and the memory allow."""
        free = free_memory()
        return max(MIB, min(wanted, self.most_bytes, int(SHARE_OF_MEMORY * free) if free else wanted))


def compiled_memory() -> Memory:
    """The loops of the compiled core. Error: this core was built before it had them."""
    try:
        from nearfield._core import machine

        machine.stream_seconds, machine.read_seconds, machine.chase_nanoseconds  # noqa: B018
    except (ImportError, AttributeError):
        raise ModelError(
            "the compiled core has no memory probe: it is older than the Python files beside it. Build it "
            "again with `make setup`"
        ) from None
    return machine


def spread(values: Sequence[float]) -> dict[str, float]:
    """Least, median and most of several passes, and their spread over the median."""
    middle = statistics.median(values)
    return {"min": min(values), "median": middle, "max": max(values), "spread": (max(values) - min(values)) / middle}


def unsteady(name: str, found: dict[str, float]) -> list[str]:
    """A warning where the passes differ by more than 5 %."""
    if found["spread"] <= UNSTEADY:
        return []
    small = found["spread"] <= 1
    apart = f"{100 * found['spread']:.0f} %" if small else f"a factor of {found['max'] / found['min']:.0f}"
    return [f"{name}: passes differ by {apart} (another program, or the clock); repeat it"]


def workers_on(hardware: Hardware, cores: Sequence[int], memory: int) -> list[Worker]:
    """One thread for each core, on its first processor, with pages on a NUMA node (index)."""
    node = hardware.numa[memory].os_index if len(hardware.numa) > 1 else -1
    return [([hardware.cores[core].processors[0]], node) for core in cores]


def near_workers(hardware: Hardware, cores: Sequence[int]) -> list[Worker]:
    """One thread for each core, with pages on the core's own node."""
    return [worker for core in cores for worker in workers_on(hardware, [core], hardware.cores[core].numa)]


def placement_of(workers: Sequence[Worker]) -> str:
    """The placement of threads and pages, in words."""
    processors = sorted(number for bound, _ in workers for number in bound)
    nodes = sorted({node for _, node in workers})
    pages = "by first touch" if nodes == [-1] else f"bound to node {', '.join(map(str, nodes))}"
    return f"{len(workers)} thread{'s' * (len(workers) > 1)} bound to {processors_text(processors)}, pages {pages}"


def reliable(line: dict[str, float]) -> bool:
    """Whether a fitted bandwidth is known to a half of itself."""
    return line.get("bandwidth_error", 0.0) < 0.5 * line["bandwidth"]


def profile_from(found: dict[str, Any], name: str, before: Profile) -> Profile:
    """Results of probes as a profile; parts that were not probed stay as they were."""
    entries, when = before.as_dict() | {"name": name}, datetime.now(UTC).isoformat(timespec="minutes")
    sources = before.sources | {part: f"measured {when}" for part in found}
    if "stream" in found:
        per_node = [each["triad"]["best_gb_per_second"] for each in found["stream"]["nodes"]]
        best = {part: found["stream"][part]["triad"]["best_gb_per_second"] for part in ("core", "all")}
        entries["triad"] = best | {"numa": per_node}
    if "latency" in found:
        rows, columns = found["latency"]["rows"], found["latency"]["columns"]
        for name, what in (("bandwidth", "bandwidth_gb_per_second"), ("latency", "latency_ns")):
            entries[name] = [[row[columns.index(node)]["median"] for node in rows] for row in found["latency"][what]]
    if "mpi" in found:
        kinds = {pair["where"]: pair["fit"] for pair in found["mpi"]["pairs"] if reliable(pair["fit"])}
        entries["messages"] |= {where: kinds[where] for where in WHERE if where in kinds}
        if not set(kinds) & set(WHERE):
            del sources["mpi"]
    if "fdtd" in found:
        entries["fdtd"] = {boundary: rates["rates"] for boundary, rates in found["fdtd"]["boundaries"].items()}
    if "gpu" in found:
        card, update = found["gpu"], found["gpu"]["update"]
        rates = {boundary: rate["median"] for boundary, rate in update["mcells_per_second"].items()}
        lines = {kind: copies["fit"] for kind, copies in card["copies"].items()}
        memory = card["memory_bytes_per_second"]["median"]
        entries["gpu"] = {"name": card["name"], **lines, "memory": memory, "update": rates, "cells": update["cells"]}
    entries["sources"] = sources
    return Profile.model_validate(entries)
