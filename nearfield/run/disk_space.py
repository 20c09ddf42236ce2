"""Room on the disk for the result: held against its size before the run, and looked at while the run goes on."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from nearfield.entry.errors import ModelError
from nearfield.formats.sizes import free_bytes, readable
from nearfield.plan.sizes import HDF5_OVERHEAD, term_bytes

if TYPE_CHECKING:
    from nearfield.discretization.discretization import Discretization

SECONDS = 2.0  # between looks at the disk; a look takes microseconds
FEWEST_FILES = 2  # the result under a name of its own, and the folder's entry


def result_bytes(setup: Discretization) -> int:
    """Bytes of `result.h5` after the usual number of steps of each excitation."""
    _, output = term_bytes(setup.terms, setup.expected_steps, setup.simulation.precision)
    return HDF5_OVERHEAD + output * max(1, len(setup.excitations))


class DiskWatch:
    """Says once that the disk has filled up while there is time to do something about it.

    `folder` is that of the result, None: there is no result to write; `tell` is called with the warning.
    """

    def __init__(self, folder: Path | None, needed: int, tell: Callable[[str], None]) -> None:
        self.folder, self.needed, self.tell = folder, needed, tell
        self.warnings: list[str] = []
        self._next = 0.0

    def refuse_full(self) -> None:
        """Error: there is too little room before the run."""
        if self.folder is not None and (lack := self._lack()):
            raise ModelError(f"{lack}; free some, choose another folder with --output, or give --no-space-check")

    def look(self) -> None:
        """Look at the disk, where the last look was a while ago."""
        if self.folder is None or self.warnings or time.monotonic() < self._next:
            return
        self._next = time.monotonic() + SECONDS
        if lack := self._lack():
            self.warnings.append(f"{lack}: free some before the run ends, or its result will be lost")
            self.tell(self.warnings[0])

    def _lack(self) -> str:
        """What the disk lacks; empty where it has room."""
        assert self.folder is not None
        try:
            free = free_bytes(self.folder)
            place = next(each for each in (self.folder, *self.folder.absolute().parents) if each.exists())
            disk = os.statvfs(place)
        except OSError:
            return ""  # the folder went; what is written there says so
        if free < self.needed:
            return (
                f"the result will take {readable(self.needed)}, but the disk of {self.folder} has {readable(free)} left"
            )
        if disk.f_files and disk.f_favail < FEWEST_FILES:  # some file systems do not count files
            return f"the disk of {self.folder} takes {disk.f_favail} more files (its inodes are used up)"
        return ""
