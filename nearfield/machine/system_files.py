"""This machine as the files of Linux describe it, without the processors and memories that this process may not use."""

from __future__ import annotations

import platform
import re
from collections.abc import Iterator
from pathlib import Path

from nearfield.machine.facts import CPUINFO, processor_name
from nearfield.machine.topology import SYSTEM, bytes_in, processors_in, text, usable_processors
from nearfield.machine.tree import Facts, Object, nest

STATUS = Path("/proc/self/status")
Part = tuple[Object, frozenset[int]]


def examine(
    system: Path = SYSTEM, usable: frozenset[int] | None = None, allowed_memory: frozenset[int] | None = None
) -> tuple[Object, dict[tuple[int, int], float], Facts]:
    """Tree, distances between NUMA nodes by their numbers, and facts; where files are missing, what is left of them."""
    usable = usable_processors() if usable is None else usable
    folder = system / "devices" / "system"
    parts = parts_of(folder / "cpu", usable)
    allowed_memory = memory_allowed() if allowed_memory is None else allowed_memory
    memory, distances = memory_of(folder / "node", usable, allowed_memory)
    return nest(without_crossing(parts, memory), memory), distances, facts(system)


def parts_of(folder: Path, usable: frozenset[int]) -> list[Part]:
    """Packages, caches, cores and processors with the usable processors in each, outer kinds first."""
    packages: dict[int, set[int]] = {}
    first_of: dict[int, int] = {}
    caches: dict[tuple[int, frozenset[int]], int] = {}
    cores: dict[frozenset[int], int] = {}
    for processor in sorted(usable):
        place = folder / f"cpu{processor}"
        package = number_in(place / "topology" / "physical_package_id")
        packages.setdefault(package, set()).add(processor)
        first_of.setdefault(package, min(listed(place, "package_cpus", "core_siblings") | {processor}))
        core = listed(place, "core_cpus", "thread_siblings") | {processor}
        cores.setdefault(core, number_in(place / "topology" / "core_id"))
        for index in (place / "cache").glob("index*"):
            level, size = text(index / "level"), bytes_in(text(index / "size"))
            if level in "12345" and level and size and text(index / "type") != "Instruction":
                sharers = processors_in(text(index / "shared_cpu_list")) or core
                caches.setdefault((int(level), sharers | {processor}), size)
    found: list[Part] = [
        (Object("package", number, first=first_of[number]), frozenset(inside)) for number, inside in packages.items()
    ]
    found += [
        (Object(f"l{level}", size=size, first=min(inside)), inside & usable)
        for (level, inside), size in sorted(caches.items(), key=lambda cache: -cache[0][0])
    ]
    found += [(Object("core", number, first=min(core)), core & usable) for core, number in cores.items()]
    return found + [(Object("pu", number), frozenset({number})) for number in sorted(usable)]


def listed(place: Path, *names: str) -> frozenset[int]:
    """The processors in a processor's list of this name, or of that which older kernels have; none without either."""
    lists = (processors_in(text(place / "topology" / f"{name}_list")) for name in names)
    return next(filter(None, lists), frozenset())


def memory_of(
    folder: Path, usable: frozenset[int], allowed: frozenset[int]
) -> tuple[dict[Object, frozenset[int]], dict[tuple[int, int], float]]:
    """NUMA nodes that this process may use with the usable processors near each, and the distances between them."""
    nodes: dict[Object, frozenset[int]] = {}
    rows: dict[int, list[str]] = {}
    present = sorted(int(entry.name[4:]) for entry in folder.glob("node*") if entry.name[4:].isdigit())
    for number in present:
        place = folder / f"node{number}"
        rows[number] = text(place / "distance").split()
        near = processors_in(text(place / "cpulist"))
        size = re.search(r"MemTotal:\s*(\d+) kB", text(place / "meminfo"))
        memory = int(size.group(1)) * 1024 if size else 0
        if (near & usable) or (not near and memory and (not allowed or number in allowed)):
            nodes[Object("numa", number, memory, first=min(near, default=-1))] = near & usable
    kept = {node.number for node in nodes}
    distances = {
        (one, other): float(value)
        for one in kept
        for other, value in zip(present, rows[one])
        if other in kept and value.isdigit()
    }
    return nodes, distances


def without_crossing(parts: list[Part], memory: dict[Object, frozenset[int]]) -> list[Part]:
    """The parts without those that a NUMA node cuts in two, which virtual machines are known to claim."""
    node_of = {processor: covered for covered in memory.values() for processor in covered}

    def whole(covered: frozenset[int]) -> bool:
        nodes = {node_of.get(processor, covered) for processor in covered}
        return len(nodes) == 1 or all(node <= covered for node in nodes)

    return [part for part in parts if part[0].kind == "pu" or whole(part[1])]


def memory_allowed() -> frozenset[int]:
    """Numbers of the NUMA nodes that this process may use; empty where the system does not say."""
    listed = re.search(r"^Mems_allowed_list:\s*(\S+)", text(STATUS), re.MULTILINE)
    return processors_in(listed.group(1)) if listed else frozenset()


def facts(system: Path) -> Facts:
    """Processor, clock, operating system and network."""
    name = processor_name()
    return Facts(name, clock(system, name), operating_system(), tuple(network(system)))


def clock(system: Path, name: str) -> float:
    """Hz: the one in the processor's name, else the highest that it can have, else that of the moment; 0 if unknown."""
    highest = text(system / "devices" / "system" / "cpu" / "cpu0" / "cpufreq" / "cpuinfo_max_freq")  # kHz
    if named := re.search(r"@\s*([\d.]+)\s*GHz", name):
        return float(named.group(1)) * 1e9
    if highest.isdigit():
        return float(highest) * 1e3
    return max(
        (float(value) * 1e6 for value in re.findall(r"^cpu MHz\s*:\s*([\d.]+)$", text(CPUINFO), re.MULTILINE)),
        default=0.0,
    )


def operating_system() -> str:
    """Distribution and kernel."""
    try:
        distribution = platform.freedesktop_os_release().get("PRETTY_NAME", "")
    except OSError:
        distribution = ""
    kernel = f"{platform.system()} {platform.release()}"
    return f"{distribution} ({kernel})" if distribution else kernel


def network(system: Path) -> Iterator[str]:
    """Network cards that are up, with their rate where they name it."""
    for card in sorted((system / "class" / "net").glob("*")):
        speed = text(card / "speed")
        if (card / "device").exists() and text(card / "operstate") in ("up", "unknown"):
            yield f"{card.name} {int(speed) / 1000:g} Gbit/s" if speed.isdigit() else card.name
    for port in sorted((system / "class" / "infiniband").glob("*/ports/*")):
        yield f"{port.parent.parent.name} {text(port / 'rate')}".strip()


def number_in(file: Path) -> int:
    """The number that stands in a file of the system; -1 where there is none."""
    found = text(file)
    return int(found) if found.lstrip("-").isdigit() else -1
