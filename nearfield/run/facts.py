"""Facts of a run besides its recordings: media, sizes, rates, how each excitation ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.entry.toml_text import inline, plain
from nearfield.grid.yee import AXES
from nearfield.run.growth import risen
from nearfield.run.media_names import OF_BACKGROUND, distinct
from nearfield.run.roofline import copy_facts, roofline_facts

if TYPE_CHECKING:
    from nearfield.discretization.discretization import Discretization
    from nearfield.discretization.model import Model
    from nearfield.entry.schema import Schema
    from nearfield.parallel.start import Started
    from nearfield.run.time_loop import TimeLoop


def media_table(model: Model) -> dict[str, dict[str, Any]]:
    """The constants of every medium of the model by name; poles as a model file has them."""
    named: list[tuple[str, Any]] = [(OF_BACKGROUND, model.background), *model.media.items()]
    named += [
        (body.medium.name or f"structure {body.number}", body.medium)
        for body in model._bodies
        if body.key is None and not isinstance(body.medium, str)
    ]
    return {name: media_row(medium) for name, (_, medium) in zip(distinct(named), named)}


def media_row(medium: Schema) -> dict[str, Any]:
    """A medium's constants."""
    row = {name: getattr(medium, name) for name in type(medium).model_fields}
    return {
        name: inline(plain(value)) if isinstance(value, tuple) else value for name, value in row.items() if value != ()
    }


def plan_facts(setup: Discretization, started: Started) -> dict[str, Any]:
    """Numbers of the discretised model and of the engine."""
    core, cells = started.engine.facts(), int(np.prod(setup.plan.cells, dtype=np.int64))
    return {
        "cells": cells,
        "shape": list(setup.grid.cells),
        "time_step": setup.time_step,
        "metal": setup.metal,
        "precision": setup.plan.precision,
        "engine": started.name,
        **{name: core[name] for name in ("device", "card", "card_memory", "driver", "nvrtc") if name in core},
        "isa": core["isa"],
        "threads": core["threads"],
        "bytes": core["bytes"],
        "bytes_per_cell": core["bytes"] / cells,
        "palette_blocks": core["palette_blocks"],
        "unit_stride_axis": AXES[started.engine.plan.unit_axis],
    }


def excitation_facts(loop: TimeLoop, ended: str) -> dict[str, Any]:
    """Steps, time, rate and end of an excitation, and how its rate stands to that of the memory."""
    steps, whole, ran = loop.engine.step, loop.whole, loop.engine.facts()
    rate = loop.cells * steps / max(loop.seconds, 1e-9) / 1e6
    threads = whole.ranks.size * ran["threads"] if len(set(whole.ranks.hosts)) == 1 else 0
    memory = {}
    if whole.started.name == "cpu":
        memory = roofline_facts(loop.setup.plan, ran, steps, rate, threads)
    elif "card" in ran and whole.ranks.size == 1:
        memory = copy_facts(loop.setup.plan, ran, steps, rate)
    return memory | {
        "ended": ended,
        "steps": steps,
        "seconds": loop.seconds,
        "simulated_time": steps * loop.setup.time_step,
        "mcells_per_second": rate,
        "energy_ratio": loop.guard.ratio,
        "energy_rise": risen(loop.guard.since_end),
        "static_ratio": loop.guard.still,
    }
