"""Hosts behind Gigabit links, emulated on this machine: what each kind of halo leaves of the rate, and predicted.

    .venv/bin/python benchmarks/cluster.py          as root (scripts/make_believe_cluster)

One rank of one thread a host. Efficiency is the rate over the sum of the rates of one rank alone on each host, all at
once: the same load, no messages. A host has one processor of this machine, in turn; beyond its processors hosts share
them. Predictions are nearfield.predict.step_time's, from the rate alone, the link and what it costs the processor as
measured, and the cost model of tiles; nothing is fitted. What moving bytes costs is measured with a processor for each
of two hosts; where hosts share one it takes as many times longer. `--again` predicts anew from the stored result.
"""

from __future__ import annotations

import json
import math
import os
import statistics
import sys
from argparse import Namespace
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from machine import ROOT, commit, said_on_hosts
from paired import parser, write

from nearfield.entry.errors import ModelError
from nearfield.entry.whole_file import write_whole
from nearfield.machine.hardware import from_synthetic
from nearfield.machine.profile import Link, Profile, Rates
from nearfield.measure.bench import box
from nearfield.measure.probe_mpi import fit, launcher
from nearfield.pictures.style import COLOURS, INK, blank, headline, png_bytes, styled
from nearfield.predict.prediction import even, job_of_plan, predict
from nearfield.predict.step_time import Cluster, Exchange, place

NEARFIELD = [sys.executable, "-m", "nearfield", "bench", "box", "--threads", "1", "--json"]
DEPTH = 8
KINDS = {
    "deep, overlapped": ("split", Exchange("deep", DEPTH)),
    "one layer, overlapped": ("split", Exchange("layer", 1)),
    "one layer, blocking": ("blocking", Exchange("blocking", 1, overlap=False)),
    "deep, not overlapped": ("none", Exchange("deep", DEPTH, overlap=False)),
}
LEAST_STEPS = 4 * DEPTH


def link_between(rate: str) -> dict[str, float]:
    """Latency (s) of short messages and bandwidths (B/s) of long ones, one way and each way at once."""
    line = [str(launcher()), "-n", "2", sys.executable, "-m", "nearfield.measure.probe_messages", "--quick"]
    (pair,) = json.loads(said_on_hosts(2, rate, line))["pairs"]
    rows, last = pair["sizes"], pair["sizes"][-1]
    found = fit([row["bytes"] for row in rows], [row["latency"]["min"] for row in rows])
    return {
        "latency": found["latency"],
        "one_way": last["bandwidth"]["median"],
        "busy": pair["busy"]["median"],
        "each_way_at_once": last["bidirectional"]["median"] / 2,
    }


def alone(hosts: int, cells: int, steps: int, rate: str) -> tuple[float, str]:
    """Mean Mcells/s of one rank alone on every host, all at once, and the checksum."""
    run = " ".join([*NEARFIELD, "--cells", str(cells), "--steps", str(steps)])
    start = " ".join(f'"$CLUSTER_RSH" host{n} {run} & all="$all $!";' for n in range(1, hosts + 1))
    script = f"{start} for one in $all; do wait $one || exit 1; done"
    found = [json.loads(line) for line in said_on_hosts(hosts, rate, ["bash", "-c", script]).splitlines()]
    return statistics.mean(each["mcells_per_second"] for each in found), found[0]["checksum"]


def together(hosts: int, cells: int, steps: int, kind: str, rate: str) -> dict[str, Any]:
    """What `bench box` said on all hosts together."""
    overlap, exchange = KINDS[kind]
    spread = ["--ranks", str(hosts), "--halo-depth", str(exchange.depth), "--overlap", overlap]
    return json.loads(said_on_hosts(hosts, rate, [*NEARFIELD, "--cells", str(cells), "--steps", str(steps), *spread]))


def compare(hosts: int, cells: int, given: Namespace, link: dict[str, float]) -> dict[str, Any]:
    """One size on so many hosts: every kind of halo in turn with one rank alone."""
    steps = max(LEAST_STEPS, round(given.work / cells**3 / LEAST_STEPS) * LEAST_STEPS)
    rounds = []
    for _ in range(given.pairs):
        reference = alone(hosts, cells, steps, given.rate)
        rounds.append((reference, {kind: together(hosts, cells, steps, kind, given.rate) for kind in KINDS}))
    single = statistics.median(reference[0] for reference, _ in rounds)
    kinds = []
    for kind, (_, exchange) in KINDS.items():
        runs = [found[kind] for _, found in rounds]
        shares = sorted(run["mcells_per_second"] / hosts / reference[0] for run, (reference, _) in zip(runs, rounds))
        rate = predicted(hosts, cells, exchange, runs[0]["rank_arrangement"], single, shared(link, hosts))
        kinds.append(
            {
                "kind": kind,
                "halo_depth": exchange.depth,
                "boxes": runs[0]["rank_arrangement"],
                "rates": [round(run["mcells_per_second"], 1) for run in runs],
                "efficiency": statistics.median(shares),
                "lowest": shares[0],
                "highest": shares[-1],
                "predicted_efficiency": rate / hosts / single,
            }
        )
        print(
            f"{hosts} hosts {cells}^3 {kind:22} {kinds[-1]['efficiency']:.2f} ({shares[0]:.2f} to {shares[-1]:.2f}), "
            f"predicted {kinds[-1]['predicted_efficiency']:.2f}",
            flush=True,
        )
    checksums = {reference[1] for reference, _ in rounds} | {run["checksum"] for _, f in rounds for run in f.values()}
    return {
        "hosts": hosts,
        "cells": cells,
        "steps": steps,
        "alone_mcells_per_second": single,
        "kinds": kinds,
        "checksums": sorted(checksums),
    }


