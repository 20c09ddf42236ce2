"""The engine beside its oracle: both advance one plan, and everything that can be read must be equal."""

from __future__ import annotations

import plans
from reference import ReferenceEngine, same

from nearfield.engine import CpuEngine
from nearfield.plan import COMPONENTS, Plan
from nearfield.tiling import STEPWISE, Tiling


def assert_agrees(
    plan: Plan,
    blocks: tuple[int, ...] = (5, 4),
    *,
    start: bool = True,
    threads: int = 2,
    isa: str | None = None,
    excitation: str = "sources",
    reference: Plan | None = None,
    tiling: Tiling | None = None,
) -> tuple[CpuEngine, ReferenceEngine]:
    """Advance them by blocks of steps, from a random state or from rest, and compare after each.

    Both schedules are compared with the oracle. `reference`: the plan for the oracle, where it is to differ. Returns
    the tiled engine and the oracle.
    """
    tiled, stepwise = CpuEngine(plan, threads, isa, tiling), CpuEngine(plan, threads, isa, STEPWISE)
    oracle = ReferenceEngine(reference or plan)
    if start:
        plans.randomise((tiled, stepwise, oracle), plan)
    for steps in blocks:
        found = [engine.advance(steps, excitation, weigh=True).energy for engine in (tiled, stepwise)]
        oracle.advance(steps, excitation)
        assert found == [oracle.energy()] * 2, f"energy after step {oracle.step}"
    for engine in (tiled, stepwise):
        assert engine.step == oracle.step
        assert_equal(engine, oracle)
    assert tiled.facts()["schedule"] == "tiled" and stepwise.facts()["schedule"] == "stepwise"
    return tiled, oracle


def assert_equal(engine, other) -> None:
    """The fields and the recordings of two engines are equal."""
    for component, name in enumerate(COMPONENTS):
        assert same(engine.state(component), other.state(component)), name
    for found, expected in zip(engine.recordings(), other.recordings(), strict=True):
        assert same(found.time, expected.time), expected
        assert same(found.values, expected.values), (found.values, expected.values)
