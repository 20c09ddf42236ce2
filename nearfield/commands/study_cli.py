"""Commands that make many runs of one model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Option

from nearfield.commands import options

QUANTITY = 'Such as "S11 dip", "S21 dB at 5 GHz", "pattern directivity at 5 GHz"; docs/convergence.md lists all.'
REFINE = "How many times finer the cells of each run are, such as 1,2,3; a run then takes its fourth power of the time."
FOLDER = "Folder that takes the result of each run; left out, they are not kept."


def converge(
    model: options.Model,
    quantity: Annotated[str, Option("--quantity", help=QUANTITY)],
    refine: Annotated[str | None, Option("--refine", help=REFINE)] = None,
    threads: options.Threads = None,
    output: Annotated[Path | None, Option("--output", help=FOLDER)] = None,
    as_json: options.Json = False,
) -> int:
    """Run a model on two or three grids; state a quantity at cells of no size, with its uncertainty."""
    from nearfield.commands.converge import converge_model

    return converge_model(model, quantity, refine, threads, output, as_json)
