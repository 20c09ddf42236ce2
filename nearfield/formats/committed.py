"""A file under HDF5 whose every state on the disk can be opened, whichever write is the last one.

Writes behind the committed end may go to the disk at once: nothing there refers to them yet. Writes over committed
bytes wait in memory until `commit()`, which lengthens the file, then writes the superblock (it holds
the end), then children before those that refer to them: chunks, blocks of the chunk index, its header, object headers,
and of these the given ones last. Each is one write and has its own checksum; the text of the status lies in a heap
right behind the root's header and is written with it. A file with superblock version 2 bears no mark of being open,
and an extensible array as chunk index never moves what it holds.

A disk that refuses ends all writing without telling HDF5, which cannot close a file whose writes fail (it tries again
when the process exits, and crashes: HDF5 2.0); `error` says what happened.
"""

from __future__ import annotations

import errno
import io
import os
from collections.abc import Callable
from typing import Any

from nearfield.formats.claimed import ClaimedFile

# signatures of HDF5 structures in the order in which they may be written; b"" is data without one, such as chunks
CHILDREN_FIRST = (b"\x89HDF", b"", b"GCOL", b"EADB", b"EASB", b"EAIB", b"EAHD", b"OCHK", b"OHDR")


class CommittedFile(io.RawIOBase):
    """A file object for h5py over a `ClaimedFile`; `last` are addresses of object headers, in order."""

    def __init__(self, file: ClaimedFile) -> None:
        super().__init__()
        self.file = file
        self.error: OSError | None = None
        self.last: tuple[int, ...] = ()
        self._committed = self._end = file.size
        self._waiting: dict[int, bytes] = {}
        self._position = 0

    def commit(self, parents_first: bool = False) -> None:
        """Make all that HDF5 has flushed the state of the file. Error: OSError, with the earlier state in the file.

        `parents_first` where an array was shortened: HDF5 clears the bytes behind the end.
        """
        self._attempt(lambda: self._commit(parents_first))
        self.raise_error()

    def refuse(self) -> None:
        """Take writes from now on, and let none of them reach the disk."""
        self.error = self.error or OSError(errno.EIO, os.strerror(errno.EIO))

    def raise_error(self) -> None:
        if self.error is not None:
            raise self.error

    def _commit(self, parents_first: bool) -> None:
        if self.file.size < self._end:
            self.file.truncate(self._end)
        self._join_heaps()
        for offset in sorted(self._waiting, key=self._rank, reverse=parents_first):
            self.file.write_at(offset, self._waiting[offset])
        if self.file.size > self._end:
            self.file.truncate(self._end)
        self._waiting.clear()
        self._committed = self._end

    def _join_heaps(self) -> None:
        """A header and the heap of its text, where it follows at once, become one write: neither is right alone."""
        for offset, content in list(self._waiting.items()):
            heap = self._waiting.get(offset + len(content), b"")
            if content[:4] == b"OHDR" and heap[:4] == b"GCOL":
                del self._waiting[offset + len(content)]
                self._waiting[offset] = content + heap

    def _rank(self, offset: int) -> tuple[int, int]:
        signature = self._waiting[offset][:4]
        if signature == CHILDREN_FIRST[0] and self._end < self._committed:
            return len(CHILDREN_FIRST), 0  # nothing refers any more to what the file will lose
        rank = CHILDREN_FIRST.index(signature) if signature in CHILDREN_FIRST else CHILDREN_FIRST.index(b"")
        return rank, self.last.index(offset) if offset in self.last else -1

    def write(self, content: Any) -> int:
        content = memoryview(content).cast("B")
        offset, count = self._position, len(content)
        if offset >= self._committed:
            self._attempt(lambda: self.file.stream_at(offset, content))
        else:
            self._keep(offset, bytes(content))
        self._position = offset + count
        self._end = max(self._end, self._position)
        return count

    def _keep(self, offset: int, content: bytes) -> None:
        """Have a write over committed bytes wait, joined with those waiting writes that it overlaps."""
        for other in self._overlapping(offset, len(content)):
            earlier = self._waiting.pop(other)
            first = min(offset, other)
            whole = bytearray(max(offset + len(content), other + len(earlier)) - first)
            whole[other - first : other - first + len(earlier)] = earlier
            whole[offset - first : offset - first + len(content)] = content
            offset, content = first, bytes(whole)
        self._waiting[offset] = content

    def _overlapping(self, offset: int, count: int) -> list[int]:
        end = offset + count
        return [other for other, content in self._waiting.items() if other < end and offset < other + len(content)]

    def readinto(self, buffer: Any) -> int:
        """Read the bytes as HDF5 has written them, waiting ones included."""
        view = memoryview(buffer).cast("B")
        count = max(min(len(view), self._end - self._position), 0)
        self._attempt(self.file.flush)
        content = bytearray(self.file.read_at(self._position, count).ljust(count, b"\0"))
        for other in self._overlapping(self._position, count):
            waiting, shift = self._waiting[other], other - self._position
            first = max(-shift, 0)
            content[shift + first : shift + len(waiting)] = waiting[first : count - shift]
        view[:count] = content[:count]
        self._position += count
        return count

    def truncate(self, size: int | None = None) -> int:
        """Note the end; the file gets it at the commit."""
        self._end = self._position if size is None else size
        return self._end

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        self._position = offset + {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._end}[whence]
        return self._position

    def tell(self) -> int:
        return self._position

    def seekable(self) -> bool:
        return True

    readable = writable = seekable

    def flush(self) -> None:
        """Do nothing: only `commit` writes."""

    def _attempt(self, action: Callable[[], Any]) -> None:
        if self.error is None:
            try:
                action()
            except OSError as error:
                self.error = error
