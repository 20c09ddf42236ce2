"""Rewrites the reference parts of docs/api.md, from signatures and docstrings, docs/model-file.md, from the
schema, docs/media.md, from the library of media, and nearfield/__init__.pyi, the public names for type checkers.

    .venv/bin/python -m scripts.write_docs [--check]

`--check` writes nothing and exits with 1 when a page no longer agrees with the code. What stands above the marker
of a page is written by hand and kept.
"""

from __future__ import annotations

import inspect
import re
import sys
import textwrap
import types
import typing
from pathlib import Path
from typing import Any

import nearfield
from nearfield.entry.quantities import ComplexQuantity, Quantity
from nearfield.entry.schema import Schema, field_texts

ROOT = Path(__file__).resolve().parents[1]
API, MODEL_FILE, MEDIA = (ROOT / "docs" / name for name in ("api.md", "model-file.md", "media.md"))
STUB = ROOT / "nearfield" / "__init__.pyi"
MARKER = "<!-- below: written from the code by scripts/write_docs.py -->"

SECTIONS = {  # each with the modules whose public names it lists, in the order of nearfield/__init__.py
    "Simulation": ("simulation", "run", "solver", "parallel", "model_file"),
    "Grids": ("grid.grid",),
    "Media and geometry": ("media.materials", "media.poles", "media.surface_media", "bodies"),
    "Real media": ("media.library", "media.fit"),
    "Boundaries": ("grid.boundaries", "grid.symmetry"),
    "Waveforms": ("sources.waveforms",),
    "Sources": ("sources.sources", "incident"),
    "Ports and circuits": ("ports", "guides"),
    "Monitors": ("monitors",),
    "Results": ("results", "analysis", "entry.levels", "studies"),
    "Fields of any origin": ("dissipation", "report.element_page"),
    "Errors": ("entry.errors",),
}
WORDS = {"Media and geometry": ("PEC", "PMC"), "Boundaries": ("PERIODIC",)}
GIVEN_BY_RESULTS = ("ExcitationResult", "FieldResult", "FarFieldResult", "MediumFit")  # users do not make them
TAKES = {  # what entries take that read words, by class and name
    ("PlaneWave", "direction"): '"+x" to "-z", vector or two angles (rad)',
    ("PlaneWave", "polarisation"): '"x", "y" or "z", vector or angle (rad)',
}
CONSTANTS = {
    "PEC": 'The string `"pec"`: a perfect electric conductor, as a medium and as a boundary.',
    "PERIODIC": 'The string `"periodic"`: both faces of an axis over which the fields repeat.',
    "PMC": 'The string `"pmc"`: a perfect magnetic conductor, as a medium and as a boundary.',
}


def type_name(annotation: Any) -> str:
    """Readable name of a field's type: `length (m)`, `3 x length (m)`, `"series" or "parallel"`, `Box or Sphere`."""
    if annotation is None or annotation is type(None):
        return "None"
    if typing.get_origin(annotation) is typing.Annotated:
        annotation, *notes = typing.get_args(annotation)
        for note in notes:
            if isinstance(note, Quantity):
                unit = f" ({note.dimension.unit})" if note.dimension.unit else ""
                kind = "complex " if isinstance(note, ComplexQuantity) else ""
                return kind + note.dimension.name.removeprefix("an ").removeprefix("a ") + unit
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Literal:
        return " or ".join(f'"{value}"' for value in arguments)
    if origin in (typing.Union, types.UnionType):
        return " or ".join(type_name(part) for part in arguments if part is not type(None))
    if origin is tuple:
        inner = [type_name(part) for part in arguments if part is not Ellipsis]
        return f"list of {inner[0]}" if Ellipsis in arguments else f"{len(inner)} x {inner[0]}"
    if origin is dict:
        return f"table of {type_name(arguments[1])} by name"
    names = {float: "number", int: "whole number", str: "text", bool: "true or false"}
    return names.get(annotation, getattr(annotation, "__name__", str(annotation)))


def documented(text: str) -> str:
    """A docstring as Markdown: paragraphs as they are, examples as Python blocks, indented equations as code."""
    blocks = []
    for block in re.split(r"\n\s*\n", inspect.cleandoc(text)):
        if block.lstrip().startswith(">>>"):
            blocks.append(f"```python\n{textwrap.dedent(block)}\n```")
        else:
            blocks.append(block)
    return "\n\n".join(blocks)


def schema_signature(name: str, entry: type[Schema]) -> str:
    parts = []
    for field_name, field in entry.model_fields.items():
        if field_name != "kind":
            parts.append(field_name if field.is_required() else f"{field_name}={field.default!r}")
    return wrapped(name, parts)


def wrapped(name: str, parts: list[str]) -> str:
    line = f"{name}({', '.join(parts)})"
    return line if len(line) <= 100 else f"{name}(\n    " + ",\n    ".join(parts) + ",\n)"


def fields_table(entry: type[Schema]) -> str:
    lines = ["| entry | takes | default | meaning |", "|---|---|---|---|"]
    texts = field_texts(entry)
    for name, field in entry.model_fields.items():
        if name == "kind":
            continue
        default = "required" if field.is_required() else f"`{field.default!r}`"
        annotation = typing.get_type_hints(entry, include_extras=True).get(name, field.annotation)
        takes = TAKES.get((entry.__name__, name)) or type_name(annotation)
        cells = [f"`{name}`", takes, default, texts.get(name, "").replace("\n", " ")]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines)


