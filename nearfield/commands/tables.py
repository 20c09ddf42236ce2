"""Tables of text for the screen, and files of figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

from nearfield.commands.writing import written_to
from nearfield.entry.errors import ModelError

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def columns(lines: Sequence[Sequence[str]], left: int = 1) -> str:
    """Lines of cells in columns, the first `left` of them aligned left, all others right."""
    widths = [max(map(len, cells)) for cells in zip_longest(*lines, fillvalue="")]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if number < left else cell.rjust(width)
            for number, (cell, width) in enumerate(zip(line, widths))
        ).rstrip()
        for line in lines
    )


def rows(values: Mapping[str, object], width: int) -> str:
    """A line for each name and its value, the names in one column."""
    return "\n".join(f"{name:{width}} {value}" for name, value in values.items())


def names(given: str | None) -> list[str] | None:
    """The words of `a,b`."""
    return None if given is None else [word.strip() for word in given.split(",")]


def counts(option: str, given: str | None, most: int) -> list[int] | None:
    """The numbers of `1,2,4`. Error: something else."""
    words = names(given)
    if words is None:
        return None
    if not all(word.isdecimal() and 1 <= int(word) <= most for word in words):
        raise ModelError(f"{option} {given}: give whole numbers from 1 to {most} with commas between them, such as 1,2")
    return sorted({int(word) for word in words})


def save(folder: Path, figures: Mapping[str, Figure], option: str = "--plot") -> list[str]:
    """Paths of figures after writing them as PNG into the folder of an option. Error: it cannot be written."""
    return [save_as(folder / f"{name}.png", figure, option, "folder") for name, figure in figures.items()]


def save_as(path: Path, figure: Figure, option: str = "--plot", kind: str = "file") -> str:
    """Path of a figure after writing it as PNG; `option` names it, or its folder. Error: it cannot be written."""
    from nearfield.entry.whole_file import write_whole
    from nearfield.pictures.style import png_bytes

    content = png_bytes(figure)
    with written_to(path, option, kind):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, content)
    return str(path)
