"""All engines, the oracle among them, by the protocols of an engine: one gives what another takes."""

import numpy as np
import plans
import pytest
from agreement import ENGINE_NAMES, ORACLE, assert_equal, same, states_of
from plans import make_plan
from rich_plans import WALLS, rich_plan
from test_restart import kept

from nearfield.engines import ENGINES
from nearfield.engines.protocol import Engine, Halves, Saved, Streams
from nearfield.entry.errors import ModelError
from nearfield.parallel.ranks import engine_for
from nearfield.run.checkpoint.pieces import Holder
from nearfield.run.checkpoint.store import write_arrays

every_engine = pytest.mark.parametrize("name", ENGINES)
pairs = pytest.mark.parametrize(
    "names", [pair for name in ENGINE_NAMES for pair in ((name, ORACLE), (ORACLE, name))], ids=" to ".join
)


@every_engine
def test_an_engine_has_all_members_of_the_protocols(name):
    engine = ENGINES[name](make_plan(), threads=1)
    for protocol in (Engine, Saved, Streams):
        assert isinstance(engine, protocol)
    assert isinstance(engine, Halves) == (name != "reference")


@every_engine
def test_an_engine_alone_has_all_of_its_plan(name):
    plan = rich_plan()
    engine = ENGINES[name](plan, threads=1)
    assert engine.local is engine and (engine.own, engine.part, engine.shared_sums) == (plan.box, None, {})
    assert {"isa", "threads", "bytes", "palette_blocks", "schedule", "tile_depth", "step"} <= set(engine.facts())


def test_an_engine_that_exchanges_no_halos_is_refused_on_several_ranks():
    with pytest.raises(ModelError, match="cannot exchange halos"):
        engine_for("reference", make_plan())


@every_engine
def test_a_state_that_was_written_is_read_again(name):
    """Of sparse states only those that exist."""
    plan = rich_plan(walls="rings")
    engine, rng = ENGINES[name](plan, threads=1), np.random.default_rng(1)
    written = {}
    for number, state in enumerate(engine.named_states()):
        values = rng.uniform(1, 2, (*state.leading, *state.box.shape)).astype(plan.dtype)
        state.write(values)
        written[number] = values
    for number, state in enumerate(engine.named_states()):
        found = state.read(state.box)
        assert same(found, np.where(found == 0, 0, written[number])) if state.sparse else same(found, written[number])
    component = rng.uniform(1, 2, plan.active).astype(plan.dtype)
    engine.set_state(7, component)
    assert same(engine.gathered(7), component) and same(states_of(engine)["imaginary Ey"][0].read(plan.box), component)


@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("walls", WALLS)
def test_named_states_have_one_name_place_and_value_in_all_engines(walls, precision, engine_name):
    plan = rich_plan(precision, walls)
    engine, oracle = ENGINES[engine_name](plan, threads=2), ENGINES[ORACLE](plan)
    plans.randomise((engine, oracle), plan)
    for each in (engine, oracle):
        each.advance(9)
    assert_equal(engine, oracle)
    found, expected = states_of(engine), states_of(oracle)
    for name in found:
        if not found[name][0].sparse:
            assert {piece.box for piece in found[name]} == {piece.box for piece in expected[name]}, name


@pairs
@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("walls", WALLS)
def test_an_engine_goes_on_from_the_checkpoint_of_another(walls, precision, names, tmp_path):
    plan = rich_plan(precision, walls)
    through, first, second = (ENGINES[name](plan, threads=2) for name in (names[1], *names))
    plans.randomise((through, first), plan)
    first.advance(11)
    through.advance(11)
    Holder(second).restore(11, kept(first, tmp_path))
    assert second.step == 11
    assert_equal(second, through)
    energies = [engine.advance(6, weigh=True).energy for engine in (through, first, second)]
    assert len(set(energies)) == 1
    assert_equal(second, through)
    assert_equal(second, first)


@pairs
def test_the_files_of_two_engines_hold_the_same_arrays(names, tmp_path):
    """Names, and all but states of poles, which each engine stores about its own samples."""
    plan, files = rich_plan(), []
    for name in names:
        engine = ENGINES[name](plan, threads=1)
        engine.advance(5)
        arrays = write_arrays(tmp_path / name, Holder(engine).pieces())["arrays"]
        files.append({(each["name"], str(each["lower"]), str(each["shape"]), each["dtype"]) for each in arrays})
    one, other = ({each for each in file if "poles" not in each[0]} for file in files)
    assert one == other
    assert {each[0] for each in files[0]} == {each[0] for each in files[1]}


@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("component", [1, 4])
def test_snapshots_go_into_given_memory(component, precision, engine_name):
    steps = np.array([2, 3, 7, 9])
    box = plans.SnapshotBox(component, (1, 2, 0), (4, 5, 6), steps, kept=False)
    plan = make_plan((5, 6, 7), precision=precision, terms=lambda rng, p: (*plans.functional(rng, p), box))
    found = []
    for name in (engine_name, ORACLE):
        engine = ENGINES[name](plan, threads=1)
        plans.randomise([engine], plan)
        places = [np.full(engine.snapshot_shape(box), np.nan, plan.dtype) for _ in steps]
        for first, last in ((0, 3), (3, 10)):
            some = (steps > first) & (steps <= last)
            engine.place_snapshots(1, [place for place, wanted in zip(places, some) if wanted])
            engine.advance(last - first)
        assert len(engine.recordings()[1].values) == 0
        found.append(places)
    assert all(np.any(place) and same(place, expected) for place, expected in zip(*found, strict=True))


@every_engine
def test_a_stop_ends_a_block_and_a_reset_begins_anew(name):
    plan = make_plan((6, 7, 8), terms=plans.some_of_each)
    engine, fresh = (ENGINES[name](plan, threads=1) for _ in range(2))
    assert engine.advance(10**5, stop=lambda: True) is None
    engine.reset()
    for each in (engine, fresh):
        assert each.advance(7) is not None and each.step == 7
    assert_equal(engine, fresh)
