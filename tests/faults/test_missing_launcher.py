"""`--ranks` where no launcher of MPI is, or where it is killed: one message with what is known."""

from __future__ import annotations

import os
import sys

import pytest
from checkpointed import tiny

from nearfield.cli import main
from nearfield.parallel.launch import watched


def test_ranks_without_a_launcher_are_refused_in_one_message(tmp_path, monkeypatch, capfd):
    pytest.importorskip("mpi4py")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.toml").write_text(tiny().to_toml())
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr(sys, "argv", ["nearfield", "run", "model.toml", "--ranks", "2"])
    assert main(sys.argv[1:]) == 2
    out, err = capfd.readouterr()
    assert not out and err.startswith("error: ") and err.count("error:") == 1 and "Traceback" not in err
    assert "there is no mpiexec here" in err and "leave --ranks out" in err
    assert os.listdir(tmp_path) == ["model.toml"]


@pytest.mark.parametrize(
    "script, said",
    [
        ("kill -9 $$", "the launcher of the 2 ranks was ended by signal 9; whether it ended them first is not known."),
        ("exit 9", "one of the 2 ranks, or their launcher, was ended by signal 9; the launcher ended all others."),
        ("exit 137", "one of the 2 ranks, or their launcher, was ended by signal 9; the launcher ended all others."),
        ("exit 99", "one of the 2 ranks, or their launcher, failed (exit code 99); the launcher ended all others."),
    ],
)
def test_the_end_of_a_launcher_is_told_from_that_of_a_rank(script, said, capfd):
    assert watched(["sh", "-c", script], dict(os.environ), 2) == 4
    assert capfd.readouterr().err == f"error: {said} Results of excitations that were done are kept\n"
