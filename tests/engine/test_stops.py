"""A run that ends other than by its last step: interruption, blow-up, refusal; most of it of the CPU's engine alone."""

import gc
import os
import platform
import resource
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import plans
import pytest
from agreement import assert_equal
from plans import make_plan

import nearfield as nf
from nearfield.engines import ENGINES
from nearfield.engines.cpu.engine import CpuEngine
from nearfield.entry.errors import ModelError
from nearfield.machine.compiled import core
from nearfield.plan.terms import IncidentTerm

CELLS = (40, 41, 42)
ENDLESS = 100_000  # steps; half a minute of two processors, while their tables are made in a tenth of a second
THREADS = 2


class Interrupter(threading.Thread):
    """Sends SIGINT once the core makes steps: a signal that came while tables are made would break nothing off."""

    def __init__(self, engine: CpuEngine) -> None:
        super().__init__(daemon=True)
        self._field = engine.state(0)
        self._before = self._field.copy()
        self.sent = np.nan
        self.start()

    def run(self) -> None:
        while np.array_equal(self._field, self._before):
            time.sleep(0.01)
        self.sent = time.process_time()
        os.kill(os.getpid(), signal.SIGINT)


def quickly_tabled(rng, plan):
    """Some of each term but incident waves, whose tables take as long as the steps of their line."""
    return tuple(term for term in plans.some_of_each(rng, plan) if not isinstance(term, IncidentTerm))


@pytest.fixture
def interrupted():
    """A plan, its engine with three steps made and then broken off, and the processors' seconds since the signal."""
    plan = make_plan(CELLS, terms=quickly_tabled)
    engine = CpuEngine(plan, THREADS)
    engine.advance(3)
    interrupter = Interrupter(engine)
    with pytest.raises(KeyboardInterrupt):
        engine.advance(ENDLESS)
    interrupter.join()
    return plan, engine, time.process_time() - interrupter.sent


def test_an_interrupt_ends_a_block_within_two_seconds(interrupted):
    assert interrupted[2] < 2 * THREADS  # what a busy machine makes it wait does not count


def test_an_interrupt_leaves_the_recordings_of_earlier_blocks(interrupted):
    plan, engine, _ = interrupted
    fresh = CpuEngine(plan, 1)
    fresh.advance(3)
    assert engine.step == 3
    for term, found, expected in zip(plan.terms[-6:], engine.recordings(), fresh.recordings(), strict=True):
        if isinstance(term, plans.Functional):
            assert np.array_equal(found.values, expected.values)


def test_an_interrupted_engine_refuses_to_go_on_until_it_is_reset(interrupted):
    plan, engine, _ = interrupted
    with pytest.raises(RuntimeError, match="reset"):
        engine.advance(1)
    engine.reset()
    fresh = CpuEngine(plan, 1)
    for each in (engine, fresh):
        each.advance(9)
    assert_equal(engine, fresh)


def test_an_interrupt_ends_a_program_within_two_seconds():
    program = (
        "import plans; from nearfield.engines.cpu.engine import CpuEngine\n"
        f"engine = CpuEngine(plans.make_plan({CELLS}), 7); print('ready', flush=True)\n"
        f"engine.advance({ENDLESS})"
    )
    folder = os.path.dirname(plans.__file__)
    paths = os.pathsep.join(filter(None, [folder, os.path.dirname(folder), os.environ.get("PYTHONPATH")]))
    child = subprocess.Popen(
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": paths},
    )
    assert child.stdout.readline() == "ready\n"
    time.sleep(0.8)  # in its tables or in the core: it ends either way
    child.send_signal(signal.SIGINT)
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    _, errors = child.communicate(timeout=100)
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before < 15  # start included, of sixty for its steps
    assert "KeyboardInterrupt" in errors


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("component", range(6))
def test_one_sample_that_is_not_a_number_shows_in_the_energy(engine_name, component, value):
    plan = make_plan((5, 6, 18))
    for sample in (plans.free_samples(plan, component)[0], plans.free_samples(plan, component)[-1]):
        engine = ENGINES[engine_name](plan, threads=2)
        engine.state(component)[tuple(sample)] = value
        assert not np.isfinite(engine.advance(1, weigh=True).energy)


def test_unknown_instruction_sets_are_refused(monkeypatch):
    monkeypatch.setenv("NEARFIELD_ISA", "altivec")
    with pytest.raises(ModelError, match=rf"NEARFIELD_ISA.*altivec.*{', '.join(core().isa_available())}"):
        CpuEngine(make_plan())


@pytest.mark.parametrize("isa", core().isa_available())
def test_an_instruction_set_can_be_asked_for(isa, monkeypatch):
    monkeypatch.setenv("NEARFIELD_ISA", isa)
    assert CpuEngine(make_plan()).facts()["isa"] == isa


def test_the_first_instruction_set_is_that_of_every_processor_of_its_kind():
    assert core().isa_available()[0] == ("neon" if platform.machine() in ("aarch64", "arm64") else "baseline")


def test_terms_outside_the_domain_are_refused():
    for i in (-1, 6):
        sample = [np.array([n]) for n in (i, 0, 0)]
        term = plans.Functional(np.array([0]), *sample, np.ones(1))
        with pytest.raises(IndexError, match="outside"):
            CpuEngine(make_plan((6, 6, 6), terms=lambda rng, plan, term=term: (term,)))


def test_slabs_thicker_than_the_domain_are_refused():
    with pytest.raises(ValueError, match="slabs"):
        CpuEngine(make_plan((6, 6, 6), ((4, 3), ("pec", "pec"), ("pec", "pec"))))


def test_facts_name_the_core():
    facts = CpuEngine(make_plan((6, 6, 6)), 2).facts()
    assert facts["isa"] == core().isa_available()[-1] or os.environ.get("NEARFIELD_ISA")
    assert facts["bytes"] > 6 * 6**3 * 8 and facts["step"] == 0


def test_the_solver_makes_whole_numbers_of_steps():
    sim = nf.Simulation(nf.Grid.uniform(1e-3, (4, 4, 4)), boundaries=nf.Boundaries(nf.PEC), steps=1)
    solver = nf.Solver(sim, threads=1)
    solver.advance(0)
    solver.advance(np.int64(3))
    for steps in (-1, 2.5):
        with pytest.raises(ModelError, match="whole number"):
            solver.advance(steps)
    assert solver.step == 3


def test_a_view_of_a_state_keeps_the_engine_alive():
    engine = CpuEngine(make_plan((6, 6, 6)))
    views = [engine.state(0), *(array for _, array in engine.states().values())]
    del engine
    gc.collect()
    for view in views:
        view[...] = 1.0
        assert view.all()
