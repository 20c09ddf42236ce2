"""Files that entries name: the package that reads them, a readable file, a checksum."""

from __future__ import annotations

import hashlib
import importlib
from pathlib import Path
from types import ModuleType

BODIES = {".stl": "mesh", ".ply": "mesh", ".obj": "mesh", ".gds": "layout"}  # kind of shape by a file's ending
KINDS = ("samples", "mesh", "layout", "voxels")  # kinds of entries whose `file` counts from the model file's folder


def package(name: str, extra: str, purpose: str) -> ModuleType:
    """An optional package; ValueError names the extra that brings it."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise ValueError(
            f'{purpose} needs the package {name}, which is not installed; install it (pip install "nearfield[{extra}]")'
        ) from None


def readable(file: str, suffixes: tuple[str, ...], what: str, wanted: str | None = None) -> Path:
    """The path of an ordinary file with one of the suffixes and the checksum `wanted`; ValueError if it is not."""
    path = Path(file)
    if path.suffix.lower() not in suffixes:
        raise ValueError(f"file {file!r}: {what} are read from {', '.join(suffixes)}, recognised by the file's name")
    if not path.is_file():  # a pipe or a device might never end
        reason = "is not an ordinary file" if path.exists() else "does not exist"
        raise ValueError(f"file {file!r} {reason}; give {what} in a file of the kinds {', '.join(suffixes)}")
    if wanted is not None and checksum(file) != wanted:
        raise ValueError(
            f"file {file!r} has changed: its SHA-256 is not {wanted[:12]}...; bring back the file that "
            "was meant, or leave `checksum` out to take this one"
        )
    return path


def checksum(file: str | Path) -> str:
    """SHA-256 of a file's content."""
    try:
        with open(file, "rb") as content:
            return hashlib.file_digest(content, "sha256").hexdigest()
    except OSError as error:
        raise ValueError(f"file {str(file)!r} cannot be read ({error.strerror}); give a readable file") from None
