"""What tests of whole runs share: every array of a result file."""

from __future__ import annotations

from pathlib import Path

import h5py


def arrays(path: str | Path) -> dict[str, tuple]:
    """Every array of numbers in a result file, bit for bit, by its name."""
    found = {}

    def note(name: str, item) -> None:
        if isinstance(item, h5py.Dataset) and not h5py.check_string_dtype(item.dtype):
            found[name] = item.shape, item.dtype, item[()].tobytes()

    with h5py.File(path) as file:
        file.visititems(note)
    return found
