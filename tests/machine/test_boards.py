"""Machines of boards in a torus: distances, ways, what links cost, and the published curve of one of them."""

from __future__ import annotations

import json

import numpy as np
import pytest

from nearfield.cli import main
from nearfield.entry.errors import ModelError
from nearfield.machine.boards import Boards, Description, read
from nearfield.machine.hardware import from_synthetic, load
from nearfield.measure.probe import Effort
from nearfield.measure.probe_simulated import MakeBelieve
from nearfield.measure.probe_stream import boards_of, growing, probe_scale

ENTRIES = {
    "format": "nearfield machine",
    "board": "numa:2(memory=4GB) core:2 pu:1",
    "torus": [2, 4],
    "distances": [[10, 20], [20, 10]],
    "far": 50,
    "hop": 10,
    "core_rate": 4e9,
    "node_rate": 6e9,
    "link_rate": 1e9,
    "stray": 0.1,
    "latency": 1e-7,
}
RING = Boards(Description(**ENTRIES))


@pytest.fixture(scope="module")
def curve():
    return probe_scale(machine := load("numascale"), MakeBelieve(machine), Effort(passes=1, most_bytes=2**20))


def test_a_machine_of_1728_cores_is_72_boards_with_distances_between_all_nodes():
    machine = load("numascale")
    assert (len(machine.cores), len(machine.numa), boards_of(machine)) == (1728, 288, 72)
    assert machine.memory == 288 * 16 * 10**9 and machine.boards.torus == (3, 6, 4)
    # node 4 is on the next board along the last axis, of length 4; node 16 on the next but three, which is the first's
    assert [machine.distances[0][node] for node in (0, 1, 3, 4, 8, 12, 16)] == [10, 16, 22, 120, 140, 120, 120]
    assert max(map(max, machine.distances)) == 100 + 20 * (1 + 3 + 2)


def test_hops_are_the_shortest_way_round_each_axis():
    assert RING.hops[0].tolist() == [0, 1, 2, 1, 1, 2, 3, 2]
    assert (RING.hops == RING.hops.T).all()
    for there in range(8):
        way = list(RING.way(RING.place(0), RING.place(there)))
        assert sum(part for _, part in way) == RING.hops[0, there]  # each equal way carries half, over as many links


def test_links_and_the_load_of_the_busiest_can_be_counted_by_hand():
    assert RING.links == 1 + 2  # one across the axis of two, both ways round the ring of four
    # ring of four, each sends a quarter to each: 1/4 to the next one and half of 1/4 twice by the two-hop ways
    assert RING.busiest(range(4)) == pytest.approx(0.25 + 0.125 + 0.125)
    # across: half of what each of four in a column sends
    assert RING.busiest([0, 4]) == pytest.approx(0.5)
    assert RING.slower([3]) == 1.0
    load, hops = 0.1 * 12.0, np.mean([[0, 1, 2, 1], [1, 0, 1, 2], [2, 1, 0, 1], [1, 2, 1, 0]])
    assert RING.slower(range(4)) == pytest.approx(1 + load * hops / 3)


def test_the_published_curve_comes_out_7_times_from_8_to_72_boards_and_over_2_terabytes_a_second(curve):
    rates = {point["boards"]: point["best_gb_per_second"] for point in curve["points"]}
    assert rates[72] / rates[8] == pytest.approx(7.0, abs=0.7)
    assert 2000 < rates[72] < 2600
    each = [rates[boards] / boards for boards in sorted(rates) if boards]
    assert (np.diff(each) < 0).all()  # every board more slows the others


def test_bandwidth_and_latency_from_every_node_to_every_node_follow_the_distances(curve):
    matrix, distances = curve["matrix"], np.array(load("numascale").distances)
    latency, rate = (np.array(matrix[name]) for name in ("latency_ns", "bandwidth_gb_per_second"))
    assert latency.shape == rate.shape == (288, 288)
    assert latency == pytest.approx(9.0 * distances)
    assert (np.diag(rate) == rate.max()).all() and rate[0, 4:].max() <= 2.0  # one link at most


def test_growing_numbers_of_boards_are_whole_ones():
    counts = [(len(cores), boards) for cores, boards in growing(load("numascale"))]
    assert counts[:6] == [(1, 0), (2, 0), (4, 0), (6, 0), (12, 0), (24, 1)] and counts[-1] == (1728, 72)
    groups = from_synthetic("group:3 pack:2 [numa] core:2 pu:1")
    assert [boards for _, boards in growing(groups)] == [0, 0, 1, 2, 3]


def test_the_curve_is_drawn_over_boards(tmp_path, capsys):
    file = tmp_path / "ring.json"
    file.write_text(json.dumps(ENTRIES | {"sources": {"stray": "assumed: a tenth"}}))
    line = ["probe", "stream", "--scale", "--simulate", str(file), "--plot", str(tmp_path / "plots")]
    assert main(line) == 0
    text = capsys.readouterr().out
    assert "8 boards:" in text and "stray: assumed: a tenth" in text and "SIMULATED" in text
    assert sorted(path.name for path in (tmp_path / "plots").iterdir()) == ["matrix.png", "scale.png"]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"torus": []}, "torus"),
        ({"torus": [0, 4]}, "torus"),
        ({"distances": [[10, 20], [20]]}, "row for each node"),
        ({"distances": [[10]]}, "NUMA nodes"),
        ({"stray": 1.5}, "stray"),
        ({"node_rate": "fast"}, "node_rate"),
        ({"format": "nearfield profile"}, "format"),
        ({"moon": 1}, "moon"),
        ({"board": "moon"}, "moon"),
    ],
)
def test_descriptions_that_are_none_are_refused(changed, said, tmp_path):
    file = tmp_path / "machine.json"
    file.write_text(json.dumps(ENTRIES | changed))
    with pytest.raises(ModelError, match=said):
        load(str(file))


def test_files_that_are_missing_or_no_json_are_refused(tmp_path):
    with pytest.raises(ModelError, match="numascale"):
        read(tmp_path / "none.json")
    (tmp_path / "broken.json").write_text("{")
    with pytest.raises(ModelError, match="not JSON"):
        load(str(tmp_path / "broken.json"))
