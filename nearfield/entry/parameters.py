"""Parameters of a model file: the table `[parameters]`, values set for them, and the entries that use them."""

from __future__ import annotations

import keyword
import re
from collections.abc import Mapping, Sequence
from typing import Any

from nearfield.entry.dimensions import NONE, RADIAN, Computed, Value, powers_of, unit_text
from nearfield.entry.errors import ModelError
from nearfield.entry.expressions import (
    CONSTANTS,
    FUNCTIONS,
    ExpressionError,
    evaluate,
    finite,
    is_expression,
    typed,
)
from nearfield.entry.messages import joined, place_text, shown, unknown
from nearfield.entry.quantities import DIMENSIONS
from nearfield.entry.settings import Setting
from nearfield.entry.toml_lines import line_of

TABLE = "parameters"
LEAP = 100.0  # ratio of a value set without a unit to the file's own, above which the unit was forgotten
LEAP_OF_ANGLES = 20.0  # the same of angles: degrees taken for radians are 57
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*", re.ASCII)


def refuse_name(name: str) -> None:
    """Error: ExpressionError for what no expression could name."""
    if not NAME.fullmatch(name):
        raise ExpressionError(f"{shown(name)} is no name; allowed: letters, digits and _, a letter first")
    if keyword.iskeyword(name) or name in FUNCTIONS or name in CONSTANTS:
        raise ExpressionError(f"the name {name} is taken by the grammar of expressions; choose another")


def value_of(given: Any) -> Value:
    """A parameter's value as it is typed. Error: ExpressionError."""
    if isinstance(given, Computed):
        return Value(float(given), given.powers)
    if isinstance(given, str):
        return typed(given)
    if isinstance(given, bool) or not isinstance(given, (int, float)):
        raise ExpressionError(f'given {shown(given)}; a parameter is a number, or a text such as "15.9 mm"')
    try:
        return Value(finite(float(given)))
    except OverflowError:
        raise ExpressionError("the number given is too large") from None


def checked(table: Any) -> Any:
    """The parameters of a model in Python, as they are kept. Error: ValueError."""
    for name, given in table.items() if isinstance(table, Mapping) else ():
        refuse_name(str(name))
        value_of(given)
    return table


