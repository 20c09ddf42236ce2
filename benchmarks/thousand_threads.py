"""Search for trajectories on 24 to 1728 threads: Fig. 2 of the paper on the Numascale machine (docs/literature.md).

    .venv/bin/python benchmarks/thousand_threads.py --cells 96 --pairs 5

Real on this machine: `trace` under each schedule in turn, clock times. Then a replay: seconds of every block, measured
by one thread, through the real scheduler on the machine `numascale`, for a field of the paper's 45 GB. Its speed-up of
24 on 24 threads is taken as its authors take it.

A block that lies on node h and is made on node n takes its seconds times

    1 - m + m sum_k w_k d(n, h +- k) / 10

with the distances d of the description, w_k the part of gradient lines that lies k slabs away (measured: how far lines
go across slabs, on a cube of so many points), and m the part of a block's time that waits for memory where all is at
hand. m is not known: the table has several, and the one with which `local` has the paper's 625 on 1024 threads. A take
from a counter is a line fetched and given back. What runs outside loops is measured too, and told apart.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from elements import random_field
from paired import in_turn, parser, spread, write

import nearfield as nf
from nearfield.machine.hardware import Hardware, load
from nearfield.machine.schedule import SCHEDULES, Layout, recorded, replay, scheduled

THREADS = (24, 48, 96, 192, 384, 768, 1024, 1728)
PAPER = {"threads": 1024, "speed_up": 625, "first": 24}
FOOTPRINT = 45e9  # bytes, of the paper's data set
BYTES_A_POINT = 20  # field and labels here
HALF_WAVE = 12  # points
WAITING = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5)  # values of m
RUNS = 3
LONGEST = 2  # loops that are replayed: the lines upwards, and downwards; others are taken for balanced
OWN = 10.0


@dataclass(frozen=True)
class Measured:
    """Seconds of one thread: blocks of the long loops, other loops, what runs outside; and how far lines go."""

    loops: list[np.ndarray]
    others: float
    outside: float
    reach: np.ndarray
    footprint: float  # bytes, of what is replayed

    @property
    def total(self) -> float:
        return float(sum(loop.sum() for loop in self.loops)) + self.others + self.outside


def measure(field: np.ndarray, footprint: float) -> Measured:
    """The medians of some runs, block by block."""
    runs, totals, found = [], [], []
    for _ in range(RUNS):
        begun = time.process_time()
        runs.append(recorded(lambda: found.append(nf.elements(field, 1.0, "xyz", "trace", threads=1))))
        totals.append(time.process_time() - begun)
    seconds = [np.median(each, axis=0) for each in zip(*runs, strict=True)]
    longest = sorted(seconds, key=np.sum)[-LONGEST:]
    loops = float(sum(each.sum() for each in seconds))
    others = loops - float(sum(each.sum() for each in longest))
    return Measured(longest, others, max(0.0, float(np.median(totals)) - loops), reach_of(found[-1]), footprint)


def reach_of(found: nf.Elements) -> np.ndarray:
    """Points along the first axis, which is cut into slabs, from every point to both its extrema, the shorter way."""
    length, own = found.labels.shape[0], np.arange(found.labels.shape[0])[:, None, None]
    ends = (found.maxima.position[found.maximum], found.minima.position[found.minimum])
    apart = [np.abs(end[found.labels, 0] - own) for end in ends]
    return np.concatenate([np.minimum(each, length - each).ravel() for each in apart])


def slabs_away(reach: np.ndarray, thickness: float) -> np.ndarray:
    """Part of straight lines that lies 0, 1, 2, ... slabs away from the one in which they begin anywhere."""
    along = (np.arange(16) + 0.5) / 16 * np.percentile(reach, np.arange(1, 100, 2))[:, None] / thickness
    low = np.floor(along).astype(int).ravel()
    high = along.ravel() - low
    counts = np.bincount(low, 1 - high, low.max() + 2) + np.bincount(low + 1, high, low.max() + 2)
    return counts / along.size


def layout(machine: Hardware, threads: int) -> Layout:
    """Threads on as many cores, node after node."""
    homes = [core.numa for core in machine.cores[:threads]]
    nodes = homes[-1] + 1
    table = np.array(machine.distances)[:nodes, :nodes]
    return Layout(tuple(homes), table.tolist(), ((),) * threads)


def prices(machine: Hardware, spread: Layout, reach: np.ndarray, side: float, waiting: float) -> tuple[list, list]:
    """Factors of blocks and seconds of takes, node of the thread by node of the block."""
    table = np.array(spread.distances)
    away = slabs_away(reach, side / len(table))
    mean = sum(part * 0.5 * (np.roll(table, k, 1) + np.roll(table, -k, 1)) for k, part in enumerate(away)) / OWN
    latency = machine.boards.description.latency
    return (1 - waiting + waiting * mean).tolist(), (2 * latency * table / OWN).tolist()


def replayed(measured: Measured, machine: Hardware, kind: str, threads: int, waiting: float) -> dict[str, Any]:
    """One point: seconds of the whole search, and where the threads' time went."""
    points = measured.footprint / BYTES_A_POINT
    copies = max(1, round(points / (1024 * len(measured.loops[0]))))
    team = layout(machine, threads)
    slower, take = prices(machine, team, measured.reach, points ** (1 / 3), waiting)
    found = [replay(np.tile(loop, copies), kind, team, slower, take) for loop in measured.loops]
    loops = sum(each["seconds"] for each in found) + copies * measured.others / threads
    outside = copies * measured.outside
    lost = {
        name: sum(each[name] * each["seconds"] for each in found) / loops for name in ("distance", "counters", "idle")
    }
    limit = max(lost, key=lost.get)
    return {
        "schedule": kind,
        "threads": threads,
        "waiting": waiting,
        "seconds": loops,
        "seconds_with_outside": loops + outside,
        "local_share": found[0]["local_share"],
        **lost,
        "limit": limit if lost[limit] > 0.02 else "none",
    }


