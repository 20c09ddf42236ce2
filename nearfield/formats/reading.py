"""Field files of every format as labelled arrays, read snapshot by snapshot when they are indexed."""

from __future__ import annotations

import contextlib
import json
import math
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from nearfield.entry.errors import ModelError
from nearfield.entry.hdf5_checksums import damaged
from nearfield.entry.untrusted_file import open_ordinary
from nearfield.formats import ascii as text_format
from nearfield.formats import binary
from nearfield.formats.checked_pieces import unsealed
from nearfield.formats.claimed import is_being_written
from nearfield.formats.codecs import NO_CODEC, Codec
from nearfield.formats.description import FieldDescription
from nearfield.formats.files import COMPLETE, FIELDS_VERSION, INTERRUPTED, RUNNING
from nearfield.formats.hdf5_checks import verified_text, verify_moments, verify_samples
from nearfield.formats.keys import Key, indices, is_falling, is_number, rising
from nearfield.formats.pieced import box_at
from nearfield.formats.untrusted import (
    in_words,
    parts_of,
    place_of_part,
    refuse_beyond_memory,
    refuse_longer,
    refuse_other_sources,
    refuse_short,
    refusing,
)
from nearfield.records.records import PARTS, Variable, Variables

if TYPE_CHECKING:
    import xarray

T = TypeVar("T")
ALONG_AXIS = (int, np.integer, slice)  # parts of an index that a range takes
ABANDONED = "interrupted: its writer ended without closing it"
PARTS_FIRST = b'{"nearfield_field_parts": 1'  # first bytes of a JSON file that joins parts


@dataclass(frozen=True)
class StoredFields:
    """The contents of a field file now: its committed snapshots, and its status.

    `status` is "running", "complete" or "interrupted: why"; a file whose writer is dead is not "running". `arrays` are
    the components, (time, x, y, z), read when they are indexed; a complex component is two of them (`Ex_re`, `Ex_im`),
    which `variables` joins.
    """

    path: Path
    description: FieldDescription
    status: str
    steps: np.ndarray
    times: dict[str, np.ndarray]
    arrays: dict[str, StoredComponent]

    def variables(self) -> Variables:
        """The fields as `Variables`, which `FieldResult` presents."""
        result = {dim: Variable((dim,), line, {"units": "m"}) for dim, line in self.description.coordinates.items()}
        result |= {dim: Variable((dim,), values, {"units": "s"}) for dim, values in self.times.items()}
        for name, component in self.description.components.items():
            real, other = (name[:2] + part for part in PARTS)
            if name == real:
                array = both(self.arrays[real], self.arrays[other])
                result[name[:2]] = Variable(component.dims, array, {"units": component.units})
            elif name != other:
                result[name] = Variable(component.dims, self.arrays[name], {"units": component.units})
        return result


@dataclass(frozen=True)
class StoredComponent:
    """A component in a field file: its shape and type now, its values when it is indexed."""

    shape: tuple[int, int, int, int]
    dtype: np.dtype
    read: Callable[[Key], np.ndarray] = field(repr=False)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def __getitem__(self, key: Any) -> np.ndarray:
        key = key if isinstance(key, tuple) else (key,)
        if any(part is Ellipsis for part in key):
            at = next(number for number, part in enumerate(key) if part is Ellipsis)
            key = key[:at] + (slice(None),) * (5 - len(key)) + key[at + 1 :]
        key += (slice(None),) * (4 - len(key))
        # bounded by the committed length, whatever follows it in the file
        bounded = [range(n)[part] if isinstance(part, ALONG_AXIS) else part for part, n in zip(key, self.shape)]
        found = self.read(tuple(rising(part) if isinstance(part, range) else part for part in bounded))
        if not any(is_falling(part) for part in bounded):
            return found
        return found[tuple(slice(None, None, -1 if is_falling(part) else 1) for part in bounded if not is_number(part))]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        values = np.asarray(self[:])
        return values if dtype is None else values.astype(dtype)


