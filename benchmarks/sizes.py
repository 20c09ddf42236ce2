"""What a cell costs from 64^3 to the largest box that fits, each size in turn with a reference; and whether small
and long thin boxes run at least as fast tiled as stepwise.

    .venv/bin/python benchmarks/sizes.py --up-to 700 --pairs 5

The cost is over that of the reference box in the same seconds, so that the machine's moods cancel. Sizes stand at and
beside powers of two, where strides that share cache sets would show.
"""

from __future__ import annotations

import argparse
import math
import sys
from statistics import median
from typing import Any

from paired import empty, in_turn, name_of, parser, spread, steps_for, write

from nearfield.machine.group_memory import free_memory
from nearfield.measure.bench import Timed
from nearfield.plan.sizes import domain_bytes

SIZES = (64, 65, 96, 127, 128, 129, 160, 192, 200, 255, 256, 257, 320, 384, 400, 511, 512, 513, 640, 700)
SMALL = (
    (16, 16, 16),
    (24, 24, 24),
    (32, 32, 32),
    (63, 63, 63),
    (400, 8, 8),
    (8, 400, 8),
    (8, 8, 400),
    (2000, 4, 4),
    (4, 4, 2000),
    (1, 200, 200),
    (200, 200, 1),
)
NO_CPML = ((0, 0),) * 3


def fits(size: int) -> bool:
    """Whether a box leaves a tenth of the free memory free."""
    free = free_memory()
    return free is None or domain_bytes((size,) * 3, NO_CPML, "single") < 0.9 * free


def cost(size: int, reference: Timed, given: argparse.Namespace) -> dict[str, Any]:
    """ns a cell, and the median of its ratio to the reference's."""
    timed = Timed(empty((size,) * 3), given.threads)
    steps, others = steps_for(given.work, timed), steps_for(given.work, reference)
    found = in_turn(given.pairs, lambda: reference.rate(others), lambda: timed.rate(steps))
    print(f"{name_of((size,) * 3):8} cost over that of {given.reference}^3: {spread(found)}", flush=True)
    return {
        "size": size,
        "steps": steps,
        "ns_per_cell": round(1e3 / median(found["second"]), 4),
        "cost_over_reference": found["ratio"],
        **timed.facts(),
        **found,
    }


def against_stepwise(shape: tuple[int, int, int], threads: int, given: argparse.Namespace) -> dict[str, Any]:
    """The rate tiled over the rate stepwise."""
    tiled, stepwise = (Timed(empty(shape, schedule), threads) for schedule in ("tiled", "stepwise"))
    steps = steps_for(given.work / 4, tiled)
    found = in_turn(given.pairs, lambda: tiled.rate(steps), lambda: stepwise.rate(steps))
    print(f"{name_of(shape):12} {threads} threads, tiled over stepwise: {spread(found)}", flush=True)
    return {"shape": shape, "cells": math.prod(shape), "steps": steps, **tiled.facts(), **found}


def main() -> int:
    made = parser(__doc__, cells=None, steps=None)
    made.add_argument("--sizes", type=int, nargs="*", default=SIZES)
    made.add_argument("--up-to", type=int, default=700, help="largest side")
    made.add_argument("--reference", type=int, default=200)
    made.add_argument("--work", type=float, default=1e9, help="cell updates of a run, at the least three tiles")
    made.add_argument("--only", choices=["sizes", "small"], help="one of the two tables")
    given = made.parse_args()
    rows, small, found = [], [], {}
    if given.only != "small":
        reference = Timed(empty((given.reference,) * 3), given.threads)
        rows = [cost(size, reference, given) for size in given.sizes if size <= given.up_to and fits(size)]
        costs = [row["cost_over_reference"] for row in rows]
        found = {"slowest_over_fastest": round(max(costs) / min(costs), 3)}
        print(f"slowest over fastest: {found['slowest_over_fastest']:.2f}")
        del reference
    if given.only != "sizes":
        small = [against_stepwise(shape, threads, given) for shape in SMALL for threads in sorted({1, given.threads})]
        found["least_tiled_over_stepwise"] = min(row["ratio"] for row in small)
    write("sizes", given, **found, sizes=rows, small=small)
    return 0


if __name__ == "__main__":
    sys.exit(main())
