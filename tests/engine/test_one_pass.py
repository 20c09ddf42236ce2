"""Plain rows go in one pass over memory: the same bits wherever the domain is cut, whatever lies in the rest."""

from __future__ import annotations

import numpy as np
import plans
import pytest
from agreement import assert_equal
from plans import make_plan

import nearfield as nf
from nearfield.engines import ENGINES

SHAPE = (9, 19, 150)  # two prisms along the second axis, three along the rows


@pytest.fixture(autouse=True)
def one_pass(monkeypatch):
    """A pass wherever there are plain rows; small domains would not have any otherwise."""
    monkeypatch.setenv("NEARFIELD_PASSES", "1")


def assert_one_pass_agrees(plan, blocks=(5, 33, 4)):
    """Bits of the CPU engine after blocks of steps, which replay graphs of both parities."""
    engine, other = ENGINES["cuda"](plan), ENGINES["cpu"](plan, threads=1)
    plans.randomise((engine, other), plan)
    for steps in blocks:
        found, expected = (each.advance(steps, weigh=True) for each in (engine, other))
        assert found.energy == expected.energy
    facts = engine.facts()
    assert facts["passes"] == 1
    assert_equal(engine, other)
    return engine


@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("graded", [False, True])
def test_one_pass_has_the_bits_of_two(device_name, graded, precision):
    assert_one_pass_agrees(make_plan(SHAPE, precision=precision, graded=graded, seed=2))


@pytest.mark.parametrize("walls", [plans.CLOSED, ((2, 2), (3, 2), (2, 3))], ids=["closed", "cpml"])
@pytest.mark.parametrize("seed", range(4))
def test_any_cut_has_the_same_bits(seed, walls):
    """Currents, sums and spectra at random places cut the plain rows in other ways each time."""

    def terms(rng, plan):
        component = int(rng.integers(6))
        samples = np.array([rng.integers(0, n, 3) for n in plan.active])
        drive = plans.CurrentTerm(component, *samples, rng.uniform(-1, 1, 3), plans.pulse(rng, plan))
        lower = tuple(int(rng.integers(0, n - 2)) for n in plan.active)
        upper = tuple(n + 2 for n in lower)
        spectrum = plans.DFTBox(component, lower, upper, np.array([0.1]) / plan.time_step, 3)
        copies = plans.SnapshotBox((component + 2) % 6, lower, upper, np.array([2, 7, 30]))
        total = plans.Functional(np.full(3, component), *samples, rng.uniform(-1, 1, 3), 2)
        return (drive, total, spectrum, copies)

    shape = [(40, 45, 90), (20, 50, 130), (16, 60, 120), (12, 25, 300)][seed]
    assert_one_pass_agrees(make_plan(shape, walls, precision="single", graded=seed % 2 == 0, terms=terms, seed=seed))


@pytest.mark.parametrize(
    "walls",
    [((2, 0), (0, 0), (0, 0)), ((0, 0), (3, 2), (0, 0)), ((0, 0), (0, 0), (2, 3)), ((3, 2), (2, 3), (17, 3))],
)
def test_slabs_of_the_cpml_keep_their_bits(walls, device_name):
    """Those of one axis in the pass; where slabs meet, half steps in the set that it writes, with psi carried there."""
    for precision in ("single", "double"):
        engine = assert_one_pass_agrees(make_plan(SHAPE, walls, precision=precision, graded=walls[1][0] == 2, seed=5))
        kernels = set(engine.facts().get("kernels", ()))
        in_pass = precision == "single"  # for double a thread has not the registers
        beside = {f"sweep_carry_{precision}", f"half_step_electric_{precision}"}
        if device_name == "card":
            assert f"sweep_one_{precision}" in kernels and ("sweep_slab_one_single" in kernels) == in_pass
            assert beside & kernels == (beside if all(map(sum, walls)) or not in_pass else set())


def whole_box(plan, component=2, stride=3):
    return plans.DFTBox(component, (0, 0, 0), plan.active, np.array([0.1]) / plan.time_step, stride)


def test_boxes_are_recorded_after_the_pass(card):
    """Spectra of E and H and a snapshot: no step of them takes two passes."""

    def terms(rng, plan):
        copies = plans.SnapshotBox(4, (0, 0, 0), plan.active, np.array([2, 3, 30]))
        return (whole_box(plan), whole_box(plan, 5, 2), copies)

    engine = assert_one_pass_agrees(make_plan(SHAPE, precision="single", terms=terms, seed=6))
    assert "half_step_electric_single" not in engine.facts()["kernels"]


def test_a_term_that_changes_what_was_recorded_before_it_keeps_two_passes_there(card):
    """The spectrum holds the samples without the current, as the plan's order says; psi stays with the right set."""

    def terms(rng, plan):
        return (whole_box(plan), *plans.current(rng, plan, [2], 3))

    engine = assert_one_pass_agrees(make_plan(SHAPE, ((2, 3), (3, 2), (2, 2)), precision="single", terms=terms, seed=6))
    kernels = engine.facts()["kernels"]
    assert {"half_step_electric_single", "sweep_one_single"} <= set(kernels)


def test_dispersive_media_stay_out_of_the_pass():
    def terms(rng, plan):
        return plans.current(rng, plan, [2], 3)

    assert_one_pass_agrees(make_plan((24, 19, 40), precision="single", media="dispersive", terms=terms, seed=7))


def test_a_wish_for_passes_that_cannot_be_is_refused(monkeypatch):
    monkeypatch.setenv("NEARFIELD_PASSES", "3")
    with pytest.raises(nf.ModelError, match="NEARFIELD_PASSES=3 is not a number of passes"):
        ENGINES["cuda"](make_plan((5, 5, 5), precision="single"))
