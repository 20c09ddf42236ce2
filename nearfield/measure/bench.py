"""The empty box, and how the rate of a simulation is taken."""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from nearfield import CPML, Boundaries, Gaussian, Grid, PointCurrent, Simulation, load
from nearfield.discretization.discretization import Discretization
from nearfield.engines import UNDIVIDED, chosen_engine
from nearfield.engines.cpu.tiling import Tiling
from nearfield.engines.protocol import Engine
from nearfield.entry.errors import ModelError, RunFailed
from nearfield.machine.topology import available_threads
from nearfield.machine.transport import started, world
from nearfield.parallel.start import Parallel, start, wishes_of_cpu
from nearfield.run.memory import refuse_short_of_memory
from nearfield.run.roofline import moved_bytes

CELL = 1e-3  # m
WARM_UP = 2  # steps: pages and caches
Tiles = str | Tiling | None  # None: chosen


def box(
    cells: int, steps: int, boundary: str = "pec", precision: str = "single", schedule: str = "tiled", **entries: Any
) -> Simulation:
    """An empty cube of `cells` a side with a point current on an Ez edge in its middle; `entries` add or replace."""
    if boundary not in ("pec", "cpml"):
        raise ModelError(f"boundary {boundary!r} is unknown; allowed: pec, cpml")
    middle = cells // 2 * CELL
    given: dict[str, Any] = {
        "grid": Grid.uniform(CELL, (cells, cells, cells)),
        "boundaries": Boundaries(all=CPML(10) if boundary == "cpml" else "pec"),
        "sources": [PointCurrent((middle, middle, middle + CELL / 2), "z", Gaussian(30e9, delay=0.0))],
        "precision": precision,
        "schedule": schedule,
    }
    return Simulation(**given | entries, steps=steps)


class Timed:
    """A simulation on an engine of its own, advanced from rest as often as it is to be timed."""

    def __init__(
        self, simulation: Simulation, threads: int | None = None, tiling: Tiles = None, parallel: Parallel | None = None
    ) -> None:
        self.setup = Discretization(simulation, world())
        self.cells = math.prod(self.setup.grid.cells)
        engine = chosen_engine(simulation.engine, self.setup.plan, wishes_of_cpu(tiling, parallel)).name
        refuse_short_of_memory(self.setup, engine)
        several = engine not in UNDIVIDED
        alone = started() == 1 and several and not (parallel and parallel.bind)
        threads = threads or (available_threads() if alone else None)
        self.started = start(self.setup.plan, threads, simulation.schedule, tiling, parallel, engine)
        self.choice, self.engine = self.started.choice, self.started.engine
        self.engine.advance(WARM_UP)

    def seconds(self, steps: int) -> float:
        """Seconds that so many steps take, made in one call."""
        self.engine.reset()
        begun = time.perf_counter()
        self.engine.advance(steps, self.setup.excitations[0])
        return time.perf_counter() - begun

    def rate(self, steps: int) -> float:
        """Million cells a second over so many steps."""
        return self.cells * steps / self.seconds(steps) / 1e6

    def facts(self) -> dict[str, Any]:
        """Schedule, tiles, threads and instruction set that ran; bytes a cell allocated and moved a step (model)."""
        facts, plan = self.engine.facts(), self.setup.plan
        tiles = {f"tile_{each.name}": facts.get(f"tile_{each.name}", 0) for each in fields(Tiling)}
        bytes_moved = moved_bytes(plan, facts)
        ran = {name: facts[name] for name in ("threads", "isa", "schedule", "palette_blocks")}
        return ran | tiles | {"bytes_per_cell": facts["bytes"] / self.cells, "traffic_bytes_per_cell": bytes_moved}


def checksum(engine: Engine, setup: Discretization) -> str | None:
    """SHA-256 of the six components, full Yee shapes, C order, little-endian.

    -0 counts as 0, H as the core stores it (eta0 H). None where the fields are with another rank.
    """
    digest, largest = hashlib.sha256(), 0.0
    for component in range(6):
        view = engine.gathered(component)
        if view is None:
            continue
        shape = setup.grid.component_shape(component)
        part = tuple(slice(0, min(a, b)) for a, b in zip(view.shape, shape))
        for i in range(shape[0]):
            plane = np.zeros(shape[1:], view.dtype)
            if i < view.shape[0]:
                plane[part[1:]] = view[i][part[1:]]
            largest = max(largest, float(np.abs(plane).max()))
            digest.update(np.ascontiguousarray(plane + view.dtype.type(0)).tobytes())
    if view is None:
        return None
    if not largest > 0:
        raise RunFailed("the fields are still all zero after the last step: nothing was computed; give more steps")
    return digest.hexdigest()


def bench_box(
    cells: int,
    steps: int,
    threads: int | None = None,
    boundary: str = "pec",
    schedule: str = "tiled",
    precision: str = "single",
    tiling: Tiles = None,
    parallel: Parallel | None = None,
    engine: str = "auto",
) -> dict[str, Any]:
    """The rate on the empty box: a dictionary as `nearfield bench box --json` prints it."""
    engine = chosen_engine(engine, only_cpu=wishes_of_cpu(tiling, parallel)).name
    if engine in UNDIVIDED:
        schedule = "stepwise"
    simulation = box(cells, steps, boundary, precision, schedule, engine=engine)
    return measurement(simulation, boundary, steps, threads, tiling, parallel)


def bench_model(
    path: Path,
    steps: int,
    threads: int | None = None,
    tiling: Tiles = None,
    parallel: Parallel | None = None,
    parameters: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The rate on a model, over so many steps of its first excitation: as `bench_box`, and the model's path."""
    simulation = load(path, parameters)
    boundary = "cpml" if any(any(simulation.boundaries.cpml_cells(axis)) for axis in range(3)) else "pec"
    return {"model": str(path), **measurement(simulation, boundary, steps, threads, tiling, parallel)}


def measurement(simulation: Simulation, boundary: str, steps: int, *spread: Any) -> dict[str, Any]:
    """The rate of a simulation, spread as `Timed` takes it, how it was spread, and the checksum of its fields."""
    timed = Timed(simulation, *spread)
    timed.seconds(WARM_UP)  # ranks begin together
    seconds = max(timed.started.ranks.everywhere(timed.seconds(steps)))
    return {
        "cells": timed.cells,
        "steps": steps,
        "boundary": boundary,
        "precision": simulation.precision,
        "engine": timed.started.name,
        "device": timed.engine.facts().get("device"),
        **timed.facts(),
        "tile_choice": timed.choice.how,
        "predicted_gain": timed.choice.facts()["predicted_gain"],
        "seconds": seconds,
        "mcells_per_second": timed.cells * steps / seconds / 1e6,
        **timed.started.facts(),
        "rank_seconds": timed.started.seconds(),
        "warnings": list(timed.started.binding.warnings),
        "checksum": checksum(timed.engine, timed.setup),
    }
