"""How fast bytes go through a ring: a writer that copies in, a reader that copies out, each a process on its own core.

The tests are those of PSRDADA users on machines of two NUMA nodes: one stream with memory, writer and reader on each
node in turn; two streams at once, apart (isolated), together (adjacent), and across (crossover). Beside the copies the
same bytes written and read in place, and what STREAM copy lets two copies have on the same cores and memory.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import re
import statistics
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nearfield.errors import ModelError, RunFailed
from nearfield.machine.hardware import Hardware, this_machine
from nearfield.machine.probe import Effort, compiled_memory
from nearfield.machine.probe_stream import elements_each
from nearfield.stream.placement import no_such_node, nodes_with_memory, require_room

COPIES = tuple(itertools.product(("plain", "streaming"), repeat=2))  # in and out; the quicker pair is timed
WARM_UP = 1 / 32  # of the bytes, for each pair
STREAM_WORDS = 4  # STREAM copy counts a read and a write; so do two copies, each
STREAM_PASSES = 5
DELAYS = 200  # blocks, one at a time, whose way is timed
DRIVERS = (Path("/proc/driver/nvidia/version"), Path("/dev/kfd"))  # there once a driver has found a GPU


@dataclass(frozen=True)
class Stream:
    """A ring and its two processes: the NUMA nodes that they are on, by the system's numbers."""

    name: str
    memory: int
    writer: int
    reader: int

    def words(self) -> str:
        """As the tables have it."""
        return f"RAM={self.memory} Write={self.writer} Read={self.reader}"


@dataclass(frozen=True)
class Case:
    """Streams that run at the same time."""

    test: str
    streams: tuple[Stream, ...]


@dataclass(frozen=True)
class Request:
    """What to move, and through which rings."""

    bytes: int
    blocks: int = 8
    block_bytes: int = 4 << 20
    passes: int = 1


def parsed(text: str) -> tuple[Stream, ...]:
    """Streams such as `A:0,0,0 B:1,1,1`: name, node of the memory, of the writer, of the reader."""
    streams = []
    for part in text.split():
        match = re.fullmatch(r"(\w+):(\d+),(\d+),(\d+)", part)
        if not match:
            raise ModelError(f"streams={part!r}: a stream is NAME:MEMORY,WRITER,READER, such as A:0,0,0")
        streams.append(Stream(match[1], *map(int, match.groups()[1:])))
    if not streams or len({stream.name for stream in streams}) < len(streams):
        raise ModelError(f"streams={text!r}: at least one is needed, and each its own name")
    return tuple(streams)


def suite(name: str) -> list[Case]:
    """The cases of `single`, `dual` or `gpu` on this machine. Raises ModelError where they cannot be had."""
    nodes = [node.os_index for node in this_machine().numa if node.cores]
    if name == "single":
        return [Case("Single Stream", (Stream("A", *where),)) for where in itertools.product(nodes, repeat=3)]
    if name == "dual":
        if len(nodes) < 2:
            raise ModelError(f"suite=dual needs two NUMA nodes with cores; this machine has one, {nodes[0]}. "
                             "Use --suite single")  # fmt: skip
        return list(dual(*nodes[:2]))
    if name == "gpu":
        found = "a GPU is present, but rings do not reach it yet" if any(map(Path.exists, DRIVERS)) else \
            "no GPU is present on this machine"
        raise ModelError(f"suite=gpu: {found}. Use --suite single or dual, between processes")
    raise ModelError(f"suite={name}: allowed are single, dual, gpu")


def dual(one: int, other: int) -> Iterator[Case]:
    """Two streams on two nodes: apart, both on either, and each across."""
    yield Case(f"Isolated {one} and {other}", (Stream("A", one, one, one), Stream("B", other, other, other)))
    for node in (one, other):
        yield Case(f"Adjacent on {node}", (Stream("A", node, node, node), Stream("B", node, node, node)))
    yield Case("Crossover", (Stream("A", other, one, one), Stream("B", one, other, other)))


