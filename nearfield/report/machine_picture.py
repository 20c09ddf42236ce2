"""A machine as text, equal parts of a large one folded, and as a picture of boxes in boxes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Any

from nearfield.entry.wording import counted
from nearfield.entry.wording import memory as binary
from nearfield.machine.hardware import Hardware
from nearfield.machine.launchers import ranges
from nearfield.machine.tree import CACHES, Object
from nearfield.pictures.style import INK, blank, clipped, headline, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SMALL = 32  # cores; above, equal siblings share a line
MOST_DISTANCES = 16  # NUMA nodes whose distances are printed
NAMES = {"pu": "processor", "numa": "NUMA node"} | {cache: cache.upper() for cache in CACHES}  # others: the kind
FILL = {"machine": "#FFFFFF", "group": "#F1F3F5", "package": "#E3ECF4", "die": "#DCE6EF", "numa": "#E9C46A"}
FILL |= {"core": "#0072B2", "pu": "#0072B2"} | dict.fromkeys(CACHES, "#CFE3D8")


def size(number_of_bytes: int) -> str:
    """Bytes in powers of 1000 where that leaves a whole number below 1000, else of 1024; empty where unknown."""
    for power, unit in enumerate(("kB", "MB", "GB", "TB"), 1):
        whole, rest = divmod(number_of_bytes, 1000**power)
        if 0 < whole < 1000 and rest == 0:
            return f"{whole} {unit}"
    return binary(number_of_bytes) if number_of_bytes else ""


def text(hardware: Hardware) -> str:
    """The tree, an object a line; memory stands with the object that it is local to."""
    root = hardware.tree()
    name = "SIMULATED machine" if hardware.simulated else "machine"
    title = " · ".join([name, *(text_of(node, True) for node in root.memory)])
    lines = branch(root.children, 1, len(hardware.cores) > SMALL, False)
    return "\n".join([title, *lines, *distance_lines(hardware)])


def branch(things: Sequence[Object], depth: int, fold: bool, folded: bool) -> Iterator[str]:
    """Lines of siblings; equal ones share a line where each is a single core, and in a large machine (`fold`).

    `folded`: these stand for others too, so that their numbers say nothing.
    """
    numbered = enumerate(things)
    for _, same in groupby(numbered, lambda each: (shape(each[1]), 0 if fold or single(each[1]) else each[0])):
        run = [thing for _, thing in same]
        chain = [run[0]]
        while len(chain[-1].children) == 1 and chain[-1].children[0].kind != "pu":
            chain.append(chain[-1].children[0])
        yield "  " * depth + title_of(run, chain, folded)
        if chain[-1].kind not in ("core", "pu"):
            yield from branch(chain[-1].children, depth + 1, fold, folded or len(run) > 1)


def single(thing: Object) -> bool:
    """Whether an object is a core, or holds nothing but one."""
    return thing.kind in ("core", "pu") or (len(thing.children) == 1 and single(thing.children[0]))


def title_of(run: Sequence[Object], chain: Sequence[Object], folded: bool) -> str:
    """A line's text: number, names and contents of the objects, and the processors of them all."""
    numbered = len(run) == 1 and not folded
    parts = [text_of(part, numbered) for thing in chain for part in (thing, *thing.memory)]
    threads = len(chain[-1].children)
    if chain[-1].kind == "core" and threads > 1:
        parts.append(f"{threads} processors" + (" each" if len(run) > 1 else ""))
    numbers = "" if folded else ranges(number for thing in run for number in thing.processors())
    count = f"{len(run)} x " if len(run) > 1 else ""
    return count + " · ".join(parts) + (f"  [{numbers}]" if 0 < len(numbers) <= 40 else "")


def text_of(thing: Object, numbered: bool = False) -> str:
    """Name, number and size of an object."""
    number = f" {thing.number}" if numbered and thing.number >= 0 and thing.kind in ("package", "die", "numa") else ""
    known = f" {size(thing.size)}" if thing.size else ""
    return f"{NAMES.get(thing.kind, thing.kind)}{number}{known}"


def shape(thing: Object) -> tuple:
    """A key that two objects share where they are equal but for their numbers."""
    return (
        thing.kind,
        thing.size,
        tuple((node.size, node.local) for node in thing.memory),
        tuple((inner, len(list(alike))) for inner, alike in groupby(map(shape, thing.children))),
    )


