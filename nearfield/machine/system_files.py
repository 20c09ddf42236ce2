"""Reader of the files in which Linux describes a machine, and the tree of what this process may use of it."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from nearfield.machine.tree import Facts, Object, nest

SYSTEM = Path("/sys")
CPUS, NODES = "devices/system/cpu", "devices/system/node"  # folders of each processor, of each NUMA node
CPUINFO = Path("/proc/cpuinfo")
STATUS = Path("/proc/self/status")
MEMORY = Path("/proc/meminfo")
CONTROL_GROUP = Path("/proc/self/cgroup")
UNITS = {"": 1, "K": 1024, "M": 1024**2, "G": 1024**3}
Part = tuple[Object, frozenset[int]]  # an object and the usable processors in it
Caches = dict[tuple[int, frozenset[int]], int]  # bytes by level and by all processors that share the cache


def text(file: Path) -> str:
    """Contents of a file of the system without blanks at the ends; empty where it cannot be read."""
    try:
        return file.read_text(encoding="utf-8", errors="replace").strip()
    except (OSError, ValueError):
        return ""


def number_in(file: Path) -> int:
    """The number in a file of the system; -1 where there is none."""
    content = text(file)
    return int(content) if content.lstrip("-").isdigit() else -1


def numbers_in(listed: str) -> frozenset[int]:
    """The numbers of a list such as `0-3,8`; none where the text is not such a list."""
    if not re.fullmatch(r"\d+(-\d+)?(,\d+(-\d+)?)*", listed):
        return frozenset()
    ends = [[int(end) for end in part.split("-")] for part in listed.split(",")]
    return frozenset(number for part in ends for number in range(part[0], part[-1] + 1))


def ranges(numbers: Iterable[int]) -> str:
    """Numbers as a list of ranges: `0-3,8`."""
    ends: list[list[int]] = []
    for number in sorted(numbers):
        if ends and number == ends[-1][1] + 1:
            ends[-1][1] = number
        else:
            ends.append([number, number])
    return ",".join(f"{first}-{last}" if last > first else f"{first}" for first, last in ends)


def bytes_in(size: str) -> int:
    """Bytes of a size such as `2048K`; 0 where the text is not a size."""
    match = re.fullmatch(r"(\d+)([KMG]?)", size)
    return int(match[1]) * UNITS[match[2]] if match else 0


def allowed_in(status: Path, what: str) -> frozenset[int]:
    """The numbers in the line `Cpus_allowed_list` or `Mems_allowed_list` of a status file; none without it."""
    line = re.search(rf"^{what}_allowed_list:\s*(\S+)", text(status), re.MULTILINE)
    return numbers_in(line[1]) if line else frozenset()


def memory_in(file: Path) -> dict[str, int]:
    """Bytes by name, such as `MemTotal`, of /proc/meminfo or of a NUMA node's file; empty where it cannot be read."""
    return {name: 1024 * int(size) for name, size in re.findall(r"([\w()]+):\s+(\d+) kB", text(file))}


def memory_free() -> int | None:
    """Bytes of this machine's memory that are free for use now; None where the system does not say."""
    return memory_in(MEMORY).get("MemAvailable")


def memory_whole() -> int | None:
    """Bytes of memory that this machine has, free or not and without swap; None where the system does not say."""
    return memory_in(MEMORY).get("MemTotal")


def node_memory(node: int, system: Path = SYSTEM) -> int:
    """Bytes of a NUMA node that are free, or would be if its cached files went; 0 where the system does not say."""
    memory = memory_in(system / NODES / f"node{node}" / "meminfo")
    return sum(memory.get(name, 0) for name in ("MemFree", "Active(file)", "Inactive(file)", "SReclaimable"))


def nodes_in(folder: Path) -> list[int]:
    """Numbers of the entries `node0`, `node1`, ... of a folder, in order."""
    return sorted(int(entry.name[4:]) for entry in folder.glob("node*") if entry.name[4:].isdigit())


