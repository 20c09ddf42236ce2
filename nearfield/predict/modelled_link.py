"""Links whose time is a clock: real messages between ranks of one machine, each there no sooner than over a network.

Bytes move through shared memory, which takes a small part of the link's time, and nothing of a network's own work is
done on the processors that compute: what is left of a run's rate then is what a cluster leaves whose network cards, or
a core that is left to them, do that work. Each host has one link of its own, which sends and receives at once.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from nearfield.machine.profile import Link
from nearfield.machine.transport import Channel, Parts, Ranks, Waiting

NEAR = 2e-4  # s before a message is due from where on the wait does not sleep: sleeping takes longer than asked


class Ends:
    """When the two ends of a host's link are free: messages leave, and come, one after the other."""

    def __init__(self, link: Link) -> None:
        self._link, self._out, self._into = link, 0.0, 0.0

    def leave(self, size: int) -> float:
        """When a message of so many bytes begins to leave that is sent now; by a clock that all ranks share."""
        begun = max(time.perf_counter(), self._out)
        self._out = begun + size / self._link.bandwidth
        return begun

    def come(self, begun: float, size: int) -> float:
        """When a message has come whose sender began to send it at `begun`; to be asked in the order of the senders."""
        self._into = max(begun + self._link.latency, self._into) + size / self._link.bandwidth
        return self._into


class ClockedChannel(Channel):
    """Messages that count as come when a link would have brought them. Each has the time it was sent as a last part."""

    def __init__(self, communicator: Any, out: Any, into: Any, waiting: Waiting, ends: Ends) -> None:
        self._ends = ends
        self._sizes = [[sum(part.nbytes for part in parts) for _, parts in messages] for messages in (out, into)]
        self._left, self._begun = np.zeros(len(out)), np.zeros(len(into))
        sends, receives = (
            [(rank, [*parts, times[n : n + 1].view(np.uint8)]) for n, (rank, parts) in enumerate(messages)]
            for messages, times in ((out, self._left), (into, self._begun))
        )
        super().__init__(communicator, sends, receives, waiting)
        self._expecting, self._due = False, None  # type: bool, float | None

    def expect(self) -> None:
        self._expecting, self._due = True, None
        super().expect()

    def send(self) -> None:
        self._left[:] = [self._ends.leave(size) for size in self._sizes[0]]
        super().send()

    def progress(self) -> bool:
        return super().progress() and time.perf_counter() >= self._arrival()

    def wait(self) -> None:
        super().wait()
        due = self._arrival()
        if (left := due - time.perf_counter() - NEAR) > 0:
            time.sleep(left)
        while time.perf_counter() < due:
            pass

    def _arrival(self) -> float:
        """When all has come that was expected."""
        if self._due is None:
            order = np.argsort(self._begun, kind="stable") if self._expecting else ()
            self._due = max((self._ends.come(self._begun[n], self._sizes[1][n]) for n in order), default=0.0)
            self._expecting = False
        return self._due


class ClockedRanks(Ranks):
    """Ranks of one machine that stand for hosts, an end of a link each. Processes must share `time.perf_counter()`."""

    def __init__(self, communicator: Any, link: Link) -> None:
        super().__init__(communicator)
        self._ends_of_link = Ends(link)

    def channel(
        self, out: Sequence[tuple[int, Parts]], into: Sequence[tuple[int, Parts]], kind: type[Channel]
    ) -> Channel:
        """As of `Ranks`, over the link; `kind` is not asked, all messages travel at once."""
        return ClockedChannel(self._mpi, out, into, self._waiting, self._ends_of_link)
