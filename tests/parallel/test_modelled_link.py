"""Links whose time is a clock: when messages count as come, and the bits of a run over them."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from nearfield.machine.profile import Link
from nearfield.predict.modelled_link import Ends

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


def test_messages_leave_and_come_one_after_the_other():
    ends = Ends(Link(latency=0.5, bandwidth=100.0))
    before = time.perf_counter()
    first, second = ends.leave(200), ends.leave(100)
    assert before <= first <= time.perf_counter() and second == first + 2.0
    assert ends.come(10.0, 300) == 13.5
    assert ends.come(10.0, 100) == 14.5  # the link was busy with the first
    assert ends.come(20.0, 100) == 21.5


def test_a_hidden_exchange_over_a_clocked_link_takes_its_time_and_keeps_the_bits(tmp_path):
    """Not hidden: a step cannot be faster than the messages of 48^3 over the link."""
    pytest.importorskip("mpi4py")
    line = [sys.executable, str(BENCHMARKS / "clocked_links.py"), "--sizes", "48", "--pairs", "1", "--work", "4e6"]
    line += ["--bandwidth", "5e6", "--output", str(tmp_path)]
    done = subprocess.run(line, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (row,) = json.loads((tmp_path / "clocked_links.json").read_text())["comparisons"]
    kinds = row["kinds"]
    assert all(kind["same_bits"] for kind in kinds.values())
    message = 2 * 4 * 48 * 48 / 5e6  # s: two components of one layer
    waited = kinds["one layer, not hidden"]
    step = 48**3 / (2 * waited["efficiency"] * row["alone"] * 1e6)
    assert step >= message and waited["parts"]["wait"] > 0.5
