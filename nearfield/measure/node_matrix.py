"""Messages between every two NUMA nodes of all hosts: bandwidth and latency as matrices."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations_with_replacement
from typing import Any

from nearfield.measure.probe_messages import HALO, exchange, this_rank

NETPIPE_BITS = 1 << 20  # of its "Mbps"


def node_names(places: Sequence[dict[str, Any]]) -> list[str]:
    """The node of each rank: host and NUMA node; the host alone of ranks that may move between nodes."""
    return [
        f"{place['host']} node {place['numa'][0]}" if len(place["numa"]) == 1 else place["host"] for place in places
    ]


def node_matrix(communicator: Any, quick: bool, size: int = HALO) -> dict[str, Any] | None:
    """On rank 0: `nodes`, and over pairs of them medians of `bandwidth` (B/s) of messages of `bytes`, the same as
    `mbit_per_second` of 2^20 bits, which NetPIPE counts, and of `latency` (s) of one byte; None on other ranks.

    The first rank of each node stands for it; between ranks of one node its first two do, and the entry is None where
    it has one. Pairs are measured one after the other, all other ranks wait.
    """
    names = node_names(communicator.allgather(this_rank()))
    nodes = list(dict.fromkeys(names))
    found: dict[str, list[list[float | None]]] = {
        kind: [[None] * len(nodes) for _ in nodes] for kind in ("bandwidth", "latency", "mbit_per_second")
    }
    for first, second in combinations_with_replacement(range(len(nodes)), 2):
        own, other = ([rank for rank, name in enumerate(names) if name == nodes[node]] for node in (first, second))
        pair = own[:2] if first == second else [own[0], other[0]]
        if len(pair) < 2:
            continue
        bandwidth, latency = between(communicator, pair, size, quick)
        entries = {"bandwidth": bandwidth, "latency": latency, "mbit_per_second": 8 * bandwidth / NETPIPE_BITS}
        for kind, value in entries.items():
            found[kind][first][second] = found[kind][second][first] = value
    return None if communicator.rank else {"nodes": nodes, "bytes": size, **found}


def between(communicator: Any, pair: Sequence[int], size: int, quick: bool) -> tuple[float, float]:
    """Bandwidth (B/s) at a size and latency (s) of a byte between two ranks, on all ranks."""
    from mpi4py import MPI

    mine = communicator.rank in pair
    both = communicator.Split(0 if mine else MPI.UNDEFINED, pair.index(communicator.rank) if mine else 0)
    found = None
    if mine:
        short, long = exchange(both, 1, 1, quick), exchange(both, 1, size, quick)
        if both.rank == 0:
            found = long["bandwidth"]["median"], short["latency"]["median"]
        both.Free()
    result: tuple[float, float] = communicator.bcast(found, root=pair[0])
    return result