def shared(link: dict[str, float], hosts: int, processors: int | None = None) -> dict[str, float]:
    """The link as it is where so many hosts share the processors (left out, this machine's)."""
    sharers = math.ceil(hosts / (processors or len(os.sched_getaffinity(0))))
    return link | {"busy": link["busy"] * sharers}


def again(given: Namespace) -> dict[str, Any]:
    """The stored result with predictions made anew."""
    found: dict[str, Any] = json.loads((given.output / "cluster.json").read_text(encoding="utf-8"))
    caches = {name: found["machine"]["topology"][name] for name in ("l1", "l2", "l3")}
    for row in found["comparisons"]:
        hosts, cells, single = row["hosts"], row["cells"], row["alone_mcells_per_second"]
        link = shared(found["link"], hosts, found["machine"]["cores"])
        for kind in row["kinds"]:
            exchange = KINDS[kind["kind"]][1]
            rate = predicted(hosts, cells, exchange, kind["boxes"], single, link, caches)
            kind["predicted_efficiency"] = rate / hosts / single
    return found | {"predicted_by": commit()}


def predicted(
    hosts: int,
    cells: int,
    exchange: Exchange,
    boxes: list[int],
    rate: float,
    link: dict[str, float],
    caches: Mapping[str, int] | None = None,
) -> float:
    """Mcells/s by the model of the step; `caches` in bytes, left out, this machine's."""
    between = Link(latency=link["latency"], bandwidth=link["each_way_at_once"], busy=link["busy"])
    profile = Profile(fdtd={"pec": Rates(core=rate, numa=rate, cores=1, cells=cells)}, messages={"hosts": between})
    hardware = replace(from_synthetic("pack:1 [numa] core:1 pu:1"), **(caches or {}))
    cluster, job = Cluster(hardware, hosts, profile), job_of_plan(box(cells, 1)._setup().plan, hardware)
    return predict(job, cluster, place(cluster, "core"), exchange, [even(job.shape, tuple(boxes))]).mcells_per_second


@styled
def picture(rows: list[dict[str, Any]], title: str, facts: str) -> Any:
    """Efficiencies with their spread beside the predicted ones, a group a size and number of hosts."""
    figure = blank(9.0, 4.8)
    axes, step = figure.subplots(), 0.8 / len(KINDS)
    for number, kind in enumerate(KINDS):
        place = np.arange(len(rows)) + (number - (len(KINDS) - 1) / 2) * step
        found = [next(each for each in row["kinds"] if each["kind"] == kind) for row in rows]
        middle, low, high, model = (
            100 * np.array([each[name] for each in found])
            for name in ("efficiency", "lowest", "highest", "predicted_efficiency")
        )
        axes.bar(
            place,
            middle,
            0.9 * step,
            yerr=(middle - low, high - middle),
            color=COLOURS[number],
            label=kind,
            error_kw={"linewidth": 1, "ecolor": INK},
        )
        axes.plot(
            place,
            model,
            "D",
            color="white",
            markeredgecolor=INK,
            markersize=6,
            label="predicted" if number == len(KINDS) - 1 else None,
        )
    axes.set_xticks(range(len(rows)), [f"{row['hosts']} hosts\n{row['cells']}³" for row in rows])
    axes.set_ylabel("Efficiency (%)")
    axes.set_ylim(0, 1.35 * axes.get_ylim()[1])
    axes.grid(axis="x", visible=False)
    axes.legend(loc="upper left", ncols=3)
    headline(figure, title, facts)
    return figure


def pictured(rows: list[dict[str, Any]], link: dict[str, float], rate: str) -> Any:
    """The picture of a result."""
    facts = (
        f"{rate} each, {link['one_way'] / 1e6:.0f} MB/s one way, {1e6 * link['latency']:.0f} µs; a rank of "
        f"one thread a host; white: predicted"
    )
    return picture(rows, "Halos between hosts, emulated", facts)


def main() -> int:
    made = parser(__doc__, cells=None, steps=None, threads=1, pairs=3)
    made.add_argument("--sizes", type=int, nargs="+", default=[64, 128, 256], help="cells a side, on two hosts")
    made.add_argument("--hosts", type=int, nargs="*", default=[3, 4], help="more hosts, at the middle size")
    made.add_argument("--work", type=float, default=4e8, help="cell updates of a run")
    made.add_argument("--rate", default="1gbit", help="of each link, as tc takes it")
    made.add_argument("--plot", type=Path, default=ROOT / "docs" / "images" / "cluster.png")
    made.add_argument("--again", action="store_true", help="measure nothing: predict anew from the stored result")
    given = made.parse_args()
    if given.again:
        found = again(given)
        write_whole(given.output / "cluster.json", (json.dumps(found, indent=1) + "\n").encode())
        write_whole(given.plot, png_bytes(pictured(found["comparisons"], found["link"], found["rate"])))
        return 0
    try:
        link = link_between(given.rate)
        print({name: f"{value:.3g}" for name, value in link.items()}, flush=True)
        middle = sorted(given.sizes)[len(given.sizes) // 2]
        cases = [*((2, cells) for cells in given.sizes), *((hosts, middle) for hosts in given.hosts)]
        rows = [compare(hosts, cells, given, link) for hosts, cells in cases]
    except ModelError as error:
        print(error, file=sys.stderr)
        return 2
    write_whole(given.plot, png_bytes(pictured(rows, link, given.rate)))
    given.plot = None
    del given.again
    write("cluster", given, link=link, comparisons=rows)
    return 0 if all(len(row["checksums"]) == 1 for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
