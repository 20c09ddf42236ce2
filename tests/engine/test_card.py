"""Engine "cuda" by a card's driver, which a stand-in plays: copies, streams, graphs, and a card that fails."""

from __future__ import annotations

import numpy as np
import plans
import pytest
from agreement import assert_agrees, assert_equal
from plans import make_plan
from rich_plans import WALLS, rich_plan

import nearfield as nf
from nearfield.engines import ENGINES
from nearfield.engines.protocol import Face
from nearfield.machine.device_messages import DeviceMemory
from nearfield.plan.boxes import Box

precisions = pytest.mark.parametrize("precision", ["single", "double"])
HIGHEST = -5  # priority that the stand-in has; a card says its own
STAGED = 8 << 20  # bytes that one copy carries, core/cuda/card_device.hpp


@precisions
@pytest.mark.parametrize("walls", WALLS)
def test_a_card_by_its_driver_has_the_bits_of_the_oracle(card, walls, precision):
    """Its memory cannot be touched by the host, its work is done late, its blocks in any order."""
    engine, _ = assert_agrees("cuda", rich_plan(precision, walls))
    facts = engine.facts()
    assert (facts["device"], facts["card"], facts["driver"], facts["nvrtc"]) == ("Stand-in", "sm_90", "13.0", "13.5")
    assert facts["kernels"][f"half_step_electric_{precision}"] == 42
    assert card.launches > 0


@pytest.mark.parametrize("device", ["card", "host"])
def test_steps_that_are_alike_are_replayed_as_graphs_with_the_same_bits(device, request, monkeypatch):
    """Spectra are due every 3 steps, snapshots on some: 16 steps have 3 patterns, and snapshots cut them."""
    if device == "card":
        request.getfixturevalue("card")

    def terms(rng, plan):
        spectrum = plans.DFTBox(2, (0, 0, 0), plan.active, np.array([0.1, 0.2]) / plan.time_step, 3)
        copies = plans.SnapshotBox(4, (0, 0, 0), plan.active, np.array([5, 40, 41, 90, 200]))
        return (*plans.current(rng, plan, [2], 20), spectrum, copies)

    plan = make_plan((6, 5, 11), precision="single", terms=terms, seed=4)
    engine, oracle = ENGINES["cuda"](plan), ENGINES["reference"](plan)
    for each in (engine, oracle):
        for steps in (100, 7, 100, 33):
            each.advance(steps)
    assert_equal(engine, oracle)
    assert 3 <= engine.facts()["graphs"] <= 64
    if device == "card":
        assert request.getfixturevalue("card").graph_launches > 5


def test_tables_that_move_make_new_graphs(card):
    """A longer block needs longer tables at other addresses; a graph that still read the old ones would show."""
    plan = make_plan((6, 5, 11), precision="single", terms=lambda rng, p: plans.current(rng, p, [2], 20), seed=1)
    engine, oracle = ENGINES["cuda"](plan), ENGINES["reference"](plan)
    for each in (engine, oracle):
        for steps in (40, 40, 150, 40, 200):
            each.advance(steps)
    assert_equal(engine, oracle)


def test_copies_larger_than_their_staging_arrive_whole(card):
    """Both buffers in turn, several times, both ways."""
    plan = make_plan((90, 90, 110), precision="single")
    engine = ENGINES["cuda"](plan)
    assert engine.facts()["bytes"] > 2.5 * STAGED
    twin = ENGINES["cpu"](plan, threads=1)
    plans.randomise((engine, twin), plan)
    for each in (engine, twin):
        each.advance(2)
    for component in range(6):
        assert np.array_equal(engine.state(component), twin.state(component))


@precisions
@pytest.mark.parametrize("device", ["card", "host"])
def test_snapshots_leave_in_parts_while_steps_go_on(device, precision, request):
    """Two recorders, one of them larger than a pinned buffer, more parts in a block than the ring has buffers; a place
    of a snapshot is filled before the block of steps ends, and by nothing else."""
    if device == "card":
        request.getfixturevalue("card")

    def terms(rng, plan):
        whole = plans.SnapshotBox(2, (0, 0, 0), plan.active, np.array([2, 3, 5, 6]))
        plane = plans.SnapshotBox(4, (3, 0, 0), (4, *plan.active[1:]), np.arange(1, 9))
        return (whole, plane)

    shape = (24, 60, 1500) if precision == "single" else (24, 60, 750)
    plan = make_plan(shape, precision=precision, terms=terms)
    assert np.dtype(plan.dtype).itemsize * np.prod(plan.active) > STAGED
    engine, twin = ENGINES["cuda"](plan), ENGINES["cpu"](plan, threads=1)
    plans.randomise((engine, twin), plan)
    for each in (engine, twin):
        each.advance(5)
        each.advance(3)
    for found, expected in zip(engine.recordings(), twin.recordings(), strict=True):
        assert np.array_equal(found.time, expected.time) and np.array_equal(found.values, expected.values)


def test_two_engines_share_a_card(card):
    plan = make_plan((6, 5, 11), precision="double", media="dispersive")
    one, two = ENGINES["cuda"](plan), ENGINES["cuda"](plan)
    plans.randomise((one, two), plan)
    for steps in (3, 4):
        one.advance(steps)
        two.advance(steps)
    assert_equal(one, two)


