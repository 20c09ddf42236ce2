"""Field files of raw numbers behind a small header, which `numpy.memmap` reads in one line.

Little endian throughout. The header is H bytes long, a multiple of 4096:

    0    8 bytes   NFFIELDS
    8    uint32    version, 1
    12   uint32    H
    16   uint64    committed snapshots
    24   200 bytes status, UTF-8, filled with zeros
    224  H - 224   JSON: the description, and `record`, NumPy's description of one snapshot's type

Then one record a snapshot: step (int64), its times (float64), each component in C order (x, y, z).
"""

from __future__ import annotations

import itertools
import json
import struct
from pathlib import Path

import numpy as np

from nearfield.entry.errors import ModelError
from nearfield.formats.description import Block, FieldDescription
from nearfield.formats.direct import PART
from nearfield.formats.files import RUNNING, FixedFieldFile, FixedLayout

MAGIC, VERSION = b"NFFIELDS", 1
START = struct.Struct("<8sIIQ200s")
COMMITTED_AT, STATUS_AT, STATUS_BYTES = 16, 24, 200
PAGE = 4096


def record_type(description: FieldDescription) -> np.dtype:
    """The NumPy type of one snapshot: step, times, components."""
    moments = [("step", "<i8"), *((dim, "<f8") for dim in description.time_dims)]
    fields = [(name, description.dtype.str, item.shape) for name, item in description.components.items()]
    return np.dtype([*moments, *fields])


def snapshot_bytes(description: FieldDescription) -> int:
    return record_type(description).itemsize


def header(description: FieldDescription) -> bytes:
    """The header of a file without snapshots."""
    data = json.loads(description.to_json())
    text = json.dumps({**data, "record": record_type(description).descr}).encode()
    count = -(-(START.size + len(text)) // PAGE) * PAGE
    return (START.pack(MAGIC, VERSION, count, 0, RUNNING.encode()) + text).ljust(count)


def read_header(path: Path) -> tuple[FieldDescription, int, str, int]:
    """Description, committed snapshots, status and length of the header. Error: `ModelError`."""
    with path.open("rb") as file:
        try:
            magic, version, count, committed, status = START.unpack(file.read(START.size))
            if magic != MAGIC or version != VERSION:
                raise ValueError(f"it begins with {magic!r}, version {version}")
            text = file.read(max(count - START.size, 0)).decode()
            description = FieldDescription.from_json(text)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError, struct.error) as error:
            raise ModelError(f"{path} cannot be read as a binary field file ({error})") from error
    return description, committed, status.rstrip(b"\0").decode(errors="replace"), count


def moment_bytes(description: FieldDescription, step: int, times: dict[str, float]) -> bytes:
    """Step and times, with which a snapshot begins."""
    return struct.pack(f"<q{len(times)}d", step, *(times[dim] for dim in description.time_dims))


def status_bytes(status: str) -> bytes:
    """The status as it stands in the header."""
    return status.encode()[:STATUS_BYTES].ljust(STATUS_BYTES, b"\0")


LAYOUT = FixedLayout(
    header, read_header, snapshot_bytes, moment_bytes, status_bytes, STATUS_AT, struct.Struct("<Q").pack, COMMITTED_AT
)


class BinaryFieldFile(FixedFieldFile):
    """A raw binary field file."""

    layout = LAYOUT

    def _put(self, block: Block) -> None:
        """Write runs of samples that lie together in the file."""
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
            self._file.stream_at(begin + int(place @ strides), values.data)
