"""Steps by hand: what is asked wrongly, interrupted, or forked is said, and nothing is lost by monitors."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest

import nearfield as nf
from nearfield.engines import ENGINES

MM = 1e-3
CELLS = (12, 11, 20)
ENDS = 60.0  # s, after which a child that hangs is killed


def model(**entries):
    source = nf.PointCurrent((6 * MM, 6 * MM, 10.5 * MM), "z", nf.Gaussian("20 GHz", delay=0))
    walls = nf.Boundaries(nf.PEC)
    return nf.Simulation(nf.Grid.uniform(MM, CELLS), sources=[source], boundaries=walls, steps=40, **entries)


def interrupted(solver: nf.Solver, steps: int) -> None:
    """Send Ctrl-C while the core makes steps."""
    begun = solver._engine.state(2).copy()

    def send() -> None:
        while np.array_equal(solver._engine.state(2), begun):
            time.sleep(0.005)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=send)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        solver.advance(steps)
    thread.join()


def test_a_solver_steps_through_a_model_whose_snapshots_go_to_files_or_are_elements():
    """Their memory is given by a run alone."""
    box = (MM, MM, MM), (9 * MM, 9 * MM, 17 * MM)
    filed = [nf.Snapshot("s", *box, every=10, file=nf.FieldFile()), nf.ElementStatistics("e", *box, every=10)]
    first, second = (nf.Solver(model(monitors=each), threads=1) for each in (filed, ()))
    for solver in (first, second):
        solver.advance(30)
    assert first.step == 30
    assert np.array_equal(first.field("Ez"), second.field("Ez")) and first.field("Ez").any()


def test_steps_in_many_blocks_are_those_of_one(monkeypatch):
    whole, parts = nf.Solver(model(), threads=1), nf.Solver(model(), threads=1)
    whole.advance(25)
    monkeypatch.setattr("nearfield.solver.BLOCK", 7)
    parts.advance(25)
    assert parts.step == 25 and np.array_equal(whole.field("Hx"), parts.field("Hx")) and whole.field("Hx").any()


def test_an_interrupted_solver_says_so_and_begins_again():
    solver = nf.Solver(model(), threads=1)
    interrupted(solver, 10**7)
    for ask in (solver.advance, lambda: solver.field("Ez"), lambda: solver.set_field("Ez", np.zeros((13, 12, 20)))):
        with pytest.raises(nf.ModelError, match=r"interrupted between steps.*reset\(\)"):
            ask()
    solver.reset()
    fresh = nf.Solver(model(), threads=1)
    for each in (solver, fresh):
        each.advance(30)
    assert solver.step == 30 and np.array_equal(solver.field("Ez"), fresh.field("Ez"))


@pytest.mark.parametrize("threads", [-1, 0, "4", 2.5, True, 10**9])
def test_a_number_of_threads_that_is_none_is_refused(threads):
    with pytest.raises(nf.ModelError, match=r"threads=.*whole number"):
        nf.Solver(model(), threads=threads)
    with pytest.raises(nf.ModelError, match=r"threads=.*whole number"):
        model().run(threads=threads)


@pytest.mark.parametrize("steps", [-1, 1.5, "3", np.nan, np.inf, None])
def test_a_number_of_steps_that_is_none_is_refused(steps):
    with pytest.raises(nf.ModelError, match="not a number of steps"):
        nf.Solver(model(), threads=1).advance(steps)


def test_tiles_of_another_type_are_refused():
    with pytest.raises(nf.ModelError, match="DEPTHxWIDTH"):
        model().run(tiling=(8, 16))


@pytest.mark.parametrize("name", ["cpu", "cuda"])
def test_an_error_of_whoever_watches_the_steps_ends_them_and_is_raised(name):
    engine = ENGINES[name](model()._setup().plan, threads=2)
    calls = []

    def stop() -> bool:
        calls.append(1)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        engine.advance(10**6, stop=stop)
    assert len(calls) == 1
    engine.reset()
    engine.advance(5)
    assert engine.step == 5


def test_a_forked_process_is_told_that_an_engine_is_not_its_own_and_ends():
    solver = nf.Solver(model(), threads=2)
    solver.advance(3)
    child = os.fork()
    if child == 0:  # nothing of pytest may go on here
        code = 1
        try:
            solver.advance(1)
        except RuntimeError as error:
            code = 0 if "process that made it" in str(error) else 2
        del solver
        os._exit(code)
    end = time.monotonic() + ENDS
    while (found := os.waitpid(child, os.WNOHANG))[0] == 0 and time.monotonic() < end:
        time.sleep(0.01)
    if found[0] == 0:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    assert found[0] == child and os.waitstatus_to_exitcode(found[1]) == 0
    solver.advance(1)
    assert solver.step == 4


def test_threads_that_the_system_does_not_grant_are_an_error_in_words():
    """The stacks of eight threads do not fit the address space that is left."""
    program = (
        "import resource, nearfield as nf\n"
        "sim = nf.Simulation(nf.Grid.uniform(1e-3, (400, 8, 8)), boundaries=nf.Boundaries(nf.PEC), steps=1)\n"
        "sim._setup().plan, nf.Solver(sim, threads=1).advance(1)\n"
        "used = 4096 * int(open('/proc/self/statm').read().split()[0])\n"
        "resource.setrlimit(resource.RLIMIT_AS, (used + 2**25, used + 2**25))\n"
        "try:\n"
        "    nf.Solver(sim, threads=8)\n"
        "except nf.ModelError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=ENDS, check=True)
    assert "the system grants no more than" in done.stdout and "give fewer threads" in done.stdout


@pytest.mark.parametrize(
    ("refused", "remedy"),
    [
        ("the system grants no more than 2 of 3 threads", "give fewer threads"),
        ("processor 7: Invalid argument", "give another binding or another memory policy"),
    ],
)
def test_what_an_engine_s_threads_are_refused_for_is_said_with_its_remedy(refused, remedy, monkeypatch):
    def engine(*given):
        raise RuntimeError(refused)

    plan = model()._setup().plan
    monkeypatch.setattr("nearfield.engines.cpu.engine.core", lambda: SimpleNamespace(Engine32=engine, Engine64=engine))
    monkeypatch.setattr("nearfield.engines.cpu.engine.available_threads", lambda: 3)
    with pytest.raises(nf.ModelError, match=f"3 threads: {refused}; {remedy}"):
        ENGINES["cpu"](plan)


def test_a_solver_interrupted_between_its_blocks_goes_on(monkeypatch):
    solver, sizes = nf.Solver(model(), threads=1), []

    def interrupting(*given):
        sizes.append(min(given))
        if len(sizes) == 2:
            raise KeyboardInterrupt
        return sizes[-1]

    monkeypatch.setattr("nearfield.solver.BLOCK", 3)
    monkeypatch.setattr("nearfield.solver.min", interrupting, raising=False)
    with pytest.raises(KeyboardInterrupt):
        solver.advance(6)
    assert solver.step == 3 and solver.field("Ez").shape
