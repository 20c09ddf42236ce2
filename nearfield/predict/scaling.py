"""Weak and strong scaling over nodes of equal devices, whose exchange is hidden as far as it can be.

A step of the slowest device (a card, or a CPU as one rank), after Eqs. (1) to (4) of Kim and Park in
`nearfield.predict.overlap`, with the messages of all devices on links that they share:

    t_update   = launch + V / G
    t_copy     = sum over faces 2 (b a n / B_copy + L_copy)          to the host and back; of a CPU, its own time
    t_message  = the slower of those within a node and those between nodes (`nearfield.predict.network`)
    t_edge     = faces / G                                           what neighbours need is made first
    hidden       t = max(t_update + t_copy, t_edge + t_copy + t_message)
    not hidden   t = t_update + t_copy + t_message

V points of a device at G a second; n points of a face, a = 2 components, b bytes a number. Boxes are as even as whole
cells allow; of the ways to cut with the smallest faces the fastest counts. Ranks are numbered along z first, as a run
numbers them, and those of a node follow each other.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from nearfield.entry.errors import ModelError
from nearfield.entry.schema import Schema
from nearfield.entry.triples import Triple
from nearfield.machine.described import described
from nearfield.machine.profile import Link, Positive
from nearfield.parallel.decomposition import factorizations
from nearfield.predict.network import Network, Traffic

SHIPPED = {path.stem: path for path in sorted((Path(__file__).parent / "nodes").glob("*.json"))}
COMPONENTS = 2  # of a face that a neighbour needs
BYTES = {"single": 4, "double": 8}
FIELDS = 6.0  # numbers a cell that a device must hold at least
CUTS, MANY = 6, 20_000  # ways to cut that are looked at, those with the smallest faces: 6, or more of few devices
LEAST = 4  # cells of a box along an axis that is cut
MOST_NODES = 4096


class Rate(Schema):
    """Points/s of the update, by precision."""

    single: Positive
    double: Positive


class Node(Schema):
    """A node of equal devices, cards or CPUs."""

    format: Literal["nearfield node"]
    rate: Rate
    "Of one device."
    inner: Link
    "Messages between devices of a node: B/s of each device while all exchange."
    devices: Annotated[int, Field(ge=1, le=64)] = 1
    launch: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    "s that a step takes however small the box is."
    copy_: Link | None = Field(default=None, alias="copy")
    "Between device and host, each way; of a CPU, what packing and moving costs it. Left out, there are none."
    memory: Positive | None = None
    "Bytes of a device."
    version: Literal[1] = 1
    name: str = "unnamed"
    sources: dict[str, str] = Field(default_factory=dict)
    "How the numbers are known."


@dataclass(frozen=True)
class Point:
    """The step of one number of nodes; seconds, and million cells a second of all together."""

    scaling: str
    precision: str
    nodes: int
    devices: int
    cells: Triple
    boxes: Triple
    update: float
    copies: float
    messages: float
    step: float
    mcells_per_second: float
    efficiency: float
    unhidden_efficiency: float
    limit: str

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers, SI."""
        return asdict(self)


def scale(node: Node, network: Network, nodes: int, cells: int, whole: int) -> list[Point]:
    """Weak scaling with `cells`^3 a device and strong scaling of `whole`^3, single and double, up to so many nodes.

    Numbers of nodes are powers of two and `nodes` itself; those whose memory does not hold a box are left out.
    Error: more nodes than the network has, or than MOST_NODES.
    """
    most = min(network.most or MOST_NODES, MOST_NODES)
    if not 1 <= nodes <= most:
        raise ModelError(f"--nodes {nodes}: {network.name} is good for 1 to {most}; give as many, or another --network")
    found = []
    for precision, scaling in itertools.product(BYTES, ("weak", "strong")):
        for count in sorted({*(2**n for n in range(nodes.bit_length())), nodes}):
            counts = cube(count * node.devices)
            shape = tuple(cells * n for n in counts) if scaling == "weak" else (whole,) * 3
            found.append(point(node, network, count, (shape[0], shape[1], shape[2]), scaling, precision))
    fits = [each for each in found if each is not None]
    if not fits:
        raise ModelError(f"--cells {cells}: no number of nodes holds such boxes in {node.name}; give fewer")
    return fits


def cube(number: int) -> Triple:
    """The factors of a number that are nearest to each other."""
    return min(factorizations(number), key=lambda each: (sum(each), each))


