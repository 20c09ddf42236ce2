"""hwloc's synthetic strings, which describe a regular machine in one line: `pack:2 [numa(memory=6GB)] core:4 pu:1`.

Each word `kind:count` is a level: so many of that kind in each object of the level before. `[numa]` hangs a memory on
each object of the level before it; `numa:2` splits that level in two, each with a memory. Memory and cache sizes stand
in parentheses (kB, MB, GB, TB are powers of 1000; KiB, MiB, GiB, TiB of 1024), and so do numbers of the operating
system that do not simply count up: `pu:2(indexes=0,2,1,3)`, or loops of step and count, `pu:2(indexes=2*2:1*2)`.
Source of the format: hwloc 2, "Synthetic topologies".
"""

from __future__ import annotations

import itertools
import math
import re
from dataclasses import dataclass, replace

from nearfield.entry.errors import ModelError
from nearfield.machine.tree import Object

MOST = 1 << 17  # processors; past that a string is a mistake
DEEPEST = 40  # levels
WORD = re.compile(
    r"\[\s*(?P<memory>[a-z][a-z0-9]*)\s*(?:\((?P<inside>[^)]*)\))?\s*\]"
    r"|(?P<kind>[a-z][a-z0-9]*):(?P<count>\d+)(?:\((?P<attributes>[^)]*)\))?",
    re.IGNORECASE,
)
KINDS = {
    "machine": r"machine",
    "group": r"group\d*",
    "package": r"pack(age)?|sock(et)?",
    "die": r"die",
    "numa": r"(numa|node|numanode)",
    "core": r"core",
    "pu": r"pu|proc|thread",
    "": r"l[1-5]i(cache)?",
} | {f"l{level}": rf"l{level}[ud]?(cache)?" for level in range(1, 6)}
UNITS = {"": 1} | {f"{prefix}b": 1000**power for power, prefix in enumerate("kmgt", 1)}
UNITS |= {f"{prefix}ib": 1024**power for power, prefix in enumerate("kmgt", 1)}
ALLOWED = (
    "allowed are kind:count words from the outside in, where kind is group, package (pack, socket), die, numa, "
    "l1 to l5, core or pu, a cache with (size=8MB); [numa(memory=6GB)] or numa:2(memory=6GB) for memory; an XML "
    'file of hwloc. For example "pack:2 [numa(memory=6GB)] l3:1(size=8MB) core:4 pu:1"'
)


@dataclass
class Level:
    """One word: how many of what in each object above, their size, their numbers, and the memory hung on each."""

    kind: str
    count: int
    size: int = 0
    indexes: str = ""
    memory: tuple[Object, ...] = ()


class Numbers:
    """Numbers of the objects of each kind, in the order in which they are finished, unless the string numbers them."""

    def __init__(self, listed: dict[str, list[int]]) -> None:
        self.listed = listed
        self._next = {kind: iter(numbers) for kind, numbers in listed.items()}

    def next(self, kind: str) -> int:
        """The operating system's number of the next object of a kind."""
        return next(self._next.setdefault(kind, itertools.count()))


def parse(text: str) -> Object:
    """The tree of a synthetic string. Raises ModelError: what is wrong with it, and what is allowed."""
    try:
        levels, listed = levels_of(text), dict[str, list[int]]()
        for depth, level in enumerate(levels, 1):
            if level.indexes:
                listed[level.kind] = indexes_of(level.indexes, math.prod(outer.count for outer in levels[:depth]))
        return objects(levels, 0, Numbers(listed))[0]
    except ValueError as error:
        raise ModelError(f'topology "{text}" is neither a file nor a machine: {error}; {ALLOWED}') from None


def levels_of(text: str) -> list[Level]:
    """The levels of the string from the machine inward, a memory with the level that it hangs on."""
    levels = [Level("machine", 1)]
    position = 0
    for word in WORD.finditer(text):
        if text[position : word.start()].strip():
            break
        position = word.end()
        if word["memory"]:
            if kind_of(word["memory"]) != "numa":
                raise ValueError(f"'{word['memory']}' stands in brackets, where only numa may")
            levels[-1].memory += (Object("numa", size=attributes(word["inside"], "memory")[0]),)
            continue
        kind, count = kind_of(word["kind"]), int(word["count"])
        if count < 1:
            raise ValueError(f"'{word[0]}' counts none")
        size, indexes = attributes(word["attributes"], "memory" if kind == "numa" else "size")
        levels.append(Level(kind, count, size, indexes))
    if text[position:].strip():
        raise ValueError(f"'{text[position:].split()[0]}' is not a word of it")
    return ordered(levels)


