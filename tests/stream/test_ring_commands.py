"""`nearfield ring`: what it lists, shows, removes and measures, and what it refuses with exit code 2."""

from __future__ import annotations

import json
import os
import signal

import numpy as np
import pytest
from parties import ended, fill, fork, read

from nearfield import stream
from nearfield.cli import main
from nearfield.commands.ring_bench import gain
from nearfield.machine import synthetic
from nearfield.machine.hardware import assemble
from nearfield.measure import ring_bench as bench
from nearfield.stream import names
from nearfield.stream.placement import nodes_with_memory

ROW = {
    "test",
    "memory",
    "writer",
    "reader",
    "bytes",
    "seconds",
    "mb_per_second",
    "zero_copy_mb_per_second",
    "stream_copy_share",
    "same_copies_share",
    "pages_per_node",
    "verified",
}


def answered(capsys, *arguments: str) -> dict:
    assert main(["ring", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def refused(capsys, *arguments: str) -> str:
    assert main(["ring", *arguments]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ") and error.count("\n") == 1 and "Traceback" not in error
    return error


@pytest.fixture
def stale(name):
    def die() -> None:
        writer = stream.create(name, 2, 4096)
        fill(writer, 0)
        os.kill(os.getpid(), signal.SIGKILL)

    assert ended(fork(die)) == -signal.SIGKILL
    return name


def test_ls_and_stat_tell_who_uses_a_ring(name, capsys):
    with stream.create(name, 3, 4096, descriptor={"a": 1}) as writer:
        child = fork(read, name, "drop-oldest", None)
        writer.wait_for_readers(1, 10)
        fill(writer, 0)
        (mine,) = [one for one in answered(capsys, "ls")["rings"] if one["name"] == name]
        assert (mine["state"], mine["blocks"], mine["readers"], mine["committed"]) == ("open", 3, 1, 1)
        assert mine["writer"] == {"pid": os.getpid(), "alive": True}
        found = answered(capsys, "stat", name)
        assert found["readers"][0]["policy"] == "drop-oldest" and found["readers"][0]["pid"] == child
        assert sum(found["pages_per_node"]) == found["pages"] == 3
        assert main(["ring", "ls"]) == main(["ring", "stat", name]) == 0
        shown = capsys.readouterr().out
        assert f"writer {os.getpid()}" in shown and f"process {child}, drop-oldest" in shown
    assert ended(child) == 0


def test_rm_stale_removes_what_nobody_uses_and_nothing_else(stale, name, capsys):
    alive = f"{name}.alive"
    with stream.create(alive, 2, 64):
        states = {one["name"]: one["state"] for one in answered(capsys, "ls")["rings"]}
        assert (states[stale], states[alive]) == ("stale", "open")
        assert answered(capsys, "rm", "--stale")["removed"] == [stale]
        assert not names.path_of(stale).exists() and names.path_of(alive).exists()
        assert "in use" in refused(capsys, "rm", alive)
        assert names.path_of(alive).exists()


def test_rm_removes_by_name(stale, capsys):
    assert answered(capsys, "rm", stale)["removed"] == [stale]
    assert f"there is no {names.path_of(stale)}" in refused(capsys, "rm", stale)


def test_a_file_that_is_no_ring_is_listed_and_left_alone(name, capsys):
    path = names.path_of(name)
    path.write_bytes(b"something else")
    (found,) = [one for one in answered(capsys, "ls")["rings"] if one["name"] == name]
    assert found["state"] == "unreadable" and "no ring of this version" in found["reason"]
    assert answered(capsys, "rm", "--stale")["removed"] == []
    for command in ("rm", "stat"):
        assert "no ring of this version" in refused(capsys, command, name)
    path.unlink()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["bench", "--memory", "4000"], "memory=4000: there is no NUMA node 4000"),
        (["bench", "--writer", "4000"], "writer=4000: there is no NUMA node 4000"),
        (["bench", "--reader", "4000"], "reader=4000: there is no NUMA node 4000"),
        (["bench", "--streams", "A:0,0,0 B:0,4000,0"], "writer=4000"),
        (["bench", "--streams", "A:0,0"], "NAME:MEMORY,WRITER,READER"),
        (["bench", "--streams", "A:0,0,0 A:0,0,0"], "each its own name"),
        (["bench", "--streams", "A:0,0,0", "--suite", "single"], "exclude each other"),
        (["bench", "--suite", "triple"], "allowed are single, dual, gpu"),
        (["bench", "--bytes", "0"], "bytes=0"),
        (["bench", "--bytes", "nan"], "bytes=nan"),
        (["bench", "--blocks", "1"], "--blocks"),
        (["bench", "--block-bytes", "1000000000000"], "needs more memory"),
        (["rm"], "--stale"),
        (["stat", "no-such-ring"], "there is no"),
        (["stat", "../x"], "allowed are"),
    ],
)
def test_what_cannot_be_done_is_refused_with_exit_code_2(capsys, arguments, words):
    assert words in refused(capsys, *arguments)


