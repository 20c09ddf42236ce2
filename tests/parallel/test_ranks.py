"""Several ranks, started by a real launcher: the same bits as one process, and clear ends."""

import functools
import json
import os
import platform
import signal
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from cases import slow_after
from checkpointed import awaited
from plans import draws

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import nearfield as nf
from benchmarks.marked_ranks import MARK, MODEL, STEPS, processes, ranks, waited
from nearfield.cli import main
from nearfield.parallel.launch import command, launcher
from nearfield.parallel.timeline import TRACKS
from nearfield.report.timeline_plot import timeline_figure

pytest.importorskip("mpi4py")
HERE = Path(__file__).parent
QUIET = {"OMP_NUM_THREADS": "1", "NEARFIELD_DEVICE": "host"}


def line_for(ranks: int, *arguments: str) -> tuple[list[str], dict[str, str]]:
    """A launcher's line for so many Python processes."""
    line, needed = command(ranks, [], launcher())
    own = line.index(sys.executable)
    return [*line[: own + 1], *arguments], os.environ | needed | QUIET


def started(ranks: int, *arguments: str, timeout: float = 300) -> subprocess.CompletedProcess:
    line, environment = line_for(ranks, *arguments)
    return subprocess.run(line, env=environment, capture_output=True, text=True, timeout=timeout, check=False)


PLANS = {  # by ranks and kind: seed, plans
    2: {
        "any": (1, draws(6)),
        "models": (1, draws(3)),
        "scenes": (1, draws(1)),
        "rings": (1, draws(4)),
        "split": (5, draws(2)),
        "split rings": (8, draws(2)),
        "device": (2, draws(2)),
        "device rings": (2, draws(2)),
        "direct": (2, draws(4)),
        "direct rings": (2, draws(2)),
    },
    3: {
        "any": (2, draws(4)),
        "models": (2, draws(2)),
        "scenes": (2, draws(1)),
        "rings": (2, draws(3)),
        "device": (3, draws(1)),
        "direct": (3, draws(2)),
    },
    4: {"any": (3, draws(1)), "split": (5, draws(2)), "split rings": (5, draws(2))},
}


@functools.cache
def compared(ranks: int) -> subprocess.CompletedProcess:
    """All kinds of plans, in one start of so many ranks."""
    kinds = (f"{kind}:{seed}:{plans}" for kind, (seed, plans) in PLANS[ranks].items())
    return started(ranks, str(HERE / "spread.py"), *kinds, timeout=550)


def assert_agrees(ranks: int, kind: str, more: str = "") -> None:
    done, said = compared(ranks), f"{kind}: {PLANS[ranks][kind][1]} plans agree on {ranks} ranks, {more}"
    assert done.returncode == 0 and f"\n{said}" in f"\n{done.stdout}", done.stdout + done.stderr


@pytest.mark.parametrize("ranks", slow_after(1, [4, 2, 3]))
def test_ranks_give_the_bits_of_one_process_for_every_feature(ranks):
    assert_agrees(ranks, "any")


@pytest.mark.parametrize("ranks", [2, 3])
def test_ranks_share_periodic_axes_with_the_bits_of_one_process(ranks):
    assert_agrees(ranks, "rings")


@pytest.mark.parametrize("ranks", [2, 3])
def test_ranks_give_the_bits_of_one_process_with_rows_along_any_axis(ranks):
    assert_agrees(ranks, "models")


@pytest.mark.parametrize(("ranks", "kind"), [(2, "device"), (2, "device rings"), (3, "device")])
def test_ranks_with_devices_give_the_bits_of_one_process_by_every_method(ranks, kind):
    assert_agrees(ranks, kind)


@pytest.mark.parametrize(("ranks", "kind"), [(2, "direct"), (2, "direct rings"), (3, "direct")])
def test_messages_from_the_memory_of_devices_give_the_same_bits(ranks, kind):
    assert_agrees(ranks, kind)


@pytest.mark.parametrize("ranks", [2, 4])
def test_tiles_deeper_than_halos_give_the_same_bits(ranks):
    assert_agrees(ranks, "split", f"{3 * PLANS[ranks]['split'][1]} blocks in split tiles")


@pytest.mark.parametrize("ranks", [2, 4])
def test_tiles_deeper_than_halos_reach_over_seams(ranks):
    assert_agrees(ranks, "split rings")


