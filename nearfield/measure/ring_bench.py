"""Rates of bytes through a ring: a writer that copies in, a reader that copies out, each a process on its own core.

The tests are those of PSRDADA users on machines of two NUMA nodes: one stream with memory, writer and reader on each
node in turn; two streams at once, apart (isolated), together (adjacent), and across (crossover). Beside the copies the
same bytes written and read in place, what STREAM copy lets two copies have on the same cores and memory, and what the
stream's own two copies have there without a ring.
"""

from __future__ import annotations

import itertools
import re
import statistics
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from nearfield.entry.errors import ModelError
from nearfield.machine.hardware import Hardware, this_machine
from nearfield.measure.probe import Effort, compiled_memory
from nearfield.measure.probe_stream import elements_each
from nearfield.measure.ring_bench_alone import copies_alone
from nearfield.measure.ring_bench_devices import to_devices
from nearfield.measure.ring_bench_team import Case, Pass, Request, Stream, Team
from nearfield.stream.placement import no_such_node, nodes_with_memory, require_room

KINDS = ("plain", "streaming")
COPIES = tuple(itertools.product(KINDS, KINDS))  # in and out; the quicker pair is timed
WARM_UP = 1 / 32  # share of the bytes that warms up each pair
STREAM_WORDS = 4  # STREAM copy counts a read and a write; so do two copies, each
STREAM_PASSES = 5
DELAYS = 200  # blocks, one at a time, whose way is timed


def parsed(text: str) -> tuple[Stream, ...]:
    """Streams such as `A:0,0,0 B:1,1,1`: name, node of the memory, of the writer, of the reader."""
    streams = []
    for part in text.split():
        match = re.fullmatch(r"(\w+):(\d+),(\d+),(\d+)", part)
        if not match:
            raise ModelError(f"streams={part!r}: a stream is NAME:MEMORY,WRITER,READER, such as A:0,0,0")
        memory, writer, reader = map(int, match.groups()[1:])
        streams.append(Stream(match[1], memory, writer, reader))
    if not streams or len({stream.name for stream in streams}) < len(streams):
        raise ModelError(f"streams={text!r}: at least one is needed, and each its own name")
    return tuple(streams)


def suite(name: str) -> list[Case]:
    """The cases of `single`, `dual` or `gpu` on this machine. Raises ModelError where they cannot be had."""
    nodes = [node.os_index for node in this_machine().numa if node.cores]
    if name == "single":
        return [Case("Single Stream", (Stream("A", m, w, r),)) for m, w, r in itertools.product(nodes, repeat=3)]
    if name == "dual":
        if len(nodes) < 2:
            raise ModelError(
                f"suite=dual needs two NUMA nodes with cores; this machine has one, {nodes[0]}. Use --suite single"
            )
        return list(dual(*nodes[:2]))
    if name == "gpu":
        return to_devices()
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
                missing = f"there is no NUMA node {node} with cores that this process may use"
                raise ModelError(f"{role}={node}: {missing}; there is {here}")
    for node, rings in Counter(stream.memory for stream in case.streams).items():
        require_room(rings * request.blocks * request.block_bytes, [node])


def processors(case: Case, hardware: Hardware) -> list[tuple[int, int]]:
    """A processor for each stream's writer and reader: cores of their nodes in turn, shared once all are used."""
    waiting = {
        node.os_index: itertools.cycle([hardware.cores[core].processors[0] for core in node.cores])
        for node in hardware.numa
        if node.cores
    }
    return [(next(waiting[stream.writer]), next(waiting[stream.reader])) for stream in case.streams]