def distance_lines(hardware: Hardware) -> list[str]:
    """Distances between NUMA nodes, where there are two or more: a table, of many only the range."""
    table = hardware.distances
    if table is None or len(table) < 2:
        return []
    if len(table) > MOST_DISTANCES:
        far = [value for one, row in enumerate(table) for other, value in enumerate(row) if one != other]
        return ["", f"distances between NUMA nodes: {min(far):g} to {max(far):g}, own node {table[0][0]:g}"]
    head = " ".join(f"{node.os_index:5d}" for node in hardware.numa)
    rows = zip(hardware.numa, (" ".join(f"{value:5g}" for value in row) for row in table))
    return ["", f"distances  {head}", *(f"  node {node.os_index:3d} {row}" for node, row in rows)]


@dataclass
class Box:
    """An object in the picture; lengths in units of a core's height."""

    thing: Object
    width: float
    height: float
    head: float = 0.0  # height of its own name and memory
    inside: list[tuple[float, float, Box]] = field(default_factory=list)  # left, top, what


GAP = 0.14
NAME, BANK = 0.5, 0.42  # heights of a name and of a memory


def arrange(thing: Object) -> Box:
    """Boxes of an object and of all in it, siblings in rows, so that the whole is about 3 wide for 2 high."""
    if thing.kind in ("core", "pu"):
        return Box(thing, 1.5, 1.0)
    inner = [arrange(child) for child in thing.children]
    width, height = max(box.width for box in inner) + GAP, max(box.height for box in inner) + GAP
    rows = {columns: -(-len(inner) // columns) for columns in range(1, len(inner) + 1)}
    columns = min(rows, key=lambda n: abs(math.log(n * width / (rows[n] * height) / 1.5)) + n * rows[n] / len(inner))
    head = NAME + BANK * len(thing.memory)
    box = Box(thing, columns * width + GAP, head + rows[columns] * height + GAP, head)
    for place, child in enumerate(inner):
        box.inside.append((GAP + place % columns * width, head + GAP / 2 + place // columns * height, child))
    return box


@styled
def picture(hardware: Hardware) -> Figure:
    """Boxes in boxes: packages, caches and cores, memory as a bar in the box that it is local to."""
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Rectangle

    box = arrange(hardware.tree())
    width = min(16.0, max(7.0, box.width * 0.55))
    figure = blank(width, min(14.0, width * box.height / box.width) + 0.9)
    axes = figure.add_subplot()
    scale = width / box.width * 72  # points a unit
    patches: dict[str, list[Rectangle]] = {}
    for left, top, part in placed(box, 0.0, 0.0):
        patches.setdefault(part.thing.kind, []).append(Rectangle((left, top), part.width, part.height))
        for place, node in enumerate(part.thing.memory):
            corner = (left + GAP / 2, top + part.head - BANK * (len(part.thing.memory) - place))
            patches.setdefault("numa", []).append(Rectangle(corner, part.width - GAP, BANK * 0.85))
            middle = (left + part.width / 2, corner[1] + BANK * 0.42)
            write(axes, *middle, text_of(node, True), scale, part.width, BANK)
        label(axes, hardware, left, top, part, scale)
    edges: dict[str, Any] = {"edgecolor": "#7B8794", "linewidth": min(0.8, scale / 60)}
    for order, (kind, shapes) in enumerate(patches.items()):
        axes.add_collection(PatchCollection(shapes, facecolor=FILL[kind], zorder=order / 100, **edges))
    axes.set(xlim=(-GAP, box.width + GAP), ylim=(box.height + GAP, -GAP), aspect="equal")
    axes.set_axis_off()
    counts = {"package": hardware.packages(), "NUMA node": hardware.numa, "core": hardware.cores}
    counts |= {"processor": hardware.processors}
    title = f"{'SIMULATED: ' if hardware.simulated else ''}{hardware.name.strip(chr(34))}"
    facts = ", ".join(counted(len(things), name) for name, things in counts.items())
    return headline(figure, clipped(title, int(8 * width)), facts)


def placed(box: Box, left: float, top: float) -> Iterable[tuple[float, float, Box]]:
    """Every box with its corner, outer ones first."""
    yield left, top, box
    for right, down, inner in box.inside:
        yield from placed(inner, left + right, top + down)


def label(axes, hardware: Hardware, left: float, top: float, box: Box, scale: float) -> None:
    """The name of a box, where there is room for it."""
    thing, x = box.thing, left + box.width / 2
    if thing.kind in ("core", "pu"):
        write(axes, x, top + box.height / 2, ranges(thing.processors()), scale, box.width, 0.8, "white")
    else:
        write(axes, x, top + NAME * 0.52, text_of(thing, True), scale, box.width, NAME)


def write(axes, x: float, y: float, words: str, scale: float, width: float, height: float, colour: str = INK) -> None:
    """Words in the middle of a place of so many units; none where they would be too small to read."""
    points = min(9.0, scale * height * 0.55, scale * width / (0.62 * max(1, len(words))))
    if points >= 3.5:
        axes.text(x, y, words, ha="center", va="center", fontsize=points, color=colour)
