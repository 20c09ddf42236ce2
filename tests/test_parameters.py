"""Parameters of model files: expressions with units, other values for them, and entries replaced by their place."""

from __future__ import annotations

import json
import math

import pytest

import nearfield as nf
from nearfield.cli import main
from nearfield.entry.dimensions import NONE, RADIAN
from nearfield.entry.expressions import ExpressionError, evaluate, typed
from nearfield.entry.settings import settings_of
from nearfield.model_file import loads

MODEL = """
steps = 20
[parameters]
length = "6 mm"
half = "= length / 2"
permittivity = 4.4
n = 8
[grid]
kind = "uniform"
spacing = ["1 mm", "= 2 mm / 2", "= hypot(3 mm, 4 mm) / 5"]
cells = ["= n", "= 2 * n", 8]
[boundaries]
all = "pec"
[[structures]]
name = "block"
medium = { permittivity = "= permittivity" }
shape = { kind = "box", lower = [0, 0, 0], upper = ["= half + 0.5 mm", "= length", "3 mm"] }
[[sources]]
kind = "point-current"
position = ["4 mm", "4 mm", "4.5 mm"]
axis = "z"
waveform = { kind = "gaussian", maximum_frequency = "= 0.1 * c0 / length" }
"""


def value(text: str, **parameters: str):
    return evaluate(text, lambda name: typed(parameters[name]), parameters)


@pytest.mark.parametrize(
    ("text", "number", "powers"),
    [
        ("= 3", 3.0, NONE),
        ("=-(2 + 3) * 4 // 3", -7.0, NONE),
        ("= width / 2 + 1 mm", 7e-3, (1, 0, 0, 0, 0)),
        ("= 1.5e3 um", 1.5e-3, (1, 0, 0, 0, 0)),
        ("= 1 in", 0.0254, (1, 0, 0, 0, 0)),
        ("= c0 / (2 * 5 GHz * sqrt(4))", 299792458.0 / 2e10, (1, 0, 0, 0, 0)),
        ("= sin(30 deg)", 0.5, NONE),
        ("= atan2(width, width)", math.pi / 4, NONE),
        ("= sqrt(width * width)", 12e-3, (1, 0, 0, 0, 0)),
        ("= 1 / (2 * pi * sqrt(1 nH * 1 pF))", 1 / (2 * math.pi * math.sqrt(1e-21)), (0, -1, 0, 0, 0)),
        ("= max(0, width - 20 mm)", 0.0, (1, 0, 0, 0, 0)),
        ("= 1 V / 20 mA", 50.0, (0, 0, -1, 1, 0)),
        ("= eta0 * eps0 * c0", 1.0, NONE),
        ("= 2 ** 0.5", math.sqrt(2), NONE),
        ("= 5.8e7 S/m * 1 m", 5.8e7, (0, 0, 1, -1, 0)),
        ("= 7 mm % 2 mm", 1e-3, (1, 0, 0, 0, 0)),
        ("= 9 mm // 1 mm", 9.0, NONE),
        ("= 0.3 mm // 0.1 mm", 3.0, NONE),
        ("= -0.3 mm // 0.1 mm", -3.0, NONE),
        ("= floor(0.3 mm / 0.1 mm)", 3.0, NONE),
        ("= ceil((0.1 + 0.2) / 0.1)", 3.0, NONE),
        ("= floor(2.999999999)", 2.0, NONE),
        ("= 0.3 mm % 0.1 mm", 0.0, (1, 0, 0, 0, 0)),
        ("= 1e15 % 7", 1e15 % 7, NONE),
        ("= 2 * 15 deg + pi / 6", math.pi / 3, RADIAN),
        ("= 30 deg % 0.1", math.radians(30) % 0.1, RADIAN),
        ("= 1 rad * width", 12e-3, (1, 0, 0, 0, 0)),
        ("= 360 deg / 45 deg", 8.0, NONE),
        ("= exp(180 deg / pi)", math.e, NONE),
        ("= 100 rad/m * width", 1.2, NONE),
    ],
)
def test_an_expression_has_the_value_and_the_dimension_of_its_formula(text, number, powers):
    found = value(text, width="12 mm")
    assert found.number == pytest.approx(number, rel=1e-14, abs=1e-17)
    assert found.powers == powers


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("= 1 mm + 2", "values of one unit, given m and no unit"),
        ("= sin(1 mm)", "takes a number or an angle"),
        ("= round(30 deg)", "round takes a number, given rad"),
        ("= 2 ** 30 deg", "exponent has no unit, given one in rad"),
        ("= widht", "did you mean width"),
        ("= open('x')", "unknown function open"),
        ("= width.real", "do not know"),
        ("= [1, 2]", "do not know"),
        ("= (lambda: 1)()", "do not know"),
        ("= 'a' * 3", "do not know"),
        ("= True", "do not know"),
        ("= 1 if width else 2", "do not know"),
        ("= __class__", "unknown name"),
        ("= _0", "unknown name"),
        ("= 2 width", "cannot be worked out"),
        ("= 1 / 0", "division by zero"),
        ("= 9 ** 9 ** 9 ** 9", "cannot be worked out"),
        ("= 1e308 * 10", "not finite"),
        ("= (-1) ** 0.5", "is complex"),
        ("= sqrt(-1)", "cannot be worked out"),
        ("= sqrt(1, 2)", "cannot be worked out"),
        ("= atan2(1)", "does not take 1 values"),
        ("= 2 ** width", "exponent has no unit"),
        ("= " + "(" * 300, "cannot be worked out"),
        ("= " + "1" * 501, "501 characters"),
        ("=", "cannot be worked out"),
    ],
)
def test_what_the_grammar_lacks_is_refused_in_words(text, words):
    with pytest.raises(ExpressionError, match=words.replace("(", r"\(")):
        value(text, width="12 mm")


