"""Weak and strong scaling over networks whose links nodes share, beside sums done by hand."""

from __future__ import annotations

import json

import numpy as np
import pytest

from nearfield.cli import main
from nearfield.entry.errors import ModelError
from nearfield.predict.network import SHIPPED, Network, Traffic, load_network
from nearfield.predict.scaling import SHIPPED as NODES
from nearfield.predict.scaling import Node, load_scaled_node, point, scale

LINK = {"latency": 1e-6, "bandwidth": 1e9}
NODE = {"format": "nearfield node", "rate": {"single": 1e9, "double": 0.5e9}, "inner": {"latency": 0, "bandwidth": 1e9}}


def network(**entries) -> Network:
    return Network(**{"format": "nearfield network", "link": LINK} | entries)


def traffic(*messages: tuple[int, int, float], nodes: int) -> Traffic:
    source, target, size = map(np.array, zip(*messages))
    return Traffic(source, target, size.astype(float), 1, nodes)


def test_a_groups_messages_share_the_links_that_leave_it():
    """Two nodes of a group of 2 send 1 MB each out of it: 2 MB over 2 x 1 GB/s x 0.25; by a third group twice that."""
    messages = traffic((0, 2, 1e6), (1, 3, 1e6), nodes=6)
    found = network(kind="fat-tree", group=2, global_share=0.25, hop=1e-7).exchange(messages)
    assert found.own == pytest.approx(1e-3, rel=1e-12) and found.shared == pytest.approx(4e-3, rel=1e-12)
    assert found.seconds == pytest.approx(4e-3 + 1e-6 + 3e-7, rel=1e-12) and found.limit == "shared links"
    third = traffic((0, 2, 1e6), (1, 4, 1e6), nodes=6)
    spread = network(kind="dragonfly", group=2, global_share=0.25).exchange(third)
    assert spread.shared == pytest.approx(8e-3, rel=1e-12)


def test_messages_within_a_group_share_nothing():
    found = network(kind="fat-tree", group=2, global_share=0.25).exchange(traffic((0, 1, 1e6), nodes=2))
    assert found.shared == 0 and found.switches == 1 and found.limit == "the node's link"


def test_messages_in_a_torus_load_the_links_that_they_pass_by_the_shortest_way():
    """In a ring of 8: 0 to 2 and 1 to 2 share the link 1-2, so 2 MB; 0 to 7 is one link, the other way round."""
    ring = network(kind="torus", torus=(8,), wire=1e9, hop=1e-7)
    found = ring.exchange(traffic((0, 2, 1e6), (1, 2, 1e6), (0, 7, 1e6), nodes=8))
    assert found.shared == pytest.approx(2e-3, rel=1e-12) and found.switches == 2
    assert ring.exchange(traffic((0, 7, 1e6), nodes=8)).switches == 1


def test_messages_of_half_a_ring_go_both_ways_round():
    """As between boards: every node of a ring of 8 sends 1 MB to the one across, 0.5 MB each way, over 4 links."""
    ring = network(kind="torus", torus=(8,), wire=1e9, hop=1e-7)
    found = ring.exchange(traffic(*((n, (n + 4) % 8, 1e6) for n in range(8)), nodes=8))
    assert found.shared == pytest.approx(2e-3, rel=1e-12) and found.switches == 4
    pair = network(kind="torus", torus=(2,), wire=1e9, hop=1e-7).exchange(traffic((0, 1, 1e6), nodes=2))
    assert pair.shared == pytest.approx(1e-3, rel=1e-12) and pair.switches == 1


@pytest.mark.parametrize(
    "name, by_hand", [("fat-tree", 12.5e9 / 4), ("torus", 2 * 6.3e9 / 16), ("dragonfly", 25e9 / 8)]
)
def test_the_bisection_of_shipped_networks_is_that_of_their_links(name, by_hand):
    assert load_network(name).bisection == pytest.approx(by_hand, rel=1e-12)