def both(real: StoredComponent, imaginary: StoredComponent) -> StoredComponent:
    """A complex component from its two parts."""
    dtype = np.result_type(real.dtype, np.complex64)

    def read(key: Key) -> np.ndarray:
        first = np.asarray(real[key])
        values = np.empty(first.shape, dtype)
        values.real, values.imag = first, imaginary[key]
        return values

    return StoredComponent(real.shape, dtype, read)


def _beginning(path: Path, advice: str) -> bytes:
    """The first bytes of a file, which tell its format."""
    try:
        with open_ordinary(path) as file:
            return file.read(max(len(text_format.FIRST), len(PARTS_FIRST)))
    except OSError as error:
        raise ModelError(f"{path} cannot be read ({error.strerror}); {advice}") from error


def stored_fields(path: str | Path) -> StoredFields:
    """The contents of a field file of any format, also of one that is still being written. Error: `ModelError`."""
    path = Path(path)
    start = _beginning(path, "give the path of a field file")
    readers = {binary.MAGIC: _read_binary, text_format.FIRST: _read_ascii, PARTS_FIRST: _read_parts}
    with refusing(path):
        return next((read for mark, read in readers.items() if start.startswith(mark)), _read_hdf5)(path)


def description_of_first(path: Path, count: int) -> tuple[FieldDescription, int]:
    """Description of an HDF5 file, and the snapshots it has; verified with the moments of the first `count` alone."""
    description, _, steps, _ = _from_hdf5(path, lambda file: _head(path, file, count))
    return description, len(steps)


def read_index(path: Path) -> tuple[FieldDescription, list[dict[str, Any]], str]:
    """Description, parts and status of a JSON file that joins binary or text parts."""
    try:
        data = json.loads(unsealed(path.read_text(encoding="utf-8")))
        description = FieldDescription.from_json(json.dumps(data["description"]))
        return description, parts_of(data["parts"], description), str(data["status"])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ModelError(f"{path} cannot be read as an index of field files ({error})") from error


def joined_parts(path: Path) -> list[dict[str, Any]] | None:
    """File and boxes of each part that a field file joins; None where it holds the fields itself."""
    start = _beginning(path, "run from the start")
    if start.startswith(PARTS_FIRST):
        return read_index(path)[1]
    if start.startswith((binary.MAGIC, text_format.FIRST)):
        return None
    return _from_hdf5(path, _parts_in)


def open_fields(path: str | Path) -> xarray.Dataset:
    """The committed snapshots of a field file as an `xarray.Dataset`, values read when they are indexed.

    Dims are the file's: `x_half` lies midway between grid lines, `time_half` half a step after `time`. The attribute
    `status` is "running", "complete" or "interrupted: why". Error: `ModelError` for any other file.
    """
    import xarray
    from xarray.core import indexing

    stored = stored_fields(path)
    data, coordinates = {}, dict[str, Any]()
    for name, variable in stored.variables().items():
        if isinstance(variable.values, StoredComponent):
            lazy = indexing.LazilyIndexedArray(_backend_array(variable.values))
            data[name] = xarray.Variable(variable.dims, lazy, variable.attributes)
        else:
            coordinates[name] = (name, variable.array, variable.attributes)
    description = stored.description
    coordinates["step"] = (description.time_dims[0], stored.steps)
    attributes = {"status": stored.status, "title": description.title, "committed": len(stored.steps)}
    attributes |= {"planned": description.snapshots, **description.attributes}
    if description.bound is not None:
        attributes["error_bound"] = str(description.bound)
    return xarray.Dataset(data, coordinates, attributes)


def _backend_array(stored: StoredComponent) -> Any:
    from xarray.backends import BackendArray
    from xarray.core import indexing

    class Lazy(BackendArray):
        shape, dtype = stored.shape, stored.dtype

        def __getitem__(self, key: Any) -> np.ndarray:
            support = indexing.IndexingSupport.BASIC
            return indexing.explicit_indexing_adapter(key, self.shape, support, stored.__getitem__)

    return Lazy()


