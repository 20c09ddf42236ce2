"""Field files as text: a line a point and step, its coordinates and all components. Made to be looked at, and large.

    # nearfield fields 1
    # status: running
    # committed: 3
    # {the description as JSON}
    # x (m)   y (m)   z (m)   Ex (V/m) ...
    # step 20, time 3.8e-11 s
    0.000000000e+00 ...

z varies fastest, then y. Every line of a kind is equally long, so that sizes are known before and snapshots are found
without reading. Nine digits give a single precision number back to the last bit, seventeen a double one.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from nearfield.entry.errors import ModelError
from nearfield.formats.description import Block, FieldDescription
from nearfield.formats.files import RUNNING, FieldFile, refuse_unfit

FIRST = b"# nearfield fields 1\n"
STATUS_BYTES, COMMITTED_BYTES, MOMENT_BYTES = 200, 20, 120
NUMBERS = {"half": (12, 4), "single": (16, 8), "double": (25, 16)}  # width with a blank, digits after the point
COORDINATES = {"half": "single", "single": "single", "double": "double"}


def _number(precision: str) -> bytes:
    width, digits = NUMBERS[precision]
    return f"%{width}.{digits}e".encode()


def line_bytes(description: FieldDescription) -> int:
    """Length of the line of a point, its end included."""
    coordinate, value = NUMBERS[COORDINATES[description.precision]][0], NUMBERS[description.precision][0]
    return 3 * coordinate + len(description.components) * value + 1


def points(description: FieldDescription) -> int:
    """Points of a snapshot, each a line."""
    return math.prod(next(iter(description.components.values())).shape)


def snapshot_bytes(description: FieldDescription) -> int:
    """Length of a snapshot with the line that tells its step."""
    return MOMENT_BYTES + points(description) * line_bytes(description)


def header(description: FieldDescription) -> bytes:
    """The lines before the first snapshot, of a file that has none."""
    names = ["x (m)", "y (m)", "z (m)", *(f"{name} ({c.units})" for name, c in description.components.items())]
    widths = [NUMBERS[COORDINATES[description.precision]][0]] * 3
    widths += [NUMBERS[description.precision][0]] * len(description.components)
    titles = "".join(name.rjust(width) for name, width in zip(names, widths))
    columns = "#" + (titles[1:] if titles.startswith(" ") else titles)
    return FIRST + _status_line(RUNNING) + _committed_line(0) + f"# {description.to_json()}\n{columns}\n".encode()


def _status_line(status: str) -> bytes:
    return b"# status: " + status.encode("ascii", "replace")[:STATUS_BYTES].ljust(STATUS_BYTES) + b"\n"


def _committed_line(count: int) -> bytes:
    return b"# committed: " + str(count).encode().ljust(COMMITTED_BYTES) + b"\n"


STATUS_AT = len(FIRST)
COMMITTED_AT = STATUS_AT + len(_status_line(""))


def moment_line(step: int, times: dict[str, float]) -> bytes:
    """The line before a snapshot's points."""
    told = f"# step {step}" + "".join(f", {dim} {time!r} s" for dim, time in times.items())
    return told.encode().ljust(MOMENT_BYTES - 1) + b"\n"


def read_moment(line: bytes) -> tuple[int, dict[str, float]]:
    """Step and times from that line."""
    words = line.decode().removeprefix("# step ").split(", ")
    return int(words[0]), {dim: float(time) for dim, time, _ in (word.split() for word in words[1:])}


def read_header(path: Path) -> tuple[FieldDescription, int, str, int]:
    """Description, committed snapshots, status and length of the header. Error: `ModelError`."""
    with path.open("rb") as file:
        lines = [file.readline() for _ in range(5)]
    try:
        if lines[0] != FIRST:
            raise ValueError(f"it begins with {lines[0][:40]!r}")
        status, committed = (line.split(b":", 1)[1].strip().decode() for line in lines[1:3])
        return FieldDescription.from_json(lines[3][2:].decode()), int(committed), status, sum(map(len, lines))
    except (ValueError, KeyError, IndexError) as error:
        raise ModelError(f"{path} cannot be read as an ASCII field file ({error}); give one of Nearfield") from error


def table_text(description: FieldDescription, plane: int, values: list[np.ndarray]) -> bytes:
    """The lines of all points with one x; `values` are planes (ny, nz) of every component."""
    value, coordinate = _number(description.precision), _number(COORDINATES[description.precision])
    shape = values[0].shape
    width, wide = NUMBERS[description.precision][0], NUMBERS[COORDINATES[description.precision]][0]
    count = values[0].size
    text = np.full((count, line_bytes(description)), ord("\n"), np.uint8)
    dims = next(iter(description.components.values())).dims[1:]
    for axis, dim in enumerate(dims):
        line = description.coordinates[dim] if axis else description.coordinates[dim][plane : plane + 1]
        digits = np.frombuffer((coordinate * len(line)) % tuple(line.tolist()), np.uint8).reshape(-1, wide)
        spread = np.broadcast_to(digits.reshape([-1 if axis == a else 1 for a in (1, 2)] + [wide]), (*shape, wide))
        text[:, axis * wide : (axis + 1) * wide] = spread.reshape(count, wide)
    table = np.stack([part.ravel() for part in values], axis=1)
    digits = (value * table.size) % tuple(table.ravel().tolist())
    text[:, 3 * wide : -1] = np.frombuffer(digits, np.uint8).reshape(count, len(values) * width)
    return text.tobytes()


class AsciiFieldFile(FieldFile):
    """A field file of text; holds a snapshot in memory until it is whole."""

    def _create(self) -> None:
        content = header(self.description)
        self._held: dict[int, dict[str, np.ndarray]] = {}
        self._begin = len(content)
        self._file.write_at(0, content)

    def _continue(self, keep: int) -> None:
        found, committed, _, self._begin = read_header(self.path)
        refuse_unfit(self.path, found, self.description, committed, keep)
        self._held = {}
        self._file.write_at(STATUS_AT, _status_line(RUNNING))  # first: not complete with fewer snapshots
        self._file.write_at(COMMITTED_AT, _committed_line(keep))

    def _place(self, snapshot: int) -> int:
        return self._begin + snapshot * snapshot_bytes(self.description)

    def _put(self, block: Block) -> None:
        held = self._held.setdefault(block.snapshot, {})
        if block.component not in held:
            held[block.component] = np.empty(self.description.components[block.component].shape, self.description.dtype)
        box = tuple(slice(first, first + count) for first, count in zip(block.offset, block.values.shape))
        with np.errstate(over="ignore"):  # beyond half precision: infinity
            held[block.component][box] = block.values

    def _finish(self, snapshot: int) -> None:
        held = self._held.pop(snapshot)
        values = [held[name] for name in self.description.components]
        place = self._place(snapshot) + MOMENT_BYTES
        for plane in range(values[0].shape[0]):
            text = table_text(self.description, plane, [part[plane] for part in values])
            self._file.stream_at(place, text)
            place += len(text)

    def _commit(self, moments: dict[int, tuple[int, dict[str, float]]]) -> None:
        for number, (step, times) in moments.items():
            self._file.write_at(self._place(number), moment_line(step, times))
        self._file.write_at(COMMITTED_AT, _committed_line(max(moments) + 1))

    def _end(self, status: str) -> None:
        self._file.truncate(self._place(self.committed))
        self._file.write_at(STATUS_AT, _status_line(status))

    def _discard(self) -> None:
        """Nothing is held back."""

    def _abandon(self, status: str) -> None:
        self._end(status)
