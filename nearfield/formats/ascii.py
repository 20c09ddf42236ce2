"""Field files as text: one line a point and step with its coordinates and all components. Easy to look at, and large.

    # nearfield fields 1
    # status: running
    # committed: 3
    # {the description as JSON}
    # x (m)   y (m)   z (m)   Ex (V/m) ...
    # step 20, time 3.8e-11 s, crc32 0a1b2c3d 4e5f6071
    0.000000000e+00 ...

The checksums (CRC-32) are of the words before them, and of all lines of the points; that of the description is in it.
z varies fastest, then y. All lines of a kind have one length, so sizes are known in advance and snapshots are found
without reading. Nine digits give a single precision number back to the last bit, seventeen a double one.
"""

from __future__ import annotations

import math
import zlib
from pathlib import Path
from typing import NamedTuple

import numpy as np

from nearfield.entry.errors import ModelError
from nearfield.formats.checked_pieces import sealed, unsealed
from nearfield.formats.description import Block, FieldDescription
from nearfield.formats.files import RUNNING, FixedFieldFile, FixedLayout

FIRST = b"# nearfield fields 1\n"
STATUS_BYTES, COMMITTED_BYTES, MOMENT_BYTES = 200, 20, 120
CRC = ", crc32 "
NUMBERS = {"half": (12, 4), "single": (16, 8), "double": (25, 16)}  # width with a blank, digits after the point
COORDINATES = {"half": "single", "single": "single", "double": "double"}


def _widths(description: FieldDescription) -> tuple[int, int]:
    """Characters of a coordinate and of a sample."""
    return NUMBERS[COORDINATES[description.precision]][0], NUMBERS[description.precision][0]


def line_bytes(description: FieldDescription) -> int:
    """Length of the line of a point with its end."""
    coordinate, value = _widths(description)
    return 3 * coordinate + len(description.components) * value + 1


def points(description: FieldDescription) -> int:
    """Points of a snapshot, each a line."""
    return math.prod(description.first.shape)


def snapshot_bytes(description: FieldDescription) -> int:
    """Length of a snapshot with the line of its step."""
    return MOMENT_BYTES + points(description) * line_bytes(description)


def header(description: FieldDescription) -> bytes:
    """The lines before the first snapshot, of a file that has none."""
    coordinate, value = _widths(description)
    titles = "".join(f"{name} (m)".rjust(coordinate) for name in "xyz")
    titles += "".join(f"{name} ({item.units})".rjust(value) for name, item in description.components.items())
    columns = "#" + titles.removeprefix(" ")
    return FIRST + status_line(RUNNING) + committed_line(0) + f"# {sealed(description.to_json())}\n{columns}\n".encode()


def status_line(status: str) -> bytes:
    """The line of the status, of fixed length."""
    return b"# status: " + status.encode("ascii", "replace")[:STATUS_BYTES].ljust(STATUS_BYTES) + b"\n"


def committed_line(count: int) -> bytes:
    """The line of the committed snapshots, of fixed length."""
    return b"# committed: " + str(count).encode().ljust(COMMITTED_BYTES) + b"\n"


class Moment(NamedTuple):
    """The line before a snapshot's points; `checksum` is that of the points, None in files of earlier versions."""

    step: int
    times: dict[str, float]
    checksum: int | None = None


def moment_line(step: int, times: dict[str, float], checksum: int) -> bytes:
    """The line of these, with a checksum of its own."""
    text = f"# step {step}" + "".join(f", {dim} {time!r} s" for dim, time in times.items())
    line = f"{text}{CRC}{zlib.crc32(text.encode()):08x} {checksum:08x}"
    return line.encode().ljust(MOMENT_BYTES - 1) + b"\n"


def read_moment(line: bytes) -> Moment:
    """What that line says. Error: `ValueError`, it was changed."""
    text, _, checksums = line.decode().partition(CRC)
    step, *times = text.removeprefix("# step ").split(", ")
    own, *points = (int(word, 16) for word in checksums.split() or ("0",))
    if points and own != zlib.crc32(text.encode()):
        raise ValueError("the checksum of a step and its time differs")
    return Moment(int(step), {dim: float(time) for dim, time, _ in map(str.split, times)}, *points)


