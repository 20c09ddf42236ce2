"""Field files of every format as labelled arrays, read snapshot by snapshot when they are asked for."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from nearfield.entry.errors import ModelError
from nearfield.formats import ascii as text_format
from nearfield.formats import binary, index
from nearfield.formats.claimed import is_being_written
from nearfield.formats.description import FieldDescription
from nearfield.formats.files import FIELDS_VERSION, RUNNING
from nearfield.records.records import PARTS, Variable, Variables

if TYPE_CHECKING:
    import xarray

T = TypeVar("T")
ABANDONED = "interrupted: its writer ended without closing it"


@dataclass(frozen=True)
class StoredFields:
    """What a field file holds now: committed snapshots only, and how it stands.

    `status` is "running", "complete" or "interrupted: why"; a file that no one writes any more is not "running".
    `arrays` are the components, (time, x, y, z), read when they are indexed; of complex fields their two parts
    (`Ex_re`, `Ex_im`), which `variables` joins.
    """

    path: Path
    description: FieldDescription
    status: str
    steps: np.ndarray
    times: dict[str, np.ndarray]
    arrays: dict[str, StoredComponent]

    def variables(self) -> Variables:
        """The same as `Variables`, which `FieldResult` presents."""
        found = {dim: Variable((dim,), line, {"units": "m"}) for dim, line in self.description.coordinates.items()}
        found |= {dim: Variable((dim,), values, {"units": "s"}) for dim, values in self.times.items()}
        for name, component in self.description.components.items():
            real, other = (name[:2] + part for part in PARTS)
            if name == real:
                array = both(self.arrays[real], self.arrays[other])
                found[name[:2]] = Variable(component.dims, array, {"units": component.units})
            elif name != other:
                found[name] = Variable(component.dims, self.arrays[name], {"units": component.units})
        return found


@dataclass(frozen=True)
class StoredComponent:
    """A component in a field file: its shape and type now, its values when they are asked for."""

    shape: tuple[int, int, int, int]
    dtype: np.dtype
    read: Callable[[tuple[Any, ...]], np.ndarray] = field(repr=False)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def __getitem__(self, key: Any) -> np.ndarray:
        key = key if isinstance(key, tuple) else (key,)
        if any(part is Ellipsis for part in key):
            at = next(number for number, part in enumerate(key) if part is Ellipsis)
            key = key[:at] + (slice(None),) * (5 - len(key)) + key[at + 1 :]
        key += (slice(None),) * (4 - len(key))
        # bounded by the committed length, whatever lies behind it in the file
        bounded = [range(n)[part] if isinstance(part, (int, np.integer)) else part for part, n in zip(key, self.shape)]
        bounded = [slice(*part.indices(n)) if isinstance(part, slice) else part for part, n in zip(bounded, self.shape)]
        return self.read(tuple(bounded))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        values = np.asarray(self[:])
        return values if dtype is None else values.astype(dtype)


def both(real: StoredComponent, imaginary: StoredComponent) -> StoredComponent:
    """A complex component of its two parts."""
    dtype = np.result_type(real.dtype, np.complex64)

    def read(key: tuple[Any, ...]) -> np.ndarray:
        first = np.asarray(real[key])
        values = np.empty(first.shape, dtype)
        values.real, values.imag = first, imaginary[key]
        return values

    return StoredComponent(real.shape, dtype, read)


def stored_fields(path: str | Path) -> StoredFields:
    """Whatever field file lies there, also one that is still being written. Error: `ModelError`."""
    path = Path(path)
    try:
        with path.open("rb") as file:
            start = file.read(max(len(text_format.FIRST), len(index.FIRST)))
    except OSError as error:
        raise ModelError(f"{path} cannot be read ({error.strerror}); give the path of a field file") from error
    if start.startswith(binary.MAGIC):
        return _read_binary(path)
    if start.startswith(text_format.FIRST):
        return _read_ascii(path)
    if start.startswith(index.FIRST):
        return _read_parts(path)
    return _read_hdf5(path)


def joined_parts(path: Path) -> list[dict[str, Any]] | None:
    """File and boxes of each part that a field file joins; None where it holds the fields itself."""
    try:
        with path.open("rb") as file:
            start = file.read(len(index.FIRST))
    except OSError as error:
        raise ModelError(f"{path} cannot be read ({error.strerror}); run from the start") from error
    if start == index.FIRST:
        return index.read_index(path)[1]
    if start.startswith((binary.MAGIC, text_format.FIRST)):
        return None
    return _from_hdf5(path, lambda file: json.loads(file["parts"].asstr()[()]) if "parts" in file else None)


def open_fields(path: str | Path) -> xarray.Dataset:
    """The committed snapshots of a field file as an `xarray.Dataset`, values read when they are asked for.

    Dims are those of the file: `x_half` lies midway between grid lines, `time_half` half a step after `time`. The
    attribute `status` tells how the file stands. Error: `ModelError` for what is no field file.
    """
    import xarray
    from xarray.core import indexing

    stored = stored_fields(path)
    data, coordinates = {}, {}
    for name, variable in stored.variables().items():
        if isinstance(variable.values, StoredComponent):
            lazy = indexing.LazilyIndexedArray(_backend_array(variable.values))
            data[name] = xarray.Variable(variable.dims, lazy, variable.attributes)
        else:
            coordinates[name] = (name, variable.array, variable.attributes)
    first = stored.description.time_dims[0]
    coordinates["step"] = (first, stored.steps)
    told = {
        "status": stored.status,
        "title": stored.description.title,
        "committed": len(stored.steps),
        "planned": stored.description.snapshots,
        **stored.description.attributes,
    }
    if stored.description.bound is not None:
        told["error_bound"] = str(stored.description.bound)
    return xarray.Dataset(data, coordinates, told)


def _backend_array(stored: StoredComponent) -> Any:
    from xarray.backends import BackendArray
    from xarray.core import indexing

    class Lazy(BackendArray):
        shape, dtype = stored.shape, stored.dtype

        def __getitem__(self, key: Any) -> np.ndarray:
            support = indexing.IndexingSupport.BASIC
            return indexing.explicit_indexing_adapter(key, self.shape, support, stored.__getitem__)

    return Lazy()


def told_status(path: Path, status: str) -> str:
    """The status in a file, corrected where its writer is gone."""
    return ABANDONED if status == RUNNING and is_being_written(path) is False else status


def _read_hdf5(path: Path) -> StoredFields:
    description, status, steps, times = _from_hdf5(path, lambda file: _head(path, file))
    order = -1 if description.format == "vtkhdf" else 1

    def reader(name: str) -> Callable[[tuple[Any, ...]], np.ndarray]:
        def read(key: tuple[Any, ...]) -> np.ndarray:
            values = _from_hdf5(path, lambda file: file[name][(key[0], *key[1:][::order])])
            kept = 0 if isinstance(key[0], (int, np.integer)) else 1
            axes = list(range(np.ndim(values)))
            return np.transpose(values, axes[:kept] + axes[kept:][::order])

        return read

    return _stored(path, description, status, steps, times, reader)


def _head(path: Path, file: Any) -> tuple[FieldDescription, str, np.ndarray, dict[str, np.ndarray]]:
    if int(file.attrs.get("fields_version", 0)) != FIELDS_VERSION:
        raise ModelError(f"{path} is no field file of version {FIELDS_VERSION}; give one that Nearfield wrote")
    description = FieldDescription.from_json(file["description"].asstr()[()])
    count = len(file["step"])
    if "parts" in file:  # one may be shorter than another
        parts = json.loads(file["parts"].asstr()[()])
        count = min(len(stored_fields(path.parent / part["file"]).steps) for part in parts)
    times = {dim: file[dim][:count] for dim in description.time_dims}
    return description, str(file.attrs["status"]), file["step"][:count], times


def _from_hdf5(path: Path, read: Callable[[Any], T], attempts: int = 10) -> T:
    """What `read` finds in the file. One that is being written may pass from state to state meanwhile: then again."""
    import h5py

    with contextlib.suppress(ImportError):
        import hdf5plugin  # noqa: F401  - makes zstd, LZ4 and bitshuffle known to HDF5
    written = is_being_written(path) is not False
    try:
        with h5py.File(path, "r") as file:
            return read(file)
    except ModelError:
        raise
    except Exception as error:  # a damaged file makes h5py raise every kind
        if not (written and attempts > 1):
            raise ModelError(
                f"{path} cannot be read ({error}); if it is a field file with codec zstd, lz4 or bitshuffle, install "
                'hdf5plugin (pip install "nearfield[codecs]")'
            ) from error
    time.sleep(0.02)
    return _from_hdf5(path, read, attempts - 1)


def _read_binary(path: Path) -> StoredFields:
    description, count, status, begin = binary.read_header(path)
    type_ = binary.record_type(description)
    table = np.memmap(path, type_, "r", begin, (count,)) if count else np.zeros(0, type_)
    times = {dim: np.array(table[dim]) for dim in description.time_dims}

    def reader(name: str) -> Callable[[tuple[Any, ...]], np.ndarray]:
        return lambda key: np.asarray(table[name][key])

    return _stored(path, description, status, np.array(table["step"]), times, reader)


def _read_ascii(path: Path) -> StoredFields:
    description, count, status, begin = text_format.read_header(path)
    size, moments = text_format.snapshot_bytes(description), []
    with path.open("rb") as file:
        for number in range(count):
            file.seek(begin + number * size)
            moments.append(text_format.read_moment(file.read(text_format.MOMENT_BYTES)))
    steps = np.array([step for step, _ in moments], np.int64)
    times = {dim: np.array([found[dim] for _, found in moments], float) for dim in description.time_dims}
    columns = 3 + len(description.components)

    def snapshot(number: int, column: int, shape: tuple[int, ...]) -> np.ndarray:
        with path.open("rb") as file:
            file.seek(begin + number * size + text_format.MOMENT_BYTES)
            numbers = np.array(file.read(size - text_format.MOMENT_BYTES).split(), description.dtype)
        return numbers.reshape(-1, columns)[:, column].reshape(shape)

    def reader(name: str) -> Callable[[tuple[Any, ...]], np.ndarray]:
        column = 3 + list(description.components).index(name)
        shape = description.components[name].shape

        def read(key: tuple[Any, ...]) -> np.ndarray:
            if isinstance(key[0], (int, np.integer)):
                return snapshot(int(key[0]), column, shape)[key[1:]]
            numbers = np.arange(count)[key[0]]
            found = [snapshot(int(number), column, shape)[key[1:]] for number in numbers]
            return np.stack(found) if found else np.zeros((0, *shape), description.dtype)[(slice(None), *key[1:])]

        return read

    return _stored(path, description, status, steps, times, reader)


def _read_parts(path: Path) -> StoredFields:
    description, parts, status = index.read_index(path)
    stored = [stored_fields(path.parent / part["file"]) for part in parts]
    count = min(len(part.steps) for part in stored)
    times = {dim: values[:count] for part in stored for dim, values in part.times.items()}

    def reader(name: str) -> Callable[[tuple[Any, ...]], np.ndarray]:
        def read(key: tuple[Any, ...]) -> np.ndarray:
            numbers = np.atleast_1d(np.arange(count)[key[0]])
            whole = np.empty((len(numbers), *description.components[name].shape), description.dtype)
            for part, held in zip(parts, stored):
                if name in part["boxes"]:
                    box = tuple(slice(first, first + n) for first, n in zip(*part["boxes"][name]))
                    for row, number in enumerate(numbers):
                        whole[(row, *box)] = held.arrays[name][int(number)]
            return whole[(0 if isinstance(key[0], (int, np.integer)) else slice(None), *key[1:])]

        return read

    return _stored(path, description, status, stored[0].steps[:count], times, reader)


def _stored(
    path: Path, description: FieldDescription, status: str, steps: np.ndarray, times: dict[str, np.ndarray], reader: Any
) -> StoredFields:
    arrays = {
        name: StoredComponent((len(steps), *item.shape), description.dtype, reader(name))
        for name, item in description.components.items()
    }
    return StoredFields(path, description, told_status(path, status), steps, times, arrays)
