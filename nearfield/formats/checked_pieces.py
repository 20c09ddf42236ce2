"""Checksums of the samples in field files: CRC-32C of runs of 64 KiB, so that small parts are verified by themselves.

One for each run keeps what a reader must read beside what it wants small, and takes 0.006 % of the file.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from nearfield.machine.compiled import core

PIECE = 1 << 16  # bytes of samples that one checksum covers
SEAL = re.compile(r', "crc32": "([0-9a-f]{8})"}$')


def piece_checksums(content: Any, piece: int = PIECE) -> np.ndarray:
    """The checksum of each run of `piece` bytes, a multiple of 8; the last may be shorter."""
    data = np.frombuffer(content, np.uint8)
    found = np.empty(pieces_in(data.size, piece), np.uint32)
    core().stream.crc32c_pieces(data, piece, found)
    return found


def checksum_of(content: Any) -> int:
    """The checksum of all of it."""
    return int(core().stream.crc32c(np.frombuffer(content, np.uint8)))


def pieces_in(count: int, piece: int = PIECE) -> int:
    """Runs that so many bytes have."""
    return -(-count // piece)


class Gathered:
    """Checksums of `count` bytes that come one part after the other."""

    def __init__(self, count: int) -> None:
        self.found = np.empty(pieces_in(count), np.uint32)
        self._made, self._left, self._begun = 0, count, b""

    def add(self, content: Any) -> None:
        """Take the next bytes."""
        data = memoryview(content).cast("B")
        self._left -= len(data)
        if self._begun:
            head = PIECE - len(self._begun)
            self._begun, data = self._begun + bytes(data[:head]), data[head:]
        if len(self._begun) == PIECE or not self._left:
            self._take(self._begun)
            self._begun = b""
        whole = len(data) // PIECE * PIECE if self._left else len(data)
        self._take(data[:whole])
        self._begun += bytes(data[whole:])

    def _take(self, content: Any) -> None:
        made = piece_checksums(content) if len(content) else np.empty(0, np.uint32)
        self.found[self._made : self._made + len(made)] = made
        self._made += len(made)


def runs_of(shape: Sequence[int], item: int, wanted: Sequence[np.ndarray]) -> list[tuple[int, int]]:
    """First and last + 1 of consecutive pieces of an array (three axes, items of so many bytes) that hold samples.

    `wanted` are indices along each axis, at least one.
    """
    slow, middle, fast = wanted
    rows = (slow[:, None] * shape[1] + middle[None, :]).ravel() * shape[2]
    first = (rows + fast.min()) * item // PIECE
    last = ((rows + fast.max() + 1) * item - 1) // PIECE
    change = np.zeros(pieces_in(int(np.prod(shape)) * item) + 1, np.int64)
    np.add.at(change, first, 1)
    np.add.at(change, last + 1, -1)
    touched = np.concatenate(([0], np.cumsum(change)[:-1] > 0, [0])).astype(np.int8)
    edges = np.flatnonzero(np.diff(touched))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist()))


def sealed(text: str) -> str:
    """The text of a JSON object with its own checksum as the last entry."""
    return f'{text.rstrip()[:-1]}, "crc32": "{zlib.crc32(text.rstrip().encode()):08x}"}}'


def unsealed(text: str) -> str:
    """The text that was sealed; as it is where it never was. Error: `ValueError`, it was changed."""
    found = SEAL.search(text.rstrip())
    if found is None:
        return text
    inside = text[: found.start()] + "}"
    if zlib.crc32(inside.encode()) != int(found[1], 16):
        raise ValueError("its checksum differs from that of its description")
    return inside
