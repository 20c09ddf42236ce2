"""Communication between ranks: MPI (mpi4py) where a launcher started several of them, else none."""

from __future__ import annotations

import functools
import os
import platform
import sys
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from nearfield.entry.errors import ModelError
from nearfield.machine.device_messages import DeviceMemory
from nearfield.machine.left_segments import note_own, remove_left
from nearfield.machine.watchdog import HEARD, Watchdog

if TYPE_CHECKING:
    import numpy as np

# What launchers tell each process of their number: Open MPI, MPICH and Intel MPI, MVAPICH, a step of Slurm.
SIZES = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS", "MV2_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS")
ROUND_TRIPS = 20  # of a short message, to compare clocks
PATIENCE = 2.0  # s, for ranks that fail alike
Waiting = Callable[[], AbstractContextManager[None]]  # entered while a rank waits for others
Parts = Sequence["np.ndarray | DeviceMemory"]  # bytes that travel together, one message each, its tag its number


class Alone:
    """The only rank."""

    rank, size = 0, 1

    @property
    def watched(self) -> bool:
        """Whether a rank that dies in silence is noticed."""
        return True

    @functools.cached_property
    def hosts(self) -> list[str]:
        """The host of each rank."""
        return self.everywhere(platform.node())

    def from_root(self, value: Any) -> Any:
        """The value of rank 0."""
        return value

    def gathered(self, value) -> list | None:
        """The values of all ranks, on rank 0 alone."""
        return [value]

    def everywhere(self, value) -> list:
        """The values of all ranks."""
        return [value]

    def added(self, values: np.ndarray) -> np.ndarray:
        """Elementwise sums over all ranks, integers."""
        return values

    def added_on_root(self, values: np.ndarray) -> np.ndarray | None:
        """Elementwise sums over all ranks, where all but one hold zero; on rank 0 alone."""
        return values

    def any(self, wanted: bool) -> bool:
        """Whether any rank wants it."""
        return wanted

    def all_give_up(self) -> bool:
        """Whether every other rank says so as well, within a few seconds."""
        return True

    def clock_offset(self) -> float:
        """Seconds that rank 0's `time.perf_counter()` is ahead of this rank's."""
        return 0.0

    def abort(self, code: int) -> None:
        """End all ranks at once."""

    def watch(self, limit: float | None = None, kept: Callable[[], str] | None = None) -> None:
        """Seconds without a sign of life after which other ranks are lost, and what tells what is left then."""


ALONE = Alone()


class Ranks(Alone):
    """The ranks that one launcher started."""

    def __init__(self, communicator) -> None:
        self._mpi, self._ends = communicator, communicator.Dup()
        self.rank, self.size = communicator.rank, communicator.size
        self.hosts = communicator.allgather(platform.node())
        self._watchdog = Watchdog(communicator, self.hosts)
        self._waiting = self._watchdog.waiting

    @property
    def watched(self) -> bool:
        return self._watchdog.watches

    def from_root(self, value: Any) -> Any:
        with self._waiting():
            return self._mpi.bcast(value)

    def gathered(self, value) -> list | None:
        with self._waiting():
            return self._mpi.gather(value)

    def everywhere(self, value) -> list:
        with self._waiting():
            return self._mpi.allgather(value)

    def added(self, values: np.ndarray) -> np.ndarray:
        total = values.copy()
        with self._waiting():
            self._mpi.Allreduce(values, total)
        return total

    def added_on_root(self, values: np.ndarray) -> np.ndarray | None:
        total = values.copy() if self.rank == 0 else None
        with self._waiting():
            self._mpi.Reduce(values, total)
        return total

    def any(self, wanted: bool) -> bool:
        return any(self.everywhere(bool(wanted)))

    def watch(self, limit: float | None = None, kept: Callable[[], str] | None = None) -> None:
        self._watchdog.limit = limit or self._watchdog.limit
        self._watchdog.kept = kept or self._watchdog.kept

    def channel(
        self, out: Sequence[tuple[int, Parts]], into: Sequence[tuple[int, Parts]], kind: type[Channel]
    ) -> Channel:
        """A way for the same bytes to go to, and come from, the same ranks again and again; each rank once."""
        return kind(self._mpi, out, into, self._waiting)

    def all_give_up(self) -> bool:
        together, end = self._ends.Ibarrier(), time.monotonic() + PATIENCE
        while not together.Test():
            if time.monotonic() > end:
                return False
            time.sleep(0.01)
        return True

    def clock_offset(self) -> float:
        if self.rank == 0:
            for rank in range(1, self.size):
                for _ in range(ROUND_TRIPS):
                    self._ends.recv(source=rank)
                    self._ends.send(time.perf_counter(), rank)
            return 0.0
        trips = []
        for _ in range(ROUND_TRIPS):
            sent = time.perf_counter()
            self._ends.send(None, 0)
            trips.append((sent, self._ends.recv(source=0), time.perf_counter()))
        # the answer is taken to have been made in the middle of the trip (Cristian, Distributed Computing 3, 1989)
        sent, there, answered = min(trips, key=lambda trip: trip[2] - trip[0])
        return there - (sent + answered) / 2

    def abort(self, code: int) -> None:
        sys.stderr.flush()
        time.sleep(HEARD)
        self._mpi.Abort(code)


