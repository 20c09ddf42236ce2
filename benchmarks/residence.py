"""Boxes that stay in L1, in L2, in the last level, and in memory: one core, tiled and stepwise in turn.

    .venv/bin/python benchmarks/residence.py --pairs 5

A run is many steps in one call, so that the call itself costs nothing. A stepwise step moves 48 bytes a cell between
the core and the level that holds the box: `stepwise_gb_per_second` is what that level delivered, beside the triad's
rate of the memory. What the tiled schedule loses from one level to the next is what its tiles do not hide.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
from statistics import median
from typing import Any

from paired import empty, in_turn, name_of, parser, spread, steps_for, write

from nearfield.machine.memory_rate import triad
from nearfield.machine.topology import topology
from nearfield.measure.bench import Timed
from nearfield.plan.sizes import LANES, blocks

SHAPES = (
    (1, 2, 208),
    (2, 2, 208),
    (3, 3, 208),
    (10, 10, 208),
    (14, 14, 208),
    (50, 50, 208),
    (200, 200, 200),
    (200, 200, 1000),
    (400, 400, 400),
)
STEPWISE_BYTES = 48  # a cell and step, single precision: six fields read and written


def bytes_touched(shape: tuple[int, int, int]) -> int:
    """The records of the box's rows, without the ghost rows about them."""
    first, second, unit = sorted(shape)
    return first * second * 6 * 4 * LANES * (blocks(unit) + 2)


def level_of(size: int) -> str:
    """The nearest cache that holds so many bytes."""
    held = topology()
    levels = {"L1": held.l1, "L2": held.l2, "L3": held.l3}
    return next((name for name, room in levels.items() if size <= room), "memory")


def compare(shape: tuple[int, int, int], given: argparse.Namespace) -> dict[str, Any]:
    """Rates of both schedules on one box."""
    tiled, stepwise = (Timed(empty(shape, schedule), given.threads) for schedule in ("tiled", "stepwise"))
    steps, size = steps_for(given.work, tiled), bytes_touched(shape)
    found = in_turn(given.pairs, lambda: tiled.rate(steps), lambda: stepwise.rate(steps))
    first, second = median(found["first"]), median(found["second"])
    rate = STEPWISE_BYTES * second / 1e3
    print(
        f"{name_of(shape):13} {level_of(size):6} {size / 1024:10.0f} KiB  tiled {first:6.0f}  stepwise {second:6.0f} "
        f"Mcells/s ({rate:5.1f} GB/s)  tiled over stepwise {spread(found)}",
        flush=True,
    )
    return {
        "shape": shape,
        "cells": math.prod(shape),
        "steps": steps,
        "bytes_touched": size,
        "level": level_of(size),
        "tiled_mcells_per_second": first,
        "stepwise_mcells_per_second": second,
        "stepwise_gb_per_second": round(rate, 1),
        **tiled.facts(),
        **found,
    }


def main() -> int:
    made = parser(__doc__, cells=None, steps=None, threads=1)
    made.add_argument("--work", type=float, default=3e8, help="cell updates of a run, at the least three tiles")
    made.add_argument("--up-to", type=float, default=4096.0, help="largest box, MiB")
    given = made.parse_args()
    if given.threads == 1:
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # a thread that moves leaves its cache behind
    before = triad(given.threads)
    rows = [compare(shape, given) for shape in SHAPES if bytes_touched(shape) <= given.up_to * 2**20]
    rates = [rate for rate in (before, triad(given.threads)) if rate]
    best = max(rates, default=None)
    if best:
        print(f"triad {best:.1f} GB/s, over {STEPWISE_BYTES} bytes: {1e3 * best / STEPWISE_BYTES:.0f} Mcells/s")
    write("residence", given, boxes=rows, triad_gb_per_second=best)
    return 0


if __name__ == "__main__":
    sys.exit(main())
