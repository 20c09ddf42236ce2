"""Run under mpiexec: random plans with every feature, kept by one engine and gone on with by another.

One of the two is on all ranks, the other on all in another way, or one process alone; beside them one process alone
that never stopped. Arguments: folder, then kind:seed:number of plans, the kinds "any" and "rings" of spread.py. Exits
with 1 at the first difference.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from agreement import same
from spread import any_arrangement, any_plan, may_be_parted

from nearfield.engines.cpu.engine import CpuEngine
from nearfield.engines.cpu.tiling import STEPWISE, Tiling
from nearfield.machine.transport import world
from nearfield.parallel.decomposition import groupings
from nearfield.parallel.ranks import RankEngine
from nearfield.plan.plan import Plan
from nearfield.run.checkpoint.pieces import Holder
from nearfield.run.checkpoint.store import Stored, write_arrays

ALONE = ("alone",)


def drawn(draw: random.Random, plan: Plan, thick: bool) -> tuple:
    """Some way to spread a plan over all ranks."""
    while True:
        arrangement = any_arrangement(draw, plan, thick)
        depth, fitting = draw.randint(plan.reach, 4), groupings(arrangement.counts, world().size)
        fitting = [each for each in fitting if may_be_parted(plan, arrangement, each, depth)]
        if fitting:
            tiling = Tiling(5, 4) if thick else draw.choice([STEPWISE, None, Tiling(draw.randint(1, 9), 3)])
            return arrangement, draw.choice(fitting), depth, draw.randint(1, 3), tiling


def made(plan: Plan, case: tuple) -> CpuEngine | RankEngine | None:
    """An engine on all ranks, or on rank 0 alone."""
    if case is ALONE:
        return CpuEngine(plan, 1) if world().rank == 0 else None
    arrangement, grouping, depth, threads, tiling = case
    return RankEngine(plan, world(), arrangement, grouping, depth, threads=threads, tiling=tiling)


def components(plan: Plan) -> range:
    """Those that a plan has, with their imaginary parts."""
    return range(12 if plan.complex_fields else 6)


def begin_with(engine: CpuEngine | RankEngine | None, plan: Plan) -> None:
    """A state of random numbers."""
    numbers = np.random.default_rng(1)
    for component in components(plan):
        values = numbers.standard_normal(plan.active) * (plan.coefficients.dense(component % 6)[1] != 0)
        if engine:
            engine.set_state(component, values.astype(plan.dtype))


def kept(engine: CpuEngine | RankEngine | None, folder: Path) -> Stored:
    """The files of all ranks that hold something."""
    name = f"rank-{world().rank}.bin"
    (folder / name).unlink(missing_ok=True)
    own = {name: write_arrays(folder / name, Holder(engine).pieces())} if engine else {}
    return Stored(folder, {name: entry for each in world().everywhere(own) for name, entry in each.items()})


def compare(plan: Plan, cases: tuple[tuple, tuple], blocks: tuple[int, int], folder: Path) -> None:
    """Advance one engine, keep it, go on with the other; the end must be that of one that never stopped."""
    through, (first, second) = made(plan, ALONE), (made(plan, case) for case in cases)
    for engine in (through, first):
        begin_with(engine, plan)
    if through:
        through.advance(blocks[0])
        energy = through.advance(blocks[1], weigh=True).energy
    if first:
        first.advance(blocks[0])
    stored = kept(first, folder)
    if not second:
        return
    Holder(second).restore(blocks[0], stored)
    found = second.advance(blocks[1], weigh=True).energy
    fields = [second.gathered(component) for component in components(plan)]
    recorded = second.recordings()
    if through:
        assert found == energy, "energy"
        assert all(same(field, through.state(n)) for n, field in enumerate(fields)), "fields"
        for number, (one, other) in enumerate(zip(recorded, through.recordings(), strict=True)):
            assert same(one.time, other.time) and same(one.values, other.values), f"recording {number}"


def compare_plans(kind: str, seed: int, count: int, folder: Path) -> None:
    """Draw and compare so many."""
    draw = random.Random(seed)
    for number in range(count):
        thick = number % 6 == 0 and world().size in (2, 4)
        plan = any_plan(draw, draw.randrange(1000), thick, kind == "rings")
        cases = [drawn(draw, plan, thick), drawn(draw, plan, thick)]
        if number % 3:
            cases[number % 3 - 1] = ALONE
        blocks = draw.randint(1, 13), draw.randint(1, 13)
        try:
            compare(plan, tuple(cases), blocks, folder)
        except Exception as error:
            print(f"{type(error).__name__} {error}: {plan.active} {plan.cpml} {blocks} {cases}", flush=True)
            world().abort(1)
        world().everywhere(None)


if __name__ == "__main__":
    for wanted in sys.argv[2:]:
        kind, seed, count = wanted.split(":")
        compare_plans(kind, int(seed), int(count), Path(sys.argv[1]))
        if world().rank == 0:
            print(f"{kind}: {count} plans went on on {world().size} ranks", flush=True)
