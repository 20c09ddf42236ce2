"""hwloc's XML files, version 2, which `lstopo machine.xml` writes of any machine and launchers read back.

NUMA nodes are memory children of the object that they are local to; sets of processors are bitmaps of 32-bit words in
hexadecimal, the highest first. Source of the format: hwloc 2, "Importing and exporting topologies from/to XML files".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

from nearfield.entry.errors import ModelError
from nearfield.machine.system_files import clock_in
from nearfield.machine.tree import Facts, Object

KINDS = {
    "Machine": "machine",
    "Group": "group",
    "Package": "package",
    "Die": "die",
    "Core": "core",
    "PU": "pu",
    "NUMANode": "numa",
} | {f"L{level}Cache": f"l{level}" for level in range(1, 6)}
NAMES = {kind: name for name, kind in KINDS.items()}
HIGHEST = 1 << 20  # number of a processor or a node; past that a file is damaged
NETWORK = ("2", "3")  # osdev_type of network cards and of InfiniBand


def read(path: Path) -> tuple[Object, dict[tuple[int, int], float], Facts]:
    """Tree, distances between NUMA nodes by their numbers, and facts of a file; ModelError unless it is of hwloc 2."""
    try:
        top = ElementTree.fromstring(path.read_bytes())
    except OSError as error:
        why = error.strerror or error
        raise ModelError(f"{path}: {why}; name an XML file of hwloc or a synthetic string") from None
    except (ElementTree.ParseError, ValueError, LookupError) as error:
        raise ModelError(f"{path} is not XML ({error}); `lstopo {path.stem}.xml` writes a machine's file") from None
    version = top.get("version", "1")
    machine = top.find("object")
    if top.tag != "topology" or machine is None or version.split(".")[0] not in ("2", "3"):
        content = f"a file of hwloc {version}" if top.tag == "topology" and machine is not None else "no topology"
        allowed = f"allowed are files of hwloc 2 or later, which `lstopo {path.stem}.xml` of such a version writes"
        raise ModelError(f"{path} holds {content}; {allowed}")
    try:
        root = read_object(machine, bitmap(machine.get("allowed_cpuset")))
        processors = list(root.processors()) if root else []
        if root is None or len(set(processors)) < len(processors):
            raise ValueError("it names a processor twice" if root else "it has no processor")
        return root, read_distances(top), facts_of(machine)
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise ModelError(f"{path} is damaged: {error}; write it again with `lstopo {path.stem}.xml`") from None


def read_object(element: ElementTree.Element, allowed: int | None) -> Object | None:
    """The object of an element, without processors that are not allowed; None where nothing is left of it."""
    kind = KINDS[element.get("type", "")]
    if kind == "pu":
        number = number_of(element)
        return Object("pu", number) if allowed is None or allowed >> number & 1 else None
    children = [child for inner in normal_children(element) if (child := read_object(inner, allowed))]
    memory = [node for inner in element.iterfind("object") for node in read_memory(inner)]
    if not children:
        return None
    number, size = int(element.get("os_index", "-1")), int(element.get("cache_size", "0"))
    return Object(kind, number, size, tuple(children), tuple(memory))


def number_of(element: ElementTree.Element) -> int:
    """The operating system's number of a processor or a node, which cannot do without one."""
    number = int(element.get("os_index", "-1"))
    if not 0 <= number < HIGHEST:
        raise ValueError(f"it has a {element.get('type')} number {number}, outside 0 to {HIGHEST - 1}")
    return number


def normal_children(element: ElementTree.Element) -> Iterator[ElementTree.Element]:
    """The elements of the tree of processors right inside; instruction caches are looked through, devices left out."""
    for inner in element.iterfind("object"):
        kind = inner.get("type", "")
        if kind in KINDS and kind != "NUMANode":
            yield inner
        elif re.fullmatch(r"L[1-5]iCache", kind):
            yield from normal_children(inner)


def read_memory(element: ElementTree.Element) -> Iterator[Object]:
    """The NUMA node of an element, or those behind a memory-side cache; none of any other element."""
    if element.get("type") == "NUMANode":
        local = bitmap(element.get("cpuset")) != 0
        yield Object("numa", number_of(element), int(element.get("local_memory", "0")), local=local)
    elif element.get("type") == "MemCache":
        for inner in element.iterfind("object"):
            yield from read_memory(inner)


def bitmap(text: str | None) -> int | None:
    """The set in a bitmap such as `0x0000000f,0xffffffff`; None where it is absent or endless."""
    if text is None or text.startswith("0xf...f"):
        return None
    words = text.split(",")
    if not all(re.fullmatch(r"(0x[0-9a-fA-F]{1,8})?", word) for word in words):
        raise ValueError(f"'{text[:60]}' is no bitmap")
    return int("".join(f"{int(word or '0', 16):08x}" for word in words), 16)


def read_distances(top: ElementTree.Element) -> dict[tuple[int, int], float]:
    """Relative latencies between NUMA nodes, by the operating system's numbers; empty where the file has none."""
    for table in top.iterfind("distances2"):
        if [table.get(name) for name in ("type", "name", "indexing")] != ["NUMANode", "NUMALatency", "os"]:
            continue
        nodes = [int(word) for part in table.iterfind("indexes") for word in (part.text or "").split()]
        values = [float(word) for part in table.iterfind("u64values") for word in (part.text or "").split()]
        if len(values) != len(nodes) ** 2:
            raise ValueError("its table of distances is not square")
        pairs = [(one, other) for one in nodes for other in nodes]
        return dict(zip(pairs, values))
    return {}


def facts_of(machine: ElementTree.Element) -> Facts:
    """Processor, system and network, where the file names them."""
    infos = {info.get("name"): info.get("value", "") for info in reversed(list(machine.iter("info")))}  # the first
    system = " ".join(filter(None, (infos.get("OSName"), infos.get("OSRelease"))))
    devices = (e.get("name", "") for e in machine.iter("object") if e.get("osdev_type") in NETWORK)
    processor = infos.get("CPUModel", "")
    return Facts(processor, clock_in(processor), system, tuple(filter(None, devices)))
