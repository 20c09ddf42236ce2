"""What waits for the process that writes fields once a signal ends the run: as long as it makes progress, no longer."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest

from nearfield.entry.errors import RunFailed
from nearfield.output import writer
from nearfield.output.field_streams import FieldStreams
from nearfield.output.relays import Relays
from nearfield.output.writer import FileThread
from nearfield.output.writer_process import Patience, WriterProcess
from nearfield.stream import TimedOut

BUSY = """
import time
input()
for number in range(8):
    time.sleep(0.1)
    print('{"written": %d}' % number, flush=True)
print('{"done": "flush"}', flush=True)
"""
SILENT = "import time; input(); time.sleep(20)"


@pytest.fixture
def process_of(monkeypatch):
    """Make a process of some lines of Python in place of the writer, at a signal that ends the run."""
    start = subprocess.Popen
    monkeypatch.setattr("nearfield.output.writer_process.LAST_WORDS", 0.4)

    def made(code: str) -> WriterProcess:
        monkeypatch.setattr(subprocess, "Popen", lambda command, **more: start([sys.executable, "-c", code], **more))
        process = WriterProcess()
        process.signalled = lambda: True
        return process

    return made


def test_a_writer_that_makes_progress_is_not_killed_after_a_signal(process_of):
    process = process_of(BUSY)
    assert process.ask({"do": "flush", "counts": {}}) == {"done": "flush"}
    process.close()
    assert process._process.returncode == 0


def test_a_writer_that_makes_none_is_killed_and_closed_once(process_of):
    process = process_of(SILENT)
    with pytest.raises(RunFailed, match=r"nor wrote a snapshot"):
        process.ask({"do": "flush", "counts": {}})
    process.close()
    process._process.wait = None
    process._process.poll = None
    process.close()


def test_a_file_says_after_a_snapshot_that_it_goes_on(monkeypatch):
    told: list[dict] = []
    monkeypatch.setattr(writer, "report", told.append)
    thread = FileThread.__new__(FileThread)
    threading.Thread.__init__(thread)
    received = iter([[SimpleNamespace(release=lambda: None)], []])
    vars(thread).update(ended="", failure="", written=0, wanted=0, settled=0, readers=[], reported=0.0)
    thread.file = SimpleNamespace(committed=9)

    def receive() -> list:
        blocks = next(received)
        thread.ended = "" if blocks else "closed"
        return blocks

    def write(blocks: list) -> None:
        thread.written += 1

    thread._received, thread._write = receive, write
    thread.run()
    assert told == [{"written": 1}]


class Full:
    """A ring that never has room; counts its requests."""

    asked = 0

    def acquire(self, timeout: float) -> np.ndarray:
        self.asked += 1
        time.sleep(0.02)
        raise TimedOut


def streams(heard) -> FieldStreams:
    """As after SIGTERM, before a writer that was heard at `heard()`."""
    made = FieldStreams.__new__(FieldStreams)
    made._stop = SimpleNamespace(asked=lambda: False, terminated=lambda: True)
    made._writers, made._patience, made._moved = Heard(heard), Patience(), 0.0
    return made


class Heard:
    def __init__(self, heard) -> None:
        self._heard = heard

    @property
    def heard(self) -> float:
        return self._heard()


def test_waits_for_full_rings_have_one_limit_in_all(monkeypatch):
    monkeypatch.setattr("nearfield.output.writer_process.LAST_WORDS", 0.3)
    waiting, first, second = streams(lambda: 0.0), Full(), Full()
    assert waiting._free_block(first) is None and waiting._free_block(second) is None
    assert first.asked > 5 and second.asked == 1


def test_a_full_ring_is_waited_for_while_the_writer_makes_progress(monkeypatch):
    monkeypatch.setattr("nearfield.output.writer_process.LAST_WORDS", 0.1)
    end = time.monotonic() + 0.5
    assert streams(lambda: min(time.monotonic(), end))._free_block(Full()) is None
    assert time.monotonic() > end


def test_snapshots_after_one_that_was_dropped_are_dropped_and_not_waited_for():
    relays = Relays.__new__(Relays)
    relays._broken_off = False
    asked: list[int] = []

    def free_block(ring) -> np.ndarray | None:
        asked.append(ring)
        return None if ring == 1 else np.zeros(1)

    assert relays._blocks({0: 0, 1: 1, 2: 2}, free_block) == {}
    assert relays._blocks({0: 0}, free_block) == {} and asked == [0, 1]
