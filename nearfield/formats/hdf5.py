"""Field files in HDF5: chunks compressed in threads and handed to HDF5 as they are.

Layout (fields_version 1):

    /                        attributes nearfield_version, fields_version, status, title, conventions
    /description             what was planned, as JSON text
    /step                    steps of the committed snapshots: its length is their number
    /time, /time_half        their times (s); H lies half a step later
    /x, /x_half, ...         coordinates (m)
    /Ex, ...                 (time, x, y, z), each dim with its scale; with format vtkhdf (time, z, y, x)
    /VTKHDF                  format vtkhdf on even spacing: what ParaView reads

`step` is lengthened last, so after a crash the fields may be longer than it: what lies behind its length is unfinished.
"""

from __future__ import annotations

import itertools
import json
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import h5py
import numpy as np

import nearfield
from nearfield.formats.committed import CommittedFile
from nearfield.formats.description import Block, FieldDescription, Shape
from nearfield.formats.direct import PAGE, PART
from nearfield.formats.files import FIELDS_VERSION, RUNNING, FieldFile, same_description, too_short
from nearfield.records.hdf5 import CONVENTIONS

# superblock version 2 bears no mark of being open; without a strategy for free space the length of a file depends on
# what is in it alone; datasets made with the later bound have an extensible array as index of their chunks
CREATED: dict[str, Any] = {"libver": ("v108", "latest"), "fs_strategy": "none"}
EXTENDED: dict[str, Any] = {"libver": ("v110", "latest")}
ALIGNED: dict[str, Any] = {"alignment_threshold": PART, "alignment_interval": PAGE}  # of chunks that go out as they are
MOMENTS_CHUNK = 1024


