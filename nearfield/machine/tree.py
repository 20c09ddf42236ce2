"""A machine as a tree of objects inside objects, as hwloc sees it: memory hangs beside the tree, where it is local."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

CACHES = ("l1", "l2", "l3", "l4", "l5")


@dataclass(frozen=True)
class Object:
    """One object: what it is, its number in the operating system (-1: none), what lies in it, what memory is near it.

    `kind` is `machine`, `group`, `package`, `die`, `l5` to `l1`, `core`, `pu` or `numa`; `size` is in bytes, of a
    cache or a memory. `local` is False for memory that no processor is near to. `first` is the lowest processor by
    which siblings are ordered, where it is one that may not be used; -1: the lowest inside.
    """

    kind: str
    number: int = -1
    size: int = 0
    children: tuple[Object, ...] = ()
    memory: tuple[Object, ...] = ()
    local: bool = True
    first: int = -1

    def processors(self) -> Iterator[int]:
        """Operating-system numbers of all processors inside, in the tree's order."""
        if self.kind == "pu":
            yield self.number
        for child in self.children:
            yield from child.processors()

    def first_processor(self) -> int:
        """The processor by which siblings are ordered."""
        return self.first if self.first >= 0 else min(self.processors(), default=-1)


@dataclass(frozen=True)
class Facts:
    """Further facts of a machine; empty or 0 where they are unknown."""

    processor: str = ""
    clock: float = 0.0  # Hz
    system: str = ""
    network: tuple[str, ...] = ()


UNKNOWN = Facts()


@dataclass
class Span:
    """An object under construction: the processors it covers, and what lies directly in it."""

    thing: Object
    processors: frozenset[int]
    inside: list[Span]


def nest(parts: Iterable[tuple[Object, frozenset[int]]], memory: Mapping[Object, frozenset[int]]) -> Object:
    """The tree of parts that are known by the processors they cover; one that crosses a larger one is left out.

    Parts come from the outermost kind to the innermost, which decides between equals. Memory goes to the outermost part
    that covers the same processors, or gets a group of its own; memory near no processor goes to the machine.
    """
    parts, near = list(parts), {node: covered for node, covered in memory.items() if covered}
    everything = frozenset().union(*(covered for _, covered in parts))
    taken = {covered for _, covered in parts} | {everything}
    groups = [
        (Object("group", first=node.first), covered)
        for covered, node in {covered: node for node, covered in near.items()}.items()
        if covered not in taken
    ]
    root = Span(Object("machine"), everything, [])
    innermost = dict.fromkeys(everything, root)
    for thing, covered in sorted(groups + parts, key=lambda part: -len(part[1])):
        owner = innermost[min(covered)]
        if covered <= owner.processors:
            span = Span(thing, covered, [])
            owner.inside.append(span)
            innermost.update(dict.fromkeys(covered, span))
    beside: dict[frozenset[int], list[Object]] = {}
    for node, covered in memory.items():
        beside.setdefault(covered or everything, []).append(node if covered else replace(node, local=False))
    return finished(root, beside)


def finished(span: Span, memory: dict[frozenset[int], list[Object]]) -> Object:
    """The object with its children in order, and with the memory that no one further out has claimed."""
    near = tuple(memory.pop(span.processors, ()))
    children = sorted((finished(inner, memory) for inner in span.inside), key=Object.first_processor)
    return replace(span.thing, children=tuple(children), memory=near)
