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


OF = "Parameters of the model file, as length,width; left out, all of them."
AT = "Frequencies, as 5GHz,5.1GHz or 5GHz:6GHz:21; left out, up to 101 over the band of the pulses."
DERIVATIVES = (
    "HDF5 file for S and its derivatives, which nf.open_sweep reads; sensitivities*.h5 beside a run's result.h5 "
    "becomes a section of its report (`nearfield show`). Left out, none."
)


def sensitivities(
    model: options.Model,
    of: Annotated[str | None, Option("--of", metavar="NAMES", help=OF)] = None,
    given: options.Set = None,
    frequencies: Annotated[str | None, Option("--at", metavar="FREQUENCIES", help=AT)] = None,
    output: Annotated[Path | None, Option("--output", help=DERIVATIVES)] = None,
    threads: options.Threads = None,
    as_json: options.Json = False,
) -> int:
    """Tell which size or medium S depends on most: derivatives of a model's S-parameters from one run a port."""
    from nearfield.commands.sensitivities import tell_sensitivities

    return tell_sensitivities(model, of, settings_of(given), frequencies, threads, output, as_json)


VARY = "A parameter of the model file and the range to search, as length=11.4mm:13.4mm; may be given several times."
GOAL = (
    '"S11 < -18 dB between 7.19 GHz and 7.21 GHz", "S21 > -1 dB at 5 GHz", or "PATTERN realized gain > 6 dBi at 5 GHz '
    'towards 0, 0 deg" of a far field; may be given several times.'
)
START = "Where to begin, as length=12mm; left out, the middle of its range."
SEARCH = "gradient (least squares with derivatives of each run) or simplex (any parameter, some three times the runs)."
FOUND = "Model file for the best that was found, goals met or not, as `nearfield run` takes it; left out, none."
PATH = "Folder for path.png: the worst level of each goal over the runs."


def optimize(
    model: options.Model,
    vary: Annotated[list[str] | None, Option("--vary", metavar="NAME=LOW:HIGH", help=VARY)] = None,
    goal: Annotated[list[str] | None, Option("--goal", help=GOAL)] = None,
    start: Annotated[list[str] | None, Option("--start", metavar="NAME=VALUE", help=START)] = None,
    given: options.Set = None,
    method: Annotated[str, Option("--method", help=SEARCH)] = "gradient",
    runs: Annotated[int, Option("--runs", min=1, max=10000, help="At most so many runs.")] = 30,
    output: Annotated[Path | None, Option("--output", help=FOUND)] = None,
    force: options.Force = False,
    plots: Annotated[Path | None, Option("--plots", help=PATH)] = None,
    threads: options.Threads = None,
    as_json: options.Json = False,
) -> int:
    """Search the parameters for which S-parameters meet goals; exit code 1 where none does."""
    from nearfield.commands.optimize import Search, optimize_model

    search = Search(vary, goal, start, settings_of(given), method, runs, threads)
    return optimize_model(model, search, output, force, plots, as_json)


FIELD = "FILE:DATASET (HDF5, NetCDF 4, VTKHDF) or FILE.npy on a grid of one to three axes; or RESULT:MONITOR of a run."
FIELD_QUANTITY = (
    "Of a run's monitor: E, H, intensity, energy, S, or a component; of complex data: magnitude, real, imaginary."
)
SPACING = (
    "Distance between points, H or one each as H,H,H, or data sets of coordinates; left out, lengths are in cells."
)
ELEMENTS_FILE = (
    "HDF5 file for labels, extrema, elements, neighbours and statistics; elements*.h5 beside a run's result.h5 "
    "becomes a section of its report (`nearfield show`)."
)
PERSISTENCE = (
    "Leave out extrema that differ by less from the pass to a higher (lower) one: a value, or as 5% of the range."
)
TRAJECTORIES = "Keep the gradient lines through so many points, drawn at random, in the file of --output."
ALONG = "Data sets of the field's own file, interpolated along these lines."
ELEMENTS_PLOTS = "Folder for pictures: slice, hot_spots, joint_density, conditional_difference, length_density (.png)."
ELEMENT = "Page in three dimensions of this element, into the folder of --plots: largest, longest, or its number."
SCHEDULE = "Blocks to threads: local (a NUMA node's own first), dynamic or static, to compare; the same answer."
ROOM = "Memory to use, as 8GB; left out, what is free. Fields that need more are analysed in files."
SCRATCH = "Folder of a disk for these files, some 22 bytes a point; left out, that of --output."
ARCS = "Measure gradient lines, so many an element or those of all points: arc_length in the file of --output."
CHUNK = "Points of a block of lines, whose ends a thread keeps until it writes them to the labels."
METHOD = "hybrid, trace (every gradient line) or discrete (steepest neighbours: fast, biased along the grid)."


def elements(
    field: Annotated[str, Argument(help=FIELD)],
    spacing: Annotated[str | None, Option("--spacing", help=SPACING)] = None,
    periodic: Annotated[str, Option("--periodic", help="Axes that close on themselves, as xyz; left out, none.")] = "",
    method: Annotated[str, Option("--method", help=METHOD)] = "hybrid",
    quantity: Annotated[str | None, Option("--quantity", help=FIELD_QUANTITY)] = None,
    at: Annotated[
        str | None,
        Option("--at", help="Time (s) or frequency (Hz), the nearest; T1:T2, the mean of snapshots between."),
    ] = None,
    excitation: Annotated[
        str | None, Option("--excitation", help="The port, or `sources`, of a run's fields; left out, the first.")
    ] = None,
    output: Annotated[Path | None, Option("--output", help=ELEMENTS_FILE)] = None,
    persistence: Annotated[str | None, Option("--persistence", metavar="VALUE|PERCENT%", help=PERSISTENCE)] = None,
    plots: Annotated[Path | None, Option("--plots", help=ELEMENTS_PLOTS)] = None,
    element: Annotated[str | None, Option("--element", metavar="WHICH", help=ELEMENT)] = None,
    trajectories: Annotated[int | None, Option("--trajectories", metavar="POINTS", help=TRAJECTORIES)] = None,
    along: Annotated[str | None, Option("--along", metavar="NAME,NAME", help=ALONG)] = None,
    arc_length: Annotated[str | None, Option("--arc-length", metavar="LINES|all", help=ARCS)] = None,
    threads: options.Threads = None,
    memory: Annotated[str | None, Option("--memory", metavar="SIZE", help=ROOM)] = None,
    scratch: Annotated[Path | None, Option("--scratch", help=SCRATCH)] = None,
    chunk: Annotated[int | None, Option("--chunk", min=1, max=1 << 30, help=CHUNK)] = None,
    schedule: Annotated[str, Option("--schedule", help=SCHEDULE)] = "local",
    as_json: options.Json = False,
) -> int:
    """Find the dissipation elements of a scalar field: regions whose gradient lines join a minimum and a maximum."""
    from nearfield.commands.elements import Wish, find_elements
    from nearfield.machine.schedule import scheduled

    given = field, spacing, periodic, method, quantity, at, persistence, output, plots, trajectories, along, threads
    wish = Wish(*given, memory, scratch, chunk, arc_length, element, excitation)
    with scheduled(schedule):
        return find_elements(wish, as_json)
