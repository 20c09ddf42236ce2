"""What `nearfield machine` shows: rows, tree, picture, JSON, XML, and SIMULATED wherever it is not this machine."""

from __future__ import annotations

import itertools
import json

from nearfield.cli import main
from nearfield.machine.hardware import from_synthetic, from_xml
from nearfield.report.machine_picture import arrange, picture, text

S0 = "pack:2 [numa(memory=6GB)] l3:1(size=8MB) core:4 pu:1"
NUMASCALE = "group:72 pack:2 numa:2(memory=16GB) core:6 pu:1"


def test_a_machine_that_is_not_this_one_is_marked_simulated(capsys):
    assert main(["machine", S0, "--nodes", "21"]) == 0
    shown = capsys.readouterr().out
    assert "SIMULATED: not this machine" in shown and "SIMULATED machine" in shown
    assert "Number of nodes    21" in shown and "Cores a node       8 (8 processors)" in shown
    assert main(["machine"]) == 0
    assert "SIMULATED" not in capsys.readouterr().out


def test_json_has_every_core_and_says_whether_it_is_simulated(capsys):
    assert main(["machine", "--topology", S0, "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["simulated"], shown["cores"], shown["packages"]) == (True, 8, 2)
    assert shown["core_list"][5] == {"index": 5, "processors": [5], "package": 1, "numa": 1, "l3": 1}
    assert shown["numa_nodes"][1] == {"index": 1, "os_index": 1, "memory_bytes": 6 * 10**9, "cores": [4, 5, 6, 7]}
    assert main(["machine", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["simulated"] is False


def test_the_drawing_of_a_small_machine_names_all_and_of_a_large_one_folds():
    assert text(from_synthetic(S0)).splitlines() == [
        "SIMULATED machine",
        "  package 0 · NUMA node 0 6 GB · L3 8 MB  [0-3]",
        "    4 x core  [0-3]",
        "  package 1 · NUMA node 1 6 GB · L3 8 MB  [4-7]",
        "    4 x core  [4-7]",
    ]
    assert text(from_synthetic(NUMASCALE)).splitlines() == [
        "SIMULATED machine",
        "  72 x group  [0-1727]",
        "    2 x package",
        "      2 x group · NUMA node 16 GB",
        "        6 x core",
    ]


def test_boxes_of_the_picture_lie_inside_their_parents_and_apart():
    def check(box) -> int:
        for left, top, inner in box.inside:
            assert left >= 0 and top >= box.head
            assert left + inner.width <= box.width and top + inner.height <= box.height
        for (x, y, one), (left, top, other) in itertools.combinations(box.inside[:20], 2):
            assert x + one.width <= left or left + other.width <= x or y + one.height <= top or top + other.height <= y
        return sum(check(inner) for _, _, inner in box.inside) or 1

    assert check(arrange(from_synthetic(NUMASCALE).tree())) == 1728


def test_the_picture_is_written_as_svg_and_png(tmp_path, capsys):
    for name, begins in (("machine.svg", b"<?xml"), ("machine.png", b"\x89PNG")):
        assert main(["machine", S0, "--plot", str(tmp_path / name)]) == 0
        assert (tmp_path / name).read_bytes().startswith(begins)
    assert "SIMULATED" in picture(from_synthetic(S0)).get_suptitle()
    assert main(["machine", S0, "--plot", str(tmp_path / "machine.txt")]) == 2
    assert main(["machine", S0, "--plot", str(tmp_path / "none" / "machine.svg")]) == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["machine.png", "machine.svg"]


def test_emitted_xml_is_all_of_stdout(tmp_path, capsys):
    assert main(["machine", S0, "--emit", "xml"]) == 0
    (tmp_path / "machine.xml").write_text(capsys.readouterr().out)
    assert from_xml(tmp_path / "machine.xml").cores == from_synthetic(S0).cores


def test_check_says_what_this_process_may_use(capsys):
    assert main(["machine", "--check"]) == 0
    shown = capsys.readouterr().out
    assert main(["machine", S0, "--check"]) == 2
    assert "default binding" in shown and "memory policies" in shown
