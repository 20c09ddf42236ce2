"""One field file for each domain, and one more file that joins them.

Parts of `fields.h5` are `fields.d0.h5`, `fields.d1.h5` ... in the same folder. HDF5 parts are joined by virtual data
sets, which grow with the parts during a run (nan where a part is shorter) and get the length of the shortest part at
the end. Binary and text parts are joined by a JSON file that names them. `open_fields` reads either, and takes the
shortest part's length at any time.
"""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from nearfield.entry.errors import ModelError, RunFailed
from nearfield.entry.triples import Triple, triple
from nearfield.formats.checked_pieces import sealed
from nearfield.formats.claimed import ClaimedFile
from nearfield.formats.description import Block, FieldDescription
from nearfield.formats.files import BROKEN_OFF, COMPLETE, RUNNING, FieldFile, interrupted
from nearfield.formats.joined import write_joined
from nearfield.formats.opening import open_field_file
from nearfield.formats.pieced import box_at
from nearfield.formats.reading import PARTS_FIRST, joined_parts, stored_fields
from nearfield.plan.boxes import Box
from nearfield.records.regions import Region

Boxes = Mapping[str, tuple[Triple, Triple]]  # offset and shape in the component's own box
UNEQUAL = "the domains have different numbers of snapshots"


def boxes_of(regions: Mapping[str, Region], lower: Triple, upper: Triple) -> Boxes:
    """The boxes of the regions in a domain of the Yee indices [lower, upper), without those that are empty."""
    boxes = {}
    for name, region in regions.items():
        common = Box(region.lower, region.upper).intersection(Box(lower, upper))
        if common:
            boxes[name] = (triple(n - first for n, first in zip(common.lower, region.lower)), common.shape)
    return boxes


def part_path(path: str | Path, number: int) -> Path:
    """The file of a domain."""
    path = Path(path)
    return path.with_name(f"{path.stem}.d{number}{path.suffix}")


class PartFiles:
    """The files of domains that this process writes; takes blocks as any `FieldFile` does, also over several domains.

    `domains` are the boxes of every domain, wherever it is written; together they hold every sample once. `here` are
    the numbers of the domains whose files are written here, None: all. Errors: as `FieldFile`.
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
                own = description.part(domains[number])
                self.parts.append(open_field_file(part_path(path, number), own, threads, keep))
        except BaseException as error:
            self._close_parts(False, str(error))
            raise

    @property
    def committed(self) -> int:
        """Committed snapshots of the shortest part."""
        return min(part.committed for part in self.parts)

    def write(self, block: Block) -> None:
        """Give each part its samples."""
        for part, number in zip(self.parts, self._here):
            if block.component not in self.domains[number]:
                continue
            own = box_at(*self.domains[number][block.component])
            if common := own.intersection(block.box):
                offset = triple(n - first for n, first in zip(common.lower, own.lower))
                part.write(replace(block, values=block.part(common), offset=offset))

    def flush(self) -> int:
        """Commit whole snapshots, and return the number that every part has."""
        return min(part.flush() for part in self.parts)

    def settle(self) -> None:
        """Wait until the disk has what is committed."""
        for part in self.parts:
            part.settle()

    def close(self, complete: bool = True, reason: str = BROKEN_OFF) -> None:
        """End all parts."""
        if not any(part.is_open for part in self.parts):
            return
        if len({part.tally.complete for part in self.parts}) > 1:
            complete, reason = False, UNEQUAL
        if failed := self._close_parts(complete, reason):
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
    """The file that joins the files of domains: grows with them while it is open, ends with the shortest one's length.

    The parts must exist. Errors: `ModelError` if they do not, or another run has the file; `RunFailed` from the disk,
    after which the parts can be read.
    """

    def __init__(self, path: str | Path, description: FieldDescription, domains: Sequence[Boxes]) -> None:
        self.path, self.description, self.domains = Path(path), description, domains
        self._parts = [part_path(path, number) for number in range(len(domains))]
        missing = [part for part in self._parts if not part.is_file()]
        if missing:
            raise ModelError(
                f"{missing[0]} does not exist here, though a process on another host has made it; choose an --output "
                "on a file system that all hosts share"
            )
        self._file: ClaimedFile | None = _write_index(self.path, description, domains, RUNNING)

    def close(self, complete: bool = True, reason: str = BROKEN_OFF) -> None:
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
    """The files of all domains, written here, and the file that joins them."""

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

    def close(self, complete: bool = True, reason: str = BROKEN_OFF) -> None:
        """End all parts and fix the length of the joined file."""
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
    whole = {name: item.samples for name, item in description.components.items()}
    given = {name: sum(math.prod(boxes[name][1]) for boxes in domains if name in boxes) for name in whole}
    if wrong := [name for name in whole if given[name] != whole[name]]:
        raise ValueError(f"the domains' boxes of {', '.join(wrong)} do not make up the whole")


def _write_index(
    path: Path, description: FieldDescription, domains: Sequence[Boxes], status: str, length: int | None = None
) -> ClaimedFile:
    """Write the file that joins the parts and put it in place; it stays locked until it is closed."""
    file = ClaimedFile(path)
    try:
        parts = [
            {"file": part_path(path, number).name, "boxes": {name: list(map(list, box)) for name, box in boxes.items()}}
            for number, boxes in enumerate(domains)
        ]
        if description.is_hdf5:
            write_joined(file, description, parts, status, length)
        else:
            data = {"status": status, "parts": parts, "description": json.loads(description.to_json())}
            text = sealed(PARTS_FIRST.decode() + ", " + json.dumps(data, indent=1)[1:])
            file.write_at(0, text.encode() + b"\n")
        file.settle()
        file.show()
    except BaseException as error:
        file.close()
        if not isinstance(error, OSError):
            raise
        raise RunFailed(f"{path} could not be written: {error}; its parts can be read") from error
    return file


def stored_domains(path: Path) -> list[Boxes] | None:
    """The boxes of each domain whose files a file joins, for a run that continues them; None: it joins none.

    Error: `ModelError` for a file that does not exist or cannot be read.
    """
    parts = joined_parts(path)
    return None if parts is None else [boxes_from(part["boxes"]) for part in parts]


def boxes_from(data: Mapping[str, Any]) -> Boxes:
    """The boxes in data from JSON."""
    return {name: (triple(offset), triple(shape)) for name, (offset, shape) in data.items()}
