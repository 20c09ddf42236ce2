"""Scalar fields out of files: a data set of an HDF5 file, or an array that NumPy saved."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from nearfield.entry.errors import ModelError
from nearfield.entry.numpy_file import read_array

MOST_NAMES = 12  # data sets that a message lists
WAYS = "give FILE:DATASET of an HDF5 file, or FILE.npy"


def read_field(given: str) -> np.ndarray:
    """The array of `file.h5:path/in/it` or `file.npy`. Error: no such file or data set, another format."""
    name, _, dataset = given.rpartition(":") if not Path(given).exists() else (given, "", "")
    if not name:
        name, dataset = dataset, ""
    path = Path(name)
    if not path.exists():
        raise ModelError(f"{name}: no such file; {WAYS}")
    if path.suffix == ".npy":
        return numpy_array(path, dataset)
    return hdf5_array(path, dataset)


def numpy_array(path: Path, dataset: str) -> np.ndarray:
    """The array of a file of `numpy.save`."""
    if dataset:
        raise ModelError(f"{path} holds one array and no '{dataset}'; give {path} alone")
    try:
        return read_array(path)
    except (OSError, ValueError) as error:
        raise ModelError(f"{path} is no array of numpy.save: {error}") from None


def hdf5_array(path: Path, dataset: str) -> np.ndarray:
    """A data set of an HDF5 file. Error: the file is none, or has no such data set; those that it has are listed."""
    import h5py

    from nearfield.entry.hdf5_checksums import opened, verified

    try:
        with opened(path, WAYS) as file:
            found = file.get(dataset) if dataset else None
            if isinstance(found, h5py.Dataset):
                return verified(found)[()]
            names = listed(file)
    except (OSError, RuntimeError, KeyError) as error:  # h5py raises all of these at damage
        raise ModelError(f"{path} is no HDF5 file ({error}); {WAYS}") from None
    wrong = f"has no data set '{dataset}'" if dataset else "needs the name of a data set"
    raise ModelError(f"{path} {wrong}; it has {names}. Give {path}:NAME")


def listed(file: Any) -> str:
    """The data sets of a file with their shapes."""
    import h5py

    names: list[str] = []

    def note(name: str, item: object) -> None:
        if isinstance(item, h5py.Dataset) and 1 <= item.ndim <= 3:
            names.append(f"{name} ({' x '.join(map(str, item.shape))})")

    file.visititems(note)
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return (", ".join(names[:MOST_NAMES]) or "none of one to three axes") + more