def measure(case: Case, request: Request) -> list[dict[str, Any]]:
    """A row for each stream of a case; rates in units of 1e6 bytes a second.

    `mb_per_second` is of bytes that were copied in and copied out, `zero_copy_mb_per_second` of bytes written and read
    in place, `stream_copy_share` the first over what STREAM copy, by ordinary stores, has for two copies, which stores
    past the caches exceed; `same_copies_share` over what the same two copies have without a ring, `None` where a device
    makes one. Raises RunFailed.
    """
    hardware = this_machine()
    require(case, hardware, request)
    places = processors(case, hardware)
    before = two_copies(case, places, hardware, request)
    with Team(case, places, request) as team:
        found = taken(team, request)
        nodes = [each["by_node"] for each in team.placements]
    allowed = max(before, two_copies(case, places, hardware, request))
    same = copies_alone(case, places, found.pair, elements_for(case, places, hardware, request))
    rows = []
    for n, stream in enumerate(case.streams):
        row = {"test": case.test, "stream": stream.name} | found.of_stream(n)
        row |= {"memory": stream.memory, "writer": stream.writer, "reader": stream.reader}
        row |= {"stream_copy_share": row["mb_per_second"] / allowed, "two_stream_copies_mb_per_second": allowed}
        row |= {"same_copies_share": same and row["mb_per_second"] / same[n]}
        row |= {"two_same_copies_mb_per_second": same and same[n]}
        row |= {"blocks": request.blocks, "block_bytes": request.block_bytes}
        row |= {"processors": list(places[n]), "pages_per_node": nodes[n]}
        row |= {"device": stream.device and asdict(stream.device)}
        rows.append(row | {"verified": row["verified"] and placed(nodes[n], stream.memory)})
    rates = [row["mb_per_second"] for row in rows]
    return [row | {"sum_mb_per_second": sum(rates), "fairness": min(rates) / max(rates)} for row in rows]


@dataclass(frozen=True)
class Taken:
    """Passes of a case, and the pair of copies that they were made with."""

    bytes: int
    pair: tuple[str, str]
    copied: list[Pass]
    in_place: list[Pass]
    delays: list[float]

    def of_stream(self, n: int) -> dict[str, Any]:
        """Times and rates of a stream, and whether every byte that was compared was right."""
        seconds = [each.seconds[n] for each in self.copied]
        median = statistics.median(seconds)
        found: dict[str, Any] = {"bytes": self.bytes, "seconds": median, "mb_per_second": self.bytes / median / 1e6}
        in_place = [self.bytes / each.seconds[n] / 1e6 for each in self.in_place]
        found |= {"zero_copy_mb_per_second": statistics.median(in_place) if in_place else None}
        how = {"copy_in": self.pair[0], "copy_out": self.pair[1], "seconds_of_passes": seconds}
        right = all(each.right[n] for each in (*self.copied, *self.in_place))
        return found | how | {"latency_microseconds": 1e6 * self.delays[n], "verified": right}


def taken(team: Team, request: Request) -> Taken:
    """Warm up with each pair of copies, then time the quickest, the same bytes in place, and the delay."""
    warm = max(request.blocks * request.block_bytes, int(WARM_UP * request.bytes))
    pair = min(COPIES, key=lambda pair: sum(team.run("copy", warm, pair).seconds))
    copied = [team.run("copy", request.bytes, pair) for _ in range(request.passes)]
    in_place = []
    if not team.with_devices:  # which have no words of a block in place
        team.run("zero-copy", warm, pair)
        in_place = [team.run("zero-copy", request.bytes, pair) for _ in range(request.passes)]
    delays = team.run("delay", DELAYS * request.block_bytes, pair).delays
    return Taken(request.bytes, pair, copied, in_place, delays)


def placed(by_node: Sequence[int], node: int) -> bool:
    """Whether every page lies on the node; where the system does not tell, whether there is no other."""
    if not by_node and len(nodes_with_memory()) == 1:
        return True
    return sum(by_node) > 0 and len(by_node) > node and by_node[node] == sum(by_node)


def two_copies(case: Case, places: Sequence[tuple[int, int]], hardware: Hardware, request: Request) -> float:
    """The rate that STREAM copy on these processors at once leaves each stream for two copies (1e6 bytes a second)."""
    several = len(nodes_with_memory()) > 1
    workers = [
        ([processor], stream.memory if several else -1)
        for stream, both in zip(case.streams, places)
        for processor in dict.fromkeys(both)
    ]
    elements = elements_for(case, places, hardware, request)
    seconds = compiled_memory().stream_seconds(workers, elements, STREAM_PASSES)[0]
    return 16 * elements * len(workers) / min(seconds[1:]) / 1e6 / STREAM_WORDS / len(case.streams)


def elements_for(case: Case, places: Sequence[tuple[int, int]], hardware: Hardware, request: Request) -> int:
    """Words of 8 bytes that each processor copies to be beyond the caches, where the request has as many."""
    effort = Effort(STREAM_PASSES, max(48 << 20, min(request.bytes, Effort.most_bytes)))
    busy = {processor for both in places for processor in both}
    return elements_each(hardware, effort, [core.index for core in hardware.cores if busy & {*core.processors}])
