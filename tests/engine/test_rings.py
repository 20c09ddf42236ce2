"""Periodic and Bloch-periodic axes: equal to the oracle to the last bit, whatever the schedule and the threads."""

import itertools
from dataclasses import replace

import numpy as np
import plans
import pytest
from agreement import assert_agrees, assert_equal
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from plans import both_parts, draws, make_plan
from test_domains import arrangement
from test_restart import assert_goes_on

from nearfield.engines.cpu.engine import CpuEngine
from nearfield.engines.cpu.tiling import STEPWISE, Tiling

RING = ("periodic", "periodic")
PHASES = (0.3, -1.9, 4.0)
OPEN = ((2, "pec"), ("pmc", 3), (1, 2))
SOME_AXES = [axes for count in (1, 2, 3) for axes in itertools.combinations(range(3), count)]
precisions = pytest.mark.parametrize("precision", ["single", "double"])


def walls_with(rings) -> tuple:
    return tuple(RING if axis in rings else OPEN[axis] for axis in range(3))


@precisions
@pytest.mark.parametrize("rings", SOME_AXES)
@pytest.mark.parametrize("cells", [(9, 8, 23), (23, 9, 8), (8, 23, 9)])
def test_any_axes_may_be_periodic(engine_name, cells, rings, precision):
    options = {"precision": precision, "graded": True, "media": "lossy", "metal": 0.05, "terms": plans.some_of_each}
    assert_agrees(engine_name, make_plan(cells, walls_with(rings), **options))


@precisions
@pytest.mark.parametrize("cells", [(1, 1, 1), (1, 1, 40), (40, 1, 1), (2, 3, 17), (3, 16, 4), (1, 33, 2), (7, 2, 32)])
def test_rings_of_a_few_cells(engine_name, cells, precision):
    assert_agrees(engine_name, make_plan(cells, (RING,) * 3, precision=precision, media="lossless", graded=True))


@precisions
@pytest.mark.parametrize("rings", SOME_AXES)
@pytest.mark.parametrize("turned", [False, True])
def test_electric_fields_take_magnetic_ones_from_over_seams(engine_name, turned, rings, precision):
    phases = {"phases": PHASES, "complex_fields": True} if turned else {}
    for cells in ((9, 8, 23), (23, 9, 8), (1, 2, 5), (3, 17, 1), (1, 1, 1)):
        walls = tuple(RING if axis in rings else ("pec", "pec") for axis in range(3))
        options = {"precision": precision, "graded": True, "media": "lossy", "coupled": 300, "terms": both_parts}
        assert_agrees(engine_name, make_plan(cells, walls, **options, **phases))


@precisions
@pytest.mark.parametrize("rings", SOME_AXES)
@pytest.mark.parametrize("media", ["lossy", "dispersive"])
def test_bloch_phases_on_any_axes(engine_name, rings, precision, media):
    options = {"graded": True, "media": media, "metal": 0.05, "terms": both_parts}
    plan = make_plan((9, 8, 23), walls_with(rings), precision=precision, phases=PHASES, complex_fields=True, **options)
    engine, _ = assert_agrees(engine_name, plan)
    assert all(np.abs(engine.state(component)).max() > 0 for component in range(6, 12))


@precisions
def test_without_a_phase_both_parts_are_those_of_periodic_axes(precision):
    options = {"precision": precision, "media": "dispersive", "graded": True}
    real, both = (make_plan((9, 8, 23), (RING,) * 3, complex_fields=parts, **options) for parts in (False, True))
    engines = [CpuEngine(plan) for plan in (real, real, both)]
    plans.randomise(engines[2:], both)
    for part, engine in enumerate(engines[:2]):
        for component in range(6):
            engine.state(component)[...] = engines[2].state(6 * part + component)
    for engine in engines:
        engine.advance(25)
    for part, engine in enumerate(engines[:2]):
        for component in range(6):
            assert np.array_equal(engine.state(component), engines[2].state(6 * part + component))


sizes = st.tuples(*[st.one_of(st.integers(1, 3), st.integers(4, 12), st.sampled_from([15, 16, 17, 33]))] * 3)


