"""`nearfield converge MODEL --quantity "S11 dip"`: the value at cells of no size, with its uncertainty."""

from __future__ import annotations

from pathlib import Path

from nearfield.commands.console import console
from nearfield.commands.tables import columns
from nearfield.commands.writing import refuse_folder
from nearfield.entry.errors import ModelError
from nearfield.entry.wording import duration, quantity, uncertain
from nearfield.machine.facts import source_commit
from nearfield.simulation import Simulation
from nearfield.studies.convergence import Convergence, ConvergenceRun, converge


def converge_model(
    simulation: Simulation,
    model: Path,
    wanted: str,
    refine: str | None,
    threads: int | None,
    output: Path | None,
    as_json: bool,
) -> int:
    """Run the simulation of a model file on its grid and on finer ones, and extrapolate."""
    factors = None if refine is None else factors_of(refine)
    with console(as_json) as out:
        if output is not None:
            refuse_folder(output, "--output", "the results")

        def report(run: ConvergenceRun) -> None:
            out.note(f"cells {run.refinement:g} times finer: {run.cells:,} cells, {duration(run.seconds)}")

        found = converge(simulation, wanted, factors, threads, output, report, out.warn)
        out.answer({"model": str(model), **found.json_data(), "commit": source_commit()}, readable(found))
    return 0


def factors_of(text: str) -> list[float]:
    """Refinements as typed: "1,2,3". Error: `ModelError`."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise ModelError(f"--refine {text!r}: give how many times finer each run's cells are, such as 1,2,3") from None


def readable(found: Convergence) -> str:
    """A row for each grid, then the value at cells of no size."""
    rows = [
        (f"{run.refinement:g}", f"{run.cells:,}", f"{run.steps:,}", with_unit(run.value, found.unit))
        for run in found.runs
    ]
    order = "not observed" if found.order is None else f"{found.order:.2f}"
    last = f"cells of no size: {uncertain(found.value, found.uncertainty, found.unit)}; order {order}"
    return f"{found.quantity}\n{columns([('finer by', 'cells', 'steps', 'value'), *rows], left=0)}\n{last}"


def with_unit(value: float, unit: str) -> str:
    """A number with six digits and its unit."""
    return quantity(value, unit, 6) if unit == "Hz" else f"{value:.6g} {unit}".rstrip()
