"""Devices whose time is a clock: what is counted, how long it takes, and the bits of the engine behind."""

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import plans
import pytest
from agreement import same

from nearfield.engines.cpu.engine import CpuEngine
from nearfield.engines.protocol import Face
from nearfield.machine.profile import Link
from nearfield.parallel.launch import launcher
from nearfield.parallel.phases import Axis, phases
from nearfield.plan.boxes import Box
from nearfield.predict.modelled_device import ModelledDevice, NoArithmetic, points_in


def plan():
    return plans.make_plan((9, 8, 17), (("pec", "pec"),) * 3, seed=3)


@pytest.mark.parametrize("depth", [1, 4])
def test_the_points_of_all_regions_of_a_round_are_those_of_the_box(depth):
    """Faces first or not, every sample is made once; what is made of the halos is less than the halos."""
    held, own = 40, (depth, 40 - depth)
    cut, whole = Axis(held, own, True, True, depth), Axis(8, (0, 8), False, False, depth)
    sides = tuple(axis.whole(0) for axis in (cut, whole, whole))
    faces, rest = phases((cut, whole, whole), 2, 0, depth)
    assert len(faces) == 2 and len(rest) == 1
    counted = sum(points_in(region, (held, 8, 8), 0, depth) for region in (*faces, *rest))
    assert counted == points_in(sides, (held, 8, 8), 0, depth)
    assert (own[1] - own[0]) * 64 * depth <= counted <= held * 64 * depth


def test_steps_and_copies_take_the_time_of_the_clock_one_after_the_other():
    whole = plan()
    device = ModelledDevice(NoArithmetic(whole), whole.box.size / 0.05, Link(latency=0.02, bandwidth=1e12))
    message = device.message([Face(whole.box), Face(whole.box)])
    asked: list[int] = []
    begun = time.perf_counter()
    device.begin(2, "sources", False)
    device.run(0, 1, stop=lambda: bool(asked.append(1)))
    message.pack()
    packed = time.perf_counter() - begun
    message.unpack()
    device.run(1, 2)
    device.end()
    taken = time.perf_counter() - begun
    assert packed >= 0.05 + 0.04 and taken >= 0.05 + 0.04 + 0.04 + 0.05  # a clock is never early
    assert asked  # messages leave while the device computes


def test_the_bits_are_those_of_the_engine_behind():
    whole = plan()
    numbers = np.random.default_rng(5).standard_normal(whole.active).astype(whole.dtype)
    alone, behind = CpuEngine(whole, 1), CpuEngine(whole, 1)
    device = ModelledDevice(behind, 1e9)
    for engine in (alone, behind):
        engine.state(2)[...] = numbers
        engine.begin(4, "sources", True)
    (alone.run(0, 4), device.run(0, 4))
    assert (alone.end()[1] == device.end()[1]).all() and device.step == 4
    assert all(same(alone.state(c), device.state(c)) for c in range(6))


def test_messages_without_arithmetic_are_as_long_as_real_ones():
    whole = plan()
    real, none = CpuEngine(whole, 1), NoArithmetic(whole)
    box = Box((0, 0, 0), (2, 8, 17))
    for fields in (None, frozenset({"Hy", "Hz", "imaginary Hy", "imaginary Hz"})):
        faces = [Face(box, fields)]
        made, wanted = none.message(faces), real.message(faces)
        assert made.buffer.nbytes == wanted.buffer.nbytes
        assert [part.nbytes for part in made.parts] == [part.nbytes for part in wanted.parts]


def test_every_method_waits_for_the_messages_of_ranks_with_modelled_devices():
    """Two ranks of this machine: rank 0 prints what every method took, no less than what it must wait for."""
    pytest.importorskip("mpi4py")
    rank = str(Path(__file__).resolve().parents[2] / "benchmarks" / "overlap_rank.py")
    wanted = {"ratios": [20], "steps": 4, "rounds": 1, "arithmetic": "none"}
    line = [str(launcher()), "-n", "2", sys.executable, rank, json.dumps(wanted)]
    done = subprocess.run(line, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["seconds"]
    computing = 20 * 64000 / 1188.02e6  # Table 2 of the paper: the main grid of 20 planes
    copying = 4 * (512000 / 1690.72e6 + 0.081e-3)
    assert min(found[method] for method in ("split", "host-buffer", "none", "blocking")) >= computing + copying / 2
