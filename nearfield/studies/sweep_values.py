"""The points of a sweep: parameters with their values, as text or numbers, and every combination of them."""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nearfield.entry.dimensions import Value
from nearfield.entry.errors import ModelError
from nearfield.entry.expressions import ExpressionError, si_unit, typed
from nearfield.entry.messages import shown
from nearfield.entry.parameters import checked
from nearfield.entry.quantities import NUMBER_AND_UNIT
from nearfield.entry.settings import settings_of

MOST_POINTS = 100_000  # of a sweep
MOST_VALUES = 10_000  # of one parameter


@dataclass(frozen=True)
class Axis:
    """One parameter of a sweep: the values as they are handed on, their coordinates (SI or text) and unit."""

    name: str
    values: tuple[Any, ...]
    coordinates: np.ndarray
    unit: str


def axes_of(parameters: Mapping[str, Any]) -> list[Axis]:
    """The parameters of a sweep from Python: each name with a list of numbers or texts. Error: ModelError."""
    if not isinstance(parameters, Mapping) or not parameters:
        given = shown(parameters)
        raise ModelError(
            f'given {given}; a sweep needs names and a list of values each, such as {{"length": [0.015, 0.016]}}'
        )
    axes = [axis_of(name, values) for name, values in parameters.items()]
    count = int(np.prod([len(axis.values) for axis in axes], dtype=float))
    if count > MOST_POINTS:
        raise ModelError(f"a sweep of {count:,} points; at most {MOST_POINTS:,}: give fewer values")
    return axes


def axis_of(name: str, values: Any) -> Axis:
    """One parameter with its values, each once. Error: ModelError."""
    if isinstance(values, (str, bytes)) or not isinstance(values, (Sequence, np.ndarray)) or not len(values):
        raise ModelError(f"{name}: given {shown(values)}; a sweep needs a list of values, such as [0.015, 0.016]")
    plain = tuple(value.item() if isinstance(value, np.generic) else value for value in values)
    if len(set(map(repr, plain))) < len(plain):
        raise ModelError(f"{name}: a value is given twice in {shown(list(plain))}; give each once")
    try:
        numbers = [typed(value) if isinstance(value, str) else Value(float(value)) for value in plain]
        kinds = {number.powers for number in numbers}
    except (ExpressionError, TypeError, ValueError):
        return Axis(name, plain, np.array([str(value) for value in plain]), "")  # words, such as names of media
    if not all(math.isfinite(number.number) for number in numbers):
        raise ModelError(f"{name}: given {shown(list(plain))}; values must be finite")
    if len(kinds) == 1 and len({number.number for number in numbers}) < len(numbers):
        raise ModelError(f"{name}: a value is given twice in {shown(list(plain))}; give each once")
    if len(kinds) > 1:
        raise ModelError(f"{name}: values of several units, {shown(list(plain))}; give all in one")
    return Axis(name, plain, np.array([number.number for number in numbers]), si_unit(plain[0]))


def points_of(axes: Sequence[Axis]) -> list[dict[str, Any]]:
    """Every combination of the values, the last parameter fastest."""
    names = [axis.name for axis in axes]
    return [dict(zip(names, values)) for values in itertools.product(*(axis.values for axis in axes))]


def recordable(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values that a model can keep a record of: numbers and texts with units, under names that it allows."""
    found: dict[str, Any] = {}
    for name, value in values.items():
        with contextlib.suppress(ExpressionError):
            found |= checked({name: value})
    return found


def swept(texts: Sequence[str] | None) -> tuple[dict[str, list[str]], dict[str, Any]]:
    """What `--set` gives to a sweep: parameters with several values, and those with one. Error: ModelError.

    "length=15mm:17mm:9" is nine values from 15 to 17 mm, "length=15mm,17mm" two.
    """
    several: dict[str, list[str]] = {}
    fixed: dict[str, Any] = {}
    for name, text in settings_of(texts).items():
        given = str(text)
        if ":" in given:
            several[name] = spaced(f"--set {name}=", given)
        elif "," in given:
            several[name] = listed(name, given)
        else:
            fixed[name] = given
    if not several:
        raise ModelError("a sweep needs a parameter with several values: --set length=15mm:17mm:9, or length=15mm,17mm")
    return several, fixed


def listed(name: str, text: str) -> list[str]:
    """The values of "15mm,17mm". Error: ModelError for one that is no number, or is missing."""
    parts = [part.strip() for part in text.split(",")]
    for part in parts:
        try:
            typed(part)
        except ExpressionError as error:
            raise ModelError(f"--set {name}={text}: {error}") from None
    return parts


def spaced(option: str, text: str, example: str = "15mm:17mm:9") -> list[str]:
    """The values of "15mm:17mm:9", in the unit that was typed. Error: ModelError."""
    parts = [part.strip() for part in text.split(":")]
    wrong = ModelError(
        f"{option}{text}: give first value, last value and their number, such as {option}{example}, with one "
        f"unit and 2 to {MOST_VALUES} values"
    )
    if len(parts) != 3 or not parts[2].isdecimal() or not 2 <= int(parts[2]) <= MOST_VALUES:
        raise wrong
    ends = [NUMBER_AND_UNIT.fullmatch(part) for part in parts[:2]]
    if ends[0] is None or ends[1] is None or ends[0].group(3) != ends[1].group(3):
        raise wrong
    unit = ends[0].group(3)
    first, last = (float(f"{end.group(1)}e{end.group(2) or 0}") for end in ends if end)
    return [f"{value:.12g} {unit}".strip() for value in np.linspace(first, last, int(parts[2]))]
