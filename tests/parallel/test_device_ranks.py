"""What a rank with a device asks of it, and how its messages travel."""

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest
from cases import slow_after
from plans import make_plan

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.marked_ranks import MODEL, STEPS
from nearfield.engines import ENGINES
from nearfield.machine.transport import Alone
from nearfield.parallel.launch import command, launcher
from nearfield.parallel.ranks import RankEngine
from nearfield.plan.boxes import Arrangement, Grouping


class Two(Alone):
    """The first of two ranks; the other one never answers."""

    size, hosts = 2, ["here", "here"]

    def everywhere(self, value):
        return [value, value]

    def channel(self, out, into, kind):
        return None


def test_the_layers_at_cut_faces_are_urgent_and_the_box_is_not(monkeypatch):
    monkeypatch.setenv("NEARFIELD_DEVICE", "host")
    asked: list[tuple[int, bool]] = []

    def make(plan, urgent=False, **options):
        asked.append((math.prod(plan.active), urgent))
        return ENGINES["cuda"](plan, urgent=urgent, **options)

    plan = make_plan((20, 6, 16), precision="single")
    cut = Arrangement(((0, 10, 20), (0, 6), (0, 16)))
    assert cut.counts == (2, 1, 1), plan.active
    for overlap, wanted in (("split", [False, True]), ("none", [False])):
        asked.clear()
        RankEngine(plan, Two(), cut, Grouping((2, 1, 1), (2, 1, 1)), 1, overlap, make)
        assert [urgent for _, urgent in asked] == wanted
    assert asked[0][0] > 0


@pytest.mark.parametrize("overlap", ["split", "none", "blocking", "host-buffer"])
def test_messages_are_direct_but_for_those_that_host_buffers_make(overlap, monkeypatch):
    monkeypatch.setenv("NEARFIELD_DEVICE", "host")
    plan = make_plan((20, 6, 16), precision="single")
    cut = Arrangement(((0, 10, 20), (0, 6), (0, 16)))
    engine = RankEngine(plan, Two(), cut, Grouping((2, 1, 1), (2, 1, 1)), 1, overlap, "cuda", direct=True)
    assert engine.direct == (overlap != "host-buffer")


@pytest.mark.parametrize(("kinds", "readable"), [(["device:2:2"], 0), (["direct:2:3", "direct rings:2:1"], 1)])
def test_ranks_with_cards_give_the_bits_of_one_process_late_as_their_work_is_done(kinds, readable, card):
    """Messages leave directly from memory that the host may read for once, as by an MPI that takes cards."""
    pytest.importorskip("mpi4py")
    card.has(readable=readable)
    line, needed = command(2, [], launcher())
    line = [*line[: line.index(sys.executable) + 1], str(Path(__file__).parent / "spread.py"), *kinds]
    own = os.environ | needed | {"OMP_NUM_THREADS": "1"}
    done = subprocess.run(line, env=own, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0 and done.stdout.count("agree on 2 ranks") == len(kinds), done.stdout + done.stderr


@pytest.fixture
def run_on_two_ranks(tmp_path):
    """What runs a small model on two ranks with devices."""
    pytest.importorskip("mpi4py")
    file = tmp_path / "short.toml"
    file.write_text(MODEL.replace(str(STEPS), "20"))

    def run(**environment: str) -> subprocess.CompletedProcess:
        line = [sys.executable, "-m", "nearfield", "run", str(file), "--ranks", "2", "--engine", "cuda", "--json"]
        line += ["--no-report", "--output", str(tmp_path / "out")]
        own = os.environ | environment
        return subprocess.run(line, env=own, capture_output=True, text=True, timeout=120, check=False)

    return run


@pytest.mark.parametrize(
    ("device", "wished", "messages"), slow_after(1, [("host", "", "direct"), ("card", "", "staged")], 3)
)
def test_a_run_says_how_its_messages_travel(device, wished, messages, run_on_two_ranks, request):
    """The memory of the stand-in for a card cannot be read by an MPI, and none here says that it can."""
    if device == "card":
        request.getfixturevalue("card")
    done = run_on_two_ranks(NEARFIELD_MESSAGES=wished)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["messages"] == messages


def test_direct_messages_of_an_mpi_that_does_not_take_cards_are_refused_by_all_ranks_once(card, run_on_two_ranks):
    done = run_on_two_ranks(NEARFIELD_MESSAGES="direct")
    said = " ".join(done.stderr.split())
    assert done.returncode == 2 and said.count("error: ") == 1, said
    assert "NEARFIELD_MESSAGES=direct cannot be had: MPI does not say that it takes the memory of cards" in said
