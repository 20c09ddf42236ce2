"""The same trials with Open MPI as with MPICH: a rank that is killed or stopped ends the run, and nothing is left."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from nearfield.entry.errors import ModelError
from nearfield.parallel.launch import WANTED_MPI, is_open_mpi, launcher

BENCHMARK = Path(__file__).resolve().parents[2] / "benchmarks" / "lost_ranks.py"


def make_launcher(path: Path, says: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\necho '{says}'\n")
    path.chmod(0o755)


def test_the_launcher_is_of_the_mpi_that_mpi4py_is_told_to_load(tmp_path, monkeypatch):
    make_launcher(tmp_path / "bin" / "mpiexec", "HYDRA build details: Version: 5.0.2")
    make_launcher(tmp_path / "other" / "mpiexec.openmpi", "mpiexec.openmpi (OpenRTE) 4.1.4")
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path / "other"))
    monkeypatch.delenv(WANTED_MPI, raising=False)
    assert launcher() == tmp_path / "bin" / "mpiexec"
    monkeypatch.setenv(WANTED_MPI, "openmpi")
    assert launcher() == tmp_path / "other" / "mpiexec.openmpi"


def test_open_mpi_that_is_asked_for_and_missing_is_one_message(tmp_path, monkeypatch):
    make_launcher(tmp_path / "bin" / "mpiexec", "HYDRA build details: Version: 5.0.2")
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv(WANTED_MPI, "openmpi")
    with pytest.raises(ModelError, match=f"{WANTED_MPI}=openmpi asks for Open MPI, and there is no mpiexec of it"):
        launcher()


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_ranks_of_open_mpi_that_are_struck_end_the_run_and_leave_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv(WANTED_MPI, "openmpi")
    try:
        assert is_open_mpi(launcher())
    except ModelError as error:
        pytest.skip(f"NOT TRIED WITH OPEN MPI: {error}")
    line = [sys.executable, BENCHMARK, "--mpi", "openmpi", "--one-host", "--trials", "1", "--output", tmp_path]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads((tmp_path / "lost_ranks-openmpi-one-host.json").read_text())
    for kind in ("killed", "stopped"):
        counted = found[kind]
        assert counted["trials"] == 1 == counted["code_4"] == counted["whole_checkpoint"]
        assert counted["hung"] == counted["processes_left"] == counted["shared_bytes_cleaned"] == 0
    assert found["stopped"]["named"] == 1
