"""`nearfield place MODEL`: the domains that a run is cut into, what each costs, what ranks exchange, and why so."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nearfield.commands.console import console
from nearfield.entry.errors import ModelError
from nearfield.entry.triples import Triple
from nearfield.machine.hardware import Hardware, load
from nearfield.machine.placement import crowding, default_scheme, host_names, shares, unit_of
from nearfield.machine.profile import Profile, load_profile
from nearfield.model_file import load as load_model
from nearfield.parallel.decomposition import Decomposition, decompositions, parse_domains
from nearfield.parallel.halo_depth import Tiles, cheapest, depths_for, halo_costs
from nearfield.parallel.halo_sizes import HaloSize, halo_sizes
from nearfield.parallel.weights import HaloCost, Weights
from nearfield.plan.boxes import indices
from nearfield.plan.plan import Plan
from nearfield.plan.sizes import BYTES_OF


@dataclass(frozen=True)
class Request:
    """What was asked for."""

    model: Path
    domains: str | None = None
    ranks: int | None = None
    threads: int | None = None  # of a rank
    topology: str | None = None
    nodes: int = 1
    bind: str | None = None
    hosts: str | None = None
    profile: Path | None = None
    depth: int | None = None


@dataclass(frozen=True)
class Machine:
    """Where the run is to go: hardware, hosts, scheme, and what each rank gets."""

    hardware: Hardware
    hosts: tuple[str, ...]
    scheme: str
    ranks: int
    threads: int  # of a rank
    described: bool  # a place was asked for

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
    """The domains of a model on a machine, and what else was weighed."""

    plan: Plan
    weights: Weights
    machine: Machine
    halo: HaloCost
    wanted: int | Triple
    depth_given: bool
    found: list[Decomposition]  # the best first

    @property
    def best(self) -> Decomposition:
        """What a run would take."""
        return self.found[0]


def place_model(request: Request, as_json: bool = False) -> int:
    """Print the domains of a model. Error: the model is refused, or cannot be cut so."""
    from nearfield.commands.place_text import readable, warnings

    with console(as_json) as out:
        machine, profile = Machine.of(request), load_profile(request.profile)
        placing = placed(load_model(request.model)._setup().plan, machine, profile, request)
        sizes = halo_sizes(placing.plan, placing.best, placing.halo.depth)
        out.answer(answer(request, placing, sizes))
        if not as_json:
            out.say(readable(request, placing, sizes))
        for warning in warnings(placing, sizes):
            out.note(f"warning: {warning}")
        for framed in machine.crowding():
            out.note(framed)
    return 0


def placed(plan: Plan, machine: Machine, profile: Profile, request: Request) -> Placing:
    """The best decompositions; a domain for each NUMA node of each rank's unit, where no number is given."""
    nodes = max(len(unit.numa) for unit in machine.hardware.units(machine.scheme))
    spread = min(nodes, machine.threads) if machine.scheme != "none" else 1
    domains = parse_domains(request.domains if request.domains is not None else machine.ranks * max(1, spread))
    weights = Weights.of(plan)
    depths = depths_for(plan, request.depth) if request.depth or machine.ranks > 1 else [plan.reach]
    halos = halo_costs(
        depths,
        profile,
        len(machine.hosts),
        len(machine.hardware.numa),
        machine.threads,
        machine.ranks,
        domains,
        BYTES_OF[plan.precision],
        reach=plan.reach,
    )
    tiles = Tiles.on(plan, machine.hardware, machine.threads)
    halo = cheapest(weights, domains, machine.ranks, halos, tiles)
    found = decompositions(weights, domains, machine.ranks, halo=halo)
    return Placing(plan, weights, machine, halo, domains, request.depth is not None, found)


def answer(request: Request, placing: Placing, sizes: list[HaloSize]) -> dict[str, Any]:
    """The JSON object."""
    from nearfield.commands.place_text import warnings, why

    best, machine = placing.best, placing.machine
    domains = []
    for number, index in enumerate(indices(best.arrangement.counts)):
        box, rank = best.arrangement.box(index), best.grouping.rank_of(index)
        domains.append(
            {
                "domain": number,
                "rank": rank,
                "lower": box.lower,
                "upper": box.upper,
                "cells": box.size,
                "cost": float(best.costs[index]),
                "relative_cost": float(best.costs[index] / best.costs.mean()),
                **home(machine, rank, best.grouping.domains_of(rank).index(index), len(best.grouping.domains_of(rank))),
            }
        )
    return {
        "model": str(request.model),
        "samples": placing.plan.active,
        "hardware": machine.hardware.name,
        "simulated": machine.hardware.simulated,
        "nodes": len(machine.hosts),
        "bind": machine.scheme,
        "ranks": machine.ranks,
        "threads": machine.threads,
        "domains": domains,
        "arrangement": best.arrangement.counts,
        "cuts": best.arrangement.cuts,
        "rank_arrangement": best.grouping.ranks,
        "unit_axis": "xyz"[placing.plan.unit_axis],
        "imbalance": best.imbalance,
        "depth": placing.halo.depth,
        "halo_bytes": sum(size.bytes_per_step for size in sizes),
        "halos": [size.as_dict() for size in sizes],
        "why": "; ".join(why(placing)),
        "warnings": [*warnings(placing, sizes), *machine.crowding()],
    }


def home(machine: Machine, rank: int, domain: int, domains: int) -> dict[str, Any]:
    """The host, the NUMA nodes and the cores of a rank's domain, known by its number within the rank."""
    host, local = divmod(rank, machine.ranks_a_host)
    unit = unit_of(machine.hardware, machine.scheme, local)
    cores = shares(machine.hardware, unit, domains)[domain]
    numa = tuple(sorted({machine.hardware.cores[core].numa for core in cores}))
    return {"host": machine.hosts[host], "numa": numa, "cores": cores}
