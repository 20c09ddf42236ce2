"""An entry deep inside a model changed by the way to it, `structures.patch.upper`, all on the way checked anew."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, TypeVar

from pydantic import ValidationError

from nearfield.entry.errors import ModelError
from nearfield.entry.messages import readable, shown, unknown
from nearfield.entry.schema import Schema

Part = int | str
PART = re.compile(r"\[(\d+)\]|\.?([^.\[\]]+)")
IMPLIED = ("shape",)  # an entry whose own names may follow at once: `structures.patch.upper` is that of its shape
LETTERS = ("x", "y", "z")  # of three numbers
Entry = TypeVar("Entry", bound=Schema)


def way_of(place: str | Sequence[Part]) -> tuple[Part, ...]:
    """The parts of a place: "structures.feed line.upper[0]", or a list for names with dots. Error: ModelError."""
    if not isinstance(place, str):
        return tuple(place)
    found, at = [], 0
    while at < len(place) and (match := PART.match(place, at)):
        number, name = match.groups()
        found.append(int(number) if number else name)
        at = match.end()
    if at < len(place) or not found:
        raise ModelError(f'the place {shown(place)} is not understood; give it like "structures.patch.upper[0]"')
    return tuple(found)


def replaced(entry: Entry, way: Sequence[Part], value: Any, label: str = "") -> Entry:
    """The entry with `value` at the end of the way. Error: ModelError for unknown names and values that do not fit."""
    return _changed(entry, tuple(way), value, label or type(entry).__name__)


def _changed(inside: Any, way: tuple[Part, ...], value: Any, label: str) -> Any:
    if not way:
        return value
    if isinstance(inside, Schema):
        return _changed_entry(inside, way, value, label)
    if isinstance(inside, dict):
        key = _key_of(inside, way[0], label)
        return inside | {key: _changed(inside[key], way[1:], value, f"{label}.{way[0]}")}
    if isinstance(inside, (tuple, list)):
        number = _number_of(inside, way[0], label)
        new = _changed(inside[number], way[1:], value, f"{label}.{way[0]}")
        return tuple([*inside[:number], new, *inside[number + 1 :]])
    raise ModelError(f"{label}: has nothing inside, so no {shown(way[0])}; it is {shown(inside)}")


def _changed_entry(entry: Schema, way: tuple[Part, ...], value: Any, label: str) -> Schema:
    fields = [name for name in type(entry).model_fields if name != "kind"]
    name = way[0]
    if name not in fields:
        for inner in IMPLIED:
            below = getattr(entry, inner, None) if inner in fields else None
            if isinstance(below, Schema) and name in type(below).model_fields:
                return _changed_entry(entry, (inner, *way), value, label)
        implied = [f for i in IMPLIED if i in fields for f in type(getattr(entry, i)).model_fields if f != "kind"]
        raise ModelError(f"{label}: {unknown('entry', str(name), [*fields, *implied])}")
    given = {field: inside for field, inside in entry._as_stated().items() if field != "kind"}
    new = _changed(given.get(str(name), getattr(entry, str(name))), way[1:], value, f"{label}.{name}")
    try:
        return type(entry).model_validate(given | {str(name): new})
    except ValidationError as error:
        raise ModelError(readable(error, type(entry), given | {str(name): new}, where=label)) from None


def _key_of(table: dict[Any, Any], part: Part, label: str) -> Any:
    for key in table:
        if str(key) == str(part):
            return key
    raise ModelError(f"{label}: {unknown('name', str(part), map(str, table))}")


def _number_of(items: Sequence[Any], part: Part, label: str) -> int:
    """Where an entry of a list lies: by number, by its name, or by x, y, z. Error: ModelError."""
    names = [getattr(item, "name", None) for item in items]
    if isinstance(part, str) and names.count(part) > 1:
        numbers = ", ".join(str(number) for number, name in enumerate(names) if name == part)
        raise ModelError(f"{label}: {names.count(part)} entries are named {part!r}; give a number, one of {numbers}")
    if part in names:
        return names.index(part)
    if part in LETTERS and len(items) == 3 and all(isinstance(item, (int, float)) for item in items):
        return LETTERS.index(str(part))
    if isinstance(part, int) or str(part).isdecimal():
        if int(part) < len(items):
            return int(part)
        raise ModelError(f"{label}: has {len(items)} entries, numbered from 0; given number {part}")
    named = [str(name) for name in names if name]
    if not named:
        letters = " or x, y, z" if len(items) == 3 else ""
        raise ModelError(f"{label}: no entry {shown(part)}; give a number from 0 to {len(items) - 1}{letters}")
    raise ModelError(f"{label}: {unknown('name', str(part), named)}")
