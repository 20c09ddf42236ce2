"""Time of a step on a cluster, for every binding scheme: a pure function of hardware, profile and job.

A rank owns a box and updates it at the rate of its cores: cores of one NUMA node share what the profile says of it, and
pages on another node slow them by share / remote bandwidth, or by their distance; boards by what crosses their links.
The threads of a rank wait for each other's tiles as the replay of tiling.py has it. Faces exchange, each way,

    one layer    2 tangential components of H of one layer, every step
    T layers     6 components of T layers with edges and corners, every T steps; the layers are computed twice

in messages x latency + bytes / bandwidth; the ranks of a host share its link, those of a NUMA node its memory. Packing
and moving the bytes keeps the processor busy for a part of that; with overlap the rest runs under what does not depend
on it, and only what is left is waited for. Where halos are shallower than tiles, a wedge at the cut faces, or all of a
box that is too thin, is made in shallow tiles. The slowest rank sets the pace. Contention in switches is left out.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.entry.triples import Triple, triple
from nearfield.machine.profile import Profile
from nearfield.parallel.halo_depth import Tiles
from nearfield.parallel.halo_sizes import components
from nearfield.parallel.weights import Weights, across
from nearfield.plan.boxes import Arrangement

if TYPE_CHECKING:
    from nearfield.machine.hardware import Hardware, Unit

COPIES = 4  # words through memory for each word that two processes of one NUMA node exchange: read and written, twice
PROBED_BYTES = 4  # a number: rates of profiles are of single precision, double moves twice the bytes
TIE = 1e-9  # weight of the exchange's time, so that of equally slow ranks the one with the longest exchange is shown
LOCAL_POLICIES = ("first-touch", "bind")  # every page on the node of the thread that updates it


@dataclass(frozen=True)
class Job:
    """The work of a run: samples along x, y, z, their costs, bytes of a number, cells counted in Mcells/s."""

    weights: Weights
    cells: int
    number_bytes: int = 4
    tiles: Tiles = field(default_factory=Tiles)
    bytes: int = 0  # of fields, states of CPML and the index of rows; 0 where unknown

    @property
    def shape(self) -> Triple:
        """Samples along x, y, z."""
        return self.weights.shape

    @property
    def work(self) -> float:
        """Work of a step, uncut."""
        return float(self.weights.work([np.zeros(1)] * 3, [np.array([n]) for n in self.shape]).sum())

    @classmethod
    def box(cls, cells: Triple, number_bytes: int = 4) -> Job:
        """A box of vacuum with conducting walls."""
        return cls(Weights.uniform(triple(cells)), math.prod(cells), number_bytes)


@dataclass(frozen=True)
class Cluster:
    """Hosts of equal hardware, the profile of their speed, and how the speeds of ranks differ from it."""

    hardware: Hardware
    hosts: int
    profile: Profile
    speeds: tuple[float, ...] = ()
    "Of ranks, or of hosts, over their mean; left out, they are as the profile says."

    def shares(self, ranks: int) -> np.ndarray:
        """The speed of each rank over what the profile says of it."""
        speeds = np.array(self.speeds or (1.0,))
        return np.repeat(speeds, ranks // len(speeds))


@dataclass(frozen=True)
class Exchange:
    """An exchange of halos: layers (and steps between two exchanges), and whether the interior is updated meanwhile."""

    name: str
    depth: int = 1
    overlap: bool = True


@dataclass(frozen=True)
class Placed:
    """The ranks of one host: Mcells/s and NUMA node of each, and what they would do with all pages at hand."""

    scheme: str
    speeds: tuple[float, ...]
    numa: tuple[int, ...]
    threads: int
    remote_share: float
    ideal: float  # Mcells/s of the host
    links: float = 1.0  # time of an update over that of one board by itself


@dataclass(frozen=True)
class Prediction:
    """One scheme and exchange; times (s) of a step of the slowest rank."""

    scheme: str
    exchange: str
    depth: int
    ranks: int
    threads: int  # of a rank
    counts: Triple  # boxes along x, y, z
    step: float
    compute: float
    halo: float
    busy: float  # of the halo's time, the processor's own part
    waiting: float
    mcells_per_second: float
    efficiency: float  # of all units with their pages at hand, nothing computed twice and nothing waited for
    pipeline: float  # part of the threads' rate that remains as tiles wait for each other, of the slowest rank
    links: float  # time of an update over that of a board by itself, by what crosses the links between boards
    imbalance: float  # slowest rank's share of the work over its share of the speed
    messages: float  # a step, of the slowest rank
    host_bytes: float  # a step, that leave the busiest host
    remote_share: float  # of the pages

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers, SI."""
        return asdict(self)


def remote_share(unit: Unit, scheme: str, memory: str, nodes: int) -> float:
    """Part of a unit's pages that lie on another NUMA node than the thread which updates them, on average.

    Without a policy pages lie on any node that the unit's threads may touch first, and threads wander among them.
    """
    if memory == "interleave":
        return 1 - 1 / nodes
    spread = nodes if scheme == "none" else len(unit.numa)
    unplaced = scheme == "none" or memory not in LOCAL_POLICIES
    return 1 - 1 / max(1, spread) if unplaced else 0.0