def _read_hdf5(path: Path) -> StoredFields:
    description, status, steps, times = _from_hdf5(path, lambda file: _head(path, file))

    def read(name: str, key: Key) -> np.ndarray:
        wanted = indices(key, (len(steps), *description.components[name].shape))
        refuse_beyond_memory(path, name, math.prod(map(len, wanted)) * description.dtype.itemsize)
        values = _from_hdf5(
            path, lambda file: _verified_samples(path, file, description, name, key, wanted), description.codec
        )
        axes, first = list(range(np.ndim(values))), 0 if is_number(key[0]) else 1
        return np.transpose(values, axes[:first] + axes[first:][:: description.order])

    return _stored(path, description, status, steps, times, read)


def _verified_samples(
    path: Path, file: Any, description: FieldDescription, name: str, key: Key, wanted: list[np.ndarray]
) -> np.ndarray:
    """Samples of a component, in the order of the file. Error, `ModelError`: they are not those that were written."""
    verify_samples(file, description, name, wanted)
    for part in _parts_in(file) or ():
        if name in part["boxes"]:
            offset, extent = part["boxes"][name]
            inside = [each - first for each, first in zip(wanted[1:], offset)]
            mine = [each[(0 <= each) & (each < n)] for each, n in zip(inside, extent)]
            own = description.part(part["boxes"])
            _from_hdf5(
                place_of_part(path, part),
                lambda one: verify_samples(one, own, name, [wanted[0], *mine]),  # noqa: B023
            )
    return file[name][(key[0], *key[1:][:: description.order])]


def _parts_in(file: Any) -> list[dict[str, Any]] | None:
    """The parts that an HDF5 file joins; None: it joins none."""
    if "parts" not in file:
        return None
    return parts_of(json.loads(verified_text(file, "parts")), _description_in(file))


def _description_in(file: Any) -> FieldDescription:
    return FieldDescription.from_json(verified_text(file, "description"))


def _head(
    path: Path, file: Any, first: int | None = None
) -> tuple[FieldDescription, str, np.ndarray, dict[str, np.ndarray]]:
    if int(file.attrs.get("fields_version", 0)) != FIELDS_VERSION:
        raise ModelError(f"{path} is not a field file of version {FIELDS_VERSION}; give one that Nearfield wrote")
    description, parts, status = _description_in(file), _parts_in(file), str(file.attrs["status"])
    refuse_other_sources(file, description, parts)
    if parts is not None:
        return description, status, *_moments_of([stored_fields(place_of_part(path, part)) for part in parts])
    refuse_longer(file, ("step", *description.time_dims))
    steps, times = file["step"][:], {dim: file[dim][: len(file["step"])] for dim in description.time_dims}
    verify_moments(file, steps[:first], [each[:first] for each in times.values()])
    return description, status, steps, times


