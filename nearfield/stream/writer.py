"""The writing end of a ring: acquire a block, fill it where it lies, commit it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from numbers import Integral
from typing import TYPE_CHECKING, Any

from nearfield.entry.errors import ModelError
from nearfield.stream.ending import watch
from nearfield.stream.errors import RingGone, RingInUse, TimedOut, compiled, refusals
from nearfield.stream.names import path_of
from nearfield.stream.placement import require_room, wanted_nodes

if TYPE_CHECKING:
    import numpy as np

POLL = 0.01  # seconds between two looks for what another process is about to do


def came(done: Callable[[], bool], timeout: float | None) -> bool:
    """Whether something came true within `timeout` seconds; None waits as long as it takes."""
    end = None if timeout is None else time.monotonic() + timeout
    while not done():
        if end is not None and time.monotonic() >= end:
            return False
        time.sleep(POLL)
    return True


def create(
    name: str,
    blocks: int = 8,
    block_bytes: int = 1 << 20,
    memory: int | str | None = None,
    descriptor: Any = None,
    timeout: float = 0.0,
    *,
    checksum: bool = False,
    take_over: bool = True,
) -> Writer:
    """A ring of `blocks` blocks of `block_bytes` bytes, its pages present and where they were asked for.

    `memory` is a NUMA node (the system's number), "interleave", or None: where the writer runs. `descriptor` is what
    readers need to understand the bytes (dtype, shape, names): anything that JSON holds, up to 64 KiB. `timeout`:
    seconds to wait until an earlier writer of that name has gone. `checksum`: a CRC-32C with each block, which readers
    check. A ring of that name whose writer died is taken over, with `epoch` one more, if it is alike and readers wait
    there, unless `take_over` is False; one that nobody uses is replaced.

    Raises ModelError: such a node is not there, there is not enough room; RingInUse: the name has a living writer.
    """
    core = compiled()
    path = path_of(name)
    for what, value, most in (("blocks", blocks, core.MOST_BLOCKS), ("block_bytes", block_bytes, 1 << 40)):
        least = 2 if what == "blocks" else 1
        if not isinstance(value, Integral) or not least <= value <= most:
            raise ModelError(f"{what}={value!r}: allowed are whole numbers from {least} to {most}")
    blocks, block_bytes, text = int(blocks), int(block_bytes), described(descriptor)
    policy, nodes = wanted_nodes(memory)
    replaced = path.stat().st_size if path.exists() else 0
    require_room(blocks * block_bytes - replaced, nodes if policy == "bind" else [])
    end = time.monotonic() + timeout
    while True:
        try:
            with refusals(name):
                made = core.create(str(path), blocks, block_bytes, text, checksum, policy, nodes, take_over)
            return Writer(name, made, nodes if policy == "bind" else [])
        except RingInUse:
            if time.monotonic() >= end:
                raise
        time.sleep(POLL)


def described(descriptor: Any) -> bytes:
    """A descriptor as it is stored. Raises ModelError for what JSON does not hold, and for too much of it."""
    core = compiled()
    try:
        text = json.dumps({} if descriptor is None else descriptor, allow_nan=False, separators=(",", ":")).encode()
    except (TypeError, ValueError) as error:
        raise ModelError(f"descriptor: {error}. Allowed is what JSON holds") from None
    if len(text) > core.MOST_DESCRIPTOR:
        raise ModelError(f"descriptor: {len(text)} bytes as JSON; allowed are {core.MOST_DESCRIPTOR}")
    return text


class Writer:
    """The one writer of a ring; `create` makes it. Closed at the end of a `with` block, or when the process exits."""

    def __init__(self, name: str, core: Any, nodes: list[int]) -> None:
        self.name = name
        self._core = core
        self._closed = False
        watch(self)
        self.placement = self._core.pages(1 << 16)
        elsewhere = sum(count for node, count in enumerate(self.placement["by_node"]) if node not in nodes)
        if nodes and elsewhere:
            self.close()
            raise ModelError(f"ring '{name}': {elsewhere} of its pages lie on another node than {nodes[0]}")

    def acquire(self, timeout: float | None = None) -> np.ndarray:
        """The next block to fill, all of its bytes, as a writable uint8 view of the shared memory.

        Waits for a block that no reader needs any more, `timeout` seconds at most (None: as long as it takes). Several
        blocks may be acquired before the first is committed. Raises TimedOut; ModelError when all blocks are acquired.
        """
        view = self._call(self._core.acquire, -1.0 if timeout is None else max(0.0, timeout))
        if view is None:
            raise TimedOut(f"ring '{self.name}': no block became free within {timeout:g} s, {self._hindrance()}")
        return view

    def commit(self, nbytes: int, step: int = 0, meta: bytes = b"") -> None:
        """Hand out the block that was acquired first: its first `nbytes` bytes, a step, up to 4096 bytes of your own.

        From here on the view must not be written to. Raises ModelError where nothing was acquired, or it is too much.
        """
        if nbytes < 0:
            raise ModelError(f"nbytes={nbytes}: allowed are 0 to the block's size")
        self._call(self._core.commit, int(nbytes), int(step), bytes(meta))

    def abandon(self) -> None:
        """Give back the block that was acquired last, uncommitted."""
        self._call(self._core.abandon)

    def wait_for_readers(self, count: int = 1, timeout: float | None = None) -> None:
        """Wait until so many readers are attached. Blocks committed before a reader came are not for it.

        Raises TimedOut.
        """
        if not came(lambda: self.readers >= count, timeout):
            raise TimedOut(f"ring '{self.name}': {self.readers} of {count} readers came within {timeout:g} s")

    @property
    def readers(self) -> int:
        """Readers that are attached and alive."""
        return self._call(lambda: self._core.readers)

    @property
    def epoch(self) -> int:
        """0, and 1 more each time that a new writer took the ring over."""
        return self.stats()["epoch"]

    def stats(self) -> dict[str, Any]:
        """Counts since the ring was made.

        `blocks`, `bytes` committed; `seconds_waited` in `acquire`; `readers`, of each its `pid`, `policy`, `received`,
        `dropped`, `pending`, `held` and `seconds_waited_for`; `dropped`, `readers_died` of all there ever were;
        `fill_levels[n]`, how often `acquire` found n blocks in use.
        """
        return self._core.facts()

    def close(self) -> None:
        """The end of data: readers receive what was committed, then EndOfStream. The last party removes the ring."""
        self._closed = True
        self._core.close()

    def _call(self, work: Any, *arguments: Any) -> Any:
        if self._closed:
            raise RingGone(f"ring '{self.name}': this writer is closed")
        with refusals(self.name):
            return work(*arguments)

    def _hindrance(self) -> str:
        slow = [reader for reader in self.stats()["readers"] if reader["pending"] or reader["held"]]
        if not slow:
            return "no reader has one"
        worst = max(slow, key=lambda reader: reader["pending"] + reader["held"])
        return f"process {worst['pid']} has {worst['pending']} to receive and holds {worst['held']}"

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