def test_a_parameter_is_the_same_double_as_its_text_in_place():
    model = loads(MODEL)
    assert model.structures[0].shape.upper == (6e-3 / 2 + 0.5e-3, 6e-3, 3e-3)
    assert model.grid.cells == (8, 16, 8)
    assert model.sources[0].waveform.maximum_frequency == 0.1 * 299792458.0 / 6e-3
    assert model.parameters == {"length": "6 mm", "half": "0.003 m", "permittivity": 4.4, "n": 8.0}


def test_a_whole_number_may_differ_by_rounding():
    assert loads(MODEL.replace('"= n"', '"= 0.8/0.1 + 0.3/0.1 - 3"')).grid.cells[0] == 8


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ({"permittivity": "3deg"}, ["structures[0].medium", "in rad, which is not a number"]),
        ({"n": "229 deg"}, ["grid.cells[0]", "in rad", "a whole number"]),
        ({"length": "3 deg"}, ["parameters.length", "in rad, but the file has it in m"]),
    ],
)
def test_an_angle_is_refused_where_a_number_or_a_length_belongs(setting, words):
    with pytest.raises(nf.ModelError) as refusal:
        loads(MODEL, parameters=setting)
    assert all(word in str(refusal.value) for word in words), refusal.value


def test_angles_take_degrees_radians_and_numbers_and_keep_them():
    text = MODEL.replace("n = 8", 'n = 8\nturn = "30 deg"')
    axis = '[boundaries]\nx = { kind = "bloch", phase = "= 2 * turn + pi / 6" }\ny = "pec"\nz = "pec"'
    text = text.replace('[boundaries]\nall = "pec"', axis)
    for given, turn in (("60 deg", math.pi / 3), ("0.5 rad", 0.5), (0.5, 0.5)):
        model = loads(text, parameters={"turn": given})
        assert model.boundaries.x.phase == pytest.approx(2 * turn + math.pi / 6, rel=1e-14)
        assert loads(model.to_toml()) == model
    with pytest.raises(nf.ModelError, match="without a unit, which is 45 rad"):
        loads(text, parameters={"turn": 45})


