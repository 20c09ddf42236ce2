"""What an analysis needs of memory, or of a disk, said and refused before it begins and before a field is read."""

from __future__ import annotations

import math
import re
import shutil
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from nearfield.dissipation.crowding import expected_elements
from nearfield.dissipation.grids import kind_of
from nearfield.dissipation.team import Place, workplace
from nearfield.entry.errors import ModelError
from nearfield.entry.wording import memory as in_words
from nearfield.machine.group_memory import free_memory
from nearfield.machine.system_files import text
from nearfield.machine.transport import ALONE, Alone, agreed

BYTES_A_POINT = {"discrete": 10, "trace": 16, "hybrid": 16}  # beyond the field, at the peak: a tenth more than measured
BYTES_AN_ELEMENT = 200  # with its share of extrema, at the peak: more than measured in noise, 138 to 196
SAVED_BYTES_AN_ELEMENT = 360  # more, for boxes, neighbours and lengths in a file: in noise 232 to 337
PRIVATE_BYTES = 1 << 28  # beside files and tables of elements: what is in hand
SHARED_MEMORY = Path("/dev/shm")
MOUNTS = Path("/proc/mounts")


def labels_bytes(method: str) -> int:
    """Bytes a point beside the field."""
    return BYTES_A_POINT.get(method, max(BYTES_A_POINT.values()))


def needed_bytes(shape: tuple[int, ...], dtype: np.dtype, method: str, to_read: bool) -> int:
    """Memory for labels, and for the field where it is `to_read` still.

    A field that is read and then converted is there twice for a moment, before there are labels.
    """
    kept = kind_of(dtype).itemsize if to_read else 0
    converted = dtype.itemsize if dtype.itemsize != kept or dtype.kind not in "f" else 0
    return math.prod(shape) * max(kept + labels_bytes(method), kept + converted if to_read else 0)


def refuse_memory(shape: tuple[int, ...], dtype: np.dtype, method: str, to_read: bool = False) -> None:
    """Error: the labels, and the field where it is `to_read` still, need more memory than this machine has left."""
    needed, free = needed_bytes(shape, dtype, method, to_read), free_memory()
    if free is None or needed <= free:
        return
    beside = labels_bytes(method)
    of_field = f"{kind_of(dtype).itemsize} bytes a point for the field and " if to_read else ""
    raise ModelError(
        f"{sizes(shape)} points need {in_words(needed)} ({of_field}{beside} a point for labels) and {in_words(free)} "
        f"are free; keep them in files with scratch=FOLDER, or give every {parts(needed, free, len(shape))}. point "
        "along each axis (a smooth field keeps its elements while a half wave has some 12 points), or a part of the "
        "field"
    )


def tables_bytes(values: Any, room: float, persistence: float = 0.0) -> int:
    """Memory for tables of elements and extrema, by blocks of the field; 0 where `room` has it for any."""
    most = math.prod(values.shape) * BYTES_AN_ELEMENT  # every point an element
    return 0 if most <= room else BYTES_AN_ELEMENT * expected_elements(values, persistence)


def refuse_crowded(field: np.ndarray, method: str, persistence: float, place: Place | None) -> None:
    """Error, on all ranks alike: a host has no memory left for so many elements, whose tables each of its ranks makes,
    beside labels unless these lie in the files of a place."""
    ranks, beside_each = (ALONE, 1) if place is None else (place.ranks, place.most_ranks)
    free = least_of(ranks, free_memory())
    if free is None:
        return
    labels = 0 if place is not None else field.size * labels_bytes(method)
    tables = tables_bytes(field, (free - labels) / beside_each, persistence)
    if labels + beside_each * tables <= free:
        return
    beside = "" if place is not None else f", beside {in_words(labels)} for labels,"
    on_ranks = "" if beside_each == 1 else f" on each of {beside_each} ranks of a host"
    count = f"{tables / BYTES_AN_ELEMENT:.2g}"
    raise ModelError(
        f"{sizes(field.shape)} points have some {count} elements, by blocks of the field, whose "
        f"tables need {in_words(tables)}{on_ranks}{beside} and {in_words(free)} are free; leave out small extrema by a "
        f"persistence, smooth the field, {'give fewer ranks a host, ' if on_ranks else ''}or give every "
        f"{parts(labels + beside_each * tables, free, field.ndim)}. point along each axis, or a part of the field"
    )


def least_of(ranks: Alone, free: float | None) -> float | None:
    """The least of what any rank finds free; None where none says."""
    return min((each for each in ranks.everywhere(free) if each is not None), default=None)


def refuse_saving(elements: int) -> None:
    """Error: this machine has no memory left for what a file holds of so many elements."""
    needed, free = elements * SAVED_BYTES_AN_ELEMENT, free_memory()
    if free is not None and needed > free:
        raise ModelError(
            f"boxes, neighbours and lengths of {elements:,} elements need {in_words(needed)} and {in_words(free)} are "
            "free; leave out small extrema by a persistence, or give a part of the field"
        )


