"""Machines of many boards with one memory over a torus of links: distances of NUMA nodes, and what links cost.

A description is a JSON file, `numascale.json` beside this one an example; its name stands for it:

    {"format": "nearfield machine", "version": 1, "name": "...",
     "board": "pack:2 numa:2(memory=16GB) core:6 pu:1",     an hwloc synthetic string
     "torus": [3, 6, 4],                                    boards along each axis, the last one counts fastest
     "distances": [[10, 16], [16, 10]],                     nodes of a board, relative latencies, 10 the own one
     "far": 100, "hop": 20,                                 of a node on another board, and what each link adds
     "core_rate": 5e9, "node_rate": 1.28e10,                B/s of a triad, as STREAM counts: one core, one node
     "link_rate": 2e9, "stray": 0.05,                       B/s of a link each way; see below
     "latency": 9e-8,                                       s, of the own node's memory
     "sources": {"board": "published ...", "stray": "calibrated: ..."}}

Memory that is all at hand still costs something between boards: of every byte a part `stray` crosses the torus
(coherence messages, misplaced pages) to any board in use. A board has one link each way along each axis longer than 2,
one along an axis of 2, and messages wait for each hop's share of them, so that a pass takes

    t = t_alone (1 + stray r h / (d l))     h: mean hops between boards in use, themselves counted; d: links of a board;
                                            r: rate of a board alone; l: rate of a link
    t >= t_alone stray r b / l              b: load of the busiest link by shortest ways, axis after axis
"""

from __future__ import annotations

import functools
import itertools
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from pydantic import Field, field_validator

from nearfield.entry.schema import Schema
from nearfield.machine.described import described

SHIPPED = {"numascale": Path(__file__).with_name("numascale.json")}  # names that stand for a file of the package
OWN = 10.0  # distance of a node from itself, as firmware counts

Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Length = Annotated[int, Field(ge=1, le=4096)]
Way = tuple[tuple[int, ...], int, int]  # a link: the board it leaves, its axis, its direction


class Description(Schema):
    """The entries of a file that describes a machine of boards; rates in B/s, times in s."""

    format: Literal["nearfield machine"]
    board: str
    "hwloc's synthetic string of one board."
    torus: Annotated[tuple[Length, ...], Field(min_length=1, max_length=6)]
    "Boards along each axis."
    distances: tuple[tuple[Positive, ...], ...]
    "Between the nodes of a board: relative latencies, 10 for the own one."
    far: Positive
    "Distance of a node on another board, before its hops."
    hop: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    "Distance that each link adds."
    core_rate: Positive
    node_rate: Positive
    link_rate: Positive
    stray: Annotated[float, Field(ge=0, le=1)]
    latency: Positive
    version: Literal[1] = 1
    name: str = "unnamed"
    sources: dict[str, str] = Field(default_factory=dict)
    "How the numbers are known."

    @field_validator("distances")
    @classmethod
    def _square(cls, rows: tuple[tuple[float, ...], ...]) -> tuple[tuple[float, ...], ...]:
        wrong = [n for n, row in enumerate(rows) if len(row) != len(rows) or row[n] != OWN]
        if not rows or wrong:
            raise ValueError("a square of distances with 10 along its diagonal, a row for each node of a board")
        return rows


@dataclass(frozen=True)
class Boards:
    """Boards in a torus; they are counted from 0, and so are NUMA nodes, board after board."""

    description: Description

    @property
    def torus(self) -> tuple[int, ...]:
        """Boards along each axis."""
        return self.description.torus

    @property
    def count(self) -> int:
        """Of all boards."""
        return math.prod(self.torus)

    @property
    def nodes_each(self) -> int:
        """NUMA nodes of a board."""
        return len(self.description.distances)

    @property
    def links(self) -> int:
        """That leave a board."""
        return sum(min(2, length - 1) for length in self.torus)

    @property
    def board_rate(self) -> float:
        """B/s of all memories of a board by themselves."""
        return self.nodes_each * self.description.node_rate

    def board_of(self, node: int) -> int:
        """The board of a NUMA node."""
        return node // self.nodes_each

    def place(self, board: int) -> tuple[int, ...]:
        """Position in the torus."""
        return tuple(int(n) for n in np.unravel_index(board, self.torus))

    @functools.cached_property
    def hops(self) -> np.ndarray:
        """Links between any two boards by the shortest way, (boards, boards)."""
        places = np.array(np.unravel_index(np.arange(self.count), self.torus)).T
        apart = np.abs(places[:, None] - places[None])
        found: np.ndarray = np.minimum(apart, np.array(self.torus) - apart).sum(axis=-1)
        return found

    def distances(self) -> np.ndarray:
        """Relative latencies between all NUMA nodes."""
        boards = np.arange(self.count * self.nodes_each) // self.nodes_each
        between = self.description.far + self.description.hop * self.hops[np.ix_(boards, boards)]
        within = np.tile(np.array(self.description.distances), (self.count, self.count))
        found: np.ndarray = np.where(boards[:, None] == boards, within, between)
        return found

    def slower(self, used: Iterable[int]) -> float:
        """Time of a pass over memory that is all at hand, on these boards together, over that of a board by itself."""
        boards = tuple(sorted(set(used)))
        if len(boards) < 2:
            return 1.0
        if boards not in self._known:
            load = self.description.stray * self.board_rate / self.description.link_rate
            mean = float(self.hops[np.ix_(boards, boards)].mean())
            self._known[boards] = max(1 + load * mean / self.links, load * self.busiest(boards))
        return self._known[boards]

    @functools.cached_property
    def _known(self) -> dict[tuple[int, ...], float]:
        """Answers of `slower`."""
        return {}

    def words(self) -> str:
        """Such as `72 boards in a torus of 3 x 6 x 4`."""
        return f"{self.count} boards in a torus of {' x '.join(map(str, self.torus))}"

    def busiest(self, used: Sequence[int]) -> float:
        """Load of the busiest link where every board in use sends one unit, in equal parts to all in use."""
        loads: dict[Way, float] = defaultdict(float)
        for one, other in itertools.permutations(used, 2):
            for link, part in self.way(self.place(one), self.place(other)):
                loads[link] += part
        return max(loads.values(), default=0.0) / len(used)

    def way(self, here: tuple[int, ...], there: tuple[int, ...]) -> Iterator[tuple[Way, float]]:
        """Links of the shortest way, axis after axis, and the part of a unit on each: half where two are equal."""
        at = list(here)
        for axis, length in enumerate(self.torus):
            ahead = (there[axis] - at[axis]) % length
            for step, hops in ((1, ahead), (-1, length - ahead)):
                part = float(part_of_way(np.asarray(hops), length, step))
                for hop in range(hops if part else 0):
                    link = (*at[:axis], (at[axis] + step * hop) % length, *at[axis + 1 :])
                    yield (link, axis, step), part
            at[axis] = there[axis]


def part_of_way(hops: np.ndarray, length: int, step: int) -> np.ndarray:
    """Part of a message that goes so many links round a ring: half where the other way is as long, unless of one link.

    `step`: 1 or -1, the way round.
    """
    tie = 0.5 if length > 2 else float(step > 0)
    return np.where(2 * hops < length, 1.0, np.where(2 * hops == length, tie, 0.0))


def read(given: str | Path) -> Description:
    """The description in a file, or the one that the package has under this name.

    Error: no such file, no JSON, or anything else in it than `Description` has.
    """
    return described(Description, given, SHIPPED, "machine")
