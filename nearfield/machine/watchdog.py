"""Ranks that die in silence: a thread of each rank answers the others, so that a wait can tell slow from lost.

A stopped process, a host that went down and a cut link look the same to MPI: messages do not come, and a wait lasts for
ever. So a rank that has waited for `limit` seconds calls all others, each of which answers from a thread of its own,
whatever its main thread does. Those that stay silent are lost: the wait cannot end, and the run is. Where all answer,
some rank is slow (a disk, a derivation), which is said, and the wait goes on.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import threading
import time
from array import array
from collections.abc import Callable, Iterator, Sequence
from typing import Any

LIMIT = 60.0  # s without progress, unless told otherwise
SHORTEST = 1.0  # s
LOOK = 0.25  # s between looks at calls of others; a small part of any limit
ANSWERS = 5.0  # s that a rank is given for its answer, on top of the limit, or the limit where that is shorter
ENDING = 5.0  # s for MPI to end the others; a cut link can make it wait as well
HEARD = 0.5  # s for a launcher to pass on what a rank said last: it ends all ranks as soon as one asks, pipes unread
CALL, ANSWER = 1, 2  # tags
LOST = 4  # exit code


class Watchdog:
    """Watches the waits of this rank among those of a communicator, whose hosts are given.

    `limit` (s) may be changed at any time; `kept()` tells what is left of the run when ranks are lost. Where the MPI
    library does not let several threads call it, nothing is watched (`watches` is False).
    """

    def __init__(self, communicator: Any, hosts: Sequence[str]) -> None:
        from mpi4py import MPI

        self.limit = LIMIT
        self.kept: Callable[[], str] = str
        self.watches = MPI.Query_thread() == MPI.THREAD_MULTIPLE
        self._mpi, self._hosts, self._status = communicator, hosts, MPI.Status
        self._any = MPI.ANY_SOURCE
        self._since = 0.0  # when the present wait began; 0: none
        self._left = time.monotonic()  # when the last one ended
        self._calls = 0  # made so far
        self._going: list[tuple[Any, array]] = []  # messages under way
        self._end, self._thread = threading.Event(), threading.Thread(target=self._watch, daemon=True)
        self._speak = os.dup(2)  # ranks but the first are silenced later
        if self.watches:
            self._channel = communicator.Dup()
            self._thread.start()
            atexit.register(self.close)  # before MPI ends

    @contextlib.contextmanager
    def waiting(self) -> Iterator[None]:
        """A wait for other ranks, for as long as this lasts."""
        self._since = time.monotonic()
        try:
            yield
        finally:
            self._left, self._since = time.monotonic(), 0.0

    def close(self) -> None:
        """End the thread."""
        self._end.set()
        if self._thread.is_alive():
            self._thread.join()

    def _watch(self) -> None:
        calls = 0  # of this wait
        watched = 0.0
        while not self._end.wait(LOOK):
            self._answer()
            since = self._since
            if since != watched:
                watched, calls = since, 0
            if not since or time.monotonic() - since <= self.limit * (calls + 1):
                continue
            answers = self._answers_of_all()
            if self._since != since:
                continue
            calls = int((time.monotonic() - since) / self.limit)
            silent = [rank for rank in range(self._mpi.size) if rank not in answers and rank != self._mpi.rank]
            if silent:
                self._give_up(silent, time.monotonic() - since)
            self._tell_slow(answers, time.monotonic() - since)

    # ---- calls and answers: (number of the call, seconds since the answering rank last waited, or -1: it waits too)

    def _answer(self) -> None:
        """Answer every call that has come."""
        status, number = self._status(), array("d", [0.0])
        while self._channel.Iprobe(self._any, CALL, status):
            self._channel.Recv(number, status.source, CALL)
            busy = -1.0 if self._since else time.monotonic() - self._left
            self._send(array("d", [number[0], busy]), status.source, ANSWER)

    def _send(self, numbers: array, rank: int, tag: int) -> None:
        """Send without a wait for it; what is sent is held until it has gone."""
        self._going = [(request, held) for request, held in self._going if not request.Test()]
        self._going.append((self._channel.Isend(numbers, rank, tag), numbers))

    def _answers_of_all(self) -> dict[int, float]:
        """What the ranks answer that do, by their number."""
        self._calls += 1
        number, status = array("d", [self._calls]), self._status()
        answers: dict[int, float] = {}
        others = [rank for rank in range(self._mpi.size) if rank != self._mpi.rank]
        for rank in others:
            self._send(number, rank, CALL)
        end = time.monotonic() + min(ANSWERS, self.limit)
        while len(answers) < len(others) and time.monotonic() < end and not self._end.is_set():
            self._answer()
            answer = array("d", [0.0, 0.0])
            while self._channel.Iprobe(self._any, ANSWER, status):
                self._channel.Recv(answer, status.source, ANSWER)
                if answer[0] == self._calls:
                    answers[status.source] = answer[1]
            time.sleep(0.01)
        return answers

    # ---- what is said

    def _name(self, rank: int) -> str:
        return f"rank {rank} on {self._hosts[rank]}"

    def _say(self, text: str) -> None:
        with contextlib.suppress(OSError):
            os.write(self._speak, f"{text}\n".encode())

    def _tell_slow(self, answers: dict[int, float], waited: float) -> None:
        busy = {rank: seconds for rank, seconds in answers.items() if seconds >= 0}
        names = ", ".join(f"{self._name(rank)} (busy for {seconds:.0f} s)" for rank, seconds in busy.items())
        if busy and self._mpi.rank == min(set(range(self._mpi.size)) - set(busy)):  # one speaks for all that wait
            self._say(f"waiting for {waited:.0f} s for {names}; all ranks answer, and the run goes on")

    def _give_up(self, silent: list[int], waited: float) -> None:
        names = " and ".join(self._name(rank) for rank in silent)
        was = "was stopped, or its host or link is down" if len(silent) == 1 else "were stopped, or hosts or links down"
        self._say(
            f"error: {names} gave no sign of life in {waited:.0f} s in which {self._name(self._mpi.rank)} waited: it "
            f"{was}. All ranks are ended. {self._left_text()}".rstrip()
        )
        time.sleep(HEARD)
        ending = threading.Thread(target=self._mpi.Abort, args=(LOST,), daemon=True)
        ending.start()
        ending.join(ENDING)
        os._exit(LOST)

    def _left_text(self) -> str:
        try:
            return self.kept()
        except Exception:  # whatever is wrong with the disk, the ranks end
            return ""
