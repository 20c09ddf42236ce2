"""Depth of halos: the cost of an exchange of so many layers, and the depth that suits a run best.

Runs, `nearfield place` and `nearfield predict` price an exchange alike: messages by the latency and the bandwidth of
their link, of which a part keeps the processor busy and the rest runs under the update; layers that are computed twice
(weights.HaloCost); and tiles that must not be deeper than the halo where a rank is too thin for split ones.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from nearfield.engines.cpu.tiling import Machine, Rows, Tiling, balance, choose_tiling, replay, seconds_per_cell
from nearfield.entry.errors import ModelError
from nearfield.entry.triples import Triple
from nearfield.machine.hardware import Hardware
from nearfield.machine.profile import Link, Profile
from nearfield.parallel.decomposition import fitting, rough_time
from nearfield.parallel.halo_sizes import components
from nearfield.parallel.weights import HaloCost, Weights
from nearfield.plan.boxes import Grouping
from nearfield.plan.plan import Plan
from nearfield.plan.sizes import BYTES_OF

DEPTHS = (1, 2, 4, 8, 16)  # layers that are compared
ROUND = 4e-5  # s, an exchange beside its messages: calls of packing, two more runs of a team; two ranks of one machine
CALL = 100  # steps between looks of the guard, after which all threads meet (run/options.py)
SHOWN = 0.05  # least part of an exchange that no computation hides, so that of equal boxes those with small faces win


@dataclass(frozen=True)
class Tiles:
    """The tiles of a run, and how much longer a cell takes in tiles no deeper than a halo, by its depth.

    Where halos are shallower than tiles, only a wedge at the cut faces is made in such tiles, half as thick on the mean
    as tiles are deep (phases.SplitTiles); all of a box that is too thin for that, or whose rows are cut.
    """

    depth: int = 0
    slower: Mapping[int, float] = field(default_factory=dict)
    rows: Rows | None = None
    machine: Machine | None = None

    @classmethod
    def of(cls, tiling: Tiling, rows: Rows, machine: Machine) -> Tiles:
        """By the cost model of tiles."""
        chosen = seconds_per_cell(tiling, rows, machine)
        shallow = {depth: replace(tiling, depth=depth) for depth in DEPTHS if depth < tiling.depth}
        slower = {n: seconds_per_cell(each, rows, machine) / chosen for n, each in shallow.items()}
        return cls(tiling.depth, slower, rows, machine)

    @classmethod
    def on(cls, plan: Plan, hardware: Hardware, threads: int) -> Tiles:
        """The tiles that a run would take on hardware; sizes of caches that it lacks are this machine's."""
        caches = {name: size for name in ("l1", "l2", "l3") if (size := getattr(hardware, name))}
        rows, machine = Rows.of(plan), replace(Machine.here(threads, "avx512"), **caches)
        return cls.of(choose_tiling(rows, machine), rows, machine)

    def pipeline(self, planes: int, rows: int, threads: int) -> float:
        """Rate of a rank's threads over as many times that of one on a NUMA node: tiles that wait for each other, or
        are cut small so that there are enough of them. By the replay, in calls of `CALL` steps; 1 where no tiles are
        known, or a rank has no more threads than a node.
        """
        if self.rows is None or self.machine is None or threads <= self.machine.threads:
            return 1.0
        return pipeline(replace(self.rows, planes=planes, rows=rows), self.machine, threads)

    def extra(self, lengths: Sequence[Any], sides: Sequence[Any], unit: int, depth: int, overlap: bool) -> np.ndarray:
        """Relative increase of a step's time by its halos, for boxes of these lengths and cut sides along x, y, z."""
        slower = self.slower.get(depth, 1.0) - 1.0
        split, inner = overlap & (np.asarray(sides[unit]) == 0), np.array(1.0)
        for length, count in zip(lengths, sides):
            split = split & (length > (2 * self.depth + depth) * count)
            inner = inner * (1 - count * np.minimum((depth + self.depth / 2) / length, 0.5))
        return np.asarray(slower * np.where(split, 1 - inner, 1.0))