class Parameters:
    """The parameters of one model file with the values that were set for them."""

    def __init__(self, table: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
        self.table, self.settings = table, settings
        self.values: dict[str, Value] = {}
        self.open: list[str] = []  # parameters that are being worked out
        self.users: dict[str, set[str]] = {name: set() for name in table}  # of each: parameters, "" for entries

    def value(self, name: str) -> Value:
        """The value of a parameter. Error: ExpressionError, also for one that depends on itself."""
        self.users[name].add(self.open[-1] if self.open else "")
        if name not in self.values:
            if name in self.open:
                circle = " -> ".join([*self.open[self.open.index(name) :], name])
                raise ExpressionError(f"parameters depend on themselves: {circle}")
            self.open.append(name)
            try:
                self.values[name] = self.worked_out(name)
            finally:
                self.open.pop()
        return self.values[name]

    def worked_out(self, name: str) -> Value:
        """The value that was set for a parameter, of the dimension that the file gives it, or the file's own.

        A value with a unit for a plain number of the file keeps its unit: the entries that use it say what they take.
        """
        given = self.table[name]
        own = evaluate(given, self.value, self.table) if is_expression(given) else value_of(given)
        if name not in self.settings:
            return own
        wanted = value_of(self.settings[name])
        if own.powers == NONE:
            return wanted
        if wanted.powers not in (NONE, own.powers):  # plain numbers are in SI
            raise ExpressionError(
                f"set to {shown(self.settings[name])}, in {unit_text(wanted.powers)}, but the file has it in "
                f"{unit_text(own.powers)}"
            )
        if wanted.powers == NONE and own.number != 0.0 != wanted.number:
            leap = LEAP_OF_ANGLES if own.powers == RADIAN else LEAP
            if not 1.0 / leap <= abs(wanted.number / own.number) <= leap:
                unit = unit_text(own.powers)
                raise ExpressionError(
                    f"set to {shown(self.settings[name])} without a unit, which is {wanted.number:g} {unit}, but the "
                    f"file has {shown(given)}; give it with its unit, also where {wanted.number:g} {unit} is meant"
                )
        return Value(wanted.number, own.powers)

    def matters(self, name: str) -> bool:
        """Whether an entry uses a parameter, by itself or through others."""
        return any(not user or self.matters(user) for user in self.users[name])

    def kept(self) -> dict[str, Setting]:
        """All parameters as a saved model states them: what was typed, or the value of an expression in SI."""
        found: dict[str, Setting] = {}
        for name, given in self.table.items():
            value, typed_in = self.value(name), self.settings.get(name, given)
            if isinstance(typed_in, str) and not is_expression(typed_in) and value_of(typed_in) == value:
                found[name] = typed_in
            else:
                unit = next((kind.unit for kind in DIMENSIONS if powers_of(kind.unit) == value.powers), "")
                found[name] = f"{value.number!r} {unit}" if value.powers != NONE and unit else value.number
        return found


def followed_by(table: Mapping[str, Any]) -> dict[str, list[str]]:
    """The parameters that are expressions of others, each with all those that it follows, through others too.

    Error: ExpressionError.
    """
    parameters = Parameters(table, {})
    for name in table:
        parameters.value(name)
    direct = {name: [other for other in table if name in parameters.users[other]] for name in table}

    def all_of(name: str) -> set[str]:
        return {name}.union(*(all_of(other) for other in direct[name]))

    return {name: [other for other in table if other in all_of(name) - {name}] for name in table if direct[name]}


def resolved(values: dict[str, Any], text: str, where: str, settings: Mapping[str, Any] | None = None) -> None:
    """Put values in the place of a model's expressions, and its parameters' values into its table `parameters`.

    `text` is that of the file, for line numbers. Error: ModelError that names each place.
    """
    table = values.get(TABLE, {})
    if not isinstance(table, dict):
        raise ModelError(f"{where}: {TABLE}: given {shown(table)}; needs a table of names and values")
    settings = settings or {}
    wrong = [f"{TABLE}: {unknown_parameter(name, table)}" for name in settings if name not in table]
    parameters, faults = Parameters(table, settings), list[str]()
    for name in table:
        try:
            refuse_name(name)
            parameters.value(name)
        except ExpressionError as error:
            if not any(fault.endswith(f": {error}") for fault in faults):  # else it is that of a parameter it uses
                faults.append(f"{TABLE}.{name}{at_line((TABLE, name), text)}: {error}")
    if not (wrong or faults):
        for users in parameters.users.values():
            users.discard("")  # the loop above
        entries = {name: entry for name, entry in values.items() if name != TABLE}
        wrong = replace_all(entries, (), parameters, text)
        values |= entries
        wrong += [] if wrong else [unused(name) for name in settings if not parameters.matters(name)]
    if wrong or faults:
        raise ModelError(joined(where, wrong + faults))
    if table:
        values[TABLE] = parameters.kept()


def unknown_parameter(name: str, table: Mapping[str, Any]) -> str:
    """The refusal of a value for a parameter that a model lacks."""
    if table:
        return unknown("parameter", name, table)
    return f"given {shown(name)}, but the model has no table [{TABLE}]; docs/model-file.md shows one"


def unused(name: str) -> str:
    """The refusal of a value for a parameter that nothing depends on."""
    return (
        f'{TABLE}.{name}: is set, but no entry of the model uses it, so nothing would change; write "= {name}" where '
        "it belongs (a model that a result kept has its values in place of them)"
    )


def replace_all(inside: Any, way: tuple[int | str, ...], parameters: Parameters, text: str) -> list[str]:
    """Put values in the place of expressions in a table or list; returns what is wrong, with its place."""
    wrong = []
    for part, value in inside.items() if isinstance(inside, dict) else enumerate(inside):
        here = (*way, part)
        if isinstance(value, (dict, list)):
            wrong += replace_all(value, here, parameters, text)
        elif is_expression(value):
            try:
                inside[part] = Computed.of(evaluate(value, parameters.value, parameters.table), value)
            except ExpressionError as error:
                wrong.append(f"{place_text(here)}{at_line(here, text)}: {shown(value)}: {error}")
    return wrong


def at_line(place: Sequence[int | str], text: str) -> str:
    """` (line 12)`, where the text shows the line of an entry."""
    line = line_of(place, text)
    return f" (line {line})" if line else ""
