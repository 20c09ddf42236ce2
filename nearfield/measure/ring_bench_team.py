"""The processes of `nearfield ring bench`: a writer and a reader for each stream, started, told what to do, ended."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from nearfield.measure.workers import Worker
from nearfield.stream.placement import nodes_with_memory

MODULE = "nearfield.measure.ring_bench_process"


@dataclass(frozen=True)
class DeviceEnd:
    """A device at one end of a stream, whose copies the process there makes: "writer" or "reader"."""

    role: str
    number: int  # among the cards that are shown; 0 of the make-believe device
    name: str
    node: int  # NUMA node that it is on


@dataclass(frozen=True)
class Stream:
    """A ring and its two processes: the NUMA nodes that they are on, by the system's numbers."""

    name: str
    memory: int
    writer: int
    reader: int
    device: DeviceEnd | None = None

    def words(self) -> str:
        """The three nodes as tables show them."""
        return f"RAM={self.memory} Write={self.writer} Read={self.reader}"


@dataclass(frozen=True)
class Case:
    """Streams that run at the same time."""

    test: str
    streams: tuple[Stream, ...]


@dataclass(frozen=True)
class Request:
    """Bytes to move, and sizes of the rings."""

    bytes: int
    blocks: int = 8
    block_bytes: int = 4 << 20
    passes: int = 1


@dataclass(frozen=True)
class Pass:
    """Values of each stream: seconds from the request of the first block to the release of the last; correctness."""

    seconds: list[float]
    right: list[bool]
    delays: list[float]  # median seconds from a commit to its receipt


def device_of(stream: Stream, role: str) -> dict[str, Any] | None:
    """The device that a process copies to or from; None: memory of its own."""
    return asdict(stream.device) if stream.device and stream.device.role == role else None


class Team:
    """The processes of a case. They end with the `with` block, whatever happens."""

    def __init__(self, case: Case, places: Sequence[tuple[int, int]], request: Request) -> None:
        self._pairs: list[tuple[Worker, Worker]] = []
        self.with_devices = any(stream.device for stream in case.streams)
        several = len(nodes_with_memory()) > 1  # containers may forbid to bind memory, and one node needs none
        size = {"blocks": request.blocks, "block_bytes": request.block_bytes}
        try:
            for stream, (writer, reader) in zip(case.streams, places):
                ring = {"name": f"bench.{os.getpid()}.{stream.name}", "memory": stream.memory if several else None}
                given = ring | size
                first, second = (
                    Worker(MODULE, given | {"role": role, "processors": [core], "device": device_of(stream, role)})
                    for role, core in (("writer", writer), ("reader", reader))
                )
                self._pairs.append((first, second))
            self.placements: list[dict[str, Any]] = []
            for first, second in self._pairs:
                self.placements.append(first.answer()["placement"])
                second.answer()
        except BaseException:
            self.__exit__(*sys.exc_info())
            raise

    def run(self, mode: str, total: int, pair: tuple[str, str]) -> Pass:
        """One pass of so many bytes, all streams together."""
        for writer, reader in self._pairs:
            reader.say(f"{mode} {total} {pair[1]}")
            writer.say(f"{mode} {total} {pair[0]}")
        seconds, right, delays = [], [], []
        for writer, reader in self._pairs:
            begun, found = writer.answer()["begun"], reader.answer()
            seconds.append(found["ended"] - begun)
            right.append(found["right"])
            delays.append(found["delay"])
        return Pass(seconds, right, delays)

    def __enter__(self) -> Team:
        return self

    def __exit__(self, kind: object, *error: object) -> None:
        workers = [worker for pair in self._pairs for worker in pair]
        for worker in workers:
            worker.leave(kind is not None)
        for worker in workers:
            worker.wait()
