"""Commands that make many runs of one model, and those that analyse fields of any origin."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from nearfield.commands import options
from nearfield.entry.settings import settings_of

QUANTITY = 'Such as "S11 dip", "S21 dB at 5 GHz", "pattern directivity at 5 GHz"; docs/convergence.md lists all.'
REFINE = "How many times finer the cells of each run are, such as 1,2,3; a run then takes its fourth power of the time."
FOLDER = "Folder that takes the result of each run; left out, they are not kept."


def converge(
    model: options.Model,
    quantity: Annotated[str, Option("--quantity", help=QUANTITY)],
    refine: Annotated[str | None, Option("--refine", help=REFINE)] = None,
    threads: options.Threads = None,
    output: Annotated[Path | None, Option("--output", help=FOLDER)] = None,
    given: options.Set = None,
    as_json: options.Json = False,
) -> int:
    """Run a model on two or three grids; state a quantity at cells of no size, with its uncertainty."""
    from nearfield.commands.converge import converge_model
    from nearfield.model_file import load

    return converge_model(load(model, settings_of(given)), model, quantity, refine, threads, output, as_json)


VALUES = "Values of a parameter: first, last and their number as 15mm:17mm:9, a list as 15mm,17mm, or one for all."
EXECUTOR = "processes:N, dask:ADDRESS of a scheduler, or mpi under mpiexec; left out, one run after another."
KEPT = "Folder that keeps the runs and sweep.h5; left out, ./out/<model>-sweep/. What it has is not made again."


def sweep(
    model: options.Model,
    given: Annotated[list[str] | None, Option("--set", metavar="NAME=VALUES", help=VALUES)] = None,
    executor: Annotated[str | None, Option("--executor", help=EXECUTOR)] = None,
    output: Annotated[Path | None, Option("--output", help=KEPT)] = None,
    quantity: Annotated[list[str] | None, Option("--quantity", help=QUANTITY)] = None,
    threads: options.Threads = None,
    as_json: options.Json = False,
) -> int:
    """Run a model for every combination of its parameters' values; a sweep that was killed goes on where it was."""
    from nearfield.commands.sweep import sweep_model

    return sweep_model(model, given, executor, output, quantity or [], threads, as_json)


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
