"""`nearfield sweep MODEL --set length=15mm:17mm:9`: a run for every combination of values, none made twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from nearfield.commands.console import console, output_folder
from nearfield.commands.writing import refuse_folder
from nearfield.entry.wording import counted
from nearfield.machine.transport import world
from nearfield.model_file import load
from nearfield.studies.sweep import Point, sweep
from nearfield.studies.sweep_table import FILE
from nearfield.studies.sweep_values import swept

if TYPE_CHECKING:
    from nearfield.simulation import Simulation


def sweep_model(
    model: Path,
    given: Sequence[str] | None,
    executor: str | None,
    output: Path | None,
    quantities: Sequence[str],
    threads: int | None,
    as_json: bool,
) -> int:
    """Run a model file for all values of its parameters; exit code 4 where every run failed."""
    parameters, fixed = swept(given)
    folder = output if output is not None else output_folder(model, None).with_name(f"{model.stem}-sweep")
    ended: list[Point] = []
    with console(as_json) as out:

        def report(point: Point, done: int, count: int) -> None:
            ended.append(point)
            what = ", ".join(f"{name} {value}" for name, value in point.parameters.items())
            how = point.status if point.made or point.status != "done" else "kept"
            out.note(f"{done} of {count}: {what}: {how}{f', {point.message}' if point.message else ''}")

        def make(**values: str) -> Simulation:
            return load(model, fixed | values)

        refuse_folder(folder, "--output", "the results")
        table = sweep(partial(make), parameters, executor, folder, quantities, threads, report)
        if world().rank > 0:
            return 0
        states = Counter(table.status.values.ravel().tolist())
        count, failed, made = table.status.size, table.status.size - states["done"], sum(each.made for each in ended)
        answer = {"runs": count, "failed": failed, "file": str(folder / FILE), "made": made}
        out.answer(answer, f"{counted(count, 'run')}, {failed} failed, {made} made now; {folder / FILE}")
        out.warn(*filter(None, (line for name in ("notes", "left_out") for line in table.attrs[name].splitlines())))
    return 4 if failed == count else 0
