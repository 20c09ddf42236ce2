"""A machine as an hwloc 2 XML file, which launchers and their simulators read (`HWLOC_XMLFILE`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from xml.sax.saxutils import quoteattr

from nearfield.machine.hardware import Hardware
from nearfield.machine.hwloc_xml import NAMES
from nearfield.machine.tree import CACHES, Object

HEADER = (
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<!DOCTYPE topology SYSTEM "hwloc2.dtd">',
    '<topology version="2.0">',
)
CHUNK = 10  # values in one element, as hwloc writes them


def to_xml(hardware: Hardware) -> str:
    """The text of the file; each object with the processors and the memories that it reaches."""
    root = hardware.tree()
    return "\n".join([*HEADER, *element(hardware, root, whole(root), 1), *distances(hardware), "</topology>", ""])


def element(hardware: Hardware, thing: Object, memory: frozenset[int], depth: int) -> Iterator[str]:
    """The lines of an object, its memory and its children; `memory`: numbers of the NUMA nodes that it reaches."""
    margin = "  " * depth
    processors = frozenset(thing.processors())
    attributes = {"type": NAMES[thing.kind]}
    if thing.number >= 0 and thing.kind not in CACHES and thing.kind != "group":
        attributes["os_index"] = str(thing.number)
    attributes |= sets(processors, memory, thing.kind == "machine")
    if thing.kind in CACHES:
        attributes |= {
            "cache_size": str(thing.size),
            "depth": thing.kind[1],
            "cache_linesize": "64",
            "cache_associativity": "0",
            "cache_type": "1" if thing.kind == "l1" else "0",
        }
    elif thing.kind == "group":
        attributes |= {"kind": "0", "subkind": "0"}
    yield f"{margin}<object {listed(attributes)}>"
    if thing.kind == "machine":
        yield from infos(hardware, margin + "  ")
    for node in thing.memory:
        near = processors if node.local else frozenset()
        own = {"type": "NUMANode", "os_index": str(node.number), **sets(near, frozenset({node.number}))}
        yield f'{margin}  <object {listed(own)} local_memory="{node.size}"/>'
    inherited = memory - frozenset().union(*(whole(child) for child in thing.children))
    for child in thing.children:
        yield from element(hardware, child, inherited | whole(child), depth + 1)
    yield f"{margin}</object>"


def whole(thing: Object) -> frozenset[int]:
    """Numbers of the NUMA nodes on an object and inside it."""
    return frozenset(node.number for node in thing.memory).union(*(whole(child) for child in thing.children))


def sets(processors: frozenset[int], memory: frozenset[int], top: bool = False) -> dict[str, str]:
    """The attributes of the two sets; the machine's also say that all of them may be used."""
    found = {}
    for name, numbers in (("cpuset", processors), ("nodeset", memory)):
        bits = bitmap(numbers)
        found |= {name: bits, f"complete_{name}": bits} | ({f"allowed_{name}": bits} if top else {})
    return found


def bitmap(numbers: Iterable[int]) -> str:
    """A set as 32-bit words in hexadecimal, the highest first."""
    digits = format(sum(1 << number for number in numbers), "x")
    digits = digits.zfill(-(-len(digits) // 8) * 8)
    return ",".join(f"0x{digits[place : place + 8]}" for place in range(0, len(digits), 8))


def infos(hardware: Hardware, margin: str) -> Iterator[str]:
    """What is known of the machine in words."""
    facts = hardware.facts
    for name, value in (("CPUModel", facts.processor), ("OSName", facts.system)):
        if value:
            yield f"{margin}<info name={quoteattr(name)} value={quoteattr(value)}/>"


def distances(hardware: Hardware) -> Iterator[str]:
    """Relative latencies between NUMA nodes, where they are known."""
    if hardware.distances is None or len(hardware.numa) < 2:
        return
    yield (f'  <distances2 type="NUMANode" nbobjs="{len(hardware.numa)}" kind="5" name="NUMALatency" indexing="os">')
    yield from chunks("indexes", [node.os_index for node in hardware.numa])
    yield from chunks("u64values", [round(value) for row in hardware.distances for value in row])
    yield "  </distances2>"


def chunks(name: str, values: list[int]) -> Iterator[str]:
    """Values in elements of a few each, with the length of their text."""
    for place in range(0, len(values), CHUNK):
        text = "".join(f"{value} " for value in values[place : place + CHUNK])
        yield f'    <{name} length="{len(text)}">{text}</{name}>'


def listed(attributes: dict[str, str]) -> str:
    """Attributes as XML."""
    return " ".join(f"{name}={quoteattr(value)}" for name, value in attributes.items())
