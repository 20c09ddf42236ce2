"""`nearfield optimize`: a model file searched, the found one written, refusals in one line."""

import json
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest

import nearfield as nf
from nearfield.cli import main
from nearfield.commands import optimize as command
from nearfield.studies.optimize import Attempt, Optimum

MODEL = """
steps = 300
[parameters]
length = "8.6 mm" # sets the resonance
permittivity = 2.2
high = "1 mm"
[grid]
kind = "uniform"
spacing = "1 mm"
cells = [16, 16, 8]
origin = ["-8 mm", "-8 mm", 0]
[boundaries]
all = {kind = "cpml", cells = 3}
z_low = "pec"
[media.board]
permittivity = "= permittivity"
[[structures]]
medium = "board"
shape = {kind = "box", lower = ["-20 mm", "-20 mm", 0], upper = ["20 mm", "20 mm", "= high"]}
[[structures]]
medium = "pec"
shape = {kind = "sheet", lower = ["-4 mm", "= -length / 2", "= high"], upper = ["4 mm", "= length / 2", "= high"]}
[[ports]]
kind = "lumped"
name = "feed"
lower = [0, "-2 mm", 0]
upper = [0, "-2 mm", "= high"]
axis = "z"
waveform = {kind = "modulated-gaussian", frequency = "10 GHz", bandwidth = "8 GHz"}
"""
EASY, HARD = "S11 < 1 dB at 10 GHz", "S11 < -90 dB at 10 GHz"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("m.toml").write_text(MODEL)


def test_the_command_finds_draws_and_writes_a_model_that_keeps_its_comments(capsys):
    given = [
        "optimize",
        "m.toml",
        "--vary",
        "permittivity=2:2.6",
        "--vary",
        "length=8.2mm:9mm",
        "--start",
        "length=8.8mm",
    ]
    extras = ["--goal", EASY, "--method", "simplex", "--output", "f.toml", "--plots", "p", "--threads", "1", "--json"]
    assert main(given + extras) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["met"] and told["runs"] == 1 and told["file"] == "f.toml" and told["plots"] == ["p/path.png"]
    assert told["parameters"] == {"permittivity": pytest.approx(2.3), "length": pytest.approx(8.8e-3)}
    assert told["goals"][0]["goal"] == EASY and told["goals"][0]["level"] < 1
    text = Path("f.toml").read_text()
    assert 'length = "8.8 mm" # sets the resonance' in text and '"= length / 2"' in text
    assert tomllib.loads(text)["parameters"]["permittivity"] == pytest.approx(2.3)
    assert nf.load("f.toml") == nf.load("m.toml", {"length": "8.8 mm", "permittivity": 2.3})
    assert Path("p/path.png").read_bytes().startswith(b"\x89PNG")


