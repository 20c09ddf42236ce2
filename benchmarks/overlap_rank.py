"""A rank of benchmarks/overlap.py: steps of a ring of nodes with modelled devices and real messages.

    mpiexec -n P python benchmarks/overlap_rank.py '{"ratios": [360], "steps": 30, "rounds": 3, "arithmetic": "none"}'

Every node owns R planes of A points of one periodic box, cut along x alone. Rank 0 prints a line of JSON for each R of
each round: seconds a step by method, and of the messages alone, which a device without time exchanges.
"""

from __future__ import annotations

import json
import math
import sys
import time
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

from machine import favoured

from nearfield.engines import ENGINES
from nearfield.grid.boundaries import Boundaries
from nearfield.grid.grid import Grid
from nearfield.machine.transport import Alone, Ranks, world
from nearfield.measure.bench import CELL, box
from nearfield.parallel.ranks import Make, RankEngine
from nearfield.plan.boxes import Grouping
from nearfield.plan.plan import Plan
from nearfield.predict.modelled_device import ModelledDevice, NoArithmetic
from nearfield.predict.overlap import OverlapNode, load_node
from nearfield.predict.prediction import even

METHODS = ("split", "host-buffer", "none", "blocking")
WARM_UP = 3  # steps


def ring(planes: int, node: OverlapNode) -> Plan:
    """The plan of an empty box of so many planes, closed along x, its rows across x."""
    grid = Grid.uniform(CELL, (planes, *node.cells[1:]))
    walls = Boundaries(x="periodic", y="pec", z="pec")
    return replace(box(1, 1, grid=grid, boundaries=walls, sources=())._setup().plan, rows_axis=2)


def modelled(arithmetic: str, rate: float, transfer: Any, plan: Plan, **options: Any) -> Any:
    """An engine with a device's times."""
    make = NoArithmetic if arithmetic == "none" else ENGINES[arithmetic]
    return ModelledDevice(make(plan, **options), rate, transfer)


def seconds(ranks: Alone, plan: Plan, method: str, steps: int, device: Make, host: Make) -> float:
    """Seconds of a step of the slowest rank; one alone has nobody to talk to."""
    if not isinstance(ranks, Ranks):
        (only := device(plan)).begin(steps, "sources", False)
        begun = time.perf_counter()
        only.run(0, steps)
        return (time.perf_counter() - begun) / steps
    parts = (ranks.size, 1, 1)
    engine = RankEngine(plan, ranks, even(plan.active, parts), Grouping(parts, parts), 1, method, device, host)
    engine.advance(WARM_UP)
    ranks.everywhere(0)
    begun = time.perf_counter()
    engine.advance(steps)
    return max(ranks.everywhere(time.perf_counter() - begun)) / steps


def measured(ranks: Alone, node: OverlapNode, ratio: int, steps: int, arithmetic: str) -> dict[str, float]:
    """Seconds of a step by method, and of its messages alone: all at once, and a pair at a time."""
    plan = ring(ratio * ranks.size, node)
    device = partial(modelled, arithmetic, node.device, node.transfer)
    host = partial(modelled, arithmetic, node.host, None)
    instant = partial(modelled, "none", math.inf, None)
    found = {"messages": seconds(ranks, plan, "none", steps, instant, instant)}
    found |= {method: seconds(ranks, plan, method, steps, device, host) for method in METHODS}
    return found | {"messages in pairs": seconds(ranks, plan, "blocking", steps, instant, instant)}


def main() -> int:
    given = json.loads(sys.argv[1])
    ranks, node = world(), load_node("s4")
    with favoured():
        for number, ratio in product(range(given["rounds"]), given["ratios"]):
            found = measured(ranks, node, ratio, given["steps"], given["arithmetic"])
            if ranks.rank == 0:
                print(json.dumps({"round": number, "nodes": ranks.size, "r": ratio, "seconds": found}), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
