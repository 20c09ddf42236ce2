"""A disk that fills up is noticed when it fills, while the run goes on."""

from __future__ import annotations

import os
import subprocess
import warnings

import pytest
from checkpointed import tiny

import nearfield as nf
from nearfield.cli import main
from nearfield.run import disk_space
from nearfield.run.disk_space import bytes_on_disk


@pytest.fixture
def small_disk(tmp_path):
    """A disk of half a mebibyte and few files."""
    place = tmp_path / "small"
    place.mkdir()
    line = ["mount", "-t", "tmpfs", "-o", "size=512k,nr_inodes=20", "none", place]
    if os.geteuid() != 0 or subprocess.run(line, capture_output=True, check=False).returncode:
        pytest.skip("needs the right to mount a small disk")
    yield place
    subprocess.run(["umount", "-l", place], check=True)


def filled(place, kind: str) -> None:
    if kind == "bytes":
        with open(place / "others", "wb") as file, pytest.raises(OSError, match="No space"):
            file.write(b"x" * 2**20)
            file.flush()
    else:
        with pytest.raises(OSError, match="No space"):
            for number in range(30):
                (place / f"{number}").touch()


@pytest.mark.parametrize("kind", ["bytes", "files"])
def test_a_disk_that_fills_during_the_run_is_said_at_once_and_again_in_the_result(kind, small_disk, monkeypatch):
    monkeypatch.setattr(disk_space, "SECONDS", 0.0)
    told: list[int] = []

    def fill(info) -> None:
        if info.step < 1000 and not (small_disk / "others").exists() and not (small_disk / "3").exists():
            filled(small_disk, kind)
        told.append(info.step)

    with warnings.catch_warnings(record=True) as said, pytest.raises(nf.RunFailed, match="No space") as failed:
        warnings.simplefilter("always")
        tiny(steps=4000).run(output=small_disk / "result.h5", threads=1, progress=fill)
    assert any("will be lost" in str(each.message) for each in said)
    assert any("will be lost" in text for text in failed.value.result.facts["warnings"])
    assert failed.value.result["tip"].sizes["time"] == 4000 and told[-1] == 4000


@pytest.mark.parametrize("kind", ["bytes", "files"])
def test_a_full_disk_is_refused_before_the_run(kind, small_disk):
    filled(small_disk, kind)
    with pytest.raises(nf.ModelError, match=r"the disk of .* (left|more files)"):
        tiny().run(output=small_disk / "result.h5", threads=1)


@pytest.mark.parametrize("options", [[], ["--checkpoint", "every 10 steps"]])
def test_a_refused_run_leaves_no_folder_that_it_made(options, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(disk_space, "free_bytes", lambda folder: 10)
    (tmp_path / "model.toml").write_text(tiny().to_toml())
    (tmp_path / "there").mkdir()
    for folder in ("there", "there/new/out"):
        line = ["run", str(tmp_path / "model.toml"), "--output", str(tmp_path / folder), "--no-report", *options]
        assert main(line) == 2 and "run --no-space-check" in capsys.readouterr().err
        assert sorted(path.name for path in tmp_path.rglob("*")) == ["model.toml", "there"]
    with pytest.raises(nf.ModelError, match="run --no-space-check"):
        tiny().run(output=tmp_path / "new" / "result.h5", threads=1, checkpoint="every 10 steps")
    assert not (tmp_path / "new").exists()


def test_checkpoints_count_in_the_room_that_a_run_needs(small_disk):
    simulation = tiny().replace(grid=nf.Grid.uniform(1e-3, (20, 20, 20)))
    parts = bytes_on_disk(simulation._setup(), 0, 3)
    assert parts["the result"] < 2**19 < parts["checkpoints"] == 3 * simulation.check().checkpoint_bytes
    with pytest.raises(nf.ModelError, match=r"checkpoints will take .*, but the disk of .* left"):
        simulation.run(output=small_disk / "result.h5", threads=1, checkpoint="every 50 steps")
    assert simulation.run(output=small_disk / "result.h5", threads=1)["tip"].sizes["time"] == 30