@functools.lru_cache(256)
def pipeline(rows: Rows, node: Machine, threads: int) -> float:
    """`Tiles.pipeline` of a box; each thread has the caches and the memory rate of one on a NUMA node.

    No more threads than planes work.
    """
    working = min(threads, rows.planes)
    machine = replace(node, threads=working, memory_rate=node.memory_rate / node.threads * working)
    alone, crowd = choose_tiling(rows, node), choose_tiling(rows, machine)
    waits = (
        replay(rows.planes, rows.rows, crowd, CALL, working, rows.reach)
        if crowd.depth
        else balance(crowd, rows, working)
    )
    return waits * working / threads * seconds_per_cell(alone, rows, node) / seconds_per_cell(crowd, rows, machine)


def halo_cost(
    depth: int,
    link: Link,
    rate: float,
    number_bytes: int,
    overlap: bool = True,
    near: Link | None = None,
    ranks_a_host: int = 1,
    reach: int = 1,
) -> HaloCost:
    """The price of halos in cells, of which `rate` are made in a second; `near`: within a host of several ranks;
    `reach`: layers that a step takes (`Plan.reach`)."""

    def price(link: Link) -> tuple[float, float]:
        sample = number_bytes * components(depth) / link.bandwidth
        return sample * reach * rate, (link.latency + ROUND) * reach / depth * rate

    hidden = min(1 - SHOWN, max(0.0, 1 - link.busy * link.bandwidth)) if overlap else 0.0
    return HaloCost(depth, *price(link), near=price(near) if near else None, ranks_a_host=ranks_a_host, hidden=hidden)


def cheapest(
    weights: Weights, domains: int | Triple, ranks: int, halos: Sequence[HaloCost], tiles: Tiles, overlap: bool = True
) -> HaloCost:
    """The depth that suits alike domains best, of those for which no domain is too thin and no row must be cut."""
    unit, times = weights.storage_axes[2], dict[float, HaloCost]()
    for halo in halos:
        try:
            groupings = fitting(weights, domains, ranks, halo)
        except ModelError:
            if not times:
                raise
            break
        if times and isinstance(domains, int) and all(grouping.counts[unit] > 1 for grouping in groupings):
            break
        times.setdefault(min(alike_time(weights, grouping, halo, tiles, overlap) for grouping in groupings), halo)
    return times[min(times)]


def depths_for(plan: Plan, wished: int | None) -> Sequence[int]:
    """Depths to compare: the given one, or all usual ones. Error: too few layers for a step."""
    if wished is not None and wished < plan.reach:
        coupled = ': averaging="tensor" reaches over two in a step' if wished else ""
        raise ModelError(f"halos of {wished} layers carry nothing{coupled}; give a depth of {plan.reach} or more")
    return [wished] if wished else [depth for depth in DEPTHS if depth >= plan.reach]


def alike_time(weights: Weights, grouping: Grouping, halo: HaloCost, tiles: Tiles, overlap: bool) -> float:
    """Time of the domain with the most expensive faces, if all domains were alike."""
    lengths = [n / parts for n, parts in zip(weights.shape, grouping.ranks)]
    sides = [min(2, parts - 1) for parts in grouping.ranks]
    extra = tiles.extra(lengths, sides, weights.storage_axes[2], halo.depth, overlap)
    return rough_time(weights, grouping, halo) + float(extra) * weights.total / math.prod(grouping.counts)


@dataclass(frozen=True)
class Crew:
    """Ranks of a run, each of so many threads, on hosts of so many NUMA nodes; domains of all together."""

    hosts: int
    numa_nodes: int
    threads: int
    ranks: int
    domains: int | Triple

    def halo_costs(self, plan: Plan, depths: Sequence[int], profile: Profile, overlap: bool = True) -> list[HaloCost]:
        """The price of halos of these depths, in vacuum cells of a domain's threads."""
        total = self.domains if isinstance(self.domains, int) else math.prod(self.domains)
        rate = profile.rates().core * 1e6 * self.threads * self.ranks / total
        here = profile.link("across" if self.numa_nodes > 1 else "numa")
        far, near = (profile.link("hosts"), here) if self.hosts > 1 else (here, None)
        number, crowd = BYTES_OF[plan.precision], -(-self.ranks // self.hosts)
        return [halo_cost(depth, far, rate, number, overlap, near, crowd, plan.reach) for depth in depths]
