"""A machine as locality needs it: cores, the memory near them, the caches they share.

Processors are known by the operating system's numbers, as plain tuples of int, so that no size is a limit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from nearfield.entry.errors import ModelError
from nearfield.machine import boards, hwloc_xml, synthetic, system_files
from nearfield.machine.boards import Boards
from nearfield.machine.tree import CACHES, UNKNOWN, Facts, Object, nest

Matrix = tuple[tuple[float, ...], ...]
SCHEMES = ("node", "socket", "numa", "l3", "core", "none")


@dataclass(frozen=True)
class Core:
    """One physical core: its hyper-threads, and the logical indices of what it lies in (-1: no such thing is known)."""

    index: int
    processors: tuple[int, ...]  # numbers of the operating system
    package: int
    numa: int
    l3: int


@dataclass(frozen=True)
class NumaNode:
    """A memory, and the cores that it is near to; none for memory without processors."""

    index: int
    os_index: int
    memory: int  # bytes, 0 where unknown
    cores: tuple[int, ...]


@dataclass(frozen=True)
class Unit:
    """One rank's part under a scheme: logical cores, and the logical NUMA nodes that they lie in."""

    cores: tuple[int, ...]
    numa: tuple[int, ...]


@dataclass(frozen=True)
class Hardware:
    """One machine: this one, or one that is only described (`simulated`).

    `l1` (data), `l2` and `l3` are bytes of one cache, 0 where unknown. `distances` are relative latencies between NUMA
    nodes by logical index, 10 for the own one. `root` is the tree that it was made from; `boards` the torus of a
    machine of several.
    """

    name: str
    simulated: bool
    cores: tuple[Core, ...]
    numa: tuple[NumaNode, ...]
    l1: int = 0
    l2: int = 0
    l3: int = 0
    distances: Matrix | None = None
    facts: Facts = UNKNOWN
    root: Object | None = field(default=None, repr=False, compare=False)
    boards: Boards | None = field(default=None, repr=False, compare=False)

    @property
    def processors(self) -> tuple[int, ...]:
        """Numbers of all processors, hyper-threads counted."""
        return tuple(sorted(number for core in self.cores for number in core.processors))

    @property
    def memory(self) -> int:
        """Bytes of all NUMA nodes; 0 where one of them is unknown."""
        return sum(node.memory for node in self.numa) if all(node.memory for node in self.numa) else 0

    def tree(self) -> Object:
        """The tree of objects: the one it was read as, or one made from the cores."""
        return self.root or tree_of(self)

    def packages(self) -> tuple[Unit, ...]:
        """The packages (sockets), each with its cores and NUMA nodes."""
        return self.units("socket")

    def units(self, scheme: str) -> tuple[Unit, ...]:
        """The units of a scheme in logical order; `none`, like `node`, has one: the whole machine.

        Raises ModelError for a scheme that does not exist, and for `l3` where some core has no known third-level cache.
        """
        if scheme not in SCHEMES:
            raise ModelError(f"binding '{scheme}' is unknown: {', '.join(SCHEMES[:-1])} or {SCHEMES[-1]}")
        keys = {"socket": "package", "numa": "numa", "l3": "l3", "core": "index"}
        groups: dict[int, list[Core]] = {}
        for core in self.cores:
            groups.setdefault(getattr(core, keys[scheme]) if scheme in keys else 0, []).append(core)
        if scheme == "l3" and -1 in groups:
            why = f"{self.name} shows none for some of its cores"
            raise ModelError(f"binding 'l3' needs third-level caches, and {why}. Choose numa or socket")

        def unit(cores: list[Core]) -> Unit:
            return Unit(tuple(core.index for core in cores), tuple(sorted({core.numa for core in cores})))

        return tuple(map(unit, groups.values()))

    def processors_of(self, unit: Unit) -> tuple[int, ...]:
        """Numbers of the processors of a unit, hyper-threads counted."""
        return tuple(sorted(number for core in unit.cores for number in self.cores[core].processors))


def load(given: str | Path | None) -> Hardware:
    """The machine that was named: None is this one, a file is hwloc XML or, ending in .json or shipped under that name,
    a description of boards (boards.py), anything else a synthetic string.

    Raises ModelError for anything else.
    """
    if given is None:
        return this_machine()
    if str(given) in boards.SHIPPED or str(given).lower().endswith(".json"):
        return from_boards(given)
    if Path(given).is_file() or str(given).lower().endswith(".xml"):
        return from_xml(given)
    return from_synthetic(str(given))


def this_machine() -> Hardware:
    """This machine, without the processors and memories that this process may not use."""
    root, distances, facts = system_files.examine()
    return assemble(root, "this machine", False, distances, facts)


