"""`nearfield sensitivities MODEL --of length,width`: which tolerance matters most, from one run a port."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nearfield.commands.console import console
from nearfield.commands.tables import columns
from nearfield.commands.writing import refuse_unwritable, written_to
from nearfield.entry.errors import ModelError
from nearfield.entry.wording import PREFIXED, quantity
from nearfield.machine.facts import source_commit
from nearfield.model_file import derived_parameters, load
from nearfield.studies.dip_slopes import Tolerance, tolerances
from nearfield.studies.sensitivities import sensitivities
from nearfield.studies.sweep_table import save_sweep
from nearfield.studies.sweep_values import spaced
from nearfield.studies.varied import alike, refuse_followers, varied

if TYPE_CHECKING:
    from nearfield.simulation import Simulation

CLOSER = 31  # frequencies across a dip


def tell_sensitivities(
    model: Path,
    of: str | None,
    settings: Mapping[str, Any],
    frequencies: str | None,
    threads: int | None,
    output: Path | None,
    as_json: bool,
) -> int:
    """Derivatives of a model file's S-parameters with respect to some or all of its parameters."""
    with console(as_json) as out:
        table = load(model, settings).parameters
        names = list(table) if of is None else [name.strip() for name in of.split(",")]
        unknown = [name for name in names if name not in table]
        if unknown or not names:
            there = ", ".join(table) or "none: give it a table [parameters], docs/model-file.md"
            raise ModelError(f"{model}: --of {of or ''} asks for {', '.join(unknown) or 'parameters'}; it has {there}")
        derived = derived_parameters(model, settings)
        if of is not None:
            refuse_followers(names, derived)
        at = None if frequencies is None else listed(frequencies)
        values = {name: settings.get(name, table[name]) for name in names}

        def make(**given: Any) -> Simulation:
            return load(model, {**settings, **given})

        if of is None:
            values, said = independent(make, values, derived)
            out.warn(*said)
        if output is not None:
            refuse_unwritable(output)
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            found = sensitivities(make, values, at, threads)
        out.warn(*(str(each.message) for each in heard))
        if output is not None:
            with written_to(output):
                save_sweep(found, output)
        rows = tolerances(found)
        answer = {"model": str(model), "parameters": [row.as_dict() for row in rows], "commit": source_commit()}
        out.answer(answer | {"file": output and str(output)}, readable(rows))
        out.warn(*closer(rows, found.frequency.values))
    return 0


def left_out(name: str, others: Sequence[str]) -> str:
    """The warning of a parameter that is an expression of others."""
    known = ", ".join(others)
    return f"left out: parameter {name} follows {known}, whose derivatives hold it; --of {name} varies it alone"


def independent(
    make: Callable[..., Simulation], values: Mapping[str, Any], derived: Mapping[str, Sequence[str]]
) -> tuple[dict[str, Any], list[str]]:
    """The parameters that can be followed without one that they are expressions of, and why others are left out.

    Error: none can be followed.
    """
    bases = {name: value for name, value in values.items() if name not in derived}
    known, refused = followed(make, bases)
    said: list[str] = []
    for name in sorted(values.keys() - bases, key=lambda name: (len(derived[name]), name)):
        if held := [other for other in derived[name] if other in known]:
            said.append(left_out(name, held))
        else:
            more, why = followed(make, {name: values[name]})
            known, refused = known | more, refused + why
    if not known:
        raise ModelError(refused[0])
    return known, [*said, *(f"left out: {why}" for why in refused)]


def listed(given: str) -> list[str]:
    """The frequencies of "5GHz,5.1GHz", or of "5GHz:6GHz:21" (first, last, number). Error: `ModelError`."""
    return spaced("--at ", given, "5GHz:6GHz:21") if ":" in given else [part.strip() for part in given.split(",")]


def followed(make: Callable[..., Simulation], values: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The parameters that sensitivities know how to follow, and why not the others."""
    known: dict[str, Any] = {}
    refused: list[str] = []
    for name, value in values.items():
        one = {name: value}
        try:
            alike(make, varied(one, {}, make))
            known |= one
        except ModelError as error:
            refused.append(str(error))
    return known, refused


def closer(rows: list[Tolerance], frequencies: Any) -> list[str]:
    """Frequencies to ask at, where those of a dip lie too far apart to tell by how much it moves; else nothing."""
    dips = [row.dip for row in rows if row.dip is not None and row.shift is None]
    if not dips or len(frequencies) < 2:
        return []
    step = float(max(frequencies[1:] - frequencies[:-1]))
    digits = 3 + math.ceil(math.log10(dips[0] / step + 1.0))
    low, high = (f"{(dips[0] + side * step) / 1e9:.{digits}g}GHz" for side in (-1, 1))
    return [f"the dip lies between few frequencies; --at {low}:{high}:{CLOSER} tells by how much it moves"]


def readable(rows: list[Tolerance]) -> str:
    """A row for each parameter, what matters most first."""
    dip = next((row for row in rows if row.dip is not None), None)
    moved = f"dip of {dip.port} at {quantity(dip.dip, 'Hz')} moves" if dip and dip.dip else "no dip"
    cells = [("1 % of", "value", "changes S by up to", moved)]
    for row in rows:
        shift = (
            "needs closer --at"
            if row.shift is None and row.dip
            else ""
            if row.shift is None
            else f"{row.shift / 1e6:+.3g} MHz"
        )
        plain = f"{row.value:.6g} {row.unit}".strip()
        value = quantity(row.value, row.unit, 6) if row.unit in PREFIXED else plain
        cells.append((row.name, value, f"{row.largest_change:.3g}", shift))
    return columns(cells, left=0)
