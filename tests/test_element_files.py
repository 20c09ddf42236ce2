"""`nearfield elements`: fields from files, what is printed and written, what is refused."""

from __future__ import annotations

import json
import os

import h5py
import numpy as np
import pytest
from test_elements import GOOD, PERIOD, graded, places, product, total

from nearfield.cli import main
from nearfield.dissipation.elements import METHODS


@pytest.fixture
def file(tmp_path):
    x = places(48, first=0.31)
    with h5py.File(tmp_path / "field.h5", "w") as made:
        made["flow/phi"] = product(x, x, x)
        made["wave"] = np.exp(1j * x)
    return tmp_path / "field.h5"


def test_the_command_prints_one_object(file, capsys):
    options = ["--spacing", f"{PERIOD / 24}", "--periodic", "xyz", "--threads", "1"]
    for method in METHODS:
        assert main(["elements", f"{file}:flow/phi", *options, "--method", method, "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert {name: found[name] for name in ("elements", "pairs", "maxima", "minima")} == {
            "elements": 192,
            "pairs": 192,
            "maxima": 32,
            "minima": 32,
        }
        assert found["mean_length"] == pytest.approx(np.pi, rel=0.003)
        assert found["mean_difference"] == pytest.approx(2.0, rel=0.003)
        assert found["seconds"] > 0 and found["points_per_second"] == pytest.approx(48**3 / found["seconds"])
    assert main(["elements", f"{file}:flow/phi", "--periodic", "xyz"]) == 0
    text = capsys.readouterr().out
    assert "192 (192 pairs of extrema)" in text and "12 cells" in text and "48 x 48 x 48" in text


def test_the_command_reads_arrays_of_numpy(tmp_path, capsys):
    np.save(tmp_path / "line.npy", GOOD)
    assert main(["elements", str(tmp_path / "line.npy"), "--periodic", "x", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["elements"] == 4


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("{file}:nothing", "it has flow/phi (48 x 48 x 48), wave (48)"),
        ("{file}", "needs the name of a data set"),
        ("{file}:wave", "complex"),
        ("{folder}", "does not exist; give a result.h5"),
        ("{folder}/none.h5:phi", "no such file"),
        ("{folder}/text.h5:phi", "no HDF5 file"),
        ("{folder}/text.npy", "text.npy is no array of numpy.save: it does not begin like one\n"),
        ("{folder}/empty.npy", "empty.npy is no array of numpy.save: it is empty\n"),
        ("{folder}/pipe.npy", "it is not an ordinary file"),
        ("", "the name of the field's file is empty"),
        (":", "the name of the field's file is empty"),
    ],
)
def test_files_without_a_field_are_refused(file, given, words, capsys):
    for name in ("text.h5", "text.npy"):
        (file.parent / name).write_text("words")
    (file.parent / "empty.npy").touch()
    os.mkfifo(file.parent / "pipe.npy")
    assert main(["elements", given.format(file=file, folder=file.parent)]) == 2
    assert words in capsys.readouterr().err


def test_spacing_that_is_no_number_is_refused(file, capsys):
    assert main(["elements", f"{file}:flow/phi", "--spacing", "1 mm"]) == 2
    assert "--spacing 1 mm" in capsys.readouterr().err


def test_the_command_writes_all_that_it_found(file, tmp_path, capsys):
    out = tmp_path / "made" / "elements.h5"
    options = ["--spacing", f"{PERIOD / 24}", "--periodic", "xyz", "--threads", "1", "--json"]
    assert main(["elements", f"{file}:flow/phi", *options, "--output", str(out)]) == 0
    assert json.loads(capsys.readouterr().out)["output"] == str(out)
    with h5py.File(out) as made:
        told = made["elements"]
        assert told["label"].shape == (48, 48, 48) and told["length"][()] == pytest.approx(np.pi, rel=0.003)
        assert (told["kind"][()][told["maximum"][()]] == 1).all() and (
            told["kind"][()][told["minimum"][()]] == -1
        ).all()
        assert np.bincount(told["label"][()].ravel()).tolist() == told["points"][()].tolist()
        assert [dim.label for dim in told["label"].dims] == ["x", "y", "z"] and told["label"].dims[0]["x"].shape == (
            48,
        )
        assert made["statistics"].attrs["mean_length"] == pytest.approx(np.pi, rel=0.003)


def test_a_file_that_cannot_be_written_is_refused(tmp_path, capsys):
    np.save(tmp_path / "line.npy", GOOD)
    below = tmp_path / "line.npy" / "none.h5"
    assert main(["elements", str(tmp_path / "line.npy"), "--output", str(below)]) == 2
    told = capsys.readouterr().err
    assert f"{below.parent} cannot take none.h5: " in told and "give another folder with --output" in told
    assert [path.name for path in tmp_path.iterdir()] == ["line.npy"]


def test_coordinates_in_the_file_space_its_points(tmp_path, capsys):
    x = graded(40, 2)
    with h5py.File(tmp_path / "field.h5", "w") as file:
        file["phi"], file["x"] = total(x[:-1], x[:-1]), x
    assert main(["elements", f"{tmp_path}/field.h5:phi", "--spacing", "x,x", "--periodic", "xy", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["elements"] == 16 and found["mean_length"] == pytest.approx(np.pi * np.sqrt(2), rel=0.02)
    assert main(["elements", f"{tmp_path}/field.h5:phi", "--spacing", "x,y", "--periodic", "xy"]) == 2
    assert "'y' is no number" in capsys.readouterr().err


@pytest.mark.parametrize(("noise", "said"), [(1.0, True), (0.0, False)])
def test_noise_is_said_to_gain_nothing_by_hybrid(noise, said, tmp_path, capsys):
    x = np.arange(32) * np.pi / 16
    values = np.cos(x)[:, None, None] + np.cos(x)[:, None] + np.cos(x)
    np.save(tmp_path / "field.npy", values + noise * 5 * np.random.default_rng(0).standard_normal(values.shape))
    for method in ("hybrid", "trace"):
        assert main(["elements", str(tmp_path / "field.npy"), "--method", method]) == 0
        assert ("took as long" in capsys.readouterr().err) == (said and method == "hybrid")


def test_lines_that_end_nowhere_are_counted_in_a_warning(tmp_path, capsys):
    # between points of white noise the interpolant has extrema that no point marks
    np.save(tmp_path / "noise.npy", np.random.default_rng(0).standard_normal((12, 12, 12)))
    assert main(["elements", str(tmp_path / "noise.npy"), "--method", "trace", "--json"]) == 0
    told = capsys.readouterr()
    found = json.loads(told.out)
    assert 0 < found["unresolved"] < found["traced"] == 2 * 12**3
    assert f"{found['unresolved']} gradient lines of {found['traced']:,}" in told.err


@pytest.mark.parametrize("threads", [1, 3])
def test_no_loop_of_the_command_takes_other_threads_than_are_asked_for(file, tmp_path, threads, monkeypatch, capsys):
    """Boxes around elements, their neighbours and the tints of pictures too."""
    monkeypatch.setattr("nearfield.dissipation.counts.this_machine", lambda: pytest.fail("all cores were taken"))
    options = ["--periodic", "xyz", "--method", "discrete", "--threads", str(threads), "--json"]
    output = ["--output", str(tmp_path / "elements.h5"), "--plots", str(tmp_path / "plots")]
    assert main(["elements", f"{file}:flow/phi", *options, *output]) == 0
    assert json.loads(capsys.readouterr().out)["schedule"]["threads"] == threads
