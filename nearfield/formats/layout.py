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

from nearfield.entry.errors import ModelError, RunFailed
from nearfield.formats.claimed import ClaimedFile
from nearfield.formats.description import Block, FieldDescription, Shape
from nearfield.formats.files import COMPLETE, RUNNING, FieldFile, interrupted
from nearfield.formats.index import FIRST
from nearfield.formats.joined import write_joined
from nearfield.formats.opening import open_field_file
from nearfield.formats.reading import joined_parts, stored_fields

if TYPE_CHECKING:
    from nearfield.records.regions import Region

Boxes = Mapping[str, tuple[Shape, Shape]]  # of each component offset and shape in its own box
UNEQUAL = "the domains have different numbers of snapshots"


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


class PartFiles:
    """The files of domains that this process writes; takes blocks as any `FieldFile` does, also over several domains.

    `domains` say what each holds, wherever it is written; together they hold every sample once. `here` are the numbers
    of those whose files are written here, None: all. Errors: as `FieldFile`.
    """

    def __init__(
        self,
        path: str | Path,
        description: FieldDescription,
        domains: Sequence[Boxes],
        threads: int = 1,
        keep: int | None = None,
        here: Sequence[int] | None = None,
    ) -> None:
        self.path, self.description, self.domains = Path(path), description, domains
        _refuse_gaps(description, domains)
        self._here = range(len(domains)) if here is None else here
        self.parts: list[FieldFile] = []
        try:
            for number in self._here:
                part = part_path(path, number)
                self.parts.append(open_field_file(part, description.part(domains[number]), threads, keep))
        except BaseException as error:
            self._close_parts(False, str(error))
            raise

    @property
    def committed(self) -> int:
        """Snapshots that every part has."""
        return min(part.committed for part in self.parts)

    def write(self, block: Block) -> None:
        """Give each part what is its own."""
        for part, number in zip(self.parts, self._here):
            if block.component not in self.domains[number]:
                continue
            offset, shape = self.domains[number][block.component]
            lower = tuple(max(a, b) for a, b in zip(offset, block.offset))
            upper = tuple(min(a + n, b + m) for a, n, b, m in zip(offset, shape, block.offset, block.values.shape))
            if all(a < b for a, b in zip(lower, upper)):
                values = block.values[tuple(slice(a - f, b - f) for a, b, f in zip(lower, upper, block.offset))]
                part.write(replace(block, values=values, offset=tuple(a - f for a, f in zip(lower, offset))))

    def flush(self) -> int:
        """Commit whole snapshots; the number that every part has."""
        return min(part.flush() for part in self.parts)

    def close(self, complete: bool = True, reason: str = "the run was broken off") -> None:
        """End all parts."""
        if not any(part.is_open for part in self.parts):
            return
        if len({part.tally.complete for part in self.parts}) > 1:
            complete, reason = False, UNEQUAL
        failed = self._close_parts(complete, reason)
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


class JoinedFile:
    """What joins the files of domains: grows with them while it is open, ends with the length that all of them have.

    The parts must be there. Errors: `ModelError` where they are not, or another run has the file; `RunFailed` from the
    disk, after which the parts can be read.
    """

    def __init__(self, path: str | Path, description: FieldDescription, domains: Sequence[Boxes]) -> None:
        self.path, self.description, self.domains = Path(path), description, domains
        self._parts = [part_path(path, number) for number in range(len(domains))]
        missing = [part for part in self._parts if not part.is_file()]
        if missing:
            raise ModelError(
                f"{missing[0]} is not there, though a process on its host has made it; choose an --output "
                "on a file system that all hosts share"
            )
        self._file: ClaimedFile | None = _write_index(self.path, description, domains, RUNNING)

    def close(self, complete: bool = True, reason: str = "the run was broken off") -> None:
        """Once the parts are closed: fix the length; complete if all of them are."""
        if self._file is None:
            return
        self._file.close()
        self._file = None
        try:
            parts = [stored_fields(part) for part in self._parts]
        except ModelError as error:
            raise RunFailed(str(error)) from error
        lengths = [len(part.steps) for part in parts]
        if len(set(lengths)) > 1:
            complete, reason = False, UNEQUAL if complete else reason
        status = next((part.status for part in parts if part.status != COMPLETE), COMPLETE)
        status = status if complete else interrupted(reason)
        _write_index(self.path, self.description, self.domains, status, min(lengths)).close()


class DomainFiles(PartFiles):
    """A field file cut into one a domain, all written here, and the file that joins them."""

    def __init__(
        self,
        path: str | Path,
        description: FieldDescription,
        domains: Sequence[Boxes],
        threads: int = 1,
        keep: int | None = None,
    ) -> None:
        super().__init__(path, description, [boxes for boxes in domains if boxes], threads, keep)
        try:
            self._joined = JoinedFile(path, description, self.domains)
        except BaseException as error:
            self._close_parts(False, str(error))
            raise

    def close(self, complete: bool = True, reason: str = "the run was broken off") -> None:
        """End all parts and fix the length of what joins them."""
        try:
            super().close(complete, reason)
        except RunFailed as error:
            self._joined.close(False, str(error))
            raise
        self._joined.close(complete, reason)

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
        ]
        if description.is_hdf5:
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


def stored_domains(path: Path) -> list[Boxes] | None:
    """What each domain of the files that a file joins holds, for one who goes on with them; None: it joins none.

    Error: it is not there, or cannot be read.
    """
    parts = joined_parts(path)
    return None if parts is None else [boxes_from(part["boxes"]) for part in parts]


def boxes_from(found: Mapping[str, Any]) -> Boxes:
    """Boxes as JSON gives them back."""
    return {name: (tuple(offset), tuple(shape)) for name, (offset, shape) in found.items()}
