"""Run under mpiexec: random plans with every feature on all ranks, compared on rank 0 with the engine of one domain.

Arguments: kind:seed:number of plans, any number of them. Kinds are "any"; "rings", where some axes close on themselves;
"split" and "split rings", thick enough for tiles deeper than halos; "models", bodies of media whose rows lie along any
axis, compared with rows along their own; "scenes", models with every feature; "device" and "device rings", on the
make-believe device; "direct" and "direct rings", where messages leave from its memory. Prints for each how many were
compared, and how many blocks of steps were made in split tiles; exits with 1 at the first that differs.
"""

from __future__ import annotations

import random
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import plans
from agreement import same
from drawn_models import drawn_setup
from scenes import scene

from nearfield.engines.cpu.engine import CpuEngine
from nearfield.engines.cpu.tiling import STEPWISE, Tiling
from nearfield.engines.protocol import Engine
from nearfield.machine.transport import world
from nearfield.parallel.decomposition import groupings
from nearfield.parallel.plan_weights import unparted
from nearfield.parallel.ranks import RankEngine
from nearfield.plan.boxes import Arrangement, Grouping

BLOCKS = (11, 4, 1)  # steps


def any_plan(draw: random.Random, seed: int, thick: bool, rings: bool = False):
    """A plan of some size, with walls, media and terms of all kinds; with `rings`, some axes close on themselves."""
    cells = (45, 47, 49) if thick else tuple(draw.choice([5, 9, 12, 17, 33, 50, *[32, 48] * rings]) for _ in range(3))
    walls = []
    for n in cells:
        low, high = draw.choice(["pec", "pmc", 1, 3]), draw.choice(["pec", "pmc", 2, 4])
        thick = sum(side for side in (low, high) if isinstance(side, int))
        walls.append((low, high) if thick <= n else ("pec", "pmc"))
    complex_fields, phases = False, (0.0, 0.0, 0.0)
    if rings:
        walls = [("periodic", "periodic") if draw.random() < 0.6 else pair for pair in walls]
        complex_fields = draw.random() < 0.6
        phases = tuple(complex_fields * draw.choice([0.0, 0.7, -2.1, 4.0]) for _ in range(3))
    return plans.make_plan(
        cells,
        tuple(walls),
        seed=seed,
        precision=draw.choice(["single", "double"]),
        graded=draw.random() < 0.7,
        media=draw.choice(["vacuum", "lossless", "lossy", "dispersive"]),
        metal=0.1,
        terms=plans.both_parts,
        phases=phases,
        complex_fields=complex_fields,
        coupled=0 if rings else draw.choice([0, 500]),
    )


def any_model(draw: random.Random):
    """The plan of a drawn model, with its rows along any axis."""
    setup = None
    while setup is None:
        setup = drawn_setup(draw.randrange(10**6), draw.choice(["single", "double"]), longest=36)
    return replace(setup.plan, rows_axis=draw.randrange(3))


def any_scene(draw: random.Random):
    """The plan of a model with every feature, in either precision, its media mixed in any way."""
    kinds = draw.choice(["single", "double"]), draw.random() < 0.6, draw.choice(["diagonal", "tensor"])
    return scene(*kinds)._setup().plan


