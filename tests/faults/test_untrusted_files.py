"""Files are data: whoever wrote them, none makes the program write elsewhere, hang, crash or read another file."""

from __future__ import annotations

import json
import os
import random
import shutil
import sys
import zlib
from pathlib import Path
from unittest.mock import Mock

import h5py
import numpy as np
import pytest
from checkpointed import tiny

import nearfield as nf
from nearfield.cli import main
from nearfield.formats.description import Block, of_points
from nearfield.formats.lock import LOCK_NAME
from nearfield.formats.opening import open_field_file
from nearfield.formats.reading import open_fields
from nearfield.run.checkpoint.folder import checkpoints
from nearfield.run.checkpoint.manifest import HEAD

QUIET = ["--no-report", "--threads", "1"]


# ---- manifests of checkpoints


@pytest.fixture(scope="module")
def stopped(tmp_path_factory) -> Path:
    """The folder of a run with two excitations and a checkpoint of its second one."""
    folder = tmp_path_factory.mktemp("stopped") / "out"
    tiny().run(output=folder / "result.h5", checkpoint="every 20 steps", threads=1)
    (folder / "result.h5").unlink()
    return folder


def tampered(path: Path, change) -> None:
    """Change a manifest and give it the checksum that it needs."""
    manifest = json.loads((path / "manifest.json").read_bytes())
    change(manifest)
    del manifest["crc32"]
    rest = json.dumps(manifest)[1:].encode()
    (path / "manifest.json").write_bytes(HEAD % zlib.crc32(rest) + rest)


def first_array(manifest: dict) -> dict:
    return manifest["files"]["rank-0.bin"]["arrays"][0]


HOSTILE = {
    "a result elsewhere": lambda m: m.update(result="../escaped.h5"),
    "a whole path": lambda m: m.update(result="/tmp/escaped.h5"),
    "a stem elsewhere": lambda m: m.update(stem="../escaped"),
    "no name": lambda m: m.update(result=""),
    "a file elsewhere": lambda m: m["files"].update({"../../secret": m["files"].pop("run.bin")}),
    "objects": lambda m: first_array(m).update(dtype="|O"),
    "no type": lambda m: first_array(m).update(dtype="f99"),
    "a huge shape": lambda m: first_array(m).update(shape=[1 << 40] * 3),
    "a negative shape": lambda m: first_array(m).update(shape=[-1, 2, 3]),
    "a shape beyond the file": lambda m: first_array(m).update(at=1 << 30),
    "more samples kept than there are": lambda m: first_array(m).update(kept=1 << 40),
    "samples kept without a place": lambda m: m["files"]["run.bin"]["arrays"][0].update(kept=1),
    "other bits than samples kept": lambda m: first_array(m).update(kept=3),
    "axes twice": lambda m: first_array(m).update(order=[0, 0, 1]),
    "an overlong number": lambda m: m.update(step=10**30),
    "fewer checksums": lambda m: m["files"]["rank-0.bin"].update(crc32=[]),
    "another structure": lambda m: m.update(files=[]),
    "finished ones without arrays": lambda m: m.update(finished={"x": {}}, runs={"x": {}}),
    "no schedule": lambda m: m.update(checkpoint="often"),
    "a step beyond the last": lambda m: m.update(step=31),
    "an excitation of another run": lambda m: m.update(excitation="feed"),
    "an array of another shape": lambda m: first_array(m).update(lower=[900, 0, 0]),
    "a model of no form": lambda m: m.update(model="import os"),
    "a model with a zero byte": lambda m: m.update(model=m["model"] + "\0"),
    "guards of text": lambda m: m["files"]["run.bin"]["arrays"][0].update(name="guard"),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_manifest_that_no_run_wrote_is_refused_in_one_message(what, stopped, tmp_path, capsys):
    folder = tmp_path / "in" / "out"
    shutil.copytree(stopped, folder)
    for path in checkpoints(folder):
        tampered(path, HOSTILE[what])
    before = sorted(tmp_path.rglob("*"))
    assert main(["run", "--resume", str(folder), *QUIET]) == 2
    said = capsys.readouterr().err
    assert said.count("error: ") == 1 and "Traceback" not in said and "internal" not in said, said
    assert sorted(tmp_path.rglob("*")) == before and not Path("/tmp/escaped.h5").exists()


def test_pipes_in_place_of_files_do_not_hang(stopped, tmp_path, capsys):
    shutil.copytree(stopped, tmp_path / "out")
    for path, name in zip(checkpoints(tmp_path / "out"), ("manifest.json", "rank-0.bin"), strict=False):
        (path / name).unlink()
        os.mkfifo(path / name)
    assert main(["run", "--resume", str(tmp_path / "out"), *QUIET]) == 2
    assert "not an ordinary file" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["manifest.json", "rank-0.bin"])
