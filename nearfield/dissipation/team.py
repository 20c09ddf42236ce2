"""Where the arrays of an analysis lie and which process labels which points: memory of one, or files that ranks share.

On one host all ranks map the same files, which the system pages in and out: memory holds what is in use. Every rank
labels some rows of the field; after each stage ranks of other hosts are sent what they lack.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from nearfield.entry.errors import ModelError
from nearfield.entry.whole_file import reason_of
from nearfield.machine.transport import ALONE, Alone, agreed

CHUNK = 1 << 24  # bytes that each rank sends to those of other hosts at once
SLAB = 1 << 26  # bytes of a field that are copied at once
PREFIX = "nearfield-elements-"


@dataclass(frozen=True)
class Place:
    """A folder of files that the ranks of each host share; `hosts` names the host of each rank."""

    folder: Path
    ranks: Alone = ALONE
    hosts: tuple[str, ...] = ("",)

    @property
    def here(self) -> list[int]:
        """The ranks of this host."""
        return [rank for rank, host in enumerate(self.hosts) if host == self.hosts[self.ranks.rank]]

    @property
    def most_ranks(self) -> int:
        """The ranks of the host with most of them."""
        return max(Counter(self.hosts).values())

    @property
    def leads(self) -> bool:
        """Whether this is the first rank of its host."""
        return self.here[0] == self.ranks.rank

    def copied(self, values: Any, kind: np.dtype) -> np.ndarray:
        """The values of an array or data set as numbers of `kind` in a file, read slab by slab by one rank of a host.

        Error (ModelError), on all ranks alike: they cannot be read, or the disk has no room.
        """
        path = self.folder / "field"
        agreed(self.ranks, lambda: self._copy(values, kind, path) if self.leads else None)
        return np.memmap(path, kind, "r", shape=values.shape)

    def _copy(self, values: Any, kind: np.dtype, path: Path) -> None:
        size = int(np.prod(values.shape)) * kind.itemsize
        try:
            with path.open("wb") as file:
                if hasattr(file, "fileno") and size:
                    take_room(file, size)
            made = np.memmap(path, kind, "r+", shape=values.shape)
            rows = max(1, SLAB * len(values) // max(size, 1))
            for first in range(0, len(values), rows):
                made[first : first + rows] = values[first : first + rows]
        except OSError as error:
            raise ModelError(
                f"{self.folder}: the field cannot be kept there ({reason_of(error)}); name another"
            ) from None


def take_room(file: Any, size: int) -> None:
    """Take the disk's room at once: a mapped file that outgrows it later would kill the process."""
    import os

    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file.fileno(), 0, size)
    else:
        os.truncate(file.fileno(), size)


@dataclass
class Team:
    """What the core is told of a process: see `core/elements/team.hpp`."""

    place: Place
    count: int  # rows of the field
    sent: int = field(default=0, init=False)  # bytes to other hosts

    @property
    def folder(self) -> str:
        return str(self.place.folder)

    @property
    def alone(self) -> bool:
        return self.place.ranks.size == 1

    @property
    def rows(self) -> tuple[int, int]:
        return self._part(self.place.ranks.rank, self.place.ranks.size)

    @property
    def host_rows(self) -> tuple[int, int]:
        here = self.place.here
        return self._part(here.index(self.place.ranks.rank), len(here))

    def _part(self, number: int, of: int) -> tuple[int, int]:
        return self.count * number // of, self.count * (number + 1) // of

    def gather(self, own: bytes) -> list[bytes]:
        """The bytes of all ranks."""
        return self.place.ranks.everywhere(own)

    def share(self, data: np.ndarray) -> None:
        """Write the parts of other hosts' ranks into this host's file; `data` are bytes of all rows."""
        ranks, hosts = self.place.ranks, self.place.hosts
        if len(set(hosts)) > 1:
            bounds = [self._part(rank, ranks.size) for rank in range(ranks.size)]
            each = len(data) // self.count
            longest = max(last - first for first, last in bounds) * each
            for begin in range(0, longest, CHUNK):
                begins = [(first * each + begin, last * each) for first, last in bounds]
                spans = [(first, min(last, first + CHUNK)) for first, last in begins]
                first, last = spans[ranks.rank]
                for rank, part in enumerate(ranks.everywhere(data[first:last].tobytes())):
                    if self.place.leads and hosts[rank] != hosts[ranks.rank] and part:
                        data[spans[rank][0] : spans[rank][1]] = np.frombuffer(part, np.uint8)
                self.sent += max(0, last - first)
        ranks.everywhere(None)  # all that the ranks of this host wrote is there


@contextlib.contextmanager
def workplace(folder: str | Path, ranks: Alone = ALONE, hosts: tuple[str, ...] | None = None) -> Iterator[Place]:
    """A folder below this one for the files of an analysis, one on each host; it is gone at the end.

    Arrays that are still in use stay readable. Error (ModelError): the folder cannot be made.
    """
    hosts = tuple(ranks.hosts) if hosts is None else hosts
    own = None
    leads = hosts.index(hosts[ranks.rank]) == ranks.rank

    def make() -> str | None:
        if not leads:
            return None
        try:
            Path(folder).mkdir(parents=True, exist_ok=True)
            return tempfile.mkdtemp(prefix=PREFIX, dir=folder)
        except OSError as error:
            raise ModelError(
                f"{folder}: files cannot be kept there ({reason_of(error)}); choose another folder"
            ) from None

    own = agreed(ranks, make)
    try:
        made = ranks.everywhere(own)
        yield Place(Path(made[hosts.index(hosts[ranks.rank])]), ranks, hosts)
    finally:
        if own is not None:
            shutil.rmtree(own, ignore_errors=True)