BOX = ["bench", "box", "--cells", "40", "--steps", "30", "--boundary", "cpml", "--json"]


@pytest.fixture
def alone(capsys) -> str:
    """The checksum of the box in one domain."""
    assert main(BOX) == 0
    return json.loads(capsys.readouterr().out)["checksum"]


@pytest.mark.parametrize("options", ["--domains 2x1x4 --threads 3", "--domains 1x1x8"])
def test_the_box_has_one_checksum_for_any_domains(options, alone, capsys):
    assert main([*BOX, *options.split()]) == 0
    assert json.loads(capsys.readouterr().out)["checksum"] == alone


@pytest.mark.parametrize(
    "ranks, options",
    [
        (4, "--threads 1"),
        (2, "--domains 1x3x1 --schedule stepwise"),
        pytest.param(2, "--overlap host-buffer --halo-depth 2", marks=pytest.mark.slow),
        pytest.param(2, "--engine cuda --overlap split", marks=pytest.mark.slow),
        pytest.param(3, "--domains 3 --halo-depth 2", marks=pytest.mark.slow),
    ],
)
def test_the_box_has_one_checksum_for_any_ranks(ranks, options, alone):
    line = [sys.executable, "-m", "nearfield", *BOX, "--ranks", str(ranks), *options.split()]
    done = subprocess.run(line, env=os.environ | QUIET, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["checksum"] == alone and found["ranks"] == ranks


@pytest.fixture
def long_model(tmp_path):
    file = tmp_path / "long.toml"
    file.write_text(MODEL)
    return file


def test_a_killed_rank_ends_the_whole_run_with_a_message_and_no_orphan(long_model, tmp_path):
    options = ["--ranks", "3", "--threads", "1", "--output", str(tmp_path / "o"), "--checkpoint", "every 1000 steps"]
    line = [sys.executable, "-m", "nearfield", "run", str(long_model), *options]
    marked = os.environ | {MARK: str(tmp_path)}
    with subprocess.Popen(line, env=marked, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        assert waited(lambda: len(ranks(str(tmp_path))) == 3, 20)
        awaited(tmp_path / "o" / "checkpoint-*")
        assert run.poll() is None
        os.kill(ranks(str(tmp_path))[2], signal.SIGKILL)
        _, said = run.communicate(timeout=30)
    assert run.returncode == 4 and "error: " in said and "rank" in said, said
    assert waited(lambda: not processes(str(tmp_path)), 20)


@pytest.mark.parametrize("stopped", [pytest.param(0, marks=pytest.mark.slow), 1])
def test_a_stopped_rank_is_named_and_ends_the_run_with_its_checkpoints(stopped, long_model, tmp_path):
    options = ["--ranks", "2", "--threads", "1", "--output", str(tmp_path / "o"), "--checkpoint", "every 1000 steps"]
    line = [sys.executable, "-m", "nearfield", "run", str(long_model), *options, "--patience", "1"]
    marked = os.environ | {MARK: str(tmp_path)}
    with subprocess.Popen(line, env=marked, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        assert waited(lambda: len(ranks(str(tmp_path))) == 2, 20)
        awaited(tmp_path / "o" / "checkpoint-*")
        os.kill(ranks(str(tmp_path))[stopped], signal.SIGSTOP)
        _, said = run.communicate(timeout=60)
    assert run.returncode == 4, said
    assert f"error: rank {stopped} on {platform.node()} gave no sign of life" in said and "--resume" in said, said
    assert waited(lambda: not processes(str(tmp_path)), 20)


def test_a_library_without_threads_cannot_watch_ranks_and_the_run_says_so(tmp_path):
    (tmp_path / "short.toml").write_text(MODEL.replace(str(STEPS), "20"))
    line = [sys.executable, "-m", "nearfield", "run", str(tmp_path / "short.toml"), "--ranks", "2", "--threads", "1"]
    without = os.environ | {"MPI4PY_RC_THREAD_LEVEL": "serialized"}
    options = ["--no-report", "--output", str(tmp_path / "out")]
    done = subprocess.run([*line, *options], env=without, capture_output=True, text=True, timeout=120, check=False)
    said = " ".join((done.stdout + done.stderr).split())
    assert done.returncode == 0 and "waited for without end, and --patience changes nothing" in said, said


def test_a_rank_that_is_slow_is_named_and_waited_for():
    slow = """
import time
from nearfield.machine.transport import world
ranks = world()
ranks.watch(1.0)
if ranks.rank == 1:
    time.sleep(3.5)
assert ranks.everywhere(ranks.rank) == [0, 1]
"""
    done = started(2, "-c", slow, timeout=60)
    assert done.returncode == 0, done.stderr
    assert f"for rank 1 on {platform.node()} (busy for" in done.stderr and "the run goes on" in done.stderr


def test_wrong_input_is_refused_once_by_all_ranks(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "nearfield", "bench", "box", "--cells", "20", "--ranks", "2", "--memory", "far"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2 and done.stdout == "" and done.stderr.count("error: ") == 1, done.stderr


def test_more_ranks_than_the_box_has_room_for_are_refused():
    done = subprocess.run(
        [sys.executable, "-m", "nearfield", "bench", "box", "--cells", "20", "--ranks", "3", "--domains", "2"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2 and "3 ranks cannot share 2 domains" in done.stderr


@pytest.mark.slow
def test_a_trace_shows_every_ranks_computation_and_messages_in_one_time(long_model, tmp_path):
    file, model = tmp_path / "trace.json", tmp_path / "short.toml"
    model.write_text(long_model.read_text().replace(str(STEPS), "400"))
    line = [sys.executable, "-m", "nearfield", "run", str(model), "--ranks", "2", "--threads", "1"]
    line += ["--output", str(tmp_path / "o"), "--trace", str(file)]
    done = subprocess.run(line, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    events = json.loads(file.read_text())["traceEvents"]
    spans = [event for event in events if event["ph"] == "X"]
    names = {rank: {event["name"] for event in spans if event["pid"] == rank} for rank in (0, 1)}
    assert all({"interior", "halos", "pack", "unpack", "wait"} <= own for own in names.values()), names
    packed, waited = {}, {}
    for rank in (0, 1):  # each thread does one thing at a time
        own = sorted((e["ts"], e["ts"] + e["dur"]) for e in spans if e["pid"] == rank and e["tid"] == 0)
        assert all(end <= begin + 1e-3 for (_, end), (begin, _) in pairwise(own))
        packed[rank] = sorted(e["ts"] for e in spans if e["pid"] == rank and e["name"] == "pack")
        waited[rank] = sorted(e["ts"] + e["dur"] for e in spans if e["pid"] == rank and e["name"] == "wait")
    for rank in (0, 1):  # of one time: what a rank waits for at last, the other has packed since the trace began
        assert packed[rank] and waited[rank]
        assert len(waited[1 - rank]) < 2 or packed[rank][0] < waited[1 - rank][-1]  # what came at once is no wait
    assert "Ranks in a block of steps" in (tmp_path / "o" / "report.html").read_text()


def test_a_trace_shows_what_a_host_buffer_makes_and_the_report_draws_it(long_model, tmp_path):
    file, model = tmp_path / "trace.json", tmp_path / "short.toml"
    model.write_text(long_model.read_text().replace(str(STEPS), "60"))
    line = [sys.executable, "-m", "nearfield", "run", str(model), "--ranks", "2", "--threads", "1"]
    line += ["--overlap", "host-buffer", "--output", str(tmp_path / "o"), "--trace", str(file), "--no-report"]
    done = subprocess.run(line, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    spans = [event for event in json.loads(file.read_text())["traceEvents"] if event["ph"] == "X"]
    made = {(event["pid"], event["tid"]) for event in spans if event["name"] == "host buffer"}
    assert made == {(0, TRACKS.index("buffer")), (1, TRACKS.index("buffer"))}
    figure = timeline_figure(nf.open_result(tmp_path / "o"))
    drawn = {text.get_text() for text in figure.axes[0].get_legend().get_texts()}
    assert drawn == {event["name"] for event in spans} and {"copy", "wait for the buffer", "send"} <= drawn


def test_a_trace_of_one_rank_is_refused(long_model, tmp_path, capsys):
    line = ["run", str(long_model), "--output", str(tmp_path / "o"), "--trace", str(tmp_path / "trace.json")]
    assert main(line) == 2
    assert "add --ranks 2" in capsys.readouterr().err and not (tmp_path / "o").exists()
