"""The memory that a launch of PTX sees: buffers of a card and the memory of blocks, and who has used each word."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from ptx_text import Fault

THREADS = 256  # of a block, of every kernel
WORD = 4  # bytes
NOBODY, SEVERAL, ATOMIC = -1, -2, -3  # in place of the number of a thread or block
LINE = 64  # bytes: buffers lie on multiples


class Users:
    """Which thread wrote or read each word in this launch, and in which interval between barriers of its block.

    Two threads may use a word, one of them writing, only if they are of one block and a barrier lies between; atomic
    additions may meet each other. `block_of`: by thread.
    """

    def __init__(self, words: int, block_of: np.ndarray) -> None:
        self._block_of = block_of
        self._writer, self._written = np.full(words, NOBODY), np.full(words, NOBODY)
        self._reader, self._read = np.full(words, NOBODY), np.full(words, NOBODY)
        self._reading_block = np.full(words, NOBODY)

    def note(self, use: str, words: np.ndarray, threads: np.ndarray, interval: np.ndarray) -> None:
        """Threads use a word each ("read", "written" or "added to"). Error: a race."""
        writer = self._writer[words]
        apart = (
            (writer != NOBODY) & (writer != threads) & self._unordered(writer, self._written[words], threads, interval)
        )
        if use == "added to":
            apart &= writer != ATOMIC
        self._refuse(apart, use, "written", words, writer, threads)
        if use == "read":
            return self._note_readers(words, threads, interval)
        reader, block = self._reader[words], self._block_of[threads]
        readers_apart = (reader != NOBODY) & (
            (self._reading_block[words] != block) | ((self._read[words] == interval) & (reader != threads))
        )
        self._refuse(readers_apart, use, "read", words, reader, threads)
        self._writer[words] = threads
        if use == "written":
            self._refuse(self._writer[words] != threads, use, "written", words, self._writer[words], threads)
        else:
            self._writer[words] = ATOMIC
        self._written[words] = interval

    def _unordered(self, user, when, threads, interval) -> np.ndarray:
        block = np.where(user >= 0, self._block_of[np.maximum(user, 0)], NOBODY)
        return (block != self._block_of[threads]) | (when == interval)

    def _note_readers(self, words, threads, interval) -> None:
        block = self._block_of[threads]
        fresh = self._read[words] != interval
        first = fresh | (self._reader[words] == NOBODY)
        other_block = (self._reading_block[words] != NOBODY) & (self._reading_block[words] != block)
        several = ~first & (self._reader[words] != threads)
        self._reader[words] = np.where(several, SEVERAL, threads)
        self._reader[words[self._reader[words] != np.where(several, SEVERAL, threads)]] = SEVERAL
        self._reading_block[words] = np.where(other_block, SEVERAL, block)
        self._reading_block[words[self._reading_block[words] != np.where(other_block, SEVERAL, block)]] = SEVERAL
        self._read[words] = interval

    def _refuse(self, apart, use, before, words, other, threads) -> None:
        if apart.any():
            n = int(np.flatnonzero(apart)[0])
            one, two = (_name(int(each[n])) for each in (threads, other))
            raise Fault(f"a race: {one} has {use} word {int(words[n])}, {before} by {two} without order")


def _name(thread: int) -> str:
    named = {SEVERAL: "several threads", ATOMIC: "an atomic addition"}
    return named.get(thread, f"thread {thread % THREADS} of block {thread // THREADS}")


class Buffers:
    """Buffers at addresses of a card, as one array of bytes."""

    def __init__(self, buffers: Sequence[tuple[int, np.ndarray]]) -> None:
        ordered = sorted(buffers, key=lambda each: each[0])
        self._first = np.array([address for address, _ in ordered], np.int64)
        self._length = np.array([len(content) for _, content in ordered], np.int64)
        room = -(-self._length // LINE) * LINE
        self._at = np.concatenate(([0], np.cumsum(room)))[:-1]
        self.content = np.zeros(int(room.sum()), np.uint8)
        for at, (_, content) in zip(self._at, ordered):
            self.content[at : at + len(content)] = content

    def places(self, address: np.ndarray, size: int) -> np.ndarray:
        """Where these bytes lie in `content`. Error: outside of all buffers."""
        number = np.searchsorted(self._first, address, "right") - 1
        offset = address - self._first[number]
        stray = (number < 0) | (offset + size > self._length[number])
        if stray.any():
            raise Fault(f"address {int(address[stray][0]):#x} lies outside of all buffers")
        return self._at[number] + offset

    def buffer(self, address: int) -> np.ndarray:
        """The bytes of one, as they are now."""
        number = int(np.searchsorted(self._first, address))
        return self.content[self._at[number] : self._at[number] + self._length[number]]


class BlockMemory:
    """The memory of all blocks of a launch, one after the other, NaN at first."""

    def __init__(self, blocks: int, size: int, block_of: np.ndarray) -> None:
        self._size, self._block_of = size, block_of
        self.content = np.full(blocks * size, 0xFF, np.uint8)

    def places(self, address: np.ndarray, size: int, threads: np.ndarray) -> np.ndarray:
        """As in `Buffers`, of the block of each thread."""
        stray = (address < 0) | (address + size > self._size)
        if stray.any():
            raise Fault(f"address {int(address[stray][0])} lies outside of the block's memory, {self._size} bytes")
        return self._block_of[threads] * self._size + address