def test_a_link_in_a_checkpoint_is_not_followed(name, stopped, tmp_path, capsys):
    shutil.copytree(stopped, tmp_path / "out")
    found = checkpoints(tmp_path / "out")
    for number, path in enumerate(found):
        (path / name).rename(tmp_path / f"elsewhere-{number}")
        (path / name).symlink_to(tmp_path / f"elsewhere-{number}")
    assert main(["run", "--resume", str(tmp_path / "out"), *QUIET]) == 2
    said = capsys.readouterr().err
    assert said.count(f"{name} cannot be read: it is a link") > 0 and "--force" in said
    assert checkpoints(tmp_path / "out") == found


# ---- links and pipes where the program writes


@pytest.mark.parametrize("name", [LOCK_NAME, ".result.h5.part", ".nearfield-trial"])
def test_a_link_in_the_folder_of_results_is_not_followed(name, tmp_path, capsys):
    (tmp_path / "model.toml").write_text(tiny().to_toml())
    precious, missing = tmp_path / "precious", tmp_path / "missing"
    precious.write_text("keep me")
    for number, target in enumerate((precious, missing)):
        folder = tmp_path / f"out{number}"
        folder.mkdir()
        (folder / name).symlink_to(target)
        code = main(["run", str(tmp_path / "model.toml"), "--output", str(folder), *QUIET])
        assert code == (2 if name == LOCK_NAME else 0), capsys.readouterr().err
        assert precious.read_text() == "keep me" and not missing.exists()
        assert code == 2 or nf.open_result(folder / "result.h5").status == "done"


def test_a_pipe_in_place_of_the_lock_is_refused(tmp_path, capsys):
    (tmp_path / "model.toml").write_text(tiny().to_toml())
    (tmp_path / "out").mkdir()
    os.mkfifo(tmp_path / "out" / LOCK_NAME)
    assert main(["run", str(tmp_path / "model.toml"), "--output", str(tmp_path / "out"), *QUIET]) == 2
    assert "it is not an ordinary file" in capsys.readouterr().err
    assert os.listdir(tmp_path / "out") == [LOCK_NAME]


# ---- field files


def small_fields(folder: Path, kind: str, codec: str = "none") -> Path:
    """A field file of two snapshots."""
    storage = {"format": kind} | ({"codec": nf_codec(codec)} if codec != "none" else {})
    description = of_points([np.arange(n) * 1e-3 for n in (3, 4, 5)], 2, **storage)
    path = folder / f"fields.{kind}"
    with open_field_file(path, description) as file:
        for snapshot in range(2):
            for number, name in enumerate(description.components):
                file.write(Block(name, snapshot, snapshot, 1e-12, np.full((3, 4, 5), 7.0 + number, "f4")))
    return path


def nf_codec(name: str):
    from nearfield.formats.codecs import Codec

    return Codec.parse(name)


