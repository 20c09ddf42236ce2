"""Executors of a sweep by name: processes on this machine, a Dask cluster, the ranks of an MPI launcher."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import Collection, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import Any, cast

from nearfield.entry.errors import ModelError
from nearfield.entry.messages import shown
from nearfield.machine.topology import available_threads
from nearfield.studies.sweep_point import allow_runs, end_all

FORMS = "processes:N, dask:ADDRESS (of its scheduler, such as dask:tcp://head:8786), or mpi"
MOST_PROCESSES = 1024
BETWEEN_LOOKS = 0.5  # s, at jobs that are no futures, as submitit's, whose state is read from files


@dataclass(frozen=True)
class Workers:
    """What makes the runs, and how many of them share the cores of one machine; None on ranks that only serve."""

    executor: Executor | None
    share: int


@contextlib.contextmanager
def workers(given: Executor | str | None) -> Iterator[Workers]:
    """The executor that is meant, closed afterwards if it was made here. Error: ModelError for unknown words."""
    if given is None:
        given = "processes:1"
    if not isinstance(given, str):
        yield Workers(given, max(1, getattr(given, "_max_workers", None) or 1))
        return
    kind, _, rest = given.partition(":")
    if kind == "processes":
        with processes(given, rest) as found:
            yield found
    elif kind == "dask" and rest:
        with dask(rest) as found:
            yield found
    elif given == "mpi":
        with mpi() as found:
            yield found
    else:
        raise ModelError(f"executor {shown(given)} is unknown; give {FORMS}")


def ended(jobs: Collection[Any]) -> Iterator[Any]:
    """Jobs as they end: futures, and what only has their `done`, `exception` and `result`, as submitit's jobs."""
    if all(isinstance(job, Future) for job in jobs):
        yield from as_completed(jobs)
        return
    waiting = list(jobs)
    while waiting:
        over = [job for job in waiting if job.done()]
        waiting = [job for job in waiting if job not in over]
        yield from over
        if not over:
            time.sleep(BETWEEN_LOOKS)


@contextlib.contextmanager
def processes(given: str, count: str) -> Iterator[Workers]:
    """So many runs at a time on this machine; each run is a process anyway, so threads that wait for them suffice."""
    number = int(count) if count.isdecimal() else available_threads() if not count else 0
    if not 1 <= number <= MOST_PROCESSES:
        raise ModelError(f"executor {shown(given)}: give processes:N with N from 1 to {MOST_PROCESSES}")
    pool = ThreadPoolExecutor(number)
    try:
        yield Workers(pool, number)
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        end_all()
        raise
    finally:
        pool.shutdown(cancel_futures=True)
        allow_runs()  # of later sweeps: none of this one is about to start


@contextlib.contextmanager
def dask(address: str) -> Iterator[Workers]:
    """The workers of a Dask cluster, which see the same files and have Nearfield installed."""
    try:
        from distributed import Client
    except ImportError:
        raise ModelError('executor dask needs Dask; `pip install "nearfield[dask]"`, or give processes:N') from None
    try:
        with ThreadPoolExecutor(1) as apart:  # a notebook has a loop of its own in this thread
            apart.submit(asyncio.run, _look_for(address)).result()
        client = Client(address, timeout=10, set_as_default=False)
    except (OSError, ValueError) as error:
        why = " ".join(str(error).split()) or type(error).__name__
        raise ModelError(
            f"no Dask scheduler answers at {address} ({why}); start one with "
            "`dask scheduler`, or give the address that it printed"
        ) from None
    with client:
        known: dict[str, Any] = client.scheduler_info(n_workers=-1)["workers"]
        hosts: Counter[str] = Counter()
        for worker in known.values():
            hosts[str(worker["host"])] += int(worker["nthreads"])
        yield Workers(client.get_executor(pure=False), max(hosts.values(), default=1))


async def _look_for(address: str) -> None:
    """Error: nothing answers there. A `Client` that finds nothing prints a traceback when it is thrown away."""
    from distributed import Security
    from distributed.comm import connect

    found = await connect(address, timeout=10, **Security().get_connection_args("client"))
    await found.close()


@contextlib.contextmanager
def mpi() -> Iterator[Workers]:
    """The ranks of a launcher: the first hands out the runs, the others make them (mpi4py.futures)."""
    from nearfield.machine.transport import started

    if started() < 2:
        raise ModelError("executor mpi needs two ranks or more: mpiexec -n 5 nearfield sweep ... makes four at a time")
    from mpi4py import MPI
    from mpi4py.futures import MPICommExecutor

    node = MPI.COMM_WORLD.Split_type(MPI.COMM_TYPE_SHARED)
    share = max(MPI.COMM_WORLD.allgather(node.size - (MPI.COMM_WORLD.rank == 0)))
    node.Free()
    with MPICommExecutor(MPI.COMM_WORLD, root=0) as executor:
        yield Workers(cast("Executor | None", executor), max(1, share))
