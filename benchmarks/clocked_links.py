"""What ranks of CPU cores keep of their rate where a network costs them no processor: links that are clocks.

    .venv/bin/python benchmarks/clocked_links.py          two minutes, on a quiet machine of two cores or more

On emulated hosts (benchmarks/cluster.py) moving the bytes takes 0.94 of a processor while a link of 1 Gbit/s is busy,
so that nothing can hide it. Here a rank on each core stands for a host; messages pass through shared memory, and count
as come when such a link would have brought them (nearfield.predict.modelled_link). Efficiency is the rate over the sum
of those of lone ranks, all at once: the same load, no messages. Compute, pack and wait are parts of the ranks' time.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from argparse import Namespace
from typing import Any

from machine import favoured
from paired import parser, write

from nearfield.commands.tables import columns
from nearfield.engines.cpu.engine import CpuEngine
from nearfield.engines.cpu.tuning import choose
from nearfield.machine.profile import Link
from nearfield.machine.transport import Ranks
from nearfield.measure.bench import WARM_UP, box, checksum
from nearfield.parallel.decomposition import decompose
from nearfield.parallel.halo_depth import halo_cost
from nearfield.parallel.launch import launcher
from nearfield.parallel.part import PlanPart, held_box
from nearfield.parallel.ranks import RankEngine
from nearfield.parallel.weights import Weights
from nearfield.predict.modelled_link import ClockedRanks

KINDS = {
    "one layer, split": (1, "split"),
    "one layer, not hidden": (1, "none"),
    "eight layers, split": (8, "split"),
    "eight layers, not hidden": (8, "none"),
}
RATE = 1e9  # cells/s of a core, to choose the cut by
Row = dict[str, Any]


def alone(setup: Any, ranks: Ranks, steps: int) -> tuple[float, str | None]:
    """Mean seconds of ranks that make all of the box by themselves, at once; checksum of the first."""
    tiling = choose(setup.plan, 1, "tiled", None, 1).tiling
    engine = CpuEngine(setup.plan, 1, tiling=tiling)
    engine.advance(WARM_UP)
    engine.reset()
    ranks.everywhere(0)
    begun = time.perf_counter()
    engine.advance(steps, setup.excitations[0])
    seconds = ranks.everywhere(time.perf_counter() - begun)
    return statistics.mean(seconds), checksum(engine, setup) if ranks.rank == 0 else None


def together(setup: Any, ranks: Ranks, steps: int, depth: int, overlap: str, link: Link) -> Row:
    """Seconds of the slowest rank, parts of the ranks' time, and the checksum."""
    plan = setup.plan
    halo = halo_cost(depth, link, RATE, 4, overlap == "split")
    found = ranks.from_root(decompose(Weights.of(plan), ranks.size, ranks.size, halo=halo) if not ranks.rank else None)
    own = found.grouping.box(ranks.rank, found.arrangement)
    tiling = choose(PlanPart(plan, own, held_box(own, depth, plan)).plan, 1, "tiled", None, 1).tiling
    spread = found.arrangement, found.grouping, depth, overlap
    engine = RankEngine(plan, ranks, *spread, threads=1, tiling=tiling)
    engine.advance(2 * depth)
    engine.reset()
    ranks.everywhere(0)
    before, begun = dict(engine.seconds), time.perf_counter()
    engine.advance(steps, setup.excitations[0])
    took = max(ranks.everywhere(time.perf_counter() - begun))
    parts = {name: engine.seconds[name] - before[name] for name in before}
    every = ranks.everywhere(parts)
    shares = {name: statistics.mean(each[name] for each in every) / took for name in parts}
    facts = {"boxes": found.grouping.ranks, "tile_depth": engine.local.facts()["tile_depth"]}
    return {"seconds": took, "shares": shares, **facts, "checksum": checksum(engine, setup)}


def inside(given: Namespace) -> None:
    """On each rank: all rounds of all sizes, a line of JSON each."""
    from mpi4py import MPI

    link = Link(latency=given.latency, bandwidth=given.bandwidth)
    ranks = ClockedRanks(MPI.COMM_WORLD, link)
    with favoured():
        for cells in given.sizes:
            steps = max(32, round(given.work / cells**3 / 32) * 32)
            setup = box(cells, steps)._setup()
            for _ in range(given.pairs):
                lone, proof = alone(setup, ranks, steps)
                kinds = {name: together(setup, ranks, steps, *kind, link) for name, kind in KINDS.items()}
                if ranks.rank == 0:
                    row = {"cells": cells, "steps": steps, "ranks": ranks.size, "alone": lone, "checksum": proof}
                    print(json.dumps(row | {"kinds": kinds}), flush=True)


def compared(rounds: list[Row]) -> Row:
    """The rounds of one size: efficiency of each kind with its spread, and the parts of its time, medians."""
    first, kinds = rounds[0], {}
    for name in KINDS:
        found = [each["kinds"][name] for each in rounds]
        shares = sorted(each["alone"] / one["seconds"] / first["ranks"] for each, one in zip(rounds, found))
        parts = {part: statistics.median(one["shares"][part] for one in found) for part in found[0]["shares"]}
        same = {one["checksum"] for one in found} == {each["checksum"] for each in rounds}
        kinds[name] = {
            "efficiency": statistics.median(shares),
            "lowest": shares[0],
            "highest": shares[-1],
            "parts": parts,
            "boxes": found[0]["boxes"],
            "tile_depth": found[0]["tile_depth"],
            "same_bits": same,
        }
    rate = first["cells"] ** 3 * first["steps"] / statistics.median(each["alone"] for each in rounds) / 1e6
    return {"cells": first["cells"], "steps": first["steps"], "ranks": first["ranks"], "alone": rate, "kinds": kinds}


def text(rows: list[Row]) -> str:
    """A table."""
    lines = [["cells", "halos", "boxes", "efficiency", "compute", "pack", "wait"]]
    for row in rows:
        for name, kind in row["kinds"].items():
            spread = f"{kind['efficiency']:.2f} ({kind['lowest']:.2f} to {kind['highest']:.2f})"
            parts = [f"{kind['parts'][part]:.2f}" for part in ("compute", "pack", "wait")]
            lines.append([f"{row['cells']}^3", name, "x".join(map(str, kind["boxes"])), spread, *parts])
    return columns(lines, 3)


def main() -> int:
    made = parser(__doc__, cells=None, steps=None, threads=1, pairs=5)
    made.add_argument("--sizes", type=int, nargs="+", default=[64, 128, 256], help="cells a side")
    made.add_argument("--ranks", type=int, default=2, help="no more than there are cores")
    made.add_argument("--latency", type=float, default=20e-6, help="s, of the link")
    made.add_argument("--bandwidth", type=float, default=118e6, help="B/s, each way at once")
    made.add_argument("--work", type=float, default=4e8, help="cell updates of a run")
    made.add_argument("--inside", action="store_true", help="this is a rank")
    given = made.parse_args()
    if given.inside:
        inside(given)
        return 0
    line = [str(launcher()), "-bind-to", "core", "-n", str(given.ranks), sys.executable, __file__, *sys.argv[1:]]
    done = subprocess.run([*line, "--inside"], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        return done.returncode
    rounds = [json.loads(one) for one in done.stdout.splitlines()]
    rows = [compared([one for one in rounds if one["cells"] == cells]) for cells in given.sizes]
    print(text(rows))
    for word in ("threads", "inside"):
        delattr(given, word)
    write("clocked_links", given, comparisons=rows)
    return 0 if all(kind["same_bits"] for row in rows for kind in row["kinds"].values()) else 1


if __name__ == "__main__":
    sys.exit(main())