def from_synthetic(text: str) -> Hardware:
    """The machine of an hwloc synthetic string such as `pack:2 [numa(memory=6GB)] core:4 pu:1`.

    Raises ModelError where it is not one.
    """
    return assemble(synthetic.parse(text), f'"{" ".join(text.split())}"', True, {}, UNKNOWN)


def from_xml(path: str | Path) -> Hardware:
    """The machine of an hwloc 2 XML file, as `lstopo machine.xml` writes it. Raises ModelError where it is not one."""
    root, distances, facts = hwloc_xml.read(Path(path))
    return assemble(root, Path(path).name, True, distances, facts)


def from_boards(given: str | Path) -> Hardware:
    """The machine of boards in a description, or shipped under that name. Raises ModelError where it is none."""
    described = boards.read(given)
    found = Boards(described)
    board = from_synthetic(described.board)
    if len(board.numa) != found.nodes_each:
        raise ModelError(
            f"machine {given}: distances has {found.nodes_each} rows, but board {board.name} has {len(board.numa)} "
            "NUMA nodes; give a row for each"
        )
    root = synthetic.parse(f"group:{found.count} {described.board}")
    name = f"{described.name}, {found.words()}"
    distances = {(int(a), int(b)): float(d) for (a, b), d in np.ndenumerate(found.distances())}
    return replace(assemble(root, name, True, distances, UNKNOWN), boards=found)


def assemble(
    root: Object, name: str, simulated: bool, distances: Mapping[tuple[int, int], float], facts: Facts
) -> Hardware:
    """Cores and memories of a tree in logical order; `distances` are by the operating system's numbers of nodes."""
    memories = list(memory_of(root))
    numbers = {id(node): index for index, (node, _) in enumerate(memories)}
    whole = -1 if memories else 0  # a machine that names no memory has one, of unknown size
    cores: list[Core] = []
    packages: dict[int, int] = {}
    thirds: dict[int, int] = {}

    def visit(thing: Object, package: int, numa: int, third: int) -> None:
        numa = next((numbers[id(node)] for node in thing.memory if node.local), numa)
        if thing.kind == "package":
            package = packages.setdefault(id(thing), len(packages))
        elif thing.kind == "l3":
            third = thirds.setdefault(id(thing), len(thirds))
        if thing.kind in ("core", "pu"):
            cores.append(Core(len(cores), tuple(thing.processors()), max(0, package), max(0, numa), third))
            return
        for child in thing.children:
            visit(child, package, numa, third)

    visit(root, -1, whole, -1)
    core_of = {number: core.index for core in cores for number in core.processors}
    nodes = tuple(
        NumaNode(index, node.number, node.size, tuple(sorted({core_of[number] for number in covered})))
        for index, (node, covered) in enumerate(memories)
    )
    nodes = nodes or (NumaNode(0, 0, 0, tuple(range(len(cores)))),)
    l1, l2, l3 = (cache_size(root, kind) for kind in CACHES[:3])
    return Hardware(name, simulated, tuple(cores), nodes, l1, l2, l3, matrix(nodes, distances), facts, root)


def tree_of(hardware: Hardware) -> Object:
    """Packages, third-level caches, cores and memories of hardware that was not read from a tree."""

    def inside(cores: Iterable[Core]) -> frozenset[int]:
        return frozenset(number for core in cores for number in core.processors)

    def covered(kind: str) -> Iterator[tuple[int, frozenset[int]]]:
        for index in dict.fromkeys(getattr(core, kind) for core in hardware.cores):
            if index >= 0:
                yield index, inside(core for core in hardware.cores if getattr(core, kind) == index)

    parts = [(Object("package", index), processors) for index, processors in covered("package")]
    parts += [(Object("l3", index, hardware.l3), processors) for index, processors in covered("l3")]
    parts += [(Object("core", core.index), inside([core])) for core in hardware.cores]
    parts += [(Object("pu", number), frozenset({number})) for number in hardware.processors]
    memories = ((Object("numa", node.os_index, node.memory), node.cores) for node in hardware.numa)
    return nest(parts, {memory: inside(hardware.cores[core] for core in cores) for memory, cores in memories})


def memory_of(thing: Object) -> Iterator[tuple[Object, tuple[int, ...]]]:
    """Every NUMA node with the processors near it, inner ones first."""
    for child in thing.children:
        yield from memory_of(child)
    for node in thing.memory:
        yield node, tuple(thing.processors()) if node.local else ()


def cache_size(thing: Object, kind: str) -> int:
    """Bytes of the first cache of a kind; 0 where there is none."""
    if thing.kind == kind:
        return thing.size
    return next((size for child in thing.children if (size := cache_size(child, kind))), 0)


def matrix(nodes: tuple[NumaNode, ...], distances: Mapping[tuple[int, int], float]) -> Matrix | None:
    """Distances by logical index; None unless every pair is known."""
    try:
        return tuple(tuple(float(distances[one.os_index, other.os_index]) for other in nodes) for one in nodes)
    except KeyError:
        return None
