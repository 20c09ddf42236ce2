"""Figs. 5, 6, 7, 11 and 12 of Zhao, Chen and Yu (docs/literature.md), predicted for their cluster from stated inputs.

Inputs, how each is known, and the few published points are in zhao_chen_yu.json. One number, the rate of the update, is
calibrated to one point; everything else follows. Their code exchanges one layer every step and hides nothing.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from nearfield.entry.triples import triple
from nearfield.machine.hardware import Hardware, Unit, from_synthetic
from nearfield.machine.profile import Profile, profile_of
from nearfield.parallel.weights import Weights
from nearfield.predict.prediction import BLOCKING, even, predict
from nearfield.predict.step_time import Cluster, Job, Prediction, place

DATA = Path(__file__).with_name("zhao_chen_yu.json")
BOUND = {"socket": "bound to CPUs", "node": "bound to nodes", "core": "bound to cores"}
ANTENNA_HOSTS = {"11": 4, "12": 18}  # of each figure
AGREES = 0.1  # a prediction further off is explained
MINUTE = 60.0


@dataclass(frozen=True)
class Curve:
    """One line of a figure: Mcells/s or minutes over processes or nodes."""

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]


@dataclass(frozen=True)
class Point:
    """A published number beside its prediction; `why` where they disagree."""

    figure: str
    what: str
    hosts: int
    unit: str
    published: float
    predicted: float
    why: str

    @property
    def ratio(self) -> float:
        """Predicted over published."""
        return self.predicted / self.published


@dataclass(frozen=True)
class Paper:
    """The cluster of the paper and its two cases."""

    data: dict[str, Any]
    hardware: Hardware
    profile: Profile

    @classmethod
    def load(cls) -> Paper:
        """The inputs as the data file states them."""
        data = json.loads(DATA.read_text(encoding="utf-8"))
        return cls(data, from_synthetic(data["hardware"]), profile_of(data["profile"], DATA.name))

    def job(self, case: str = "box", cells: Sequence[int] | None = None) -> Job:
        """The hollow box or the antenna; rows cost nothing to begin, since nothing is known of their code."""
        cells = triple(cells or self.data[case]["cells"])
        return Job(replace(Weights.uniform(cells), row=0.0), math.prod(cells))

    def step(
        self,
        scheme: str,
        hosts: int,
        memory: str = "first-touch",
        case: str = "box",
        cells: Sequence[int] | None = None,
        units: Sequence[Unit] | None = None,
    ) -> Prediction:
        """One step: slabs across the case's axis, a rank a unit."""
        job, cluster = self.job(case, cells), Cluster(self.hardware, hosts, self.profile)
        placed = place(cluster, scheme, memory, units)
        along, ranks = self.data[case]["axis"], len(placed.speeds) * hosts
        counts = triple(ranks if axis == along else 1 for axis in range(3))
        return predict(job, cluster, placed, BLOCKING, [even(job.shape, counts)])

    def minutes(self, found: Prediction) -> float:
        """Time of all steps of the antenna."""
        return float(found.step * self.data["antenna"]["steps"] / MINUTE)

    def points(self) -> list[Point]:
        """Every published number with its prediction, and the reason where they are more than 10 % apart."""
        found = []
        for given in self.data["published"]:
            case = given.get("case", "box")
            step = self.step(given["scheme"], given["hosts"], given.get("memory", "first-touch"), case)
            timed = "minutes" in given
            predicted = self.minutes(step) if timed else step.mcells_per_second
            published = given["minutes"] if timed else given["value"]
            why = given["why"] if abs(predicted / published - 1) > AGREES else ""
            where = (given["figure"], given["what"], given["hosts"], "min" if timed else "Mcells/s")
            found.append(Point(*where, published, predicted, why))
        return found

    def efficiencies(self) -> tuple[float, float]:
        """Parallel efficiency of the antenna from 4 to 18 nodes: by the published times, and predicted."""
        few, many = (point for point in self.points() if point.unit == "min")
        gain = few.hosts / many.hosts
        return few.published / many.published * gain, few.predicted / many.predicted * gain

    def one_node(self) -> Curve:
        """Fig. 5: so many single-threaded processes on one node, in turn on its two CPUs."""
        cores = [core for pair in zip(*(unit.cores for unit in self.hardware.packages())) for core in pair]
        units = [Unit((core,), (self.hardware.cores[core].numa,)) for core in cores]
        counts = range(1, 2 * len(units) + 1)
        in_turn = ([units[n % len(units)] for n in range(count)] for count in counts)
        rates = [self.step("core", 1, units=some).mcells_per_second for some in in_turn]
        return Curve("a thread a process", tuple(map(float, counts)), tuple(rates))

    def over_nodes(self, label: str, scheme: str, memory: str = "first-touch") -> Curve:
        """The box on 1 to 18 nodes."""
        hosts = range(1, self.data["hosts"] + 1)
        rates = tuple(self.step(scheme, n, memory).mcells_per_second for n in hosts)
        return Curve(label, tuple(map(float, hosts)), rates)

    def binding(self) -> list[Curve]:
        """Fig. 6; ranks bound to a node find half of their pages on the other CPU, as the figure's points assume."""
        return [self.over_nodes(label, scheme, "off") for scheme, label in BOUND.items()]

    def policy(self) -> list[Curve]:
        """Fig. 7, and all pages on one CPU of each node, which is what remains below."""
        without = self.over_nodes("without: half the pages remote", "none", "off")
        return [
            self.over_nodes("with NUMA policy", "socket"),
            without,
            Curve("without: all pages on one CPU", without.x, tuple(self.one_memory(int(n)) for n in without.x)),
        ]

    def one_memory(self, hosts: int) -> float:
        """Mcells/s where one CPU's memory serves all cores of a node: one CPU's rate, its own halo."""
        step = self.step("none", hosts, "off")
        compute = self.job().cells / hosts * step.imbalance / (self.profile.rates().numa * 1e6)
        return self.job().cells / (compute + step.waiting) / 1e6

    def antenna(self, hosts: int) -> dict[str, tuple[Prediction, Prediction]]:
        """Figs. 11 and 12: each binding with and without the policy, on as many ranks.

        The policy is a process's: it cannot tell threads of a rank apart that spans both CPUs, so ranks bound to nodes
        find half of their pages on the other CPU with it too, as in Fig. 6.
        """
        found = {}
        for scheme in BOUND:
            policy = "off" if scheme == "node" else "first-touch"
            units = self.hardware.units(scheme)
            without = self.step("none", hosts, "off", "antenna", units=units)
            found[scheme] = (self.step(scheme, hosts, policy, "antenna"), without)
        return found

    def antenna_rows(self) -> list[dict[str, Any]]:
        """The bars of Figs. 11 and 12: Mcells/s and minutes of every binding, with and without the policy."""
        return [
            {
                "figure": figure,
                "hosts": hosts,
                "bind": scheme,
                "ranks": pair[0].ranks,
                "policy": policy,
                "mcells_per_second": step.mcells_per_second,
                "minutes": self.minutes(step),
            }
            for figure, hosts in ANTENNA_HOSTS.items()
            for scheme, pair in self.antenna(hosts).items()
            for policy, step in zip((True, False), pair)
        ]

    def readings(self) -> list[tuple[str, float]]:
        """Rate of cores over CPUs on 18 nodes for other boxes than the assumed one: what the paper leaves open."""
        hosts, found = self.data["hosts"], []
        for side in (200, 300, 400, 500, 600, 700):
            core, cpu = (self.step(scheme, hosts, cells=(side,) * 3) for scheme in ("core", "socket"))
            found.append((f"slabs of {side}^3", core.mcells_per_second / cpu.mcells_per_second))
        cluster, job = Cluster(self.hardware, hosts, self.profile), self.job()
        core, cpu = (predict(job, cluster, place(cluster, scheme), BLOCKING) for scheme in ("core", "socket"))
        return [*found, ("boxes of 500^3, cut along two or three axes", core.mcells_per_second / cpu.mcells_per_second)]
