"""Run with failing_disk preloaded: writes a small field file with each of its writes failing in turn, or killing.

    python every_write.py SHIM FORMAT CODEC SNAPSHOTS ENOSPC|EIO|KILL EVERY KEEP FOLDER [direct]

Of the writes it takes one in EVERY. KEEP >= 0 goes on with a whole file, of which so many snapshots are kept. With
`direct` fields are larger and samples pass the page cache. Prints a line for each state that is wrong, then
`calls CALLS`.
"""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from pathlib import Path

import numpy as np

from nearfield.entry.errors import ModelError, RunFailed
from nearfield.formats import direct, hdf5
from nearfield.formats.codecs import Codec
from nearfield.formats.description import Block, FieldDescription, of_points
from nearfield.formats.opening import open_field_file
from nearfield.formats.reading import stored_fields

SHAPE, MARK = (3, 4, 5), b"fields."
LARGE = (3, 24, 40)  # samples of some pages


def description(kind: str, codec: str, snapshots: int) -> FieldDescription:
    lines = tuple(np.arange(n) * 1e-3 for n in SHAPE)
    return of_points(lines, snapshots, ("Ez", "Hx"), format=kind, codec=Codec.parse(codec))


def values(component: str, snapshot: int) -> np.ndarray:
    rng = np.random.default_rng([ord(component[0]), snapshot])
    return rng.standard_normal(SHAPE).astype(np.float32)


def write(path: Path, told: FieldDescription, acknowledged: list[int], keep: int | None) -> None:
    """A whole file; `acknowledged[0]` becomes the last number of snapshots that `flush` returned."""
    with open_field_file(path, told, keep=keep) as file:
        for snapshot in range(keep or 0, told.snapshots):
            for name in told.components:
                found = values(name, snapshot)
                for begin, end in ((0, 1), (1, 3)):
                    file.write(Block(name, snapshot, 2 * snapshot, 1e-12 * snapshot, found[begin:end], (begin, 0, 0)))
            if snapshot % 3 == 2 or snapshot < 6:
                acknowledged[0] = file.flush()
    acknowledged[0] = told.snapshots


def wrong(path: Path, told: FieldDescription, acknowledged: int, ended: bool) -> str | None:
    """What is wrong with the file that was left, if anything."""
    if not path.exists():
        return None if acknowledged == 0 and not ended else "no file"
    stored = stored_fields(path)
    count = len(stored.steps)
    if count < acknowledged:
        return f"{count} of {acknowledged} acknowledged snapshots"
    if stored.status == "complete" and count == told.snapshots:
        return None  # at most the wait for the disk was left to do
    if ended or not stored.status.startswith("interrupted: "):
        return f"status {stored.status!r} after {'its end' if ended else 'a failure'}"
    if list(stored.steps) != [2 * number for number in range(count)]:
        return f"steps {stored.steps}"
    for name, array in stored.arrays.items():
        wanted = [values(name, number) for number in range(count)]
        if count and not np.allclose(np.asarray(array), wanted, rtol=1e-6 if told.format == "ascii" else 0, atol=0):
            return f"values of {name}"
    return None


def attempt(path: Path, told: FieldDescription, keep: int | None, pipe: int | None = None) -> tuple[int, bool]:
    """Snapshots acknowledged, and whether the file came to its end; through a pipe where the process may be killed."""
    acknowledged = [keep or 0] if pipe is None else Told(pipe)
    try:
        write(path, told, acknowledged, keep)
    except (ModelError, RunFailed):
        return acknowledged[0], False
    return acknowledged[0], True


class Told(list):
    """A list whose one number is also sent through a pipe."""

    def __init__(self, pipe: int) -> None:
        super().__init__([0])
        self.pipe = pipe

    def __setitem__(self, key, number) -> None:
        super().__setitem__(key, number)
        os.write(self.pipe, number.to_bytes(4, "little"))


def killed(path: Path, told: FieldDescription, keep: int | None) -> tuple[int, bool]:
    """The same in a child that the shim kills."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            attempt(path, told, keep, writer)
            os._exit(0)
        finally:
            os._exit(1)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        numbers = pipe.read()
    _, status = os.waitpid(child, 0)
    return (int.from_bytes(numbers[-4:], "little") if numbers else keep or 0), status == 0


def pass_page_cache() -> None:
    """Take the way of long runs of bytes for short ones."""
    global SHAPE
    SHAPE, direct.LEAST, direct.PART = LARGE, 1, 2 * direct.PAGE
    hdf5.ALIGNED["alignment_threshold"] = 2 * direct.PAGE  # as in use: longer than a heap, which follows its header


def main() -> int:
    shim, kind, codec, snapshots, fault, every, kept, folder, *more = sys.argv[1:]
    if more == ["direct"]:
        pass_page_cache()
    fail = ctypes.CDLL(shim).failing_disk
    fail.restype, fail.argtypes = ctypes.c_long, [ctypes.c_char_p, ctypes.c_long, ctypes.c_int]
    told, path = description(kind, codec, int(snapshots)), Path(folder) / "fields.dat"
    keep = int(kept) if int(kept) >= 0 else None
    number, ended = 0, False
    while not ended:
        path.unlink(missing_ok=True)
        if keep is not None:
            write(path, told, [0], None)
        fail(MARK, number, {"KILL": 0}.get(fault) if fault == "KILL" else getattr(errno, fault))
        acknowledged, ended = (killed if fault == "KILL" else attempt)(path, told, keep)
        fail(MARK, -1, 0)
        try:
            found = wrong(path, told, acknowledged, ended)
        except Exception as error:  # whatever a damaged file makes of its reader
            found = f"{type(error).__name__}: {error}"
        if found:
            print(f"call {number}: {found}")
        number += int(every)
    print(f"calls {number - int(every)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
