"""A reading end of a ring: receive a block, use it where it lies, release it."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from nearfield.entry.errors import ModelError
from nearfield.stream.ending import watch
from nearfield.stream.errors import Damaged, EndOfStream, RingGone, TimedOut, WriterDied, compiled, refusals
from nearfield.stream.names import path_of
from nearfield.stream.writer import POLL, came

if TYPE_CHECKING:
    import numpy as np

POLICIES = ("block", "drop-newest", "drop-oldest")


def attach(name: str, policy: str = "block", timeout: float = 5.0) -> Reader:
    """A reader of a ring, from the next block on.

    `policy` says what happens when this reader is behind by all blocks of the ring: "block", the writer waits for it;
    "drop-newest", new blocks pass it by, and it keeps what it has; "drop-oldest", it loses the oldest that it has not
    received yet. `timeout`: seconds to wait until there is such a ring (0: it must be there).

    Raises RingGone where there is none by then; ModelError for another policy or name, or too many readers.
    """
    rings = compiled()
    if policy not in POLICIES:
        raise ModelError(f"policy={policy!r}: allowed are {', '.join(POLICIES)}")
    path, end = path_of(name), time.monotonic() + timeout
    while True:
        with refusals(name):
            core = rings.attach(str(path), POLICIES.index(policy))
        if core is not None:
            return Reader(name, policy, core)
        if time.monotonic() >= end:
            raise RingGone(f"ring '{name}': nobody writes one; looked for {path} for {timeout:g} s")
        time.sleep(POLL)


class Block:
    """A block that a reader received; released at the end of a `with` block.

    `seq` counts the blocks of the ring from 0, `step` and `meta` are the writer's, `missed` is how many blocks were
    dropped for this reader since the one before, `epoch` counts the writers from 0, `time` is when it was committed
    (seconds since 1970).
    """

    __slots__ = ("_data", "_reader", "_slot", "epoch", "meta", "missed", "seq", "step", "time")

    def __init__(self, reader: Reader, found: dict[str, Any]) -> None:
        self._reader, self._slot, self._data = reader, found["slot"], found["data"]
        self.seq: int = found["seq"]
        self.step: int = found["step"]
        self.meta: bytes = found["meta"]
        self.missed: int = found["missed"]
        self.epoch: int = found["epoch"]
        self.time: float = found["time"]

    @property
    def data(self) -> np.ndarray:
        """The bytes, a read-only uint8 view of the shared memory, good until the block is released."""
        if self._data is None:
            raise RingGone(f"ring '{self._reader.name}': block {self.seq} was released; use its data before")
        return self._data

    @property
    def released(self) -> bool:
        """Whether the writer may have it again."""
        return self._data is None

    def release(self) -> None:
        """Give it back to the writer."""
        self._reader.release(self)

    def __enter__(self) -> Block:
        return self

    def __exit__(self, *error: object) -> None:
        if not self.released and not self._reader.closed:
            self.release()


class Reader:
    """A reader of a ring; `attach` makes it. Closed at the end of a `with` block, or when the process exits.

    Iterating over it receives block after block and releases the one before, until EndOfStream, which ends the loop.
    """

    def __init__(self, name: str, policy: str, core: Any) -> None:
        self.name, self.policy = name, policy
        self._core = core
        self.closed = False
        self.descriptor: Any = json.loads(core.descriptor())
        watch(self)

    def receive(self, timeout: float | None = None) -> Block:
        """The next block, waiting for it `timeout` seconds at most (None: as long as it takes).

        Raises TimedOut; EndOfStream once the writer has closed and WriterDied once it has died, both after the last
        block; Damaged where the checksum is wrong. After WriterDied the next call goes on, if a new writer took over
        (see `wait_for_writer`).
        """
        if self.closed:
            raise RingGone(f"ring '{self.name}': this reader is closed")
        with refusals(self.name):
            found = self._core.receive(-1.0 if timeout is None else max(0.0, timeout))
        if found == "timed out":
            raise TimedOut(f"ring '{self.name}': no block came within {timeout:g} s")
        if found == "end of stream":
            raise EndOfStream(f"ring '{self.name}': its writer has closed it, and every block was received")
        if found == "writer died":
            raise WriterDied(f"ring '{self.name}': its writer died; what it had committed was received")
        block = Block(self, found)
        if not found["intact"]:
            block.release()
            raise Damaged(f"ring '{self.name}': block {block.seq} (step {block.step}) is not what was committed")
        return block

    def release(self, block: Block) -> None:
        """Give a block back to the writer; its views must not be used any more. Any thread may do it."""
        if block.released:
            raise ModelError(f"ring '{self.name}': block {block.seq} was released before")
        with refusals(self.name):
            self._core.release(block._slot)
        block._data = None

    def wait_for_writer(self, timeout: float | None = None) -> None:
        """After WriterDied: wait until a new writer has taken the ring over.

        Raises TimedOut; RingGone where the ring was replaced by another, or removed.
        """

        def taken_over() -> bool:
            facts = self._core.facts()
            there = facts["writer"]["alive"] or facts["closed"]
            if not there and not facts["named"]:
                raise RingGone(f"ring '{self.name}' was removed, or replaced by another: attach again")
            return there

        if not came(taken_over, timeout):
            raise TimedOut(f"ring '{self.name}': no new writer came within {timeout:g} s")

    def stats(self) -> dict[str, Any]:
        """Counts of this reader: `received`, `dropped`, `pending`, `held`; and the writer's `seconds_waited_for` it."""
        mine = [found for found in self._core.facts()["readers"] if found["place"] == self._core.place]
        return mine[0] if mine and not self.closed else {}

    def close(self) -> None:
        """Release everything and leave; the last party removes the ring."""
        self.closed = True
        self._core.close()

    def __iter__(self) -> Iterator[Block]:
        while True:
            try:
                block = self.receive()
            except EndOfStream:
                return
            with block:
                yield block

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
