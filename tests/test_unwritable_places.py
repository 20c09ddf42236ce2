"""Files and folders of options that cannot be written: one message that names the option, before long work."""

from __future__ import annotations

import errno

import pytest

import nearfield as nf
from nearfield.cli import main
from nearfield.commands import writing
from nearfield.entry.errors import RunFailed
from nearfield.formats.lock import locked

BELOW = "{file}/x"  # a folder below a file, which no user can make
PICTURE, FOLDER = f"{BELOW}/a.png", "{tmp}/folder.png"
SMALL = ("--cells", "16", "--steps", "2", "--rounds", "1", "--case", "box", "--ranks", "1", "--threads", "1")
MODEL = """
steps = 10
[parameters]
size = "10 mm"
[grid]
kind = "uniform"
spacing = "1 mm"
cells = [10, 10, 10]
[boundaries]
all = "pec"
[[structures]]
name = "block"
medium = "pec"
shape = { kind = "box", lower = [0, 0, 0], upper = ["= size / 2", "= size / 2", "= size / 2"] }
"""


@pytest.fixture
def places(tmp_path, monkeypatch):
    """What stands for names in the command lines; every measurement that begins fails the test."""
    monkeypatch.setenv("NEARFIELD_CACHE", str(tmp_path / "cache"))
    for name in ("file", "table.txt", "model.toml"):
        (tmp_path / name).write_text(
            MODEL if name == "model.toml" else "wavelength_um n k\n1 1.5 0\n2 1.4 0\n3 1.3 0\n"
        )
    (tmp_path / "folder.png").mkdir()
    for name in ("output.measure", "scaling.bench_scaling", "probe.measured"):
        monkeypatch.setattr(f"nearfield.commands.{name}", lambda *a, **k: pytest.fail("the work had begun"))
    for name in ("optimize.optimize", "sensitivities.sensitivities"):
        monkeypatch.setattr(f"nearfield.commands.{name}", lambda *a, **k: pytest.fail("the runs had begun"))
    return {"file": tmp_path / "file", "tmp": tmp_path}


SEARCH = ("optimize", "{tmp}/model.toml", "--vary", "size=4mm:6mm", "--goal", "S11 < -1 dB at 2 GHz")


@pytest.mark.parametrize(
    "arguments",
    [
        ("predict", "--cells", "20", "--plot", BELOW),
        ("predict", "--paper", BELOW),
        ("predict", "--overlap", "--tables", "s4", "--plot", BELOW),
        ("predict", "--network", "fat-tree", "--cells", "20", "--plot", BELOW),
        ("probe", "stream", "--simulate", "pack:1 core:2 pu:1", "--plot", BELOW),
        ("bench", "output", "--sizes", "8", "--domains", "1", "--plot", BELOW),
        ("bench", "scaling", *SMALL, "--plot", PICTURE),
        ("bench", "scaling", *SMALL, "--plot", FOLDER),
        ("machine", "--plot", FOLDER),
        ("fit-medium", "{tmp}/table.txt", "--poles", "1", "--plot", PICTURE),
        ("fit-medium", "{tmp}/table.txt", "--poles", "1", "--plot", FOLDER),
        (*SEARCH, "--plots", BELOW),
        (*SEARCH, "--output", f"{BELOW}/found.toml"),
        (*SEARCH, "--output", FOLDER),
        ("sensitivities", "{tmp}/model.toml", "--of", "size", "--output", f"{BELOW}/slopes.h5"),
        ("sensitivities", "{tmp}/model.toml", "--of", "size", "--output", FOLDER),
        ("new", "patch", "--output", f"{BELOW}/a.toml"),
        ("export", "{tmp}/model.toml", "--stl", "--output", BELOW),
        ("converge", "{tmp}/model.toml", "--quantity", "S11 dip", "--output", BELOW),
        ("sweep", "{tmp}/model.toml", "--set", "size=4mm,5mm", "--output", BELOW),
        ("run", "{tmp}/model.toml", "--output", BELOW),
        ("show", "{tmp}/model.toml", "--output", f"{BELOW}/page.html"),
    ],
    ids=lambda arguments: " ".join((arguments[0], arguments[-2], arguments[-1].rpartition("/")[2])),
)
def test_places_that_cannot_be_written_are_refused_by_their_option(arguments, places, capsys):
    given = [word.format(**places) for word in arguments]
    assert main(given) == 2
    said = capsys.readouterr().err
    message = said[said.index("error: ") :]
    assert message.count("\n") == 1 and "free the disk" not in message and "internal" not in message
    assert "File exists" not in message  # what the system says of a folder that is to be made in a file's place
    assert given[-1] in message and message.rstrip().endswith(f"with {given[-2]}")


def test_a_picture_on_a_full_disk_is_a_failure_with_advice(tmp_path, monkeypatch, capsys):
    def full(path, content):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("nearfield.entry.whole_file.write_whole", full)
    assert main(["predict", "--cells", "20", "--plot", str(tmp_path)]) == 4
    assert "free some space, or give another folder with --plot" in capsys.readouterr().err


def test_refusals_of_a_model_come_through_as_they_are():
    with pytest.raises(nf.ModelError, match=r"^as it was$"), writing.written_to("a.png", "--plot"):
        raise nf.ModelError("as it was")


def full_disk(*_, **__):
    raise OSError(errno.ENOSPC, "No space left on device", "pictures/a.png")


@pytest.mark.parametrize(
    ("arguments", "advice"),
    [
        (("predict", "--cells", "20", "--plot", "pictures"), "another place with --plot"),
        (("predict", "--cells", "20", "--plot=pictures"), "another place with --plot"),
        (("predict", "--cells", "20"), "free some space\n"),
        (("new", "box", "--json"), "another place with --output"),
    ],
)
def test_a_disk_that_fails_under_way_is_said_with_the_option_of_its_place(arguments, advice, monkeypatch, capsys):
    monkeypatch.setattr("nearfield.cli.invoke", full_disk)
    assert main(list(arguments)) == 4
    said = capsys.readouterr().err
    assert "pictures/a.png: No space left on device; free some space" in said and advice in said


def test_a_lock_on_a_full_disk_is_a_failure(tmp_path, monkeypatch):
    monkeypatch.setattr("os.open", full_disk)
    with pytest.raises(RunFailed, match="free some space"), locked(tmp_path):
        pass
