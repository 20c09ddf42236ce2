"""Blocks and resets change no bit, nor do instruction set, threads and tiles of the CPU's engine (`cpu_bits`).

Random draws of all features agree with the oracle.
"""

import numpy as np
import plans
import pytest
from agreement import assert_agrees, assert_equal
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from plans import draws, make_plan

import nearfield as nf
from nearfield.engines import ENGINES
from nearfield.engines.cpu.engine import CpuEngine
from nearfield.engines.cpu.tiling import STEPWISE, Tiling
from nearfield.machine.compiled import core

WALLS = ((3, 2), ("pmc", 4), (2, "pmc"))
precisions = pytest.mark.parametrize("precision", ["single", "double"])


def rich_plan(precision: str, cells=(9, 8, 23), coupled=0):
    """Every feature at once."""
    return make_plan(
        cells,
        WALLS,
        precision=precision,
        graded=True,
        media="dispersive",
        metal=0.1,
        terms=plans.some_of_each,
        seed=3,
        coupled=coupled,
    )


def bits(engine, blocks=(12,)) -> list[bytes]:
    """All that can be read after a run from a random state."""
    plans.randomise([engine], engine.plan)
    for steps in blocks:
        energy = engine.advance(steps, weigh=True).energy
    return read(engine, energy)


def cpu_bits(plan, blocks=(12,), threads=1, isa=None, tiling=None) -> list[bytes]:
    return bits(CpuEngine(plan, threads, isa, tiling), blocks)


def read(engine, energy: float) -> list[bytes]:
    states = [state.read(state.box).tobytes() for state in engine.named_states()]
    recordings = [part.tobytes() for r in engine.recordings() for part in (r.time, r.values)]
    return [*states, engine.circuit_states().tobytes(), *recordings, np.float64(energy).tobytes()]


@precisions
@pytest.mark.parametrize("isa", core().isa_available())
def test_each_instruction_set_gives_the_same_bits(isa, precision):
    plan = rich_plan(precision)
    assert CpuEngine(plan, 1, isa).facts()["isa"] == isa
    assert_agrees("cpu", plan, isa=isa)
    assert cpu_bits(plan, isa=isa) == cpu_bits(plan, isa=core().isa_available()[0])


@precisions
@pytest.mark.parametrize("threads", [2, 3, 7, 9, 40])
def test_each_thread_count_gives_the_same_bits(threads, precision):
    plan = rich_plan(precision)
    assert CpuEngine(plan, threads).facts()["threads"] == min(threads, plan.active[plan.storage_axes[0]])
    assert cpu_bits(plan, threads=threads) == cpu_bits(plan)


@precisions
@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("tiling", [(1, 1), (4, 3), (5, 8), (8, 2), (8, 40), (30, 4)])
def test_each_tiling_gives_the_same_bits(tiling, threads, precision):
    plan = rich_plan(precision)
    tiled = CpuEngine(plan, threads, None, Tiling(*tiling))
    assert (tiled.facts()["tile_depth"], tiled.facts()["tile_width"]) == tiling
    assert cpu_bits(plan, (23, 4), threads, None, Tiling(*tiling)) == cpu_bits(plan, (23, 4), tiling=STEPWISE)


@precisions
@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("tiling", [(1, 1), (4, 3), (8, 40), (30, 4), (7, 2, 2)])
def test_each_tiling_gives_the_same_bits_where_electric_fields_take_far_magnetic_ones(tiling, threads, precision):
    plan = rich_plan(precision, (9, 8, 71), coupled=300)
    assert cpu_bits(plan, (23, 4), threads, None, Tiling(*tiling)) == cpu_bits(plan, (23, 4), tiling=STEPWISE)


@precisions
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("tiling", [(4, 3, 2), (5, 8, 3), (7, 2, 5), (8, 40, 2)])
def test_each_segment_gives_the_same_bits(tiling, threads, precision):
    plan = rich_plan(precision, cells=(5, 6, 143))
    assert CpuEngine(plan, threads, None, Tiling(*tiling)).facts()["tile_segment"] == tiling[2]
    assert cpu_bits(plan, (23, 4), threads, None, Tiling(*tiling)) == cpu_bits(plan, (23, 4), tiling=STEPWISE)


