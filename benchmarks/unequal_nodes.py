"""Two nodes of which one has half the speed, on emulated hosts: the rate of a run shared by measured speeds.

    .venv/bin/python benchmarks/unequal_nodes.py          as root (scripts/make_believe_cluster)

What a node computes takes the time of a clock (nearfield.predict.modelled_device), so that a slow node is slow and
nothing else: a limit that the kernel keeps by pauses (benchmarks/unequal_ranks.py) also stops a rank that only waits,
and takes what it spends on waiting from what it may compute. Messages are real, over links of 1 Gbit/s. Each rank
times its own device before the run, as `--speeds measure` does; runs are taken in turn with those whose cut is even.
The ideal is that of both devices without a break from their copies on, Eq. (9): a step of V / sum(G) + t_copy.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from argparse import Namespace
from functools import partial
from typing import Any

from machine import favoured, on_hosts
from overlap_rank import WARM_UP, modelled, ring
from paired import parser, write

from nearfield.engines import ENGINES
from nearfield.machine.transport import Alone, world
from nearfield.parallel.decomposition import decompositions
from nearfield.parallel.halo_depth import halo_cost
from nearfield.parallel.launch import launcher
from nearfield.parallel.ranks import RankEngine
from nearfield.parallel.speeds import relative, timed
from nearfield.parallel.weights import Weights
from nearfield.plan.boxes import Arrangement, Grouping
from nearfield.plan.plan import Plan
from nearfield.predict.modelled_device import ModelledDevice
from nearfield.predict.overlap import OverlapNode, load_node
from nearfield.predict.prediction import even

CLOCK = "clock"  # the engine of each rank, by the name under which it is timed


class Timed(ModelledDevice):
    """A modelled device that takes steps by itself, to be timed."""

    def advance(self, steps: int) -> None:
        self.begin(steps, "sources", False)
        self.run(0, steps)
        self.end()


def speeds_of(ranks: Alone, plan: Plan, node: OverlapNode, rate: float) -> list[float] | None:
    """Speeds of the ranks over their mean, timed as a run does."""

    def make(part: Plan, **_: Any) -> Timed:
        return Timed(modelled("none", rate, node.transfer, part)._engine, rate, None)

    ENGINES[CLOCK] = make  # type: ignore[index]
    return relative(ranks.everywhere(timed(plan, CLOCK, 1, None)))


def shared(plan: Plan, speeds: list[float] | None) -> Arrangement:
    """The cut that gives each rank its share."""
    if speeds is None:
        return even(plan.active, (2, 1, 1))
    node = load_node("s4")
    found = decompositions(Weights.of(plan), 2, 2, speeds, halo_cost(1, node.message, node.device, 4, True))
    return next(each.arrangement for each in found if each.arrangement.counts == (2, 1, 1))


def seconds(ranks: Alone, plan: Plan, cut: Arrangement, steps: int, device: Any) -> float:
    """Seconds of a step of the slower rank."""
    parts = (2, 1, 1)
    engine = RankEngine(plan, ranks, cut, Grouping(parts, parts), 1, "split", device, device)  # type: ignore[arg-type]
    engine.advance(WARM_UP)
    ranks.everywhere(0)
    begun = time.perf_counter()
    engine.advance(steps)
    return max(ranks.everywhere(time.perf_counter() - begun)) / steps


def inside(given: Namespace) -> None:
    """On each rank: all rounds, a line of JSON each."""
    ranks, node = world(), load_node("s4")
    rate = node.device * (1.0, given.share)[ranks.rank]
    plan = ring(2 * int(node.ratio), node)
    device = partial(modelled, "none", rate, node.transfer)
    with favoured():
        for _ in range(given.pairs):
            cuts = {"measured": shared(plan, speeds_of(ranks, plan, node, rate)), "even": shared(plan, None)}
            took = {name: seconds(ranks, plan, cut, given.steps, device) for name, cut in cuts.items()}
            ideal = 2 * node.ratio * node.plane / (node.device * (1 + given.share)) + node.copying
            of_ideal = {name: ideal / step for name, step in took.items()}
            if ranks.rank == 0:
                print(json.dumps({"of_ideal": of_ideal, "cut": cuts["measured"].cuts[0]}), flush=True)


def main() -> int:
    made = parser(__doc__, cells=None, steps=30, pairs=5)
    made.add_argument("--share", type=float, default=0.5, help="speed of the second node over the first")
    made.add_argument("--inside", action="store_true", help="this is a rank")
    given = made.parse_args()
    if given.inside:
        inside(given)
        return 0
    line = [*on_hosts(2, "1gbit"), str(launcher()), "-n", "2", sys.executable, __file__, *sys.argv[1:], "--inside"]
    done = subprocess.run(line, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        return done.returncode
    rounds = [json.loads(text) for text in done.stdout.splitlines()]
    found = {}
    for name in ("measured", "even"):
        each = sorted(one["of_ideal"][name] for one in rounds)
        found[name] = {"of_ideal": statistics.median(each), "lowest": each[0], "highest": each[-1]}
    for word in ("threads", "inside"):
        delattr(given, word)
    write("unequal_nodes", given, **found, rounds=rounds)
    print(found, [one["cut"] for one in rounds])
    return 0


if __name__ == "__main__":
    sys.exit(main())
