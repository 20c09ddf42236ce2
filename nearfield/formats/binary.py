"""Field files of raw numbers behind a small header, which `numpy.memmap` reads in one line.

Little endian throughout. The header is H bytes long, a multiple of 4096:

    0    8 bytes   NFFIELDS
    8    uint32    version, 2
    12   uint32    H
    16   uint64    committed snapshots
    24   200 bytes status, UTF-8, filled with zeros
    224  H - 224   JSON: the description, `record`, NumPy's description of one snapshot's type, `crc32` of the text

Then one record a snapshot: step (int64), its times (float64), each component in C order (x, y, z), `crc32c` (uint32):
CRC-32C of step and times, then of each 64 KiB of each component. Files of version 1 have none.
"""

from __future__ import annotations

import itertools
import json
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from nearfield.entry.errors import ModelError
from nearfield.entry.hdf5_checksums import damaged
from nearfield.formats.checked_pieces import PIECE, Gathered, piece_checksums, pieces_in, runs_of, sealed, unsealed
from nearfield.formats.description import Block, FieldDescription
from nearfield.formats.direct import PART
from nearfield.formats.files import RUNNING, FixedFieldFile, FixedLayout

MAGIC, VERSION, UNCHECKED = b"NFFIELDS", 2, 1
CHECKSUMS = "crc32c"
START = struct.Struct("<8sIIQ200s")
COMMITTED_AT, STATUS_AT, STATUS_BYTES = 16, 24, 200
PAGE = 4096


def record_type(description: FieldDescription, version: int = VERSION) -> np.dtype:
    """The NumPy type of one snapshot: step, times, components, checksums."""
    moments = [("step", "<i8"), *((dim, "<f8") for dim in description.time_dims)]
    fields = [(name, description.dtype.str, item.shape) for name, item in description.components.items()]
    count = 1 + sum(pieces_of(description).values())
    return np.dtype([*moments, *fields, *[(CHECKSUMS, "<u4", (count,))] * (version != UNCHECKED)])


def pieces_of(description: FieldDescription) -> dict[str, int]:
    """Checksums of each component in a snapshot."""
    return {name: pieces_in(component_bytes(description, name)) for name in description.components}


def component_bytes(description: FieldDescription, name: str) -> int:
    """Bytes of a component in a snapshot."""
    return description.components[name].samples * description.dtype.itemsize


def snapshot_bytes(description: FieldDescription) -> int:
    return record_type(description).itemsize


def header(description: FieldDescription) -> bytes:
    """The header of a file without snapshots."""
    data = json.loads(description.to_json())
    text = sealed(json.dumps({**data, "record": record_type(description).descr})).encode()
    count = -(-(START.size + len(text)) // PAGE) * PAGE
    return (START.pack(MAGIC, VERSION, count, 0, RUNNING.encode()) + text).ljust(count)


def read_header(path: Path) -> tuple[FieldDescription, int, str, int]:
    """Description, committed snapshots, status, length of the header of a file to go on with. Error: `ModelError`."""
    description, committed, status, begin, version = read_any_header(path)
    if version == UNCHECKED:
        raise ModelError(f"{path} was begun by a version that wrote no checksums; run from the start")
    return description, committed, status, begin


def read_any_header(path: Path) -> tuple[FieldDescription, int, str, int, int]:
    """Description, committed snapshots, status, length of the header, and version. Error: `ModelError`."""
    with path.open("rb") as file:
        try:
            magic, version, count, committed, status = START.unpack(file.read(START.size))
            if magic != MAGIC or version not in (VERSION, UNCHECKED):
                raise ValueError(f"it begins with {magic!r}, version {version}")
            text = unsealed(file.read(max(count - START.size, 0)).decode())
            description = FieldDescription.from_json(text)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError, struct.error) as error:
            raise ModelError(f"{path} cannot be read as a binary field file ({error})") from error
    return description, committed, status.rstrip(b"\0").decode(errors="replace"), count, version


def moment_bytes(description: FieldDescription, step: int, times: dict[str, float]) -> bytes:
    """Step and times, with which a snapshot begins."""
    return struct.pack(f"<q{len(times)}d", step, *(times[dim] for dim in description.time_dims))


def status_bytes(status: str) -> bytes:
    """The status as it stands in the header."""
    return status.encode()[:STATUS_BYTES].ljust(STATUS_BYTES, b"\0")


LAYOUT = FixedLayout(
    header, read_header, snapshot_bytes, status_bytes, STATUS_AT, struct.Struct("<Q").pack, COMMITTED_AT
)
Key = tuple[int, str]  # snapshot and component


