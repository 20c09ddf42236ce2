"""Checksums of every byte of a result file, behind its HDF5 part, which HDF5 and other readers do not see.

    HDF5 | table, JSON: {"end": bytes of HDF5, "data": {name: [first byte, bytes, crc32]}, "rest": crc32} | footer

Numbers lie in runs of bytes, one a data set, verified when they are read. The rest (headers, names, texts) is
verified before HDF5 looks at it: a header that was damaged can make HDF5 loop without end or crash.
"""

from __future__ import annotations

import contextlib
import json
import os
import struct
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO

import h5py

from nearfield.entry.errors import DamagedError, ModelError
from nearfield.entry.file_trial import refuse_unreadable
from nearfield.entry.whole_file import PatientFile, filled_hdf5, replacing

MAGIC = b"NEARFIELD CRC-32"
FOOTER = struct.Struct("<QI16s")  # bytes of the table, its crc32, the magic
ATTRIBUTE = "checksums"  # of the root: tells a file that has lost its table from one that never had one
PART = 1 << 20  # bytes read at a time
Span = tuple[int, int]  # first byte, number of bytes
State = tuple[int, int, int, int]  # tells apart what a path held at several times


@dataclass(frozen=True)
class Checksums:
    """The table of one file: `data` gives (first byte, bytes, crc32) by the name of the data set."""

    path: str
    data: dict[str, tuple[int, int, int]]

    def verify(self, name: str) -> None:
        """Compare a data set with what was written. Error: `ModelError`."""
        if name in self.data:
            _verified(self.path, name, self.data[name], state_of(self.path))


def spans(file: h5py.File) -> dict[str, Span]:
    """Where the numbers of each data set lie; texts, which HDF5 keeps elsewhere, have no place of their own."""
    found: dict[str, Span] = {}

    def note(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset) and not h5py.check_string_dtype(item.dtype):
            first, count = item.id.get_offset(), item.id.get_storage_size()
            if first is not None and count:
                found[f"/{name}"] = first, count

    file.visititems(note)
    return found


@contextlib.contextmanager
def written(path: Path, **options: Any) -> Iterator[h5py.File]:
    """An HDF5 file to fill, with checksums of all of it, which takes the place of `path` when all went well.

    Error: OSError, in the disk's words.
    """
    with replacing(path) as part, PatientFile(part) as raw:
        with filled_hdf5(raw, **options) as file:
            file.attrs[ATTRIBUTE] = "crc32"
            yield file
            data = spans(file)
        append(raw, data)
        raw.settle()


def append(file: BinaryIO, data: dict[str, Span]) -> None:
    """Write the table behind an HDF5 file that is open for reading and writing."""
    end = file.seek(0, os.SEEK_END)
    table = {
        "end": end,
        "data": {name: [*span, crc32(file, [span])] for name, span in data.items()},
        "rest": crc32(file, between(data.values(), end)),
    }
    text = json.dumps(table).encode()
    file.seek(end)
    file.write(text + FOOTER.pack(len(text), zlib.crc32(text), MAGIC))


def crc32(file: BinaryIO, parts: Iterable[Span]) -> int:
    """The checksum of some runs of bytes, one after the other; a file that is too short changes it."""
    checksum = 0
    for first, count in parts:
        file.seek(first)
        while count > 0 and (content := file.read(min(count, PART))):
            checksum, count = zlib.crc32(content, checksum), count - len(content)
        checksum = checksum if count == 0 else ~checksum & 0xFFFFFFFF
    return checksum


def between(taken: Iterable[Span], end: int) -> list[Span]:
    """The runs of bytes up to `end` that the given ones leave."""
    left, at = [], 0
    for first, count in sorted(taken):
        left.append((at, first - at))
        at = max(at, first + count)
    return [*left, (at, end - at)]


def state_of(path: str) -> State:
    """What changes when a file is replaced or written to."""
    status = os.stat(path)
    return status.st_dev, status.st_ino, status.st_mtime_ns, status.st_size


def checksums_of(path: str) -> Checksums | None:
    """The table of a file whose bytes outside of data sets are as they were written; None without a table.

    Errors: `ModelError` for a damaged file, `OSError`.
    """
    return _checksums(path, state_of(path))


@lru_cache(maxsize=32)
def _checksums(path: str, state: State) -> Checksums | None:
    with open(path, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - FOOTER.size))
        footer = file.read(FOOTER.size)
        if len(footer) < FOOTER.size or not footer.endswith(MAGIC):
            return None
        count, checksum, _ = FOOTER.unpack(footer)
        first = size - FOOTER.size - count
        if first < 0 or crc32(file, [(first, count)]) != checksum:
            raise damaged(path, "its table of checksums")
        file.seek(first)
        table = json.loads(file.read(count))
        data = {name: (int(at), int(length), int(known)) for name, (at, length, known) in table["data"].items()}
        rest = between([entry[:2] for entry in data.values()], table["end"])
        if table["end"] != first or crc32(file, rest) != table["rest"]:
            raise damaged(path, "its headers")
    return Checksums(path, data)


@lru_cache(maxsize=4096)
def _verified(path: str, name: str, entry: tuple[int, int, int], state: State) -> None:
    first, count, known = entry
    with open(path, "rb") as file:
        if crc32(file, [(first, count)]) != known:
            raise damaged(path, name)


def damaged(path: str, where: str) -> DamagedError:
    """The refusal of a file whose bytes have changed."""
    return DamagedError(
        f"{path} is damaged at {where}: the bytes there are not those that were written (their checksum differs); "
        "bring back a copy of the file, or run its model again"
    )


@contextlib.contextmanager
def opened(path: str | Path, advice: str) -> Iterator[h5py.File]:
    """An HDF5 file that HDF5 can read, of which `verify` refuses numbers that were changed.

    Errors: `ModelError` for one whose headers are damaged, `OSError` and what h5py raises.
    """
    known = checksums_of(str(path))
    if known is None:  # of another program, or an earlier version: nothing tells damage before HDF5 does
        refuse_unreadable(path, "hdf5", advice)
    with h5py.File(path, "r") as file:
        if known is None and ATTRIBUTE in file.attrs:
            raise ModelError(
                f"{path} has lost its checksums: it was cut, damaged at its end, or another program has written into "
                "it; bring back a copy of the file, or run its model again. If the change was meant, remove the "
                f"attribute {ATTRIBUTE!r} of its root, and it is read without them"
            )
        yield file


def verified(data: h5py.Dataset) -> h5py.Dataset:
    """A data set whose bytes are those that were written, or whose file does not say. Errors: those of `opened`."""
    if data.is_virtual or data.external:
        raise ModelError(f"{data.file.filename}: {data.name} takes its numbers from other files, which is not followed")
    if table := checksums_of(data.file.filename):
        table.verify(data.name)
    return data


def refuse_links(file: h5py.File) -> None:
    """Error: a name in the file stands for something in another file, or for another name."""

    links: list[str] = []
    file.visititems_links(lambda name, link: None if isinstance(link, h5py.HardLink) else links.append(name))
    if links:
        raise ModelError(
            f"{file.filename}: {links[0]} is a link to somewhere else, which no file of Nearfield has and which is not "
            "followed; give the file that a run wrote"
        )
