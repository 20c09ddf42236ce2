"""No ring outlives its process unclosed: ends that are still open are closed when it exits or is told to (SIGTERM)."""

from __future__ import annotations

import atexit
import os
import signal
import threading
import weakref
from types import FrameType
from typing import Protocol


class End(Protocol):
    """A writer or a reader."""

    def close(self) -> None:
        """Close it; twice is once."""


_open: weakref.WeakSet[End] = weakref.WeakSet()
_process = 0


def watch(end: End) -> None:
    """Have it closed in time. A SIGTERM handler that somebody set is left alone: theirs unwinds, or exits."""
    global _process
    if _process != os.getpid():  # also in a fork, which closes only what it opened itself
        _process = os.getpid()
        _open.clear()
        atexit.register(close_all)
    _open.add(end)
    if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _terminate)


def close_all() -> None:
    """Close what is open in this process."""
    if _process == os.getpid():
        for end in list(_open):
            end.close()


def _terminate(number: int, frame: FrameType | None) -> None:
    close_all()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