def require(case: Case, hardware: Hardware, request: Request) -> None:
    """Refuse nodes that are not there, and rings that do not fit, before anything is measured."""
    cores = {node.os_index: len(node.cores) for node in hardware.numa}
    for stream in case.streams:
        if stream.memory not in nodes_with_memory():
            raise ModelError(no_such_node("memory", stream.memory))
        for role, node in (("writer", stream.writer), ("reader", stream.reader)):
            if not cores.get(node):
                here = ", ".join(str(number) for number, count in cores.items() if count)
                raise ModelError(f"{role}={node}: there is no NUMA node {node} with cores that this process may use; "
                                 f"there is {here}")  # fmt: skip
    for node, rings in Counter(stream.memory for stream in case.streams).items():
        require_room(rings * request.blocks * request.block_bytes, [node])


def processors(case: Case, hardware: Hardware) -> list[tuple[int, int]]:
    """A processor for each stream's writer and reader: cores of their nodes in turn, shared once all are used."""
    waiting = {node.os_index: itertools.cycle([hardware.cores[core].processors[0] for core in node.cores])
               for node in hardware.numa if node.cores}  # fmt: skip
    return [(next(waiting[stream.writer]), next(waiting[stream.reader])) for stream in case.streams]


def measure(case: Case, request: Request) -> list[dict[str, Any]]:
    """A row for each stream of a case; rates in units of 1e6 bytes a second.

    `mb_per_second` is of bytes that were copied in and copied out, `zero_copy_mb_per_second` of bytes written and read
    in place, `stream_copy_share` the first over what STREAM copy has for two copies. Raises RunFailed.
    """
    hardware = this_machine()
    require(case, hardware, request)
    places = processors(case, hardware)
    before = two_copies(case, places, hardware, request)
    with Team(case, places, request) as team:
        warm = max(request.blocks * request.block_bytes, int(WARM_UP * request.bytes))
        trials = {pair: sum(team.run("copy", warm, pair).seconds) for pair in COPIES}
        pair = min(trials, key=lambda each: trials[each])
        copied = [team.run("copy", request.bytes, pair) for _ in range(request.passes)]
        team.run("zero-copy", warm, pair)
        in_place = [team.run("zero-copy", request.bytes, pair) for _ in range(request.passes)]
        delays = team.run("delay", DELAYS * request.block_bytes, pair).delays
        placements = team.placements
    allowed = max(before, two_copies(case, places, hardware, request))
    moved = request.bytes
    rows = []
    for n, stream in enumerate(case.streams):
        seconds = statistics.median(each.seconds[n] for each in copied)
        rate = moved / seconds / 1e6
        right = all(each.right[n] for each in (*copied, *in_place))
        rows.append({
            "test": case.test, "memory": stream.memory, "writer": stream.writer, "reader": stream.reader,
            "bytes": moved, "seconds": seconds, "mb_per_second": rate,
            "zero_copy_mb_per_second": moved / statistics.median(each.seconds[n] for each in in_place) / 1e6,
            "stream_copy_share": rate / allowed, "pages_per_node": placements[n]["by_node"],
            "verified": right and placed(placements[n]["by_node"], stream.memory), "stream": stream.name,
            "latency_microseconds": 1e6 * delays[n], "two_stream_copies_mb_per_second": allowed,
            "copy_in": pair[0], "copy_out": pair[1],
            "blocks": request.blocks, "block_bytes": request.block_bytes, "processors": list(places[n]),
            "seconds_of_passes": [each.seconds[n] for each in copied],
        })  # fmt: skip
    rates = [row["mb_per_second"] for row in rows]
    return [row | {"sum_mb_per_second": sum(rates), "fairness": min(rates) / max(rates)} for row in rows]


def placed(by_node: Sequence[int], node: int) -> bool:
    """Whether every page lies on the node; where the system does not tell, whether there is no other."""
    if not by_node and len(nodes_with_memory()) == 1:
        return True
    return sum(by_node) > 0 and len(by_node) > node and by_node[node] == sum(by_node)


