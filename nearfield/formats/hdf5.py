"""Field files in HDF5: chunks compressed in threads and handed to HDF5 as they are.

Layout (fields_version 1):

    /                        attributes nearfield_version, fields_version, status, title, conventions
    /description             what was planned, as JSON text
    /step                    steps of the committed snapshots: its length is their number
    /time, /time_half        their times (s); H lies half a step later
    /checksums               of steps, times and samples (hdf5_checks.py)
    /x, /x_half, ...         coordinates (m)
    /Ex, ...                 (time, x, y, z), each dim with its scale; with format vtkhdf (time, z, y, x)
    /VTKHDF                  format vtkhdf on even spacing: what ParaView reads

`step` is lengthened last, so after a crash the fields may be longer than it: samples beyond its length are unfinished.
"""

from __future__ import annotations

import itertools
import json
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import h5py
import numpy as np

import nearfield
from nearfield.entry.triples import Triple, triple
from nearfield.formats.binary import moment_bytes
from nearfield.formats.bounds import narrowing_error
from nearfield.formats.checked_pieces import checksum_of
from nearfield.formats.committed import CommittedFile
from nearfield.formats.description import Block, FieldDescription
from nearfield.formats.direct import PAGE, PART
from nearfield.formats.files import FIELDS_VERSION, RUNNING, FieldFile, Moment, refuse_other_fields, too_short
from nearfield.formats.hdf5_checks import CHECKSUMS, columns_of, write_table, write_text
from nearfield.formats.paraview import write_vtkhdf_group, write_xdmf
from nearfield.formats.pieced import box_at
from nearfield.formats.reading import description_of_first
from nearfield.formats.untrusted import refusing
from nearfield.plan.boxes import Box
from nearfield.records.hdf5 import CONVENTIONS

# superblock version 2 has no mark of being open; without a strategy for free space the length of a file depends only
# on its contents; datasets made with the later bound have an extensible array as index of their chunks
CREATED: dict[str, Any] = {"libver": ("v108", "latest"), "fs_strategy": "none"}
EXTENDED: dict[str, Any] = {"libver": ("v110", "latest")}
ALIGNED: dict[str, Any] = {"alignment_threshold": PART, "alignment_interval": PAGE}  # for chunks without a codec
MOMENTS_CHUNK = 1024  # steps or times in a chunk


