"""What a beginner meets: messages say what to do and lead to docs/first-hour.md, on the screen and in the page."""

import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import nearfield as nf
from nearfield.cli import main
from nearfield.commands.sensitivities import closer, readable
from nearfield.entry.errors import FIRST_STEPS
from nearfield.studies.dip_slopes import Tolerance
from nearfield.viewer.scene import scene_of

MODEL = """
[parameters]
length = "6 mm"

[grid]
kind = "uniform"
spacing = "1 mm"
cells = [12, 12, 12]

[boundaries]
all = "pec"

[[structures]]
name = "strip"
medium = "pec"
shape = { kind = "sheet", lower = ["2 mm", "2 mm", "2 mm"], upper = ["= length", "4 mm", "2 mm"] }

[[ports]]
kind = "lumped"
name = "feed"
lower = ["3 mm", "3 mm", 0]
upper = ["3 mm", "3 mm", "2 mm"]
axis = "z"

[waveform]
kind = "gaussian"
maximum_frequency = "10 GHz"
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("m.toml").write_text(MODEL)


def refused(arguments, capsys):
    """The lines on stderr of a command that refuses what it is given."""
    assert main(arguments) == 2
    return capsys.readouterr().err.splitlines()


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "no.toml"],
        ["check", "m.toml", "--set", "lenght=5mm"],
        ["show", "m.toml", "--set", "length=5"],
        ["sweep", "m.toml", "--set", "length=5mm:6mm"],
        ["new", "zeppelin"],
        ["frobnicate"],
    ],
)
def test_what_a_beginner_gets_wrong_leads_to_the_first_hour(arguments, capsys, monkeypatch):
    (error,) = refused(arguments, capsys)  # scripts get one line
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert refused(arguments, capsys) == [error, f"help: {FIRST_STEPS}"]
    assert error.startswith("error: ")
    assert Path(nf.__file__).parents[1].joinpath(re.findall(r"docs/\S+\.md", FIRST_STEPS)[0]).exists()


def test_json_has_the_message_alone(capsys):
    assert main(["check", "m.toml", "--set", "lenght=5mm", "--json"]) == 2
    assert FIRST_STEPS not in json.loads(capsys.readouterr().out)["error"]


def test_the_page_of_a_model_that_would_be_refused_leads_to_the_first_hour():
    model = nf.load("m.toml").replace("ports.feed.upper", ("3 mm", "3 mm", "40 mm"))
    assert FIRST_STEPS in scene_of(model)["problem"] and not scene_of(nf.load("m.toml"))["problem"]


@pytest.mark.parametrize("name", ["ring.stl", "ring.OBJ", "board.gds"])
def test_a_body_given_as_a_model_is_told_how_a_model_names_it(name, capsys):
    Path(name).write_bytes(b"\x89solid")
    (error,) = refused(["show", name], capsys)
    assert error.count(name) == 2 and f'file = "{name}"' in error and "docs/solids.md" in error and "UTF-8" not in error


def test_a_medium_of_the_library_without_its_prefix_is_named(capsys):
    Path("m.toml").write_text(MODEL.replace('medium = "pec"', 'medium = "Copper"'))
    (error,) = refused(["check", "m.toml"], capsys)
    assert "'library:copper'" in error


def test_a_page_in_three_dimensions_is_not_written_into_a_picture():
    with pytest.raises(nf.ModelError, match=r"model.png: .* sim.plot\(\).savefig"):
        nf.load("m.toml").show("model.png")
    assert not Path("model.png").exists()


def test_an_export_counts_its_bodies(capsys):
    assert main(["export", "m.toml", "--stl"]) == 0
    assert "of 1 body in" in capsys.readouterr().out


def test_media_take_frequencies_with_units():
    water = nf.library.water
    assert water.relative_permittivity("2 GHz").shape == ()
    assert water.relative_permittivity("2 GHz") == water.relative_permittivity(2e9)
    both = water.relative_permittivity(["2 GHz", 3e9])
    assert np.array_equal(both, water.relative_permittivity([2e9, 3e9]))
    with pytest.raises(nf.ModelError, match="frequency: given '2 mm'"):
        water.relative_permittivity("2 mm")


def test_a_result_without_title_shows_no_empty_quotes():
    result = nf.load("m.toml").replace(steps=5).run(threads=1)
    assert repr(result).startswith("<nearfield.Result done; feed:") and not result.title


def test_a_folder_given_as_a_model_is_told_once(capsys):
    (error,) = refused(["run", "."], capsys)
    assert error == "error: . is a folder; give a model file, for example ./model.toml"


def test_a_table_of_tolerances_writes_lengths_as_people_do():
    text = readable([Tolerance("cavity", 0.0165, "m", 0.3), Tolerance("permittivity", 4.3, "", 0.1)])
    assert "16.5 mm" in text and "  4.3  " in text and "0.0165" not in text


def test_a_dip_between_few_frequencies_names_closer_ones():
    rows = [Tolerance("cavity", 0.0165, "m", 0.3, "in", 10.05e9)]
    (said,) = closer(rows, np.array([9.9e9, 10.05e9, 10.2e9]))
    assert "--at 9.9GHz:10.2GHz:31" in said
    assert closer([Tolerance("cavity", 0.0165, "m", 0.3, "in", 10.05e9, 1e6)], np.array([9.9e9, 10.05e9])) == []