def test_other_values_take_the_place_of_the_files_own_and_are_kept():
    model = loads(MODEL, parameters={"length": "5mm", "permittivity": 2})
    assert model.structures[0].shape.upper[:2] == (5e-3 / 2 + 0.5e-3, 5e-3)
    assert model.structures[0].medium.permittivity == 2.0
    assert model.parameters["length"] == "5mm" and model.parameters["half"] == "0.0025 m"
    assert loads(model.to_toml()) == model
    assert loads(MODEL, parameters={"length": 5e-3}).parameters["length"] == "0.005 m"  # SI, as everywhere
    plain = MODEL.replace("n = 8", "n = 8\nplain = 6e-3").replace('"= length", "3 mm"', '"= plain", "3 mm"')
    assert loads(plain, parameters={"plain": "5 mm"}).structures[0].shape.upper[1] == 5e-3  # its number is in SI


@pytest.mark.parametrize(
    ("changes", "settings", "words"),
    [
        (("= half", "= haf"), {}, ["structures[0].shape.upper[0] (line 17)", "did you mean half?"]),
        (("= half", "= n"), {}, ["structures[0].shape.upper[0]", "given no unit and m"]),
        (('"= permittivity"', '"= half"'), {}, ["structures[0].medium", "= half", "in m, which is not a number"]),
        (('["= n"', '["= n / 3"'), {}, ["grid.cells[0]", "'= n / 3' (2.66667)", "a whole number"]),
        (("= length / 2", "= half * 2"), {}, ["parameters.half (line 5)", "half -> half"]),
        (("= length / 2", "= 1 mm + nothing"), {}, ["parameters.half (line 5)", "unknown name 'nothing'"]),
        (("n = 8", "sqrt = 8"), {}, ["parameters.sqrt", "taken by the grammar"]),
        (("n = 8", "n = [8]"), {}, ["parameters.n", "given [8]"]),
        (("n = 8", 'n = "8 parsec"'), {}, ["parameters.n", "8 parsec"]),
        (("", ""), {"lenght": "5 mm"}, ["unknown parameter 'lenght'", "did you mean length?"]),
        (("", ""), {"length": "5 GHz"}, ["parameters.length", "in 1/s, but the file has it in m"]),
        (("", ""), {"length": "5.9"}, ["parameters.length", "which is 5.9 m", "give it with its unit"]),
        (("", ""), {"permittivity": "3000mm"}, ["structures[0].medium", "in m, which is not a number"]),
        (("", ""), {"n": "8 mm"}, ["grid.cells", "in m"]),
        (("= n", "= 8.0000001"), {}, ["grid.cells[0]", "'= 8.0000001' (8.0000001)", "a whole number"]),
        (("= n", "= 8000 mm"), {}, ["grid.cells[0]", "'= 8000 mm' (8 m), in m", "a whole number"]),
        (("", ""), {"length": "five"}, ["parameters.length", "'five'"]),
    ],
)
def test_an_error_of_a_parameter_names_its_place_in_the_file(changes, settings, words):
    with pytest.raises(nf.ModelError) as refused:
        loads(MODEL.replace(*changes, 1), name="some.toml", parameters=settings)
    assert str(refused.value).startswith("some.toml:")
    assert all(word in str(refused.value) for word in words), str(refused.value)


def test_a_value_for_a_parameter_that_no_entry_uses_is_refused():
    kept = loads(MODEL).to_toml()  # expressions have become values
    with pytest.raises(nf.ModelError, match="no entry of the model uses it"):
        loads(kept, parameters={"length": "5 mm"})


@pytest.mark.parametrize("texts", [["length"], ["=5mm"], ["length="], ["a=1", "a=2"]])
def test_settings_that_name_no_value_or_two_are_refused(texts):
    with pytest.raises(nf.ModelError, match="--set"):
        settings_of(texts)


