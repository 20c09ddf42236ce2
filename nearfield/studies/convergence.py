"""The value of a quantity at cells of no size, from runs on two or more grids."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nearfield.discretization.discretization import grid_of
from nearfield.discretization.metal_choice import metal_choice
from nearfield.entry.errors import DamagedError, DivergedError, ModelError
from nearfield.entry.messages import shown
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
    values that go up and down); `runs` from the coarsest grid to the finest; `warnings` of `check` on the coarsest, of
    a frequency that stands for the one asked for, and of grids that have no value and are left out.
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
    wanted, factors = quantity_of(quantity), _factors(_usual(simulation) if refinements is None else refinements)
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

    def run(factor: float) -> ConvergenceRun:
        file = None if folder is None else folder / f"refinement-{factor:g}.h5"
        return _run(models[factors.index(factor)], factor, wanted, threads, file)

    runs, left_out = _runs(factors, run, wanted.unit, report or (lambda made: None), warn or (lambda text: None))
    found = extrapolated([1 / run.refinement for run in runs], [run.value for run in runs])
    said = (*warnings, *left_out)
    return Convergence(wanted.text, wanted.unit, found.value, found.uncertainty, found.order, tuple(runs), said)


def one_method(models: Sequence[Simulation]) -> list[Simulation]:
    """The models with metal laid the same way on each grid: followed on all where "auto" would follow it on one.

    An edge between lines may lie on a line of a finer grid, whose whole edges err by another law.
    """
    if any(model.metal == "auto" and metal_choice(model, grid_of(model)).method == "conformal" for model in models):
        return [model.model_copy(update={"metal": "conformal"}) for model in models]
    return list(models)


def _usual(simulation: Simulation) -> tuple[float, ...]:
    return AUTOMATIC if isinstance(simulation.grid, AutoGrid) else WHOLE


def _factors(given: Any) -> list[float]:
    """Refinements in their order, each once. Error: `ModelError`."""
    try:
        return sorted({float(factor) for factor in given})
    except (TypeError, ValueError):
        raise ModelError(f"refinements: given {shown(given)}; give two numbers or more, such as (1, 2)") from None


class _NoValue(ModelError):
    """A result does not hold the quantity."""


def _runs(
    factors: Sequence[float],
    run: Callable[[float], ConvergenceRun],
    unit: str,
    report: Callable[[ConvergenceRun], None],
    warn: Callable[[str], None],
) -> tuple[list[ConvergenceRun], list[str]]:
    """The runs that have a value, and why others have none. Error: that of a run without which fewer than two have."""
    runs: list[ConvergenceRun] = []
    left_out: list[str] = []
    for factor in factors:
        try:
            runs.append(run(factor))
        except (_NoValue, DivergedError) as error:
            left_out.append(f"cells {factor:g} times finer are left out: {error}")
            if len(factors) - len(left_out) < 2:
                known = [f"cells {made.refinement:g} times finer gave {made.value:.6g} {unit}".strip() for made in runs]
                text = "; ".join([str(error), *known])
                raise (
                    DivergedError(text, error.result) if isinstance(error, DivergedError) else ModelError(text)
                ) from None
            warn(left_out[-1])
        else:
            report(runs[-1])
    return runs, left_out


def _run(
    model: Simulation, factor: float, quantity: Quantity, threads: int | None, file: Path | None
) -> ConvergenceRun:
    """The run of one grid."""
    result = run_whole(model, threads, file)
    runs = result.facts["runs"].values()
    seconds, steps = (sum(run[name] for run in runs) for name in ("seconds", "steps"))
    try:
        value = quantity.read(result)
    except DamagedError:
        raise
    except ModelError as error:
        raise _NoValue(str(error)) from None
    return ConvergenceRun(factor, result.facts["cells"], steps, seconds, value)
