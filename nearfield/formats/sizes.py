"""The bytes of field files, predicted before the run: to the byte where nothing is compressed.

Raw binary and text have records of fixed length. An HDF5 file is written by HDF5 itself into memory, without most of
its samples, so that its index is counted too; beyond `COUNTED_CHUNKS` chunks that takes long, and an upper bound of
the index is used.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from nearfield.entry.errors import NoRoom
from nearfield.formats import ascii as text_format
from nearfield.formats import binary
from nearfield.formats.codecs import NO_CODEC
from nearfield.formats.description import FieldDescription
from nearfield.formats.direct import PAGE
from nearfield.formats.hdf5_checks import CHECKSUMS, Columns

COUNTED_CHUNKS = 100_000
INDEX_HEAD, INDEX_BLOCK = 4, 16  # entries of HDF5's extensible array in its first block, and at least in each other
INDEX_BYTES = 40  # most bytes that HDF5's index takes for a chunk: 16, and room for as many again


@dataclass(frozen=True)
class PredictedSize:
    """Bytes of a field file: `exact`, or an upper bound."""

    bytes: int
    exact: bool

    def __add__(self, other: PredictedSize) -> PredictedSize:
        return PredictedSize(self.bytes + other.bytes, self.exact and other.exact)

    def __str__(self) -> str:
        return f"{'' if self.exact else 'at most '}{readable(self.bytes)}"


def predicted_size(description: FieldDescription) -> PredictedSize:
    """Bytes of the file when all planned snapshots are in it."""
    if description.is_hdf5:
        return _hdf5_size(description)
    layout = binary.LAYOUT if description.format == "binary" else text_format.LAYOUT
    size = len(layout.header(description)) + description.snapshots * layout.snapshot_bytes(description)
    return PredictedSize(size, True)


def refuse_full_disk(folder: str | Path, sizes: Iterable[PredictedSize], advice: str = "") -> None:
    """Raise `NoRoom` if files of these sizes do not fit on the disk of the folder, which need not exist yet."""
    needed, free = sum(sizes, PredictedSize(0, True)), free_bytes(folder)
    if needed.bytes > free:
        raise NoRoom(
            f"the recorded fields will take {needed}, but {folder} has {readable(free)} free; record a smaller box, "
            f"fewer snapshots or less precision, compress them, or choose another folder with --output{advice}"
        )


def free_bytes(folder: str | Path) -> int:
    """Bytes that this user may still write in the folder, or in the nearest one above it that exists."""
    path = Path(folder).absolute()
    disk = os.statvfs(next(place for place in (path, *path.parents) if place.exists()))
    return disk.f_bavail * disk.f_frsize


def readable(count: float) -> str:
    """`12.3 GB`; powers of 1000."""
    units = ("bytes", "kB", "MB", "GB", "TB", "PB")
    power = min(max(len(f"{count:.0f}") - 1, 0) // 3, len(units) - 1)
    return f"{count / 1000**power:.3g} {units[power]}"


def chunks(description: FieldDescription) -> dict[str, int]:
    """HDF5 chunks of each component in one snapshot."""
    shapes = {name: (item.shape, description.chunk(name)) for name, item in description.components.items()}
    return {name: math.prod(-(-n // size) for n, size in zip(*pair)) for name, pair in shapes.items()}


def _hdf5_size(description: FieldDescription) -> PredictedSize:
    counts = chunks(description)
    samples = sum(count * math.prod(description.chunk(name)) for name, count in counts.items())  # with padding
    total, per_snapshot = description.snapshots * sum(counts.values()), samples * description.dtype.itemsize
    counted = description.snapshots if total <= COUNTED_CHUNKS else COUNTED_CHUNKS // sum(counts.values())
    size = _imagined_size(replace(description, codec=NO_CODEC, bound=None, snapshots=counted))
    left = description.snapshots - counted
    if left:
        moments = 8 * (1 + len(description.time_dims)) * (left + 1024)
        checks = Columns(replace(description, codec=NO_CODEC, bound=None))
        moments += 4 * checks.count * (left + checks.rows) + INDEX_BYTES * (left // checks.rows + 1)
        size += left * per_snapshot + INDEX_BYTES * (total + 1000) + moments
    if description.codec == NO_CODEC and description.bound is None:
        return PredictedSize(size, not left)
    # incompressible samples grow: by less than 1 / 128 and some bytes a chunk in each of the codecs
    return PredictedSize(size + description.snapshots * per_snapshot // 128 + (512 + INDEX_BYTES) * total + PAGE, False)


def _imagined_size(description: FieldDescription) -> int:
    from nearfield.formats.hdf5 import MOMENTS_CHUNK, Hdf5FieldFile

    class ImaginedFieldFile(Hdf5FieldFile):
        """A file that HDF5 writes without most of its samples."""

        def _claimed(self, existing: bool) -> Any:
            return imagined

        def fill(self) -> int:
            """Touch every block of the index of chunks, and return the bytes of the chunks that were left out."""
            count = self.description.snapshots
            for name in ("step", *self.description.time_dims):
                self._h5[name].resize(count, 0)
                for first in range(0, count, MOMENTS_CHUNK):
                    self._h5[name][first] = 1
            self._h5[CHECKSUMS].resize(count, 0)
            for first in range(0, count, self._h5[CHECKSUMS].chunks[0]):
                self._h5[CHECKSUMS][first] = 1
            self.tally.complete = self.committed = count
            return sum(self._touch(self._h5[name], count) for name in self.description.components)

        def _touch(self, dataset: Any, count: int) -> int:
            dataset.resize(count, 0)
            grid = [count, *(-(-n // size) for n, size in zip(dataset.shape[1:], dataset.chunks[1:]))]
            total, empty = math.prod(grid), np.zeros(math.prod(dataset.chunks) * dataset.dtype.itemsize, np.uint8)
            touched = [0, *range(INDEX_HEAD, total, INDEX_BLOCK)] if total else []
            for number in touched:
                index = np.unravel_index(number, grid)
                dataset.id.write_direct_chunk(tuple(int(i * n) for i, n in zip(index, dataset.chunks)), empty)
            return (total - len(touched)) * empty.nbytes

        def _view_for_paraview(self) -> None:
            """Write no XDMF: there is no file to point at."""

    imagined = ImaginedFile()
    file = ImaginedFieldFile("imagined", description)
    left = file.fill()
    file.close()
    return imagined.size + left


class ImaginedFile:
    """A file in memory that keeps only pages with something other than zeros."""

    descriptor = 0

    def __init__(self) -> None:
        self.size = 0
        self._pages: dict[int, bytearray] = {}

    def write_at(self, offset: int, content: memoryview | bytes) -> None:
        """Keep the content unless it is long and zero."""
        self.size = max(self.size, offset + len(content))
        if len(content) >= 512 and not np.frombuffer(content, np.uint8).any():
            return  # samples, or a fresh block: pages that were never written read as zeros too
        while len(content):
            page, at = divmod(offset, PAGE)
            part = content[: PAGE - at]
            self._pages.setdefault(page, bytearray(PAGE))[at : at + len(part)] = part
            content, offset = content[len(part) :], offset + len(part)

    stream_at = write_at

    def read_at(self, offset: int, count: int) -> bytes:
        """The bytes there, zeros where nothing was kept."""
        first, last = offset // PAGE, (offset + count) // PAGE
        whole = b"".join(self._pages.get(page, bytes(PAGE)) for page in range(first, last + 1))
        return whole[offset - first * PAGE :][:count]

    def truncate(self, size: int) -> None:
        self.size = size

    def flush(self) -> None:
        """Do nothing: there is no disk."""

    show = drop = settle = close = refuse_removed = flush