@settings(max_examples=draws(15), deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(
    cells=sizes,
    rings=st.sampled_from(SOME_AXES),
    seed=st.integers(0, 2**20),
    precision=st.sampled_from(["single", "double"]),
    parts=st.booleans(),
    blocks=st.lists(st.integers(1, 14), min_size=1, max_size=3),
    threads=st.integers(1, 5),
    tiling=st.builds(Tiling, st.integers(1, 9), st.integers(1, 9), st.sampled_from([0, 2])),
)
def test_any_draw_of_periodic_boxes_agrees_with_the_oracle(
    engine_name, cells, rings, seed, precision, parts, blocks, threads, tiling
):
    walls = tuple(RING if axis in rings else ("pec", "pmc") for axis in range(3))
    plan = make_plan(
        cells,
        walls,
        seed=seed,
        precision=precision,
        graded=bool(seed % 2),
        media=("vacuum", "lossy", "dispersive")[seed // 2 % 3],
        phases=(1.0, 2.0, 3.0),
        complex_fields=parts,
        terms=both_parts,
    )
    assert_agrees(engine_name, plan, tuple(blocks), threads=threads, tiling=tiling)


def rich(cells=(9, 18, 21), precision="double"):
    """Every feature at once in a cell that repeats along all axes, with phases."""
    return make_plan(
        cells,
        (RING,) * 3,
        precision=precision,
        graded=True,
        media="dispersive",
        metal=0.05,
        terms=both_parts,
        phases=PHASES,
        complex_fields=True,
        seed=2,
    )


@pytest.mark.parametrize("rows_axis", range(3))
def test_the_axis_of_the_rows_changes_no_bit(rows_axis):
    plan = rich()
    turned = replace(plan, rows_axis=rows_axis, blocks_axis=plan.weighed_axis)
    engines = [CpuEngine(plan, 1, tiling=STEPWISE), CpuEngine(turned, 2)]
    plans.randomise(engines, plan)
    energies = [engine.advance(20, weigh=True).energy for engine in engines]
    assert energies[0] == energies[1]
    assert_equal(*engines)


@precisions
@pytest.mark.parametrize("counts", [(2, 1, 1), (1, 3, 1), (1, 1, 2), (2, 2, 2), (3, 2, 1)])
@pytest.mark.parametrize("tiling", [STEPWISE, Tiling(4, 3), Tiling(9, 5)])
def test_domains_and_threads_change_no_bit(counts, tiling, precision):
    plan = rich((9, 10, 37), precision)
    alone, cut = CpuEngine(plan, 1), CpuEngine(plan, 4, tiling=tiling, domains=arrangement(plan, counts))
    plans.randomise((alone, cut), plan)
    for steps in (11, 4):
        assert alone.advance(steps, weigh=True).energy == cut.advance(steps, weigh=True).energy
    assert_equal(alone, cut)


@precisions
@pytest.mark.parametrize("before", [(5, 3), (11,)])
def test_a_checkpoint_holds_both_parts(engine_name, before, precision, tmp_path):
    walls = (RING, (3, 2), RING)
    plan = make_plan(
        (9, 21, 37),
        walls,
        precision=precision,
        graded=True,
        media="dispersive",
        metal=0.1,
        terms=both_parts,
        phases=PHASES,
        complex_fields=True,
        seed=5,
    )
    for seed in range(4):
        assert_goes_on(engine_name, plan, before, (6, 9), seed, tmp_path)


def test_steps_are_counted_and_a_reset_begins_anew():
    plan = rich()
    engine, other = CpuEngine(plan, 2), CpuEngine(plan, 1, tiling=STEPWISE)
    engine.advance(17)
    assert engine.step == 17
    engine.reset()
    assert engine.step == 0 and not any(array.any() for _, array in engine.states().values())
    for each in (engine, other):
        each.advance(13)
    assert engine.step == 13
    assert_equal(engine, other)


@pytest.mark.parametrize("tiling", [STEPWISE, Tiling(4, 8)])
def test_a_run_on_rings_can_be_stopped(tiling):
    plan = make_plan((40, 40, 40), (RING,) * 3)
    engine = CpuEngine(plan, 2, tiling=tiling)
    assert engine.advance(10**5, stop=lambda: True) is None
    engine.reset()
    assert engine.advance(3) is not None
