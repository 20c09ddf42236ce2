"""One field file a domain: each takes its own part, and one more file joins them.

Parts of `fields.h5` are `fields.d0.h5`, `fields.d1.h5` ... in the same folder. HDF5 parts are joined by virtual
datasets, which grow with the parts while a run goes on (where a part is shorter there is nan) and get their final
length at the end: what every part has. Binary and text parts are joined by a JSON file that names them.
`open_fields` reads either, and takes the shortest part's length at any time.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.errors import ModelError, RunFailed
from nearfield.output.formats.claimed import ClaimedFile
from nearfield.output.formats.description import Block, FieldDescription, Shape
from nearfield.output.formats.files import COMPLETE, RUNNING, FieldFile, interrupted, open_field_file

if TYPE_CHECKING:
    from nearfield.regions import Region

Boxes = Mapping[str, tuple[Shape, Shape]]  # of each component offset and shape in its own box
FIRST = b'{"nearfield_field_parts": 1'


def boxes_of(regions: Mapping[str, Region], lower: Shape, upper: Shape) -> Boxes:
    """What a domain of the Yee indices [lower, upper) holds of each region; without those of which it has none."""
    found = {}
    for name, region in regions.items():
        first = tuple(max(a, b) for a, b in zip(region.lower, lower))
        shape = tuple(max(min(a, b) - f, 0) for a, b, f in zip(region.upper, upper, first))
        if min(shape) > 0:
            found[name] = (tuple(f - a for f, a in zip(first, region.lower)), shape)
    return found


def part_path(path: str | Path, number: int) -> Path:
    """The file of a domain."""
    path = Path(path)
    return path.with_name(f"{path.stem}.d{number}{path.suffix}")


class DomainFiles:
    """A field file cut into one a domain; takes blocks as any `FieldFile` does, also such that reach over several.

    `domains` say what each holds; together they hold every sample once. Errors: as `FieldFile`.
    """

    def __init__(
        self, path: str | Path, description: FieldDescription, domains: Sequence[Boxes], threads: int = 1,
        keep: int | None = None,
    ) -> None:  # fmt: skip
        self.path, self.description = Path(path), description
        self.domains = [boxes for boxes in domains if boxes]
        _refuse_gaps(description, self.domains)
        self.parts: list[FieldFile] = []
        try:
            for number, boxes in enumerate(self.domains):
                part = part_path(path, number)
                self.parts.append(open_field_file(part, description.part(boxes), threads, keep))
            self._index = _write_index(self.path, description, self.domains, RUNNING)
        except BaseException as error:
            self._close_parts(False, str(error))
            raise

    @property
    def committed(self) -> int:
        """Snapshots that every part has."""
        return min(part.committed for part in self.parts)

    def write(self, block: Block) -> None:
        """Give each part what is its own."""
        for part, boxes in zip(self.parts, self.domains):
            if block.component not in boxes:
                continue
            offset, shape = boxes[block.component]
            lower = tuple(max(a, b) for a, b in zip(offset, block.offset))
            upper = tuple(min(a + n, b + m) for a, n, b, m in zip(offset, shape, block.offset, block.values.shape))
            if all(a < b for a, b in zip(lower, upper)):
                values = block.values[tuple(slice(a - f, b - f) for a, b, f in zip(lower, upper, block.offset))]
                part.write(replace(block, values=values, offset=tuple(a - f for a, f in zip(lower, offset))))

    def flush(self) -> int:
        """Commit whole snapshots; the number that every part has."""
        return min(part.flush() for part in self.parts)

    def close(self, complete: bool = True, reason: str = "the run was broken off") -> None:
        """End all parts and fix the length of what joins them."""
        if not any(part.is_open for part in self.parts):
            return
        if len({part.tally.complete for part in self.parts}) > 1:
            complete, reason = False, "the domains have different numbers of snapshots"
        failed = self._close_parts(complete, reason)
        self._index.close()
        status = COMPLETE if complete and failed is None else interrupted(str(failed or reason))
        _write_index(self.path, self.description, self.domains, status, self.committed).close()
        if failed is not None:
            raise failed

    def _close_parts(self, complete: bool, reason: str) -> RunFailed | None:
        failed = None
        for part in self.parts:
            try:
                part.close(complete and failed is None, reason)
            except RunFailed as error:
                failed = failed or error
        return failed

    def __enter__(self) -> DomainFiles:
        return self

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        with contextlib.nullcontext() if error is None else contextlib.suppress(RunFailed):
            self.close(error is None, str(error) or type(error).__name__)


def _refuse_gaps(description: FieldDescription, domains: Sequence[Boxes]) -> None:
    held = {
        name: sum(int(np.prod(boxes[name][1])) for boxes in domains if name in boxes) for name in description.components
    }
    wrong = [name for name, component in description.components.items() if held[name] != component.samples]
    if wrong:
        raise ValueError(f"the domains' boxes of {', '.join(wrong)} do not make up the whole")


def _write_index(
    path: Path, description: FieldDescription, domains: Sequence[Boxes], status: str, length: int | None = None
) -> ClaimedFile:
    """Write the file that joins the parts and show it; it stays locked until it is closed."""
    file = ClaimedFile(path)
    try:
        parts = [
            {"file": part_path(path, number).name, "boxes": {name: list(map(list, box)) for name, box in boxes.items()}}
            for number, boxes in enumerate(domains)
        ]  # fmt: skip
        if description.is_hdf5:
            from nearfield.output.formats.joined import write_joined

            write_joined(file, description, parts, status, length)
        else:
            told = {"status": status, "parts": parts, "description": json.loads(description.to_json())}
            file.write_at(0, FIRST + b", " + json.dumps(told, indent=1).encode()[1:] + b"\n")
        file.settle()
        file.show()
    except OSError as error:
        file.close()
        raise RunFailed(f"{path} could not be written: {error}; its parts can be read") from error
    except BaseException:
        file.close()
        raise
    return file


def stored_domains(path: Path) -> list[Boxes]:
    """What each domain of the files that a file joins holds: for one who goes on with them."""
    import h5py

    try:
        with h5py.File(path, "r") as file:
            parts = json.loads(file["parts"].asstr()[()])
    except (OSError, KeyError):
        parts = read_index(path)[1]
    return [{name: (tuple(offset), tuple(shape)) for name, (offset, shape) in part["boxes"].items()} for part in parts]


def read_index(path: Path) -> tuple[FieldDescription, list[dict[str, Any]], str]:
    """Description, parts and status of a JSON file that joins binary or text parts."""
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        return FieldDescription.from_json(json.dumps(told["description"])), told["parts"], told["status"]
    except (ValueError, KeyError) as error:
        raise ModelError(f"{path} cannot be read as an index of field files ({error})") from error
