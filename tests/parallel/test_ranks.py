"""Several ranks, started by a real launcher: the same bits as one process, and clear ends."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from checkpointed import awaited

from nearfield.parallel.launch import command, launcher

pytest.importorskip("mpi4py")
HERE = Path(__file__).parent
QUIET = {"OMP_NUM_THREADS": "1"}


def line_for(ranks: int, *arguments: str) -> tuple[list[str], dict[str, str]]:
    """A launcher's line for so many Python processes."""
    line, needed = command(ranks, [], launcher())
    own = line.index(sys.executable)
    return [*line[: own + 1], *arguments], os.environ | needed | QUIET


def started(ranks: int, *arguments: str, timeout: float = 300) -> subprocess.CompletedProcess:
    line, environment = line_for(ranks, *arguments)
    return subprocess.run(line, env=environment, capture_output=True, text=True, timeout=timeout, check=False)


@pytest.mark.parametrize("ranks, seed, plans", [(2, 1, 40), (3, 2, 25), (4, 3, 25)])
def test_ranks_give_the_bits_of_one_process_for_every_feature(ranks, seed, plans):
    done = started(ranks, str(HERE / "spread.py"), str(seed), str(plans), "any")
    assert done.returncode == 0 and f"{plans} plans agree on {ranks} ranks" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("ranks, seed, plans", [(2, 1, 15), pytest.param(3, 2, 25, marks=pytest.mark.slow), (4, 3, 10)])
def test_ranks_share_periodic_axes_with_the_bits_of_one_process(ranks, seed, plans):
    done = started(ranks, str(HERE / "spread.py"), str(seed), str(plans), "any", "rings")
    assert done.returncode == 0 and f"{plans} plans agree on {ranks} ranks" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("ranks, seed, plans", [(2, 8, 2), pytest.param(2, 5, 4, marks=pytest.mark.slow), (4, 5, 2)])
def test_tiles_deeper_than_halos_reach_over_seams(ranks, seed, plans):
    done = started(ranks, str(HERE / "spread.py"), str(seed), str(plans), "split", "rings")
    assert done.returncode == 0 and f"{plans} plans agree on {ranks} ranks" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("ranks, plans", [(2, 6), (4, 6)])
def test_tiles_deeper_than_halos_give_the_same_bits(ranks, plans):
    done = started(ranks, str(HERE / "spread.py"), "5", str(plans), "split")
    assert done.returncode == 0 and f"{plans} plans agree on {ranks} ranks" in done.stdout, done.stdout + done.stderr
    assert f"{3 * plans} blocks in split tiles" in done.stdout


def bench(*options: str) -> dict:
    line = [sys.executable, "-m", "nearfield", "bench", "box", "--cells", "40", "--steps", "30", "--json", *options]
    done = subprocess.run(line, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_box_has_one_checksum_for_any_domains_and_ranks():
    alone = bench("--boundary", "cpml")
    spread = [
        ("--domains", "2x1x4", "--threads", "3"), ("--domains", "1x1x8"), ("--ranks", "4", "--threads", "1"),
        ("--ranks", "3", "--domains", "3", "--halo-depth", "2"),
        ("--ranks", "2", "--domains", "1x3x1", "--schedule", "stepwise"),
    ]  # fmt: skip
    for options in spread:
        found = bench("--boundary", "cpml", *options)
        assert found["checksum"] == alone["checksum"], options
        assert found["ranks"] == (int(options[options.index("--ranks") + 1]) if "--ranks" in options else 1)


MODEL = """
steps = 2000000
monitors = [{ kind = "probe", name = "tip", position = ["5 mm", "5 mm", "5 mm"], component = "Ez" }]
[boundaries]
all = "pec"
[[sources]]
kind = "point-current"
position = ["10 mm", "10 mm", "10 mm"]
axis = "z"
waveform = { kind = "gaussian", maximum_frequency = "15 GHz" }
[grid]
kind = "uniform"
spacing = "1 mm"
cells = [30, 30, 30]
"""


@pytest.fixture
def long_model(tmp_path):
    file = tmp_path / "long.toml"
    file.write_text(MODEL)
    return file


def test_a_killed_rank_ends_the_whole_run_with_a_message_and_no_orphan(long_model, tmp_path):
    options = ["--ranks", "3", "--threads", "1", "--output", str(tmp_path / "o"), "--checkpoint", "every 1000 steps"]
    line = [sys.executable, "-m", "nearfield", "run", str(long_model), *options]
    marked = os.environ | {"NEARFIELD_TEST_MARK": str(tmp_path)}
    with subprocess.Popen(line, env=marked, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        ranks = wait_for(lambda: [pid for pid in processes(str(tmp_path)) if is_rank(pid)], 3)
        awaited(tmp_path / "o" / "checkpoint-*")
        assert run.poll() is None
        os.kill(ranks[-1], signal.SIGKILL)
        _, said = run.communicate(timeout=30)
    assert run.returncode == 4 and "error: " in said and "rank" in said, said
    assert not wait_for(lambda: processes(str(tmp_path)), 0)


def processes(mark: str) -> list[int]:
    """Live processes whose environment holds the mark, this one not."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            marked = entry.name.isdigit() and f"NEARFIELD_TEST_MARK={mark}".encode() in (entry / "environ").read_bytes()
        except OSError:
            continue
        if marked and int(entry.name) != os.getpid() and " Z " not in (entry / "stat").read_text():
            found.append(int(entry.name))
    return sorted(found)


def is_rank(pid: int) -> bool:
    environment = Path(f"/proc/{pid}/environ").read_bytes()
    return b"PMI_RANK=" in environment or b"OMPI_COMM_WORLD_RANK=" in environment


def wait_for(look, count: int, seconds: float = 20):
    """What `look` finds, as soon as it is so many."""
    end = time.monotonic() + seconds
    while len(found := look()) != count and time.monotonic() < end:
        time.sleep(0.1)
    return found


def test_wrong_input_is_refused_once_by_all_ranks(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "nearfield", "bench", "box", "--cells", "20", "--ranks", "2", "--memory", "far"],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 2 and done.stdout == "" and done.stderr.count("error: ") == 1, done.stderr


def test_more_ranks_than_the_box_has_room_for_are_refused():
    done = subprocess.run(
        [sys.executable, "-m", "nearfield", "bench", "box", "--cells", "20", "--ranks", "3", "--domains", "2"],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 2 and "3 ranks cannot share 2 domains" in done.stderr
