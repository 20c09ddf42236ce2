"""Every file of benchmarks/results says its commit, machine and command, but those that are older than this rule."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"
WITHOUT = {  # results older than `measured_by`, and what they lack; none is to be added
    "gpu_doctor.json": {"command", "commit", "machine"},
    "gpu_peers.json": {"commit", "machine"},
    "optimize.json": {"machine"},
}


def lacking(found: Any) -> set[str]:
    """What a result does not say of itself; a commit may stand in its machine or in each of its rows."""
    rows = found.get("rows", [])
    by_row = bool(rows) and all("commit" in row for row in rows)
    stated = {"command", "machine"} & set(found)
    if "commit" in found or found.get("machine", {}).get("commit") or by_row:
        stated.add("commit")
    return {"command", "commit", "machine"} - stated


@pytest.mark.parametrize("path", sorted(RESULTS.glob("*.json")), ids=lambda path: path.name)
def test_every_result_says_its_commit_machine_and_command(path):
    """But those that are older; a rerun has them all, and then leaves the list."""
    assert lacking(json.loads(path.read_text(encoding="utf-8"))) == WITHOUT.get(path.name, set())


def test_results_without_provenance_are_named_on_the_page():
    page = (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")
    assert all(f"`{name}`" in page for name in WITHOUT)


def test_measuring_commands_state_commit_machine_and_command(monkeypatch):
    from nearfield.machine.facts import measured_by

    monkeypatch.setattr("sys.argv", [str(ROOT / ".venv" / "bin" / "nearfield"), "ring", "bench", "--bytes", "2e9"])
    found = measured_by()
    assert found["command"] == ".venv/bin/nearfield ring bench --bytes 2e9"
    assert found["commit"] and found["machine"]["processor"] and not lacking(found)
