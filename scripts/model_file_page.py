"""The reference part of docs/model-file.md, made from the schema: every table and key of a model file."""

from __future__ import annotations

import inspect
import types
import typing
from typing import Any

from nearfield.entry.quantities import DIMENSIONS
from nearfield.entry.schema import Schema
from nearfield.simulation import Simulation
from scripts.write_docs import fields_table

TABLES = {  # entry of the simulation -> how its table is written
    "grid": "[grid]",
    "boundaries": "[boundaries]",
    "symmetry": "[symmetry]",
    "media": "[media.NAME]",
    "background": "[background]",
    "structures": "[[structures]]",
    "sources": "[[sources]]",
    "ports": "[[ports]]",
    "elements": "[[elements]]",
    "monitors": "[[monitors]]",
    "waveform": "[waveform]",
}


def schemas_in(annotation: Any) -> list[type[Schema]]:
    """The entry classes in an annotation, in its order."""
    if inspect.isclass(annotation) and not typing.get_origin(annotation):
        return [annotation] if issubclass(annotation, Schema) else []
    found: list[type[Schema]] = []
    for part in typing.get_args(annotation):
        if inspect.isclass(part) or typing.get_origin(part) or isinstance(part, types.UnionType):
            found += [entry for entry in schemas_in(part) if entry not in found]
    return found


def hints(entry: type[Schema]) -> dict[str, Any]:
    return typing.get_type_hints(entry, include_extras=True)


def kind_of(entry: type[Schema]) -> str | None:
    field = entry.model_fields.get("kind")
    return None if field is None else field.default


def entry_text(entry: type[Schema]) -> str:
    """Heading with the kind, the docstring's first line, the keys."""
    kind = kind_of(entry)
    heading = f'### kind = "{kind}"' if kind else f"### {entry.__name__}"
    first = inspect.cleandoc(entry.__doc__ or "").split("\n\n")[0].replace("\n", " ")
    return f"{heading}\n\n{first} In Python `{entry.__name__}`.\n\n{fields_table(entry)}"


def nested(entry: type[Schema]) -> list[tuple[str, type[Schema]]]:
    """The entry classes in the keys of an entry, each with its first key."""
    found: dict[type[Schema], str] = {}
    for name, annotation in hints(entry).items():
        for part in schemas_in(annotation):
            found.setdefault(part, name)
    return [(name, part) for part, name in found.items()]


def part_text(name: str, part: type[Schema]) -> str:
    """A table within a table: the key where it stands first, and its own keys."""
    return entry_text(part).replace(f"### {part.__name__}", f"### {name} = {{ ... }}: {part.__name__}", 1)


def units_table() -> str:
    """Every quantity with its SI unit and the units that text may use."""
    lines = ["| quantity | SI | units in text | example |", "|---|---|---|---|"]
    for dimension in DIMENSIONS:
        name = dimension.name.removeprefix("an ").removeprefix("a ")
        lines.append(f'| {name} | {dimension.unit} | {dimension.units()} | `"{dimension.example}"` |')
    return "\n".join(lines)


def reference() -> str:
    """Units, the top level, every table with its kinds."""
    own = hints(Simulation)
    parts = ["## Units", units_table(), "## Top level", fields_table(Simulation)]
    for name, heading in TABLES.items():
        entries = schemas_in(own[name])
        parts.append(f"## {heading}")
        if name == "waveform":
            parts.append("Also as `waveform = { ... }` in a source or a port.")
        parts += [entry_text(entry) for entry in entries]
        if name == "structures":
            shapes = schemas_in(hints(entries[0])["shape"])
            parts += ["## shape = { ... }", *(entry_text(shape) for shape in shapes)]
            transforms = schemas_in(hints(entries[0])["transforms"])
            parts += ["## transforms = [{ ... }]", *(entry_text(transform) for transform in transforms)]
        if name == "background":
            poles = schemas_in(hints(entries[0])["poles"])
            parts += [
                "## poles = [{ ... }]",
                "Of a medium, and `magnetic_poles` likewise. A complex rate is `[real part, imaginary part]`.",
                *(entry_text(pole) for pole in poles),
            ]
        if name == "grid":
            parts += [part_text(field, part) for entry in entries for field, part in nested(entry)]
        if name == "monitors":
            files = dict.fromkeys(found for entry in entries for found in nested(entry))
            parts += [part_text(field, part) for field, part in files]
        if name == "boundaries":
            layers = [entry for entry in schemas_in(hints(entries[0])["all"]) if kind_of(entry)]
            parts += [entry_text(layer) for layer in layers]
    return "\n\n".join(parts) + "\n"
