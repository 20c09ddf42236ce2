"""The engine beside its oracle: both advance one plan, and everything that can be read must be equal."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import plans
from reference import ReferenceEngine, same

from nearfield.engines.cpu.engine import CpuEngine
from nearfield.engines.cpu.tiling import STEPWISE, Rows, Tiling
from nearfield.grid.yee import COMPONENTS
from nearfield.plan.boxes import Box
from nearfield.plan.plan import Plan

LEAST_DEPTH = 4  # steps of a tile that deserves the name
SMALL = Tiling(LEAST_DEPTH, 3)  # cuts even small domains into bands, and short blocks into blocks of time


def assert_agrees(
    plan: Plan,
    blocks: tuple[int, ...] = (2 * LEAST_DEPTH + 3, 4),
    *,
    start: bool = True,
    threads: int = 2,
    isa: str | None = None,
    excitation: str = "sources",
    reference: Plan | None = None,
    tiling: Tiling | None = None,
) -> tuple[CpuEngine, ReferenceEngine]:
    """Advance them by blocks of steps, from a random state or from rest, and compare after each.

    The engine runs stepwise and in tiles: those given, else both those it chooses and small ones, which must be at
    least four steps deep. `reference`: the plan for the oracle, where it is to differ. Returns the (first) tiled
    engine and the oracle.
    """
    tiled = [CpuEngine(plan, threads, isa, choice) for choice in ([tiling] if tiling else [None, SMALL])]
    for engine in tiled if tiling or Rows.of(plan).deepest >= LEAST_DEPTH else tiled[1:]:
        assert_tiled(engine, least=1 if tiling else LEAST_DEPTH)
    stepwise = CpuEngine(plan, threads, isa, STEPWISE)
    assert stepwise.facts()["schedule"] == "stepwise"
    engines = [*tiled, stepwise]
    oracle = ReferenceEngine(reference or plan)
    if start:
        plans.randomise((*engines, oracle), plan)
    for steps in blocks:
        found = [engine.advance(steps, excitation, weigh=True).energy for engine in engines]
        oracle.advance(steps, excitation)
        assert found == [oracle.energy()] * len(engines), f"energy after step {oracle.step}"
    for engine in engines:
        assert engine.step == oracle.step
        assert_equal(engine, oracle)
    return tiled[0], oracle


def assert_model_agrees(plan: Plan, excitation: str = "sources", blocks: tuple[int, ...] = (13, 7)) -> CpuEngine:
    """The plan of a model, from rest, the oracle given its coefficients by planes; every component must be excited."""
    engine, _ = assert_agrees(plan, blocks, start=False, excitation=excitation, reference=by_planes(plan))
    assert all(engine.state(component).any() for component in range(6))
    return engine


def by_planes(plan: Plan) -> Plan:
    """The plan with the dense coefficients that its planes hold along the axis by which the engine asks for them.

    `dense` averages the media along x first: in double that may differ from it in the last bit.
    """
    along = plan.storage_axes[0]
    shape = tuple(plan.active[(along + n) % 3] for n in range(3))
    turned, cells = np.empty((6, 2, *shape)), np.zeros((len(plan.pole_media), 2, 3, *shape))
    cells[:, 0] = 1.0
    for planes in plan.coefficients.planes(along):
        turned[:3, :, planes.start : planes.stop] = planes.electric[:, :, None]
        turned[3:, :, planes.start : planes.stop] = planes.magnetic[:, :, None]
        for poles in planes.poles:
            for place, values in enumerate((poles.stay, poles.weight)):
                cells[poles.medium, place, :, planes.start : planes.stop] = values[:, None]
    back = [2 + (axis - along) % 3 for axis in range(3)]
    dense = plans.DenseCoefficients(
        turned.transpose(0, 1, *back), cells.transpose(0, 1, 2, *(1 + n for n in back)), plan.pole_media
    )
    return replace(plan, coefficients=dense)


def assert_tiled(engine: CpuEngine, least: int = LEAST_DEPTH) -> None:
    """A silent fall-back to stepwise, or to tiles that share no steps, is an error."""
    facts = engine.facts()
    assert facts["schedule"] == "tiled" and facts["tile_depth"] >= least, facts


def assert_equal(engine, other) -> None:
    """The fields, the states of poles and the recordings of two engines are equal."""
    parts = ("", "imaginary ") if engine.plan.complex_fields else ("",)
    for component, name in enumerate(part + name for part in parts for name in COMPONENTS):
        assert same(engine.state(component), other.state(component)), name
    if isinstance(other, ReferenceEngine):
        whole = Box((0, 0, 0), engine.plan.active)
        assert {(medium, component) for component, medium, _ in engine.poles.boxes()} == set(other.pole_states)
        for (medium, component), states in other.pole_states.items():
            assert same(engine.poles.states(component, medium, whole), states), (medium, component)
    for found, expected in zip(engine.recordings(), other.recordings(), strict=True):
        assert same(found.time, expected.time), expected
        assert same(found.values, expected.values), (found.values, expected.values)
