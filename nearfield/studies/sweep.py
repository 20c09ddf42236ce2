"""Many runs of one model over the values of its parameters, each made once, on any executor; results as one dataset."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nearfield.entry.errors import ModelError, RunFailed
from nearfield.entry.whole_file import unwritable
from nearfield.entry.wording import counted
from nearfield.formats.lock import locked
from nearfield.run.checkpoint.contents import self_contained
from nearfield.studies.executors import Workers, ended, workers
from nearfield.studies.quantities import Quantity, quantities_of
from nearfield.studies.sweep_point import FULL, folder_of, kept, run_kept
from nearfield.studies.sweep_table import FILE, save_sweep, table_of
from nearfield.studies.sweep_values import axes_of, points_of, recordable
from nearfield.studies.user_function import call_with

if TYPE_CHECKING:
    import xarray

    from nearfield.results import Result
    from nearfield.simulation import Simulation

RUNS = "runs"  # folder of the runs, below that of the sweep


@dataclass
class Point:
    """One point of a sweep: its parameters, its model, the folder of its run, and how that ended."""

    parameters: dict[str, Any]
    text: str = ""
    folder: Path | None = None
    status: str = "open"  # "done", "refused", "diverged", "failed"
    message: str = ""
    made: bool = False  # by this call


def sweep(
    make: Callable[..., Simulation] | str | Path,
    parameters: Mapping[str, Sequence[Any]],
    executor: Executor | str | None = None,
    output: str | Path = "out/sweep",
    quantities: Sequence[str | Callable[[Result], float]] = (),
    threads: int | None = None,
    report: Callable[[Point, int, int], None] | None = None,
) -> xarray.Dataset:
    """Run a model for every combination of its parameters' values; a dataset with a dimension each.

    make: a function of the parameters that gives a `Simulation`, or a model file with `[parameters]`. parameters: a
    list of values each, numbers (SI) or texts ("15 mm"). executor: "processes:4", "dask:tcp://head:8786", "mpi" (under
    `mpiexec`, where the other ranks get an empty dataset), or any `concurrent.futures.Executor`, and submitit's, whose
    workers see the same files; left out, one run after another. output: the folder that keeps the runs, by the content
    of their models: a run that is there is not made again, and a sweep that was killed goes on where it was.
    quantities: as in `converge` ("S11 dip"), or functions of a `Result`; each becomes a variable. threads: of each run;
    left out, the machine's cores over the runs that go on at once. report: called after each run with its point, how
    many are done, and of how many.

    Variables: `sparameters`, fluxes (W, of a source of amplitude 1) and peaks of far fields by name, over `source`
    where there are several runs, the quantities, and of each run `status` ("done", "refused", "diverged", "failed"),
    `message` and `folder` (below `output`). What a failed run lacks is NaN; `attrs["notes"]` names frequencies that
    stand for those asked for. The same dataset lies in `output/sweep.h5`, for `open_sweep`. Error: `ModelError` where
    no point has a model.

    >>> import nearfield as nf
    >>> def cavity(length):
    ...     grid = nf.Grid.uniform("2 mm", (round(length / 2e-3), 10, 10))
    ...     pulse = nf.PointCurrent((6e-3, 6e-3, 10e-3), "z", nf.Gaussian("15 GHz"))
    ...     return nf.Simulation(grid, boundaries=nf.Boundaries(all=nf.PEC), sources=[pulse], steps=1500,
    ...                          monitors=[nf.Probe("tip", (6e-3, 6e-3, 10e-3))])
    >>> ringing = "tip resonance between 8 GHz and 12 GHz"
    >>> found = nf.sweep(cavity, {"length": [0.02, 0.024]}, output="out/cavities", quantities=[ringing])
    >>> bool(found[ringing].sel(length=0.024) < found[ringing].sel(length=0.02))
    True
    """
    axes, home = axes_of(parameters), Path(output)
    wanted = quantities_of([quantities] if isinstance(quantities, str) or callable(quantities) else quantities)
    points = [Point(values) for values in points_of(axes)]
    with workers(executor) as found:
        if found.executor is None:
            import xarray

            return xarray.Dataset()
        notes = _prepare(points, make, home, wanted)
        with locked(home):
            no_room = _make_runs(points, found, threads, report)
            table = table_of(axes, points, wanted, home).assign_attrs(notes="\n".join(notes))
            try:
                save_sweep(table, home / FILE)
            except OSError as error:
                if not no_room:
                    raise unwritable(home / FILE, error, kind="folder") from None
            if no_room:
                raise RunFailed(
                    f"no room for the runs in {home}: {no_room}. {counted(_done(points), 'run')} of {len(points)} done "
                    "and kept; free some space and give the sweep again, or another folder with --output"
                )
    return table


def _prepare(
    points: list[Point], make: Callable[..., Simulation] | str | Path, home: Path, wanted: Sequence[Quantity]
) -> list[str]:
    """The model of every point and its folder; what is said of quantities that models have nearly.

    Error: that of the first, where no point has a model or a quantity.
    """
    first: Exception | None = None
    notes: dict[str, None] = {}
    impossible: dict[Quantity, ModelError | None] = {each: ModelError("no model") for each in wanted}
    for point in points:
        try:
            model = _model(make, point.parameters)
        except Exception as error:  # of the user's function; the other points may have a model
            first = first or error
            name = "" if isinstance(error, ModelError) else f"{type(error).__name__}: "
            point.status, point.message = "refused", f"{name}{error}"
            continue
        impossible = {each: _refusal(each, model) for each, error in impossible.items() if error is not None}
        notes |= dict.fromkeys(each.note(model) for each in wanted)
        bare = model.model_copy(update={"parameters": {}})  # a record, on which no number depends
        point.text = self_contained(model)
        point.folder = (home / RUNS / folder_of(Path(), self_contained(bare)).name).absolute()
    if first is not None and all(point.folder is None for point in points):
        raise first
    for refusal in filter(None, impossible.values()):
        raise refusal
    try:
        home.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ModelError(f"{home} cannot take the runs: {error.strerror}; give another folder as output") from None
    return [note for note in notes if note]


def _refusal(quantity: Quantity, model: Simulation) -> ModelError | None:
    """Why no run of a model can have a quantity."""
    try:
        quantity.refuse(model)
    except ModelError as error:
        return error
    return None


def _model(make: Callable[..., Simulation] | str | Path, values: dict[str, Any]) -> Simulation:
    from nearfield.model_file import load
    from nearfield.simulation import Simulation

    model = call_with(make, values) if callable(make) else load(make, values)
    if not isinstance(model, Simulation):
        raise ModelError(f"the function of the sweep gave {type(model).__name__}; it must give a Simulation")
    return model if model.parameters else model.model_copy(update={"parameters": recordable(values)})


def _make_runs(
    points: list[Point], found: Workers, threads: int | None, report: Callable[[Point, int, int], None] | None
) -> str:
    """Make the runs that no folder keeps, each model once; points learn how theirs ended.

    The first for which the disk has no room is the last that begins; returns what was said of it, "" without one.
    """
    by_folder: dict[Path, list[Point]] = {}
    for point in points:
        if point.folder is not None:
            by_folder.setdefault(point.folder, []).append(point)
    refused = [point for point in points if point.folder is None]
    for number, point in enumerate(refused, 1):
        if report is not None:
            report(point, number, len(points))
    done = len(refused)
    futures: dict[Any, Path] = {}

    def told(folder: Path, how: dict[str, Any], made: bool) -> None:
        nonlocal done
        for point in by_folder[folder]:
            point.status, point.message, point.made = how["status"], how["message"], made
            done += 1
            if report is not None:
                report(point, done, len(points))

    assert found.executor is not None
    for folder, alike in by_folder.items():
        how = kept(folder)
        if how is not None:
            told(folder, how, False)
        else:
            futures[found.executor.submit(run_kept, alike[0].text, str(folder), threads, found.share)] = folder
    no_room = ""
    for future in ended(futures):
        if no_room and isinstance(future, Future) and future.cancelled():
            continue
        error = future.exception()
        lost = {"status": "failed", "message": f"its worker was lost: {type(error).__name__}: {error}"}
        how = lost if error is not None else future.result()
        if how["status"] == FULL:
            no_room, how = no_room or how["message"], how | {"status": "failed"}
            for each in futures:
                each.cancel()
        told(futures[future], how, True)
    return no_room


def _done(points: Sequence[Point]) -> int:
    """How many points have a result."""
    return sum(point.status == "done" for point in points)
