"""The table of checksums in an HDF5 field file, and what is held against it before samples are read.

    /checksums   (time, columns) uint32, a row a snapshot: that of its step and times, then for each component, chunk
                 after chunk (x slowest), CRC-32C of each 64 KiB of the chunk; one for the whole where there is a codec

The description, and the list of parts that a file joins, have theirs (CRC-32) as an attribute. The root has none of it:
the header of the root is to be one piece with its status (committed.py).
"""

from __future__ import annotations

import itertools
import math
import os
import struct
import zlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from nearfield.entry.hdf5_checksums import damaged
from nearfield.entry.triples import Triple, triple
from nearfield.formats.checked_pieces import PIECE, checksum_of, piece_checksums, pieces_in, runs_of
from nearfield.formats.description import FieldDescription

CHECKSUMS, OF_TEXT = "checksums", "crc32"
TABLE_CHUNK = 1 << 16  # bytes of the table that are written at a time, at most, but for long rows
REFERENCE, COLLECTION, HEAP_OBJECT = struct.Struct("<IQI"), struct.Struct("<4sB3xQ"), struct.Struct("<HH4xQ")
Wanted = Sequence[np.ndarray]  # snapshots, and indices along x, y and z


class Columns:
    """Where the checksums of a chunk lie in the row of its snapshot."""

    def __init__(self, description: FieldDescription) -> None:
        self.plain, self.count = description.is_plain, 1
        self._first: dict[str, int] = {}
        self._chunk: dict[str, Triple] = {}
        self._grid: dict[str, Triple] = {}
        self._each: dict[str, int] = {}
        for name, component in description.components.items():
            chunk = description.chunk(name)
            grid = triple(-(-n // size) for n, size in zip(component.shape, chunk))
            bytes_each = math.prod(chunk) * description.dtype.itemsize
            self._first[name], self._chunk[name], self._grid[name] = self.count, chunk, grid
            self._each[name] = pieces_in(bytes_each) if self.plain else 1
            self.count += math.prod(grid) * self._each[name]

    @property
    def rows(self) -> int:
        """Rows of the table in one of its chunks."""
        return max(1, min(1024, TABLE_CHUNK // (4 * self.count)))

    def of(self, name: str, index: Triple) -> slice:
        """The columns of the chunk whose first sample is `index`."""
        x, y, z = (first // size for first, size in zip(index, self._chunk[name]))
        _, ny, nz = self._grid[name]
        begin = self._first[name] + ((x * ny + y) * nz + z) * self._each[name]
        return slice(begin, begin + self._each[name])

    def checksums(self, content: Any) -> np.ndarray:
        """The checksums of a chunk's bytes."""
        return piece_checksums(content) if self.plain else np.array([checksum_of(content)], np.uint32)


def write_table(file: Any, description: FieldDescription) -> None:
    """Add the table to a file without snapshots."""
    columns = Columns(description)
    sizes: dict[str, Any] = {"maxshape": (None, columns.count), "chunks": (columns.rows, columns.count)}
    table = file.create_dataset(CHECKSUMS, (0, columns.count), "<u4", **sizes)
    table.attrs["algorithm"], table.attrs["piece_bytes"] = "CRC-32C", PIECE if columns.plain else 0


def columns_of(file: Any, description: FieldDescription) -> Columns | None:
    """The columns of a file's table; None: an earlier version wrote it, without one."""
    if CHECKSUMS not in file:
        return None
    columns = Columns(description)
    if file[CHECKSUMS].shape[1] != columns.count:
        raise ValueError("its table of checksums does not fit its description")
    return columns


def write_text(file: Any, name: str, text: str) -> None:
    """Add a text with its checksum."""
    file[name] = text
    file[name].attrs[OF_TEXT] = np.uint32(zlib.crc32(text.encode()))


def verified_text(file: Any, name: str) -> str:
    """A text in the file. Error, `ModelError`: it is not the one that was written."""
    data = file[name]
    content, known = text_bytes(file.filename, data.id.get_offset()), data.attrs.get(OF_TEXT)
    if content is None or (known is not None and int(known) != zlib.crc32(content)):
        raise damaged(file.filename, f"its {name}")
    return content.decode()


def text_bytes(path: str, offset: int | None) -> bytes | None:
    """A text by the place of its reference, read past HDF5: its heap has no checksum, and one with a free object of no
    size makes HDF5 loop without end. None: the reference or the heap, all of which is looked at, is damaged.

    HDF5 File Format Specification 3.0, III.E: a collection is "GCOL", version, size, and then objects, each with a
    header of number, count, and bytes of what follows, up to the next multiple of eight.
    """
    if offset is None:
        return None
    with open(path, "rb") as file:

        def read(at: int, layout: struct.Struct) -> tuple[Any, ...]:
            file.seek(at)
            return layout.unpack(file.read(layout.size))

        try:
            length, heap, wanted = read(offset, REFERENCE)
            mark, _, size = read(heap, COLLECTION)
            at, end, found = heap + COLLECTION.size, heap + size, None
            while mark == b"GCOL" and end - at >= HEAP_OBJECT.size:
                number, _, count = read(at, HEAP_OBJECT)
                if number == wanted and length == count:
                    found = file.read(length)
                if not number:  # what is free, its header with it, up to the end
                    return found if at + count == end else None
                at += HEAP_OBJECT.size + -(-count // 8) * 8
            return found if 0 <= end - at < HEAP_OBJECT.size else None
        except (struct.error, OSError, OverflowError, ValueError):  # places that no file has, or past its end
            pass
    return None


def verify_moments(file: Any, steps: np.ndarray, times: Sequence[np.ndarray]) -> None:
    """Error, `ModelError`: steps or times are not those that were written."""
    if CHECKSUMS not in file or not len(steps):
        return
    whole = np.stack([steps.astype("<i8").view("<u8"), *(each.astype("<f8").view("<u8") for each in times)], axis=1)
    found = piece_checksums(np.ascontiguousarray(whole).view(np.uint8).reshape(-1), 8 * whole.shape[1])
    wrong = np.flatnonzero(found != file[CHECKSUMS][: len(steps), 0])
    if wrong.size:
        raise damaged(file.filename, f"step and time of snapshot {wrong[0]}")


def verify_samples(file: Any, description: FieldDescription, name: str, wanted: Wanted) -> None:
    """Error, `ModelError`: the bytes that hold these samples are not those that were written."""
    columns = columns_of(file, description)
    if columns is None or not all(each.size for each in wanted):
        return
    table, data = file[CHECKSUMS], file[name]
    parts = list(_parts(description, name, wanted[1:]))
    first, last = columns.of(name, parts[0][0]).start, columns.of(name, parts[-1][0]).stop
    descriptor = os.open(file.filename, os.O_RDONLY)
    try:
        for number in wanted[0].tolist():
            known = table[number, first:last]
            for index, runs in parts:
                mine = columns.of(name, index)
                of_chunk = known[mine.start - first : mine.stop - first]
                at = (number, *index[:: description.order])
                right = (
                    _is_right(data, descriptor, at, runs, of_chunk)
                    if columns.plain
                    else (checksum_of(data.id.read_direct_chunk(at)[1]) == of_chunk[0])
                )
                if not right:
                    raise damaged(file.filename, f"{name} of snapshot {number}")
    finally:
        os.close(descriptor)


def _parts(description: FieldDescription, name: str, wanted: Wanted) -> Iterator[tuple[Triple, list[tuple[int, int]]]]:
    """First sample of each chunk that holds wanted samples, and the runs of its pieces that do."""
    chunk, order = description.chunk(name), description.order
    numbers = [np.unique(each // size) for each, size in zip(wanted, chunk)]
    for place in itertools.product(*(each.tolist() for each in numbers)):
        inside = [each[each // size == n] - n * size for each, size, n in zip(wanted, chunk, place)]
        runs = runs_of(chunk[::order], description.dtype.itemsize, inside[::order])
        yield triple(n * size for n, size in zip(place, chunk)), runs


def _is_right(data: Any, descriptor: int, at: tuple[int, ...], runs: list[tuple[int, int]], known: np.ndarray) -> bool:
    """Whether runs of pieces of a chunk without a codec, read past HDF5, have the known checksums."""
    place = data.id.get_chunk_info_by_coord(at)
    if place.byte_offset is None:
        return False
    for first, last in runs:
        count = min(last * PIECE, place.size) - first * PIECE
        content = os.pread(descriptor, count, place.byte_offset + first * PIECE)
        if len(content) < count or (piece_checksums(content) != known[first:last]).any():
            return False
    return True