def own_members(entry: type) -> list[str]:
    """Public methods and properties with their first docstring lines, those of pydantic left out."""
    lines = []
    for name, _ in inspect.getmembers(entry):
        owner = next((base for base in entry.__mro__ if name in vars(base)), None)
        if name.startswith("_") or owner is None or not owner.__module__.startswith("nearfield"):
            continue
        raw = vars(owner)[name]
        function = raw.fget if isinstance(raw, property) else getattr(raw, "func", getattr(raw, "__func__", raw))
        text = inspect.getdoc(function) if callable(function) else None
        text = "The same in dBi." if name.endswith("_dbi") else text
        if not text or name.startswith("model_") or (issubclass(entry, Schema) and name in entry.model_fields):
            continue
        first = inspect.cleandoc(text).split("\n\n")[0].replace("\n", " ")
        lines.append(f"- `.{name}{call_text(raw, function)}` {first}")
    return lines


def call_text(raw: Any, function: Any) -> str:
    """`(theta, phi)` of a method; nothing for a property."""
    if isinstance(raw, property) or not inspect.isfunction(function) or type(raw).__name__ == "cached_property":
        return ""
    return f"({', '.join(parameters(function))})"


def parameters(function: Any) -> list[str]:
    """`name` or `name=default` of each."""
    parts = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name in ("self", "cls"):
            continue
        required = parameter.default is inspect.Parameter.empty
        parts.append(parameter.name if required else f"{parameter.name}={parameter.default!r}")
    return parts


def entry_page(name: str, thing: Any) -> str:
    """One public name: heading, signature, docstring, fields, members."""
    if name in CONSTANTS:
        return f"### {name}\n\n{CONSTANTS[name]}"
    if name == "library":
        return f"### {name}\n\n{documented(type(thing).__doc__ or '')}"
    parts = [f"### {name}"]
    is_class = inspect.isclass(thing)
    if is_class and issubclass(thing, Schema):
        parts += [f"```\n{schema_signature(name, thing)}\n```", documented(thing.__doc__ or ""), fields_table(thing)]
    elif is_class and (issubclass(thing, Exception) or name in GIVEN_BY_RESULTS):
        parts.append(documented(thing.__doc__ or ""))
    else:
        function = thing.__init__ if is_class else thing
        parts += [f"```\n{wrapped(name, parameters(function))}\n```", documented(thing.__doc__ or "")]
    if is_class and not issubclass(thing, Exception):
        parts.append("\n".join(own_members(thing)))
    return "\n\n".join(part for part in parts if part)


def names_in(title: str) -> list[str]:
    """Public names that belong to a section: to the first of its modules, then to the next."""
    homes = nearfield._HOMES.items()
    starts = [f"nearfield.{start}" for start in SECTIONS[title]]
    return [name for start in starts for home, names in homes if f"{home}.".startswith(f"{start}.") for name in names]


def api_reference() -> str:
    """Every public name under its section."""
    pages = []
    for title in SECTIONS:
        pages.append(f"## {title}")
        names = [*names_in(title), *WORDS.get(title, ())]
        pages += [entry_page(name, getattr(nearfield, name)) for name in names]
    return "\n\n".join(pages) + "\n"


def media_table() -> str:
    """Every medium of the library, by family, with its sources below."""
    from nearfield.commands.media import band_of, nearness

    entries = [nearfield.library.about(name) for name in nearfield.library]
    parts = []
    for family in dict.fromkeys(entry.family for entry in entries):
        rows = [entry for entry in entries if entry.family == family]
        lines = [f"## {family.capitalize()}", "", "| name | medium | holds | to its source |", "|---|---|---|---|"]
        lines += [f"| `{entry.name}` | {entry.title} | {band_of(entry)} | {nearness(entry)} |" for entry in rows]
        sources = {entry.source: entry.checked for entry in rows}
        told = (f"- {source}" + (f". Held against {checked}" if checked else "") for source, checked in sources.items())
        parts.append("\n".join([*lines, "", *told]))
    return "\n\n".join(parts) + "\n"


def stub() -> str:
    """Public names for type checkers, which cannot follow `nearfield.__getattr__`."""
    lines = ['"""Public names, for type checkers; written from `__init__.py` by scripts/write_docs.py."""', ""]
    lines += [f"from {home} import {name} as {name}" for home, names in nearfield._HOMES.items() for name in names]
    return "\n".join([*lines, "", "__version__: str", *(f"{name}: str" for name in CONSTANTS), ""])


def pages() -> dict[Path, str]:
    """Path and text of every page that is made from the code."""
    from scripts import model_file_page

    made = {API: api_reference(), MODEL_FILE: model_file_page.reference(), MEDIA: media_table()}
    by_hand = {path: path.read_text(encoding="utf-8").split(MARKER)[0] for path in made}
    return {STUB: stub(), **{path: f"{by_hand[path]}{MARKER}\n\n{text}" for path, text in made.items()}}


def main() -> int:
    stale = [path for path, text in pages().items() if path.read_text(encoding="utf-8") != text]
    if "--check" in sys.argv[1:]:
        for path in stale:
            print(f"{path.relative_to(ROOT)} no longer agrees with the code; run: make docs", file=sys.stderr)
        return int(bool(stale))
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
