"""Opens a field file in the format that a description names."""

from __future__ import annotations

from pathlib import Path

from nearfield.formats.description import FieldDescription
from nearfield.formats.files import FieldFile


def open_field_file(
    path: str | Path, description: FieldDescription, threads: int = 1, keep: int | None = None
) -> FieldFile:
    """A field file of the description's format; HDF5 compresses in so many threads. Errors: see `FieldFile`."""
    if description.is_hdf5:
        from nearfield.formats.hdf5 import Hdf5FieldFile

        return Hdf5FieldFile(path, description, threads, keep)
    if description.format == "binary":
        from nearfield.formats.binary import BinaryFieldFile

        return BinaryFieldFile(path, description, keep)
    from nearfield.formats.ascii import AsciiFieldFile

    return AsciiFieldFile(path, description, keep)
