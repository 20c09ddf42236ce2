"""Hosts x binding x memory policy x ranks x threads on a box and an antenna: each point by itself, all in turn."""

from __future__ import annotations

import itertools
import os
import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from nearfield.entry.errors import ModelError
from nearfield.machine.facts import measured_by
from nearfield.machine.hardware import SCHEMES, Hardware, Unit
from nearfield.machine.placement import memory_policy
from nearfield.machine.profile import Profile
from nearfield.machine.teams import team_of
from nearfield.measure.probe_stream import doubling
from nearfield.measure.workers import answer
from nearfield.parallel.decomposition import decompositions
from nearfield.parallel.launch import command_on, launcher
from nearfield.predict.prediction import LAYER, even, predict
from nearfield.predict.step_time import Cluster, Exchange, Job, place

ANTENNA = Path(str(resources.files("nearfield").joinpath("templates", "patch.toml")))
SECONDS = 600  # for one run
REPORTED = "cells steps domains rank_arrangement halo_depth imbalance warnings checksum".split()
Counts = Sequence[int] | None
Tell = Callable[[str], None]


@dataclass(frozen=True)
class Case:
    """A model to advance: the arguments of `nearfield bench` that name it, and the cost of its samples."""

    name: str
    arguments: tuple[str, ...]
    job: Job


@dataclass(frozen=True)
class Point:
    """One way to run a case."""

    case: Case
    scheme: str
    ranks: int  # on each host
    threads: int  # in each rank
    memory: str | None = None  # policy; None: the one that goes with the scheme
    hosts: tuple[str, ...] = ()  # none: this machine, without a launcher's hosts

    def arguments(self) -> list[str]:
        """Those of the command line that a user would give, but for the ranks."""
        memory = [] if self.memory is None else ["--memory", self.memory]
        how = ["--bind", self.scheme, *memory, "--threads", str(self.threads), "--json"]
        return ["bench", *self.case.arguments, *how]

    def command(self) -> tuple[list[str], dict[str, str]]:
        """The whole command line, and the environment variables it needs."""
        if self.hosts:
            return command_on(self.hosts, self.ranks, self.arguments(), launcher())
        return [sys.executable, "-m", "nearfield", *self.arguments(), "--ranks", str(self.ranks)], {}


def cases(names: Sequence[str], cells: int, steps: int, model: Path, hardware: Hardware) -> list[Case]:
    """The cases of these names. The antenna makes as many cell updates as the box. Error: a name that is none."""
    from nearfield.measure.bench import box
    from nearfield.model_file import load
    from nearfield.predict.prediction import job_of_plan

    if unknown := [name for name in names if name not in ("box", "antenna")]:
        raise ModelError(f"case '{unknown[0]}' is unknown; allowed: box, antenna")
    found = []
    for name in dict.fromkeys(names):
        simulation = box(cells, 1) if name == "box" else load(model)
        job = job_of_plan(simulation._setup().plan, hardware)
        count = steps if name == "box" else max(1, round(steps * cells**3 / job.cells))
        what = ("box", "--cells", str(cells)) if name == "box" else ("model", str(model))
        found.append(Case(name, (*what, "--steps", str(count)), job))
    return found


def schemes_of(hardware: Hardware, wanted: Sequence[str] | None = None) -> dict[str, list[str]]:
    """The schemes that the machine has, each with the finer ones that have the same units; wanted ones stand alone."""
    if wanted:
        for scheme in wanted:
            hardware.units(scheme)
        return {scheme: [scheme] for scheme in wanted}
    found: dict[str, list[str]] = {}
    by_units: dict[tuple[Unit, ...], str] = {}
    for scheme in SCHEMES:
        if scheme == "l3" and any(core.l3 < 0 for core in hardware.cores):
            continue
        first = scheme if scheme == "none" else by_units.setdefault(hardware.units(scheme), scheme)
        found.setdefault(first, []).append(scheme)
    return found


def rank_counts(cores: int) -> list[int]:
    """Numbers of ranks on one machine: 1, 2, 4, ... and 3, 6, ..., which split unevenly; and one more than cores."""
    powers = [2**power for power in range(cores.bit_length())]
    return sorted({count for power in powers for count in (power, 3 * power) if count <= cores} | {cores, cores + 1})