def test_set_reaches_check_run_and_the_result(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NEARFIELD_CACHE", str(tmp_path / "cache"))
    (tmp_path / "m.toml").write_text(MODEL)
    assert main(["check", "m.toml", "--set", "n=9", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["cells"] == [9, 18, 8] and found["parameters"]["n"] == "9"
    assert main(["run", "m.toml", "--set", "length=5mm", "--no-report"]) == 0
    result = nf.open_result("out/m/result.h5")
    assert result.parameters["length"] == "5mm"
    assert 'length = "5mm"' in result.model_text
    for command in (["check"], ["run"], ["predict"], ["place"], ["tune"], ["converge", "--quantity", "S11 dip"]):
        assert main([command[0], "m.toml", *command[1:], "--set", "lenght=5mm"]) == 2
        assert "did you mean length?" in capsys.readouterr().err
    assert main(["predict", "--set", "length=5mm"]) == 2


PATCH = nf.Structure(nf.Sheet((0, 0, 0), ("5 mm", "8 mm", 0)), nf.PEC, name="patch")
BARE = nf.Simulation(
    nf.Grid.uniform("1 mm", (8, 9, 9)), structures=[PATCH, PATCH], media={"foam": nf.Medium(1.1)}, steps=10
)
MODEL_IN_PYTHON = BARE.replace("structures[1].name", "twin")


def test_replace_changes_one_entry_by_its_place_and_checks_it_anew():
    changed = MODEL_IN_PYTHON.replace("structures.patch.upper", ("6 mm", "8 mm", 0))
    assert changed.structures[0].shape.upper == (6e-3, 8e-3, 0.0)
    assert changed.structures[1] == MODEL_IN_PYTHON.structures[1]
    assert changed.replace("structures.patch.upper.x", "5 mm") == MODEL_IN_PYTHON
    assert changed.replace(("structures", 1, "shape", "upper", 1), 7e-3).structures[1].shape.upper[1] == 7e-3
    assert changed.replace("media.foam.permittivity", 2).media["foam"].permittivity == 2
    assert changed.replace(steps=11, title="b").title == "b"
    assert [body.shape.upper[0] for body in changed._bodies] == [6e-3, 5e-3]


@pytest.mark.parametrize(
    ("place", "new", "words"),
    [
        ("structures.pach.upper", 1, "did you mean patch"),
        ("structures.patch.uper", 1, "did you mean upper"),
        ("stepz", 10, "did you mean steps"),
        ("structures[9]", 1, "has 2 entries"),
        ("structures.patch.upper.w", 1, "x, y, z"),
        ("structures.patch.upper.x", "1 GHz", "unit of a frequency"),
        ("structures.patch.upper.x", "-1 mm", "upper exceeds lower"),
        ("steps.x", 1, "has nothing inside"),
        ("a..b", 1, "not understood"),
        ("parameters.length", 1, "load the model file again"),
    ],
)
def test_replace_refuses_names_that_are_not_there_and_values_that_do_not_fit(place, new, words):
    with pytest.raises(nf.ModelError, match=words):
        MODEL_IN_PYTHON.replace(place, new)


def test_a_copy_refuses_names_that_an_entry_lacks():
    model = loads(MODEL)
    assert model.model_copy(update={"steps": 7}).steps == 7
    with pytest.raises(nf.ModelError, match="Simulation: unknown entry 'stepz'; did you mean steps"):
        model.model_copy(update={"stepz": 10})


def test_replace_refuses_a_name_that_two_entries_have():
    with pytest.raises(nf.ModelError, match="2 entries are named 'patch'; give a number, one of 0, 1"):
        BARE.replace("structures.patch.upper.x", 1)


def test_a_model_without_parameters_is_said_to_have_none():
    with pytest.raises(nf.ModelError, match=r"given 'length', but the model has no table \[parameters\]"):
        loads("", parameters={"length": "5 mm"})
