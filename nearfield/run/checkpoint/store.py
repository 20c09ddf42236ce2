"""Files of a checkpoint: plain arrays one after the other, and a manifest with the place of each.

    checkpoint-1200/
        manifest.json      {"crc32": of all that follows, "format": 2, ...}
        rank-0.bin         16 bytes of magic, then the arrays of `files["rank-0.bin"]["arrays"]`, contiguous

Of an array with an entry "kept" a bit for each sample of its last three axes comes first, in the order of its axes, and
then the samples whose bit is set, so many for each index of the leading axes; all others are zero.

The manifest has a checksum of each chunk of 1 MiB of every file, so that every byte of a checkpoint is verified.
"""

from __future__ import annotations

import math
import mmap
import os
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from nearfield.entry.triples import Triple
from nearfield.entry.untrusted_file import open_ordinary
from nearfield.formats.direct import DirectWriter, write_all
from nearfield.plan.boxes import Box
from nearfield.run.checkpoint.manifest import CHUNK, Damaged, bytes_of_bits
from nearfield.run.checkpoint.pieces import Piece

MAGIC = b"NEARFIELD ARRAYS"


class ChunkedFile:
    """A file written from one end to the other, with the checksum of each chunk."""

    def __init__(self, path: Path) -> None:
        self._file, self._chunk, self._filled = open(path, "xb", buffering=0), mmap.mmap(-1, CHUNK), 0
        self._direct = DirectWriter(self._file.fileno())
        self.crc32: list[int] = []
        self.bytes = 0

    def write(self, content: memoryview) -> None:
        """Append; a chunk is written when it is full."""
        self.bytes += len(content)
        while len(content):
            part = content[: CHUNK - self._filled]
            self._chunk[self._filled : self._filled + len(part)] = part
            self._filled += len(part)
            content = content[len(part) :]
            if self._filled == CHUNK:
                self._flush()

    def _flush(self) -> None:
        content, at = memoryview(self._chunk)[: self._filled], len(self.crc32) * CHUNK
        self.crc32.append(zlib.crc32(content))
        if not self._direct.write(at, content):
            write_all(self._file.fileno(), at, content)
        self._filled = 0

    def __enter__(self) -> ChunkedFile:
        return self

    def __exit__(self, kind: type | None, *error: object) -> None:
        try:
            if kind is None:
                if self._filled:
                    self._flush()
                self._direct.flush()
                os.fsync(self._file.fileno())
        finally:
            self._direct.close()
            self._file.close()


def write_arrays(path: Path, pieces: Iterable[Piece]) -> dict[str, Any]:
    """Write pieces to a file, down to the disk; returns its entry in the manifest. Error: `OSError`."""
    arrays = []
    with ChunkedFile(path) as file:
        file.write(memoryview(MAGIC))
        for piece in pieces:
            values = piece.values
            order = sorted(range(values.ndim), key=lambda axis: -abs(values.strides[axis]))  # as it lies in memory
            lower = piece.lower and [int(n) for n in piece.lower]
            place = {"shape": list(values.shape), "order": order, "lower": lower, "at": file.bytes}
            if piece.kept is None:
                laid = values.transpose(order)
            else:
                laid = values.reshape(*values.shape[:-3], -1)[..., np.flatnonzero(piece.kept)]
                place |= {"order": list(range(values.ndim)), "kept": laid.shape[-1]}
                file.write(np.packbits(piece.kept).data)
            arrays.append({"name": piece.name, "dtype": values.dtype.str, **place})
            for part in laid if laid.ndim > 1 else (laid,):
                file.write(np.ascontiguousarray(part).reshape(-1).view(np.uint8).data)
    return {"bytes": file.bytes, "crc32": file.crc32, "arrays": arrays}


def verify(folder: Path, name: str, entry: dict[str, Any]) -> None:
    """Read a file from one end to the other. Error: `Damaged`, with the first chunk that is wrong."""
    try:
        with open_ordinary(folder / name, follow=False) as file:
            size = os.fstat(file.fileno()).st_size
            if size != entry["bytes"]:
                raise Damaged(f"{name} has {size} bytes, {entry['bytes']} were written")
            for number, wanted in enumerate(entry["crc32"]):
                if zlib.crc32(file.read(CHUNK)) != wanted:
                    raise Damaged(
                        f"{name} does not agree with its checksum in bytes {number * CHUNK} to "
                        f"{min(size, (number + 1) * CHUNK) - 1}"
                    )
    except OSError as error:
        raise Damaged(f"{name} cannot be read: {error.strerror}") from None


