"""What is read of the processor: recorded machines, machines that tell nothing, and limits of control groups."""

from __future__ import annotations

from pathlib import Path

import pytest

from nearfield.machine import topology
from nearfield.machine.system_files import bytes_in, cgroup_limit, numbers_in
from nearfield.machine.topology import KIB, Topology, examine

MIB = KIB**2


def write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text + "\n")


def record(system: Path, siblings: list[str], caches: list[tuple[str, str, str, list[str]]]) -> Path:
    """The files of a machine: each processor's siblings; caches as level, type, size, each processor's sharers."""
    for processor, listed in enumerate(siblings):
        folder = system / "devices" / "system" / "cpu" / f"cpu{processor}"
        write(folder / "topology" / "thread_siblings_list", listed)
        for number, (level, kind, size, sharers) in enumerate(caches):
            names = {"level": level, "type": kind, "size": size, "shared_cpu_list": sharers[processor]}
            for name, value in names.items():
                write(folder / "cache" / f"index{number}" / name, value)
    return system


PAIRS = ["0,4", "1,5", "2,6", "3,7"] * 2  # four cores of two hyper-threads


def hyper_threaded(system: Path) -> Path:
    """A desktop: 32 KiB and 512 KiB a core, two groups of two cores with 16 MiB each."""
    third = ["0-1,4-5", "0-1,4-5", "2-3,6-7", "2-3,6-7"] * 2
    return record(
        system,
        PAIRS,
        [
            ("1", "Data", "32K", PAIRS),
            ("1", "Instruction", "64K", PAIRS),
            ("2", "Unified", "512K", PAIRS),
            ("3", "Unified", "16M", third),
        ],
    )


def test_hyper_threads_share_a_core_and_its_caches(tmp_path):
    found = examine(frozenset(range(8)), hyper_threaded(tmp_path))
    assert found == Topology(cores=4, processors=8, l1=32 * KIB, l2=512 * KIB, l3=32 * MIB)
    shares = [found.per_thread(found.l2, threads) for threads in (1, 4, 5, 8, 9)]
    assert shares == [512 * KIB, 512 * KIB, 256 * KIB, 256 * KIB, 512 * KIB // 3]


def test_only_processors_of_this_process_count(tmp_path):
    system = hyper_threaded(tmp_path)
    assert examine(frozenset({0, 4}), system) == Topology(1, 2, 32 * KIB, 512 * KIB, 16 * MIB)
    assert examine(frozenset({0, 5, 6}), system) == Topology(3, 3, 32 * KIB, 512 * KIB, 32 * MIB)


def test_cores_that_share_a_second_level_have_their_part_of_it(tmp_path):
    """Four small cores around 2 MiB, no third level."""
    alone = [str(processor) for processor in range(4)]
    record(tmp_path, alone, [("1", "Data", "64K", alone), ("2", "Unified", "2048K", ["0-3"] * 4)])
    assert examine(frozenset(range(4)), tmp_path) == Topology(4, 4, 64 * KIB, 512 * KIB, 0)


def test_a_system_that_tells_nothing_gets_the_smallest_caches_in_use(tmp_path):
    assert examine(frozenset(range(6)), tmp_path) == Topology(6, 6, 32 * KIB, 512 * KIB, 0)
    record(tmp_path, ["?", "", "0-"], [("2", "Unified", "much", ["x"] * 3), ("", "", "", [""] * 3)])
    assert examine(frozenset(range(3)), tmp_path) == Topology(3, 3, 32 * KIB, 512 * KIB, 0)


@pytest.mark.parametrize(("limit", "cores"), [(None, 4), (1, 1), (3, 3), (9, 4)])
def test_no_more_cores_than_the_control_group_grants(limit, cores, tmp_path):
    assert examine(frozenset(range(8)), hyper_threaded(tmp_path), limit).cores == cores


@pytest.mark.parametrize(
    ("own", "above", "limit"),
    [
        ("max 100000", None, None),
        ("200000 100000", None, 2),
        ("150000 100000", "max 100000", 1),
        ("10000 100000", None, 1),
        ("max 100000", "300000 100000", 3),
        ("800000 100000", "300000 100000", 3),
        ("nonsense", "1 0", None),
        (None, None, None),
    ],
)
def test_the_tightest_control_group_counts_in_whole_processors(own, above, limit, tmp_path):
    for folder, text in (("jobs/mine", own), ("jobs", above)):
        if text:
            write(tmp_path / "fs" / "cgroup" / folder / "cpu.max", text)
    write(tmp_path / "membership", "1:name=systemd:/else\n0::/jobs/mine")
    assert cgroup_limit(tmp_path, tmp_path / "membership") == limit


def test_version_1_of_control_groups_counts(tmp_path):
    for folder, quota in (("jobs/mine", "-1"), ("jobs", "250000")):
        write(tmp_path / "fs" / "cgroup" / "cpu" / folder / "cpu.cfs_quota_us", quota)
        write(tmp_path / "fs" / "cgroup" / "cpu" / folder / "cpu.cfs_period_us", "100000")
    write(tmp_path / "membership", "5:cpuset:/else\n4:cpu,cpuacct:/jobs/mine\n1:name=systemd:/else")
    assert cgroup_limit(tmp_path, tmp_path / "membership") == 2


def test_a_container_that_hides_its_group_is_asked_at_the_root(tmp_path):
    write(tmp_path / "fs" / "cgroup" / "cpu.max", "200000 100000")
    assert cgroup_limit(tmp_path, tmp_path / "missing") == 2
    write(tmp_path / "membership", "0::/../outside")
    assert cgroup_limit(tmp_path, tmp_path / "membership") == 2


def test_a_run_that_names_no_threads_has_one_for_each_core(monkeypatch):
    monkeypatch.setattr(topology, "topology", lambda: Topology(4, 8))
    assert topology.available_threads() == 4


def test_lists_and_sizes_are_read():
    assert numbers_in("0-2,8") == {0, 1, 2, 8} and numbers_in("") == numbers_in("1;2") == frozenset()
    assert [bytes_in(size) for size in ("48K", "2M", "512", "", "-1K")] == [48 * KIB, 2 * MIB, 512, 0, 0]


def test_this_machine_tells_something():
    found = topology.topology()
    assert 1 <= found.cores <= found.processors and 8 * KIB <= found.l1 <= found.l2 <= 256 * MIB


def test_processes_that_share_a_machine_take_their_share_of_its_cores(monkeypatch):
    monkeypatch.setattr(topology, "_all_cores", lambda: 24)
    for bound_to, shares in ((24, [24, 8, 1]), (8, [8, 8, 1]), (1, [1, 1, 1])):  # no more than those it is bound to
        monkeypatch.setattr(topology, "available_threads", lambda bound_to=bound_to: bound_to)
        assert [topology.threads_beside(sharers) for sharers in (1, 3, 48)] == shares
    monkeypatch.undo()
    assert topology.threads_beside(1) == topology.available_threads()