CELLS, LAYERS = (9, 8, 17), ((2, "pec"), ("pec", 3), (1, 1))
FACES = [Face(Box((0, 0, 0), (3, 8, 17))), Face(Box((5, 2, 0), (6, 7, 17)), frozenset({"Hy", "Hz"}))]


def giver_and_takers(plan):
    """An engine on the device, and two others in one state, all after some steps."""
    giver, taker, twin = (ENGINES["cuda"](plan) for _ in range(3))
    plans.randomise((giver,), plan, seed=1)
    plans.randomise((taker, twin), plan, seed=2)
    for engine in (giver, taker, twin):
        engine.advance(3)
    return giver, taker, twin


def pass_through_the_host(there, here):
    there.pack()
    np.copyto(here.buffer, there.buffer)
    here.unpack()


def assert_both_took_the_same(*engines):
    for engine in engines:
        engine.refreshed(1)
        engine.advance(2)
    assert_equal(*engines)


@precisions
@pytest.mark.parametrize("device", ["card", "host"])
def test_states_pass_between_engines_of_a_device_without_the_host(device, precision, request):
    """The same as through the buffers of both messages; fields alone, and with what the CPML keeps."""
    card = request.getfixturevalue("card") if device == "card" else None
    giver, taker, twin = giver_and_takers(make_plan(CELLS, LAYERS, precision=precision, seed=3))
    there, here, through = (engine.message(FACES) for engine in (giver, taker, twin))
    assert here.take(there)  # views of states were asked for, so that the first one sends both mirrors
    copies = card.host_copies if card else 0
    assert here.take(there)
    assert not card or card.host_copies == copies
    pass_through_the_host(there, through)
    assert_both_took_the_same(taker, twin)


@precisions
@pytest.mark.parametrize("device", ["card", "host"])
def test_what_has_come_onto_a_device_is_taken_without_the_host(device, precision, request):
    """A row that `pack` leaves on the device is as one that MPI has written there."""
    card = request.getfixturevalue("card") if device == "card" else None
    giver, taker, twin = giver_and_takers(make_plan(CELLS, LAYERS, precision=precision, seed=3))
    there, staged = giver.message(FACES, direct=True), giver.message(FACES)
    here, through = taker.message(FACES), twin.message(FACES)
    assert isinstance(there.parts[0], DeviceMemory) and there.parts[0].nbytes == staged.parts[0].nbytes
    pass_through_the_host(staged, through)
    there.pack()
    there.settle()
    assert here.take(there, received=True)  # views of states were asked for, so that the first one sends the mirror
    copies = card.host_copies if card else 0
    there.pack()
    there.settle()
    assert here.take(there, received=True)
    assert not card or card.host_copies == copies
    giver.reset()  # what has come stays in the row
    assert here.take(there, received=True)
    assert not here.take(staged, received=True)
    assert_both_took_the_same(taker, twin)


@pytest.mark.parametrize("direct", [False, True])
@pytest.mark.parametrize("device", ["card", "host"])
def test_poles_and_circuits_are_taken_with_the_fields(device, direct, request):
    """The same as through the buffers of both messages."""
    if device == "card":
        request.getfixturevalue("card")
    plan = rich_plan()
    giver, taker, twin = giver_and_takers(plan)
    there, here, through = (engine.message([Face(plan.box)]) for engine in (giver, taker, twin))
    assert len(there.parts) == 2
    pass_through_the_host(there, through)
    if direct:
        there = giver.message([Face(plan.box)], direct=True)
        there.pack()
        there.settle()
    assert here.take(there, received=direct)
    assert_both_took_the_same(taker, twin)


def test_states_of_another_kind_of_engine_are_not_taken():
    plan = make_plan((6, 5, 11), precision="single")
    on_device, on_cpu = (ENGINES[name](plan).message([Face(plan.box)]) for name in ("cuda", "cpu"))
    assert not on_device.take(on_cpu)
    assert [part.nbytes for part in on_device.parts] == [part.nbytes for part in on_cpu.parts]


def test_an_urgent_engine_works_on_a_stream_of_the_highest_priority(card):
    plan = make_plan((6, 5, 11), precision="single")
    calm, urgent = ENGINES["cuda"](plan), ENGINES["cuda"](plan, urgent=True)
    assert (card.streams(0), card.streams(HIGHEST)) == (1, 1)
    plans.randomise((calm, urgent), plan)
    for engine in (calm, urgent):
        engine.advance(5)
    assert_equal(calm, urgent)


@pytest.mark.parametrize("launches", [0, 30, 300])
def test_a_card_that_fails_ends_the_run_in_words(card, launches):
    plan = make_plan((6, 5, 11), precision="single")
    engine = ENGINES["cuda"](plan)
    card.has(fail_after=launches)
    with pytest.raises(nf.RunFailed, match=r"card Stand-in failed after step 0: .*CUDA_ERROR_LAUNCH_FAILED.*resumed"):
        engine.advance(200)
    for ask in (lambda: engine.state(0), engine.recordings, engine.reset, lambda: list(engine.accumulated())):
        with pytest.raises(nf.RunFailed, match="CUDA_ERROR_LAUNCH_FAILED"):
            ask()
            engine.advance(1)


def test_a_card_that_is_full_is_refused_when_the_engine_is_made(card):
    card.has(memory=1e5)
    with pytest.raises(nf.ModelError, match=r"Stand-in cannot take this model: cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY"):
        ENGINES["cuda"](make_plan((30, 30, 30), precision="single"))
