"""STREAM per NUMA node, for all of them, and over growing numbers of cores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nearfield.machine.hardware import Hardware
from nearfield.measure.probe import MIB, Effort, Memory, Worker, near_workers, placement_of, spread, unsteady
from nearfield.measure.probe_latency import probe_latency

LOOPS = {"copy": 16, "scale": 16, "add": 24, "triad": 24}  # bytes an element: 2, 2, 3, 3 words of 8
RULE = "bytes counted: 2, 2, 3, 3 words an element, the line fetched before each write left out; ordinary stores"
ARRAYS_OVER_CACHE = 4  # STREAM's own rule: each array at least four times the last-level caches
MATRICES = ("bandwidth_gb_per_second", "latency_ns")
LEAST_ELEMENTS = 100_000
UNKNOWN_CACHE = 32 * MIB


def probe_stream(hardware: Hardware, memory: Memory, effort: Effort) -> dict[str, Any]:
    """The four loops on one core, on each NUMA node with cores, and on all cores together."""
    nodes = [node for node in hardware.numa if node.cores]
    everything = [core for node in nodes for core in node.cores]
    core = measurement(hardware, memory, effort, nodes[0].cores[:1])
    each = [measurement(hardware, memory, effort, node.cores) | {"node": node.index} for node in nodes]
    whole = each[0] if len(each) == 1 else measurement(hardware, memory, effort, everything)
    ideal = sum(found["triad"]["best_gb_per_second"] for found in each)
    warnings = [
        text
        for found in each
        for loop in LOOPS
        for text in unsteady(f"stream, node {found['node']}, {loop}", found[loop]["seconds"])
    ]
    cache = cache_of(hardware, nodes[0].cores)
    if each[0]["array_bytes"] < 0.99 * ARRAYS_OVER_CACHE * cache:
        warnings.append(
            f"stream: arrays of {each[0]['array_bytes'] / MIB:.0f} MiB are less than four times the caches "
            f"({cache / MIB:.0f} MiB), which may give part of the rate"
        )
    found = {"core": core, "nodes": each, "all": whole, "share_of_sum": whole["triad"]["best_gb_per_second"] / ideal}
    return {"rule": RULE, "passes": effort.passes, **found, "warnings": warnings}


def probe_scale(hardware: Hardware, memory: Memory, effort: Effort) -> dict[str, Any]:
    """The triad on 1, 2, 4, ... cores of the first NUMA node, on its board's nodes, then on growing numbers of boards.

    `over_first`: over one core. `boards`: whole ones, 0 below. `matrix`: medians, cores' node by memory's node.
    """
    points = []
    for cores, boards in growing(hardware):
        found, nodes = measurement(hardware, memory, effort, cores), {hardware.cores[core].numa for core in cores}
        size = {"cores": len(cores), "numa_nodes": len(nodes), "boards": boards, "placement": found["placement"]}
        points.append(size | found["triad"])
    first = points[0]["best_gb_per_second"]
    for point in points:
        point["over_first"] = point["best_gb_per_second"] / first
    pairs = probe_latency(hardware, memory, effort)
    warnings = [text for point in points for text in unsteady(f"triad on {point['cores']} cores", point["seconds"])]
    return {
        "rule": RULE,
        "passes": effort.passes,
        "points": points,
        "boards": boards_of(hardware),
        "matrix": {
            **{name: pairs[name] for name in ("rows", "columns", "bytes", "passes")},
            **{name: [[cell["median"] for cell in row] for row in pairs[name]] for name in MATRICES},
        },
        "warnings": warnings + pairs["warnings"],
    }


def boards_of(hardware: Hardware) -> int:
    """Boards of a machine: those that are described, else the outermost groups, where it is made of such; else one."""
    if hardware.boards is not None:
        return hardware.boards.count
    outermost = hardware.tree().children
    return len(outermost) if all(each.kind == "group" and not each.memory for each in outermost) else 1


def growing(hardware: Hardware) -> list[tuple[tuple[int, ...], int]]:
    """Sets of cores and the whole boards that they are: doubling within a node, within a board, then of boards."""
    nodes = [node.cores for node in hardware.numa if node.cores]
    boards = boards_of(hardware) if len(nodes) % boards_of(hardware) == 0 else 1
    each = len(nodes) // boards

    def first(count: int) -> tuple[int, ...]:
        return tuple(core for cores in nodes[:count] for core in cores)

    found = {nodes[0][:count]: 0 for count in doubling(len(nodes[0]))}
    found |= {first(count): 0 for count in doubling(each)}
    return list((found | {first(each * count): count for count in doubling(boards)}).items())


def doubling(most: int) -> list[int]:
    """1, 2, 4, ... and `most`."""
    return sorted({min(most, 2**n) for n in range(most.bit_length() + 1)})


def measurement(hardware: Hardware, memory: Memory, effort: Effort, cores: Sequence[int]) -> dict[str, Any]:
    """The four loops with a thread on each of these cores and pages on its own node."""
    workers: list[Worker] = near_workers(hardware, cores)
    elements = elements_each(hardware, effort, cores)
    seconds = memory.stream_seconds(workers, elements, effort.passes)
    found: dict[str, Any] = {"placement": placement_of(workers), "threads": len(workers)}
    found["array_bytes"] = 8 * elements * len(workers)
    for (loop, size), times in zip(LOOPS.items(), seconds):
        moved = size * elements * len(workers)
        later = times[1:] or times  # STREAM leaves the first pass out
        found[loop] = {"best_gb_per_second": moved / min(later) / 1e9, "seconds": spread(later)}
    return found


def elements_each(hardware: Hardware, effort: Effort, cores: Sequence[int]) -> int:
    """Elements of a worker's arrays: four times its part of the last-level caches, as far as memory allows."""
    total = effort.bytes(3 * ARRAYS_OVER_CACHE * cache_of(hardware, cores))
    return max(LEAST_ELEMENTS, total // 24 // len(cores))


def cache_of(hardware: Hardware, cores: Sequence[int]) -> int:
    """Bytes of the last-level caches of these cores; 32 MiB where they are unknown."""
    thirds = {hardware.cores[core].l3 for core in cores}
    return hardware.l3 * len(thirds) or hardware.l2 * len(cores) or UNKNOWN_CACHE
