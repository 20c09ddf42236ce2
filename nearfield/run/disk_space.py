"""Room on the disk for the result: held against its size before the run, and looked at while the run goes on."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from nearfield.entry.errors import NoRoom
from nearfield.formats.sizes import free_bytes, readable
from nearfield.monitors.element_statistics import ElementStatistics
from nearfield.monitors.radiation import FarField
from nearfield.plan.sizes import (
    BYTES_OF,
    HDF5_DERIVED,
    HDF5_DIRECTION,
    HDF5_ENTRY,
    HDF5_OVERHEAD,
    HDF5_PATTERN,
    state_bytes,
    term_bytes,
)
from nearfield.run.surface_costs import surfaces

if TYPE_CHECKING:
    from nearfield.discretization.discretization import Discretization

SECONDS = 2.0  # between looks at the disk; a look takes microseconds
MANIFEST_BYTES = 6_000  # of a small model, beside its arrays
FEWEST_FILES = 2  # the result under a name of its own, and the folder's entry


def result_bytes(setup: Discretization) -> int:
    """Bytes of `result.h5` after the usual number of steps of each excitation."""
    model = setup.simulation
    _, output = term_bytes(setup.terms, setup.expected_steps, model.precision)
    output += HDF5_ENTRY * (len(model.monitors) + len(model.ports))
    patterns = [monitor for monitor in model.monitors if isinstance(monitor, FarField)]
    directions = sum(monitor._directions(setup.context) for monitor in patterns)
    output += HDF5_PATTERN * len(patterns) + HDF5_DIRECTION * directions
    derived = model.ports or any(isinstance(monitor, ElementStatistics) for monitor in model.monitors)
    return HDF5_OVERHEAD + HDF5_DERIVED * bool(derived) + output * max(1, len(setup.excitations))


def checkpoint_bytes(setup: Discretization, surface_bytes: int | None = None) -> int:
    """Bytes of a checkpoint of the last excitation; `surface_bytes`: what `surfaces` says is stored, None: ask it."""
    plan, precision = setup.plan, setup.simulation.precision
    surface_bytes = surfaces(setup).stored_bytes if surface_bytes is None else surface_bytes
    poles = setup.coefficients.stored_bytes(BYTES_OF[precision])
    fields = (state_bytes(plan.active, plan.cpml, precision) + poles) * (1 + plan.complex_fields)
    _, output = term_bytes(setup.terms, setup.expected_steps, precision)
    return MANIFEST_BYTES + fields + surface_bytes + output * max(1, len(setup.excitations))


def bytes_on_disk(setup: Discretization, field_files: int, checkpoints: int) -> dict[str, int]:
    """Bytes that a run puts on the disk, by what they are: result, `field_files`, so many checkpoints at a time."""
    found = {"the result": result_bytes(setup)}
    if field_files:
        found["field files"] = field_files
    if checkpoints:
        found["checkpoints" if checkpoints > 1 else "a checkpoint"] = checkpoints * checkpoint_bytes(setup)
    return found


class DiskWatch:
    """Says once that the disk has filled up while there is time to do something about it.

    `folder` is that of the result, None: there is no result to write; `needed`: as `bytes_on_disk` gives it, the result
    first; `tell` is called with the warning.
    """

    def __init__(self, folder: Path | None, needed: dict[str, int], tell: Callable[[str], None]) -> None:
        self.folder, self.needed, self.tell = folder, needed, tell
        self.warnings: list[str] = []
        self._next = 0.0

    def refuse_full(self) -> None:
        """Error: there is too little room before the run."""
        if self.folder is not None and (lack := self._lack(self.needed)):
            raise NoRoom(
                f"{lack}; free some, or choose another folder with --output; "
                "`nearfield run --no-space-check` does not look"
            )

    def look(self) -> None:
        """Look at the disk, where the last look was a while ago."""
        if self.folder is None or self.warnings or time.monotonic() < self._next:
            return
        self._next = time.monotonic() + SECONDS
        if lack := self._lack(dict([next(iter(self.needed.items()))])):
            self.warnings.append(f"{lack}: free some before the run ends, or its result will be lost")
            self.tell(self.warnings[0])

    def _lack(self, needed: dict[str, int]) -> str:
        """What the disk lacks; empty where it has room."""
        assert self.folder is not None
        try:
            free = free_bytes(self.folder)
            place = next(each for each in (self.folder, *self.folder.absolute().parents) if each.exists())
            disk = os.statvfs(place)
        except OSError:
            return ""  # the folder went; what is written there says so
        if free < sum(needed.values()):
            parts = " and ".join(f"{name} will take {readable(count)}" for name, count in needed.items())
            return f"{parts}, but the disk of {self.folder} has {readable(free)} left"
        if disk.f_files and disk.f_favail < FEWEST_FILES:  # some file systems do not count files
            return f"the disk of {self.folder} takes {disk.f_favail} more files (its inodes are used up)"
        return ""