def with_speed_up(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows of one schedule with the paper's way of counting: 24 on 24 threads."""
    first = rows[0]
    for row in rows:
        row["speed_up"] = first["threads"] * first["seconds"] / row["seconds"]
        whole = first["threads"] * first["seconds_with_outside"] / row["seconds_with_outside"]
        row |= {"efficiency": row["speed_up"] / row["threads"], "speed_up_with_outside": whole}
    return rows


def curve(measured: Measured, machine: Hardware, kind: str, waiting: float, threads=THREADS) -> list[dict[str, Any]]:
    """Speed-up over threads of one schedule."""
    return with_speed_up([replayed(measured, machine, kind, count, waiting) for count in threads])


def calibrated(measured: Measured, machine: Hardware) -> tuple[float, list[dict[str, Any]]]:
    """The m with which `local` has the paper's speed-up, between the values of the table; and those rows."""
    ends = (PAPER["first"], PAPER["threads"])
    rows = [curve(measured, machine, "local", waiting, ends)[-1] for waiting in WAITING]
    rates = np.array([row["speed_up"] for row in rows])[::-1]
    return float(np.interp(PAPER["speed_up"], rates, WAITING[::-1])), rows


def here(field: np.ndarray, pairs: int) -> list[dict[str, Any]]:
    """Rates (points a microsecond, by the clock) of `trace` on this machine, taken in turn."""

    def rate(kind: str, threads: int) -> float:
        with scheduled(kind):
            begun = time.perf_counter()
            nf.elements(field, 1.0, "xyz", "trace", threads=threads)
            return field.size / (time.perf_counter() - begun) / 1e3

    cases = [("local", 2, "local", 1), ("local", 2, "dynamic", 2), ("local", 2, "static", 2)]
    found = []
    for kind, threads, other, few in cases:
        pair = in_turn(pairs, lambda a=(kind, threads): rate(*a), lambda b=(other, few): rate(*b))
        found.append({"schedule": kind, "threads": threads, "over_schedule": other, "over_threads": few, **pair})
        print(f"here: {kind} on {threads} over {other} on {few}: {spread(pair)}", flush=True)
    return found


def main() -> int:
    made = parser(__doc__, cells=96, steps=None, threads=2)
    made.add_argument("--plot", help="also draw it, into this .png")
    made.add_argument("--footprint", type=float, default=FOOTPRINT, help="bytes of the field that is replayed")
    given = made.parse_args()
    field, machine = random_field(given.cells, HALF_WAVE), load("numascale")
    measured = measure(field, given.footprint)
    waiting, table = calibrated(measured, machine)
    rows = [row for kind in SCHEDULES for row in curve(measured, machine, kind, waiting)]
    for row in rows:
        print(
            f"{row['schedule']:8}{row['threads']:6}{row['speed_up']:8.0f}{row['efficiency']:7.2f}  local "
            f"{row['local_share']:.3f}  distance {row['distance']:.2f} counters {row['counters']:.2f} idle "
            f"{row['idle']:.2f}: {row['limit']}; with what is outside loops {row['speed_up_with_outside']:.0f}",
            flush=True,
        )
    real = here(field, given.pairs)
    facts = {
        "machine_replayed": machine.name,
        "sources": machine.boards.description.sources,
        "paper": PAPER,
        "waiting_calibrated": waiting,
        "waiting_table": table,
        "blocks": len(measured.loops[0]),
        "seconds_of_a_block": {"median": float(np.median(measured.loops[-1])), "most": float(measured.loops[-1].max())},
        "outside_share": measured.outside / measured.total,
        "reach": {"median": float(np.median(measured.reach)), "most": float(measured.reach.max())},
    }
    write("thousand_threads", given, **facts, here=real, replayed=rows)
    if given.plot:
        draw(rows, waiting, given.plot)
    return 0


def draw(rows: list[dict[str, Any]], waiting: float, path: str) -> None:
    """Speed-up over threads, the paper's point beside them."""
    from pathlib import Path

    from nearfield.pictures import style

    @style.styled
    def picture():
        figure, axes = style.chart(7.6, 4.8)
        for number, kind in enumerate(SCHEDULES):
            some = [row for row in rows if row["schedule"] == kind]
            x, y = ([row[name] for row in some] for name in ("threads", "speed_up"))
            axes.plot(x, y, **style.line_style(number), marker=style.MARKERS[number], markersize=4, label=kind)
        axes.plot(THREADS, THREADS, color=style.FAINT, linestyle=style.DASHES[2], label="as many as threads")
        star = (PAPER["threads"], PAPER["speed_up"])
        axes.plot(*star, marker="*", color="#111111", markersize=11, linestyle="")
        style.beside(axes, star, "published, 625", (8, -12), fontsize=8.5)
        axes.set_xlim(left=0)
        axes.set_ylim(0, 1750)
        style.name_axes(axes, "Threads", "Speed-up, 24 on 24 threads", "upper left")
        note = f"measured blocks replayed on 1728 cores; m = {waiting:.3f} calibrated to the star"
        return style.headline(figure, "Search for trajectories · Fig. 2 of the paper", note)

    Path(path).write_bytes(style.png_bytes(picture()))


if __name__ == "__main__":
    sys.exit(main())