def test_a_step_is_that_of_the_equations():
    """Two nodes of 100^3 points: 1 ms of update, a face of 100^2 points x 2 x 4 bytes at 1 GB/s and 1 us."""
    plain = network(kind="fat-tree", group=4, global_share=1)
    found = point(Node(**NODE), plain, 2, (200, 100, 100), "weak", "single")
    assert found.update == pytest.approx(1e-3) and found.messages == pytest.approx(81e-6) and found.copies == 0
    assert found.step == pytest.approx(1e-3) and found.efficiency == pytest.approx(1.0) and found.limit == "update"
    assert found.unhidden_efficiency == pytest.approx(1e-3 / 1.081e-3)
    copying = Node(**NODE, copy={"latency": 1e-5, "bandwidth": 1e9})
    found = point(copying, plain, 2, (200, 100, 100), "weak", "double")
    assert found.copies == pytest.approx(2 * (1e-5 + 160e-6)) and found.step == pytest.approx(2e-3 + found.copies)


def test_a_slow_network_is_waited_for_and_named():
    slow = network(kind="fat-tree", group=1, global_share=0.01)
    found = point(Node(**NODE), slow, 2, (200, 100, 100), "weak", "single")
    assert found.limit == "shared links" and found.step == pytest.approx(1e-5 + 1e-6 + 8e-3)


@pytest.mark.parametrize("kind", SHIPPED)
@pytest.mark.parametrize("node", NODES)
def test_shipped_networks_and_nodes_scale_without_gaining_from_nothing(kind, node):
    points = scale(load_scaled_node(node), load_network(kind), 16, 256, 512)
    assert {(each.scaling, each.precision) for each in points} == {
        (scaling, precision) for scaling in ("weak", "strong") for precision in ("single", "double")
    }
    assert all(0 < each.unhidden_efficiency <= each.efficiency <= 1 + 1e-12 for each in points)


def test_boxes_that_devices_cannot_hold_are_left_out_or_refused():
    small = Node(**NODE, memory=200**3 * 24.0)
    plain = network(kind="fat-tree", group=4, global_share=1)
    assert min(each.nodes for each in scale(small, plain, 16, 200, 400) if each.scaling == "strong") == 8
    with pytest.raises(ModelError, match="no number of nodes holds such boxes"):
        scale(small, plain, 2, 201, 800)


@pytest.mark.parametrize(
    "words, said",
    [
        (["--network", "ring"], "--network ring: No such file or directory; give dragonfly, fat-tree, torus"),
        (["--network", "torus", "--nodes", "5000"], "is good for 1 to 4096"),
        (["--network", "torus", "--overlap"], "--overlap: predict --network models"),
        (["--node", "two-cpus"], "--node without --network changes nothing"),
    ],
)
def test_what_cannot_be_predicted_is_refused(words, said, capsys):
    assert main(["predict", *words]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    "entries, said",
    [
        ({"kind": "torus"}, "needs torus and wire"),
        ({"kind": "fat-tree", "group": 2, "global_share": 1, "wire": 1}, "has no wire"),
    ],
)
def test_a_network_has_what_its_kind_needs_and_nothing_else(entries, said, tmp_path):
    (tmp_path / "own.json").write_text(json.dumps({"format": "nearfield network", "link": LINK, **entries}))
    with pytest.raises(ModelError, match=said):
        load_network(tmp_path / "own.json")


def test_the_command_prints_tables_and_json_and_draws(tmp_path, capsys):
    words = ["predict", "--network", "fat-tree", "--node", "one-card", "--nodes", "4", "--cells", "256"]
    assert main([*words, "--plot", str(tmp_path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert len(found["points"]) == 12 and len(found["files"]) == 2 == len(list(tmp_path.glob("*.png")))
    assert main(words) == 0
    out = capsys.readouterr().out
    assert "weak scaling, single precision, 256^3 a device" in out and "assumed: network, hop: assumed" in out
    assert "node, rate" not in out  # it was measured
