"""`nearfield tune`: which tiles are fastest on this machine, measured and kept for later runs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from nearfield.commands.console import console, print_answer
from nearfield.commands.predict import refuse_parameters
from nearfield.commands.tables import columns
from nearfield.engines import ENGINES
from nearfield.engines.cpu.tiling import STEPWISE, Tiling, predicted_gain
from nearfield.engines.cpu.tuning import TILES, Choice, Trial, choose, forget, key, try_out
from nearfield.entry.errors import ModelError
from nearfield.machine.machine_rate import known_triad, remember_triad
from nearfield.machine.memory_rate import triad
from nearfield.machine.topology import available_threads
from nearfield.measure.bench import box
from nearfield.model_file import load
from nearfield.run.memory import refuse_short_of_memory

if TYPE_CHECKING:
    from nearfield.engines.cpu.tuning import TiledEngine


def forget_tiles(as_json: bool) -> int:
    """Remove every measured choice of this machine."""
    count = forget()
    text = f"{count} measured choices of tiles forgotten"
    return print_answer(as_json, {"forgotten": count, "file": str(TILES.path)}, text)


def tune_tiles(
    model: Path | None,
    cells: int,
    threads: int | None,
    precision: str,
    as_json: bool,
    parameters: Mapping[str, Any],
) -> int:
    """Measure the tiles of a model, or of an empty cube; print them and keep the best."""
    if model is None:
        refuse_parameters(parameters)
    simulation = load(model, parameters) if model else box(cells, 1, precision=precision)
    if simulation.schedule == "stepwise":
        raise ModelError('this model asks for schedule = "stepwise", which has no tiles; leave the line out to tune')
    if simulation.engine not in ("auto", "cpu"):
        raise ModelError(f'engine = "{simulation.engine}" of this model has no tiles; leave the line out to tune')
    with console(as_json) as out:
        setup = simulation._setup()
        refuse_short_of_memory(setup)
        count = threads or available_threads()
        if known_triad(count) is None:  # the choice goes by it, and the roofline of later runs
            remember_triad(triad(count), count)
        plan = setup.plan.kept
        choice = choose(plan, threads, tiling=None)
        engine = ENGINES["cpu"](plan, threads or choice.machine.threads, tiling=choice.tiling)
        choice, trial = try_out(cast("TiledEngine", engine), setup.excitations[0], choice, out.note)
        found = findings(choice, trial, math.prod(setup.grid.cells))
        if key(choice.rows, choice.machine) not in TILES.entries():
            found["file"] = None
            out.warn(f"{TILES.path} cannot be written; name another folder in the variable NEARFIELD_CACHE")
        out.answer(found, readable(found, choice))
    return 0


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
    lines = [("tiles", "Mcells/s", "of stepwise", "predicted", *levels)]
    for each in found["candidates"]:
        shares = (each["share_of_cache"].get(name) for name in levels)
        rates = f"{each['mcells_per_second']:.0f}", f"{each['gain']:.2f}", f"{each['predicted_gain']:.2f}"
        lines.append((each["tiles"], *rates, *("" if share is None else f"{100 * share:.0f} %" for share in shares)))
    kept = f"kept in {found['file']}" if found["file"] else "not kept"
    return (
        f"{columns(lines)}\n\n"
        f"{found['cells']} cells, {found['threads']} threads, {found['precision']}, {found['isa']}\n"
        f"tiles {choice}, measured {found['measured_gain']:.1f}; {kept}"
    )
