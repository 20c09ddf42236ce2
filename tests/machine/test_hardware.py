"""Machines as data: synthetic strings and XML as hwloc reads them, this machine from recorded files of the system."""

from __future__ import annotations

import ctypes
from pathlib import Path

import pytest

from nearfield.entry.errors import ModelError
from nearfield.machine.hardware import (
    Core,
    Hardware,
    NumaNode,
    from_synthetic,
    from_xml,
    load,
)
from nearfield.machine.xml_export import to_xml
from nearfield.report.machine_picture import text

S0 = "pack:2 [numa] core:4 pu:1"
NUMASCALE = "group:72 pack:2 numa:2(memory=16GB) core:6 pu:1"
STRINGS = [
    S0,
    "pack:2 [numa(memory=6GB)] l3:1(size=8MB) core:4 pu:1",
    "pack:2 [numa(memory=64GB)] l3:1(size=10MB) core:4 pu:2",
    "pack:2 numa:2(memory=16GB) core:6 pu:1",
    "pack:1 [numa(memory=8GB)] core:4 pu:1",
    "Package:2 [NUMANode(memory=1GiB)] L3Cache:2(size=8MiB) L2Cache:2(size=512kB) L1dCache:1(size=32kB) "
    "L1iCache:1(size=32kB) Core:1 PU:2(indexes=8*2:1*8)",
    "[numa(memory=1GB)] pack:2 [numa(memory=2GB)][numa(memory=3GB)] core:1 pu:2(indexes=0,2,1,3)",
    "pack:1 [numa(memory=1GB)] core:4 pu:2(indexes=2*4:1*2)",
    "pack:2 die:2 numa:2(memory=4GB) l3:2(size=1MB) core:2 pu:1",
    NUMASCALE,
]


def bits(numbers) -> int:
    return sum(1 << number for number in numbers)


@pytest.fixture(scope="module")
def hwloc():
    """hwloc itself, where the system has it."""
    try:
        return ctypes.CDLL("libhwloc.so.15")
    except OSError:
        pytest.skip("libhwloc.so.15 is not on this system")


def reexported(hwloc, into: Path, synthetic: str = "", xml: str = "") -> Hardware:
    """A machine as hwloc understands it: loaded by hwloc, written by hwloc."""
    topology = ctypes.c_void_p()
    hwloc.hwloc_topology_init(ctypes.byref(topology))
    try:
        if synthetic:
            assert hwloc.hwloc_topology_set_synthetic(topology, synthetic.encode()) == 0
        else:
            into.write_text(xml)
            assert hwloc.hwloc_topology_set_xml(topology, str(into).encode()) == 0
        assert hwloc.hwloc_topology_load(topology) == 0
        assert hwloc.hwloc_topology_export_xml(topology, str(into).encode(), ctypes.c_ulong(0)) == 0
    finally:
        hwloc.hwloc_topology_destroy(topology)
    return from_xml(into)


def same(one: Hardware, other: Hardware) -> bool:
    return (one.cores, one.numa, one.l1, one.l2, one.l3) == (other.cores, other.numa, other.l1, other.l2, other.l3)


def test_numa_node_1_has_the_mask_that_hwloc_calc_says():
    unit = from_synthetic(S0).units("numa")[1]
    assert bits(from_synthetic(S0).processors_of(unit)) == 0xF0
    assert from_synthetic(S0).processors_of(unit) == (4, 5, 6, 7)


def test_numascale_has_72_boards_144_packages_288_nodes_1728_cores():
    machine = from_synthetic(NUMASCALE)
    counts = [len(machine.units(scheme)) for scheme in ("node", "socket", "numa", "core")]
    assert (counts, len(machine.root.children)) == ([1, 144, 288, 1728], 72)
    assert machine.memory == 288 * 16 * 10**9
    assert machine.processors == tuple(range(1728))


def test_4096_processors_are_no_limit(tmp_path):
    machine = from_synthetic("pack:64 [numa(memory=1GB)] core:32 pu:2")
    assert bits(machine.processors_of(machine.units("numa")[63])) == (2**64 - 1) << 4032
    (tmp_path / "big.xml").write_text(to_xml(machine))
    assert same(from_xml(tmp_path / "big.xml"), machine)


@pytest.mark.parametrize("string", STRINGS)
def test_a_string_means_what_hwloc_says(hwloc, tmp_path, string):
    assert same(from_synthetic(string), reexported(hwloc, tmp_path / "machine.xml", synthetic=string))


@pytest.mark.parametrize("string", STRINGS)
def test_xml_that_is_written_is_read_back(tmp_path, string):
    machine = from_synthetic(string)
    (tmp_path / "machine.xml").write_text(to_xml(machine))
    assert same(from_xml(tmp_path / "machine.xml"), machine)


@pytest.mark.parametrize("string", [None, *STRINGS[:-1]])
def test_hwloc_reads_the_xml_that_is_written(hwloc, tmp_path, string):
    machine = load(string)
    assert same(reexported(hwloc, tmp_path / "machine.xml", xml=to_xml(machine)), machine)


