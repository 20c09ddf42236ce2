"""Ping-pong between two MPI ranks over message size; started on several ranks by an MPI launcher.

    mpiexec -n 2 python -m nearfield.measure.probe_messages [--processors 0,1] [--quick] [--longest 64] [--matrix]

Rank 0 prints one JSON object: times over size, or the matrix of all nodes. Times are what the solver's halos pay:
through mpi4py, from and to pages in use.
"""

from __future__ import annotations

import functools
import json
import os
import socket
import sys
import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from nearfield.entry.errors import ModelError
from nearfield.machine.hardware import this_machine
from nearfield.machine.transport import world
from nearfield.measure.probe import spread

SIZES = [2**power for power in range(23)]  # 1 B .. 4 MiB
WINDOW = 16  # messages under way at once in the measurement of bandwidth
ROUNDS, QUICK_ROUNDS = 5, 3
SECONDS_A_ROUND = 0.02  # about, where nothing else runs
LEAST, MOST_REPEATS, MOST_WINDOWS = 2, 500, 20
HALO = 1 << 20  # bytes of the exchange under other work
PIECE, ALONE = 4096, 0.02  # numbers of a piece of that work; s of it alone
POLL = 2e-3  # s between looks at messages under way, as the solver's


def where_of(first: dict[str, Any], second: dict[str, Any]) -> str:
    """The distance of two ranks: `numa`, `across` NUMA nodes, `hosts`, or `processes` that the system may move."""
    if first["host"] != second["host"]:
        return "hosts"
    if len(first["numa"]) != 1 or len(second["numa"]) != 1:
        return "processes"
    return "numa" if first["numa"] == second["numa"] else "across"


def this_rank() -> dict[str, Any]:
    """Host, processors and NUMA nodes of this rank."""
    mine = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    nodes = {core.numa for core in this_machine().cores if set(core.processors) & set(mine)}
    return {"host": socket.gethostname(), "processors": mine, "numa": sorted(nodes)}


def measure(communicator: Any, quick: bool, longest: int = SIZES[-1]) -> dict[str, Any] | None:
    """On rank 0: sizes and times between it and the first rank of every kind; None on the others."""
    places = communicator.allgather(this_rank())
    partners: dict[str, int] = {}
    for rank in range(1, len(places)):
        partners.setdefault(where_of(places[0], places[rank]), rank)
    pairs = []
    for where, partner in partners.items():
        rows = [exchange(communicator, partner, size, quick) for size in SIZES if size <= longest]
        ends = {"where": where, "ranks": [0, partner], "placement": [places[0], places[partner]]}
        pairs.append(ends | {"sizes": rows, "busy": busy(communicator, partner, min(longest, HALO), quick)})
    if communicator.rank:
        return None
    from mpi4py import MPI

    library = MPI.Get_library_version().splitlines()[0].strip("\0 ")
    return {"library": library, "ranks": len(places), "window": WINDOW, "pairs": pairs}


def exchange(communicator: Any, partner: int, size: int, quick: bool) -> dict[str, Any]:
    """Latency (s, half a round trip) and bandwidths (B/s) at one size, rounds as spreads; others wait."""
    out, into = np.ones(size, np.uint8), np.empty((WINDOW, size), np.uint8)
    first = communicator.bcast(ping_pong(communicator, partner, out, into, LEAST))  # how often follows from how long
    budget = SECONDS_A_ROUND / (5 if quick else 1)
    repeats = int(np.clip(budget / (2 * first), LEAST, MOST_REPEATS))
    windows = int(np.clip(budget / (WINDOW * first), 1, MOST_WINDOWS))
    latency, bandwidth, both = [], [], []
    for _ in range(QUICK_ROUNDS if quick else ROUNDS):
        latency.append(ping_pong(communicator, partner, out, into, repeats))
        bandwidth.append(stream(communicator, partner, out, into, windows, False))
        both.append(stream(communicator, partner, out, into, windows, True))
    if communicator.rank:
        return {}
    return {"bytes": size, "latency": spread(latency), "bandwidth": spread(bandwidth), "bidirectional": spread(both)}


