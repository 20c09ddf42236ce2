"""The processes of `nearfield ring bench`: a writer and a reader for each stream, started, told what to do, ended."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nearfield.entry.errors import ModelError, RunFailed
from nearfield.stream.placement import nodes_with_memory


@dataclass(frozen=True)
class Stream:
    """A ring and its two processes: the NUMA nodes that they are on, by the system's numbers."""

    name: str
    memory: int
    writer: int
    reader: int

    def words(self) -> str:
        """As the tables have it."""
        return f"RAM={self.memory} Write={self.writer} Read={self.reader}"


@dataclass(frozen=True)
class Case:
    """Streams that run at the same time."""

    test: str
    streams: tuple[Stream, ...]


@dataclass(frozen=True)
class Request:
    """What to move, and through which rings."""

    bytes: int
    blocks: int = 8
    block_bytes: int = 4 << 20
    passes: int = 1


@dataclass(frozen=True)
class Pass:
    """Of each stream: seconds from the first block asked for to the last one released, and whether all was right."""

    seconds: list[float]
    right: list[bool]
    delays: list[float]  # median seconds from a commit to its receipt


class Team:
    """The processes of a case. They end with the `with` block, whatever happens."""

    def __init__(self, case: Case, places: Sequence[tuple[int, int]], request: Request) -> None:
        self._all: list[tuple[subprocess.Popen, subprocess.Popen]] = []
        self.placements: list[dict[str, Any]] = []
        try:
            several = len(nodes_with_memory()) > 1  # containers may forbid to bind memory, and one node needs none
            for stream, both in zip(case.streams, places):
                given = {
                    "name": f"bench.{os.getpid()}.{stream.name}",
                    "memory": stream.memory if several else None,
                    "blocks": request.blocks,
                    "block_bytes": request.block_bytes,
                }
                pair = [
                    self._start(given | {"role": role, "processors": [processor]})
                    for role, processor in zip(("writer", "reader"), both)
                ]
                self._all.append((pair[0], pair[1]))
            for writer, reader in self._all:
                self.placements.append(self._heard(writer)["placement"])
                self._heard(reader)
        except BaseException:
            self.__exit__(*sys.exc_info())
            raise

    @staticmethod
    def _start(given: dict[str, Any]) -> subprocess.Popen:
        command = [sys.executable, "-m", "nearfield.measure.ring_bench_process", json.dumps(given)]
        pipe = subprocess.PIPE
        return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True)

    def run(self, mode: str, total: int, pair: tuple[str, str]) -> Pass:
        """One pass of so many bytes, all streams together."""
        for processes in self._all:
            for process, copy in zip(reversed(processes), reversed(pair)):
                self._told(process, f"{mode} {total} {copy}")
        seconds, right, delays = [], [], []
        for writer, reader in self._all:
            begun, found = self._heard(writer)["begun"], self._heard(reader)
            seconds.append(found["ended"] - begun)
            right.append(found["right"])
            delays.append(found["delay"])
        return Pass(seconds, right, delays)

    @staticmethod
    def _told(process: subprocess.Popen, line: str) -> None:
        with contextlib.suppress(OSError):  # it has ended; its answer says why
            print(line, file=process.stdin, flush=True)

    @staticmethod
    def _heard(process: subprocess.Popen) -> dict[str, Any]:
        line = process.stdout.readline()
        found = json.loads(line) if line else {}
        if "refused" in found:
            raise ModelError(found["refused"])
        if found:
            return found
        lines = process.stderr.read().strip().splitlines()
        raise RunFailed(f"a process of the bench ended: {lines[-1] if lines else f'exit code {process.wait()}'}")

    def __enter__(self) -> Team:
        return self

    def __exit__(self, kind: object, *error: object) -> None:
        processes = [process for pair in self._all for process in pair]
        for process in processes:
            if kind is not None:
                process.terminate()  # it closes its end of the ring first
            with contextlib.suppress(BrokenPipeError):
                process.stdin.close()
        for process in processes:
            try:
                process.wait(timeout=5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            process.stdout.close()
            process.stderr.close()