def test_a_processor_and_a_core_need_not_be_named():
    assert from_synthetic("pack:2 core:4").cores == from_synthetic("pack:2 core:4 pu:1").cores
    assert [core.processors for core in from_synthetic("pack:2 pu:2").cores] == [(0,), (1,), (2,), (3,)]


@pytest.mark.parametrize(
    "string, why",
    [
        ("", "names nothing"),
        ("4 4", "'4' is not a word"),
        ("pack:0", "counts none"),
        ("pack:2 cpu:4", "'cpu' is no kind"),
        ("pack:2 [l3] core:4", "only numa may"),
        ("core:4 pack:2", "inside a core"),
        ("pack:2 pu:2 core:1", "in the middle"),
        ("pack:2 pack:2 core:1", "stands twice"),
        ("machine:2 core:1", "more than one machine"),
        ("pack:2 [numa(memory=6 apples)] core:4", "'apples' is unknown here"),
        ("pack:2 l3:1(memory=8MB) core:4", "size= and indexes="),
        ("pack:2 l3:1(size=8.5MB) core:4", "is no size"),
        ("core:2 pu:2(indexes=0,1,2)", "does not number 4"),
        ("core:2 pu:2(indexes=0,1,1,2)", "does not number 4"),
        ("core:2 pu:2(indexes=2*2:1*4)", "do not number 4"),
        ("core:2 pu:2(indexes=a)", "no list of numbers"),
        ("pack:1000 core:1000", "more than 131072"),
        ("pack:2 core:4) pu:1", "is not a word"),
        ("group:1 " * 50, "more than 40 levels"),
    ],
)
def test_a_wrong_string_is_refused_with_what_is_allowed(string, why):
    with pytest.raises(ModelError, match="allowed are kind:count words") as refused:
        from_synthetic(string)
    assert why in str(refused.value)


# Two packages, of which the second has half the cores; each package with a fast and a large memory; a memory without
# processors; processor 5 not allowed; numbers as on a hyper-threaded machine.
ASYMMETRIC = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0">
  <object type="Machine" os_index="0" cpuset="0x0000003f" allowed_cpuset="0x0000001f" nodeset="0x0000001f">
    <info name="OSName" value="Linux"/>
    <info name="OSRelease" value="6.1.0"/>
    <object type="NUMANode" os_index="4" cpuset="0x0" nodeset="0x00000010" local_memory="64000"/>
    <object type="Package" os_index="0" cpuset="0x0000001b" nodeset="0x00000003">
      <info name="CPUModel" value="A Processor @ 2.67GHz"/>
      <object type="NUMANode" os_index="0" cpuset="0x0000001b" nodeset="0x00000001" local_memory="1000"/>
      <object type="MemCache" cpuset="0x0000001b" nodeset="0x00000002">
        <object type="NUMANode" os_index="1" cpuset="0x0000001b" nodeset="0x00000002" local_memory="2000"/>
      </object>
      <object type="L3Cache" cpuset="0x0000001b" cache_size="3000" depth="3" cache_type="0">
        <object type="L1iCache" cpuset="0x00000009" cache_size="32" depth="1" cache_type="2">
          <object type="Core" os_index="0" cpuset="0x00000009">
            <object type="PU" os_index="0" cpuset="0x00000001"/>
            <object type="PU" os_index="3" cpuset="0x00000008"/>
          </object>
        </object>
        <object type="Core" os_index="1" cpuset="0x00000012">
          <object type="PU" os_index="1" cpuset="0x00000002"/>
          <object type="PU" os_index="4" cpuset="0x00000010"/>
        </object>
      </object>
      <object type="Bridge" gp_index="9"><object type="OSDev" name="ib0" osdev_type="3"/></object>
    </object>
    <object type="Package" os_index="1" cpuset="0x00000024" nodeset="0x0000000c">
      <object type="NUMANode" os_index="2" cpuset="0x00000024" nodeset="0x00000004" local_memory="500"/>
      <object type="NUMANode" os_index="3" cpuset="0x00000024" nodeset="0x00000008" local_memory="4000"/>
      <object type="Core" os_index="0" cpuset="0x00000024">
        <object type="PU" os_index="2" cpuset="0x00000004"/>
        <object type="PU" os_index="5" cpuset="0x00000020"/>
      </object>
    </object>
  </object>
  <distances2 type="NUMANode" nbobjs="5" kind="5" name="NUMALatency" indexing="os">
    <indexes length="10">0 1 2 3 4 </indexes>
    <u64values length="36">10 11 20 21 30 11 10 21 22 31 20 21 </u64values>
    <u64values length="39">10 11 30 21 22 11 10 31 30 31 30 31 10 </u64values>
  </distances2>