def point(node: Node, network: Network, nodes: int, shape: Triple, scaling: str, precision: str) -> Point | None:
    """The fastest way to cut a box; None where devices cannot hold it, or boxes are too thin."""
    devices = nodes * node.devices
    if node.memory and math.prod(shape) / devices * FIELDS * BYTES[precision] > node.memory:
        return None
    thick = [counts for counts in factorizations(devices) if all(map(is_thick, shape, counts))]
    nearest = sorted(thick, key=lambda counts: sum(n / length for n, length in zip(counts, shape)))
    looked_at = nearest[: max(CUTS, MANY // devices)]
    cuts = (Cut(node, network, shape, counts, precision) for counts in looked_at)
    return min((cut.point(scaling, nodes) for cut in cuts), key=lambda each: each.step, default=None)


def is_thick(length: int, count: int) -> bool:
    """Whether so many boxes have enough cells along an axis."""
    return count == 1 or length // count >= LEAST


@dataclass(frozen=True)
class Cut:
    """A box of cells in equal parts, one a device."""

    node: Node
    network: Network
    shape: Triple
    counts: Triple
    precision: str

    @property
    def lengths(self) -> Triple:
        """Cells of the largest part along each axis."""
        x, y, z = (-(-length // count) for length, count in zip(self.shape, self.counts))
        return x, y, z

    def faces(self) -> list[tuple[int, int]]:
        """Axis and cells of each face of a part in the middle."""
        volume = math.prod(self.lengths)
        return [
            (axis, volume // self.lengths[axis])
            for axis, count in enumerate(self.counts)
            for _ in range(min(2, count - 1))
        ]

    def bytes_of(self, cells: int) -> int:
        """Of a message."""
        return COMPONENTS * BYTES[self.precision] * cells

    def traffic(self) -> tuple[Traffic, float]:
        """Messages between nodes, and the most bytes that a device sends within its node."""
        rank = np.arange(math.prod(self.counts)).reshape(self.counts)
        ends: list[tuple[np.ndarray, np.ndarray, int]] = []
        for axis in range(3):
            low = np.take(rank, np.arange(self.counts[axis] - 1), axis).ravel()
            high = np.take(rank, np.arange(1, self.counts[axis]), axis).ravel()
            face = self.bytes_of(math.prod(self.lengths) // self.lengths[axis])
            ends += [(low, high, face), (high, low, face)]
        source, target = (np.concatenate([pair[end] for pair in ends]) for end in (0, 1))
        size = np.concatenate([np.full(pair[0].size, float(pair[2])) for pair in ends])
        here, there = source // self.node.devices, target // self.node.devices
        inner, each = here == there, 0
        inside = float(np.bincount(source[inner], size[inner]).max()) if inner.any() else 0.0
        if not inner.all():
            each = int(np.bincount(source[~inner]).max())
        return Traffic(here[~inner], there[~inner], size[~inner], each, rank.size // self.node.devices), inside

    def point(self, scaling: str, nodes: int) -> Point:
        """Its step, and what limits it."""
        node, volume, faces = self.node, math.prod(self.lengths), self.faces()
        rate: float = getattr(node.rate, self.precision)
        update = node.launch + volume / rate
        copies = sum(2 * node.copy_.seconds(self.bytes_of(cells)) for _, cells in faces) if node.copy_ else 0.0
        traffic, inside = self.traffic()
        shared = self.network.exchange(traffic)
        within = node.inner.seconds(inside, len(faces)) if inside else 0.0
        messages = max(shared.seconds, within)
        edge = sum(cells for _, cells in faces) / rate
        hidden = max(update + copies, edge + copies + messages if faces else 0.0)
        ideal = math.prod(self.shape) / (math.prod(self.counts) * rate)
        parts = {"update": volume / rate, "launches": node.launch, "copies": copies}
        if hidden > update + copies:
            limit = shared.limit if shared.seconds >= within else "messages within a node"
        else:
            limit = max(parts, key=lambda name: parts[name])
        return Point(
            scaling,
            self.precision,
            nodes,
            math.prod(self.counts),
            self.shape,
            self.counts,
            update,
            copies,
            messages,
            hidden,
            math.prod(self.shape) / hidden / 1e6,
            ideal / hidden,
            ideal / (update + copies + messages),
            limit,
        )


def load_scaled_node(given: str | Path) -> Node:
    """The node of a file, or the one that the package has under this name. Error: as `described` says."""
    return described(Node, given, SHIPPED, "--node")
