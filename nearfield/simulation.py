"""A simulation: what is there, what drives it, what is recorded. Gather, check, run.

What a step m = 1, 2, ... makes in every row, in whatever order the schedule takes the rows (core/cpu/row_maker.hpp):

    E <- Ca E - poles            what dispersive media remember
    E <- E + Cb curl H           E now at m dt
    E <- E + currents, circuits  at (m - 1/2) dt
    record E                     probes, voltages, running Fourier sums, snapshots
    H <- Da H - poles
    H <- H - Db curl E           H now at (m + 1/2) dt
    H <- H + magnetic currents   at m dt
    record H
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from nearfield.discretization.model import Model
from nearfield.entry.errors import DivergedError, ModelError, RunFailed
from nearfield.entry.replacing import replaced, way_of
from nearfield.records.records import RunRecord
from nearfield.run.options import ProgressInfo, RunOptions

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

    from nearfield.discretization.discretization import Discretization
    from nearfield.engines.cpu.tiling import Tiling
    from nearfield.parallel.start import Parallel
    from nearfield.results import Result
    from nearfield.run.check import Check


class Simulation(Model):
    """Maxwell's equations in a box: grid, structures, boundaries, sources, ports, monitors. Lengths in SI.

    `check()` gives its costs and warnings; `run()` gives a `Result`. The same entries, by the same
    names, make a model file (docs/model-file.md).

    Errors: `ModelError`, with what was given, what is allowed, why, and what to do.

    >>> import nearfield as nf
    >>> sim = nf.Simulation(
    ...     grid=nf.Grid.uniform(1e-3, (20, 20, 20)),
    ...     boundaries=nf.Boundaries(all=nf.PEC),
    ...     sources=[nf.PointCurrent((10e-3, 10e-3, 10e-3), "z", nf.Gaussian(15e9))],
    ...     monitors=[nf.Probe("tip", (5e-3, 5e-3, 5e-3), "Ez")],
    ...     steps=50,
    ... )
    >>> sim.run(threads=1)["tip"].sizes["time"]
    50
    """

    def _setup(self) -> Discretization:
        """This simulation on its Yee grid, with its time step and steps; refuses what cannot run."""
        from nearfield.discretization.discretization import Discretization

        return Discretization(self)

    def check(self, ranks: int | None = None) -> Check:
        """Costs of the run and warnings, without running; `ranks`: also the memory of each of so many.

        Error: `ModelError` for what cannot run, or not on so many ranks.
        """
        from nearfield.run.check import examine

        return examine(self, ranks=ranks)

    def show(self, output: str | Path | None = None) -> Path:
        """Write this model as one HTML page in three dimensions, and open it where there is a screen; the file.

        The page needs no network. It turns, zooms and cuts: bodies by medium, ports with direction and polarity,
        sources, monitors, CPML, planes of symmetry, grid lines and cells a wavelength on any cut, what the grid moves.
        output: the file, which is then not opened; left out, `out/model.html`. A model that `run` would refuse is shown
        with the reason. Error: `ModelError` without a grid, or for a file that cannot be written.
        """
        from nearfield.viewer.page import open_page, write_page

        page = write_page(self, Path("out/model.html") if output is None else Path(output))
        if output is None:
            open_page(page)
        return page

    def plot(self) -> Figure:
        """Three cuts through the model and its mesh, with media, ports, sources and monitors: a matplotlib figure."""
        from nearfield.discretization.discretization import grid_of
        from nearfield.report.structure import structure_figure

        return structure_figure(grid_of(self), self, self.title)

    def _repr_html_(self) -> str:
        from nearfield.entry.wording import counted
        from nearfield.pictures.notebook import picture_and_table

        held = {"structures": "structure", "ports": "port", "sources": "source", "elements": "element"}
        counts = [counted(len(getattr(self, name)), one) for name, one in held.items() if getattr(self, name)]
        rows = {
            "grid": self.grid.kind,
            "holds": ", ".join(counts) or "nothing",
            "media": ", ".join(dict.fromkeys(body.medium_name for body in self._bodies)),
            "monitors": ", ".join(monitor.name for monitor in self.monitors),
            "parameters": ", ".join(f"{name} = {value}" for name, value in self.parameters.items()),
        }
        return picture_and_table(self.title or "Simulation", rows, self.plot)

    def export(self, path: str | Path) -> Path:
        """Write the bodies as triangles: `.glb` (glTF, m), `.stl` (mm) or `.vtk` (m). Error: `ModelError`."""
        from nearfield.viewer.export import export, kind_of, parts_of

        return export(parts_of(self), kind_of(Path(path)), Path(path))

    def guide_modes(self, frequencies: Any = None) -> xarray.Dataset:
        """The modes of the waveguide ports as the grid carries them, without running.

        Dims `port` (names as in the S-parameters) and `frequency` (Hz; left out, the band of the pulses): `mode`,
        `family` ("TE", "TM", "TEM", "hybrid", "open"), `cutoff_frequency` (Hz; 0 of TEM and quasi-TEM waves, which have
        none; NaN where it is not known, as of open lines below the band), `propagation_constant` alpha + j beta (1/m),
        `impedance` (ohm) of E over H across the guide, imaginary below the cut-off, and `line_impedance` (ohm): voltage
        over current of a TEM wave between two conductors; of a quasi-TEM wave, in mixed fillings, 2 P/abs(I)^2 with the
        current of the inner conductor, in the middle of the pulse's band; NaN of other modes and of more conductors.
        Of hybrid modes the impedance is that of V and I of unit profiles. `characteristic_impedance` (ohm): the
        line's at each frequency, of an open one its power over its squared current, NaN of guides without a line's
        voltage. `power_within`: the part of the
        mode's power in the port's rectangle, that is flux through it over abs(a)^2 - abs(b)^2; below 1 of open lines.
        Error: `ModelError` without a waveguide port.
        """
        from nearfield.discretization.guide_table import guide_modes

        return guide_modes(self._setup(), frequencies)

    def run(
        self,
        threads: int | None = None,
        output: str | Path | None = None,
        progress: Callable[[ProgressInfo], None] | None = None,
        tiling: str | Tiling | None = None,
        parallel: Parallel | None = None,
        checkpoint: str | None = None,
        engine: str | None = None,
        long: bool = False,
        report: bool = False,
    ) -> Result:
        """Run every excitation and give the results.

        threads: default all physical cores that this process may use, fewer for small domains. output: an HDF5 file,
        rewritten whole after each excitation; or a folder that is there, which
        takes `result.h5`. report: leave Touchstone, plots and
        `report.html` beside it, as `nearfield run` does; what fails of that is a warning. progress: called about five
        times a second; left out, notebooks show a bar. tiling: "8x16" for tiles of
        8 steps and 16 rows; left out or "auto", what `nearfield tune` measured here, else the cost model's choice.
        parallel: domains, binding, memory policy and halos (`Parallel`). Under `mpiexec` or `srun` all ranks call this;
        rank 0 writes the output and has the data, the others get a result without any.

        checkpoint: "every 10 min" or "every 1000 steps", into folders beside the output, from which `resume` goes on;
        the last two are kept. SIGTERM then ends the run with one more.

        engine: "cpu", "cuda" (docs/gpu.md), "reference" (slow, in NumPy, for checks of small models) or "auto", all
        with the same bits; left out, the simulation's own entry.
        long: a run that is predicted to take more than a day is meant; it is refused otherwise, unless the model gives
        its `steps`.

        Ctrl-C and SIGTERM end the run; the result then has status "interrupted", and a script goes on: one that makes
        several runs looks at the status after each. Errors: `ModelError` before anything is
        written; `DivergedError` and `RunFailed` (the disk refused the output), whose `result` holds what was recorded.
        """
        from nearfield.run.outlook import notebook_progress
        from nearfield.run.resume import run_from_the_start

        file = output_file(output)
        if report and file is None:
            raise ModelError("report: needs an output, beside whose file plots and report lie; give one")
        progress = progress or notebook_progress(lambda: self._setup().decay)
        options = RunOptions(threads, file, progress, tiling, parallel, engine=engine, long=long)
        result = result_of(lambda: run_from_the_start(self, checkpoint, options))
        if report and file is not None:
            from nearfield.report.show import leave_report

            leave_report(result, self, file)
        return result

    def replace(self, place: str | Sequence[int | str] = "", value: Any = None, /, **entries: Any) -> Self:
        """This simulation with another value at a place, or other entries at its top; checked anew, all else kept.

        place: names and numbers on the way to an entry: a list's entries by their `name` or number, x, y, z of three
        numbers, a structure's `shape` understood; names with dots as a list, ("structures", "no. 1", "upper").
        Error: `ModelError` for names that are not there (`model_copy` would not say) and for values that do not fit.

        >>> import nearfield as nf
        >>> patch = nf.Structure(nf.Sheet((0, 0, 0), ("5 mm", "8 mm", 0)), nf.PEC, name="patch")
        >>> sim = nf.Simulation(nf.Grid.uniform("1 mm", (8, 9, 9)), structures=[patch], steps=10)
        >>> sim.replace("structures.patch.upper.x", "6 mm").structures[0].shape.upper
        (0.006, 0.008, 0.0)
        >>> sim.replace(steps=20).steps
        20
        """
        changed = self
        if place:
            changed = replaced(changed, refuse_record(way_of(place)), value)
        for name, entry in entries.items():
            changed = replaced(changed, refuse_record((name,)), entry)
        return changed

    def to_toml(self) -> str:
        """The model file of this simulation."""
        from nearfield.entry.toml_text import dumps

        return dumps(self)


def output_file(output: str | Path | None) -> Path | None:
    """The result file that an output names: itself, or `result.h5` in a folder that is there."""
    if output is None:
        return None
    path = Path(output)
    return path / "result.h5" if path.is_dir() else path


def refuse_record(way: tuple[int | str, ...]) -> tuple[int | str, ...]:
    """The way to an entry. Error: it leads to a parameter, on which nothing in a simulation depends any more."""
    if way[0] == "parameters":
        raise ModelError(
            "parameters: those of a simulation are a record, its entries have their values already; load the model "
            'file again: nearfield.load("model.toml", {"length": "15.9 mm"})'
        )
    return way


def result_of(run: Callable[[], RunRecord]) -> Result:
    """The `Result` of a run, which an error of it holds too."""
    from nearfield.machine.linear_algebra import single_threaded
    from nearfield.results import Result

    try:
        with single_threaded():
            return Result(run())
    except (DivergedError, RunFailed) as error:
        error.result = error.result and Result(error.result)
        raise


def resume(
    folder: str | Path,
    simulation: Model | None = None,
    threads: int | None = None,
    progress: Callable[[ProgressInfo], None] | None = None,
    tiling: str | Tiling | None = None,
    parallel: Parallel | None = None,
    checkpoint: str | None = None,
    engine: str | None = None,
) -> Result:
    """Go on with the run whose checkpoints lie in `folder`, to its end; the same bits as if it had never stopped.

    The newest whole checkpoint is taken; a warning names those that are damaged. The result goes where the run's was
    to go. `simulation`: only to make sure that it is this one. Threads, tiles, domains, ranks and the engine may be
    others than before; `checkpoint`: another schedule than before. Errors: `ModelError` for no checkpoint that can be
    used, or one of another model or another version; `DivergedError` as of `Simulation.run`.

    >>> import nearfield as nf
    >>> sim = nf.Simulation(
    ...     grid=nf.Grid.uniform(1e-3, (9, 9, 9)), boundaries=nf.Boundaries(all=nf.PEC), steps=60,
    ...     sources=[nf.PointCurrent((4e-3, 4e-3, 4e-3), "z", nf.Gaussian(15e9))],
    ...     monitors=[nf.Probe("tip", (5e-3, 5e-3, 5e-3))],
    ... )
    >>> result = sim.run(output="out/resumed/result.h5", checkpoint="every 40 steps")
    >>> again = nf.resume("out/resumed")  # from step 40 on
    >>> bool((again["tip"] == result["tip"]).all())
    True
    """
    from nearfield.model_file import loads
    from nearfield.run.resume import run_on

    options = RunOptions(threads, None, progress, tiling, parallel, engine=engine)
    return result_of(lambda: run_on(Path(folder), simulation, options, checkpoint, loads))
