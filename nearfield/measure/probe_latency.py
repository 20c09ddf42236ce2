"""Bandwidth and latency from every NUMA node to the memory of every node."""

from __future__ import annotations

from typing import Any

from nearfield.machine.hardware import Hardware
from nearfield.measure.probe import MIB, Effort, Memory, placement_of, spread, unsteady, workers_on

CHASE_BYTES = 256 * MIB  # at least: far more than the pages that a core knows by heart
LOADS = 1_000_000
CACHES = 4  # times the last-level cache


def probe_latency(hardware: Hardware, memory: Memory, effort: Effort) -> dict[str, Any]:
    """Two matrices, row: node of the cores, column: node of the memory.

    Read bandwidth (GB/s) of all cores of the row's node together, and latency (ns) of a load on one of them that waits
    for the one before, along a random cycle through lines of 64 bytes.
    """
    rows = [node for node in hardware.numa if node.cores]
    size = effort.bytes(max(CHASE_BYTES, CACHES * hardware.l3))
    passes, loads = max(3, effort.passes // 2), LOADS // 10 if effort.quick else LOADS
    matrices: dict[str, list[list[dict[str, float]]]] = {"bandwidth": [], "latency": []}
    placements, warnings = [], []
    for row in rows:
        for matrix in matrices.values():
            matrix.append([])
        for column in hardware.numa:
            readers = workers_on(hardware, row.cores, column.index)
            each = size // len(readers) // 8 * 8
            rates = [each * len(readers) / seconds / 1e9 for seconds in memory.read_seconds(readers, each, passes)]
            times = memory.chase_nanoseconds(readers[0], size, loads, passes)
            placements.append(placement_of(readers))
            for (what, matrix), values in zip(matrices.items(), (rates, times)):
                matrix[-1].append(spread(values))
                warnings += unsteady(f"{what}, node {row.index} from memory {column.index}", matrix[-1][-1])
    numbers = {"rows": [node.index for node in rows], "columns": [node.index for node in hardware.numa]}
    found = {"bandwidth_gb_per_second": matrices["bandwidth"], "latency_ns": matrices["latency"]}
    return numbers | found | {"bytes": size, "passes": passes, "placements": placements, "warnings": warnings}
