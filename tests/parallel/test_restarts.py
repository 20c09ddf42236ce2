"""Checkpoints of ranks: written by any ranks, read by any others, the same bits; and SIGTERM reaches them all."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from checkpointed import awaited, rich
from plans import draws
from test_ranks import started
from test_runs import cube, guide_with_a_rod, run_blind
from whole_runs import arrays

import nearfield as nf
from nearfield.cli import main
from nearfield.run.checkpoint.folder import checkpoints

HERE = Path(__file__).parent


@pytest.mark.parametrize(
    "ranks, plans",
    [
        pytest.param(2, {"any": (1, draws(8)), "rings": (7, draws(4))}, marks=pytest.mark.slow),
        pytest.param(3, {"any": (2, draws(6)), "rings": (7, draws(4))}, marks=pytest.mark.slow),
        (4, {"any": (4, draws(6))}),
    ],
)
def test_what_any_ranks_kept_any_others_go_on_with(ranks, plans, tmp_path):
    kinds = [f"{kind}:{seed}:{count}" for kind, (seed, count) in plans.items()]
    done = started(ranks, str(HERE / "restart.py"), str(tmp_path), *kinds, timeout=550)
    said = [f"{kind}: {count} plans went on on {ranks} ranks" for kind, (_, count) in plans.items()]
    assert done.returncode == 0 and done.stdout.splitlines() == said, done.stdout + done.stderr


@pytest.mark.slow
def test_ranks_go_on_with_the_second_excitation_that_other_ranks_began(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("model.toml").write_text(rich().to_toml())
    line = [sys.executable, "-m", "nearfield", "run", "--no-report", "--threads", "1"]
    first = [*line, "model.toml", "--output", "out", "--checkpoint", "every 150 steps", "--ranks", "2"]
    assert subprocess.run(first, timeout=120, check=False).returncode == 0
    wanted = arrays("out/result.h5")
    Path("out/result.h5").unlink()
    (checkpoint,) = Path("out").glob("checkpoint-*")
    second = [*line, "--resume", "out", "--ranks", "3", "--domains", "1x3x1"]
    assert subprocess.run(second, timeout=120, check=False).returncode == 0
    assert nf.open_result("out/result.h5").facts["resumed"][0]["excitation"] == "feed"
    assert checkpoint.name == "checkpoint-150" and arrays("out/result.h5") == wanted


@pytest.mark.slow
def test_ranks_go_on_in_a_guide_whose_modes_the_first_finds_again(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("model.toml").write_text(guide_with_a_rod().model_copy(update={"excitations": ("in:2",)}).to_toml())
    found = []
    for ranks, what in ((2, "model.toml --output out --checkpoint 110steps"), (3, "--resume out")):
        done = run_blind(ranks, f"--threads 1 {what}")
        assert done.returncode == 0, done.stderr
        found.append(arrays("out/result.h5"))
        Path("out/result.h5").unlink()
    assert found[0] == found[1]


def test_sigterm_ends_all_ranks_with_a_checkpoint_that_others_go_on_from(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("model.toml").write_text(cube(steps=2500))
    line = [sys.executable, "-m", "nearfield", "run"]
    options = ["--no-report", "--threads", "1"]
    ranks = [*line, "model.toml", *options, "--output", "out", "--checkpoint", "every 100 steps", "--ranks", "2"]
    with subprocess.Popen(ranks, stderr=subprocess.PIPE, text=True) as on:
        awaited("out/checkpoint-*")
        os.kill(on.pid, signal.SIGTERM)
        _, said = on.communicate(timeout=60)
    assert on.returncode == 75 and "nearfield run --resume out" in said and "Traceback" not in said, said
    result = nf.open_result("out/result.h5")
    checkpoint = checkpoints(Path("out"))[0]
    assert checkpoint.name == f"checkpoint-{result['tip'].sizes['time']}"
    assert result.status == "interrupted" and sorted(p.name for p in checkpoint.iterdir()) == [
        "manifest.json",
        "rank-0.bin",
        "rank-1.bin",
        "run.bin",
    ]
    again = [*line, "--resume", "out", "--ranks", "3", "--checkpoint", "1 h", *options]
    assert subprocess.run(again, timeout=120, check=False).returncode == 0
    assert main(["run", "model.toml", "--output", "whole", *options]) == 0
    assert nf.open_result("out/result.h5").status == "done"
    assert arrays("out/result.h5") == arrays("whole/result.h5")
