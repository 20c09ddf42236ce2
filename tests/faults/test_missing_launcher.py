"""`--ranks` where no launcher of MPI is: one message with what to do, and nothing is begun."""

from __future__ import annotations

import os
import sys

import pytest
from checkpointed import tiny

from nearfield.cli import main


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
