"""Two steps in one pass over memory: the bits of single steps, wherever the domain is cut, whatever falls between."""

from __future__ import annotations

import numpy as np
import plans
import pytest
from agreement import assert_equal
from plans import make_plan

from nearfield.engines import ENGINES
from nearfield.measure.bench import Timed, box

SHAPE = (9, 21, 150)  # two prisms along the second axis, three along the rows


@pytest.fixture(autouse=True)
def two_steps_a_pass(monkeypatch):
    """Wherever nothing but the update reaches; small domains would not have any otherwise."""
    monkeypatch.setenv("NEARFIELD_PASSES", "0.5")


def assert_two_steps_agree(plan, blocks=(5, 1, 19, 4), passes=0.5):
    """Bits of the CPU engine after blocks of steps, odd ones too, which replay graphs of both parities."""
    engine, other = ENGINES["cuda"](plan), ENGINES["cpu"](plan, threads=1)
    plans.randomise((engine, other), plan)
    for steps in blocks:
        found, expected = (each.advance(steps, weigh=True) for each in (engine, other))
        assert found.energy == expected.energy
    assert engine.facts()["passes"] == passes
    assert_equal(engine, other)
    return engine


@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("graded", [False, True])
def test_two_steps_in_a_pass_have_the_bits_of_single_steps(device_name, graded, precision):
    engine = assert_two_steps_agree(make_plan(SHAPE, precision=precision, graded=graded, seed=2))
    kernels = {f"sweep_two_{precision}", f"sweep_one_{precision}"}  # single steps for what is left of an odd number
    assert kernels <= set(engine.facts().get("kernels", kernels))