class Hdf5FieldFile(FieldFile):
    """A field file in HDF5; `threads` compress at the same time."""

    def __init__(
        self, path: str | Path, description: FieldDescription, threads: int = 1, keep: int | None = None
    ) -> None:
        self.threads = threads
        self._pool = ThreadPoolExecutor(threads) if threads > 1 and not description.is_plain else None
        self._h5: h5py.File | None = None
        self._partial: dict[tuple[str, int, Shape], tuple[np.ndarray, list[int]]] = {}
        super().__init__(path, description, keep)

    def _create(self) -> None:
        self._raw = CommittedFile(self._file)
        h5py.File(self._raw, "w", **CREATED).close()
        self._raw.commit()
        self._open()
        _write_skeleton(self._h5, self.description)
        self._h5.flush()
        self._raw.commit()
        self._ready()

    def _continue(self, keep: int) -> None:
        self._raw = CommittedFile(self._file)
        self._open()
        same_description(self.path, FieldDescription.from_json(self._h5["description"].asstr()[()]), self.description)
        self._ready()
        self._h5.attrs.modify("status", RUNNING)
        self._settle()  # it must not be called complete with fewer snapshots
        if keep > len(self._h5["step"]):
            raise too_short(self.path, len(self._h5["step"]), keep)
        self._h5["step"].resize(keep, 0)
        self._settle(parents_first=True)  # what lies behind this length may change from now on
        self._cut(keep)

    def _open(self) -> None:
        self._h5 = h5py.File(self._raw, "r+", **EXTENDED, **(ALIGNED if self.description.is_plain else {}))

    def _ready(self) -> None:
        """Compressors of the chunks, and the objects whose headers are written last."""
        codec = self.description.codec
        self._compress = {}
        for name in self.description.components:
            pipeline = self._h5[name].id.get_create_plist()
            filters = [pipeline.get_filter(number) for number in range(pipeline.get_nfilters())]
            self._compress[name] = codec.compressor(filters[-1][2] if filters else ())
        last = [self._h5["VTKHDF/Steps"]] if "VTKHDF" in self._h5 else []
        last += [self._h5["step"], self._h5]
        self._raw.last = tuple(h5py.h5o.get_info(item.id).addr for item in last)

    def _put(self, block: Block) -> None:
        dataset = self._h5[block.component]
        if dataset.shape[0] <= block.snapshot:
            dataset.resize(block.snapshot + 1, 0)
        for index, content in self._contents(block):
            place = index[::-1] if self._transposed else index
            dataset.id.write_direct_chunk((block.snapshot, *place), content)
        self._raw.raise_error()

    def _contents(self, block: Block) -> Iterator[tuple[Shape, Any]]:
        """First sample and bytes of each chunk; some are made ahead in threads, few enough to stay in cache."""
        begun: deque[tuple[Shape, Future]] = deque()
        for index, values in self._whole_chunks(block):
            if self._pool is None:
                yield index, self._made(block.component, values)
                continue
            begun.append((index, self._pool.submit(self._made, block.component, values)))
            if len(begun) > 2 * self.threads:
                first, made = begun.popleft()
                yield first, made.result()
        for first, made in begun:
            yield first, made.result()

    @property
    def _transposed(self) -> bool:
        return self.description.format == "vtkhdf"

    def _whole_chunks(self, block: Block) -> Any:
        """First sample and values of the chunks that this block makes whole; others wait for their rest."""
        shape, chunk = self.description.components[block.component].shape, self.description.chunk(block.component)
        ranges = [
            range(first // size * size, first + count, size)
            for first, count, size in zip(block.offset, block.values.shape, chunk)
        ]
        for index in itertools.product(*ranges):
            extent = tuple(min(size, n - at) for size, n, at in zip(chunk, shape, index))
            lower = tuple(max(at, first) for at, first in zip(index, block.offset))
            upper = tuple(
                min(at + size, first + count)
                for at, size, first, count in zip(index, extent, block.offset, block.values.shape)
            )
            values = block.values[tuple(slice(a - f, b - f) for a, b, f in zip(lower, upper, block.offset))]
            if values.shape != extent:
                key = (block.component, block.snapshot, index)
                values = self._joined(key, extent, tuple(a - at for a, at in zip(lower, index)), values)
            if values is not None:
                yield index, values

    def _joined(self, key: Any, extent: Shape, offset: Shape, values: np.ndarray) -> np.ndarray | None:
        """A chunk that several blocks fill, once it is full."""
        whole, missing = self._partial.setdefault(key, (np.zeros(extent, values.dtype), [int(np.prod(extent))]))
        whole[tuple(slice(first, first + count) for first, count in zip(offset, values.shape))] = values
        missing[0] -= values.size
        if missing[0] > 0:
            return None
        del self._partial[key]
        return whole

    def _made(self, name: str, values: np.ndarray) -> Any:
        """The bytes of a chunk; runs in a thread."""
        stored = stored_chunk(values, self.description, name)
        return self._compress[name](stored)

    def _finish(self, snapshot: int) -> None:
        """All of it is written already."""

    def _commit(self, moments: dict[int, tuple[int, dict[str, float]]]) -> None:
        first, count = min(moments), max(moments) + 1
        columns = {"step": [step for step, _ in moments.values()]}
        columns |= {dim: [times[dim] for _, times in moments.values()] for dim in self.description.time_dims}
        for name, column in columns.items():
            self._h5[name].resize(count, 0)
            self._h5[name][first:] = column
        if "VTKHDF" in self._h5:
            self._h5["VTKHDF/Steps"].attrs.modify("NSteps", np.int64(count))
        self._settle()

    def _settle(self, parents_first: bool = False) -> None:
        self._h5.flush()
        self._raw.commit(parents_first)

    def _end(self, status: str) -> None:
        self._cut(self.committed)
        self._h5.attrs.modify("status", status)
        self._close()
        self._raw.commit()
        self._view_for_paraview()

    def _view_for_paraview(self) -> None:
        if self._transposed:
            from nearfield.formats.paraview import write_xdmf

            write_xdmf(self.path)

    def _cut(self, count: int) -> None:
        """Shorten every array along time to `count` snapshots."""
        for name in (*self.description.components, *self.description.time_dims):
            if self._h5[name].shape[0] > count:
                self._h5[name].resize(count, 0)
        self._settle()

    def _close(self) -> None:
        """HDF5 would go on with an open file when the process exits, and crash."""
        if self._h5 is not None:
            self._h5.close()
        if self._pool is not None:
            self._pool.shutdown()

    def _discard(self) -> None:
        self._raw.refuse()
        self._close()

    def _abandon(self, status: str) -> None:
        self._raw = CommittedFile(self._file)
        with h5py.File(self._raw, "r+", **EXTENDED) as file:
            file.attrs.modify("status", status)
        self._raw.commit()


def stored_chunk(values: np.ndarray, description: FieldDescription, name: str) -> np.ndarray:
    """Samples as they lie in a chunk: of its full shape, precision and order, within the error bound."""
    values, chunk, bound = np.asarray(values), description.chunk(name), description.bound_of(name)
    if description.format == "vtkhdf":
        values, chunk = values.T, chunk[::-1]
    if values.shape == chunk and values.dtype == description.dtype and values.flags.c_contiguous:
        stored = values
    else:
        stored = np.empty(chunk, description.dtype)
        if values.shape != chunk:
            stored[...] = 0
        with np.errstate(over="ignore"):  # beyond half precision: infinity
            stored[tuple(map(slice, values.shape))] = values
    return stored if bound is None else np.ascontiguousarray(bound.applied(stored))


def write_heading(file: h5py.File, description: FieldDescription, status: str = RUNNING) -> None:
    """Attributes, description and coordinates."""
    file.attrs["status"] = status  # first, so that its text comes to lie right behind the header
    file.attrs["nearfield_version"] = nearfield.__version__
    file.attrs["fields_version"] = FIELDS_VERSION
    file.attrs["title"] = description.title
    file.attrs["conventions"] = CONVENTIONS
    file["description"] = description.to_json()
    for dim, line in description.coordinates.items():
        file.create_dataset(dim, data=np.asarray(line, float))
        file[dim].attrs.update(units="m", dims=json.dumps([dim]))


def _write_skeleton(file: h5py.File, description: FieldDescription) -> None:
    write_heading(file, description)
    for name, kind, units in (("step", "i8", ""), *((dim, "f8", "s") for dim in description.time_dims)):
        file.create_dataset(name, (0,), kind, maxshape=(None,), chunks=(MOMENTS_CHUNK,))
        file[name].attrs.update(units=units, dims=json.dumps([name]))
    for dim in (*description.coordinates, *description.time_dims):
        file[dim].make_scale(dim)
    for name in description.components:
        _create_component(file, description, name)
        write_component_labels(file, description, name)
    if description.format == "vtkhdf":
        from nearfield.formats.paraview import write_vtkhdf_group

        write_vtkhdf_group(file, description)


def _create_component(file: h5py.File, description: FieldDescription, name: str) -> None:
    order = -1 if description.format == "vtkhdf" else 1
    shape, chunk = description.components[name].shape[::order], description.chunk(name)[::order]
    file.create_dataset(
        name,
        (0, *shape),
        description.dtype,
        maxshape=(None, *shape),
        chunks=(1, *chunk),
        fillvalue=np.nan,
        **description.codec.dataset_options(),
    )


def write_component_labels(file: h5py.File, description: FieldDescription, name: str) -> None:
    """Unit, dims with their scales, and the error bound."""
    component, dataset = description.components[name], file[name]
    time, *space = component.dims
    dims = (time, *(space[::-1] if description.format == "vtkhdf" else space))
    dataset.attrs.update(units=component.units, dims=json.dumps(dims))
    if (bound := description.bound_of(name)) is not None:
        kind = "absolute" if bound.absolute is not None else "relative"
        dataset.attrs[f"{kind}_error_bound"] = getattr(bound, kind)
    for position, dim in enumerate(dims):
        dataset.dims[position].label = dim
        dataset.dims[position].attach_scale(file[dim])
