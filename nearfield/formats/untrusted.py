"""What is held against the contents of a field file before it is read: anyone may have made or damaged it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from nearfield.entry.errors import ModelError
from nearfield.entry.untrusted_file import plain_name
from nearfield.entry.wording import memory
from nearfield.formats.description import FieldDescription
from nearfield.machine.group_memory import free_memory


@contextlib.contextmanager
def refusing(path: Path) -> Iterator[None]:
    """Error: the file is damaged, or none of Nearfield's; what is read from it may then raise every kind."""
    try:
        yield
    except ModelError:
        raise
    except Exception as error:
        raise ModelError(
            f"{path} is damaged, or no field file of Nearfield ({in_words(error)[:200]}); run its model again"
        ) from None


def in_words(error: Exception) -> str:
    """What an error says on one line; those without a text, by their kind."""
    said = " ".join(str(error).split())
    return said or ("not enough memory" if isinstance(error, MemoryError) else type(error).__name__)


def parts_of(parts: Any, description: FieldDescription) -> list[dict[str, Any]]:
    """The parts that an index names, each beside it and of boxes in the whole. Error: `ValueError`."""
    if not isinstance(parts, list) or not parts:
        raise ValueError("it names no parts")
    for part in parts:
        plain_name(part["file"])
        for name, (offset, shape) in part["boxes"].items():
            ends = [first + count for first, count in zip(offset, shape, strict=True)]
            whole = description.components[name].shape
            if min(*offset, *shape) < 0 or any(end > n for end, n in zip(ends, whole, strict=True)):
                raise ValueError(f"the box of {name} in {part['file']} does not lie in the whole")
    return parts


def place_of_part(path: Path, part: dict[str, Any]) -> Path:
    """Where a part of a joined file lies. Error: a link stands there, which may lead anywhere."""
    place = path.parent / part["file"]
    if place.is_symlink():
        raise ModelError(
            f"{path} joins {part['file']}, which is a link, and no part that Nearfield wrote is one; put the file there"
        )
    return place


def refuse_other_sources(file: Any, description: FieldDescription, parts: list[dict[str, Any]] | None) -> None:
    """Error, `ValueError`: an array is not in the file, nor in the parts that it joins, or has another shape."""
    for name in ("step", *description.time_dims, *description.components):
        data = file[name]
        known = {part["file"] for part in parts or ()}
        outside = [each.file_name for each in data.virtual_sources()] if data.is_virtual else []
        if data.external or data.file.filename != file.filename or not known.issuperset(outside):
            raise ValueError(f"{name} takes its numbers from another file")
        if (
            name in description.components
            and data.shape[1:] != description.components[name].shape[:: description.order]
        ):
            raise ValueError(f"{name} has the shape {data.shape}, not that of its description")


def refuse_longer(file: Any, names: Iterable[str]) -> None:
    """Error, `ValueError`: an array without a codec is said to be larger than the whole file."""
    there = Path(file.filename).stat().st_size
    for name in names:
        if (said := file[name].nbytes) > there:
            raise ValueError(f"{name} is said to take {memory(said)}, more than the file's {memory(there)}")


def refuse_beyond_memory(path: Path, name: str, needed: int) -> None:
    """Error: samples that are asked for take more memory than there is."""
    free = free_memory()
    if free is not None and needed > free:
        raise ModelError(
            f"{path}: what is asked for of {name} takes {memory(needed)} of memory, of which {memory(free)} are free; "
            "read fewer snapshots, or a part of the box"
        )


def refuse_short(path: Path, wanted: int, exactly: bool = False) -> None:
    """Error: the file is shorter than its header says, or (`exactly`) longer."""
    if (there := path.stat().st_size) < wanted or (exactly and there > wanted):
        raise ModelError(f"{path} is damaged: it has {there} bytes, its header tells of {wanted}; run its model again")
