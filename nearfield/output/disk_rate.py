"""The rate of a disk as field files will see it, measured within a second, and what it leaves of a run's rate."""

from __future__ import annotations

import mmap
import os
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from nearfield.discretization.discretization import Discretization
from nearfield.entry.wording import duration
from nearfield.formats.direct import direct_descriptor, write_all
from nearfield.formats.sizes import free_bytes, readable
from nearfield.output.field_sizes import description_of, stored_features

PART = 32 << 20  # bytes of one write; the first is not counted: the file's room is made there
PARTS = 5
LONGEST = 0.5  # s
WORTHWHILE = 1e9  # bytes of files from which a disk is measured
ENOUGH = 0.95  # of a run's rate


@dataclass(frozen=True)
class DiskRate:
    """Bytes a second that the disk of a folder takes, and seconds of a processor that a byte costs the writer."""

    bytes_per_second: float
    processor_seconds: float

    def share(self, demand: float, processors: int = 0) -> float:
        """The part of its rate that a run keeps which sends `demand` bytes a second where nothing hinders it.

        `processors`: on which its threads and the writer must share; 0: the writer has one of its own.
        """
        waiting = min(1.0, self.bytes_per_second / demand)
        return min(waiting, 1.0 / (1.0 + demand * self.processor_seconds / processors)) if processors else waiting


def measured(folder: Path) -> DiskRate | None:
    """The rate of the disk of a folder, which may not exist yet; None where it cannot be written or is nearly full."""
    place = next(each for each in (folder.absolute(), *folder.absolute().parents) if each.exists())
    try:
        if free_bytes(place) < 4 * PART * PARTS:
            return None
        with tempfile.TemporaryFile(dir=place) as file:
            return _written(file.fileno())
    except OSError:
        return None


def _written(descriptor: int) -> DiskRate:
    content = mmap.mmap(-1, PART)
    np.frombuffer(content, np.uint8)[:] = np.random.default_rng(1).integers(
        0, 256, PART, np.uint8
    )  # nothing to compress
    direct = direct_descriptor(descriptor)
    clocks: list[tuple[float, float]] = []
    try:
        while len(clocks) <= PARTS and (len(clocks) < 3 or clocks[-1][0] - clocks[0][0] < LONGEST):
            write_all(descriptor if direct is None else direct, len(clocks) * PART, memoryview(content))
            clocks.append((time.perf_counter(), time.thread_time()))
    finally:
        if direct is not None:
            os.close(direct)
    seconds, busy = (last - first for first, last in zip(clocks[0], clocks[-1]))
    count = PART * (len(clocks) - 1)
    return DiskRate(count / seconds, busy / count)


def streamed(setup: Discretization, seconds: float) -> float:
    """Bytes a second that a run of so many seconds sends to files; 0 where text or a codec's work comes before them."""
    found = [description_of(setup, feature) for feature in stored_features(setup).values()]
    if not all(each.is_plain and each.format != "ascii" for each in found):
        return 0.0
    snapshot_bytes = sum(each.snapshots * each.samples * each.dtype.itemsize for each in found)
    total = snapshot_bytes * len(setup.excitations)
    return total / seconds if total >= WORTHWHILE and seconds > 0 else 0.0


def outlook(folder: Path, demand: float, seconds: float, processors: int = 0) -> tuple[str, float]:
    """What the disk of a folder leaves of a run that would take so many seconds without its files: text and share.

    An empty text where nothing can be said; `processors`: as of `DiskRate.share`.
    """
    rate = measured(folder) if demand else None
    if rate is None:
        return "", 1.0
    share = rate.share(demand, processors)
    taken = readable(rate.bytes_per_second)
    text = f"field files want {readable(demand)}/s, and the disk of {folder} takes {taken}/s (measured before the run)"
    if share >= ENOUGH:
        return f"{text}: it keeps up", share
    why = (
        "their steps share processors with the writer" if rate.bytes_per_second > demand / ENOUGH else "steps will wait"
    )
    return f"{text}: {why}, {duration(seconds / share)} at {share:.2f} of the rate without files", share
