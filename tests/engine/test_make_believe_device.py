"""Kernels of cards on the make-believe device: any order of blocks and threads, and terms in the order of the plan."""

import itertools
from dataclasses import replace

import numpy as np
import plans
import pytest
from agreement import ORACLE, assert_agrees, assert_equal
from plans import make_plan
from rich_plans import WALLS, rich_plan

from nearfield.engines import ENGINES

precisions = pytest.mark.parametrize("precision", ["single", "double"])


@precisions
@pytest.mark.parametrize("walls", WALLS)
def test_blocks_and_threads_may_run_backwards(walls, precision, monkeypatch):
    monkeypatch.setenv("NEARFIELD_DEVICE", "host-backwards")
    assert_agrees("cuda", rich_plan(precision, walls))


@precisions
@pytest.mark.parametrize("walls", WALLS)
def test_threads_of_the_processor_share_blocks_with_the_same_bits(walls, precision):
    """Launches large enough to be shared out: the digits of the energy are added by all."""
    options = {"phases": (0.3, 0.0, -1.9), "complex_fields": True} if walls == "rings" else {"coupled": 20000}
    options |= {"media": "dispersive", "precision": precision, "terms": plans.both_parts}
    plan = make_plan((60, 20, 37), WALLS[walls], graded=True, seed=3, **options)
    one, three = (ENGINES["cuda"](plan, threads=n) for n in (1, 3))
    plans.randomise((one, three), plan)
    energies = [engine.advance(9, weigh=True).energy for engine in (one, three)]
    assert energies[0] == energies[1] and len(three.facts()["thread_ids"]) == 3
    assert_equal(one, three)


@precisions
@pytest.mark.parametrize("component", [2, 4])
@pytest.mark.parametrize("order", range(6))
def test_terms_on_the_same_samples_act_and_record_in_the_order_of_the_plan(engine_name, order, component, precision):
    """A sum of two currents and a wave is rounded by their order, and a recorder sees those before it alone."""

    def terms(rng, plan):
        lower, upper = (0, 1, 2), (3, 3, 9)
        samples = np.stack([n.ravel() for n in np.meshgrid(*map(np.arange, lower, upper), indexing="ij")])
        free = plan.coefficients.values[component, 1, *samples] != 0
        samples, count = samples[:, free], int(free.sum())

        def current():
            return plans.CurrentTerm(component, *samples, rng.uniform(-1, 1, count), plans.pulse(rng, plan))

        def wave():
            noise = plans.Noise(int(rng.integers(1 << 30)), 8)
            columns = rng.integers(8, size=(count, 2))
            share = np.tile(rng.uniform(-1, 1, 2), (count, 1))
            numbers = np.full(count, component)
            return plans.IncidentTerm(numbers, *samples, rng.uniform(-1, 1, count), columns, share, noise)

        def functional():
            return plans.Functional(np.full(count, component), *samples, rng.uniform(-1, 1, count), 1)

        spectrum = plans.DFTBox(component, lower, upper, np.array([0.1, 0.2]) / plan.time_step, 1)
        copies = plans.SnapshotBox(component, lower, upper, np.array([1, 4, 5]))
        between = ((functional, spectrum, copies), (spectrum, copies, functional), (copies, functional, spectrum))
        made = [each() if callable(each) else each for each in between[order % 3]]
        acting = [current(), wave(), current(), wave()][:: 1 if order < 3 else -1]
        mixed = itertools.zip_longest(acting, made)
        return tuple(term for pair in mixed for term in pair if term is not None)

    plan = make_plan((6, 5, 11), precision=precision, terms=terms, seed=order)
    engine, _ = assert_agrees(engine_name, plan, (3, 4))
    assert len({recording.values.tobytes() for recording in engine.recordings()}) == 3


def test_the_order_of_terms_matters_to_the_oracle():
    """Else the test above could not fail."""
    plan = make_plan((6, 5, 11), precision="single", terms=lambda rng, p: plans.current(rng, p, [2], 40) * 2, seed=2)
    recorder = plans.SnapshotBox(2, (0, 0, 0), plan.active, np.array([1]))
    first, last = (ENGINES[ORACLE](replace(plan, terms=t)) for t in ((recorder, *plan.terms), (*plan.terms, recorder)))
    for engine in (first, last):
        engine.advance(3)
    assert first.recordings()[0].values.tobytes() != last.recordings()[0].values.tobytes()


@precisions
def test_what_is_written_between_steps_is_sent_to_the_device(engine_name, precision):
    plan = make_plan((6, 5, 20), ((2, 2), "pec pec".split(), (3, 2)), precision=precision, media="dispersive")
    engine, oracle = ENGINES[engine_name](plan, threads=1), ENGINES[ORACLE](plan)
    for seed in range(3):
        plans.randomise((engine, oracle), plan, seed)
        for each in (engine, oracle):
            each.advance(3)
            each.state(1)[...] *= 2
            each.advance(2)
        assert_equal(engine, oracle)