@pytest.mark.parametrize("walls", [plans.CLOSED, ((2, 2), (3, 2), (2, 3))], ids=["closed", "cpml"])
@pytest.mark.parametrize("seed", range(4))
def test_any_cut_has_the_same_bits(seed, walls):
    """Currents, sums, spectra and snapshots at random places and steps: some steps go in pairs, some alone."""

    def terms(rng, plan):
        component = int(rng.integers(6))
        samples = np.array([rng.integers(0, max(1, n // 3), 3) for n in plan.active])
        drive = plans.CurrentTerm(component, *samples, rng.uniform(-1, 1, 3), plans.pulse(rng, plan))
        lower = tuple(int(rng.integers(0, n - 2)) for n in plan.active)
        upper = tuple(n + 2 for n in lower)
        spectrum = plans.DFTBox(component, lower, upper, np.array([0.1]) / plan.time_step, 5)
        copies = plans.SnapshotBox((component + 2) % 6, lower, upper, np.array([2, 7, 23]))
        total = plans.Functional(np.full(3, component), *samples, rng.uniform(-1, 1, 3), 2)
        return (drive, total, spectrum, copies)

    shape = [(40, 45, 90), (20, 50, 130), (16, 60, 120), (70, 25, 100)][seed]
    assert_two_steps_agree(make_plan(shape, walls, precision="single", graded=seed % 2 == 0, terms=terms, seed=seed))


SLABS = {
    "planes": ((40, 20, 40), ((5, 4), (0, 0), (0, 0))),
    "rows": ((9, 60, 70), ((0, 0), (9, 10), (0, 0))),
    "along the rows": ((9, 21, 150), ((0, 0), (0, 0), (5, 19))),
    "all": ((36, 41, 130), ((4, 5), (3, 6), (4, 18))),
    "thick": ((40, 36, 90), ((14, 13), (9, 8), (20, 30))),
}


@pytest.mark.parametrize("media", ["vacuum", "lossy"])
@pytest.mark.parametrize("name", SLABS)
def test_slabs_of_the_cpml_go_in_the_pass_where_they_do_not_meet(device_name, name, media):
    shape, walls = SLABS[name]
    plan = make_plan(shape, walls, precision="single", graded=media == "lossy", media=media, seed=5)
    engine = assert_two_steps_agree(plan, blocks=(5, 6, 2))
    kernels = {"sweep_slab_two_single", "sweep_slab_one_single"}
    assert device_name != "card" or kernels <= set(engine.facts()["kernels"])


@pytest.mark.parametrize(("kibibytes", "slabs"), [(100, "beside"), (163, "in the pass")])
def test_a_card_whose_blocks_may_not_share_enough_keeps_slabs_beside_the_pass(card, kibibytes, slabs, monkeypatch):
    """99 KiB, as cards of 8.6 have; two steps in a slab take 134 in single precision."""
    monkeypatch.setenv("NEARFIELD_STAND_IN", f"block_memory={kibibytes << 10}")
    plan = make_plan((12, 20, 150), ((0, 0), (0, 0), (5, 19)), precision="single", seed=5)
    kernels = assert_two_steps_agree(plan).facts()["kernels"]
    assert ("sweep_slab_two_single" in kernels) == (slabs == "in the pass")
    assert ("half_step_electric_single" in kernels) == (slabs == "beside")


def test_sources_and_media_in_a_slab_are_felt_beside_it():
    """Currents and dispersive media within slabs and near them: their half steps carry psi."""

    def terms(rng, plan):
        return (*plans.current(rng, plan, [2], 3), *plans.current(rng, plan, [0, 4], 2))

    walls = ((4, 3), (0, 5), (4, 0))
    for media in ("lossy", "dispersive"):
        assert_two_steps_agree(make_plan((40, 45, 70), walls, precision="single", media=media, terms=terms, seed=11))


def test_both_parts_of_complex_fields_have_their_slabs():
    walls = ((3, 2), (0, 4), (0, 0))
    assert_two_steps_agree(make_plan((16, 24, 70), walls, precision="single", complex_fields=True, seed=8))


def test_loss_metal_and_dispersive_media_beside_prisms_keep_their_bits():
    def terms(rng, plan):
        return plans.current(rng, plan, [2], 3)

    assert_two_steps_agree(make_plan(SHAPE, precision="single", media="lossy", metal=0.3, graded=True, seed=3))
    plan = make_plan((24, 19, 40), precision="single", media="dispersive", terms=terms, seed=7)
    assert_two_steps_agree(plan)


def test_a_card_whose_blocks_may_not_share_enough_makes_single_steps(card, monkeypatch):
    """64 KiB, as cards of 7.5 have; two steps take 96 KiB in single precision."""
    monkeypatch.setenv("NEARFIELD_STAND_IN", f"block_memory={64 << 10}")
    assert_two_steps_agree(make_plan((9, 10, 40), precision="single", seed=4), passes=1)


@pytest.mark.parametrize(("stride", "pairs"), [(1, False), (2, True), (5, True)])
def test_a_box_is_recorded_after_the_second_step_of_a_pass(card, stride, pairs):
    """At every step nothing is left to pair; no step of any of them takes two passes."""

    def terms(rng, plan):
        spectrum = plans.DFTBox(2, (0, 0, 0), (2, 2, 2), np.array([0.1]) / plan.time_step, stride)
        return (spectrum, plans.SnapshotBox(4, (0, 0, 0), (2, 2, 2), np.array([4, 9, 22])))

    engine = assert_two_steps_agree(make_plan((12, 20, 40), precision="single", terms=terms, seed=6))
    kernels = engine.facts()["kernels"]
    assert ("sweep_two_single" in kernels) == pairs and "half_step_electric_single" not in kernels


def test_a_snapshot_is_taken_after_the_second_step_of_a_pass(card):
    """49 steps and the snapshot's are 25 pairs: no single step."""

    def terms(rng, plan):
        return (plans.SnapshotBox(2, (0, 0, 0), plan.active, np.array([50, 100])),)

    engine = assert_two_steps_agree(make_plan(SHAPE, precision="single", terms=terms, seed=6), blocks=(100,))
    assert "sweep_one_single" not in engine.facts()["kernels"]


def test_both_parts_of_complex_fields_go_in_the_pass():
    assert_two_steps_agree(make_plan((6, 18, 70), precision="single", complex_fields=True, graded=True, seed=8))


def test_axes_that_close_keep_two_passes():
    walls = (("pec", "pec"), ("periodic", "periodic"), ("pec", "pec"))
    assert_two_steps_agree(make_plan((6, 18, 40), walls, precision="single", seed=9), passes=2)


def test_long_prisms_beside_a_source_have_the_bits_of_single_steps(card, monkeypatch):
    """On a card of one multiprocessor, where short prisms would gain nothing; grading in all of their planes."""
    monkeypatch.setenv("NEARFIELD_STAND_IN", "multiprocessors=1")

    def terms(rng, plan):
        return plans.current(rng, plan, [2], 1)

    plan = make_plan((150, 18, 70), precision="single", graded=True, terms=terms, seed=4)
    assert_two_steps_agree(plan, blocks=(5, 2))


@pytest.mark.slow
def test_large_boxes_take_two_steps_a_pass_by_themselves_and_half_steps_beside_a_cpml(monkeypatch):
    monkeypatch.delenv("NEARFIELD_PASSES")
    made = ((192, "pec", "single"), (256, "pec", "double"), (192, "cpml", "single"))
    boxes = (box(side, 2, walls, precision=precision, engine="cuda") for side, walls, precision in made)
    assert [Timed(each).engine.facts()["passes"] for each in boxes] == [0.5, 0.5, 2]
