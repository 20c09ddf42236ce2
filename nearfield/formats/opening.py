"""Opens a field file in the format that a description names."""

from __future__ import annotations

from pathlib import Path

from nearfield.formats.ascii import AsciiFieldFile
from nearfield.formats.binary import BinaryFieldFile
from nearfield.formats.description import FieldDescription
from nearfield.formats.files import FieldFile
from nearfield.formats.hdf5 import Hdf5FieldFile

FIXED_LENGTH = {"binary": BinaryFieldFile, "ascii": AsciiFieldFile}  # formats whose snapshots all take as many bytes


def open_field_file(
    path: str | Path, description: FieldDescription, threads: int = 1, keep: int | None = None
) -> FieldFile:
    """A field file of the description's format; HDF5 compresses in `threads` threads. Errors: see `FieldFile`."""
    if description.is_hdf5:
        return Hdf5FieldFile(path, description, threads, keep)
    return FIXED_LENGTH[description.format](path, description, keep)
