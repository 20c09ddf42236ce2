"""What is said about a file is said after the file was seen: folders that are removed while a run goes on."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from checkpointed import awaited, tiny
from whole_runs import arrays

import nearfield as nf
from nearfield.formats.lock import LOCK_NAME, locked
from nearfield.records.hdf5 import write_result
from nearfield.run.checkpoint.folder import checkpoints

RUN = [sys.executable, "-m", "nearfield", "run"]
QUIET = ["--no-report", "--threads", "1"]
STEPS = 3000


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(Path(nf.__file__).parents[1]))


def ended(removal, every: str) -> tuple[int, str]:
    """Run, remove the folder among the steps, then SIGTERM; exit code and stderr."""
    Path("model.toml").write_text(tiny(steps=10**9).to_toml())
    line = [*RUN, "model.toml", "--output", "out", "--checkpoint", every, *QUIET]
    with subprocess.Popen(line, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as on:
        awaited("out/checkpoint-*")
        removal()
        os.kill(on.pid, signal.SIGTERM)
        _, said = on.communicate(timeout=60)
    return on.returncode, said


def test_a_folder_that_was_removed_is_made_again_and_that_is_said():
    code, said = ended(lambda: os.rename("out", "gone"), "20000 steps")
    assert code == 75 and "out was removed during the run" in said and "--resume out` goes on" in said, said
    assert checkpoints(Path("out")) and nf.open_result("out/result.h5").status == "interrupted"


@pytest.mark.slow
def test_no_checkpoint_is_promised_where_none_can_be():
    def replaced() -> None:
        os.rename("out", "gone")
        Path("out").write_text("a file")

    code, said = ended(replaced, "20000 steps")
    assert code == 4 and "with a checkpoint" not in said and "there is no file of this name" in said, said


def test_a_result_whose_folder_went_says_so_in_its_warnings():
    def remove(info) -> None:
        if info.step < STEPS:
            shutil.rmtree("out", ignore_errors=True)

    Path("out").mkdir()
    result = tiny(steps=STEPS).run(output="out/result.h5", threads=1, progress=remove)
    assert result.status == "done" and any("out was removed" in text for text in result.facts["warnings"])
    tiny(steps=STEPS).run(output="whole/result.h5", threads=1)
    assert arrays("out/result.h5") == arrays("whole/result.h5")


def test_a_field_file_that_was_removed_ends_the_run_which_says_so():
    cut = nf.Snapshot("cut", (0, 0, 0), (4e-3, 4e-3, 4e-3), every=1, file=nf.FieldFile())
    simulation = tiny(steps=4000).model_copy(update={"monitors": (cut,)})

    def remove(info) -> None:
        shutil.rmtree("out/result-fields", ignore_errors=True)

    with pytest.raises(nf.RunFailed, match=r"removed while it was written; no file is left"):
        simulation.run(output="out/result.h5", threads=1, progress=remove)
    assert nf.open_result("out/result.h5").status == "failed"


def test_a_failed_write_speaks_of_an_earlier_file_only_where_there_is_one(tmp_path):
    record = tiny().run(threads=1).record
    Path("file").write_text("")
    with pytest.raises(nf.RunFailed, match="there is no file of this name"):
        write_result("file/result.h5", record)


def test_the_lock_of_a_folder_that_was_made_again_is_left_to_its_holder(tmp_path):
    folder = tmp_path / "out"
    folder.mkdir()
    with locked(folder):
        shutil.rmtree(folder)
        folder.mkdir()
        (folder / LOCK_NAME).write_text("of another run")
    assert (folder / LOCK_NAME).exists()