def usable_processors() -> frozenset[int]:
    """Numbers of the processors that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return frozenset(os.sched_getaffinity(0))
    return frozenset(range(os.cpu_count() or 1))


def groups_of(controller: str, system: Path = SYSTEM, membership: Path = CONTROL_GROUP) -> Iterator[Path]:
    """Folders of the control groups that hold this process, each with those that it lies in, of versions 1 and 2."""
    mounted = system / "fs" / "cgroup"
    for controllers, path in re.findall(r"^\d+:([^:]*):(.*)$", text(membership) or "0::/", re.MULTILINE):
        if controllers and controller not in controllers.split(","):
            continue
        root = mounted / controller if controllers else mounted
        folder = root / path.strip("/")
        for group in (folder, *folder.parents):
            yield group
            if group == root:
                break


def cgroup_limit(system: Path = SYSTEM, membership: Path = CONTROL_GROUP) -> int | None:
    """Whole processors that the control group of this process grants, at least one; None where it sets no limit."""
    granted = []
    for group in groups_of("cpu", system, membership):
        quota, _, period = text(group / "cpu.max").partition(" ")
        for each, of in ((quota, period), (text(group / "cpu.cfs_quota_us"), text(group / "cpu.cfs_period_us"))):
            if each.isdigit() and of.isdigit() and int(of):
                granted.append(max(1, int(each) // int(of)))
    return min(granted, default=None)


def core_of(folder: Path, processor: int) -> frozenset[int]:
    """All processors of the core that a processor belongs to."""
    return listed(folder / f"cpu{processor}", "core_cpus", "thread_siblings") | {processor}


def listed(place: Path, *names: str) -> frozenset[int]:
    """The processors in the first of these lists that a processor's folder has: older kernels have other names."""
    lists = (numbers_in(text(place / "topology" / f"{name}_list")) for name in names)
    return next(filter(None, lists), frozenset())


def caches_of(folder: Path, usable: frozenset[int]) -> Caches:
    """The data caches that the usable processors reach."""
    caches: Caches = {}
    for processor in sorted(usable):
        for index in sorted((folder / f"cpu{processor}" / "cache").glob("index*")):
            level, size = text(index / "level"), bytes_in(text(index / "size"))
            if level in ("1", "2", "3", "4", "5") and size and text(index / "type") != "Instruction":
                sharers = numbers_in(text(index / "shared_cpu_list")) or core_of(folder, processor)
                caches.setdefault((int(level), sharers | {processor}), size)
    return caches


def examine(
    system: Path = SYSTEM, usable: frozenset[int] | None = None, allowed_memory: frozenset[int] | None = None
) -> tuple[Object, dict[tuple[int, int], float], Facts]:
    """Tree, distances between NUMA nodes by their numbers, and facts; where files are missing, what is left of them."""
    usable = usable_processors() if usable is None else usable
    parts = parts_of(system / CPUS, usable)
    allowed_memory = allowed_in(STATUS, "Mems") if allowed_memory is None else allowed_memory
    whole = memory_in(MEMORY).get("MemTotal", 0) if system == SYSTEM else 0
    memory, distances = memory_of(system / NODES, usable, allowed_memory, whole)
    return nest(without_crossing(parts, memory), memory), distances, facts(system)


def parts_of(folder: Path, usable: frozenset[int]) -> list[Part]:
    """Packages, caches, cores and processors with the usable processors in each, outer kinds first."""
    packages: dict[int, set[int]] = {}
    firsts: dict[int, int] = {}
    cores: dict[frozenset[int], int] = {}
    for processor in sorted(usable):
        place = folder / f"cpu{processor}"
        package = number_in(place / "topology" / "physical_package_id")
        packages.setdefault(package, set()).add(processor)
        firsts.setdefault(package, min(listed(place, "package_cpus", "core_siblings") | {processor}))
        cores.setdefault(core_of(folder, processor), number_in(place / "topology" / "core_id"))
    caches = sorted(caches_of(folder, usable).items(), key=lambda cache: -cache[0][0])
    return [
        *((Object("package", number, first=firsts[number]), frozenset(inside)) for number, inside in packages.items()),
        *((Object(f"l{level}", size=size, first=min(inside)), inside & usable) for (level, inside), size in caches),
        *((Object("core", number, first=min(core)), core & usable) for core, number in cores.items()),
        *((Object("pu", number), frozenset({number})) for number in sorted(usable)),
    ]