def read_header(path: Path) -> tuple[FieldDescription, int, str, int]:
    """Description, committed snapshots, status and length of the header. Error: `ModelError`."""
    with path.open("rb") as file:
        lines = [file.readline() for _ in range(5)]
    try:
        if lines[0] != FIRST:
            raise ValueError(f"it begins with {lines[0][:40]!r}")
        status, committed = (line.split(b":", 1)[1].strip().decode() for line in lines[1:3])
        count = int(committed)
        if count < 0:
            raise ValueError(f"{count} snapshots")
        return FieldDescription.from_json(unsealed(lines[3][2:].decode())), count, status, sum(map(len, lines))
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError) as error:
        raise ModelError(f"{path} cannot be read as an ASCII field file ({error}); give one of Nearfield") from error


def _digits(precision: str, numbers: np.ndarray) -> np.ndarray:
    """The characters of numbers, (numbers, width)."""
    width, digits = NUMBERS[precision]
    text = (f"%{width}.{digits}e".encode() * numbers.size) % tuple(numbers.ravel().tolist())
    return np.frombuffer(text, np.uint8).reshape(-1, width)


def table_text(description: FieldDescription, plane: int, values: list[np.ndarray]) -> bytes:
    """The lines of all points with one x; `values` are planes (ny, nz) of every component."""
    shape, count, wide = values[0].shape, values[0].size, _widths(description)[0]
    text = np.full((count, line_bytes(description)), ord("\n"), np.uint8)
    for axis, dim in enumerate(description.first.dims[1:]):
        line = description.coordinates[dim] if axis else description.coordinates[dim][plane : plane + 1]
        digits = _digits(COORDINATES[description.precision], line)
        spread = np.broadcast_to(digits.reshape([-1 if axis == a else 1 for a in (1, 2)] + [wide]), (*shape, wide))
        text[:, axis * wide : (axis + 1) * wide] = spread.reshape(count, wide)
    table = np.stack([part.ravel() for part in values], axis=1)
    text[:, 3 * wide : -1] = _digits(description.precision, table).reshape(count, -1)
    return text.tobytes()


COMMITTED_AT = len(FIRST) + len(status_line(""))
LAYOUT = FixedLayout(header, read_header, snapshot_bytes, status_line, len(FIRST), committed_line, COMMITTED_AT)


class AsciiFieldFile(FixedFieldFile):
    """A field file of text; keeps a snapshot in memory until it is whole."""

    layout = LAYOUT

    def __init__(self, path: str | Path, description: FieldDescription, keep: int | None = None) -> None:
        self._unfinished: dict[int, dict[str, np.ndarray]] = {}
        self._found: dict[int, int] = {}  # checksums of whole snapshots
        super().__init__(path, description, keep)

    def _put(self, block: Block) -> None:
        fields = self._unfinished.setdefault(block.snapshot, {})
        if block.component not in fields:
            shape = self.description.components[block.component].shape
            fields[block.component] = np.empty(shape, self.description.dtype)
        with np.errstate(over="ignore"):  # beyond half precision: infinity
            fields[block.component][block.box.slices()] = block.values

    def _finish(self, snapshot: int) -> None:
        fields = self._unfinished.pop(snapshot)
        planes = zip(*(fields[name] for name in self.description.components))
        place, checksum = self._place(snapshot) + MOMENT_BYTES, 0
        for plane, values in enumerate(planes):
            text = table_text(self.description, plane, list(values))
            self._file.stream_at(place, text)
            place, checksum = place + len(text), zlib.crc32(text, checksum)
        self._found[snapshot] = checksum

    def _write_moment(self, number: int, step: int, times: dict[str, float]) -> None:
        self._file.write_at(self._place(number), moment_line(step, times, self._found.pop(number)))