@pytest.mark.timeout(60)
@pytest.mark.parametrize("kind, codec", [("binary", "none"), ("ascii", "none"), ("hdf5", "none"), ("hdf5", "zlib")])
def test_damaged_field_files_are_read_or_refused_and_nothing_else(kind, codec, tmp_path):
    path = small_fields(tmp_path, kind, codec)
    whole, draw, refused = path.read_bytes(), random.Random(5), 0
    header = min(len(whole), 2500)
    for number in range(60):
        content = bytearray(whole)
        for _ in range(draw.choice((1, 1, 4))):
            content[draw.randrange(header if number % 3 else len(whole))] = draw.randrange(256)
        path.unlink()
        path.write_bytes(content[: draw.randrange(len(whole))] if number % 5 == 0 else content)
        try:
            fields = open_fields(path)
            for name in fields:
                fields[name].values  # noqa: B018
        except nf.ModelError as error:
            assert str(path) in str(error)
            refused += 1
    assert refused > 10


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data["parts"][0].update(file="../secret.bin"),
        lambda data: data["parts"][0].update(file="/etc/passwd"),
        lambda data: data["parts"][0]["boxes"].update(Ex=[[9, 0, 0], [3, 4, 5]]),
        lambda data: data.update(parts=[]),
        lambda data: data["description"]["components"]["Ex"].update(shape=[3, 4, 1 << 50]),
        lambda data: data["description"].update(codec=7),
    ],
)
def test_an_index_names_files_beside_it_alone(change, tmp_path):
    part = small_fields(tmp_path, "binary")
    description = json.loads(open_index_text(part))
    boxes = {name: [[0, 0, 0], [3, 4, 5]] for name in description["components"]}
    data = {
        "nearfield_field_parts": 1,
        "status": "complete",
        "parts": [{"file": part.name, "boxes": boxes}],
        "description": description,
    }
    (tmp_path / "index.json").write_text(json.dumps(data))
    assert open_fields(tmp_path / "index.json").sizes["time"] == 2
    shutil.copy(part, tmp_path.parent / "secret.bin")
    change(data)
    (tmp_path / "index.json").write_text(json.dumps(data))
    with pytest.raises(nf.ModelError, match=r"index\.json"):
        open_fields(tmp_path / "index.json")


def open_index_text(part: Path) -> str:
    from nearfield.formats.reading import stored_fields

    return stored_fields(part).description.to_json()


def test_a_file_that_promises_more_than_it_has_is_refused_at_once(tmp_path):
    """Ten to the eighteenth snapshots were looked for one by one."""
    path = small_fields(tmp_path, "ascii")
    path.write_bytes(path.read_bytes().replace(b"# committed: 2  ", b"# committed: " + b"9" * 3))
    with pytest.raises(nf.ModelError, match="its header tells of"):
        open_fields(path)
    path = small_fields(tmp_path, "binary")
    content = bytearray(path.read_bytes())
    content[16:24] = (1 << 60).to_bytes(8, sys.byteorder)
    path.write_bytes(content)
    with pytest.raises(nf.ModelError, match="its header tells of"):
        open_fields(path)


@pytest.mark.parametrize("name", ["step", "time", "Ez"])
def test_a_data_set_of_hdf5_that_is_said_to_be_huge_takes_no_memory(name, tmp_path):
    path = small_fields(tmp_path, "hdf5")
    whole = open_fields(path)["Ez"].values
    with h5py.File(path, "r+") as file:
        file[name].resize(10**12, axis=0)
    if name == "Ez":  # readers go by the steps
        assert np.array_equal(open_fields(path)["Ez"].values, whole)
        return
    with pytest.raises(nf.ModelError, match=rf"\({name} is said to take 7.276 TiB, more than the file's .*run its mod"):
        open_fields(path)


def test_fields_beyond_the_memory_are_refused_with_their_size(tmp_path, monkeypatch):
    path = small_fields(tmp_path, "hdf5")
    fields = open_fields(path)
    monkeypatch.setattr("nearfield.formats.untrusted.free_memory", lambda: 300)
    assert fields["Ez"][0].values.shape == (3, 4, 5)
    with pytest.raises(nf.ModelError, match="Ez takes 480 B of memory, of which 300 B are free; read fewer snapshots"):
        fields["Ez"].values  # noqa: B018


def test_memory_that_runs_out_is_said_in_words(tmp_path, monkeypatch):
    fields = open_fields(small_fields(tmp_path, "hdf5"))
    monkeypatch.setattr("nearfield.formats.reading.verify_samples", Mock(side_effect=MemoryError))
    with pytest.raises(nf.ModelError, match=r"cannot be read \(not enough memory\); read fewer snapshots"):
        fields["Ez"].values  # noqa: B018
