"""Where an entry of a TOML text stands: the line to look at when it is refused."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

# of tables that models have; rows of an array over several lines, `[0, 1]` or `["a"]`, are none
HEADING = re.compile(r"\s*(\[\[?)\s*([A-Za-z_][^\[\],=]*?)\s*\]\]?\s*(?:#.*)?")
NAMES = re.compile(r'"([^"]*)"|\'([^\']*)\'|([^.\s]+)')
Way = tuple[int | str, ...]


def line_of(place: Sequence[int | str], text: str) -> int | None:
    """The line (from 1) of an entry's key, or of the table that holds it; None where no line shows it.

    place: the way to the entry through the file's tables and lists, ("structures", 1, "shape", "lower").
    """
    lines = text.split("\n")
    holds = [table for table in tables(lines) if table[0] == tuple(place[: len(table[0])])]
    way, first, end = max(holds, key=lambda table: len(table[0]))
    name = next((part for part in place[len(way) :] if isinstance(part, str)), None)
    if name is not None:
        key = re.compile(rf"\s*(?:{re.escape(name)}|{re.escape(json.dumps(name))})\s*[.=]")
        for number in range(first, end):
            if key.match(lines[number]):
                return number + 1
    return first or None


def tables(lines: list[str]) -> Iterator[tuple[Way, int, int]]:
    """The tables of a file: the way to each, the number of its first line below the heading, and where it ends."""
    way, first, inside = Way(), 0, ""
    counts: dict[str, int] = {}  # of each list of tables
    for number, line in enumerate(lines):
        heading = None if inside else HEADING.fullmatch(line)
        inside = open_after(inside, line)
        if not heading:
            continue
        yield way, first, number
        names: list[int | str] = [double or single or bare for double, single, bare in NAMES.findall(heading[2])]
        head = str(names[0])
        if heading[1] == "[[":
            counts[head] = counts.get(head, -1) + 1
        if head in counts:  # [structures.shape] belongs to the latest of the structures
            names.insert(1, counts[head])
        way, first = tuple(names), number + 1
    yield way, first, len(lines)


def open_after(inside: str, line: str) -> str:
    """The quotes of a text over several lines that is open after a line; `inside`: those before it."""
    for quotes in re.findall(r'"""|\'\'\'', line):
        if inside in ("", quotes):
            inside = "" if inside else quotes
    return inside
