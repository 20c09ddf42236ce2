"""Binding schemes x ranks x threads on the empty box and an antenna: each point a process of its own, all in turn."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from nearfield.entry.errors import ModelError, RunFailed
from nearfield.machine.facts import machine_facts
from nearfield.machine.hardware import SCHEMES, Hardware, Unit
from nearfield.machine.placement import memory_policy
from nearfield.machine.profile import Profile
from nearfield.machine.teams import team_of
from nearfield.parallel.decomposition import decompositions
from nearfield.predict.prediction import LAYER, even, predict
from nearfield.predict.step_time import Cluster, Exchange, Job, place

ANTENNA = Path(str(resources.files("nearfield").joinpath("templates", "patch.toml")))
SECONDS = 600  # for one run


@dataclass(frozen=True)
class Case:
    """What is advanced: the arguments of `nearfield bench` that name it, and what its samples cost."""

    name: str
    arguments: tuple[str, ...]
    job: Job


@dataclass(frozen=True)
class Point:
    """One way to run a case."""

    case: Case
    scheme: str
    ranks: int
    threads: int  # of a rank

    def command(self) -> list[str]:
        """As a user would start it."""
        spread = ["--bind", self.scheme, "--ranks", str(self.ranks), "--threads", str(self.threads)]
        return [sys.executable, "-m", "nearfield", "bench", *self.case.arguments, *spread, "--json"]


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
    """The schemes that the machine has, each with those coarser ones whose units are the same ones and which it stands
    for; those that are wanted stand for themselves.
    """
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
    ranks: Sequence[int] | None,
    threads: Sequence[int] | None,
) -> list[Point]:
    """Every combination; threads that are left out are one a rank, and as many as fill the cores."""
    found = []
    for case in cases:
        for scheme in schemes:
            for count in ranks or rank_counts(cores):
                each = threads or sorted({1, max(1, cores // count)})
                found += [Point(case, scheme, count, number) for number in each]
    return found


def measure(points: Sequence[Point], rounds: int, tell: Callable[[str], None] = lambda text: None) -> list[list[dict]]:
    """What the runs of each point said, the points in turn; a point that is refused is not tried again."""
    found: list[list[dict]] = [[] for _ in points]
    for number in range(rounds):
        for point, said in zip(points, found):
            if not said or "error" not in said[0]:
                said.append(run(point))
        tell(f"round {number + 1} of {rounds} done")
    return found


def run(point: Point) -> dict:
    """What one run printed; its `error` where it was refused. Error: it failed otherwise."""
    line = point.command()
    done = subprocess.run(line, capture_output=True, text=True, timeout=SECONDS, check=False)
    answer = json.loads(done.stdout) if done.stdout.startswith("{") else {}
    if done.returncode not in (0, 2) or not answer:
        last = done.stderr.strip().splitlines()[-1:] or ["no output"]
        raise RunFailed(f"`{' '.join(line)}` failed ({done.returncode}): {last[0]}")
    return answer


def row(point: Point, said: Sequence[dict], hardware: Hardware, profile: Profile) -> dict[str, Any]:
    """One line of the table: rates (Mcells/s) of all rounds, and what was predicted of what ran."""
    found: dict[str, Any] = {
        "case": point.case.name,
        "bind": point.scheme,
        "ranks": point.ranks,
        "threads": point.threads,
    }
    if "error" in said[0]:
        return found | {"refused": said[0]["error"]}
    rates = [each["mcells_per_second"] for each in said]
    median, predicted = statistics.median(rates), rate_predicted(point, said[0], Cluster(hardware, 1, profile))
    return found | {
        "mcells_per_second": median,
        "lowest": min(rates),
        "highest": max(rates),
        "rates": rates,
        "predicted_mcells_per_second": predicted,
        "predicted_over_measured": predicted / median if predicted else None,
        **{
            name: said[0][name]
            for name in (
                "cells",
                "steps",
                "domains",
                "rank_arrangement",
                "halo_depth",
                "imbalance",
                "warnings",
                "checksum",
            )
        },
    }


def rate_predicted(point: Point, said: dict, cluster: Cluster) -> float | None:
    """Mcells/s by the model of the step, for the boxes and halos that ran; None where it cannot be said."""
    job, depth, counts = point.case.job, max(1, said["halo_depth"]), tuple(said["rank_arrangement"])
    try:
        placed = place(cluster, point.scheme, memory_policy(point.scheme), units_of(point, cluster.hardware))
        cut = decompositions(job.weights, point.ranks, point.ranks)  # as the run is, which takes ranks for equally fast
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
    points: Sequence[Point],
    same: dict[str, list[str]],
    rounds: int,
    hardware: Hardware,
    profile: Profile,
    tell: Callable[[str], None],
) -> dict[str, Any]:
    """All points as `nearfield bench scaling --json` prints them; `checksums_agree`: one checksum for each case."""
    rows = [row(point, said, hardware, profile) for point, said in zip(points, measure(points, rounds, tell))]
    checksums = {(each["case"], each["checksum"]) for each in rows if "checksum" in each}
    names = list(dict.fromkeys(each["case"] for each in rows))
    return {
        "cases": {point.case.name: " ".join(point.case.arguments) for point in points},
        "rounds": rounds,
        "schemes": same,
        "cores": len(hardware.cores),
        "profile": profile.name,
        "assumptions": profile.assumptions(),
        "points": rows,
        "checksums_agree": len(checksums) <= len(names),
        "machine": machine_facts(),
    }