def place(cluster: Cluster, scheme: str, memory: str = "first-touch", units: Sequence[Unit] | None = None) -> Placed:
    """The ranks of one host under a binding scheme and a memory policy; `units` replaces those of the scheme.

    Cores that several ranks share are shared in time.
    """
    hardware, profile = cluster.hardware, cluster.profile
    units = tuple(units if units is not None else hardware.units(scheme))
    users = Counter(core for unit in units for core in unit.cores)
    busy = Counter(hardware.cores[core].numa for core in users)
    each = {node: profile.rates().of(count) / count for node, count in busy.items()}
    local = [sum(each[hardware.cores[core].numa] / users[core] for core in unit.cores) for unit in units]
    shares = [remote_share(unit, scheme, memory, len(hardware.numa)) for unit in units]
    links = hardware.boards.slower(map(hardware.boards.board_of, busy)) if hardware.boards else 1.0
    apart = {unit.numa: unit for unit, share in zip(units, shares) if share}
    remote = {numa: remote_time(unit, scheme, memory, cluster) for numa, unit in apart.items()}
    speeds = tuple(
        speed / links / (1 + share * (remote.get(unit.numa, 1.0) - 1))
        for unit, speed, share in zip(units, local, shares)
    )
    nodes = tuple(hardware.cores[unit.cores[0]].numa for unit in units)
    return Placed(scheme, speeds, nodes, len(units[0].cores), max(shares), sum(local), links)


def remote_time(unit: Unit, scheme: str, memory: str, cluster: Cluster) -> float:
    """Time of a page on another NUMA node over that of one at hand, the mean over where a unit's may lie.

    By the measured matrix of the profile; without one by the hardware's distances; without those as assumed.
    """
    distances = cluster.hardware.distances
    if distances is None or len(cluster.profile.bandwidth) > 1:
        return 1 / cluster.profile.remote
    every = scheme == "none" or memory == "interleave"
    table = np.array(distances)
    mine, there = list(unit.numa), list(range(len(table))) if every else list(unit.numa)
    apart = table[np.ix_(mine, there)] / np.diag(table)[mine][:, None]
    other = np.array(mine)[:, None] != np.array(there)
    return float(apart[other].mean()) if other.any() else 1.0


