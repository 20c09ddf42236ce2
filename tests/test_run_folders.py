"""A folder of runs: whose checkpoints are whose, and whose lock it is."""

from __future__ import annotations

import os

import pytest
from checkpointed import tiny

import nearfield as nf
from nearfield.formats.lock import LOCK_NAME, locked
from nearfield.records.hdf5 import read_status, write_result
from nearfield.run import resume
from nearfield.run.checkpoint.folder import checkpoints


def damaged_checkpoints(folder, count: int) -> None:
    for number in range(1, count + 1):
        (folder / f"checkpoint-{number}").mkdir()
        (folder / f"checkpoint-{number}" / "manifest.json").write_text("{")


def test_a_damaged_checkpoint_blocks_no_run_without_checkpoints(tmp_path):
    damaged_checkpoints(tmp_path, 1)
    resume.clear(tmp_path / "other.h5", every=False)
    assert len(checkpoints(tmp_path)) == 1
    with pytest.raises(nf.ModelError, match="checkpoint-1 of a run that did not end"):
        resume.clear(tmp_path / "other.h5", every=True)


def test_a_result_is_asked_once_how_its_run_ended(tmp_path, monkeypatch):
    asked: list = []
    monkeypatch.setattr(resume, "has_ended", lambda result: asked.append(result) or True)
    damaged_checkpoints(tmp_path, 2)
    resume.clear(tmp_path / "r.h5", every=True)
    assert asked == [tmp_path / "r.h5"] and not checkpoints(tmp_path)


def test_the_status_of_a_result_is_read_without_its_arrays(tmp_path, monkeypatch):
    record = tiny().run(threads=1).record
    write_result(tmp_path / "r.h5", record)
    monkeypatch.setattr("nearfield.entry.hdf5_checksums.verified", None)
    assert read_status(tmp_path / "r.h5") == "done"
    content = (tmp_path / "r.h5").read_bytes()
    (tmp_path / "r.h5").write_bytes(content[: len(content) // 2])
    assert not resume.has_ended(tmp_path / "r.h5")


def test_another_user_s_lock_can_be_shared(tmp_path, monkeypatch):
    (tmp_path / LOCK_NAME).touch()
    granted = os.open

    def refusing(path, flags, *mode):
        if flags & os.O_RDWR:
            raise PermissionError(13, "Permission denied")
        return granted(path, flags, *mode)

    monkeypatch.setattr(os, "open", refusing)
    with locked(tmp_path, shared=True):
        pass
    (tmp_path / LOCK_NAME).write_text("")
    with pytest.raises(nf.ModelError, match="Permission denied"), locked(tmp_path):
        pass
