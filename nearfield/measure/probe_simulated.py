"""Memory that is not there: loops whose times follow from a topology and round numbers, to try what prints them."""

from __future__ import annotations

import functools
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from nearfield.machine.hardware import Hardware
from nearfield.measure.probe import Worker

CORE_RATE, NODE_RATE = 12e9, 40e9  # B/s
NEAR, FAR = 90.0, 140.0  # ns
OWN_DISTANCE, OTHER_DISTANCE = 10.0, 21.0  # where the topology has none


@dataclass(frozen=True)
class MakeBelieve:
    """The interface of the compiled core's probe over a machine that is only described."""

    hardware: Hardware

    def stream_seconds(self, workers: Sequence[Worker], elements: int, passes: int) -> list[list[float]]:
        """Copy, scale, add, triad."""
        return [[elements * size * len(workers) / self.rate(workers)] * passes for size in (16, 16, 24, 24)]

    def read_seconds(self, workers: Sequence[Worker], bytes: int, passes: int) -> list[float]:
        return [bytes * len(workers) / self.rate(workers)] * passes

    def chase_nanoseconds(self, worker: Worker, bytes: int, loads: int, passes: int) -> list[float]:
        """Latency in proportion to the distance where boards are described; else between two round numbers."""
        distance, boards = self.distance(worker), self.hardware.boards
        if boards is not None:
            return [1e9 * boards.description.latency * distance / OWN_DISTANCE] * passes
        beyond = (distance - OWN_DISTANCE) / (OTHER_DISTANCE - OWN_DISTANCE)
        return [NEAR + beyond * (FAR - NEAR)] * passes

    def rate(self, workers: Sequence[Worker]) -> float:
        """Cores share the memory that they use, and a distant one is slower by its distance.

        Between boards, one link carries what two of them exchange, and what all do together shares the torus.
        """
        boards = self.hardware.boards
        core, node = (boards.description.core_rate, boards.description.node_rate) if boards else (CORE_RATE, NODE_RATE)
        users = Counter(memory for _, memory in workers)
        between: dict[tuple[int, int], float] = defaultdict(float)
        for worker in workers:
            ends = self.ends(worker)
            rate = min(core, node / users[worker[1]]) * OWN_DISTANCE / self.distance(worker)
            between[(boards.board_of(ends[0]), boards.board_of(ends[1])) if boards else ends] += rate
        if boards is None:
            return sum(between.values())
        link = boards.description.link_rate
        total = sum(rate if one == other else min(rate, link) for (one, other), rate in between.items())
        return total / boards.slower(one for one, _ in between)

    @functools.cached_property
    def homes(self) -> dict[int, int]:
        """NUMA node (index) of each processor."""
        return {processor: core.numa for core in self.hardware.cores for processor in core.processors}

    @functools.cached_property
    def memories(self) -> dict[int, int]:
        """Index of each NUMA node by the system's number."""
        return {node.os_index: node.index for node in self.hardware.numa}

    def ends(self, worker: Worker) -> tuple[int, int]:
        """NUMA nodes (index) of a worker's core and of its memory."""
        (processor,), node = worker
        home = self.homes[processor]
        return home, self.memories.get(node, home)

    def distance(self, worker: Worker) -> float:
        """Distance of a worker's core from its memory."""
        home, there = self.ends(worker)
        if self.hardware.distances is not None:
            return self.hardware.distances[home][there]
        return OWN_DISTANCE if home == there else OTHER_DISTANCE
