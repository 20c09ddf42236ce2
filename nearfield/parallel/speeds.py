"""Speeds of ranks, by which they share a run out: given, timed before the run, or as the hosts' profiles tell."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence

from nearfield.engines import ENGINES
from nearfield.engines.cpu.tiling import Tiling
from nearfield.entry.errors import ModelError
from nearfield.machine.profile import load_profile
from nearfield.machine.transport import Alone
from nearfield.parallel.part import PlanPart
from nearfield.plan.boxes import Box
from nearfield.plan.plan import Plan
from nearfield.plan.sizes import LANES

MEASURE = "measure"
ALIKE = 1.05  # ratio of speeds below which they count as equal
TIMED = 96  # samples at most along each side of the box that is timed
LASTS = 1.0  # s of timing; limits of a container are kept over tenths of a second
BLOCK = 16  # steps between two looks at the clock


def parsed_speeds(text: str | None, count: int, of: str = "ranks", timed: str = "") -> list[float] | None:
    """Numbers such as "2,1", one for each of so many ranks, or nodes; None for nothing, or for the word `timed`.

    Error: anything else, or another count.
    """
    if text is None:
        return None
    if count == 1:
        raise ModelError(f"--speeds {text} shares a run out to several {of}, and here is one; add --{of}")
    if timed and text == timed:
        return None
    try:
        speeds = [float(word) for word in text.split(",")]
    except ValueError:
        speeds = []
    if len(speeds) != count or not all(0 < speed < math.inf for speed in speeds):
        more = f', or "{timed}": each of them is timed before the run' if timed else ""
        raise ModelError(f'--speeds {text}: give a positive number for each of the {count} {of}, such as "2,1"{more}')
    return speeds


def speeds_of(
    wish: str | None, plan: Plan, ranks: Alone, engine: str, threads: int, tiling: Tiling | None
) -> list[float] | None:
    """The speed of each rank over their mean, the same on all; None where they count as equal."""
    speeds = parsed_speeds(wish, ranks.size, timed=MEASURE)
    if speeds is None:
        here = timed(plan, engine, threads, tiling) if wish else load_profile(None).rates().core * threads
        speeds = ranks.everywhere(here)
    return relative(speeds)


def relative(speeds: Sequence[float]) -> list[float] | None:
    """Speeds over their mean; None where they are alike."""
    if max(speeds) < ALIKE * min(speeds):
        return None
    return [speed * len(speeds) / sum(speeds) for speed in speeds]


def timed(
    plan: Plan, engine: str, threads: int, tiling: Tiling | None, clock: Callable[[], float] = time.perf_counter
) -> float:
    """Cells a second of this rank's engine in the middle of the plan; all ranks time the same box at once."""
    lower = [max(0, (n - TIMED) // 2) for n in plan.active]
    lower[plan.unit_axis] -= lower[plan.unit_axis] % LANES
    box = Box.between((low, min(low + TIMED, n)) for low, n in zip(lower, plan.active))
    part = PlanPart(plan.silent, box, box)
    made = ENGINES[engine](part.plan, threads=threads, tiling=tiling)
    made.advance(BLOCK)
    begun, steps = clock(), 0
    while (passed := clock() - begun) < LASTS:
        made.advance(BLOCK)
        steps += BLOCK
    return box.size * steps / passed
