"""`nearfield sensitivities`: which parameters it takes, at which frequencies, and what it says of the others."""

from pathlib import Path

import numpy as np
import pytest

import nearfield as nf
from nearfield.cli import main
from nearfield.commands.sensitivities import closer
from nearfield.studies.dip_slopes import Tolerance

MODEL = """
steps = 150
[parameters]
wavelength = "9.2 mm"
length = "= wavelength / 2"
permittivity = 4.0
[grid]
kind = "uniform"
spacing = "1 mm"
cells = [9, 9, 9]
[boundaries]
all = "pec"
[media.block]
permittivity = "= permittivity"
[[structures]]
medium = "block"
shape = {kind = "box", lower = ["2 mm", "2 mm", 0], upper = ["7 mm", "7 mm", "= length"]}
[[ports]]
kind = "lumped"
name = "feed"
lower = ["4 mm", "4 mm", 0]
upper = ["4 mm", "4 mm", "1 mm"]
axis = "z"
waveform = {kind = "modulated-gaussian", frequency = "10 GHz", bandwidth = "8 GHz"}
"""
COMMAND = ["sensitivities", "m.toml", "--threads", "1", "--output", "s.h5", "--at"]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("m.toml").write_text(MODEL)


def slopes(*given):
    """The derivatives at 10 GHz of parameters by their names."""
    assert main([*COMMAND, "10GHz", *given]) == 0
    found = nf.open_sweep("s.h5").derivative
    return {str(name): found.sel(parameter=name).values.item() for name in found.parameter.values}


def test_a_parameter_moves_what_is_an_expression_of_it(capsys):
    found, alone = slopes(), slopes("--of", "length")
    assert set(found) == {"wavelength", "permittivity"}
    assert found["wavelength"] == pytest.approx(alone["length"] / 2, rel=1e-5)  # length = wavelength / 2
    assert "left out: parameter length follows wavelength" in capsys.readouterr().err


def test_of_a_parameter_that_cannot_be_followed_what_is_an_expression_of_it_is(capsys):
    text = MODEL.replace('lower = ["4 mm", "4 mm", 0]', 'lower = ["= wavelength / 2.3", "4 mm", 0]')
    Path("m.toml").write_text(text.replace('upper = ["4 mm"', 'upper = ["= wavelength / 2.3"'))
    found = slopes()
    assert set(found) == {"length", "permittivity"}
    said = capsys.readouterr().err
    assert "whose derivatives hold it" not in said and "left out: " in said and "wavelength" in said


def test_a_parameter_and_what_is_an_expression_of_it_are_refused_together(capsys):
    said = "length is an expression of wavelength and moves with it"
    assert main([*COMMAND, "10GHz", "--of", "length,wavelength"]) == 2
    assert said in capsys.readouterr().err
    with pytest.raises(nf.ModelError, match=said):
        nf.sensitivities("m.toml", ["length", "wavelength"], [10e9])
    Path("m.toml").write_text(MODEL.replace('"9.2 mm"', '"= 2 * height"\nheight = "4.6 mm"'))
    with pytest.raises(nf.ModelError, match="length is an expression of height"):
        nf.sensitivities("m.toml", ["length", "height"], [10e9])


def test_a_value_that_is_set_follows_nothing():
    assert set(slopes("--set", "length=4.6mm", "--of", "length,permittivity")) == {"length", "permittivity"}


def test_frequencies_in_any_order_are_taken_once_each(capsys):
    assert main([*COMMAND, "11GHz,9GHz,10GHz,9GHz", "--of", "permittivity"]) == 0
    assert nf.open_sweep("s.h5").frequency.values.tolist() == [9e9, 10e9, 11e9]


def test_frequencies_to_ask_at_are_as_fine_as_those_that_were_asked():
    row = Tolerance("length", 1e-3, "m", 0.1, "feed", 10.6004e9, None)
    (advice,) = closer([row], np.linspace(10.59e9, 10.61e9, 21))
    assert "--at 10.5994GHz:10.6014GHz:31" in advice


@pytest.mark.parametrize(
    ("step", "said"), [("1 GHz", "in 1/s, but the parameter is in m"), (0.1, "give it with its unit")]
)
def test_a_step_in_another_unit_is_refused(step, said):
    with pytest.raises(nf.ModelError, match=said):
        nf.sensitivities("m.toml", ["length"], [10e9], steps={"length": step})


def test_a_parameter_of_zero_is_refused_with_what_the_command_takes(capsys):
    moved = '"2 mm", 0], upper', '"= 2 mm + offset", 0], upper'
    Path("m.toml").write_text(
        MODEL.replace(*moved).replace("permittivity = 4.0", 'permittivity = 4.0\noffset = "0 mm"')
    )
    assert main([*COMMAND, "10GHz", "--of", "offset"]) == 2
    assert "--set offset=1um" in capsys.readouterr().err
