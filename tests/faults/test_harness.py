"""The harness itself, in short; its figures on the page are those that were recorded."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import harness
import pytest

import nearfield as nf


@pytest.mark.parametrize("trial, count", [(harness.damaged_results, 5), (harness.damaged_checkpoints, 2)])
def test_a_few_damaged_files_are_found(trial, count, tmp_path):
    found = trial(tmp_path, count, random.Random(3))
    assert found.trials == count == found.held and not found.broken


@pytest.mark.slow
def test_a_disk_that_is_too_small_leaves_whole_files(tmp_path):
    found = harness.full_disks(tmp_path, 1, random.Random(3))
    if found.skipped:
        pytest.skip(found.skipped)
    assert found.trials == 1 == found.held, found.broken


def test_a_trial_that_does_not_hold_is_counted_and_named(tmp_path, monkeypatch):
    """The harness can fail: a reader that verifies nothing shows changed numbers."""
    monkeypatch.setattr(harness, "everything", lambda path: None)
    found = harness.damaged_results(tmp_path, 2, random.Random(3))
    assert found.trials == 2 and found.held == 0 and len(found.broken) == 2


def test_the_page_shows_the_recorded_figures():
    recorded = json.loads(harness.RECORDED.read_text())
    assert harness.page_with(recorded) == harness.PAGE.read_text(encoding="utf-8")
    assert set(recorded["trials"]) == {trial.__name__ for trial in harness.TRIALS}


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_every_promise_holds_in_every_trial(tmp_path):
    output, seed = tmp_path / "faults.json", ["--seed", str(random.randrange(10**6))]
    line = [sys.executable, harness.__file__, "--output", str(output), *seed]
    beside = str(Path(sys.executable).parent)  # where the launcher of an environment lies
    environment = os.environ | {"PYTHONPATH": str(Path(nf.__file__).parents[1])}
    environment["PATH"] = f"{environment['PATH']}{os.pathsep}{beside}"
    done = subprocess.run(line, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for trial in json.loads(output.read_text())["trials"].values():
        assert trial["skipped"] or trial["trials"] == trial["held"] > 0
        if trial["skipped"]:
            print(f"skipped: {trial['promise']}: {trial['skipped']}", file=sys.stderr)
