"""Processes that write to and read from rings: forked from the test, so that dozens cost little, and killed."""

from __future__ import annotations

import os
import random
import signal
import time
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np

from nearfield import stream

PATIENCE = 20.0  # seconds; only a hang takes as long, however busy the machine


def fork(work: Callable[..., Any], *arguments: Any) -> int:
    """A process that does the work and exits with 0, or 1 where it raised; its number."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        work(*arguments)
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def kill(child: int) -> None:
    """End it at once, and leave it a zombie until it is `ended`."""
    os.kill(child, signal.SIGKILL)


def ended(child: int, within: float = 30.0) -> int:
    """Its exit code, or minus the signal that ended it; one that does not end is killed, and fails the test."""
    end = time.monotonic() + within
    while time.monotonic() < end:
        number, status = os.waitpid(child, os.WNOHANG)
        if number:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    kill(child)
    os.waitpid(child, 0)
    raise AssertionError(f"process {child} did not end within {within} s")


def content(seq: int, size: int) -> np.ndarray:
    """What block number `seq` holds."""
    return np.random.default_rng(seq).integers(0, 256, size, dtype=np.uint8)


def fill(writer: stream.Writer, seq: int, timeout: float | None = PATIENCE) -> None:
    """Commit block number `seq`, of a size of its own."""
    view = writer.acquire(timeout)
    size = 1 + seq * 37 % len(view)
    view[:size] = content(seq, size)
    writer.commit(size, step=3 * seq, meta=str(seq).encode())


def check(block: stream.Block) -> None:
    """That it is what `fill` commits."""
    assert block.step == 3 * block.seq
    assert block.meta == str(block.seq).encode()
    np.testing.assert_array_equal(block.data, content(block.seq, len(block.data)))


def write(name: str, blocks: int, size: int, count: int, stalls: float = 0.0) -> None:
    """Make or take over a ring and commit so many blocks with random stalls; close it."""
    random.seed(os.getpid())
    with stream.create(name, blocks, size) as writer:
        writer.wait_for_readers(1, 10)
        first = writer.stats()["blocks"]
        for seq in range(first, first + count):
            fill(writer, seq)
            if random.random() < 0.3:
                time.sleep(random.random() * stalls)


def read(name: str, policy: str, count: int | None, stalls: float = 0.0) -> None:
    """Check every block from the first one on, with random stalls; with `block` none may be missed."""
    random.seed(os.getpid())
    seen = 0
    with stream.attach(name, policy) as reader:
        for block in reader:
            check(block)
            assert policy != "block" or block.missed == 0
            seen += 1 + block.missed
            if random.random() < 0.3:
                time.sleep(random.random() * stalls)
    assert count is None or policy != "block" or seen == count, f"{seen} of {count} blocks"
