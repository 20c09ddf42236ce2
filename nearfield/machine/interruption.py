"""Ctrl-C and SIGTERM during a run: they end it between blocks of steps, and nothing recorded is lost."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Any


class Interruption:
    """While it is entered, SIGINT and SIGTERM do nothing but make `asked()` true; the loop and the core ask.

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

    @contextlib.contextmanager
    def at_once(self) -> Iterator[None]:
        """Work that can be thrown away: while this lasts, a signal raises KeyboardInterrupt."""
        try:
            self._raises = True
            if self._asked or self._terminated:
                raise KeyboardInterrupt
            yield
        finally:
            self._raises = False

    def __enter__(self) -> Interruption:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM, *([signal.SIGUSR1] if self._checkpoints else [])):
                self._before[number] = signal.signal(number, self._handle)
        return self

    def __exit__(self, *error: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self._checkpoints and number != signal.SIGINT:
            self._terminated = True
        else:
            self._asked = True
        if self._raises:
            raise KeyboardInterrupt


class Terminated(KeyboardInterrupt):
    """SIGTERM came."""


def _raise_terminated(number: int, frame: FrameType | None) -> None:
    raise Terminated


@contextlib.contextmanager
def terminable() -> Iterator[None]:
    """While this lasts, SIGTERM raises `Terminated`, as Ctrl-C does KeyboardInterrupt."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _raise_terminated)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