def ordered(levels: list[Level]) -> list[Level]:
    """The levels with a processor at the end, checked for an order that a machine can have."""
    if levels[1:] and levels[1].kind == "machine":
        levels[1].memory = levels[0].memory + levels[1].memory
        levels = levels[1:]
    kinds = [level.kind for level in levels]
    if len(kinds) == 1:
        raise ValueError("it names nothing")
    if levels[0].count > 1:
        raise ValueError("it has more than one machine; --nodes says how many there are")
    if kinds[-1] != "pu":
        levels.append(Level("pu", 1))
    inner = kinds.index("core") if "core" in kinds else len(levels)
    for place, kind in enumerate(kinds):
        if (kind == "machine" and place > 0) or (kind == "pu" and place < len(kinds) - 1):
            raise ValueError(f"'{kind}' stands in the middle")
        if kind in kinds[:place] and kind not in ("group", "", "numa"):
            raise ValueError(f"'{kind}' stands twice")
        if place > inner and kind in ("package", "die", "numa", "group", "l3", "l4", "l5"):
            raise ValueError(f"'{kind}' stands inside a core")
    processors = math.prod(level.count for level in levels)
    if processors > MOST or len(levels) > DEEPEST:
        raise ValueError(f"it has more than {MOST} processors" if processors > MOST else f"more than {DEEPEST} levels")
    return levels


def objects(levels: list[Level], depth: int, numbers: Numbers) -> tuple[Object, ...]:
    """The objects of one level inside one object of the level above."""
    level, made = levels[depth], list[Object]()
    for _ in range(level.count):
        children = objects(levels, depth + 1, numbers) if depth + 1 < len(levels) else ()
        own = (Object("numa", size=level.size),) if level.kind == "numa" else ()
        memory = tuple(replace(node, number=numbers.next("numa")) for node in own + level.memory)
        if not level.kind:  # an instruction cache: only its count matters
            made.extend(children)
        elif level.kind == "numa":
            made.append(Object("group", children=children, memory=memory))
        else:
            made.append(Object(level.kind, numbers.next(level.kind), level.size, children, memory))
    return tuple(sorted(made, key=Object.first_processor) if "pu" in numbers.listed else made)


def kind_of(word: str) -> str:
    """The kind of object that a word names; empty for an instruction cache."""
    for kind, pattern in KINDS.items():
        if re.fullmatch(pattern, word, re.IGNORECASE):
            return kind
    raise ValueError(f"'{word}' is no kind of object")


def attributes(text: str | None, size_name: str) -> tuple[int, str]:
    """The size in bytes and the list of numbers that stand in parentheses."""
    size, indexes = 0, ""
    for attribute in (text or "").split():
        name, _, value = attribute.partition("=")
        if name == size_name:
            match = re.fullmatch(r"(\d+)([a-z]*)", value.lower())
            if not match or match[2] not in UNITS:
                raise ValueError(f"'{value}' is no size: a whole number with kB, MB, GB, TB, KiB, MiB, GiB or TiB")
            size = int(match[1]) * UNITS[match[2]]
        elif name == "indexes":
            indexes = value
        elif name != "memorysidecachesize":
            raise ValueError(f"'{attribute}' is unknown here; {size_name}= and indexes= are known")
    return size, indexes


def indexes_of(text: str, total: int) -> list[int]:
    """The numbers of so many objects: listed, or as loops `step*count`, the fastest-counting first."""
    if re.fullmatch(r"\d+\*\d+(:\d+\*\d+)*", text):
        loops = [tuple(map(int, loop.split("*"))) for loop in text.split(":")]
        if math.prod(count for _, count in loops) != total or any(step < 1 for step, _ in loops):
            raise ValueError(f"the loops of '{text}' do not number {total} objects")
        widths = [math.prod(count for _, count in loops[:place]) for place in range(len(loops))]
        numbers = [
            sum(place // step % count * width for (step, count), width in zip(loops, widths)) for place in range(total)
        ]
    elif re.fullmatch(r"\d+(,\d+)*", text):
        numbers = [int(number) for number in text.split(",")]
    else:
        raise ValueError(f"'{text}' is no list of numbers, such as 0,2,1,3 or 2*2:1*2")
    if len(numbers) != total or len(set(numbers)) != total:
        raise ValueError(f"'{text}' does not number {total} objects")
    return numbers
