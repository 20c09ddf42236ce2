"""Networks whose links many nodes share: fat tree, torus and dragonfly as data, and how long an exchange takes on them.

A network is a JSON file, those of `nearfield/predict/networks` examples; the name of one stands for it:

    {"format": "nearfield network", "version": 1, "name": "...", "kind": "fat-tree",
     "link": {"latency": 2e-6, "bandwidth": 12.5e9},    s of a message; B/s that a node sends, while as many come
     "hop": 9e-8,                                       s that each switch adds
     "group": 24, "global_share": 0.5,                  fat-tree, dragonfly: nodes of a group, and the bandwidth that
                                                        leaves it over what its nodes could send
     "torus": [16, 16, 16], "wire": 6.3e9,              torus: nodes along each axis, B/s of a link each way
     "sources": {"link": "published ...", "hop": "assumed ..."}}

An exchange lasts latency + hops, and as long as the busiest link needs: that of a node, the links out of a group, or a
link of the torus. A job has the most compact box of a torus that its nodes fill, and numbers them along its last axis
first; messages in a torus go along one axis after the other by the shortest way. Those between groups spread over all
links out of a group, as adaptive routes do, so that in a dragonfly they may pass a third group and use its links as
well.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from nearfield.entry.schema import Schema
from nearfield.machine.boards import part_of_way
from nearfield.machine.described import described
from nearfield.machine.profile import Link, Positive

SHIPPED = {path.stem: path for path in sorted((Path(__file__).parent / "networks").glob("*.json"))}
SWITCHES = {"fat-tree": 3, "dragonfly": 3}  # that a message between groups passes; 1 within a group of a fat tree
DETOUR = 2.0  # bytes on links between groups over bytes sent, where routes pass a third group of a dragonfly


class Network(Schema):
    """What connects nodes; SI."""

    format: Literal["nearfield network"]
    kind: Literal["fat-tree", "torus", "dragonfly"]
    link: Link
    "Of a node: s of a message, B/s that it sends while as many come."
    hop: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    "s that each switch adds."
    group: Annotated[int, Field(ge=1)] | None = None
    "Nodes below one switch of a fat tree, or of one group of a dragonfly."
    global_share: Annotated[float, Field(gt=0, le=1)] | None = None
    "Bandwidth that leaves a group over what its nodes could send."
    torus: Annotated[tuple[Annotated[int, Field(ge=1, le=4096)], ...], Field(max_length=6)] = ()
    "Nodes along each axis."
    wire: Positive | None = None
    "B/s of a link of the torus, each way."
    version: Literal[1] = 1
    name: str = "unnamed"
    sources: dict[str, str] = Field(default_factory=dict)
    "How the numbers are known."

    @model_validator(mode="after")
    def _complete(self) -> Self:
        needed = ("torus", "wire") if self.kind == "torus" else ("group", "global_share")
        others = {"torus", "wire", "group", "global_share"} - set(needed)
        if missing := [name for name in needed if not getattr(self, name)]:
            raise ValueError(f"a network of kind {self.kind} needs {' and '.join(missing)}")
        if wrong := sorted(name for name in others if getattr(self, name)):
            raise ValueError(f"a network of kind {self.kind} has no {' and '.join(wrong)}")
        return self

    @property
    def most(self) -> int | None:
        """Nodes that it has; None: any number."""
        return int(np.prod(self.torus)) if self.torus else None

    @property
    def bisection(self) -> float:
        """B/s each way, for each node, between two halves of a large machine."""
        if self.kind != "torus":
            return (self.global_share or 1.0) * self.link.bandwidth / (DETOUR if self.kind == "dragonfly" else 1.0) / 2
        return 2 * (self.wire or 0.0) / max(self.torus)

    def block(self, nodes: int) -> tuple[int, ...]:
        """The part of the torus that a job of so many nodes has: the most compact box, else rows of whole length."""
        axes = len(self.torus)
        boxes = [each for each in products(nodes, axes) if all(map(int.__le__, each, self.torus))]
        return min(boxes, key=lambda each: (sum(each), each), default=self.torus)

    def exchange(self, traffic: Traffic) -> Shared:
        """How long these messages take together: seconds, and what they wait for."""
        if not traffic.size.size:
            return Shared(0.0, 0.0, 0.0, 0)
        sent = np.bincount(traffic.source, traffic.size)
        came = np.bincount(traffic.target, traffic.size)
        own = max(sent.max(), came.max()) / self.link.bandwidth
        shared, switches = self._torus(traffic) if self.kind == "torus" else self._groups(traffic)
        return Shared(self.link.latency * traffic.each + self.hop * switches, float(own), shared, switches)

    def _groups(self, traffic: Traffic) -> tuple[float, int]:
        """Seconds of the busiest group's links, and the switches that a message passes at most."""
        group = self.group or 1
        here, there = traffic.source // group, traffic.target // group
        away = here != there
        if not away.any():
            return 0.0, 1
        spread = DETOUR if self.kind == "dragonfly" and max(here.max(), there.max()) > 1 else 1.0
        leaving, coming = (np.bincount(end[away], traffic.size[away]).max() for end in (here, there))
        room = group * self.link.bandwidth * (self.global_share or 1.0)
        return float(spread * max(leaving, coming) / room), SWITCHES[self.kind]

    def _torus(self, traffic: Traffic) -> tuple[float, int]:
        """Seconds of the busiest link, and the most links that a message passes."""
        pairs, which = np.unique(traffic.source * traffic.nodes + traffic.target, return_inverse=True)
        size = np.bincount(which, traffic.size)  # of all messages of one node to another
        block = self.block(traffic.nodes)
        at, to = (np.array(np.unravel_index(ends, block)) for ends in np.divmod(pairs, traffic.nodes))
        hops, busiest = np.zeros(size.size, int), 0.0
        for axis, length in enumerate(self.torus):
            ahead = (to[axis] - at[axis]) % length
            for step, count in ((1, ahead), (-1, length - ahead)):
                load, sent = np.zeros(self.torus), size * part_of_way(count, length, step)
                for hop in range(length // 2):
                    moving = (hop < count) & (sent > 0)
                    place = at[:, moving]
                    place[axis] = (place[axis] + step * hop) % length
                    np.add.at(load, tuple(place), sent[moving])
                busiest = max(busiest, float(load.max()))
            hops, at[axis] = hops + np.minimum(ahead, length - ahead), to[axis]
        return busiest / (self.wire or np.inf), int(hops.max())


@dataclass(frozen=True)
class Traffic:
    """Messages between nodes: source, target and bytes of each; `each` is how many a rank sends in turn."""

    source: np.ndarray
    target: np.ndarray
    size: np.ndarray
    each: int
    nodes: int


@dataclass(frozen=True)
class Shared:
    """Seconds of an exchange: latencies, the busiest node's own link, the busiest link that nodes share."""

    latency: float
    own: float
    shared: float
    switches: int

    @property
    def seconds(self) -> float:
        """Of the whole exchange."""
        return self.latency + max(self.own, self.shared)

    @property
    def limit(self) -> str:
        """What takes most of it."""
        parts = {"latency": self.latency, "the node's link": self.own, "shared links": self.shared}
        return max(parts, key=lambda name: parts[name])


def products(number: int, count: int) -> list[tuple[int, ...]]:
    """All ways to write a number as a product of `count` factors, in order."""
    if count == 1:
        return [(number,)]
    firsts = [first for first in range(1, number + 1) if number % first == 0]
    return [(first, *rest) for first in firsts for rest in products(number // first, count - 1)]


def load_network(given: str | Path) -> Network:
    """The network of a file, or the one that the package has under this name. Error: as `described` says."""
    return described(Network, given, SHIPPED, "--network")
