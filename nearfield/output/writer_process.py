"""The solver's end of the process that writes field files: starts it, asks it, hears what it says of itself."""

from __future__ import annotations

import contextlib
import json
import queue
import subprocess
import sys
import threading
from typing import Any

from nearfield.entry.errors import ModelError, RunFailed

LAST_WORDS = 30.0  # s, to close its files once nobody asks for more


class WriterProcess:
    """A process of `nearfield.output.writer`; one line of JSON asks, one answers.

    `failure` is what it reported by itself: a disk that refused, or its own end.
    """

    def __init__(self, processors: list[int]) -> None:
        command = [sys.executable, "-P", "-m", "nearfield.output.writer", ",".join(map(str, processors))]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._answers: queue.Queue[dict[str, Any]] = queue.Queue()
        self._failure: str | None = None
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def _listen(self) -> None:
        for line in self._process.stdout:
            said = json.loads(line)
            if "failed" in said:
                self._failure = said["failed"]
            else:
                self._answers.put(said)
        code = self._process.wait()
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        ended = f"the process that writes the fields ended with {how}; what it had committed can be read"
        self._failure = self._failure or ended
        self._answers.put({"ended": True})

    @property
    def failure(self) -> str | None:
        """What broke; None while all is well."""
        return self._failure

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """Send a request and wait for its answer. Errors: `ModelError`, it refuses; `RunFailed`, it failed or died."""
        with contextlib.suppress(OSError):  # it has died: the listener hears of it
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
        said = self._answers.get()
        if "refused" in said:
            raise ModelError(said["refused"])
        if self._failure or "ended" in said:
            self._answers.put({"ended": True})
            raise RunFailed(self._failure or "the process that writes the fields has ended")
        return said

    def close(self) -> None:
        """No more requests: it closes what is open and ends."""
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        try:
            self._process.wait(LAST_WORDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._listener.join()
        self._process.stdout.close()
