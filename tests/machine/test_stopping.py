"""Long work of the core ends where Python is asked to end: between blocks of a loop, between passes of the probe."""

import faulthandler
import os
import signal
import sys
import threading
import time
from contextlib import contextmanager

import numpy as np
import pytest

import nearfield as nf
from nearfield import _core
from nearfield.machine.interruption import Interruption, Terminated, terminable
from nearfield.parallel.launch import watched

STREAM = ([([], -1)], 1_000_000, 2_000)


class Ended(Exception):
    """What the handler of a signal raises."""


@contextmanager
def asked_three_times():
    """Signals at intervals; only the third one's handler raises, so that none waits for the work's own end."""
    calls = []

    def handle(*_):
        calls.append(None)
        if len(calls) == 3:
            raise Ended

    before = signal.signal(signal.SIGALRM, handle)
    signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("method", ["trace", "hybrid"])
def test_elements(method):
    noise = np.random.default_rng(1).normal(size=(140, 140, 140))
    with pytest.raises(Ended), asked_three_times():
        nf.elements(noise, 1.0, method=method)
    few = nf.elements(noise[:20, :20, :20], 1.0, method=method)  # and all is as before
    assert few.labels.shape == (20, 20, 20)


def test_the_probe_of_memory():
    with pytest.raises(Ended), asked_three_times():
        _core.machine.stream_seconds(*STREAM)


def test_the_launcher_of_ranks_gets_the_signal_that_asks_for_a_checkpoint(tmp_path):
    code = (
        "import pathlib, signal, sys, time\n"
        "signal.signal(signal.SIGUSR1, lambda *_: sys.exit(75))\n"
        f"pathlib.Path({str(tmp_path / 'ready')!r}).touch()\n"
        "time.sleep(20)\n"
    )

    def send() -> None:
        while not (tmp_path / "ready").exists():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGUSR1)

    threading.Thread(target=send).start()
    assert watched([sys.executable, "-c", code], dict(os.environ), 2) == 75


def test_a_script_s_own_handler_and_those_of_compiled_code_are_left_alone(monkeypatch):
    calls = []
    before = signal.signal(signal.SIGUSR1, lambda *_: calls.append(1))
    try:
        with Interruption() as stop:
            os.kill(os.getpid(), signal.SIGUSR1)
            assert not stop.came() and calls == [1]
        with terminable(), Interruption() as stop:
            os.kill(os.getpid(), signal.SIGUSR1)
            assert stop.asked()
        with pytest.raises(Terminated), terminable():
            os.kill(os.getpid(), signal.SIGUSR1)
        handled = signal.getsignal(signal.SIGTERM)
        with monkeypatch.context() as seen_by_python:
            seen_by_python.setattr(signal, "getsignal", lambda number: None)  # so Python sees handlers of C
            with Interruption(True), terminable():
                seen_by_python.undo()
                assert signal.getsignal(signal.SIGTERM) is handled
        assert signal.getsignal(signal.SIGTERM) is handled
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_faulthandler_keeps_its_signal_during_a_run_and_after_it(tmp_path):
    """Python says SIG_DFL of a signal that faulthandler has, and would give that back."""
    before = signal.getsignal(signal.SIGUSR1)
    with (tmp_path / "stacks").open("w") as stacks:
        signal.signal(signal.SIGUSR1, signal.SIG_DFL)
        faulthandler.register(signal.SIGUSR1, stacks)
        try:
            with Interruption() as stop:
                os.kill(os.getpid(), signal.SIGUSR1)
            assert not stop.came() and "most recent call first" in (tmp_path / "stacks").read_text()
        finally:
            faulthandler.unregister(signal.SIGUSR1)
            signal.signal(signal.SIGUSR1, before)


def test_a_loop_within_a_loop_does_not_ask():
    """Nothing may be thrown in a block: the outer loop's threads would be left alone."""
    made = []

    def outer(_):
        _core.schedule.calls(2, 1, lambda block: made.append(block))

    _core.schedule.calls(3, 1, outer)
    assert made == [0, 1] * 3