def sizes(shape: tuple[int, ...]) -> str:
    """`64 x 64`."""
    return " x ".join(map(str, shape))


def parts(needed: float, free: float, axes: int) -> int:
    """Every how many-th point of each axis would fit."""
    return math.ceil((needed / max(free, 1)) ** (1 / axes) * 1.05)


def bytes_of(given: str | None) -> int | None:
    """Bytes of `500MB` or `8GiB`, both binary. Error: anything else."""
    if given is None:
        return None
    found = re.fullmatch(r"\s*([\d.]+)\s*([kMGT]?)(i?B)?\s*", given)
    try:
        value = float(found[1]) * 1024 ** " kMGT".index(found[2] or " ") if found else 0.0
    except ValueError:
        value = 0.0
    if value < 1:
        raise ModelError(f"--memory {given}: give a size as 500MB or 8GB")
    return int(value)


@dataclass
class Keeper:
    """Takes a field to be analysed into memory, or into files on a disk where memory has no room or ranks share it."""

    stack: ExitStack  # ends the files' lives
    method: str
    beside: Path  # where files go if nothing is said
    scratch: Path | None = None
    memory: int | None = None
    "Bytes that may be used; left out, what is free."
    ranks: Alone = ALONE
    place: Place | None = field(default=None, init=False)
    remark: str = field(default="", init=False)

    def take(self, values: Any) -> np.ndarray:
        """The values of an array or a data set. Error (ModelError): neither memory nor disk has room for them."""
        numbers = values.dtype.kind in "fiu" and bool(values.shape)
        known = [given for given in (free_memory(), self.memory) if given is not None]
        room = least_of(self.ranks, min(known, default=math.inf)) or 0
        each = max(Counter(self.ranks.hosts).values())  # ranks of a host, which share its memory; each makes tables
        needed = needed_bytes(values.shape, values.dtype, self.method, to_read=True)
        tables = each * tables_bytes(values, (room - needed) / each) if numbers else 0
        needed += tables
        if not numbers or (self.ranks.size == 1 and self.scratch is None and needed <= room):
            return np.asarray(values[()])
        if self.place is None:
            private = tables + (each - 1) * min(PRIVATE_BYTES, needed)
            chosen = agreed(self.ranks, lambda: self._folder(values, needed, room, private), at_root=True)
            self.place = self.stack.enter_context(workplace(chosen, self.ranks))
        return self.place.copied(values, kind_of(values.dtype))

    def _folder(self, values: Any, needed: int, room: float, private: int = 0) -> Path:
        """Shared memory for ranks with room beside what is their own, else a disk. Error: it has none."""
        kind = kind_of(values.dtype)
        size = math.prod(values.shape) * (kind.itemsize + labels_bytes(self.method) + 2)
        if self.scratch is None and size + private + PRIVATE_BYTES <= room and room_in(SHARED_MEMORY) >= size:
            return SHARED_MEMORY
        folder = self.scratch or self.beside
        have = room_in(folder)
        each = parts(size, have, len(values.shape))
        smaller = f"give every {each}. point along each axis, or a part of the field"
        if size > have:
            raise ModelError(
                f"{sizes(values.shape)} points need {in_words(needed)} of memory, of which {in_words(room)} are to be "
                f"used, or {in_words(size)} on a disk, and {folder} has {in_words(have)}; name a folder with more by "
                f"--scratch, or {smaller}"
            )
        if in_memory(folder) and size > room:
            raise ModelError(
                f"{sizes(values.shape)} points need {in_words(size)}, and {folder} lies in memory itself, of which "
                f"{in_words(room)} are to be used; name a folder on a disk by --scratch, or {smaller}"
            )
        self.remark = f"field and labels lie in files in {folder} while it works, {in_words(size)}"
        return folder


Keep = Callable[[Any], np.ndarray]


def in_memory_of(method: str) -> Keep:
    """Reads data sets that memory has room for. Error: `refuse_memory`."""

    def keep(values: Any) -> np.ndarray:
        if values.shape:
            refuse_memory(values.shape, values.dtype, method, to_read=True)
        return np.asarray(values[()])

    return keep


def existing(folder: Path) -> Path:
    """The folder, or the first above it that exists."""
    folder = Path(folder).absolute()
    return folder if folder.exists() or folder == folder.parent else existing(folder.parent)


def room_in(folder: Path) -> int:
    """Bytes free on the disk of a folder; none where it cannot be asked."""
    try:
        return shutil.disk_usage(existing(folder)).free
    except OSError:
        return 0


def in_memory(folder: Path, mounts: Path = MOUNTS) -> bool:
    """Whether a folder lies in memory (tmpfs) and not on a disk."""
    kinds = {Path(words[1]): words[2] for line in text(mounts).splitlines() if len(words := line.split()) > 2}
    at = existing(folder).resolve()
    return next((kinds[each] for each in (at, *at.parents) if each in kinds), "") in ("tmpfs", "ramfs")
