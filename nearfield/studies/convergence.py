"""The value of a quantity at cells of no size, from runs on two or more grids."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nearfield.discretization.discretization import grid_of
from nearfield.discretization.metal_choice import metal_choice
from nearfield.entry.errors import ModelError
from nearfield.grid.grid import AutoGrid
from nearfield.studies.extrapolation import extrapolated
from nearfield.studies.quantities import Quantity, quantity_of
from nearfield.studies.refinement import refined
from nearfield.studies.whole_run import run_whole

if TYPE_CHECKING:
    from nearfield.results import Result
    from nearfield.simulation import Simulation

AUTOMATIC = (1.0, 1.4, 2.0)  # refinements of an AutoGrid
WHOLE = (1.0, 2.0)  # of grids whose cells are cut into whole parts: thirds cost 81 times the model's own run


@dataclass(frozen=True)
class ConvergenceRun:
    """One run of a study: how many times finer its cells are, their number, its steps, time (s) and value."""

    refinement: float
    cells: int
    steps: int
    seconds: float
    value: float


@dataclass(frozen=True)
class Convergence:
    """A quantity at cells of no size.

    `value` and `uncertainty` in `unit`; `order` as it was observed, None where the values show none (two grids, or
    values that go up and down); `runs` from the coarsest grid to the finest; `warnings` of `check` on the coarsest, and
    of a frequency that stands for the one asked for.
    """

    quantity: str
    unit: str
    value: float
    uncertainty: float
    order: float | None
    runs: tuple[ConvergenceRun, ...]
    warnings: tuple[str, ...] = ()

    def json_data(self) -> dict[str, Any]:
        """Everything as plain values."""
        return asdict(self) | {"runs": [asdict(run) for run in self.runs], "warnings": list(self.warnings)}


def converge(
    simulation: Simulation,
    quantity: str | Callable[[Result], float],
    refinements: Sequence[float] | None = None,
    threads: int | None = None,
    output: str | Path | None = None,
    report: Callable[[ConvergenceRun], None] | None = None,
    warn: Callable[[str], None] | None = None,
) -> Convergence:
    """Run a model on two or more grids and extrapolate a quantity to cells of no size (Richardson), with uncertainty.

    quantity: words such as "S11 dip", "S21 dB at 5 GHz", "pattern directivity at 5 GHz", "tip resonance between 2 GHz
    and 3 GHz" (docs/convergence.md lists them), or a function of a `Result` that gives a number. refinements: how many
    times finer the cells of each run are; left out, 1, 1.4 and 2 of an `AutoGrid` and 1 and 2 of other grids, whose
    cells are cut into whole numbers of parts. A run with cells n times finer takes some n^4 times as long. output: a
    folder that takes each result as `refinement-2.h5` and the like. report: called after each run. warn: called before
    them with each warning of `check` on the coarsest grid, which the answer's `warnings` hold too.

    The uncertainty is meant for the error of the cells: not for what the model leaves out, nor for the truncation of
    signals. Source: Roache, J. Fluids Eng. 116, 405 (1994). Error: `ModelError`.

    >>> import nearfield as nf
    >>> box = nf.Simulation(
    ...     grid=nf.Grid.uniform("2 mm", (10, 10, 10)), boundaries=nf.Boundaries(all=nf.PEC), steps=1500,
    ...     sources=[nf.PointCurrent((6e-3, 6e-3, 10e-3), "z", nf.Gaussian("15 GHz"))],
    ...     monitors=[nf.Probe("tip", (6e-3, 6e-3, 10e-3))],
    ... )
    >>> found = nf.converge(box, "tip resonance between 10 GHz and 11 GHz", refinements=(1, 2, 3))
    >>> abs(found.value - 10.599e9) < found.uncertainty < 5e6  # c/(sqrt(2) 20 mm)
    True
    """
    wanted = quantity_of(quantity) if isinstance(quantity, str) else Quantity(_name(quantity), "", quantity)
    given = _usual(simulation) if refinements is None else refinements
    factors = sorted({float(factor) for factor in given})
    if len(factors) < 2:
        raise ModelError(f"refinements {factors}: give two or more, such as (1, 2); one grid shows no convergence")
    models = one_method([refined(simulation, factor) for factor in factors])  # refusals come before the first run
    wanted.refuse(models[0])
    warnings = (*models[0].check().warnings, *filter(None, [wanted.note(models[0])]))
    if warn is not None:
        for warning in warnings:
            warn(warning)
    folder = None if output is None else Path(output)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    runs = []
    for factor, model in zip(factors, models):
        file = None if folder is None else folder / f"refinement-{factor:g}.h5"
        runs.append(_run(model, factor, wanted, threads, file))
        if report is not None:
            report(runs[-1])
    found = extrapolated([1 / factor for factor in factors], [run.value for run in runs])
    return Convergence(wanted.text, wanted.unit, found.value, found.uncertainty, found.order, tuple(runs), warnings)


def one_method(models: Sequence[Simulation]) -> list[Simulation]:
    """The models with metal laid the same way on each grid: followed on all where "auto" would follow it on one.

    An edge between lines may lie on a line of a finer grid, whose whole edges err by another law.
    """
    if any(model.metal == "auto" and metal_choice(model, grid_of(model)).method == "conformal" for model in models):
        return [model.model_copy(update={"metal": "conformal"}) for model in models]
    return list(models)


def _usual(simulation: Simulation) -> tuple[float, ...]:
    return AUTOMATIC if isinstance(simulation.grid, AutoGrid) else WHOLE


def _name(quantity: Callable[[Result], float]) -> str:
    return getattr(quantity, "__name__", "quantity")


def _run(
    model: Simulation, factor: float, quantity: Quantity, threads: int | None, file: Path | None
) -> ConvergenceRun:
    """The run of one grid."""
    result = run_whole(model, threads, file)
    runs = result.facts["runs"].values()
    seconds, steps = (sum(run[name] for run in runs) for name in ("seconds", "steps"))
    return ConvergenceRun(factor, result.facts["cells"], steps, seconds, float(quantity.read(result)))
