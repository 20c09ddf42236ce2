"""A machine as an hwloc 2 XML file, which launchers and their simulators read (`HWLOC_XMLFILE`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from nearfield.machine.hardware import Hardware
from nearfield.machine.hwloc_xml import NAMES
from nearfield.machine.tree import CACHES, Object

HEADER = '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE topology SYSTEM "hwloc2.dtd">\n'
CHUNK = 10  # values in one element, as hwloc writes them


def to_xml(hardware: Hardware) -> str:
    """The text of the file; each object with the processors and the memories that it reaches."""
    top, root = Element("topology", version="2.0"), hardware.tree()
    machine = add(top, root, whole(root))
    infos = {"CPUModel": hardware.facts.processor, "OSName": hardware.facts.system}
    for place, (name, value) in enumerate((name, value) for name, value in infos.items() if value):
        machine.insert(place, Element("info", name=name, value=value))
    if hardware.distances is not None and len(hardware.numa) > 1:
        kind = {"type": "NUMANode", "nbobjs": str(len(hardware.numa)), "kind": "5"}
        table = SubElement(top, "distances2", kind, name="NUMALatency", indexing="os")
        add_values(table, "indexes", [node.os_index for node in hardware.numa])
        add_values(table, "u64values", [round(value) for row in hardware.distances for value in row])
    indent(top)
    return f"{HEADER}{tostring(top, encoding='unicode')}\n"


def add(parent: Element, thing: Object, memory: frozenset[int]) -> Element:
    """An object with its memory and its children; `memory`: numbers of the NUMA nodes that it reaches."""
    processors = frozenset(thing.processors())
    attributes = {"type": NAMES[thing.kind]}
    if thing.number >= 0 and thing.kind not in CACHES and thing.kind != "group":
        attributes["os_index"] = str(thing.number)
    attributes |= sets(processors, memory, thing.kind == "machine")
    if thing.kind in CACHES:
        attributes |= {"cache_size": str(thing.size), "depth": thing.kind[1], "cache_linesize": "64"}
        attributes |= {"cache_associativity": "0", "cache_type": "1" if thing.kind == "l1" else "0"}
    elif thing.kind == "group":
        attributes |= {"kind": "0", "subkind": "0"}
    element = SubElement(parent, "object", attributes)
    for node in thing.memory:
        near = sets(processors if node.local else frozenset(), frozenset({node.number}))
        own = {"type": "NUMANode", "os_index": str(node.number), **near, "local_memory": str(node.size)}
        SubElement(element, "object", own)
    inherited = memory - frozenset().union(*map(whole, thing.children))
    for child in thing.children:
        add(element, child, inherited | whole(child))
    return element


def whole(thing: Object) -> frozenset[int]:
    """Numbers of the NUMA nodes on an object and inside it."""
    return frozenset(node.number for node in thing.memory).union(*map(whole, thing.children))


def sets(processors: frozenset[int], memory: frozenset[int], top: bool = False) -> dict[str, str]:
    """The attributes of the two sets; the machine's also say that all of them may be used."""
    prefixes = ("", "complete_", "allowed_") if top else ("", "complete_")
    numbers = {"cpuset": bitmap(processors), "nodeset": bitmap(memory)}
    return {f"{prefix}{name}": bits for name, bits in numbers.items() for prefix in prefixes}


def bitmap(numbers: Iterable[int]) -> str:
    """A set as 32-bit words in hexadecimal, the highest first."""
    digits = format(sum(1 << number for number in numbers), "x")
    digits = digits.zfill(-(-len(digits) // 8) * 8)
    return ",".join(f"0x{digits[place : place + 8]}" for place in range(0, len(digits), 8))


def add_values(table: Element, name: str, values: Sequence[int]) -> None:
    """Values in elements of a few each, with the length of their text."""
    for place in range(0, len(values), CHUNK):
        text = "".join(f"{value} " for value in values[place : place + CHUNK])
        SubElement(table, name, length=str(len(text))).text = text
