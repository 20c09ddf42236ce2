"""`nearfield tune`: which tiles are fastest on this machine, measured and kept for later runs."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from nearfield.commands.console import console
from nearfield.engines import ENGINES
from nearfield.engines.cpu.tiling import STEPWISE, Tiling, predicted_gain
from nearfield.engines.cpu.tuning import TILES, Choice, Trial, choose, forget, try_out
from nearfield.entry.errors import ModelError
from nearfield.entry.wording import memory
from nearfield.machine.machine_rate import free_memory
from nearfield.measure.bench import box
from nearfield.model_file import load
from nearfield.plan.sizes import domain_bytes

if TYPE_CHECKING:
    from nearfield.simulation import Simulation


def forget_tiles(as_json: bool) -> int:
    """Remove every measured choice of this machine."""
    with console(as_json) as out:
        count = forget()
        out.answer({"forgotten": count, "file": str(TILES.path)})
        if not as_json:
            out.say(f"{count} measured choices of tiles forgotten")
    return 0


def tune_tiles(model: Path | None, cells: int, threads: int | None, precision: str, as_json: bool) -> int:
    """Measure the tiles of a model, or of an empty cube; print them and keep the best."""
    simulation = load(model) if model else box(cells, 1, precision=precision)
    if simulation.schedule == "stepwise":
        raise ModelError('this model asks for schedule = "stepwise", which has no tiles; leave the line out to tune')
    with console(as_json) as out:
        setup = simulation.setup()
        refuse_much_memory(simulation)
        choice = choose(setup.plan, threads, tiling=None)
        engine = ENGINES["cpu"](setup.plan, threads or choice.machine.threads, tiling=choice.tiling)
        choice, trial = try_out(engine, setup.excitations[0], choice, out.note)
        found = findings(choice, trial, math.prod(setup.grid.cells))
        out.answer(found)
        if not as_json:
            out.say(readable(found, choice))
    return 0


def refuse_much_memory(simulation: Simulation) -> None:
    """The engine's fields must fit what is free."""
    plan, free = simulation.setup().plan, free_memory()
    needed = domain_bytes(plan.active, plan.cpml, plan.precision)
    if free is not None and needed > free:
        raise ModelError(f"tuning needs {memory(needed)} of memory, {memory(free)} are free here; give fewer cells")


def findings(choice: Choice, trial: Trial, cells: int) -> dict:
    """The candidates with their rates, and the choice."""
    rates = trial.rates()

    def candidate(tiling: Tiling) -> dict:
        each = replace(choice, tiling=tiling)
        return {
            "tiles": str(tiling),
            "mcells_per_second": cells * rates[tiling] / 1e6,
            "gain": rates[tiling] / rates[STEPWISE],
            "predicted_gain": predicted_gain(tiling, choice.rows, choice.machine),
            "share_of_cache": {name: need / size for name, (need, size) in each.footprint.items()},
        }

    return {
        "cells": cells,
        "threads": choice.machine.threads,
        "precision": choice.rows.precision,
        "isa": choice.machine.isa,
        "candidates": [candidate(tiling) for tiling in rates],
        "tiles": str(choice.tiling),
        **choice.facts(),
        "measured_gain": rates[choice.tiling] / rates[STEPWISE],
        "file": str(TILES.path),
    }


def readable(found: dict, choice: Choice) -> str:
    """The candidates as a table, and the choice in a line."""
    levels = list(choice.footprint)
    lines = [f"{'tiles':10} {'Mcells/s':>9} {'of stepwise':>12} {'predicted':>10}" + "".join(f"{n:>8}" for n in levels)]
    for each in found["candidates"]:
        shares = (each["share_of_cache"].get(name) for name in levels)
        lines.append(
            f"{each['tiles']:10} {each['mcells_per_second']:9.0f} {each['gain']:12.2f} {each['predicted_gain']:10.2f}"
            + "".join(f"{100 * share:6.0f} %" if share is not None else f"{'':8}" for share in shares)
        )
    return "\n".join(
        [
            *lines,
            "",
            f"{found['cells']} cells, {found['threads']} threads, {found['precision']}, {found['isa']}",
            f"tiles {choice}, measured {found['measured_gain']:.1f}; kept in {found['file']}",
        ]
    )