@dataclass(frozen=True)
class Stored:
    """The arrays of a checkpoint whose files are whole."""

    folder: Path
    files: dict[str, dict[str, Any]]

    @cached_property
    def _found(self) -> dict[str, list[tuple[str, dict[str, Any]]]]:
        found: dict[str, list[tuple[str, dict[str, Any]]]] = {}
        for file, entry in self.files.items():
            for array in entry["arrays"]:
                found.setdefault(array["name"], []).append((file, array))
        return found

    def _pieces(self, name: str) -> list[tuple[str, dict[str, Any]]]:
        if name not in self._found:
            raise Damaged(f"it holds no {name}")
        return self._found[name]

    def _open(self, file: str, array: dict[str, Any]) -> np.ndarray:
        if array.get("kept") is not None:
            raise Damaged(f"{array['name']} has kept samples, where all are wanted")
        shape = [array["shape"][axis] for axis in array["order"]]
        if 0 in shape:
            return np.zeros(array["shape"], array["dtype"])
        mapped = np.memmap(self.folder / file, array["dtype"], "r", array["at"], tuple(shape))
        return mapped.transpose(np.argsort(array["order"]))

    def joined(self, name: str) -> np.ndarray:
        """All pieces of an array that has no place in the box, one after the other."""
        return np.concatenate([self._open(*found) for found in self._pieces(name)])

    def array(self, name: str) -> np.ndarray:
        """A whole array of any shape."""
        return np.array(self._open(*self._pieces(name)[0]))

    def filled(self, name: str, box: Box, leading: tuple[int, ...] = (), sparse: bool = False) -> np.ndarray:
        """A box of a global array, put together from the pieces that reach into it; `sparse`: zero where none does."""
        pieces, there = self._pieces(name), 0
        values = np.zeros((*leading, *box.shape), pieces[0][1]["dtype"])
        for file, array in pieces:
            lower: Triple = tuple(array["lower"])
            piece = Box(lower, tuple(n + m for n, m in zip(lower, array["shape"][-3:])))
            common = box.intersection(piece)
            if common and array.get("kept") is not None:
                self._place_kept(file, array, lower, values, box)
            elif common:
                part = self._open(file, array)[(..., *common.slices(lower))]
                values[(..., *common.slices(box.lower))] = part
            there += common.size if common else 0
        if there != box.size and not sparse:
            raise Damaged(f"it holds {there} of the {box.size} samples of {name} that are wanted")
        return values

    def _place_kept(self, file: str, array: dict[str, Any], lower: Triple, values: np.ndarray, box: Box) -> None:
        """Write the samples that an array keeps into the values of a box. Error: its bits are not so many."""
        shape, kept, bits = array["shape"], array["kept"], bytes_of_bits(array["shape"])
        path, at, leading = self.folder / file, array["at"], values.shape[:-3]
        found = np.flatnonzero(np.unpackbits(np.memmap(path, "u1", "r", at, (bits,)), count=math.prod(shape[-3:])))
        if found.size != kept or tuple(shape[:-3]) != leading:
            raise Damaged(f"{array['name']} has {found.size} samples of {shape[:-3]} numbers, not {kept} of {leading}")
        if not kept:
            return
        stored = np.memmap(path, array["dtype"], "r", at + bits, (*leading, kept))
        places = [n + first - low for n, first, low in zip(np.unravel_index(found, shape[-3:]), lower, box.lower)]
        inside = np.logical_and.reduce([(n >= 0) & (n < count) for n, count in zip(places, box.shape)])
        x, y, z = (n[inside] for n in places)
        values[..., x, y, z] = stored[..., inside]

    @staticmethod
    def known(circuits: dict[tuple[int, ...], np.ndarray], edge: tuple[int, ...]) -> np.ndarray:
        if edge not in circuits:
            raise Damaged(f"it holds no circuit on edge {edge}")
        return circuits[edge]