def any_arrangement(draw: random.Random, plan, thick: bool) -> Arrangement:
    """Cuts anywhere, of rows and along blocks of energy at multiples of 16; or planes and rows in the middle."""
    if thick:
        ends = enumerate(plan.active)
        return Arrangement(tuple((0, n) if axis == plan.unit_axis else (0, n // 2, n) for axis, n in ends))

    def cuts(axis: int) -> tuple[int, ...]:
        n, step = plan.active[axis], 16 if axis in (plan.unit_axis, plan.weighed_axis) else 1
        inner = range(step, n, step)
        return (0, *sorted(draw.sample(inner, min(draw.randrange(4), len(inner)))), n)

    return Arrangement(tuple(cuts(axis) for axis in range(3)))


def compare(
    plan, arrangement: Arrangement, grouping: Grouping, depth: int, threads: int, tiling, overlap: str, kind: str
) -> int:
    """Advance both from a random state; fields, energies and recordings must be equal to the last bit.

    Returns the blocks of steps made in split tiles.
    """
    ranks = world()
    direct = kind.startswith("direct")
    options = {"engine": "cuda" if direct or kind.startswith("device") else "cpu", "threads": threads, "tiling": tiling}
    engine = RankEngine(plan, ranks, arrangement, grouping, depth, overlap, direct=direct, **options)
    assert isinstance(engine, Engine) and engine.direct == direct
    alone = CpuEngine(replace(plan, rows_axis=None), 1) if ranks.rank == 0 else None
    numbers = np.random.default_rng(1)
    components = range(12 if plan.complex_fields else 6)
    for component in components:
        values = numbers.standard_normal(plan.active) * (plan.coefficients.dense(component % 6)[1] != 0)
        engine.set_state(component, values.astype(plan.dtype))
        if alone:
            alone.state(component)[...] = values.astype(plan.dtype)
    for steps in BLOCKS:
        energy = engine.advance(steps, weigh=True).energy
        assert not alone or energy == alone.advance(steps, weigh=True).energy, "energy"
    for component in components:
        found = engine.gathered(component)
        assert not alone or same(found, alone.state(component)), f"component {component}"
    recorded = engine.recordings()
    if alone:
        for number, (found, wanted) in enumerate(zip(recorded, alone.recordings(), strict=True)):
            assert same(found.time, wanted.time) and same(found.values, wanted.values), f"recording {number}"
    return engine.split_blocks


def may_be_parted(plan, arrangement: Arrangement, grouping: Grouping, depth: int) -> bool:
    """Whether closed axes are shared as a run would share them: ranks as thick as halos, rows of whole blocks."""
    boxes, cannot = grouping.boxes(arrangement), unparted(plan)
    for axis in (axis for axis in range(3) if plan.phases[axis] is not None and grouping.ranks[axis] > 1):
        layers = -(-depth // 16) * 16 if axis == plan.unit_axis else depth
        if cannot[axis] or min(box.shape[axis] for box in boxes) < layers:
            return False
    return True


def compare_plans(kind: str, seed: int, count: int) -> int:
    """Draw and compare so many; returns the blocks of steps made in split tiles."""
    draw, compared, split = random.Random(seed), 0, 0
    thick, rings = "split" in kind, "rings" in kind
    while compared < count:
        drawn = {"models": any_model, "scenes": any_scene}.get(kind)
        plan = drawn(draw) if drawn else any_plan(draw, draw.randrange(1000), thick, rings)
        arrangement = any_arrangement(draw, plan, thick)
        fitting = groupings(arrangement.counts, world().size)
        tiling = draw.choice([STEPWISE, None, Tiling(draw.randint(1, 9), draw.randint(1, 9))])
        depth, threads, overlap = (
            draw.randint(1, 6),
            draw.randint(1, 3),
            draw.choice(["split", "none", "blocking", *["host-buffer"] * (not kind.startswith("direct"))]),
        )
        if thick:
            tiling = Tiling(draw.randint(4, 6) // plan.reach, draw.randint(2, 9))
            depth, overlap = draw.randint(1, 3), "split"
        depth = max(depth, plan.reach)
        fitting = [each for each in fitting if may_be_parted(plan, arrangement, each, depth)]
        if not fitting:
            continue
        case = (plan, arrangement, draw.choice(fitting), depth, threads, tiling, overlap, kind)
        try:
            split += compare(*case)
        except (AssertionError, RuntimeError) as error:
            print(f"{error}: {plan.active} {plan.cpml} {case[1:]}", flush=True)
            world().abort(1)
        compared += 1
    return split


if __name__ == "__main__":
    for wanted in sys.argv[1:]:
        kind, seed, count = wanted.split(":")
        blocks = compare_plans(kind, int(seed), int(count))
        if world().rank == 0:
            print(f"{kind}: {count} plans agree on {world().size} ranks, {blocks} blocks in split tiles", flush=True)
