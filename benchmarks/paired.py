"""What the scripts share: runs taken in turn, A B A B ..., and one JSON file with commit, machine and command.

On a shared machine only ratios of runs that are neighbours in time mean anything.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from machine import ROOT, machine

from nearfield.grid.grid import Grid
from nearfield.machine.facts import measured_by
from nearfield.measure.bench import CELL, Timed, box
from nearfield.simulation import Simulation

RESULTS = ROOT / "benchmarks" / "results"


def in_turn(pairs: int, first: Callable[[], float], second: Callable[[], float]) -> dict[str, Any]:
    """Rates (Mcells/s) of two runs taken in turn; `ratio` is the median of first over second."""
    rates = [(first(), second()) for _ in range(pairs)]
    ratios = sorted(a / b for a, b in rates)
    return {
        "first": [round(a, 1) for a, _ in rates],
        "second": [round(b, 1) for _, b in rates],
        "ratio": round(statistics.median(ratios), 3),
        "lowest": round(ratios[0], 3),
        "highest": round(ratios[-1], 3),
    }


def spread(found: dict[str, Any]) -> str:
    """`1.93 (1.90 to 1.95)`."""
    return f"{found['ratio']:.2f} ({found['lowest']:.2f} to {found['highest']:.2f})"


def empty(shape: tuple[int, int, int], schedule: str = "tiled") -> Simulation:
    """A PEC box of so many cells with nothing in it; its fields stay zero, which costs what numbers cost."""
    return box(1, 1, schedule=schedule, grid=Grid.uniform(CELL, shape), sources=())


def name_of(shape: tuple[int, int, int]) -> str:
    """`200^3`, or `400x8x8`."""
    return f"{shape[0]}^3" if len(set(shape)) == 1 else "x".join(map(str, shape))


def steps_for(work: float, timed: Timed) -> int:
    """Steps that make so many cell updates, and at least three tiles."""
    return max(3 * timed.engine.facts()["tile_depth"], round(work / timed.cells), 1)


def parser(description: str, cells: int | None = 200, steps: int | None = 200, pairs: int = 5, threads: int = 2):
    """The arguments that the scripts take; None leaves one out."""
    made = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    if cells:
        made.add_argument("--cells", type=int, default=cells, help="cells along each side")
    if steps:
        made.add_argument("--steps", type=int, default=steps, help="steps of a run")
    made.add_argument("--threads", type=int, default=threads)
    made.add_argument("--pairs", type=int, default=pairs, help="how often the two runs are taken in turn")
    made.add_argument("--output", type=Path, default=RESULTS, help="folder of the JSON file")
    return made


def command() -> str:
    """The command as it was given, from the repository's root, without the folder of the output."""
    words, kept = iter(sys.argv[1:]), []
    for word in words:
        if word == "--output":
            next(words, None)
        elif not word.startswith("--output="):
            kept.append(word)
    return " ".join([str(Path(sys.argv[0]).resolve().relative_to(ROOT)), *kept])


def write(name: str, given: argparse.Namespace, **found: Any) -> Path:
    """Write `name`.json: what was found, after how it was."""
    settings = {key: value for key, value in vars(given).items() if key != "output"}
    result = {**measured_by(command(), machine()), **settings, **found}
    given.output.mkdir(parents=True, exist_ok=True)
    path = given.output / f"{name}.json"
    path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    return path