def _moments_of(parts: list[StoredFields]) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Steps and times that all parts have: one may be shorter than another."""
    count = min(len(part.steps) for part in parts)
    return parts[0].steps[:count], {dim: values[:count] for part in parts for dim, values in part.times.items()}


def _from_hdf5(path: Path, read: Callable[[Any], T], codec: Codec = NO_CODEC, attempts: int = 10) -> T:
    """The result of `read` on the open file, tried again while a writer changes the file."""
    import h5py

    with contextlib.suppress(ImportError):
        import hdf5plugin  # noqa: F401  - makes zstd, LZ4 and bitshuffle known to HDF5
    written = is_being_written(path) is not False
    try:
        with h5py.File(path, "r") as file:
            return read(file)
    except Exception as error:  # a damaged file makes h5py raise every kind
        if not (written and attempts > 1):
            if isinstance(error, ModelError):
                raise
            if codec.is_missing:
                advice = f'codec {codec.name!r} needs hdf5plugin; install it (pip install "nearfield[codecs]")'
            elif isinstance(error, MemoryError):
                advice = "read fewer snapshots, or a part of the box"
            else:
                advice = "it is damaged, or no field file of Nearfield; run its model again"
            raise ModelError(f"{path} cannot be read ({in_words(error)}); {advice}") from error
    time.sleep(0.02)
    return _from_hdf5(path, read, codec, attempts - 1)


def _read_binary(path: Path) -> StoredFields:
    description, count, status, begin, version = binary.read_any_header(path)
    record = binary.record_type(description, version)
    refuse_short(path, begin + count * record.itemsize, exactly=status == COMPLETE)
    table = np.memmap(path, record, "r", begin, (count,)) if count else np.zeros(0, record)
    times = {dim: np.array(table[dim]) for dim in description.time_dims}
    steps = np.array(table["step"])
    binary.verify_moments(path, description, table)

    def read(name: str, key: Key) -> np.ndarray:
        binary.verify_samples(path, description, table, name, indices(key, table[name].shape))
        return np.asarray(table[name][key])

    return _stored(path, description, status, steps, times, read)


def _read_ascii(path: Path) -> StoredFields:
    description, count, status, begin = text_format.read_header(path)
    size, moments = text_format.snapshot_bytes(description), list[text_format.Moment]()
    refuse_short(path, begin + count * size, exactly=status == COMPLETE)
    with path.open("rb") as file:
        for number in range(count):
            file.seek(begin + number * size)
            moments.append(text_format.read_moment(file.read(text_format.MOMENT_BYTES)))
    steps = np.array([each.step for each in moments], np.int64)
    times = {dim: np.array([each.times[dim] for each in moments], float) for dim in description.time_dims}
    names, shape = list(description.components), description.first.shape

    def snapshot(number: int, name: str) -> np.ndarray:
        with path.open("rb") as file:
            file.seek(begin + number * size + text_format.MOMENT_BYTES)
            text, known = file.read(size - text_format.MOMENT_BYTES), moments[number].checksum
        if known is not None and known != zlib.crc32(text):
            raise damaged(str(path), f"snapshot {number}")
        numbers = np.array(text.split(), description.dtype)
        return numbers.reshape(-1, 3 + len(names))[:, 3 + names.index(name)].reshape(shape)

    def read(name: str, key: Key) -> np.ndarray:
        if is_number(key[0]):
            return snapshot(int(key[0]), name)[key[1:]]
        rows = [snapshot(int(number), name)[key[1:]] for number in np.arange(count)[key[0]]]
        return np.stack(rows) if rows else np.zeros((0, *shape), description.dtype)[(slice(None), *key[1:])]

    return _stored(path, description, status, steps, times, read)


def _read_parts(path: Path) -> StoredFields:
    description, parts, status = read_index(path)
    stored = [stored_fields(place_of_part(path, part)) for part in parts]
    steps, times = _moments_of(stored)

    def read(name: str, key: Key) -> np.ndarray:
        numbers = np.atleast_1d(np.arange(len(steps))[key[0]])
        whole = np.empty((len(numbers), *description.components[name].shape), description.dtype)
        for part, fields in zip(parts, stored):
            if name in part["boxes"]:
                box = box_at(*part["boxes"][name]).slices()
                for row, number in enumerate(numbers):
                    whole[(row, *box)] = fields.arrays[name][int(number)]
        return whole[(0 if is_number(key[0]) else slice(None), *key[1:])]

    return _stored(path, description, status, steps, times, read)


def _stored(
    path: Path,
    description: FieldDescription,
    status: str,
    steps: np.ndarray,
    times: dict[str, np.ndarray],
    read: Callable[[str, Key], np.ndarray],
) -> StoredFields:
    """The fields, with a status that is corrected where the writer is dead."""

    def refusing_read(name: str, key: Key) -> np.ndarray:
        with refusing(path):
            return read(name, key)

    if status not in (RUNNING, COMPLETE) and not status.startswith(INTERRUPTED):
        raise damaged(str(path), "its status")
    arrays = {
        name: StoredComponent((len(steps), *item.shape), description.dtype, partial(refusing_read, name))
        for name, item in description.components.items()
    }
    abandoned = status == RUNNING and is_being_written(path) is False
    return StoredFields(path, description, ABANDONED if abandoned else status, steps, times, arrays)