def ping_pong(communicator: Any, partner: int, out: np.ndarray, into: np.ndarray, repeats: int) -> float:
    """Seconds of half a round trip, after one that is not counted."""
    rank, begun = communicator.rank, 0.0
    communicator.Barrier()
    for turn in range(1 + repeats):
        if turn == 1:
            begun = time.perf_counter()
        if rank == 0:
            communicator.Send(out, partner)
            communicator.Recv(into[0], partner)
        elif rank == partner:
            communicator.Recv(into[0], 0)
            communicator.Send(out, 0)
    return max(time.perf_counter() - begun, 1e-9) / repeats / 2


def stream(communicator: Any, partner: int, out: np.ndarray, into: np.ndarray, windows: int, both: bool) -> float:
    """Bytes a second with a window of messages under way, one way or both ways (counted together)."""
    from mpi4py import MPI

    rank = communicator.rank
    other = partner if rank == 0 else 0
    communicator.Barrier()
    begun = time.perf_counter()
    if rank in (0, partner):
        for _ in range(windows):
            receives = [communicator.Irecv(each, other) for each in into] if both or rank else []
            sends = [communicator.Isend(out, other) for _ in into] if both or not rank else []
            MPI.Request.Waitall(receives + sends)
        if rank:
            communicator.Send(out[:1], 0)
        else:
            communicator.Recv(into[0][:1], partner)
    seconds = time.perf_counter() - begun
    return out.size * WINDOW * windows * (2 if both else 1) / seconds


def busy(communicator: Any, partner: int, size: int, quick: bool) -> dict[str, float]:
    """Seconds a byte that exchanges of `size` bytes each way take from other work, packing included, as a spread.

    Halos travel under the update, which looks after them now and then. So arithmetic is done meanwhile, in pieces whose
    time alone is known, and what is missing from it was spent on the messages.
    """
    from mpi4py import MPI

    def arrived(requests: list[MPI.Request], begun: float) -> bool:
        return MPI.Request.Testall(requests)

    rank = communicator.rank
    other, found = partner if rank == 0 else 0, []
    face, out, into = np.ones(size, np.uint8), np.empty(size, np.uint8), np.empty(size, np.uint8)
    piece = np.ones(PIECE, np.float32)
    for _ in range(QUICK_ROUNDS if quick else ROUNDS):
        communicator.Barrier()
        if rank not in (0, partner):
            continue
        alone = worked(piece, lambda begun: time.perf_counter() - begun > ALONE)
        np.copyto(out, face)
        communicator.Sendrecv(out[:1], other, recvbuf=into[:1], source=other)
        begun = time.perf_counter()
        np.copyto(out, face)
        requests = [communicator.Irecv(into, other), communicator.Isend(out, other)]
        during = worked(piece, functools.partial(arrived, requests))
        np.copyto(face, into)
        seconds = time.perf_counter() - begun
        found.append(max(seconds - during[0] * alone[1] / alone[0], 0.01 * seconds) / size)
    found = communicator.bcast(found)
    return spread(found)


def worked(piece: np.ndarray, ended: Callable[[float], bool]) -> tuple[int, float]:
    """Pieces of arithmetic done until something has ended, which is asked every few ms, and the seconds."""
    begun = looked = time.perf_counter()
    done = 0
    while True:
        np.multiply(piece, piece, out=piece)
        done += 1
        now = time.perf_counter()
        if now - looked > POLL:
            looked = now
            if ended(begun):
                return done, time.perf_counter() - begun


def main(arguments: list[str]) -> int:
    """One rank's part."""
    options = dict(pairwise(arguments))
    try:
        ranks = world()
    except ModelError as error:
        print(error, file=sys.stderr)
        return 2
    if ranks.size < 2:
        print("two ranks are needed: start it with mpiexec -n 2", file=sys.stderr)
        return 2
    if "--processors" in options and hasattr(os, "sched_setaffinity"):
        listed = [int(number) for number in options["--processors"].split(",")]
        os.sched_setaffinity(0, {listed[ranks.rank % len(listed)]})
    from mpi4py import MPI

    quick = "--quick" in arguments
    if "--matrix" in arguments:
        from nearfield.measure.node_matrix import node_matrix

        found = node_matrix(MPI.COMM_WORLD, quick)
    else:
        found = measure(MPI.COMM_WORLD, quick, int(options.get("--longest", SIZES[-1])))
    if found is not None:
        print(json.dumps(found), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
