"""The domains of a model on a machine: how a run is cut, what each domain costs, and where it is computed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from nearfield.entry.errors import ModelError
from nearfield.entry.triples import Triple
from nearfield.machine.hardware import Hardware, load
from nearfield.machine.placement import crowding, default_scheme, host_names, shares, unit_of
from nearfield.machine.profile import Profile, load_profile
from nearfield.model_file import load as load_model
from nearfield.parallel.decomposition import Decomposition, decompositions, parse_domains
from nearfield.parallel.halo_depth import Crew, Tiles, cheapest, depths_for
from nearfield.parallel.speeds import parsed_speeds, relative
from nearfield.parallel.weights import HaloCost, Weights
from nearfield.plan.boxes import indices
from nearfield.plan.plan import Plan


@dataclass(frozen=True)
class Cluster:
    """Hosts, what each rank gets of them, and the threads of a rank."""

    topology: str | None = None
    nodes: int = 1
    bind: str | None = None
    hosts: str | None = None
    threads: int | None = None


@dataclass(frozen=True)
class Request(Cluster):
    """A model to be placed on a cluster, and how it is to be cut."""

    model: Path = Path()
    domains: str | None = None
    ranks: int | None = None
    profile: Path | None = None
    depth: int | None = None
    speeds: str | None = None  # of the ranks
    set: Mapping[str, Any] | None = None  # values of the model's parameters


@dataclass(frozen=True)
class Machine:
    """Hardware, hosts and scheme of a run, and what each rank gets."""

    hardware: Hardware
    hosts: tuple[str, ...]
    scheme: str
    ranks: int
    threads: int  # of a rank
    described: bool  # the user names hosts or a scheme

    @property
    def ranks_a_host(self) -> int:
        """Ranks of the fullest host."""
        return -(-self.ranks // len(self.hosts))

    def crowding(self) -> list[str]:
        """A warning where the threads of a unit's ranks outnumber its cores."""
        sharing = math.ceil(self.ranks_a_host / len(self.hardware.units(self.scheme)))
        return crowding(self.hardware, unit_of(self.hardware, self.scheme, 0), self.threads * sharing)

    @classmethod
    def of(cls, request: Request) -> Machine:
        """One rank a unit of the topology, where no number is given; without a topology one rank on this machine."""
        hardware = load(request.topology)
        scheme = request.bind or default_scheme(hardware)[0]
        units = hardware.units(scheme)
        hosts = host_names(request.nodes, request.hosts)
        described = request.topology is not None or request.bind is not None or request.nodes > 1
        ranks = request.ranks if request.ranks is not None else len(units) * len(hosts) if described else 1
        for name, number in (("ranks", ranks), ("threads", request.threads or 1), ("depth", request.depth or 1)):
            if number < 1:
                raise ModelError(f"--{name} {number}: give 1 or more")
        users = math.ceil(math.ceil(ranks / len(hosts)) / len(units))  # ranks that share a unit
        threads = request.threads or max(1, len(units[0].cores) // users)
        return cls(hardware, hosts, scheme, ranks, threads, described)


@dataclass(frozen=True, eq=False)
class Placing:
    """The domains of a model on a machine, and the decompositions that were compared."""

    plan: Plan
    weights: Weights
    machine: Machine
    profile: Profile
    halo: HaloCost
    domains: int | Triple  # in all, or along x, y, z
    depth_given: bool
    decompositions: list[Decomposition]  # the best first
    speeds: list[float] | None = None  # of the ranks over their mean, where they are unequal

    @property
    def best(self) -> Decomposition:
        return self.decompositions[0]


def place_domains(request: Request) -> Placing:
    """The best decompositions; a domain for each NUMA node of each rank's unit, where no number is given."""
    machine, profile = Machine.of(request), load_profile(request.profile)
    plan = load_model(request.model, request.set)._setup().plan
    nodes = max(len(unit.numa) for unit in machine.hardware.units(machine.scheme))
    spread = min(nodes, machine.threads) if machine.scheme != "none" else 1
    domains = parse_domains(request.domains if request.domains is not None else machine.ranks * max(1, spread))
    weights = Weights.of(plan)
    depths = depths_for(plan, request.depth) if request.depth or machine.ranks > 1 else [plan.reach]
    crew = Crew(len(machine.hosts), len(machine.hardware.numa), machine.threads, machine.ranks, domains)
    halos = crew.halo_costs(plan, depths, profile)
    tiles = Tiles.on(plan, machine.hardware, machine.threads)
    halo = cheapest(weights, domains, machine.ranks, halos, tiles)
    given = parsed_speeds(request.speeds, machine.ranks)
    speeds = given and relative(given)
    found = decompositions(weights, domains, machine.ranks, speeds, halo)
    return Placing(plan, weights, machine, profile, halo, domains, request.depth is not None, found, speeds)


@dataclass(frozen=True)
class DomainPlace:
    """One domain: its box and cost, and the rank, host, NUMA nodes and cores that compute it."""

    domain: int
    rank: int
    lower: Triple
    upper: Triple
    cells: int
    cost: float
    relative_cost: float  # to the mean
    host: str
    numa: tuple[int, ...]
    cores: tuple[int, ...]


def domain_places(placing: Placing, most: int | None = None) -> list[DomainPlace]:
    """The first domains, or all."""
    best, machine, places = placing.best, placing.machine, []
    for number, index in enumerate(islice(indices(best.arrangement.counts), most)):
        rank, cost = best.grouping.rank_of(index), float(best.costs[index])
        box, own = best.arrangement.box(index), best.grouping.domains_of(rank)
        host, local = divmod(rank, machine.ranks_a_host)
        unit = unit_of(machine.hardware, machine.scheme, local)
        cores = shares(machine.hardware, unit, len(own))[own.index(index)]
        numa = tuple(sorted({machine.hardware.cores[core].numa for core in cores}))
        relative = float(best.costs[index] / best.costs.mean())
        home = (machine.hosts[host], numa, cores)
        places.append(DomainPlace(number, rank, box.lower, box.upper, box.size, cost, relative, *home))
    return places
