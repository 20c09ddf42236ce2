"""This machine from the files of the system: recorded, restricted, contradicting each other, or none at all."""

from __future__ import annotations

from pathlib import Path

from nearfield.machine import system_files
from nearfield.machine.hardware import Core, Hardware, NumaNode, assemble, this_machine
from nearfield.machine.system_files import usable_processors


def record(system: Path, nodes: dict[int, str], packages: int = 2, cores: int = 8) -> Path:
    """Two packages of four cores, hyper-threads numbered after all cores, a third-level cache a package."""
    for processor in range(2 * cores):
        core = processor % cores
        package = core * packages // cores
        mates = f"{package * 4}-{package * 4 + 3},{package * 4 + 8}-{package * 4 + 11}"
        own = f"{core},{core + cores}"
        write(system, f"cpu/cpu{processor}/topology/physical_package_id", package)
        write(system, f"cpu/cpu{processor}/topology/core_id", core % 4)
        write(system, f"cpu/cpu{processor}/topology/core_cpus_list", own)
        for index, (level, kind, size, sharers) in enumerate(
            [
                (1, "Data", "32K", own),
                (1, "Instruction", "32K", own),
                (2, "Unified", "1M", own),
                (3, "Unified", "16M", mates),
            ]
        ):
            for name, value in (("level", level), ("type", kind), ("size", size), ("shared_cpu_list", sharers)):
                write(system, f"cpu/cpu{processor}/cache/index{index}/{name}", value)
    for number, listed in nodes.items():
        write(system, f"node/node{number}/cpulist", listed)
        write(system, f"node/node{number}/meminfo", f"Node {number} MemTotal:       1024 kB")
        write(system, f"node/node{number}/distance", " ".join("10" if n == number else "21" for n in nodes))
    return system


def write(system: Path, name: str, value) -> None:
    file = system / "devices" / "system" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"{value}\n")


def recorded(system: Path, usable=range(16), memory=(0, 1, 2, 3, 4)) -> Hardware:
    found = system_files.examine(system, frozenset(usable), frozenset(memory))
    return assemble(found[0], "recorded", False, found[1], found[2])


SUB_NUMA = {0: "0-1,8-9", 1: "2-3,10-11", 2: "4-5,12-13", 3: "6-7,14-15", 4: ""}


def test_packages_with_two_nodes_each_and_a_memory_without_processors(tmp_path):
    machine = recorded(record(tmp_path, SUB_NUMA))
    assert [core.processors for core in machine.cores] == [(core, core + 8) for core in range(8)]
    assert [core.numa for core in machine.cores] == [0, 0, 1, 1, 2, 2, 3, 3]
    assert [core.package for core in machine.cores] == [0, 0, 0, 0, 1, 1, 1, 1]
    assert [core.l3 for core in machine.cores] == [0, 0, 0, 0, 1, 1, 1, 1]
    assert [(node.os_index, node.cores) for node in machine.numa] == [
        (0, (0, 1)),
        (1, (2, 3)),
        (2, (4, 5)),
        (3, (6, 7)),
        (4, ()),
    ]
    assert (machine.memory, machine.l1, machine.l2, machine.l3) == (5 * 2**20, 2**15, 2**20, 2**24)
    assert machine.distances[1] == (21, 10, 21, 21, 21)


def test_only_what_the_process_may_use_is_there(tmp_path):
    machine = recorded(record(tmp_path, SUB_NUMA), usable={3, 9, 11, 12}, memory={0, 1, 2, 3})
    assert [core.processors for core in machine.cores] == [(9,), (3, 11), (12,)]
    assert [(node.os_index, node.cores) for node in machine.numa] == [(0, (0,)), (1, (1,)), (2, (2,))]
    assert [unit.cores for unit in machine.units("socket")] == [(0, 1), (2,)]
    assert machine.distances == ((10, 21, 21), (21, 10, 21), (21, 21, 10))


def test_a_node_that_cuts_packages_keeps_its_processors(tmp_path):
    machine = recorded(record(tmp_path, {0: "0,4,8,12", 1: "1-3,5-7,9-11,13-15"}))
    assert [unit.cores for unit in machine.units("numa")] == [(0, 1), (2, 3, 4, 5, 6, 7)]
    assert [core.processors[0] for core in machine.cores] == [0, 4, 1, 2, 3, 5, 6, 7]


def test_a_machine_that_tells_nothing_has_a_core_a_processor(tmp_path):
    machine = recorded(tmp_path, usable={2, 5})
    assert machine.cores == (Core(0, (2,), 0, 0, -1), Core(1, (5,), 0, 0, -1))
    assert machine.numa == (NumaNode(0, 0, 0, (0, 1)),)


def test_this_machine_is_what_this_process_may_use():
    assert set(this_machine().processors) == usable_processors()
    assert not this_machine().simulated
