"""The solver's side of the process that writes field files: starts it, sends requests, receives answers."""

from __future__ import annotations

import contextlib
import json
import queue
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

from nearfield.entry.errors import ModelError, RunFailed
from nearfield.machine.interruption import FOR_THE_RUN, held_back

LAST_WORDS = 30.0  # s for the process to answer, or close its files, once the run is to end
LOOK_EVERY = 0.2  # s between looks at whether a signal ends the run


class WriterProcess:
    """A process of `nearfield.output.writer`, which answers each request, a line of JSON, with one line.

    `failure` is a message that it sent without request, of a disk that refused, or the way in which it ended; None
    while neither has happened. `signalled` says whether a signal ends the run, which waits then for `LAST_WORDS` alone.
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
        self._asked = False
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def _listen(self) -> None:
        for line in self._lines:
            message = json.loads(line)
            if "failed" in message:
                self.failure = message["failed"]
            else:
                self._answers.put(message)
        code = self._process.wait()
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        ended = f"the process that writes the fields ended with {how}; the snapshots that it had committed can be read"
        self.failure = self.failure or ended
        self._answers.put({"ended": True})

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """Send a request and wait for its answer. Errors: `ModelError`, it refuses; `RunFailed`, it failed or died."""
        self._asked = True
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
        """The next answer. Once a signal ends the run, a process that gives none for long is killed."""
        waited = 0.0
        while waited < LAST_WORDS:
            with contextlib.suppress(queue.Empty):
                return self._answers.get(timeout=LOOK_EVERY)
            waited = waited + LOOK_EVERY if self.signalled() else 0.0
        self.failure = (
            f"the process that writes the fields did not answer within {LAST_WORDS:g} s of a signal that ends the run, "
            "and was killed; the snapshots that it had committed can be read"
        )
        self._process.kill()
        return {"ended": True}

    def close(self) -> None:
        """End the requests, upon which the process closes its files and ends; at once where it was never asked."""
        if not self._asked:
            self._process.kill()
        with contextlib.suppress(OSError):
            self._requests.close()
        try:
            self._process.wait(LAST_WORDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
        self._listener.join(LAST_WORDS)
        if not self._listener.is_alive():  # else the system holds the process, which waits for a disk
            self._lines.close()
