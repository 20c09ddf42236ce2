"""The kernel ends one rank for want of memory: the run ends with a message and leaves whole checkpoints."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from checkpointed import awaited, tiny

import nearfield as nf
from nearfield.machine.transport import ALONE
from nearfield.run.checkpoint.folder import newest

MM = 1e-3
CONTROL_GROUPS = Path("/sys/fs/cgroup")
GRANTED = 8 << 20  # bytes beyond what the rank held when it came into its group


@pytest.fixture
def group(request) -> Iterator[Path]:
    """A control group of little memory, of version 1 or 2."""
    first = CONTROL_GROUPS / "memory"
    root = first if first.is_dir() else CONTROL_GROUPS
    folder, limit = root / f"nearfield-test-{os.getpid()}", "memory.limit_in_bytes" if root == first else "memory.max"
    try:
        folder.mkdir()
        (folder / limit).write_text(str(GRANTED))
    except OSError:
        with contextlib.suppress(OSError):
            folder.rmdir()
        pytest.skip("needs the right to make control groups")
    yield folder
    folder.rmdir()


def ranks_of(model: Path) -> dict[int, int]:
    """Processes that run a model under a launcher, by their rank."""
    found: dict[int, int] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            rank = re.search(rb"\0(?:PMI_RANK|OMPI_COMM_WORLD_RANK)=(\d+)", (entry / "environ").read_bytes())
            if rank and str(model).encode() in (entry / "cmdline").read_bytes():
                found[int(rank[1])] = int(entry.name)
    return found


@pytest.mark.slow
def test_a_rank_that_the_kernel_ends_for_its_memory_ends_the_run_and_leaves_whole_checkpoints(group, tmp_path):
    pytest.importorskip("mpi4py")
    corner = (4 * MM, 4 * MM, 4 * MM)
    growing = nf.Snapshot("all", (0, 0, 0), corner, every=1)
    model = tmp_path / "growing.toml"
    model.write_text(tiny(steps=200_000).replace(monitors=[growing], check_every=100).to_toml())
    line = [sys.executable, "-m", "nearfield", "run", str(model), "--ranks", "2", "--threads", "1", "--no-report"]
    options = ["--output", str(tmp_path / "o"), "--checkpoint", "every 500 steps"]
    with subprocess.Popen([*line, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        awaited(tmp_path / "o" / "checkpoint-*")
        (group / "cgroup.procs").write_text(str(ranks_of(model)[1]))
        _, said = run.communicate(timeout=120)
    assert run.returncode == 4 and said.count("error:") == 1 and "rank" in said, said
    told = [group / name for name in ("memory.oom_control", "memory.events") if (group / name).exists()]
    counts = "".join(path.read_text() for path in told)
    assert re.search(r"oom_kill [1-9]", counts), "the rank ended for another reason"
    end = time.monotonic() + 30
    while ranks_of(model):
        assert time.monotonic() < end
        time.sleep(0.1)
    assert newest(tmp_path / "o", ALONE, pytest.fail).manifest["steps_made"] >= 500  # whole: nothing is warned of
