"""TOML of model entries: plain values, tables, numbers in SI; what has its default value is left out."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from nearfield.entry.schema import Schema

BARE_KEY = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)


def children(value: Any) -> Iterator[Any]:
    """The tables and arrays directly inside a table or an array."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return (item for item in inner if isinstance(item, (dict, list)))


def dumps(simulation: Schema | Mapping[str, Any]) -> str:
    """The model file of a simulation or of its plain values, numbers in SI; a simulation's defaults are left out.

    >>> import nearfield as nf
    >>> print(dumps(nf.Simulation(nf.Grid.uniform(1e-3, (8, 8, 8)), steps=10)))      # doctest: +ELLIPSIS
    steps = 10
    ...
    """
    values = plain(simulation)
    scalars = [f"{key(name)} = {inline(value)}" for name, value in values.items() if not is_table(value)]
    blocks = ["\n".join(scalars)] if scalars else []
    for name, value in values.items():
        if isinstance(value, dict):
            tables = [(name, value)]
            if value and all(isinstance(entry, dict) for entry in value.values()) and name == "media":
                tables = [(f"{name}.{key(medium)}", entry) for medium, entry in value.items()]
            blocks += [table(f"[{head}]", entry) for head, entry in tables]
        elif is_table(value):
            blocks += [table(f"[[{key(name)}]]", entry) for entry in value]
    return "\n\n".join(blocks) + "\n"


def plain(value: Any) -> Any:
    """Dictionaries, lists, strings and numbers for a model entry, without what has its default value."""
    if isinstance(value, Schema):
        entries = {}
        for name, field in type(value).model_fields.items():
            entry = getattr(value, name)
            default = field.get_default(call_default_factory=True)
            if name == "kind" or (entry is not None and not same(entry, default)):
                entries[name] = plain(entry)
        return entries
    if isinstance(value, Mapping):
        return {str(name): plain(entry) for name, entry in value.items()}
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    if isinstance(value, complex):
        return [value.real, value.imag]
    return str(value) if isinstance(value, Path) else value


def same(entry: Any, default: Any) -> bool:
    """Equal, also for arrays."""
    if isinstance(entry, np.ndarray) or isinstance(default, np.ndarray):
        return bool(np.array_equal(entry, default))
    return bool(entry == default)


def is_table(value: Any) -> bool:
    """A table, or a list of nothing but tables: it gets a heading of its own."""
    listed = isinstance(value, list) and bool(value) and all(isinstance(entry, dict) for entry in value)
    return listed or isinstance(value, dict)


def table(heading: str, values: dict[str, Any]) -> str:
    """One table of the file, entries inside it inline."""
    return "\n".join([heading, *(f"{key(name)} = {inline(value)}" for name, value in values.items())])


def key(name: str) -> str:
    """A key, quoted where TOML wants it."""
    return name if BARE_KEY.fullmatch(name) else inline(name)


def inline(value: Any) -> str:
    """A value on one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key(name)} = {inline(entry)}" for name, entry in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(inline(entry) for entry in value) + "]"
    return repr(value)
