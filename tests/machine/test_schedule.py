"""The scheduler of loops: every block once, the same answer, its own node first; on machines real and described."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest

from nearfield import _core
from nearfield.cli import main
from nearfield.dissipation.elements import elements
from nearfield.machine.hardware import from_synthetic, this_machine
from nearfield.machine.schedule import SCHEDULES, Layout, counted, layout_of, recorded, replay, scheduled

NUMASCALE = from_synthetic("group:72 pack:2 numa:2(memory=16GB) core:6 pu:1")
FAR = 40.0


def square(nodes: int, threads_each: int) -> Layout:
    """So many nodes in a line, distances growing along it."""
    distances = [[10.0 if a == b else FAR + 10 * abs(a - b) for b in range(nodes)] for a in range(nodes)]
    homes = tuple(node for node in range(nodes) for _ in range(threads_each))
    return Layout(homes, distances, ((),) * len(homes))


@pytest.mark.parametrize("kind", SCHEDULES)
@pytest.mark.parametrize(("nodes", "threads", "blocks"), [(1, 1, 0), (1, 4, 1000), (2, 3, 5), (4, 4, 20001)])
def test_every_block_is_made_exactly_once_by_threads_that_contend(kind, nodes, threads, blocks):
    layout = square(nodes, threads)
    made, counters = _core.schedule.visits(blocks, kind, list(layout.node_of_thread), layout.distances)
    assert made.shape == (blocks,) and (made == 1).all()
    assert counters["local"] + counters["near"] + counters["far"] == blocks
    assert (counters["threads"], counters["nodes"]) == (nodes * threads, nodes)


@pytest.mark.parametrize("threads", [1728, 4096])
def test_more_than_1024_threads_are_laid_out_and_bound_to_the_processors_of_their_nodes(threads):
    layout = layout_of(NUMASCALE, threads)
    assert layout.threads == threads and len(layout.distances) == 288
    counts = np.bincount(layout.node_of_thread, minlength=288)
    assert counts.min() >= threads // 288 and counts.max() <= -(-threads // 288)
    for node in (0, 171, 287):  # six cores a node, numbered on; the last lie far past 1024
        mine = layout.processors[layout.node_of_thread.index(node)]
        assert mine == tuple(range(6 * node, 6 * node + 6))
        assert _core.machine.numbers_in(_core.machine.bitmap_of(list(mine))) == list(mine)


@pytest.mark.parametrize("threads", [1728, 4096])
def test_a_loop_runs_on_more_than_1024_threads_that_are_bound(threads):
    layout = layout_of(NUMASCALE, threads)
    here = sorted(os.sched_getaffinity(0))
    try:
        made, counters = _core.schedule.visits(
            2 * threads, "local", list(layout.node_of_thread), layout.distances, [here] * 288
        )
    except RuntimeError as error:  # the control group of a container may allow fewer
        pytest.skip(f"{threads} threads are not granted: {error}")
    assert (made == 1).all() and counters["bound"] == threads
    assert sorted(os.sched_getaffinity(0)) == here


def test_even_work_stays_on_its_node():
    for nodes, each in ((2, 2), (8, 6), (72, 24)):
        layout = square(nodes, each)
        rng = np.random.default_rng(nodes)
        found = replay(1e-3 * rng.uniform(0.9, 1.1, 400 * layout.threads), "local", layout)
        assert found["local_share"] > 0.95
        assert found["efficiency"] > 0.95


def test_work_on_one_node_is_taken_by_the_nearest_nodes_first():
    layout = square(4, 2)
    costs = np.full(4000, 1e-6)
    costs[:1000] = 1e-3  # those of node 0
    found = replay(costs, "local", layout)
    fixed = replay(costs, "static", layout)
    assert fixed["local_share"] == 1.0 and fixed["efficiency"] < 0.26
    # nodes at 5, 6 and 7 times the distance add 2/5 + 2/6 + 2/7 to the two threads of the first: 0.66 of the time
    assert found["near"] > found["far"] / 2 > 0 and 0.66 < found["seconds"] / fixed["seconds"] < 0.7


def test_the_clock_of_a_replay_can_be_worked_out_on_paper():
    layout = Layout((0, 1), [[10.0, 20.0], [20.0, 10.0]], ((),) * 2)
    costs = np.array([3.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    slower, take = [[1.0, 1.5], [1.5, 1.0]], [[0.25, 0.5], [0.5, 0.25]]
    static = replay(costs, "static", layout, slower, take)
    assert (static["seconds"], static["idle"]) == (6.0, 2.0 / 12.0)
    # local, a block a take: thread 0 has made three at 3.25, 4.5, 5.75; thread 1 its own four at 5.0, when one is left
    # in the other range, too few at twice the distance; that ends at 7.0
    local = replay(costs, "local", layout, slower, take)
    assert local["seconds"] == 7.0 and local["local_share"] == 1.0 and local["counters"] == 8 * 0.25 / 14.0
    # dynamic, counter on node 0: thread 0 ends blocks 0, 3, 5, 7 at 3.25, 4.5, 6.5, 8.25; thread 1 ends 1, 2, 4, 6 at
    # 2.25, 4.25, 5.75, 7.25; four of them 0.5 s later for the other's memory
    dynamic = replay(costs, "dynamic", layout, slower, take)
    assert (dynamic["seconds"], dynamic["local"], dynamic["near"]) == (8.25, 4, 4)
    assert dynamic["distance"] == pytest.approx(4 * 0.5 / 16.5)


def test_waiting_for_one_counter_limits_dynamic_and_not_local():
    layout = square(16, 8)
    costs, take = np.full(12800, 1e-5), np.full((16, 16), 1e-6).tolist()
    dynamic, local = (replay(costs, kind, layout, None, take) for kind in ("dynamic", "local"))
    assert dynamic["seconds"] >= 12800 * 1e-6  # one after the other
    assert local["efficiency"] > 3 * dynamic["efficiency"]


def test_elements_are_the_same_under_every_schedule_and_count_their_blocks():
    x, y, z = np.ix_(*(2 * np.pi * np.arange(n) / n for n in (12, 20, 70)))
    field = np.sin(x + 1) * np.cos(2 * y) + 0.3 * np.sin(3 * z + y)
    found = {}
    for kind in SCHEDULES:
        with scheduled(kind):
            found[kind] = elements(field, 1.0, "xyz", "hybrid", 3)
            blocks = counted()
            assert blocks["kind"] == kind and blocks["local"] > 0 and blocks["loops"] > 4
    for kind in SCHEDULES[1:]:
        assert np.array_equal(found[kind].labels, found["local"].labels)
    assert _core.schedule.chosen() == "local"


def test_seconds_of_blocks_are_recorded_and_change_no_answer():
    field = np.sin(np.arange(6000.0).reshape(10, 20, 30))
    found = []
    loops = recorded(lambda: found.append(elements(field, 1.0, "", "trace", 2)))
    assert len(loops) > 4 and all((seconds >= 0).all() for seconds in loops)
    assert max(map(len, loops)) >= 6  # of 1024 points
    assert np.array_equal(found[0].labels, elements(field, 1.0, "", "trace", 2).labels)
    assert _core.schedule.recorded() and counted()["loops"] > 0  # and recording has ended


def test_one_node_is_all_local():
    if len(this_machine().numa) > 1:
        pytest.skip("this machine has several nodes")
    with scheduled("local"):
        elements(np.sin(np.arange(6.0)), 1.0, "", "discrete", 2)
        assert counted()["local_share"] == 1.0 and counted()["bound"] == 0


def test_the_command_prints_what_was_local_and_refuses_other_schedules(tmp_path, capsys):
    np.save(tmp_path / "field.npy", np.sin(np.arange(90.0).reshape(9, 10)))
    file = str(tmp_path / "field.npy")
    assert main(["elements", file, "--schedule", "static", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["schedule"]
    assert found["kind"] == "static" and {"local", "near", "far", "local_seconds", "local_share"} <= set(found)
    assert main(["elements", file, "--schedule", "guided"]) == 2
    assert "allowed: local, dynamic, static" in capsys.readouterr().err


def test_layouts_that_are_none_are_refused():
    with pytest.raises(ValueError, match="order"):
        _core.schedule.visits(4, "local", [1, 0], [[10, 20], [20, 10]])
    with pytest.raises(ValueError, match="square"):
        _core.schedule.visits(4, "local", [0, 1], [[10, 20], [20]])
    with pytest.raises(ValueError, match="local, dynamic or static"):
        _core.schedule.visits(4, "guided", [0], [[10]])
