"""The TOML form of a Simulation: the same schema as in Python, read, checked and written.

simulation = load("patch.toml")          # ModelError: file, place, what was given, what is allowed
text = dumps(simulation)                 # loads(text) == simulation
"""

from __future__ import annotations

import stat
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from nearfield.bodies.files import BODIES, KINDS
from nearfield.entry.errors import ModelError
from nearfield.entry.messages import readable
from nearfield.entry.parameters import TABLE, followed_by, resolved
from nearfield.entry.toml_text import children

if TYPE_CHECKING:
    from nearfield.simulation import Simulation

LARGEST_FILE = 64 * 2**20  # bytes; samples and grid lines of the largest sensible model take a few
SEVERAL_TIMES = "What may stand several times opens in two brackets, as [[structures]] does"
DEEPEST_NESTING = 12  # the schema itself needs 5


def load(path: str | Path, parameters: Mapping[str, Any] | None = None) -> Simulation:
    """The simulation that a model file describes.

    parameters: other values for the file's own `[parameters]`, as `--set` gives them: {"length": "15.9 mm"}.
    Paths inside the file (samples, meshes, layouts, voxels) count from the file's folder. Raises ModelError for
    anything wrong with the file or its content, and for a parameter that it lacks or that no entry uses.

    >>> simulation = load("examples/patch_antenna.toml")          # doctest: +SKIP
    """
    path = Path(path)
    return loads(read_text(path), name=str(path), folder=path.parent, parameters=parameters)


def loads(
    text: str, name: str = "model", folder: Path | None = None, parameters: Mapping[str, Any] | None = None
) -> Simulation:
    """The simulation that a text in TOML describes; `name` stands for the file in messages.

    >>> simulation = loads('grid = {kind = "uniform", spacing = "1 mm", cells = [8, 8, 8]}')
    """
    from nearfield.simulation import Simulation

    values = parse(text, name)
    resolved(values, text, name, parameters)
    if folder is not None:
        find_files(values, folder)
    try:
        return Simulation.model_validate(values)
    except ValidationError as error:
        raise ModelError(readable(error, Simulation, values, where=name, text=text)) from None
    except ModelError as error:
        raise ModelError(f"{name}: {error}") from None
    except RecursionError:
        raise ModelError(f"{name}: nested too deeply; a model file needs five levels") from None


def derived_parameters(path: str | Path, parameters: Mapping[str, Any]) -> dict[str, list[str]]:
    """The parameters of a model file that are expressions of others, each with those that it follows.

    parameters: values that are set in place of the file's own, and follow nothing. Error: none for a file that `load`
    reads with them.
    """
    table = parse(read_text(Path(path)), str(path)).get(TABLE, {})
    return followed_by({**table, **parameters})


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
        if kind := BODIES.get(path.suffix.lower()):
            more = 'layer = 1, lower = 0, upper = "1 um"' if kind == "layout" else 'unit = "mm"'
            raise ModelError(
                f"{path} holds bodies and is no model; name it in a model's structure: "
                f'shape = {{ kind = "{kind}", file = "{path.name}", {more} }}, docs/solids.md; '
                "`nearfield new patch` writes a model to start from"
            )
        content = path.read_bytes()
    except FileNotFoundError:
        raise ModelError(
            f"{path} does not exist; check the path, or write a first model with `nearfield new patch` "
            "(docs/first-hour.md)"
        ) from None
    except ModelError:
        raise
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
        hint = f" {SEVERAL_TIMES}." if "twice" in str(error) else ""
        raise ModelError(f"{name} is not valid TOML: {error}.{hint} The form is described at https://toml.io") from None
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