def points(
    cases: Sequence[Case],
    schemes: Sequence[str],
    cores: int,
    ranks: Counts = None,
    threads: Counts = None,
    policies: Sequence[str | None] = (None,),
    hosts: Sequence[str] = (),
) -> list[Point]:
    """Every combination; threads that are left out are one a rank, and as many as fill the cores.

    With hosts, the first one, two, four, ... and all of them.
    """
    counts = [tuple(hosts[:count]) for count in doubling(len(hosts))] if hosts else [()]
    return [
        Point(case, scheme, count, number, policy, some)
        for case, some, scheme, policy, count in itertools.product(
            cases, counts, schemes, policies, ranks or rank_counts(cores)
        )
        for number in threads or sorted({1, max(1, cores // count)})
    ]


def measure(points: Sequence[Point], rounds: int, tell: Tell = lambda text: None) -> list[list[dict[str, Any]]]:
    """Answers of the runs of each point, the points in turn; a point that is refused is not tried again."""
    found: list[list[dict[str, Any]]] = [[] for _ in points]
    for number in range(rounds):
        for point, said in zip(points, found):
            if not said or "error" not in said[0]:
                said.append(run(point))
        tell(f"round {number + 1} of {rounds} done")
    return found


def run(point: Point) -> dict[str, Any]:
    """The answer of one run; its `error` where it was refused. Error: it failed otherwise."""
    line, needed = point.command()
    return answer(line, SECONDS, allowed=(0, 2), variables=os.environ | needed)


def row(point: Point, said: Sequence[dict[str, Any]], hardware: Hardware, profile: Profile) -> dict[str, Any]:
    """One line of the table: rates (Mcells/s) of all rounds, and what was predicted of what ran."""
    found: dict[str, Any] = {"case": point.case.name, "bind": point.scheme, "hosts": len(point.hosts) or 1}
    found |= {"memory": point.memory or memory_policy(point.scheme), "ranks": point.ranks, "threads": point.threads}
    if "error" in said[0]:
        return found | {"refused": said[0]["error"]}
    rates = [each["mcells_per_second"] for each in said]
    median, predicted = statistics.median(rates), rate_predicted(point, said[0], cluster_of(point, hardware, profile))
    found |= {"mcells_per_second": median, "lowest": min(rates), "highest": max(rates), "rates": rates}
    found["minutes"] = said[0]["cells"] * said[0]["steps"] / (median * 1e6) / 60
    ratio = predicted / median if predicted else None
    found |= {"predicted_mcells_per_second": predicted, "predicted_over_measured": ratio}
    found["locality_share"] = lowest_share(said[0]["placement"])
    return found | {name: said[0][name] for name in REPORTED}


def lowest_share(placement: Sequence[dict[str, Any]]) -> float | None:
    """The share of a rank's pages on the node of the thread that updates them, lowest of all ranks; None: unknown."""
    shares = [each["memory"]["locality_share"] for each in placement]
    return None if None in shares else min(shares)


def cluster_of(point: Point, hardware: Hardware, profile: Profile) -> Cluster:
    """The hosts of a point, all alike."""
    return Cluster(hardware, len(point.hosts) or 1, profile)


def rate_predicted(point: Point, said: dict[str, Any], cluster: Cluster) -> float | None:
    """Mcells/s by the model of the step, for the boxes and halos that ran; None where it cannot be said."""
    job, depth, counts = point.case.job, max(1, said["halo_depth"]), tuple(said["rank_arrangement"])
    try:
        memory, ranks = point.memory or memory_policy(point.scheme), point.ranks * cluster.hosts
        placed = place(cluster, point.scheme, memory, units_of(point, cluster.hardware))
        cut = decompositions(job.weights, ranks, ranks)  # as the run is, which takes ranks for equally fast
        balanced = [each.arrangement for each in cut if each.arrangement.counts == counts]
        exchange = LAYER if depth == 1 else Exchange("deep", depth)
        return predict(job, cluster, placed, exchange, balanced or [even(job.shape, counts)]).mcells_per_second
    except ModelError:
        return None


def units_of(point: Point, hardware: Hardware) -> list[Unit]:
    """The cores that the threads of each rank run on, as binding gives them; no more of them than threads."""
    owner = {processor: core.index for core in hardware.cores for processor in core.processors}
    found = []
    for rank in range(point.ranks):
        team = team_of(hardware, point.scheme, point.scheme, point.ranks, rank, point.threads, None)
        bound = {owner[processor] for mine in team.processors for processor in mine}
        nodes = {hardware.cores[core].numa for core in team.cores}
        found.append(Unit(tuple(sorted(bound or team.cores))[: point.threads], tuple(sorted(nodes))))
    return found


def bench_scaling(
    points: Sequence[Point], same: dict[str, list[str]], rounds: int, hardware: Hardware, profile: Profile, tell: Tell
) -> dict[str, Any]:
    """All points as `nearfield bench scaling --json` prints them; `checksums_agree`: one checksum for each case."""
    rows = [row(point, said, hardware, profile) for point, said in zip(points, measure(points, rounds, tell))]
    checksums = {(each["case"], each["checksum"]) for each in rows if "checksum" in each}
    return {
        **measured_by(),
        "cases": {point.case.name: " ".join(point.case.arguments) for point in points},
        **{"rounds": rounds, "schemes": same, "cores": len(hardware.cores)},
        **{"profile": profile.name, "assumptions": profile.assumptions()},
        "points": rows,
        "checksums_agree": len(checksums) <= len({each["case"] for each in rows}),
    }
