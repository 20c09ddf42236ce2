"""Memory that is not there: loops whose times follow from a topology and round numbers, to try what prints them."""

from __future__ import annotations

from collections import Counter
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
        """Latency grows with the distance beyond that of the own node."""
        beyond = (self.distance(worker) - OWN_DISTANCE) / (OTHER_DISTANCE - OWN_DISTANCE)
        return [NEAR + beyond * (FAR - NEAR)] * passes

    def rate(self, workers: Sequence[Worker]) -> float:
        """Cores share the memory that they use, and a distant one is slower by its distance."""
        users = Counter(node for _, node in workers)
        return sum(
            min(CORE_RATE, NODE_RATE / users[worker[1]]) * OWN_DISTANCE / self.distance(worker) for worker in workers
        )

    def distance(self, worker: Worker) -> float:
        """Distance of a worker's core from its memory."""
        (processor,), node = worker
        home = next(core.numa for core in self.hardware.cores if processor in core.processors)
        there = next((each.index for each in self.hardware.numa if each.os_index == node), home)
        if self.hardware.distances is not None:
            return self.hardware.distances[home][there]
        return OWN_DISTANCE if home == there else OTHER_DISTANCE
