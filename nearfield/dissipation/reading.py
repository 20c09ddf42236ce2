"""Scalar fields out of files: a data set of an HDF5 file, an image of VTKHDF, or an array that NumPy saved."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from nearfield.dissipation.grids import refuse_empty
from nearfield.dissipation.memory import Keep, in_memory_of
from nearfield.dissipation.vtk_image import image_of
from nearfield.entry.errors import ModelError
from nearfield.entry.numpy_file import mapped_array

MOST_NAMES = 12  # data sets that a message lists
WAYS = "give FILE:DATASET of an HDF5 file, or FILE.npy"


@dataclass(frozen=True)
class GriddedField:
    """Values, and the coordinates along each axis where the file has them."""

    values: np.ndarray
    lines: list[np.ndarray] | None = None


def read_field(given: str, at: float | None = None, method: str = "hybrid", keep: Keep | None = None) -> GriddedField:
    """The array of `file.h5:path/in/it`, `file.vtkhdf:name` or `file.npy`.

    `at`: which time of an image that has several. Error: no such file or data set, another format, no or needless `at`,
    more points than memory has room for with `method`, unless `keep` puts an array or data set elsewhere.
    """
    if not given.strip(" :"):
        raise ModelError(f"the name of the field's file is empty; {WAYS}")
    keep = keep or in_memory_of(method)
    name, _, dataset = given.rpartition(":") if not Path(given).exists() else (given, "", "")
    if not name:
        name, dataset = dataset, ""
    path = Path(name)
    if not path.exists():
        raise ModelError(f"{name}: no such file; {WAYS}")
    if path.suffix == ".npy":
        refuse_time(given, at)
        return GriddedField(numpy_array(path, dataset, keep))
    return hdf5_field(path, dataset, at, keep)


def refuse_time(given: str, at: float | None) -> None:
    """Error: a time is asked for of a field that has none."""
    if at is not None:
        raise ModelError(f"--at {at:g}: {given} holds one field and no times; leave it out")


def numpy_array(path: Path, dataset: str, keep: Keep) -> np.ndarray:
    """The array of a file of `numpy.save`. Error: it is none; those of `keep` as they are."""
    if dataset:
        raise ModelError(f"{path} holds one array and no '{dataset}'; give {path} alone")
    try:
        array = mapped_array(path)
    except (OSError, ValueError) as error:
        raise ModelError(f"{path} is no array of numpy.save: {error}") from None
    return keep(array)


def hdf5_field(path: Path, dataset: str, at: float | None, keep: Keep) -> GriddedField:
    """A data set of an HDF5 file. Error: the file is none, or has no such data set; those that it has are listed."""
    import h5py

    from nearfield.entry.hdf5_checksums import verified

    with opened_fields(path) as file:
        if dataset and "VTKHDF" in file and (image := image_of(file["VTKHDF"], dataset, at, f"{path}:{dataset}")):
            return GriddedField(*image)
        found = file.get(dataset) if dataset else None
        if isinstance(found, h5py.Dataset):
            refuse_time(f"{path}:{dataset}", at)
            refuse_empty(found, f"{path}:{dataset}")
            return GriddedField(keep(verified(found)), scales_of(found))
        names = listed(file)
    wrong = f"has no data set '{dataset}'" if dataset else "needs the name of a data set"
    raise ModelError(f"{path} {wrong}; it has {names}. Give {path}:NAME")


@contextlib.contextmanager
def opened_fields(path: Path) -> Iterator[Any]:
    """An HDF5 file in which fields are looked for. Error: it is none, or damaged."""
    from nearfield.entry.hdf5_checksums import opened

    try:
        with opened(path, WAYS) as file:
            yield file
    except (OSError, RuntimeError, KeyError) as error:  # h5py raises all of these at damage
        raise ModelError(f"{path} is no HDF5 file ({error}); {WAYS}") from None


def scales_of(found: Any) -> list[np.ndarray] | None:
    """Coordinates that NetCDF, xarray or h5py attached to the axes of a data set; None unless all have rising ones."""
    lines = []
    for axis, count in zip(found.dims, found.shape):
        scale = axis[0] if len(axis) else None
        if scale is None or scale.shape != (count,) or scale.dtype.kind not in "fiu":
            return None
        lines.append(scale[()].astype(float))
    return lines if all((np.diff(line) > 0).all() for line in lines) else None


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
