"""Opens a field file in the format that a description names."""

from __future__ import annotations

from pathlib import Path

from nearfield.formats.ascii import AsciiFieldFile
from nearfield.formats.binary import BinaryFieldFile
from nearfield.formats.description import FieldDescription
from nearfield.formats.files import FieldFile
from nearfield.formats.hdf5 import Hdf5FieldFile


def open_field_file(
    path: str | Path, description: FieldDescription, threads: int = 1, keep: int | None = None
) -> FieldFile:
    """A field file of the description's format; HDF5 compresses in `threads` threads. Errors: see `FieldFile`."""
    if description.is_hdf5:
        return Hdf5FieldFile(path, description, threads, keep)
    kind = BinaryFieldFile if description.format == "binary" else AsciiFieldFile
    return kind(path, description, keep)