class BinaryFieldFile(FixedFieldFile):
    """A raw binary field file."""

    layout = LAYOUT

    def __init__(self, path: str | Path, description: FieldDescription, keep: int | None = None) -> None:
        self._found: dict[Key, np.ndarray] = {}  # checksums of whole components
        self._partial: dict[Key, tuple[np.ndarray, list[int]]] = {}  # components of several blocks, and samples missing
        super().__init__(path, description, keep)

    def _put(self, block: Block) -> None:
        """Write runs of samples that lie together in the file."""
        key = block.snapshot, block.component
        whole = block.values.shape == self.description.components[block.component].shape
        made = Gathered(component_bytes(self.description, block.component))
        for place, values in self._runs(block):
            self._file.stream_at(place, values.data)
            if whole:
                made.add(values.data)
        if whole:
            self._found[key] = made.found
        else:
            self._join(key, block)

    def _join(self, key: Key, block: Block) -> None:
        """Keep a block until the whole component is there."""
        component = self.description.components[block.component]
        whole, missing = self._partial.setdefault(
            key, (np.empty(component.shape, self.description.dtype), [component.samples])
        )
        with np.errstate(over="ignore"):
            whole[block.box.slices()] = block.values
        missing[0] -= block.values.size
        if missing[0] <= 0:
            self._found[key] = piece_checksums(whole.data)
            del self._partial[key]

    def _write_moment(self, number: int, step: int, times: dict[str, float]) -> None:
        place, moment = self._place(number), moment_bytes(self.description, step, times)
        parts = [self._found.pop((number, name)) for name in self.description.components]
        found = np.concatenate([piece_checksums(moment), *parts]).astype("<u4")
        self._file.write_at(place, moment)
        self._file.write_at(place + snapshot_bytes(self.description) - found.nbytes, found.data)

    def _discard(self) -> None:
        self._partial.clear()

    def _runs(self, block: Block) -> Iterator[tuple[int, np.ndarray]]:
        """Place in the file and samples of each run."""
        record = record_type(self.description)
        assert record.fields is not None
        type_, first = record.fields[block.component][:2]
        shape, given = self.description.components[block.component].shape, block.values.shape
        strides = np.array([shape[1] * shape[2], shape[2], 1]) * type_.base.itemsize
        axis = next((axis for axis in range(2) if given[axis + 1 :] == shape[axis + 1 :]), 2)  # whole behind it
        count = max(PART // int(strides[axis]), 1)
        begin = self._place(block.snapshot) + first
        for index in itertools.product(*map(range, given[:axis]), range(0, given[axis], count)):
            box = (*(slice(n, n + 1) for n in index[:-1]), slice(index[-1], index[-1] + count))
            box += (slice(None),) * (2 - axis)
            place = np.array([*index, *(0,) * (2 - axis)]) + block.offset
            with np.errstate(over="ignore"):  # beyond half precision: infinity
                values = np.ascontiguousarray(block.values[box], self.description.dtype)
            yield begin + int(place @ strides), values


def verify_moments(path: Path, description: FieldDescription, table: np.ndarray) -> None:
    """Error, `ModelError`: steps or times of the records are not those that were written."""
    if CHECKSUMS not in (table.dtype.names or ()) or not len(table):
        return
    names = ("step", *description.time_dims)
    whole = np.stack([np.array(table[name]).view("<u8") for name in names], axis=1)
    found = piece_checksums(whole.view(np.uint8).reshape(-1), 8 * len(names))
    if (wrong := np.flatnonzero(found != table[CHECKSUMS][:, 0])).size:
        raise damaged(str(path), f"step and time of snapshot {wrong[0]}")


def verify_samples(
    path: Path, description: FieldDescription, table: np.ndarray, name: str, wanted: Sequence[np.ndarray]
) -> None:
    """Error, `ModelError`: samples of some snapshots, and indices along x, y and z, are not those that were written."""
    if CHECKSUMS not in (table.dtype.names or ()) or not all(each.size for each in wanted):
        return
    counts = pieces_of(description)
    begin = 1 + sum(count for other, count in counts.items() if before(counts, other, name))
    runs = runs_of(description.components[name].shape, description.dtype.itemsize, wanted[1:])
    for number in wanted[0].tolist():
        content: Any = table[name][number].reshape(-1).view(np.uint8)
        known = table[CHECKSUMS][number, begin : begin + counts[name]]
        for first, last in runs:
            if (piece_checksums(content[first * PIECE : last * PIECE]) != known[first:last]).any():
                raise damaged(str(path), f"{name} of snapshot {number}")


def before(names: dict[str, int], one: str, other: str) -> bool:
    """Whether one name comes before another."""
    order = list(names)
    return order.index(one) < order.index(other)
