"""The solver's side of the process that writes field files: starts it, sends requests, receives answers."""

from __future__ import annotations

import contextlib
import json
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from nearfield.entry.errors import ModelError, RunFailed
from nearfield.machine.interruption import FOR_THE_RUN, held_back

LAST_WORDS = 30.0  # s without progress of the process, once the run is to end, after which it is killed
LOOK_EVERY = 0.2  # s between looks at whether a signal ends the run


class Patience:
    """One limit for all that waits once a signal ends the run: `LAST_WORDS` after the last progress, or the signal."""

    def __init__(self) -> None:
        self._since: float | None = None  # the first look that found the signal

    def is_over(self, signalled: bool, progress: float) -> bool:
        """Whether to wait no longer; `progress`: when there was some, by `time.monotonic`."""
        if not signalled:
            return False
        now = time.monotonic()
        self._since = self._since or now
        return now - max(self._since, progress) >= LAST_WORDS


class WriterProcess:
    """A process of `nearfield.output.writer`, which answers each request, a line of JSON, with one line.

    `failure` is a message that it sent without request, of a disk that refused, or the way in which it ended; None
    while neither has happened. `signalled` says whether a signal ends the run, which then waits for no more than
    `LAST_WORDS` after the process last said that it had written something, at `heard` (by `time.monotonic`).
    """

    signalled: Callable[[], bool] = staticmethod(lambda: False)

    def __init__(self) -> None:
        command = [sys.executable, "-P", "-m", "nearfield.output.writer"]
        with held_back(FOR_THE_RUN):
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._process.stdin and self._process.stdout
        self._requests, self._lines = self._process.stdin, self._process.stdout
        self._answers: queue.Queue[dict[str, Any]] = queue.Queue()
        self.failure: str | None = None
        self.heard = time.monotonic()
        self._patience = Patience()
        self._asked = self._closed = False
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def _listen(self) -> None:
        for line in self._lines:
            message = json.loads(line)
            self.heard = time.monotonic()
            if "failed" in message:
                self.failure = message["failed"]
            elif "written" not in message:
                self._answers.put(message)
        code = self._process.wait()
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        ended = f"the process that writes the fields ended with {how}; the snapshots that it had committed can be read"
        self.failure = self.failure or ended
        self._answers.put({"ended": True})

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """Send a request and wait for its answer. Errors: `ModelError`, it refuses; `RunFailed`, it failed or died."""
        self._asked, self.heard = True, time.monotonic()
        with contextlib.suppress(OSError):  # it is dead: the listener notices
            self._requests.write(json.dumps(request) + "\n")
            self._requests.flush()
        answer = self._answer()
        if "refused" in answer:
            raise ModelError(answer["refused"])
        if self.failure or "ended" in answer:
            self._answers.put({"ended": True})
            raise RunFailed(self.failure or "the process that writes the fields has ended")
        return answer

    def _answer(self) -> dict[str, Any]:
        """The next answer. Once a signal ends the run, a process that makes no progress for long is killed."""
        while not self._patience.is_over(self.signalled(), self.heard):
            with contextlib.suppress(queue.Empty):
                return self._answers.get(timeout=LOOK_EVERY)
        self.failure = (
            f"the process that writes the fields did not answer within {LAST_WORDS:g} s of a signal that ends the run, "
            "nor wrote a snapshot in this time, and was killed; the snapshots that it had committed can be read"
        )
        self._process.kill()
        return {"ended": True}

    def close(self) -> None:
        """End the requests, upon which the process closes its files and ends; at once where it was never asked."""
        if self._closed:
            return
        self._closed, self.heard = True, time.monotonic()
        if not self._asked:
            self._process.kill()
        with contextlib.suppress(OSError):
            self._requests.close()
        while self._process.poll() is None and time.monotonic() - self.heard < LAST_WORDS:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(LOOK_EVERY)
        self._process.kill()
        self._listener.join(LAST_WORDS)
        if not self._listener.is_alive():  # else the system holds the process, which waits for a disk
            self._lines.close()