@precisions
@pytest.mark.parametrize("blocks", [(7, 5), (3, 4, 5), (1,) * 12, (11, 1)])
def test_each_division_into_blocks_gives_the_same_bits(engine_name, blocks, precision):
    plan = rich_plan(precision)
    assert bits(ENGINES[engine_name](plan, threads=2), blocks) == bits(ENGINES[engine_name](plan, threads=1))


@pytest.mark.parametrize("excitation", ["sources", "another"])
def test_tables_do_not_depend_on_the_division_into_blocks(excitation):
    plan = rich_plan("double")
    box = next(term for term in plan.terms if isinstance(term, plans.DFTBox))
    whole = (*plan.amplitudes(1, 67, excitation), plan.phasors(box, 1, 67))
    for step in range(1, 68):
        parts = (*plan.amplitudes(step, 1, excitation), plan.phasors(box, step, 1))
        assert all(np.array_equal(table[step - 1], part[0]) for table, part in zip(whole, parts))


@pytest.mark.parametrize("length", [1, 2, 7, 8, 13, 64])
def test_waveforms_do_not_depend_on_the_division_into_blocks(length):
    time = np.arange(1, 500) * 1.7e-12
    for waveform in (
        nf.Gaussian(20e9),
        nf.GaussianDerivative(9e9),
        nf.ModulatedGaussian(9e9, 4e9),
        nf.Ricker(5e9),
        nf.ContinuousWave(5e9),
        nf.Samples([0.0, 0.2e-9, 0.5e-9], [0.0, 1.0, 0.0]),
    ):
        parts = [waveform.value(time[first : first + length]) for first in range(0, time.size, length)]
        assert np.array_equal(np.concatenate(parts), waveform.value(time)), waveform.kind


@precisions
def test_a_reset_engine_repeats_its_bits(engine_name, precision):
    plan = rich_plan(precision)
    engine = ENGINES[engine_name](plan, threads=2)
    first = read(engine, engine.advance(12, weigh=True).energy)
    assert engine.step == 12
    engine.reset()
    assert engine.step == 0
    assert not any(state.read(state.box).any() for state in engine.named_states())
    assert not engine.circuit_states().any()
    assert not any(recording.values.any() for recording in engine.recordings())
    assert read(engine, engine.advance(12, weigh=True).energy) == first


def test_weighing_changes_no_field(engine_name):
    plan = rich_plan("single")
    weighed, plain = (ENGINES[engine_name](plan, threads=2) for _ in range(2))
    for _ in range(6):
        weighed.advance(2, weigh=True)
        assert plain.advance(2).energy == -1
    assert_equal(weighed, plain)


wall = st.one_of(st.sampled_from(["pec", "pmc"]), st.integers(1, 4))
sizes = st.tuples(*[st.one_of(st.integers(1, 3), st.integers(4, 12), st.sampled_from([15, 16, 17, 33, 70]))] * 3)


@st.composite
def any_plans(draw):
    cells = draw(sizes)
    walls = []
    for n in cells:
        low, high = draw(wall), draw(wall)
        thick = sum(side for side in (low, high) if isinstance(side, int))
        walls.append((low, high) if thick <= n else ("pec", "pmc"))
    return make_plan(
        cells,
        tuple(walls),
        seed=draw(st.integers(0, 2**20)),
        precision=draw(st.sampled_from(["single", "double"])),
        graded=draw(st.booleans()),
        media=draw(st.sampled_from(["vacuum", "layers", "lossless", "lossy", "dispersive"])),
        metal=draw(st.sampled_from([0.0, 0.0, 0.2, 0.8])),
        terms=draw(st.sampled_from([plans.some_of_each, lambda rng, plan: ()])),
        coupled=draw(st.sampled_from([0, 0, 60])),
    )


@settings(max_examples=draws(50), deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(
    plan=any_plans(),
    blocks=st.lists(st.integers(1, 12), min_size=1, max_size=3),
    threads=st.integers(1, 5),
    isa=st.sampled_from(core().isa_available()),
    start=st.booleans(),
    tiling=st.builds(Tiling, st.integers(1, 9), st.integers(1, 9), st.sampled_from([0, 2, 3])),
)
def test_any_draw_of_all_features_agrees_with_the_oracle(plan, blocks, threads, isa, start, tiling):
    assert_agrees("cpu", plan, tuple(blocks), threads=threads, isa=isa, start=start, tiling=tiling)