def test_goals_that_are_missed_are_exit_code_1_and_the_runs_are_told(capsys):
    given = ["optimize", "m.toml", "--vary", "permittivity=2:2.6", "--goal", HARD, "--runs", "2", "--threads", "1"]
    assert main(given) == 1
    told = capsys.readouterr()
    assert "run 2: permittivity 2." in told.err and "the runs are used up" in told.out
    assert not Path("out").exists()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--vary", "lenght=8mm:9mm"], "the model has length, permittivity, high"),
        (["--vary", "permittivity=1500mm:8000mm"], "in m, which is not a number"),
        (["--vary", "length=8mm"], "lowest and highest value"),
        (["--vary", "length=9mm:8mm"], "not above its beginning"),
        ([], "no parameter"),
        (["--vary", "length=8mm:9mm", "--set", "length=8mm"], "hold a parameter or vary it"),
        (["--vary", "high=0.9mm:1.1mm"], "changes ports"),
        (["--vary", "high=0.9mm:1.1mm"], "simplex"),
        (["--vary", "length=8mm:9mm", "--method", "annealing"], "not known"),
        (["--vary", "length=8mm:9mm", "--goal", "S11 better"], "give it as"),
    ],
)
def test_what_cannot_be_searched_is_one_line_and_exit_code_2(given, said, capsys):
    goal = [] if "--goal" in given else ["--goal", EASY]
    assert main(["optimize", "m.toml", *given, *goal, "--threads", "1"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("error: ") and said in line


def test_a_file_that_is_there_is_kept_unless_forced(capsys):
    given = [
        "optimize",
        "m.toml",
        "--vary",
        "permittivity=2:2.6",
        "--goal",
        EASY,
        "--method",
        "simplex",
        "--threads",
        "1",
    ]
    assert main([*given, "--output", "m.toml"]) == 2
    told = capsys.readouterr()
    assert "m.toml exists" in told.err and "run 1" not in told.err
    assert Path("m.toml").read_text() == MODEL
    assert main([*given, "--output", "m.toml", "--force"]) == 0
    assert nf.load("m.toml").parameters["permittivity"] == pytest.approx(2.3)


def interrupted_in_run(monkeypatch, last):
    """Ends a run with what Ctrl-C leaves."""
    whole, runs = nf.Simulation.run, []

    def run(self, **options):
        runs.append(self)
        return whole(self, **options) if len(runs) < last else SimpleNamespace(status="interrupted")

    monkeypatch.setattr(nf.Simulation, "run", run)


@pytest.mark.parametrize("method", ["simplex", "gradient"])
def test_an_interrupted_search_keeps_the_best_so_far(method, capsys, monkeypatch):
    interrupted_in_run(monkeypatch, 2)
    given = ["optimize", "m.toml", "--vary", "permittivity=2:2.6", "--goal", HARD, "--method", method, "--threads", "1"]
    assert main([*given, "--output", "f.toml", "--json"]) == 130
    told = json.loads(capsys.readouterr().out)
    assert told["stopped"] == "interrupted" and not told["met"] and len(told["attempts"]) == 1
    assert nf.load("f.toml").parameters["permittivity"] == pytest.approx(2.3)


@pytest.mark.parametrize(
    "command",
    [
        ["optimize", "m.toml", "--vary", "permittivity=2:2.6", "--goal", HARD, "--output", "f.toml"],
        ["converge", "m.toml", "--quantity", "S11 dB at 10 GHz"],
        ["sensitivities", "m.toml", "--of", "permittivity"],
    ],
)
def test_a_study_that_is_interrupted_in_its_first_run_is_exit_code_130(command, capsys, monkeypatch):
    interrupted_in_run(monkeypatch, 1)
    assert main([*command, "--threads", "1"]) == 130
    assert capsys.readouterr().err.splitlines()[-1] == "interrupted"
    assert not Path("f.toml").exists()


def test_a_table_that_cannot_be_kept_becomes_the_plain_model():
    text = MODEL.replace(
        '[parameters]\nlength = "8.6 mm" # sets the resonance\npermittivity = 2.2\nhigh = "1 mm"\n', ""
    )
    Path("m.toml").write_text('parameters = {length = "8.6 mm", permittivity = 2.2, high = "1 mm"}\n' + text)
    found = command.written(Path("m.toml"), Path("f.toml"), {"length": "8.8 mm"})
    assert nf.load("m.toml", {"length": "8.8 mm"}).structures == command.loads(found).structures


def test_the_path_names_values_in_the_units_that_were_typed():
    assert command.typed_as(12.3456e-3, ("11 mm", "0.013")) == "12.3456 mm"
    assert command.typed_as(2.25, ("2", "3")) == "2.25"
    best = Optimum({"a": 1e-3}, True, "met", (EASY,), (Attempt({"a": 1e-3}, 0.0, (-20.0,)),), None)
    assert "a          1 mm" in command.readable(best, {"a": ("0.5mm", "2mm")}, None)


def test_trials_without_a_model_are_named(capsys):
    text = MODEL.replace(
        'lower = ["-4 mm", "= -length / 2", "= high"]', 'lower = ["-4 mm", "= 5 mm - length", "= high"]'
    )
    Path("m.toml").write_text(text)
    given = ["optimize", "m.toml", "--vary", "length=2mm:4mm", "--start", "length=3.4mm", "--goal", HARD, "--runs", "3"]
    assert main([*given, "--method", "simplex", "--threads", "1", "--output", "f.toml", "--json"]) == 1
    captured = capsys.readouterr()
    told = json.loads(captured.out)
    (why,) = told["impossible"]
    assert told["runs"] == 2 and why.startswith("length = 0.0032 m: m.toml: ")
    assert f"warning: no run at {why[:40]}" in captured.err
