"""`nearfield ring bench --suite gpu`: streams between rings and devices, and where they are."""

from __future__ import annotations

import json

import numpy as np
import pytest

from nearfield.cli import main
from nearfield.commands.ring_bench import gain
from nearfield.engines.cuda import device
from nearfield.engines.cuda.driver import Card
from nearfield.entry.errors import ModelError
from nearfield.machine import synthetic
from nearfield.machine.compiled import core
from nearfield.machine.hardware import assemble
from nearfield.measure import ring_bench
from nearfield.measure import ring_bench_devices as bench
from nearfield.stream.placement import nodes_with_memory

SMALL = ["ring", "bench", "--suite", "gpu", "--bytes", "5e5", "--block-bytes", "65536", "--json"]
TWO_NODES = "pack:2 [numa(memory=6GB)] core:2 pu:1"


def measured(capsys) -> list[dict]:
    assert main(SMALL) == 0
    return json.loads(capsys.readouterr().out)["rows"]


def test_streams_go_to_the_make_believe_device_and_back_and_every_byte_is_right(capsys, monkeypatch):
    monkeypatch.setattr(bench, "STREAMS", 1)  # processes take long to start, and STREAM to run
    monkeypatch.setattr(ring_bench, "STREAM_PASSES", 2)
    rows = measured(capsys)
    places = (
        ["aligned", "random, seed 1"] if len(nodes_with_memory()) == 1 else ["aligned", "opposed", "random, seed 1"]
    )
    ways = [("Host to device", "reader"), ("Device to host", "writer")]
    expected = [(f"{way}, {how}", name, role) for way, role in ways for how in places for name in "A"]
    assert [(row["test"], row["stream"], row["device"]["role"]) for row in rows] == expected
    for row in rows:
        assert row["verified"] and row["bytes"] == 500_000 and row["device"]["name"] == "host"
        assert row["mb_per_second"] > 0 and row["zero_copy_mb_per_second"] is None


@pytest.mark.slow
def test_streams_reach_a_card_by_its_driver(card, capsys):
    rows = measured(capsys)
    assert len(rows) >= 16
    assert all(row["verified"] and row["device"]["name"] == "Stand-in" for row in rows)


def test_aligned_opposed_and_random_places_on_two_nodes(monkeypatch):
    monkeypatch.setattr(bench, "this_machine", lambda: assemble(synthetic.parse(TWO_NODES), "two", False, {}, None))
    cases = {case.test: case.streams for case in bench.to_devices()}
    assert len(cases) == 6
    for way in ("Host to device", "Device to host"):
        for stream in cases[f"{way}, aligned"]:
            assert stream.memory == stream.writer == stream.reader == stream.device.node
        for stream in cases[f"{way}, opposed"]:
            assert stream.memory == stream.writer == stream.reader == 1 - stream.device.node
    drawn = [stream.memory for stream in cases["Host to device, random, seed 1"]]
    assert drawn == [stream.memory for stream in cases["Device to host, random, seed 1"]] and {*drawn} <= {0, 1}
    assert drawn == [stream.memory for case in bench.to_devices()[2:3] for stream in case.streams]


def test_the_node_of_a_card_is_the_systems_answer(tmp_path):
    (tmp_path / "0000:3b:00.0").mkdir()
    (tmp_path / "0000:3b:00.0" / "numa_node").write_text("1\n")
    found = [core().devices.node_of_bus(bus, str(tmp_path)) for bus in ("0000:3B:00.0", "0000:AF:00.0")]
    assert found == [1, -1]
    card, lost = (Card(0, "C", (9, 0), 2**30, 132, 4e12, "0000:3B:00.0", node) for node in found)
    assert bench.node_of_card(card, [0, 1]) == 1 and bench.node_of_card(lost, [4]) == 4
    with pytest.raises(ModelError, match="no place is aligned with it"):
        bench.node_of_card(lost, [0, 1])


def test_aligned_places_are_held_against_opposed_ones():
    row = {"memory": 0, "writer": 0, "reader": 0, "device": {"node": 0}}
    rows = [row | {"mb_per_second": 3000.0}, row | {"device": {"node": 1}, "mb_per_second": 1000.0}]
    assert gain(rows)[-1].startswith("all on one node over the others: 3.00 times")


def test_memory_of_a_device_gives_back_what_it_got_and_no_more():
    memory = core().devices.DeviceMemory(device.opened(0), 1000)
    values = np.arange(1000).astype(np.uint8)
    memory.write(values)
    found = np.zeros(700, np.uint8)
    memory.read(found)
    assert np.array_equal(found, values[:700])
    with pytest.raises(IndexError, match="more bytes"):
        memory.write(np.zeros(1001, np.uint8))
