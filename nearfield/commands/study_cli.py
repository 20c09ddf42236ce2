"""Commands that make many runs of one model, and those that analyse fields of any origin."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

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


FIELD = "FILE:DATASET (HDF5) or FILE.npy, real values on a grid of one to three axes; or RESULT:MONITOR of a run."
QUANTITY = "Of a run's monitor: E, H, energy, S, or a component; magnitudes of spectra."
SPACING = (
    "Distance between points, H or one each as H,H,H, or data sets of coordinates; left out, lengths are in cells."
)
ELEMENTS_FILE = "HDF5 file for labels, extrema, elements, neighbours and statistics."
METHOD = "hybrid, trace (every gradient line) or discrete (steepest neighbours: fast, biased along the grid)."


def elements(
    field: Annotated[str, Argument(help=FIELD)],
    spacing: Annotated[str | None, Option("--spacing", help=SPACING)] = None,
    periodic: Annotated[str, Option("--periodic", help="Axes that close on themselves, as xyz; left out, none.")] = "",
    method: Annotated[str, Option("--method", help=METHOD)] = "hybrid",
    quantity: Annotated[str | None, Option("--quantity", help=QUANTITY)] = None,
    at: Annotated[
        float | None, Option("--at", help="Time (s) or frequency (Hz) of a run's monitor, the nearest.")
    ] = None,
    output: Annotated[Path | None, Option("--output", help=ELEMENTS_FILE)] = None,
    threads: options.Threads = None,
    as_json: options.Json = False,
) -> int:
    """Find the dissipation elements of a scalar field: regions whose gradient lines join a minimum and a maximum."""
    from nearfield.commands.elements import find_elements

    return find_elements(field, spacing, periodic, method, quantity, at, output, threads, as_json)
