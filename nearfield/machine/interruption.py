"""Ctrl-C and SIGTERM during a run: they end it between blocks of steps, and nothing recorded is lost."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import FrameType
from typing import Any

FOR_THE_RUN = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1)  # of terminals and batch systems


class Interruption:
    """While it is entered, SIGINT and SIGTERM do nothing but make `asked()` true; the loop and the core ask. So does
    SIGUSR1 within `terminable`; else it is the script's, or that of faulthandler, of which Python says nothing.

    With `checkpoints` SIGTERM and SIGUSR1 make `terminated()` true instead: the block of steps under way is made to
    its end. (Open MPI's mpiexec passes SIGUSR1 on, but kills at SIGTERM.)
    An exception instead could arise between any two statements, and lose what a block recorded. Outside the main
    thread Python hands no signals over, and nothing changes.
    """

    def __init__(self, checkpoints: bool = False) -> None:
        self._asked = self._terminated = self._raises = False
        self._checkpoints = checkpoints
        self._before: dict[int, Any] = {}

    def asked(self) -> bool:
        """Whether a signal came that ends the run at once."""
        return self._asked

    def terminated(self) -> bool:
        """Whether a signal came that ends the run with a checkpoint."""
        return self._terminated

    def came(self) -> bool:
        """Whether a signal came that ends the run."""
        return self._asked or self._terminated

    @contextlib.contextmanager
    def at_once(self) -> Iterator[None]:
        """Work that can be thrown away: while this lasts, a signal raises KeyboardInterrupt."""
        try:
            self._raises = True
            if self.came():
                raise KeyboardInterrupt
            yield
        finally:
            self._raises = False

    def __enter__(self) -> Interruption:
        own = self._checkpoints or signal.getsignal(signal.SIGUSR1) is _raise_terminated
        self._before = handled_by(self._handle, [signal.SIGINT, signal.SIGTERM, *([signal.SIGUSR1] if own else [])])
        return self

    def __exit__(self, *error: object) -> None:
        give_back(self._before)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self._checkpoints and number != signal.SIGINT:
            self._terminated = True
        else:
            self._asked = True
        if self._raises:
            raise KeyboardInterrupt


def handled_by(handle: Callable[[int, FrameType | None], None], numbers: Iterable[int]) -> dict[int, Any]:
    """Have this called at signals; returns their earlier handlers, for `give_back`.

    Those that C code handles are left to it: Python could not give them back. Nothing changes outside the main thread.
    """
    if threading.current_thread() is not threading.main_thread():
        return {}
    return {number: signal.signal(number, handle) for number in numbers if signal.getsignal(number) is not None}


def give_back(before: Mapping[int, Any]) -> None:
    """Have signals handled as they were before."""
    for number, handler in before.items():
        signal.signal(number, handler)


class Terminated(KeyboardInterrupt):
    """SIGTERM or SIGUSR1 came."""


def _raise_terminated(number: int, frame: FrameType | None) -> None:
    raise Terminated


@contextlib.contextmanager
def terminable() -> Iterator[None]:
    """While this lasts, SIGTERM and SIGUSR1 raise `Terminated`, as Ctrl-C does KeyboardInterrupt."""
    before = handled_by(_raise_terminated, (signal.SIGTERM, signal.SIGUSR1))
    try:
        yield
    finally:
        give_back(before)


@contextlib.contextmanager
def held_back(numbers: Iterable[int]) -> Iterator[None]:
    """While this lasts, signals wait, in a process that is started meanwhile until it takes them."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
