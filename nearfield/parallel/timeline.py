"""Where the time of one block of steps went on every rank, as a trace for Perfetto and chrome://tracing.

Each rank notes the spans of its latest block; the clocks of hosts are compared by round trips, so that spans of all
ranks have one time. A message's span ends when the rank sees that it has come; it looks every few milliseconds.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nearfield.entry.whole_file import write_whole
from nearfield.machine.transport import Alone

TRACKS = ("compute", "messages", "buffer")
MICROSECOND = 1e-6
DRAWN = 400  # spans; more are too thin to see


@dataclass(frozen=True)
class Span:
    """Something that lasted from `begin` to `end` (s), on a track; steps [first, last) of its block."""

    name: str
    begin: float
    end: float
    track: str = "compute"
    steps: tuple[int, int] | None = None


@dataclass
class Timeline:
    """Spans of the latest block of steps on this rank, by its own clock."""

    spans: list[Span] = field(default_factory=list)

    def begin(self) -> None:
        """Forget the block before."""
        self.spans.clear()

    def add(self, name: str, begun: float, track: str = "compute", steps: tuple[int, int] | None = None) -> None:
        """Note what ends now."""
        self.spans.append(Span(name, begun, time.perf_counter(), track, steps))


def gathered(timeline: Timeline, ranks: Alone) -> list[list[Span]] | None:
    """The spans of each rank in the time of rank 0, from 0 on; on rank 0 alone. All ranks call it."""
    offset = ranks.clock_offset()
    every = ranks.gathered([(offset, span) for span in timeline.spans])
    if every is None:
        return None
    start = min((span.begin + later for spans in every for later, span in spans), default=0.0)
    return [
        [Span(s.name, s.begin + later - start, s.end + later - start, s.track, s.steps) for later, s in spans]
        for spans in every
    ]


def trace(spans: Sequence[Sequence[Span]], hosts: Sequence[str]) -> dict[str, Any]:
    """A trace in the JSON format of Chrome: a process a rank, a thread a track; times in microseconds."""
    events: list[dict[str, Any]] = []
    for rank, host in enumerate(hosts):
        events.append(named("process_name", rank, 0, f"rank {rank} on {host}"))
        events += [named("thread_name", rank, number, track) for number, track in enumerate(TRACKS)]
        events += [
            {
                "name": span.name,
                "ph": "X",
                "ts": span.begin / MICROSECOND,
                "dur": (span.end - span.begin) / MICROSECOND,
                "pid": rank,
                "tid": TRACKS.index(span.track),
                "args": {"steps": list(span.steps)} if span.steps else {},
            }
            for span in spans[rank]
        ]
    return {"traceEvents": events, "displayTimeUnit": "ms"}


def named(what: str, rank: int, track: int, name: str) -> dict[str, Any]:
    """The event that names a process or a thread."""
    return {"name": what, "ph": "M", "pid": rank, "tid": track, "args": {"name": name}}


def write_trace(file: Path, spans: Sequence[Sequence[Span]], hosts: Sequence[str]) -> None:
    """Write a trace. Error: `OSError`."""
    write_whole(file, json.dumps(trace(spans, hosts)).encode())


def few(spans: Sequence[Sequence[Span]]) -> list[list[Span]]:
    """The spans to draw: all of them, or those that begin between two exchanges in the middle of a long block."""
    ends = [span.end for span in spans[0] if span.name == "unpack"]
    if len(ends) < 2 or sum(map(len, spans)) <= DRAWN:
        return [list(own) for own in spans]
    low, high = ends[len(ends) // 2 - 1], ends[len(ends) // 2]
    return [[span for span in own if low <= span.begin < high] for own in spans]