</topology>
"""


@pytest.fixture
def asymmetric(tmp_path) -> Hardware:
    (tmp_path / "asymmetric.xml").write_text(ASYMMETRIC)
    return load(str(tmp_path / "asymmetric.xml"))


def test_xml_of_an_asymmetric_machine(asymmetric):
    assert asymmetric.cores == (Core(0, (0, 3), 0, 0, 0), Core(1, (1, 4), 0, 0, 0), Core(2, (2,), 1, 2, -1))
    assert asymmetric.numa == (
        NumaNode(0, 0, 1000, (0, 1)),
        NumaNode(1, 1, 2000, (0, 1)),
        NumaNode(2, 2, 500, (2,)),
        NumaNode(3, 3, 4000, (2,)),
        NumaNode(4, 4, 64000, ()),
    )
    assert (asymmetric.l1, asymmetric.l2, asymmetric.l3) == (0, 0, 3000)
    assert asymmetric.simulated
    facts = asymmetric.facts
    assert (facts.processor, facts.clock, facts.system) == ("A Processor @ 2.67GHz", 2.67e9, "Linux 6.1.0")
    assert facts.network == ("ib0",)
    assert asymmetric.distances[2] == (20, 21, 10, 11, 30)


def test_the_drawing_tells_unequal_parts_apart(asymmetric):
    shown = text(asymmetric)
    assert "package 0 · NUMA node 0 1 kB · NUMA node 1 2 kB · L3 3 kB  [0-1,3-4]" in shown
    assert "2 x core · 2 processors each" in shown and "package 1" in shown


def test_units_of_an_asymmetric_machine(asymmetric):
    assert [unit.cores for unit in asymmetric.units("socket")] == [(0, 1), (2,)]
    assert [unit.numa for unit in asymmetric.units("numa")] == [(0,), (2,)]
    with pytest.raises(ModelError, match=r"third-level caches.*none for some.*Choose numa or socket"):
        asymmetric.units("l3")
    with pytest.raises(ModelError, match="binding 'cpu' is unknown: node, socket, numa, l3, core or none"):
        asymmetric.units("cpu")


def test_bitmaps_hold_thousands_of_processors(tmp_path):
    # hwloc leaves empty words out between commas; an endless set begins with 0xf...f
    words = ["0x00000003", *[""] * 126, "0x1"]
    file = ASYMMETRIC.replace('allowed_cpuset="0x0000001f"', f'allowed_cpuset="{",".join(words)}"')
    (tmp_path / "far.xml").write_text(file.replace('os_index="5"', 'os_index="4065"'))
    assert from_xml(tmp_path / "far.xml").processors == (0, 4065)
    (tmp_path / "endless.xml").write_text(file.replace(",".join(words), "0xf...f,0x0000001f"))
    assert from_xml(tmp_path / "endless.xml").processors == (0, 1, 2, 3, 4, 5)


DEEP = "<topology version='2.0'>" + "<object type='Group'>" * 5000 + "</object>" * 5000 + "</topology>"


@pytest.mark.parametrize(
    "content, why",
    [
        ("<topology><object type='Machine'/></topology>", "a file of hwloc 1"),
        ("<topology version='2.0'></topology>", "no topology"),
        ("<html></html>", "no topology"),
        ("pack:2 core:4", "is not XML"),
        ("\x00\x01", "is not XML"),
        ("<topology version='2.0'><object type='Machine' cpuset='0x1'/></topology>", "damaged: it has no processor"),
        (ASYMMETRIC.replace("0x0000001f", "zebra", 1), "damaged: 'zebra' is no bitmap"),
        (ASYMMETRIC.replace('os_index="2"', 'os_index="two"'), "damaged"),
        (ASYMMETRIC.replace('os_index="2" cpuset="0x00000004"', 'os_index="-2" cpuset="0x00000004"'), "PU number -2"),
        (ASYMMETRIC.replace('os_index="2" cpuset="0x00000004"', 'os_index="1" cpuset="0x00000004"'), "processor twice"),
        (ASYMMETRIC.replace('"Package"', '"Parcel"'), "damaged"),
        (DEEP, "damaged"),
        (ASYMMETRIC.replace("30 31 10 <", "30 31 <"), "damaged: its table of distances is not square"),
    ],
)
def test_a_wrong_file_is_refused(tmp_path, content, why):
    (tmp_path / "wrong.xml").write_text(content)
    with pytest.raises(ModelError) as refused:
        load(str(tmp_path / "wrong.xml"))
    assert why in str(refused.value)


def test_a_file_that_is_not_there_is_refused():
    with pytest.raises(ModelError, match=r"there\.xml: No such file"):
        load("there.xml")


def test_hardware_made_by_hand_has_a_tree():
    cores = tuple(Core(index, (index,), index // 2, index // 2, -1) for index in range(4))
    machine = Hardware("by hand", True, cores, (NumaNode(0, 0, 0, (0, 1)), NumaNode(1, 1, 0, (2, 3))))
    assert [child.kind for child in machine.tree().children] == ["package", "package"]
