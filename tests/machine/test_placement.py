"""Who runs where: units and shares against hwloc's own answers, the default scheme, warnings, wrong requests."""

from __future__ import annotations

import json

import pytest

from nearfield.cli import main
from nearfield.entry.errors import ModelError
from nearfield.machine.hardware import SCHEMES, from_synthetic
from nearfield.machine.placement import (
    crowding,
    default_scheme,
    host_names,
    memory_policy,
    processors_of_threads,
    ranks,
    shares,
    unit_of,
)

S0 = from_synthetic("pack:2 [numa] core:4 pu:1")
HYPER = from_synthetic("pack:2 [numa] l3:1 core:4 pu:2(indexes=8*2:1*8)")
NUMASCALE = from_synthetic("group:72 pack:2 numa:2(memory=16GB) core:6 pu:1")
MILAN = from_synthetic("pack:2 numa:4 l3:2 core:8 pu:2")  # four nodes a package, two third-level caches a node


def mask(machine, cores) -> int:
    return sum(1 << number for core in cores for number in machine.cores[core].processors)


# `hwloc-distrib -i "pack:2 [numa] core:4 pu:1" N`
@pytest.mark.parametrize(
    "parts, masks",
    [
        (1, [0xFF]),
        (2, [0x0F, 0xF0]),
        (4, [0x03, 0x0C, 0x30, 0xC0]),
        (8, [1 << core for core in range(8)]),
        (3, [0x03, 0x0C, 0xF0]),
        (16, [1 << core // 2 for core in range(16)]),
    ],
)
def test_shares_are_those_of_hwloc_distrib(parts, masks):
    assert [mask(S0, cores) for cores in shares(S0, S0.units("node")[0], parts)] == masks


@pytest.mark.parametrize("machine", [S0, HYPER, MILAN])
@pytest.mark.parametrize("parts", range(1, 17))
def test_shares_hold_every_core_once_while_there_are_cores_enough(machine, parts):
    unit = machine.units("node")[0]
    found = shares(machine, unit, parts)
    assert len(found) == parts
    if parts <= len(unit.cores):
        assert sorted(core for cores in found for core in cores) == list(unit.cores)


def test_few_parts_of_a_large_machine_lie_in_packages_of_their_own():
    found = shares(NUMASCALE, NUMASCALE.units("node")[0], 144)
    assert [{NUMASCALE.cores[core].package for core in cores} for cores in found] == [{index} for index in range(144)]


@pytest.mark.parametrize(
    "machine, scheme, count, cores_each",
    [
        (S0, "node", 1, 8),
        (S0, "socket", 2, 4),
        (S0, "numa", 2, 4),
        (S0, "core", 8, 1),
        (S0, "none", 1, 8),
        (MILAN, "socket", 2, 64),
        (MILAN, "numa", 8, 16),
        (MILAN, "l3", 16, 8),
        (MILAN, "core", 128, 1),
        (NUMASCALE, "numa", 288, 6),
        (NUMASCALE, "core", 1728, 1),
    ],
)
def test_units_of_each_scheme(machine, scheme, count, cores_each):
    units = machine.units(scheme)
    assert (len(units), {len(unit.cores) for unit in units}) == (count, {cores_each})
    assert sorted(core for unit in units for core in unit.cores) == list(range(len(machine.cores)))


def test_a_package_of_several_nodes_binds_to_all_of_them():
    assert MILAN.units("socket")[1].numa == (4, 5, 6, 7)


@pytest.mark.parametrize("threads", range(1, 9))
def test_no_hyper_thread_is_used_before_every_core_has_a_thread(threads):
    unit = HYPER.units("node")[0]
    core_of = {number: core.index for core in HYPER.cores for number in core.processors}
    assert len({core_of[number] for number in processors_of_threads(HYPER, unit, threads)}) == threads


def test_threads_spread_over_packages_first():
    assert processors_of_threads(HYPER, HYPER.units("node")[0], 2) == (0, 1)  # packages hold even and odd numbers
    assert processors_of_threads(S0, S0.units("node")[0], 2) == (0, 4)


def test_all_processors_are_used_before_any_twice():
    assert sorted(processors_of_threads(HYPER, HYPER.units("node")[0], 16)) == list(HYPER.processors)
    assert processors_of_threads(NUMASCALE, NUMASCALE.units("node")[0], 1728) == tuple(range(1728))


def test_ranks_fill_a_host_before_the_next():
    placed = ranks(S0, "socket", ("a", "b"))
    assert [(rank.number, rank.host, rank.local, rank.unit.cores) for rank in placed] == [
        (0, "a", 0, (0, 1, 2, 3)),
        (1, "a", 1, (4, 5, 6, 7)),
        (2, "b", 0, (0, 1, 2, 3)),
        (3, "b", 1, (4, 5, 6, 7)),
    ]


def test_more_ranks_than_units_begin_again_with_the_first():
    assert [unit_of(S0, "socket", local).cores[0] for local in range(5)] == [0, 4, 0, 4, 0]


def test_the_default_follows_the_memory():
    assert default_scheme(NUMASCALE)[0] == "numa" and "288 NUMA nodes" in default_scheme(NUMASCALE)[1]
    assert default_scheme(from_synthetic("pack:1 [numa(memory=8GB)] core:4 pu:1"))[0] == "node"
    # a fast and a large memory for the same cores are no reason to split them
    assert default_scheme(from_synthetic("pack:1 [numa][numa] core:4"))[0] == "node"
    assert [memory_policy(scheme) for scheme in SCHEMES] == ["first-touch", "bind", "bind", "bind", "bind", "off"]


def test_more_threads_than_cores_is_shouted():
    unit = HYPER.units("socket")[0]
    assert crowding(HYPER, unit, 4) == []
    assert "6 threads on 4 cores (8 processors): hyper-threads share" in crowding(HYPER, unit, 6)[0]
    warning = crowding(S0, S0.units("core")[0], 8)[0]
    assert "8 threads on 1 core (1 processor): they take turns and wait" in warning.replace("\n", " ")
    assert {len(line) for line in warning.splitlines()} == {96}
    assert warning.splitlines()[0] == "!" * 96


def test_names_of_hosts():
    assert host_names(3) == ("host0", "host1", "host2")
    assert host_names(2, "n01, n02.cluster") == ("n01", "n02.cluster")


@pytest.mark.parametrize(
    "nodes, hosts, why",
    [
        (0, None, "1 or more"),
        (2, "a", "names 1 for nodes=2"),
        (1, "a,b", "names 2 for nodes=1"),
        (2, "a,a", "each host once"),
        (2, "a,", "'' is no host name"),
        (1, "a b", "'a b' is no host name"),
        (1, "a\nb", "no host name"),
        (1, "-n", "no host name"),
        (1, "", "no host name"),
    ],
)
def test_wrong_hosts_are_refused(nodes, hosts, why):
    with pytest.raises(ModelError, match=why):
        host_names(nodes, hosts)


@pytest.mark.parametrize(
    "arguments, why",
    [
        (["--bind", "cpu"], "binding 'cpu' is unknown: node, socket, numa, l3, core or none"),
        (["--bind", "l3"], "binding 'l3' needs third-level caches"),
        (["--nodes", "0"], "greater than or equal to 1"),
        (["--nodes", "2", "--hosts", "a"], "names 1 for nodes=2"),
        (["--emit", "lsf"], "launcher 'lsf' is unknown: rankfile, prrte, hydra or slurm"),
        (["--topology", "pack:2 cake:4"], "'cake' is no kind of object"),
        (["--topology", "missing.xml"], "missing.xml: No such file"),
        (["missing.toml"], "missing.toml: there is no such model file"),
        (["--ranks", "3"], "--ranks says how a model is cut up"),
    ],
)
def test_what_cannot_be_placed_is_refused_with_nothing_on_stdout(capsys, arguments, why):
    given = [] if "--topology" in arguments else ["--topology", "pack:2 [numa] core:4 pu:1"]
    emit = [] if "--emit" in arguments else ["--emit", "rankfile"]
    assert main(["place", *given, *emit, *arguments]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert why in shown.err and "Traceback" not in shown.err


def test_nothing_to_place_is_refused(capsys):
    assert main(["place"]) == 2
    assert "name a model file, or a machine with --topology" in capsys.readouterr().err


def test_the_table_and_json_say_who_runs_where_and_that_it_is_simulated(capsys):
    arguments = ["place", "--topology", "pack:2 [numa] core:4 pu:1", "--nodes", "2"]
    assert main(arguments) == 0
    shown = capsys.readouterr().out
    assert "SIMULATED" in shown and "binding numa" in shown and "     3  host1                4  1        4-7" in shown
    assert main([*arguments, "--bind", "core", "--emit", "slurm", "--threads", "2", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["simulated"], found["bind"], len(found["ranks"]), len(found["lines"])) == (True, "core", 16, 16)
    assert found["ranks"][13] == {"rank": 13, "host": "host1", "cores": [5], "numa": [1], "processors": [5]}
    assert "2 threads on 1 core" in found["warnings"][0]
