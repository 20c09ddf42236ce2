"""The CPU's engine: cutting a block into domains, in any arrangement and on any number of threads, changes no bit."""

from dataclasses import replace
from functools import cache

import plans
import pytest
from agreement import assert_equal
from drawn_models import drawn_setup
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from plans import draws, make_plan
from test_same_bits import any_plans

import nearfield as nf
from nearfield.engines.cpu.engine import CpuEngine, Placement
from nearfield.engines.cpu.tiling import STEPWISE, Tiling
from nearfield.engines.reference.engine import ReferenceEngine
from nearfield.plan.boxes import Arrangement

WALLS = ((3, 2), ("pmc", 4), (2, "pmc"))
BLOCKS = (11, 4)  # steps


def arrangement(plan, counts) -> Arrangement:
    """Even cuts, those of the rows at multiples of 16."""
    step = [16 if axis == plan.unit_axis else 1 for axis in range(3)]
    return Arrangement(
        tuple(
            tuple(dict.fromkeys(min(n, -(-n * part // (count * by)) * by) for part in range(count + 1)))
            for n, count, by in zip(plan.active, counts, step)
        )
    )


def advanced_oracle(plan) -> tuple[ReferenceEngine, list[float]]:
    """The oracle after `BLOCKS` of steps from a random state, and its energies."""
    oracle, energies = ReferenceEngine(plan), []
    plans.randomise([oracle], plan)
    for steps in BLOCKS:
        oracle.advance(steps)
        energies.append(oracle.energy())
    return oracle, energies


def assert_domains_agree(plan, domains, threads, tiling, expected=None):
    """`expected`: what `advanced_oracle` gives, where it is known already."""
    oracle, energies = expected or advanced_oracle(plan)
    engine = CpuEngine(plan, threads, tiling=tiling, domains=domains)
    plans.randomise([engine], plan)
    assert [engine.advance(steps, weigh=True).energy for steps in BLOCKS] == energies
    assert_equal(engine, oracle)


@cache
def rich_plan(precision: str, coupled=0):
    """Every feature at once, and the oracle that has advanced it."""
    plan = make_plan(
        (9, 12, 70),
        WALLS,
        precision=precision,
        graded=True,
        media="dispersive",
        metal=0.1,
        terms=plans.some_of_each,
        seed=3,
        coupled=coupled,
    )
    return plan, advanced_oracle(plan)


@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize(
    "counts", [(2, 1, 1), (1, 2, 1), (1, 1, 2), (3, 1, 1), (1, 5, 1), (2, 2, 2), (2, 1, 4), (4, 2, 1)]
)
def test_any_arrangement_gives_the_oracles_bits(counts, threads, precision):
    plan, expected = rich_plan(precision)
    for tiling in (STEPWISE, Tiling(4, 3), Tiling(7, 2)):
        assert_domains_agree(plan, arrangement(plan, counts), threads, tiling, expected)


@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("counts", [(3, 1, 1), (1, 5, 1), (1, 1, 4), (2, 2, 2)])
def test_any_arrangement_gives_the_oracles_bits_where_electric_fields_take_far_magnetic_ones(counts, precision):
    plan, expected = rich_plan(precision, coupled=300)
    for tiling in (STEPWISE, Tiling(4, 3), Tiling(7, 2)):
        assert_domains_agree(plan, arrangement(plan, counts), 5, tiling, expected)


@settings(max_examples=draws(40), deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(
    plan=any_plans(),
    counts=st.tuples(*[st.integers(1, 4)] * 3),
    threads=st.integers(1, 7),
    tiling=st.just(STEPWISE) | st.builds(Tiling, st.integers(1, 9), st.integers(1, 9), st.sampled_from([0, 2])),
)
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
        (9, 21, 37),
        WALLS,
        precision=precision,
        graded=True,
        media="dispersive",
        metal=0.1,
        terms=plans.some_of_each,
        seed=5,
    )
    turned = replace(plan, rows_axis=rows_axis)
    assert_domains_agree(turned, arrangement(turned, (2, 2, 2)), 3, Tiling(4, 3))


@settings(max_examples=draws(6), deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(
    seed=st.integers(0, 2**32),
    precision=st.sampled_from(["single", "double"]),
    rows_axis=st.integers(0, 2),
    counts=st.tuples(*[st.integers(1, 3)] * 3),
)
def test_any_draw_of_a_model_has_the_same_bits_with_rows_along_any_axis_and_cut(seed, precision, rows_axis, counts):
    """Domains that cut the rows turn them, and coefficients are then asked along another axis."""
    setup = drawn_setup(seed, precision, longest=36)
    if setup:
        turned = replace(setup.plan, rows_axis=rows_axis)
        expected = advanced_oracle(setup.plan)
        assert_domains_agree(turned, arrangement(turned, counts), 2, Tiling(4, 3), expected)


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
    plan = sim._setup().plan
    assert CpuEngine(plan, 2, domains=arrangement(plan, (2, 2, 1))).facts()["domains"] == 4
