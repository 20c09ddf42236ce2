"""Checkpoints of ranks: written by any ranks, read by any others, the same bits; and SIGTERM reaches them all."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from test_ranks import started
from test_runs import await_file, cube
from whole_runs import arrays

import nearfield as nf

HERE = Path(__file__).parent


@pytest.mark.parametrize("ranks, seed, plans", [(2, 1, 24), (3, 2, 16), (4, 4, 16)])
def test_what_any_ranks_kept_any_others_go_on_with(ranks, seed, plans, tmp_path):
    done = started(ranks, str(HERE / "restart.py"), str(seed), str(plans), str(tmp_path))
    assert done.returncode == 0 and f"{plans} plans went on on {ranks} ranks" in done.stdout, done.stdout + done.stderr


def test_sigterm_ends_all_ranks_with_a_checkpoint_that_one_process_goes_on_from(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("model.toml").write_text(cube(steps=20000))
    line = [sys.executable, "-m", "nearfield", "run"]
    options = ["--no-report", "--threads", "1"]
    ranks = [*line, "model.toml", *options, "--output", "out", "--checkpoint", "every 1 h", "--ranks", "2"]
    with subprocess.Popen(ranks, stderr=subprocess.PIPE, text=True) as on:
        await_file("out")
        time.sleep(1.0)  # into the steps
        os.kill(on.pid, signal.SIGTERM)
        _, said = on.communicate(timeout=60)
    assert on.returncode == 75 and "nearfield run --resume out" in said and "Traceback" not in said, said
    result = nf.open_result("out/result.h5")
    (checkpoint,) = Path("out").glob("checkpoint-*")
    assert result.status == "interrupted" and sorted(p.name for p in checkpoint.iterdir()) == [
        "manifest.json", "rank-0.bin", "rank-1.bin", "run.bin",
    ]  # fmt: skip
    for more in (["--resume", "out"], ["model.toml", "--output", "whole"]):
        assert subprocess.run([*line, *more, *options], timeout=120, check=False).returncode == 0
    assert nf.open_result("out/result.h5").status == "done"
    assert arrays("out/result.h5") == arrays("whole/result.h5")
