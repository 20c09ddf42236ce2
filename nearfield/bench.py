"""Benchmarks on models without files: the empty box."""

from __future__ import annotations

import hashlib
import time

import numpy as np

from nearfield.boundaries import CPML, Boundaries
from nearfield.discretization import Discretization
from nearfield.engine import CpuEngine, available_threads
from nearfield.errors import ModelError, RunFailed
from nearfield.grid import Grid
from nearfield.prediction import traffic_bytes_per_cell
from nearfield.simulation import Simulation
from nearfield.sources import PointCurrent
from nearfield.tiling import STEPWISE, Tiling
from nearfield.waveforms import Gaussian

CELL = 1e-3  # m
WARM_UP = 2  # steps: pages and caches


def box(cells: int, steps: int, boundary: str, precision: str, schedule: str = "tiled") -> Simulation:
    """An empty cube of `cells` a side with a point current on an Ez edge in its middle."""
    if boundary not in ("pec", "cpml"):
        raise ModelError(f"boundary {boundary!r} is unknown; allowed: pec, cpml")
    middle = cells // 2 * CELL
    return Simulation(
        grid=Grid.uniform(CELL, (cells, cells, cells)),
        boundaries=Boundaries(all=CPML(10) if boundary == "cpml" else "pec"),
        sources=[PointCurrent((middle, middle, middle + CELL / 2), "z", Gaussian(30e9, delay=0.0))],
        precision=precision,
        steps=steps,
        schedule=schedule,
    )


def checksum(engine: CpuEngine, setup: Discretization) -> str:
    """SHA-256 of the six components, full Yee shapes, C order, little-endian.

    -0 counts as 0, H as the core stores it (eta0 H).
    """
    digest, largest = hashlib.sha256(), 0.0
    for component in range(6):
        view = engine.state(component)
        shape = setup.grid.component_shape(component)
        part = tuple(slice(0, min(a, b)) for a, b in zip(view.shape, shape))
        for i in range(shape[0]):
            plane = np.zeros(shape[1:], view.dtype)
            if i < view.shape[0]:
                plane[part[1:]] = view[(i, *part[1:])]
            largest = max(largest, float(np.abs(plane).max()))
            digest.update(np.ascontiguousarray(plane + view.dtype.type(0)).tobytes())
    if not largest > 0:
        raise RunFailed("the box is still all zero after the last step: nothing was computed; give more steps")
    return digest.hexdigest()


def bench_box(
    cells: int, steps: int, threads: int | None = None, boundary: str = "pec", schedule: str = "tiled",
    precision: str = "single",
) -> dict:  # fmt: skip
    """The rate on the empty box: a dictionary as `nearfield bench box --json` prints it."""
    setup = box(cells, steps, boundary, precision, schedule).setup()
    engine = CpuEngine(setup.plan, threads or available_threads(), tiling=STEPWISE if schedule == "stepwise" else None)
    engine.advance(min(WARM_UP, steps))
    engine.reset()
    begun = time.perf_counter()
    engine.advance(steps)
    seconds = time.perf_counter() - begun
    facts = engine.facts()
    stepwise = traffic_bytes_per_cell(setup.grid.cells, setup.plan.cpml, setup.plan.precision)
    return {
        "cells": cells**3, "steps": steps, "threads": facts["threads"], "boundary": boundary, "precision": precision,
        "isa": facts["isa"], "schedule": facts["schedule"], "tile_depth": facts["tile_depth"],
        "tile_width": facts["tile_width"], "seconds": seconds, "mcells_per_second": cells**3 * steps / seconds / 1e6,
        "bytes_per_cell": facts["bytes"] / cells**3,
        "traffic_bytes_per_cell": stepwise * Tiling(facts["tile_depth"], facts["tile_width"]).traffic,
        "checksum": checksum(engine, setup),
    }  # fmt: skip
