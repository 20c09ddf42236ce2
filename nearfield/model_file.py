"""The TOML form of a Simulation: the same schema as in Python, read, checked and written.

simulation = load("patch.toml")          # ModelError: file, place, what was given, what is allowed
text = dumps(simulation)                 # loads(text) == simulation
"""

from __future__ import annotations

import json
import re
import stat
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import BaseModel, ValidationError

from nearfield.bodies.files import KINDS
from nearfield.entry.errors import ModelError
from nearfield.entry.messages import readable

if TYPE_CHECKING:
    from nearfield.simulation import Simulation

LARGEST_FILE = 64 * 2**20  # bytes; samples and grid lines of the largest sensible model take a few
DEEPEST_NESTING = 12  # the schema itself needs 5
BARE_KEY = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)


def load(path: str | Path) -> Simulation:
    """The simulation that a model file describes.

    Paths inside the file (samples, meshes, layouts, voxels) count from the file's folder. Raises ModelError for
    anything wrong with the file or its content.

    >>> simulation = load("examples/patch_antenna.toml")          # doctest: +SKIP
    """
    path = Path(path)
    return loads(read_text(path), name=str(path), folder=path.parent)


def loads(text: str, name: str = "model", folder: Path | None = None) -> Simulation:
    """The simulation that a text in TOML describes; `name` stands for the file in messages.

    >>> simulation = loads('grid = {kind = "uniform", spacing = "1 mm", cells = [8, 8, 8]}')
    """
    from nearfield.simulation import Simulation

    values = parse(text, name)
    if folder is not None:
        find_files(values, folder)
    try:
        return Simulation.model_validate(values)
    except ValidationError as error:
        raise ModelError(readable(error, Simulation, values, where=name)) from None
    except ModelError as error:
        raise ModelError(f"{name}: {error}") from None
    except RecursionError:
        raise ModelError(f"{name}: nested too deeply; a model file needs five levels") from None


def read_text(path: Path) -> str:
    """The content of a model file, UTF-8."""
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise ModelError(f"{path} is a folder; give a model file, for example {path}/model.toml")
        if not stat.S_ISREG(status.st_mode):
            raise ModelError(f"{path} is not an ordinary file; give a model file in TOML")
        if status.st_size > LARGEST_FILE:
            raise ModelError(
                f"{path} has {status.st_size / 2**20:.0f} MiB; a model file has at most {LARGEST_FILE // 2**20} MiB. "
                "Is it a result? `nearfield show` reads those"
            )
        content = path.read_bytes()
    except FileNotFoundError:
        raise ModelError(
            f"{path} does not exist; check the path, or write a first model with `nearfield new patch`"
        ) from None
    except (OSError, ValueError) as error:  # ValueError: a null byte in the path
        reason = getattr(error, "strerror", None) or str(error)
        raise ModelError(f"{path} cannot be read: {reason}. Give a readable model file in TOML") from None
    if content.startswith(b"\x89HDF"):
        raise ModelError(f"{path} is an HDF5 file, not a model in TOML; `nearfield show {path}` reads results")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ModelError(
            f"{path}, line {line}: byte 0x{content[error.start]:02x} is not UTF-8, which TOML requires; "
            "save the file as UTF-8 text"
        ) from None


def parse(text: str, name: str) -> dict[str, Any]:
    """The plain values in a TOML text."""
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ModelError(f"{name} is not valid TOML: {error}. The form is described at https://toml.io") from None
    except RecursionError:
        raise ModelError(f"{name}: nested too deeply; a model file needs five levels") from None
    except ValueError as error:  # numbers of more digits than Python reads, dates that do not exist
        raise ModelError(f"{name} is not valid TOML: {error}") from None
    level: list[Any] = [values]
    for _ in range(DEEPEST_NESTING):
        level = [inner for value in level for inner in children(value)]
    if level:
        raise ModelError(f"{name}: nested more than {DEEPEST_NESTING} levels deep; a model file needs five")
    return values


def find_files(value: Any, folder: Path) -> None:
    """Let the files that waveforms and shapes name count from the model file's folder."""
    if isinstance(value, dict) and value.get("kind") in KINDS and isinstance(value.get("file"), str):
        value["file"] = str(folder / value["file"])
    for inner in children(value):
        find_files(inner, folder)


def children(value: Any) -> Iterator[Any]:
    """The tables and arrays directly inside a table or an array."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return (item for item in inner if isinstance(item, (dict, list)))


def dumps(simulation: Simulation) -> str:
    """The model file of a simulation, numbers in SI; entries that have their default value are left out.

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
    if isinstance(value, BaseModel):
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
