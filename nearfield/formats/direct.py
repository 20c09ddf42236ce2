"""Writing past the page cache: long runs of bytes that nobody reads soon go from memory to the disk.

The cache would take a fresh page for every 4 KiB, which costs more than all other work of a writer. Bytes that begin at
a page, in memory and in the file, are written in place; others are gathered in aligned memory. A page of the file that
a run fills in part goes through the cache, so that none is written both ways. No thread helps: HDF5 calls from within a
lock that Python's garbage collection in another thread may need.
"""

from __future__ import annotations

import errno
import mmap
import os

import numpy as np

PAGE = 4096  # bytes; the disk takes multiples of it
PART = 1 << 20  # bytes of one write
LEAST = 1 << 18  # bytes with which a run begins, at least


def direct_descriptor(descriptor: int) -> int | None:
    """Another descriptor of the same file, whose writes pass the page cache; None where the system has none."""
    try:
        return os.open(f"/proc/self/fd/{descriptor}", os.O_WRONLY | os.O_DIRECT)
    except (OSError, AttributeError):
        return None


def write_all(descriptor: int, offset: int, content: memoryview) -> None:
    """Write all of it, or raise OSError."""
    while len(content):
        written = os.pwrite(descriptor, content, offset)
        if written == 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        content, offset = content[written:], offset + written


def starts_page(content: memoryview) -> bool:
    """Whether the memory begins at a page."""
    return np.frombuffer(content, np.uint8).ctypes.data % PAGE == 0


class DirectWriter:
    """Gathers consecutive writes to one file; `flush` before anybody else reads or writes it.

    Errors of the disk (OSError) may come with a later call; gathered bytes are then dropped.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._direct = direct_descriptor(descriptor)
        self._part = mmap.mmap(-1, PART)
        self._begin, self._count = -1, 0  # place in the file and number of the gathered bytes

    def write(self, offset: int, content: memoryview) -> bool:
        """Take all of it; False: it is too short to begin a run, and nothing is gathered now."""
        if offset != self._begin + self._count:
            self.flush()
            if len(content) < LEAST:
                return False
            self._begin = offset
        if not self._count:
            content = self._started(content)
        while len(content):
            some = min(len(content), PART - self._count)
            self._part[self._count : self._count + some] = content[:some]
            self._count, content = self._count + some, content[some:]
            if self._count == PART:
                self.flush()
        return True

    def _started(self, content: memoryview) -> memoryview:
        """Write the rest of the last page and whole pages that need not be gathered; return the bytes after them."""
        head = min(-self._begin % PAGE, len(content))
        write_all(self._descriptor, self._begin, content[:head])
        self._begin, content = self._begin + head, content[head:]
        pages = len(content) // PAGE * PAGE
        if pages and starts_page(content):
            self._write_pages(self._begin, content[:pages])
            self._begin, content = self._begin + pages, content[pages:]
        return content

    def flush(self) -> None:
        """Return when the system has all gathered bytes."""
        begin, content = self._begin, memoryview(self._part)[: self._count]
        self._begin, self._count = begin + self._count, 0
        pages = len(content) // PAGE * PAGE
        if pages:
            self._write_pages(begin, content[:pages])
        write_all(self._descriptor, begin + pages, content[pages:])

    def close(self) -> None:
        """Close; gathered bytes are dropped."""
        self._count = 0
        if self._direct is not None:
            os.close(self._direct)
            self._direct = None

    def _write_pages(self, begin: int, content: memoryview) -> None:
        if self._direct is not None:
            try:
                return write_all(self._direct, begin, content)
            except OSError as error:
                if error.errno != errno.EINVAL:  # the file system takes no such writes after all
                    raise
        write_all(self._descriptor, begin, content)
