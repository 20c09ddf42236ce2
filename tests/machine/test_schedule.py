"""The scheduler of loops: every block once, the same answer, its own node first; on machines real and described."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from contextvars import ContextVar

import numpy as np
import pytest

import nearfield as nf
from nearfield import _core
from nearfield.analysis.faces import Face, time_factor
from nearfield.analysis.farfield import Exterior, Wall, far_fields
from nearfield.analysis.surface import Surface, grid_lines
from nearfield.cli import main
from nearfield.coefficients import window_coefficients
from nearfield.coefficients.window_coefficients import PLANE_BYTES, SPARE_BYTES, threads_for_planes
from nearfield.dissipation.elements import elements
from nearfield.machine import schedule
from nearfield.machine.hardware import from_synthetic, this_machine
from nearfield.machine.schedule import (
    SCHEDULES,
    TOGETHER,
    Layout,
    by_threads,
    counted,
    in_order,
    kept_by_thread,
    layout_of,
    recorded,
    replay,
    scheduled,
)

NUMASCALE = from_synthetic("group:72 pack:2 numa:2(memory=16GB) core:6 pu:1")
FAR = 40.0
EVERY_WAY = [(kind, threads) for kind in SCHEDULES for threads in (1, 2, 5)]


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


@pytest.mark.parametrize(("kind", "threads"), EVERY_WAY)
def test_blocks_of_python_give_their_answers_in_order_and_are_counted(kind, threads):
    with scheduled(kind):
        assert by_threads(lambda block: block**2, 23, threads) == [block**2 for block in range(23)]
        assert by_threads(lambda block: block, 0, threads) == []
        told = counted()
    assert (told["kind"], told["loops"], told["threads"]) == (kind, 1, threads)
    assert told["local"] + told["near"] + told["far"] == 23
    assert told["local_seconds"] + told["near_seconds"] + told["far_seconds"] > 0.0


def test_several_threads_make_the_blocks_at_once_and_see_the_callers_variables():
    value, meeting = ContextVar("value"), threading.Barrier(3, timeout=60)
    value.set("the caller's")

    def work(block: int) -> tuple[str, int]:
        meeting.wait()
        return value.get(), threading.get_ident()

    with scheduled("static"):
        found = by_threads(work, 3, 3)
    assert {seen for seen, _ in found} == {"the caller's"}
    assert len({thread for _, thread in found}) == 3 and threading.get_ident() in [thread for _, thread in found]


@pytest.mark.parametrize(("kind", "threads"), EVERY_WAY)
def test_an_error_in_a_block_ends_the_loop_and_comes_through(kind, threads):
    begun = []

    def work(block: int) -> None:
        begun.append(block)
        time.sleep(0.001)
        if block >= 7:
            raise KeyError(block)

    with scheduled(kind), pytest.raises(KeyError) as caught:
        by_threads(work, 1000, threads)
    assert caught.value.args[0] in begun and caught.value.args[0] >= 7
    assert len(begun) < 1000 and "work" in [entry.name for entry in caught.traceback]
    assert by_threads(lambda block: block, 3, threads) == [0, 1, 2]  # and the next loop runs


@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_ends_a_loop_of_python_blocks(threads):
    begun = []

    def work(block: int) -> None:
        begun.append(block)
        if block == 3:
            signal.raise_signal(signal.SIGINT)
        time.sleep(0.002)

    with pytest.raises(KeyboardInterrupt):
        by_threads(work, 2000, threads)
    assert len(begun) < 2000


def test_loops_within_blocks_and_loops_of_several_callers_do_not_wait_for_each_other():
    field = np.sin(np.arange(3000.0).reshape(10, 15, 20))
    alone = elements(field, 1.0, "", "trace", 1).labels

    def work(block: int) -> np.ndarray:
        by_threads(lambda inner: inner, 5, 2)
        return elements(field, 1.0, "", "trace", 2).labels

    found: list[np.ndarray] = []
    callers = [threading.Thread(target=lambda: found.extend(by_threads(work, 4, 2))) for _ in range(2)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join(60)
    assert len(found) == 8 and all(np.array_equal(labels, alone) for labels in found)


def test_threads_stay_on_the_processors_of_their_process():
    before = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(before)})
        assert by_threads(lambda _: os.sched_getaffinity(0), 8, 3) == [{min(before)}] * 8
    finally:
        os.sched_setaffinity(0, before)


def test_seconds_of_python_blocks_are_recorded_for_a_replay():
    assert [len(seconds) for seconds in recorded(lambda: by_threads(lambda block: block, 5, 2))] == [5]


@pytest.mark.parametrize(("threads", "ahead"), [(1, 1), (2, 2 * TOGETHER), (5, 5 * TOGETHER)])
def test_answers_in_order_are_made_a_few_ahead_for_each_thread(threads, ahead):
    made: list[int] = []

    def work(block: int) -> int:
        made.append(block)
        return block

    for taken, answer in enumerate(in_order(work, 37, threads)):
        assert answer == taken and len(made) <= min(37, (taken // ahead + 1) * ahead)
    assert sorted(made) == list(range(37))


def test_each_thread_keeps_answers_of_its_own():
    drawn, both = [], threading.Barrier(2, timeout=60)

    @kept_by_thread(1)
    def draw(number: int) -> int:
        drawn.append(threading.get_ident())
        return number

    def work(block: int) -> list[int]:
        both.wait()
        return [draw(block), draw(block)]

    with scheduled("static"):
        assert by_threads(work, 2, 2) == [[0, 0], [1, 1]]
    assert len(drawn) == len(set(drawn)) == 2


def body_model() -> nf.Simulation:
    """Media that remember, a good conductor and metal that cut cells, the full tensor at slanting surfaces."""
    line = tuple(1e-3 * np.cumsum([0.0, *(1 + 0.2 * np.sin(np.arange(24)))]))
    water, copper = nf.Medium(2.0, poles=[nf.Debye(3.0, 1e-11)]), nf.Conductor(5.8e7)
    return nf.Simulation(
        grid=nf.Grid(line, line, line),
        boundaries=nf.Boundaries(all=nf.CPML(4)),
        structures=[
            nf.Structure(nf.Sphere((10e-3, 14e-3, 15e-3), 4e-3), nf.Medium(4.0)),
            nf.Structure(nf.Sphere((17e-3, 9e-3, 16e-3), 2.5e-3), water),
            nf.Structure(nf.Sphere((8e-3, 8e-3, 7e-3), 2.2e-3), copper),
            nf.Structure(nf.Sphere((16e-3, 8e-3, 8e-3), 2.2e-3), nf.PEC),
        ],
        sources=[nf.PointCurrent((17e-3, 16e-3, 8e-3), "z", nf.Gaussian(10e9))],
        metal="conformal",
        averaging="tensor",
        steps=10,
    )


def coefficient_bytes() -> list[bytes]:
    """All coefficients of the model, and its coupling."""
    plan = body_model()._setup().plan
    found = [part.tobytes() for part in (plan.coupling.weight, plan.coupling.component)]
    for planes in plan.coefficients.planes(plan.storage_axes[0]):
        found += [bytes([planes.start, planes.stop]), planes.electric.tobytes(), planes.magnetic.tobytes()]
        found += [part.tobytes() for poles in planes.poles for part in (poles.stay, poles.weight)]
    return found


def test_coefficients_have_the_same_bits_under_every_schedule_and_count_their_blocks(monkeypatch):
    monkeypatch.setattr(window_coefficients, "LEAST_CELLS", 0)
    found = []
    for kind, threads in EVERY_WAY[1::2]:
        monkeypatch.setattr(window_coefficients, "threads_beside", lambda _, threads=threads: threads)
        with scheduled(kind):
            found.append(coefficient_bytes())
            assert counted()["threads"] == threads and counted()["local"] > 0
    assert len(found[0]) >= 2 + 3 * 24 and all(each == found[0] for each in found)


def test_planes_are_made_by_as_many_threads_as_there_are_cores_and_memory_for(monkeypatch):
    monkeypatch.setattr(window_coefficients, "threads_beside", lambda sharers: 24 // sharers)
    narrow, wide, huge = (((0, n), (0, n)) for n in (100, 200, 2000))
    assert threads_for_planes(narrow, 1000, 1) == 1  # arrays too small to share Python's lock
    assert [threads_for_planes(wide, 200, sharers) for sharers in (1, 4, 24)] == [6, 2, 1]
    assert threads_for_planes(wide, 2000, 1) > threads_for_planes(wide, 200, 1)
    assert threads_for_planes(huge, 100, 1) == 1 and SPARE_BYTES < PLANE_BYTES * 2000**2


def random_surface(frequencies: np.ndarray) -> Surface:
    """The faces of a box of 10 x 10 x 10 cells with random fields."""
    rng, cells, line = np.random.default_rng(1), 10, 1e-3 * np.arange(15.0)
    inner, step = line[2:-2], 1e-12

    def field(*shape: int) -> np.ndarray:
        return rng.standard_normal((frequencies.size, *shape, 2)).view(complex)[..., 0]

    def tangential() -> tuple[np.ndarray, np.ndarray]:
        return field(cells, cells + 1), field(cells + 1, cells)

    faces = [
        Face(axis, side, place, (1e-3, 1e-3), (inner, inner), tangential(), tangential()[::-1], lag)
        for axis in range(3)
        for side, place in ((-1, float(inner[0])), (1, float(inner[-1])))
        for lag in [time_factor(frequencies, step)]
    ]
    return Surface(faces, grid_lines((line, line, line), {}), step)


def test_far_fields_have_the_same_bits_under_every_schedule_and_count_their_blocks(monkeypatch):
    frequencies, angles = np.array([5e9, 8e9, 11e9]), np.linspace(0.0, 3.0, 700)
    surface, exterior = random_surface(frequencies), Exterior(walls=(Wall(2, 0.0, "pec", 1),))
    found = []
    for kind, threads in EVERY_WAY:
        monkeypatch.setattr(schedule, "available_threads", lambda threads=threads: threads)
        with scheduled(kind):
            found.append(np.stack(far_fields(surface, exterior, frequencies, angles, 2.0 * angles)).tobytes())
            assert counted()["threads"] == threads
            assert counted()["local"] == 3 * -(-700 // 256)
    assert all(each == found[0] for each in found)
