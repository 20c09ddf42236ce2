"""Cutting a block into domains, in any arrangement and on any number of threads, changes no bit."""

from dataclasses import replace

import plans
import pytest
from agreement import assert_equal
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from plans import draws, make_plan
from reference import ReferenceEngine
from test_same_bits import any_plans

import nearfield as nf
from nearfield.engine import CpuEngine, Placement
from nearfield.parallel.decomposition import Arrangement
from nearfield.tiling import STEPWISE, Tiling

WALLS = ((3, 2), ("pmc", 4), (2, "pmc"))


def arrangement(plan, counts) -> Arrangement:
    """Even cuts, those of the rows at multiples of 16."""
    step = [16 if axis == plan.unit_axis else 1 for axis in range(3)]
    return Arrangement(
        tuple(
            tuple(dict.fromkeys(min(n, -(-n * part // (count * by)) * by) for part in range(count + 1)))
            for n, count, by in zip(plan.active, counts, step)
        )
    )


def assert_domains_agree(plan, domains, threads, tiling, blocks=(11, 4)):
    engine, oracle = CpuEngine(plan, threads, tiling=tiling, domains=domains), ReferenceEngine(plan)
    plans.randomise((engine, oracle), plan)
    for steps in blocks:
        energy = engine.advance(steps, weigh=True).energy
        oracle.advance(steps)
        assert energy == oracle.energy()
    assert_equal(engine, oracle)


@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize(
    "counts", [(2, 1, 1), (1, 2, 1), (1, 1, 2), (3, 1, 1), (1, 5, 1), (2, 2, 2), (2, 1, 4), (4, 2, 1)]
)
def test_any_arrangement_gives_the_oracles_bits(counts, threads, precision):
    cells = (9, 12, 70)
    plan = make_plan(
        cells, WALLS, precision=precision, graded=True, media="dispersive", metal=0.1, terms=plans.some_of_each, seed=3
    )
    for tiling in (STEPWISE, Tiling(4, 3), Tiling(7, 2)):
        assert_domains_agree(plan, arrangement(plan, counts), threads, tiling)


@settings(max_examples=draws(75), deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(
    plan=any_plans(), counts=st.tuples(*[st.integers(1, 4)] * 3), threads=st.integers(1, 7),
    tiling=st.just(STEPWISE) | st.builds(Tiling, st.integers(1, 9), st.integers(1, 9), st.sampled_from([0, 2])),
)  # fmt: skip
def test_any_draw_of_all_features_agrees_with_the_oracle_in_domains(plan, counts, threads, tiling):
    assert_domains_agree(plan, arrangement(plan, counts), threads, tiling)


def test_running_spectra_survive_a_change_of_tiles_between_domains_along_the_rows():
    plan = make_plan((6, 7, 90), terms=lambda rng, plan: plans.spectrum(rng, plan, stride=1) * 2)
    engine = CpuEngine(plan, 4, tiling=Tiling(4, 3), domains=arrangement(plan, (1, 1, 4)))
    oracle = ReferenceEngine(plan)
    plans.randomise((engine, oracle), plan)
    for tiling in (Tiling(4, 3), Tiling(20, 2), STEPWISE, Tiling(6, 4)):
        engine.use_tiles(tiling)
        engine.advance(21)
        oracle.advance(21)
    assert_equal(engine, oracle)


@pytest.mark.parametrize("rows_axis", [0, 1, 2])
@pytest.mark.parametrize("precision", ["single", "double"])
def test_rows_along_any_axis_give_the_same_bits(precision, rows_axis):
    plan = make_plan(
        (9, 21, 37), WALLS, precision=precision, graded=True, media="dispersive", metal=0.1,
        terms=plans.some_of_each, seed=5,
    )
    turned = replace(plan, rows_axis=rows_axis)
    assert_domains_agree(turned, arrangement(turned, (2, 2, 2)), 3, Tiling(4, 3))


def test_threads_may_be_bound_and_domains_placed():
    plan = make_plan((12, 8, 20))
    domains = arrangement(plan, (2, 1, 1))
    for memory in ("off", "first-touch", "bind", "interleave"):
        placement = Placement(((0,), (0,)), memory, ((0,), (0,)))
        engine, plain = CpuEngine(plan, 2, domains=domains, placement=placement), CpuEngine(plan, 1)
        plans.randomise((engine, plain), plan)
        for each in (engine, plain):
            each.advance(7)
        assert_equal(engine, plain)


def test_a_processor_that_is_not_there_is_refused():
    with pytest.raises(OSError, match="processor"):
        CpuEngine(make_plan(), 1, placement=Placement(((4095,),)))


def test_a_simulation_says_how_many_domains_it_has():
    sim = nf.Simulation(nf.Grid.uniform(1e-3, (20, 20, 20)), boundaries=nf.Boundaries(nf.PEC), steps=1)
    plan = sim.setup().plan
    assert CpuEngine(plan, 2, domains=arrangement(plan, (2, 2, 1))).facts()["domains"] == 4
