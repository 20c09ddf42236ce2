"""Engines beside the oracle: all advance one plan, and everything that can be read must be equal."""

from __future__ import annotations

import numpy as np
import plans

from nearfield.engines import ENGINES
from nearfield.engines.cpu.heuristics import LEAST_DEPTH
from nearfield.engines.cpu.tiling import STEPWISE, Rows, Tiling
from nearfield.engines.protocol import FIELDS, LocalEngine, NamedState
from nearfield.plan.plan import Plan

ORACLE = "reference"
ENGINE_NAMES = [name for name in ENGINES if name != ORACLE]  # what `engine_name` (conftest.py) goes through
SMALL = Tiling(LEAST_DEPTH, 3)  # cuts even small domains into bands, and short blocks into blocks of time


def same(found: np.ndarray, expected: np.ndarray) -> bool:
    """Whether two arrays are equal, of one type and shape; -0 equals +0, NaN equals NaN."""
    found, expected = np.asarray(found), np.asarray(expected)
    return found.dtype == expected.dtype and np.array_equal(found, expected, equal_nan=True)


def cpu_engines(plan: Plan, threads: int, isa: str | None, tiling: Tiling | None) -> list[LocalEngine]:
    """The CPU's engine in tiles (those given, or those it chooses and small ones, both at least four steps deep) and
    stepwise."""
    tiled = [ENGINES["cpu"](plan, threads, isa, choice) for choice in ([tiling] if tiling else [None, SMALL])]
    for engine in tiled if tiling or Rows.of(plan).deepest >= LEAST_DEPTH else tiled[1:]:
        assert_tiled(engine, least=1 if tiling else LEAST_DEPTH)
    stepwise = ENGINES["cpu"](plan, threads, isa, STEPWISE)
    assert stepwise.facts()["schedule"] == "stepwise"
    return [*tiled, stepwise]


def assert_agrees(
    name: str,
    plan: Plan,
    blocks: tuple[int, ...] = (2 * LEAST_DEPTH + 3, 4),
    *,
    start: bool = True,
    threads: int = 2,
    isa: str | None = None,
    excitation: str = "sources",
    tiling: Tiling | None = None,
) -> tuple[LocalEngine, LocalEngine]:
    """Advance the engine of a name and the oracle by blocks of steps, from a random state or from rest, and compare
    after each. Of the CPU's there are several (`cpu_engines`). Returns the first engine and the oracle.
    """
    engines = cpu_engines(plan, threads, isa, tiling) if name == "cpu" else [ENGINES[name](plan)]
    oracle = ENGINES[ORACLE](plan)
    if start:
        plans.randomise((*engines, oracle), plan)
    for steps in blocks:
        found = [engine.advance(steps, excitation, weigh=True).energy for engine in engines]
        expected = oracle.advance(steps, excitation, weigh=True).energy
        assert found == [expected] * len(engines), f"energy after step {oracle.step}"
    for engine in engines:
        assert engine.step == oracle.step
        assert_equal(engine, oracle)
    return engines[0], oracle


def assert_model_agrees(
    name: str, plan: Plan, excitation: str = "sources", blocks: tuple[int, ...] = (13, 7)
) -> LocalEngine:
    """The plan of a model, from rest; every component must be excited."""
    engine, _ = assert_agrees(name, plan, blocks, start=False, excitation=excitation)
    assert all(engine.state(component).any() for component in range(6))
    return engine


def assert_tiled(engine: LocalEngine, least: int = LEAST_DEPTH) -> None:
    """A silent fall-back to stepwise, or to tiles that share no steps, is an error."""
    facts = engine.facts()
    assert facts["schedule"] == "tiled" and facts["tile_depth"] >= least, facts


def states_of(engine: LocalEngine) -> dict[str, list[NamedState]]:
    """The pieces of each named state."""
    found: dict[str, list[NamedState]] = {}
    for state in engine.named_states():
        found.setdefault(state.name, []).append(state)
    return found


def whole(plan: Plan, pieces: list[NamedState]) -> np.ndarray:
    """A state of the whole box; zero where it does not exist."""
    values = np.zeros((*pieces[0].leading, *plan.active), plan.dtype)
    for piece in pieces:
        values[(..., *piece.box.slices())] = piece.read(piece.box)
    return values


def assert_equal(engine: LocalEngine, other: LocalEngine) -> None:
    """The fields, all states between two steps and the recordings of two engines are equal."""
    plan, found, expected = engine.plan, states_of(engine), states_of(other)
    assert set(FIELDS[:6]) <= set(found) and set(found) == set(expected)
    for name in found:
        assert same(whole(plan, found[name]), whole(plan, expected[name])), name
    edges = [each.circuits for each in (engine, other)]
    orders = [sorted(range(len(each)), key=each.__getitem__) for each in edges]
    memories = [each.circuit_states()[order] for each, order in zip((engine, other), orders)]
    assert sorted(edges[0]) == sorted(edges[1]) and same(*memories)
    for one, wanted in zip(engine.recordings(), other.recordings(), strict=True):
        assert same(one.time, wanted.time), wanted
        assert same(one.values, wanted.values), (one.values, wanted.values)