class Boxes:
    """A job cut into boxes, one a rank, and what passes between them. Arrays are (nx, ny, nz) boxes."""

    def __init__(self, job: Job, cluster: Cluster, placed: Placed, arrangement: Arrangement) -> None:
        self.job, self.cluster, self.placed, self.counts = job, cluster, placed, arrangement.counts
        ends = [np.array(cuts) for cuts in arrangement.cuts]
        self.lower, self.upper = [e[:-1] for e in ends], [e[1:] for e in ends]
        rank = np.arange(np.prod(self.counts)).reshape(self.counts)
        per_host = len(placed.speeds)
        self.host, local = rank // per_host, rank % per_host
        self.numa = np.array(placed.numa)[local]
        # work of a million cells of the probe, which were of 4 bytes a number
        self.unit = 1e6 * (1 + job.weights.row / cluster.profile.rates().cells) * PROBED_BYTES / job.number_bytes
        self.speed = np.array(placed.speeds)[local] * self.unit * cluster.shares(rank.size)[rank]

    def predict(self, exchange: Exchange) -> Prediction:
        """The time of a step with this exchange."""
        depth = exchange.depth
        compute = np.mean([self.work(layers) for layers in range(depth)], axis=0) / self.speed
        pipeline = self.pipeline()
        compute = compute * (1 + self.extra(exchange)) / pipeline
        halo, busy, messages, host_bytes = self.halo(depth)
        hidden = self.interior(2 * depth - 1) / self.speed if exchange.overlap else 0.0
        waiting = np.maximum(halo - busy - hidden, 0.0)
        spent = compute + busy + waiting
        slowest = np.unravel_index(np.argmax(spent + TIE * halo), self.counts)
        total, step = self.work(0), float(spent[slowest])
        ideal = self.placed.ideal * self.cluster.hosts * self.unit
        return Prediction(
            self.placed.scheme,
            exchange.name,
            depth,
            compute.size,
            self.placed.threads,
            self.counts,
            step,
            float(compute[slowest]),
            float(halo[slowest]),
            float(busy[slowest]),
            float(waiting[slowest]),
            self.job.cells / step / 1e6,
            self.job.work / ideal / step,
            float(pipeline[slowest]),
            self.placed.links,
            float((total / self.speed).max() * self.speed.sum() / total.sum()),
            float(messages[slowest]),
            host_bytes,
            self.placed.remote_share,
        )

    def pipeline(self) -> np.ndarray:
        """`Tiles.pipeline` of every box, all domains of a rank taken for one."""
        first, second, _ = self.job.weights.storage_axes
        planes, rows = (np.unique(self.upper[a] - self.lower[a], return_inverse=True) for a in (first, second))
        tiles, threads = self.job.tiles, self.placed.threads
        table = np.array([[tiles.pipeline(int(n), int(m), threads) for m in rows[0]] for n in planes[0]])
        found = table[np.ix_(planes[1], rows[1])]
        found = found if first < second else found.T
        return np.broadcast_to(np.expand_dims(found, self.job.weights.storage_axes[2]), self.counts)

    def extra(self, exchange: Exchange) -> np.ndarray:
        """Relative increase of a step's time by tiles that suit the halos."""
        lengths, sides = [], []
        for axis, (low, high, length) in enumerate(zip(self.lower, self.upper, self.job.shape)):
            lengths.append(across(axis, high - low))
            sides.append(across(axis, (low > 0) * 1 + (high < length)))
        unit = self.job.weights.storage_axes[2]
        return self.job.tiles.extra(lengths, sides, unit, exchange.depth, exchange.overlap)

    def work(self, layers: int) -> np.ndarray:
        """Work of the boxes grown by so many layers at their cut faces."""
        lower = [np.maximum(low - layers, 0) for low in self.lower]
        upper = [np.minimum(high + layers, length) for high, length in zip(self.upper, self.job.shape)]
        return self.job.weights.work(lower, upper)

    def interior(self, layers: int) -> np.ndarray:
        """Work of what lies so many layers within the cut faces."""
        lower, upper = [], []
        for low, high, length in zip(self.lower, self.upper, self.job.shape):
            inner = np.minimum(low + layers * (low > 0), high)
            lower.append(inner)
            upper.append(np.maximum(high - layers * (high < length), inner))
        samples = volume([high - low for low, high in zip(lower, upper)])
        return np.where(samples > 0, self.job.weights.work(lower, upper), 0.0)

    def halo(self, depth: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
        """Seconds of exchange, the processor's part, messages of every rank a step; bytes that leave a host."""
        profile = self.cluster.profile
        seconds, busy, messages, copied, leaving = np.zeros((5, *self.counts))
        for axis, size in enumerate(self.face_bytes(depth)):
            for side in (-1, 1):
                for where, is_here in self.neighbours(axis, side).items():
                    link = profile.link(where)
                    messages += is_here / depth
                    seconds += is_here * link.latency / depth
                    busy += is_here * size * link.busy
                    if where == "hosts":
                        leaving += is_here * size
                    else:
                        copied += is_here * size
                        seconds += is_here * size / link.bandwidth
        seconds = np.maximum(seconds, self.memory_seconds(copied))
        of_host = np.bincount(self.host.ravel(), leaving.ravel())
        seconds += np.where(leaving > 0, of_host[self.host] / profile.link("hosts").bandwidth, 0.0)
        return np.maximum(seconds, busy), busy, messages, float(of_host.max())

    def memory_seconds(self, copied: np.ndarray) -> np.ndarray:
        """Seconds that the memory of a rank's NUMA node needs for what all its ranks copy; 0 where it is unknown."""
        triad = self.cluster.profile.triad
        if triad is None or not triad.numa:
            return np.zeros(self.counts)
        node = self.host * (max(self.placed.numa) + 1) + self.numa
        moved = COPIES * np.bincount(node.ravel(), copied.ravel())[node]
        return np.asarray(moved / (np.mean(triad.numa) * 1e9) * (copied > 0))

    def face_bytes(self, depth: int) -> Iterable[np.ndarray]:
        """Bytes a step through one face across each axis: one layer, or `depth` with the corners of earlier axes."""
        lengths = [high - low for low, high in zip(self.lower, self.upper)]
        grown = list(lengths)
        for axis in range(3):
            area = volume([np.ones_like(n) if a == axis else n for a, n in enumerate(grown)])
            yield components(depth) * area * self.job.number_bytes
            cut = 1 * (self.lower[axis] > 0) + (self.upper[axis] < self.job.shape[axis])
            grown[axis] = lengths[axis] + (depth * cut if depth > 1 else 0)

    def neighbours(self, axis: int, side: int) -> dict[str, np.ndarray]:
        """Whether ranks have a neighbour on one side, by the kind of link that leads to it."""
        other_host, other_numa = (np.roll(array, -side, axis) for array in (self.host, self.numa))
        index = np.arange(self.counts[axis]) + side
        inside = across(axis, (index >= 0) & (index < self.counts[axis]))
        same_host = other_host == self.host
        return {
            "numa": inside & same_host & (other_numa == self.numa),
            "across": inside & same_host & (other_numa != self.numa),
            "hosts": inside & ~same_host,
        }


def volume(lengths: Sequence[np.ndarray]) -> np.ndarray:
    """Samples of boxes with these lengths along x, y, z."""
    x, y, z = lengths
    samples: np.ndarray = x[:, None, None] * y[:, None] * z
    return samples
