"""Snapshots that one process needs whole, from ranks on several hosts: those of other hosts go to rank 0 by messages.

A rank on another host records into memory of its own (`Store`) in place of a ring. After each block of steps rank 0
receives these snapshots, one after the other, and puts each rank's into a ring beside those of its own host.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from nearfield import stream
from nearfield.machine.transport import Alone
from nearfield.output.run_rings import new_ring

AT_ONCE = 1 << 24  # bytes of a rank that are under way to rank 0 at a time


class Store:
    """Blocks of memory with the calls of a ring's writer, which keep a rank's snapshots until they are sent."""

    def __init__(self, blocks: int, block_bytes: int) -> None:
        self._blocks = [np.zeros(block_bytes, np.uint8) for _ in range(blocks)]
        self._filled = 0

    def acquire(self, timeout: float | None = None) -> np.ndarray:
        """The next block, which is always free."""
        self._filled += 1
        return self._blocks[self._filled - 1]

    def abandon(self) -> None:
        """Give back the block that was acquired last."""
        self._filled -= 1

    def commit(self, nbytes: int, step: int = 0) -> None:
        """Keep a block until `taken`."""

    def taken(self) -> list[np.ndarray]:
        """What was recorded since the last call; valid until the next block is acquired."""
        filled, self._filled = self._filled, 0
        return self._blocks[:filled]

    def wait_for_readers(self, count: int = 1, timeout: float | None = None) -> None:
        """Nobody reads it."""

    def close(self) -> None:
        """Let go of its memory."""
        self._blocks = []


class Relays:
    """The way of the snapshots of some monitors, `names`, from other hosts to that of rank 0.

    All ranks call the same methods in the same order. `sent`: what each rank sends, by the name of the monitor; rank 0
    writes the names of the rings that it makes into it. `held`: bytes of these rings.
    """

    def __init__(self, ranks: Alone, names: Sequence[str], sent: Sequence[dict[str, dict[str, Any]]]) -> None:
        self._ranks, self._names = ranks, names
        self._remote = {
            name: {rank: each[name] for rank, each in enumerate(sent) if is_remote(ranks, rank) and name in each}
            for name in names
        }
        self._rings: dict[str, dict[int, stream.Writer]] = {}
        self.held = 0
        self._broken_off = False  # a snapshot was dropped, and all after it are
        if ranks.rank == 0:
            for name, parts in self._remote.items():
                self._rings[name] = {rank: self._ring(part) for rank, part in parts.items()}

    def _ring(self, part: dict[str, Any]) -> stream.Writer:
        self.held += part["blocks"] * part["block_bytes"]
        ring = new_ring(part["blocks"], part["block_bytes"])
        part["ring"] = ring.name
        return ring

    def wait_for_readers(self, timeout: float) -> None:
        """Return when the writer of rank 0's host reads these rings."""
        for ring in self._all():
            ring.wait_for_readers(1, timeout)

    def send(
        self,
        steps: Mapping[str, Sequence[int]],
        stores: Mapping[str, Store],
        free_block: Callable[[stream.Writer], np.ndarray | None],
    ) -> None:
        """Bring what all ranks recorded at some steps, of each monitor, into the rings on rank 0.

        `free_block`: the next block of a ring, None where a signal ends the run, upon which this snapshot and all later
        ones are dropped.
        """
        for name in self._names:
            own = stores[name].taken() if name in stores else []
            for number, step in enumerate(steps[name]):
                self._send(name, step, own[number] if own else None, free_block)

    def _send(
        self,
        name: str,
        step: int,
        own: np.ndarray | None,
        free_block: Callable[[stream.Writer], np.ndarray | None],
    ) -> None:
        rings, parts = self._rings.get(name, {}), self._remote[name]
        blocks = self._blocks(rings, free_block)
        for first in range(0, max((part["block_bytes"] for part in parts.values()), default=0), AT_ONCE):
            pieces = self._ranks.gathered(None if own is None else own[first : first + AT_ONCE])
            for rank, block in blocks.items():  # on rank 0 alone
                assert pieces is not None
                block[first : first + AT_ONCE] = pieces[rank]
        for rank in blocks:
            rings[rank].commit(parts[rank]["block_bytes"], step)

    def _blocks(
        self, rings: Mapping[int, stream.Writer], free_block: Callable[[stream.Writer], np.ndarray | None]
    ) -> dict[int, np.ndarray]:
        """A block of each ring; none once one of them had none, so that no file misses a snapshot among others."""
        blocks: dict[int, np.ndarray] = {}
        for rank, ring in rings.items():
            block = None if self._broken_off else free_block(ring)
            if block is None:
                self._broken_off = True
                return {}
            blocks[rank] = block
        return blocks

    def close(self) -> None:
        """The end of all rings."""
        for ring in self._all():
            ring.close()
        self._rings = {}

    def _all(self) -> list[stream.Writer]:
        return [ring for parts in self._rings.values() for ring in parts.values()]


def is_remote(ranks: Alone, rank: int) -> bool:
    """Whether a rank runs on another host than rank 0."""
    return ranks.hosts[rank] != ranks.hosts[0]
