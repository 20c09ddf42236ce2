"""`nearfield optimize MODEL --vary length=11mm:13mm --goal "S11 < -18 dB at 7.2 GHz"`: parameters that meet goals."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nearfield.commands.console import CODE_OF_STATUS, console
from nearfield.commands.tables import columns, save_as
from nearfield.commands.writing import make_folder, refuse_existing, refuse_unwritable, written_to
from nearfield.entry.errors import ModelError
from nearfield.entry.parameters import value_of
from nearfield.entry.quantities import NUMBER_AND_UNIT
from nearfield.entry.settings import settings_of
from nearfield.entry.whole_file import write_whole
from nearfield.entry.wording import counted
from nearfield.machine.facts import source_commit
from nearfield.model_file import load, loads, read_text
from nearfield.pictures.style import figure_of
from nearfield.studies.optimize import INTERRUPTED, Attempt, Optimum, optimize

if TYPE_CHECKING:
    from nearfield.simulation import Simulation

PATH = "path.png"
DIGITS = 7  # of a parameter that is written: a nanometre of a metre
TABLE = re.compile(r"^\[parameters\][^\n]*\n(?P<entries>.*?)(?=^\[|\Z)", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Search:
    """What `optimize` is asked for: what varies, goals, and how."""

    vary: Sequence[str] | None
    goals: Sequence[str] | None
    start: Sequence[str] | None
    fixed: Mapping[str, Any]
    method: str
    runs: int
    threads: int | None


def optimize_model(
    model: Path, search: Search, output: Path | None, force: bool, plots: Path | None, as_json: bool
) -> int:
    """Search a model file's parameters; exit code 1 where the goals were not met, 130 where it was interrupted."""
    with console(as_json) as out:
        ranges = {name: ends_of(name, str(given)) for name, given in settings_of(search.vary).items()}
        refuse_unknown(model, load(model, search.fixed), ranges, search.fixed)
        if output is not None:
            refuse_unwritable(output)
            refuse_existing(output, force)
        if plots is not None:
            make_folder(plots, "--plots", "the picture")

        def make(**values: Any) -> Simulation:
            return load(model, {**search.fixed, **values})

        def report(attempt: Attempt, number: int) -> None:
            levels = ", ".join(f"{level:.1f} dB" for level in attempt.levels)
            out.note(f"run {number}: {told(attempt.parameters, ranges)}: worst {levels}")

        goals, start = list(search.goals or ()), settings_of(search.start)
        found = optimize(make, ranges, goals, start, search.method, search.runs, search.threads, report)
        best = {name: typed_as(value, ranges[name]) for name, value in found.parameters.items()}
        if output is not None:
            with written_to(output):
                write_whole(output.resolve(), written(model, output, {**search.fixed, **best}))
        picture = None if plots is None else save_as(plots / PATH, figure_of(found.plot()), "--plots", "folder")
        files = {"file": output and str(output), "plots": [picture] if picture else []}
        out.warn(*(f"no run at {each}" for each in found.impossible))
        out.answer(answer(model, found) | files, readable(found, ranges, output))
    if found.stopped == INTERRUPTED:
        return CODE_OF_STATUS["interrupted"]
    return 0 if found.met else 1


def ends_of(name: str, text: str) -> tuple[str, str]:
    """The ends of "11.4mm:13.4mm". Error: another form."""
    ends = [part.strip() for part in text.split(":")]
    if len(ends) != 2 or not all(ends):
        raise ModelError(f"--vary {name}={text}: give its lowest and highest value, such as {name}=11.4mm:13.4mm")
    return ends[0], ends[1]


def refuse_unknown(model: Path, simulation: Simulation, ranges: Mapping[str, Any], fixed: Mapping[str, Any]) -> None:
    """Error: nothing to vary, a parameter that the model has not, or one that is held as well."""
    table = simulation.parameters
    unknown = [name for name in ranges if name not in table]
    if unknown or not ranges:
        there = ", ".join(table) or "none: give it a table [parameters], docs/model-file.md"
        raise ModelError(f"{model}: --vary names {', '.join(unknown) or 'no parameter'}; the model has {there}")
    if both := [name for name in ranges if name in fixed]:
        raise ModelError(f"--set and --vary both name {', '.join(both)}; hold a parameter or vary it")


def typed_as(value: float, ends: tuple[str, str]) -> str:
    """A value (SI) in the unit in which the end of its range was typed: "12.31 mm"."""
    match = NUMBER_AND_UNIT.fullmatch(ends[0])
    unit = match.group(3) if match else ""
    scale = value_of(f"1 {unit}").number if unit else 1.0
    return f"{value / scale:.{DIGITS}g} {unit}".strip()


def told(values: Mapping[str, float], ranges: Mapping[str, tuple[str, str]]) -> str:
    """Parameters on one line."""
    return ", ".join(f"{name} {typed_as(value, ranges[name])}" for name, value in values.items())


def written(model: Path, output: Path, values: Mapping[str, Any]) -> str:
    """The model file with these parameters: its own text, expressions and comments kept, where a line holds each.

    Else, and where it names files that lie elsewhere from the output, the plain model.
    """
    values = {name: float(value) if bare(str(value)) else value for name, value in values.items()}
    text, plain = read_text(model), load(model, values)
    table = TABLE.search(text)
    entries = table["entries"] if table else ""
    for name, value in values.items():
        line = rf"^(?P<name>\s*{re.escape(name)}\s*=\s*)(\"[^\"\n]*\"|'[^'\n]*'|[^\s#]+)"
        entries = re.sub(line, rf"\g<name>{json.dumps(value)}", entries, flags=re.MULTILINE)
    if table:
        own = text[: table.start("entries")] + entries + text[table.end("entries") :]
        try:
            if loads(own, folder=output.parent) == plain:
                return own
        except ModelError:
            pass
    return plain.to_toml()


def bare(text: str) -> bool:
    """Whether a text is a number without a unit."""
    match = NUMBER_AND_UNIT.fullmatch(text)
    return match is not None and not match.group(3)


def answer(model: Path, found: Optimum) -> dict[str, Any]:
    """The JSON object."""
    return {
        "model": str(model),
        "met": found.met,
        "stopped": found.stopped,
        "runs": len(found.attempts),
        "parameters": found.parameters,
        "goals": [{"goal": goal, "level": level} for goal, level in zip(found.goals, found.best.levels)],
        "attempts": [
            {"parameters": each.parameters, "cost": each.cost, "levels": each.levels} for each in found.attempts
        ],
        "impossible": list(found.impossible),
        "commit": source_commit(),
    }


def readable(found: Optimum, ranges: Mapping[str, tuple[str, str]], output: Path | None) -> str:
    """The parameters, each goal with its worst level, and why the search ended."""
    rows = [("parameter", "best", "range")]
    rows += [
        (name, typed_as(value, ranges[name]), " to ".join(ranges[name])) for name, value in found.parameters.items()
    ]
    goals = [f"{goal}: worst {level:.1f} dB" for goal, level in zip(found.goals, found.best.levels)]
    last = f"{counted(len(found.attempts), 'run')}; {found.stopped}" + (f"; {output}" if output else "")
    return "\n".join([columns(rows), *goals, last])