def test_the_dual_suite_needs_two_nodes(capsys):
    if len(nodes_with_memory()) > 1:
        pytest.skip("this machine has them")
    assert "needs two NUMA nodes" in refused(capsys, "bench", "--suite", "dual")


def test_bench_measures_two_streams_at_once_and_verifies_them(capsys):
    node = nodes_with_memory()[0]
    where = f"{node},{node},{node}"
    arguments = ("--streams", f"A:{where} B:{where}", "--bytes", "4e6", "--block-bytes", "65536", "--passes", "2")
    rows = answered(capsys, "bench", *arguments)["rows"]
    assert [row["stream"] for row in rows] == ["A", "B"]
    for row in rows:
        assert row.keys() >= ROW
        assert row["verified"] is True and row["bytes"] == 4_000_000
        assert row["pages_per_node"][node] == 8 * 65536 // os.sysconf("SC_PAGESIZE")
        assert row["mb_per_second"] == pytest.approx(row["bytes"] / row["seconds"] / 1e6)
        assert row["seconds"] == pytest.approx(np.median(row["seconds_of_passes"]))
        share = row["mb_per_second"] / row["two_stream_copies_mb_per_second"]
        assert row["stream_copy_share"] == pytest.approx(share) and row["zero_copy_mb_per_second"] > 0
        same = row["mb_per_second"] / row["two_same_copies_mb_per_second"]
        assert row["same_copies_share"] == pytest.approx(same) and same > 0
        assert row["latency_microseconds"] > 0 and 0 < row["fairness"] <= 1
        assert row["sum_mb_per_second"] == pytest.approx(sum(each["mb_per_second"] for each in rows))


def test_bench_prints_a_table(capsys):
    assert main(["ring", "bench", "--suite", "single", "--bytes", "2e6", "--block-bytes", "65536"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("Test") and "Single Stream" in shown and "verified" in shown and "NOT" not in shown


def test_the_suites_have_the_rows_of_two_nodes(monkeypatch):
    two = assemble(synthetic.parse("pack:2 [numa(memory=6GB)] core:2 pu:1"), "two nodes", False, {}, None)
    monkeypatch.setattr(bench, "this_machine", lambda: two)
    single = [case.streams[0] for case in bench.suite("single")]
    assert sorted((one.memory, one.writer, one.reader) for one in single) == [
        (m, w, r) for m in (0, 1) for w in (0, 1) for r in (0, 1)
    ]
    dual = {case.test: [stream.words() for stream in case.streams] for case in bench.suite("dual")}
    assert dual == {
        "Isolated 0 and 1": ["RAM=0 Write=0 Read=0", "RAM=1 Write=1 Read=1"],
        "Adjacent on 0": ["RAM=0 Write=0 Read=0"] * 2,
        "Adjacent on 1": ["RAM=1 Write=1 Read=1"] * 2,
        "Crossover": ["RAM=1 Write=0 Read=0", "RAM=0 Write=1 Read=1"],
    }
    for case in bench.suite("dual"):
        used = sorted(number for both in bench.processors(case, two) for number in both)
        assert used == {"Adjacent on 0": [0, 0, 1, 1], "Adjacent on 1": [2, 2, 3, 3]}.get(case.test, [0, 1, 2, 3])


def test_the_gain_of_local_placement_is_a_ratio_of_medians():
    row = {"memory": 0, "writer": 0, "reader": 0}
    rows = [row | {"mb_per_second": 4000.0}, row | {"reader": 1, "mb_per_second": 2000.0}]
    assert gain(rows)[-1].startswith("all on one node over the others: 2.00 times")
    assert gain(rows[:1]) == []