class Channel:
    """Persistent messages: `send` what is packed, `progress` now and then, `wait` for all that comes."""

    def __init__(self, communicator, out, into, waiting: Waiting) -> None:
        from mpi4py import MPI

        self._all, self._waiting = MPI.Prequest, waiting
        # by their tags, since MPI may start those of one call in any order
        self._sends = [communicator.Send_init(each, dest=rank, tag=tag) for rank, tag, each in tagged(out)]
        self._receives = [communicator.Recv_init(each, source=rank, tag=tag) for rank, tag, each in tagged(into)]
        weakref.finalize(self, freed, self._sends + self._receives, [*out, *into])

    def expect(self) -> None:
        """Take what comes from now on."""
        self._all.Startall(self._receives)

    def send(self) -> None:
        """Send the buffers as they are now."""
        self._all.Startall(self._sends)

    def progress(self) -> bool:
        """Let the library work; whether all has come and gone."""
        return self._all.Testall(self._receives + self._sends)

    def wait(self) -> None:
        """Wait until all has come and gone."""
        with self._waiting():
            self._all.Waitall(self._receives + self._sends)


class Turns(Channel):
    """Blocking messages: while one pair of ranks talks, those that wait for it stand still."""

    def __init__(self, communicator, out, into, waiting: Waiting) -> None:
        self._waiting, self._sent = waiting, False
        self._mpi, self._out, self._into = communicator, list(tagged(out)), list(tagged(into))
        self._others = {rank for rank, _, _ in (*self._out, *self._into)}

    def expect(self) -> None:
        pass

    def send(self) -> None:
        self._sent = True

    def progress(self) -> bool:
        return True

    def wait(self) -> None:
        if not self._sent:
            return
        with self._waiting():
            for other in sorted(self._others, key=self._turn):
                self._talk(other)
        self._sent = False

    def _turn(self, rank: int) -> tuple[int, int]:
        """The place of a pair of ranks in the order of all pairs."""
        return min(rank, self._mpi.rank), max(rank, self._mpi.rank)

    def _talk(self, other: int) -> None:
        for source in self._turn(other):
            if source == other:
                for tag, each in ((tag, each) for rank, tag, each in self._into if rank == other):
                    self._mpi.Recv(each, source=other, tag=tag)
            else:
                for tag, each in ((tag, each) for rank, tag, each in self._out if rank == other):
                    self._mpi.Send(each, dest=other, tag=tag)


def tagged(messages: Sequence[tuple[int, Parts]]) -> Iterator[tuple[int, int, list]]:
    """Each part by its rank and tag, as mpi4py takes bytes."""
    from mpi4py import MPI

    for rank, parts in messages:
        for tag, part in enumerate(parts):
            if isinstance(part, DeviceMemory):
                yield rank, tag, [MPI.buffer.fromaddress(part.address, part.nbytes), MPI.BYTE]
            else:
                yield rank, tag, [part, MPI.BYTE]


def freed(requests: list, _memory: list) -> None:
    """Give persistent requests back before MPI ends, which complains of those that are left, once all has come.

    The memory that they read and write stays until then: requests do not keep that of devices.
    """
    end = time.monotonic() + PATIENCE
    while not all(request.Test() for request in requests) and time.monotonic() < end:
        time.sleep(0.001)
    for request in requests:
        request.Free()


def agreed(ranks: Alone, make: Callable, at_root: bool = False):
    """The result of `make()`, or on every rank the error of the first that refuses; `at_root`: made there for all."""
    made, refused = None, None
    if ranks.rank == 0 or not at_root:
        try:
            made = make()
        except ModelError as error:
            if ranks.size == 1:
                raise
            refused = str(error)
    for rank, why in enumerate(ranks.everywhere(refused)):
        if why:
            raise ModelError(why if rank == 0 else f"rank {rank}: {why}")
    return ranks.from_root(made) if at_root else made


def started() -> int:
    """Number of processes that the launcher says it started; 1 without one."""
    return max((int(os.environ[name]) for name in SIZES if os.environ.get(name, "").isdigit()), default=1)


@functools.cache
def world() -> Alone:
    """The ranks of this run. Error: a launcher started several processes, and they cannot find each other."""
    if started() == 1:
        return Alone()
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        raise ModelError(
            f"a launcher started {started()} processes, but mpi4py cannot be used ({error}); install it with the `mpi` "
            "extra, or start one process"
        ) from None
    if MPI.COMM_WORLD.size != started():
        raise ModelError(
            f"a launcher started {started()} processes, but each is rank 0 of {MPI.COMM_WORLD.size}: "
            f"it belongs to another MPI than the library in use ({MPI.get_vendor()[0]}); use that library's own mpiexec"
        )
    note_own()
    remove_left()
    return Ranks(MPI.COMM_WORLD)
