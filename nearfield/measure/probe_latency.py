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
    passes = max(3, effort.passes // 2)
    bandwidth: list[list[dict[str, float]]] = []
    latency: list[list[dict[str, float]]] = []
    placements, warnings = [], []
    for row in rows:
        bandwidth.append([])
        latency.append([])
        for column in hardware.numa:
            readers = workers_on(hardware, row.cores, column.index)
            each = size // len(readers) // 8 * 8
            seconds = memory.read_seconds(readers, each, passes)
            bandwidth[-1].append(spread([each * len(readers) / pass_ / 1e9 for pass_ in seconds]))
            loads = LOADS // 10 if effort.quick else LOADS
            latency[-1].append(spread(memory.chase_nanoseconds(readers[0], size, loads, passes)))
            placements.append(placement_of(readers))
            for what, found in (("bandwidth", bandwidth), ("latency", latency)):
                warnings += unsteady(f"{what}, node {row.index} from memory {column.index}", found[-1][-1])
    return {
        "rows": [node.index for node in rows],
        "columns": [node.index for node in hardware.numa],
        "bandwidth_gb_per_second": bandwidth,
        "latency_ns": latency,
        "bytes": size,
        "passes": passes,
        "placements": placements,
        "warnings": warnings,
    }
