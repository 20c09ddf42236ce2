"""The engine beside its oracle: both advance one plan, and everything that can be read must be equal."""

from __future__ import annotations

import plans
from reference import ReferenceEngine, same

from nearfield.engine import CpuEngine
from nearfield.plan import COMPONENTS, Plan


def assert_agrees(
    plan: Plan,
    blocks: tuple[int, ...] = (5, 4),
    *,
    start: bool = True,
    threads: int = 2,
    isa: str | None = None,
    excitation: str = "sources",
    reference: Plan | None = None,
) -> tuple[CpuEngine, ReferenceEngine]:
    """Advance both by blocks of steps, from a random state or from rest, and compare after each.

    `reference`: the plan for the oracle, where it is to differ.
    """
    engine, oracle = CpuEngine(plan, threads, isa), ReferenceEngine(reference or plan)
    if start:
        plans.randomise((engine, oracle), plan)
    for steps in blocks:
        block = engine.advance(steps, excitation, weigh=True)
        oracle.advance(steps, excitation)
        assert block.energy == oracle.energy(), f"energy after step {oracle.step}"
    assert engine.step == oracle.step
    assert_equal(engine, oracle)
    return engine, oracle


def assert_equal(engine, other) -> None:
    """The fields and the recordings of two engines are equal."""
    for component, name in enumerate(COMPONENTS):
        assert same(engine.state(component), other.state(component)), name
    for found, expected in zip(engine.recordings(), other.recordings(), strict=True):
        assert same(found.time, expected.time), expected
        assert same(found.values, expected.values), (found.values, expected.values)