def memory_of(
    folder: Path, usable: frozenset[int], allowed: frozenset[int], whole: int = 0
) -> tuple[dict[Object, frozenset[int]], dict[tuple[int, int], float]]:
    """NUMA nodes that this process may use with the usable processors near each, and the distances between them.

    A node that is the only one has at least the memory of the `whole` machine (bytes): its own file leaves out what a
    virtual machine was given since it started.
    """
    nodes: dict[Object, frozenset[int]] = {}
    rows: dict[int, list[str]] = {}
    present = nodes_in(folder)
    for number in present:
        place = folder / f"node{number}"
        near, memory = numbers_in(text(place / "cpulist")), memory_in(place / "meminfo").get("MemTotal", 0)
        memory = max(memory, whole) if len(present) == 1 else memory
        if (near & usable) or (not near and memory and (not allowed or number in allowed)):
            nodes[Object("numa", number, memory, first=min(near, default=-1))] = near & usable
            rows[number] = text(place / "distance").split()
    distances = {
        (one, other): float(value)
        for one, row in rows.items()
        for other, value in zip(present, row)
        if other in rows and value.isdigit()
    }
    return nodes, distances


def without_crossing(parts: list[Part], memory: dict[Object, frozenset[int]]) -> list[Part]:
    """The parts without those that a NUMA node cuts in two, which virtual machines are known to claim."""
    node_of = {processor: covered for covered in memory.values() for processor in covered}

    def whole(covered: frozenset[int]) -> bool:
        nodes = {node_of.get(processor, covered) for processor in covered}
        return len(nodes) == 1 or all(node <= covered for node in nodes)

    return [part for part in parts if part[0].kind == "pu" or whole(part[1])]


def facts(system: Path) -> Facts:
    """Processor, clock, operating system (distribution and kernel) and network."""
    name, kernel = processor_name(), f"{platform.system()} {platform.release()}"
    try:
        distribution = platform.freedesktop_os_release().get("PRETTY_NAME", "")
    except OSError:
        distribution = ""
    release = f"{distribution} ({kernel})" if distribution else kernel
    return Facts(name, clock(system, name), release, tuple(network(system)))


def processor_name() -> str:
    """The processor as the system names it; of an Arm without a name there, its implementer and its part number."""
    pairs = re.findall(r"^([^:\n]*?)[ \t]*:[ \t]*(.*?)[ \t]*$", text(CPUINFO), re.MULTILINE)
    entries = dict(reversed(pairs))  # the first core's win
    if entries.get("model name"):
        return entries["model name"]
    if "CPU part" in entries:
        return f"{platform.machine()}, implementer {entries.get('CPU implementer', '?')}, part {entries['CPU part']}"
    return platform.processor() or platform.machine()


def clock_in(name: str) -> float:
    """Hz of the clock that a processor's name ends with, `... @ 2.40GHz`; 0 without it."""
    named = re.search(r"@\s*([\d.]+)\s*GHz", name)
    return float(named[1]) * 1e9 if named else 0.0


def clock(system: Path, name: str) -> float:
    """Hz: the one in the processor's name, else the highest that it can have, else that of the moment; 0 if unknown."""
    if named := clock_in(name):
        return named
    highest = number_in(system / CPUS / "cpu0" / "cpufreq" / "cpuinfo_max_freq")  # kHz
    if highest >= 0:
        return highest * 1e3
    now = re.findall(r"^cpu MHz\s*:\s*([\d.]+)$", text(CPUINFO), re.MULTILINE)
    return max((float(value) * 1e6 for value in now), default=0.0)


def network(system: Path) -> Iterator[str]:
    """Network cards that are up, with their rate where they name it."""
    for card in sorted((system / "class" / "net").glob("*")):
        speed = text(card / "speed")
        if (card / "device").exists() and text(card / "operstate") in ("up", "unknown"):
            yield f"{card.name} {int(speed) / 1000:g} Gbit/s" if speed.isdigit() else card.name
    for port in sorted((system / "class" / "infiniband").glob("*/ports/*")):
        yield f"{port.parent.parent.name} {text(port / 'rate')}".strip()