def two_copies(case: Case, places: Sequence[tuple[int, int]], hardware: Hardware, request: Request) -> float:
    """What STREAM copy, on these processors at once, lets each stream have for two copies (1e6 bytes a second)."""
    several = len(nodes_with_memory()) > 1
    workers = [([processor], stream.memory if several else -1) for stream, both in zip(case.streams, places)
               for processor in dict.fromkeys(both)]  # fmt: skip
    effort = Effort(STREAM_PASSES, max(48 << 20, min(request.bytes, Effort.most_bytes)))
    elements = elements_each(hardware, effort, [core.index for core in hardware.cores
                                                if {*core.processors} & {each[0][0] for each in workers}])  # fmt: skip
    seconds = compiled_memory().stream_seconds(workers, elements, STREAM_PASSES)[0]
    return 16 * elements * len(workers) / min(seconds[1:]) / 1e6 / STREAM_WORDS / len(case.streams)


@dataclass(frozen=True)
class Pass:
    """Of each stream: seconds from the first block asked for to the last one released, and whether all was right."""

    seconds: list[float]
    right: list[bool]
    delays: list[float]  # median seconds from a commit to its receipt


class Team:
    """The processes of a case. They end with the `with` block, whatever happens."""

    def __init__(self, case: Case, places: Sequence[tuple[int, int]], request: Request) -> None:
        self._all: list[tuple[subprocess.Popen, subprocess.Popen]] = []
        self.placements: list[dict[str, Any]] = []
        try:
            several = len(nodes_with_memory()) > 1  # containers may forbid to bind memory, and one node needs none
            for stream, both in zip(case.streams, places):
                given = {"name": f"bench.{os.getpid()}.{stream.name}", "memory": stream.memory if several else None,
                         "blocks": request.blocks, "block_bytes": request.block_bytes}  # fmt: skip
                pair = [self._start(given | {"role": role, "processors": [processor]})
                        for role, processor in zip(("writer", "reader"), both)]  # fmt: skip
                self._all.append((pair[0], pair[1]))
            for writer, reader in self._all:
                self.placements.append(self._heard(writer)["placement"])
                self._heard(reader)
        except BaseException:
            self.__exit__(*sys.exc_info())
            raise

    @staticmethod
    def _start(given: dict[str, Any]) -> subprocess.Popen:
        command = [sys.executable, "-m", "nearfield.stream.bench_process", json.dumps(given)]
        pipe = subprocess.PIPE
        return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True)

    def run(self, mode: str, total: int, pair: tuple[str, str]) -> Pass:
        """One pass of so many bytes, all streams together."""
        for processes in self._all:
            for process, copy in zip(reversed(processes), reversed(pair)):
                self._told(process, f"{mode} {total} {copy}")
        seconds, right, delays = [], [], []
        for writer, reader in self._all:
            begun, found = self._heard(writer)["begun"], self._heard(reader)
            seconds.append(found["ended"] - begun)
            right.append(found["right"])
            delays.append(found["delay"])
        return Pass(seconds, right, delays)

    @staticmethod
    def _told(process: subprocess.Popen, line: str) -> None:
        with contextlib.suppress(OSError):  # it has ended; its answer says why
            print(line, file=process.stdin, flush=True)

    @staticmethod
    def _heard(process: subprocess.Popen) -> dict[str, Any]:
        line = process.stdout.readline()
        found = json.loads(line) if line else {}
        if "refused" in found:
            raise ModelError(found["refused"])
        if found:
            return found
        lines = process.stderr.read().strip().splitlines()
        raise RunFailed(f"a process of the bench ended: {lines[-1] if lines else f'exit code {process.wait()}'}")

    def __enter__(self) -> Team:
        return self

    def __exit__(self, kind: object, *error: object) -> None:
        processes = [process for pair in self._all for process in pair]
        for process in processes:
            if kind is not None:
                process.terminate()  # it closes its end of the ring first
            with contextlib.suppress(BrokenPipeError):
                process.stdin.close()
        for process in processes:
            try:
                process.wait(timeout=5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            process.stdout.close()
            process.stderr.close()
