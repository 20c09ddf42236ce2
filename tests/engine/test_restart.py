"""An engine put back from a checkpoint goes on with the same bits, whatever wrote it and whatever reads it."""

import random
from dataclasses import replace

import numpy as np
import plans
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from plans import draws, make_plan
from test_domains import WALLS, arrangement
from test_same_bits import any_plans

from nearfield.engines import ENGINES
from nearfield.engines.cpu.engine import CpuEngine
from nearfield.engines.cpu.tiling import STEPWISE, Tiling
from nearfield.engines.protocol import LocalEngine
from nearfield.run.checkpoint.manifest import Damaged
from nearfield.run.checkpoint.pieces import Holder
from nearfield.run.checkpoint.store import Stored, write_arrays

TILINGS = [STEPWISE, Tiling(4, 3), Tiling(7, 2), Tiling(20, 5)]


def an_engine(name: str, plan, draw: random.Random, rows_axis: int | None) -> LocalEngine:
    """An engine with rows along an axis (None: along some axis), in some domains, tiles and threads."""
    turned = replace(plan, rows_axis=draw.randrange(3) if rows_axis is None else rows_axis)
    domains = arrangement(turned, tuple(draw.randint(1, 3) for _ in range(3)))
    return ENGINES[name](turned, threads=draw.randint(1, 4), tiling=draw.choice(TILINGS), domains=domains)


def kept(engine: LocalEngine, folder) -> Stored:
    """The engine's state in a file."""
    path = folder / "arrays.bin"
    path.unlink(missing_ok=True)
    return Stored(folder, {path.name: write_arrays(path, Holder(engine).pieces())})


def everything(engine: LocalEngine, energy: float, zero: float = -0.0) -> list[bytes]:
    """All that the engine will ever be asked for, and what it would keep, by global coordinates.

    With `zero` 0.0, -0 counts as 0: it depends on the axis of the rows.
    """
    pieces = sorted(Holder(engine).pieces(), key=lambda piece: (piece.name, piece.lower or ()))
    recordings = [(part + zero).tobytes() for r in engine.recordings() for part in (r.time, r.values)]
    circuits = sorted(zip(*(p.values.tolist() for p in pieces if p.name.startswith("circuits"))))
    states = [(piece.name, piece.lower, (piece.values + zero).tobytes()) for piece in pieces if piece.lower is not None]
    return [*states, circuits, *recordings, energy]


def assert_goes_on(name: str, plan, before: tuple[int, ...], after: tuple[int, ...], seed: int, folder) -> None:
    """Advance one engine all the way; another as far as `before`; a third from there."""
    draw = random.Random(seed)
    rows_axis = draw.choice([None, 0, 1, 2])
    through, first, second = (an_engine(name, plan, draw, rows_axis) for _ in range(3))
    plans.randomise((through, first), plan)
    for steps in (*before, *after):
        energy = through.advance(steps, weigh=True).energy
    for steps in before:
        first.advance(steps)
    second.advance(3)  # what it held before does not matter
    Holder(second).restore(first.step, kept(first, folder))
    assert second.step == sum(before)
    for steps in after:
        found = second.advance(steps, weigh=True).energy
    zero = 0.0 if rows_axis is None else -0.0
    assert everything(second, found, zero) == everything(through, energy, zero)


@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("before", [(1,), (5, 3), (11,), (12,)])
def test_any_domains_threads_tiles_and_axis_of_rows_go_on_with_the_same_bits(engine_name, precision, before, tmp_path):
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
    for seed in range(8):
        assert_goes_on(engine_name, plan, before, (6, 1, 9), seed, tmp_path)


@settings(max_examples=draws(25), deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(plan=any_plans(), before=st.integers(1, 20), after=st.integers(1, 12), seed=st.integers(0, 1000))
def test_any_draw_of_all_features_goes_on_with_the_same_bits(engine_name, plan, before, after, seed, tmp_path_factory):
    assert_goes_on(engine_name, plan, (before,), (after,), seed, tmp_path_factory.getbasetemp())


def test_running_spectra_of_vanishing_fields_have_the_same_bits(engine_name, tmp_path):
    """Products too small for a normal number are zero in every thread, also in the one that asks for the sums."""

    def terms(rng, plan):
        return plans.spectrum(rng, plan, component=2, stride=1) * 2

    plan = make_plan((6, 7, 20), precision="single", terms=terms)
    through, first, second = (ENGINES[engine_name](plan, threads=1) for _ in range(3))
    for engine in (through, first):
        engine.state(2)[...] = np.float32(3e-38)
    through.advance(8)
    first.advance(5)
    Holder(second).restore(5, kept(first, tmp_path))
    second.advance(3)
    assert everything(second, 0.0) == everything(through, 0.0)


def test_a_checkpoint_that_lacks_a_part_is_refused(engine_name, tmp_path):
    plan = make_plan((6, 7, 20), WALLS, terms=plans.some_of_each)
    engine = ENGINES[engine_name](plan, threads=1)
    engine.advance(4)
    stored = kept(engine, tmp_path)
    (entry,) = stored.files.values()
    for number in range(len(entry["arrays"])):
        arrays = [array for n, array in enumerate(entry["arrays"]) if n != number]
        with pytest.raises(Damaged, match="it holds"):
            Holder(engine).restore(4, Stored(tmp_path, {"arrays.bin": entry | {"arrays": arrays}}))


def test_a_state_of_the_core_that_no_checkpoint_knows_is_refused_instead_of_lost():
    engine = CpuEngine(make_plan(), 1)
    registry = engine.states() | {"polarisation 0": (0, np.zeros(3))}
    engine.states = lambda: registry
    with pytest.raises(NotImplementedError, match="lose polarisation 0"):
        list(Holder(engine).pieces())