class Hdf5FieldFile(FieldFile):
    """A field file in HDF5; `threads` compress at the same time."""

    def __init__(
        self, path: str | Path, description: FieldDescription, threads: int = 1, keep: int | None = None
    ) -> None:
        self.threads = threads
        self._pool = ThreadPoolExecutor(threads) if threads > 1 and not description.is_plain else None
        self._h5: Any = None  # the open h5py.File
        self._partial: dict[tuple[str, int, Triple], tuple[np.ndarray, list[int]]] = {}  # chunks, and samples missing
        self._rows: dict[int, np.ndarray] = {}  # checksums of the snapshots that are not committed
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
        # verified: what is damaged may make HDF5 loop without end; a power cut may have damaged what follows
        description, count = description_of_first(self.path, keep)
        refuse_other_fields(self.path, description, self.description)
        if keep > count:
            raise too_short(self.path, count, keep)
        with refusing(self.path):
            self._open()
            self._ready()
        self._h5.attrs.modify("status", RUNNING)
        self._settle()  # first: not complete with fewer snapshots
        self._h5["step"].resize(keep, 0)
        self._settle(parents_first=True)  # samples beyond this length may change from now on
        self._cut(keep)

    def _open(self) -> None:
        self._h5 = h5py.File(self._raw, "r+", **EXTENDED, **(ALIGNED if self.description.is_plain else {}))

    def _ready(self) -> None:
        """Compressors of the chunks, columns of checksums, and the objects whose headers are written last."""
        self._columns = columns_of(self._h5, self.description)
        self._compress = {}
        for name in self.description.components:
            pipeline = self._h5[name].id.get_create_plist()
            count = pipeline.get_nfilters()
            parameters = pipeline.get_filter(count - 1)[2] if count else ()
            self._compress[name] = self.description.codec.compressor(parameters)
        last = [self._h5["VTKHDF/Steps"]] if "VTKHDF" in self._h5 else []
        last += [self._h5["step"], self._h5]
        self._raw.last = tuple(h5py.h5o.get_info(item.id).addr for item in last)

    def _put(self, block: Block) -> None:
        dataset = self._h5[block.component]
        if dataset.shape[0] <= block.snapshot:
            dataset.resize(block.snapshot + 1, 0)
        for index, content in self._contents(block):
            if self._columns:
                row = self._rows.setdefault(block.snapshot, np.zeros(self._columns.count, np.uint32))
                row[self._columns.of(block.component, index)] = self._columns.checksums(content)
            dataset.id.write_direct_chunk((block.snapshot, *index[:: self.description.order]), content)
        self._raw.raise_error()

    def _contents(self, block: Block) -> Iterator[tuple[Triple, Any]]:
        """First sample and bytes of each chunk; threads compress some ahead, few enough to stay in cache."""
        begun: deque[tuple[Triple, Future]] = deque()
        for index, values in self._whole_chunks(block):
            if self._pool is None:
                yield index, self._chunk_bytes(block.component, values)
                continue
            begun.append((index, self._pool.submit(self._chunk_bytes, block.component, values)))
            if len(begun) > 2 * self.threads:
                first, made = begun.popleft()
                yield first, made.result()
        for first, made in begun:
            yield first, made.result()

    def _whole_chunks(self, block: Block) -> Iterator[tuple[Triple, Any]]:
        """First sample and values of the chunks that this block completes; others wait for their rest."""
        chunk = self.description.chunk(block.component)
        whole = box_at((0, 0, 0), self.description.components[block.component].shape)
        spans = zip(block.offset, block.box.upper, chunk)
        ranges = (range(first // size * size, end, size) for first, end, size in spans)
        for index in map(triple, itertools.product(*ranges)):
            extent = box_at(index, chunk).intersection(whole)
            common = extent and extent.intersection(block.box)
            if extent is None or common is None:
                continue
            values: Any = block.part(common)
            if common != extent:
                values = self._joined((block.component, block.snapshot, index), extent, common, values)
            if values is not None:
                yield index, values

    def _joined(self, key: tuple[str, int, Triple], chunk: Box, part: Box, values: Any) -> np.ndarray | None:
        """A chunk that several blocks fill, once it is full."""
        whole, missing = self._partial.setdefault(key, (np.zeros(chunk.shape, values.dtype), [chunk.size]))
        whole[part.slices(chunk.lower)] = values
        missing[0] -= part.size
        if missing[0] > 0:
            return None
        del self._partial[key]
        return whole

    def _chunk_bytes(self, name: str, values: np.ndarray) -> Any:
        """The bytes of a chunk; runs in a thread."""
        return self._compress[name](stored_chunk(values, self.description, name))

    def _commit(self, moments: dict[int, Moment]) -> None:
        first, count = min(moments), max(moments) + 1
        columns: dict[str, list[Any]] = {"step": [step for step, _ in moments.values()]}
        columns |= {dim: [times[dim] for _, times in moments.values()] for dim in self.description.time_dims}
        for name, column in columns.items():
            self._h5[name].resize(count, 0)
            self._h5[name][first:] = column
        if self._columns:
            self._h5[CHECKSUMS].resize(count, 0)
            self._h5[CHECKSUMS][first:] = np.stack([self._row(number, *each) for number, each in moments.items()])
        if "VTKHDF" in self._h5:
            self._h5["VTKHDF/Steps"].attrs.modify("NSteps", np.int64(count))
        self._settle()

    def _row(self, number: int, step: int, times: dict[str, float]) -> np.ndarray:
        """The checksums of a whole snapshot."""
        row = self._rows.pop(number)
        row[0] = checksum_of(moment_bytes(self.description, step, times))
        return row

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
        if self.description.format == "vtkhdf":
            write_xdmf(self.path)

    def _cut(self, count: int) -> None:
        """Shorten every array along time to `count` snapshots."""
        checked = [CHECKSUMS] if self._columns else []
        for name in (*self.description.components, *self.description.time_dims, *checked):
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
    """Samples as a chunk stores them: of its full shape, precision and order, within the error bound."""
    values, chunk, bound = np.asarray(values), description.chunk(name)[:: description.order], description.bound_of(name)
    values = values.transpose((0, 1, 2)[:: description.order])
    if values.shape == chunk and values.dtype == description.dtype and values.flags.c_contiguous:
        stored = values
    else:
        stored = np.empty(chunk, description.dtype)
        if values.shape != chunk:
            stored[...] = 0
        with np.errstate(over="ignore"):  # beyond half precision: infinity
            stored[tuple(map(slice, values.shape))] = values
    if bound is None:
        return stored
    return np.ascontiguousarray(bound.applied(stored, narrowing_error(values.dtype, stored.dtype)))


def label(dataset: h5py.Dataset, units: str, dims: Sequence[str]) -> None:
    """Give a data set its unit and dims."""
    dataset.attrs.update(units=units, dims=json.dumps(dims))


def write_heading(file: h5py.File, description: FieldDescription, status: str = RUNNING) -> None:
    """Write attributes, description and coordinates."""
    file.attrs["status"] = status  # first, so that its text comes to lie right behind the header
    file.attrs["nearfield_version"] = nearfield.__version__
    file.attrs["fields_version"] = FIELDS_VERSION
    file.attrs["title"] = description.title
    file.attrs["conventions"] = CONVENTIONS
    write_text(file, "description", description.to_json())
    for dim, line in description.coordinates.items():
        file.create_dataset(dim, data=np.asarray(line, float))
        label(file[dim], "m", [dim])


def write_arrays(
    file: h5py.File,
    description: FieldDescription,
    add_moments: Callable[[str, str], Any],
    add_component: Callable[[str], Any],
) -> None:
    """Add steps and times (by name and type) and components (by name), with their labels and scales."""
    for name, kind, units in (("step", "i8", ""), *((dim, "f8", "s") for dim in description.time_dims)):
        add_moments(name, kind)
        label(file[name], units, [name])
    for dim in (*description.coordinates, *description.time_dims):
        file[dim].make_scale(dim)
    for name in description.components:
        add_component(name)
        _label_component(file, description, name)
    if description.format == "vtkhdf":
        write_vtkhdf_group(file, description)


def _write_skeleton(file: h5py.File, description: FieldDescription) -> None:
    def add_moments(name: str, kind: str) -> None:
        file.create_dataset(name, (0,), kind, maxshape=(None,), chunks=(MOMENTS_CHUNK,))

    def add_component(name: str) -> None:
        shape, chunk = description.components[name].shape[:: description.order], description.chunk(name)
        sizes = {"shape": (0, *shape), "maxshape": (None, *shape), "chunks": (1, *chunk[:: description.order])}
        options = description.codec.dataset_options()
        file.create_dataset(name, dtype=description.dtype, fillvalue=np.nan, **sizes, **options)

    write_heading(file, description)
    write_arrays(file, description, add_moments, add_component)
    write_table(file, description)


def _label_component(file: h5py.File, description: FieldDescription, name: str) -> None:
    """Unit, dims with their scales, and the error bound."""
    component, dataset = description.components[name], file[name]
    time, *space = component.dims
    dims = (time, *space[:: description.order])
    label(dataset, component.units, dims)
    if (bound := description.bound_of(name)) is not None:
        kind, number = bound.kind
        dataset.attrs[f"{kind}_error_bound"] = number
    for position, dim in enumerate(dims):
        dataset.dims[position].label = dim
        dataset.dims[position].attach_scale(file[dim])
