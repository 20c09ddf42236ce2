"""Processes that measure and print what they found as JSON."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from nearfield.entry.errors import ModelError, RunFailed


def answer(
    command: Sequence[str], seconds: float, allowed: Sequence[int] = (0,), variables: Mapping[str, str] = os.environ
) -> dict[str, Any]:
    """The JSON object that a command prints. Error: it prints none, is not done in time, or ends with another code."""
    line, pipe = " ".join(command), subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=variables) as process:
        try:
            output, complaint = process.communicate(timeout=seconds)
        except BaseException as error:
            process.terminate()  # a launcher ends its ranks
            if isinstance(error, subprocess.TimeoutExpired):
                raise RunFailed(f"`{line}` did not finish within {seconds:g} s") from None
            raise
    found = re.search(r"^\{", output, re.MULTILINE)
    if process.returncode not in allowed or not found:
        why = last_line(complaint) or last_line(output) or "no output"
        raise RunFailed(f"`{line}` failed ({process.returncode}): {why}")
    return json.JSONDecoder().raw_decode(output, found.start())[0]


def last_line(text: str) -> str:
    """The last line of a program's output, which names the error; empty without output."""
    return text.strip().rpartition("\n")[2]


class Worker:
    """A process `python -m MODULE '{...}'` that answers each line of input with a line of JSON."""

    def __init__(self, module: str, given: dict[str, Any]) -> None:
        pipe, command = subprocess.PIPE, [sys.executable, "-m", module, json.dumps(given)]
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True)
        assert self._process.stdin and self._process.stdout and self._process.stderr
        self._input, self._output, self._errors = self._process.stdin, self._process.stdout, self._process.stderr

    def say(self, line: str) -> None:
        """Send a line; where the process has ended, its answer says why."""
        with contextlib.suppress(OSError):
            print(line, file=self._input, flush=True)

    def answer(self) -> dict[str, Any]:
        """The next line. Raises ModelError for what the process refuses, RunFailed where it has ended."""
        line = self._output.readline()
        if not line:
            why = last_line(self._errors.read()) or f"exit code {self._process.wait()}"
            raise RunFailed(f"a process of the bench ended: {why}")
        found = json.loads(line)
        if "refused" in found:
            raise ModelError(found["refused"])
        return found

    def leave(self, at_once: bool) -> None:
        """Close its input, which ends it after its work; `at_once`: it first closes its end of the ring."""
        if at_once:
            self._process.terminate()
        with contextlib.suppress(BrokenPipeError):
            self._input.close()

    def wait(self) -> None:
        """Wait until it has ended; kill it after five seconds."""
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._output.close()
        self._errors.close()
