"""Files of every kind that the program reads, damaged at random: one message and exit code 2, or they are still whole.

Results and checkpoints are never taken for whole (`test_results`, `test_checkpoint`); meshes, voxels and texts carry no
checksums, so some changes leave another valid file.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from damaged_inputs import KINDS, damaged, retyped
from test_fuzz import EXAMPLES, MODELS

import nearfield as nf
from nearfield.cli import main
from nearfield.entry.toml_text import inline, key

FEW, MANY = 3, 200
AMOUNTS = [pytest.param(FEW, id="few"), pytest.param(MANY, id="many", marks=pytest.mark.slow)]
NEEDS = {"stl": "trimesh", "ply": "trimesh", "obj": "trimesh", "gds": "gdstk"}


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NEARFIELD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PYTHONPATH", str(Path(nf.__file__).parents[1]))


def judged(arguments: list[str], capsys) -> tuple[int, str]:
    """Exit code and what was said, which is one message where the command refuses."""
    code = main(arguments)
    said = capsys.readouterr().err
    assert code in (0, 2) and "Traceback" not in said and "internal error" not in said, said
    assert code == 0 or (said.startswith("error: ") and said.count("error: ") == 1 and len(said) < 5000), said
    return code, said


@pytest.mark.timeout(300)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
@pytest.mark.parametrize("amount", AMOUNTS)
def test_damaged_files_are_refused_in_one_message_or_are_still_whole(kind, amount, tmp_path, capsys):
    if package := NEEDS.get(kind.name.split(".")[-1]):
        pytest.importorskip(package)
    kind.write(tmp_path)
    arguments, path = kind.arguments(tmp_path), tmp_path / kind.name
    code = main(arguments)
    assert code == 0, capsys.readouterr().err
    capsys.readouterr()
    whole, draw, refused = path.read_bytes(), random.Random(kind.name), 0
    for _ in range(amount):
        content = damaged(whole, draw)
        path.unlink()
        path.write_bytes(content)
        code, _ = judged(arguments, capsys)
        refused += code
        assert code or kind.name != "result.h5" or content == whole
    assert refused >= amount // 4


@pytest.mark.timeout(600)
@pytest.mark.parametrize("amount", AMOUNTS)
def test_values_of_other_types_are_refused_by_name(amount, tmp_path, capsys):
    for path in EXAMPLES.glob("*.stl"):
        shutil.copy(path, tmp_path)
    draw = random.Random(11)
    for number in range(8 * amount):
        values = tomllib.loads(draw.choice(MODELS))
        for _ in range(draw.choice((1, 1, 2))):
            retyped(values, draw)
        path = tmp_path / "model.toml"
        path.write_text("\n".join(f"{key(name)} = {inline(value)}" for name, value in values.items()))
        shutil.copy(path, tmp_path / f"model-{number}.toml")
        judged(["check", str(path)], capsys)


@pytest.mark.parametrize("kind", ["[]", "{}", "3", "[[]]"])
def test_a_kind_that_is_no_word_is_refused(kind, tmp_path, capsys):
    shape = '{kind = "sphere", center = [0.004, 0.004, 0.004], radius = 0.002}'
    grid = 'grid = {kind = "uniform", spacing = "1 mm", cells = [8, 8, 8]}'
    for structure in (
        f"{{shape = {shape}, medium = {{kind = {kind}}}}}",
        f'{{shape = {{kind = {kind}}}, medium = "pec"}}',
    ):
        (tmp_path / "model.toml").write_text(f"{grid}\nstructures = [{structure}]\n")
        code, said = judged(["check", "model.toml"], capsys)
        assert code == 2 and "structures[0]" in said


@pytest.mark.parametrize("value", ["1e308", "-1e308", "1e31"])
def test_samples_that_no_field_can_follow_are_refused(value, tmp_path, capsys):
    waveform = f"{{kind = 'samples', times = [0, 1e-10, 2e-10], values = [0, {value}, 0]}}"
    source = f"{{kind = 'point-current', position = [0.004, 0.004, 0.004], axis = 'z', waveform = {waveform}}}"
    grid = 'grid = {kind = "uniform", spacing = "1 mm", cells = [8, 8, 8]}\nboundaries = {all = "pec"}'
    (tmp_path / "model.toml").write_text(f"{grid}\nsteps = 3\nsources = [{source}]\n")
    assert judged(["check", "model.toml"], capsys)[0] == 2


def test_a_layout_that_crashes_its_library_is_refused(tmp_path):
    """gdstk ends the process at some damaged files; the command, seen from outside, refuses each in one message."""
    pytest.importorskip("gdstk")
    kind = next(each for each in KINDS if each.name == "body.gds")
    kind.write(tmp_path)
    arguments, path = kind.arguments(tmp_path), tmp_path / "body.gds"
    content = bytearray(path.read_bytes())
    at = content.index(b"\x10\x03") - 2  # the record of a polygon's corners: its length
    content[at : at + 2] = b"\x00\x06"
    path.write_bytes(content)
    line = [sys.executable, "-m", "nearfield", *arguments]
    done = subprocess.run(line, capture_output=True, text=True, env=dict(os.environ), timeout=100, check=False)
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and "GDS" in done.stderr, (
        done.returncode,
        done.stderr,
    )
