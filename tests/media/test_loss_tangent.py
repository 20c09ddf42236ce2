"""Loss tangents as data sheets state them, and metals of the library at frequencies where no grid resolves them."""

from __future__ import annotations

import numpy as np
import pytest

import nearfield as nf
from nearfield.cli import main
from nearfield.model_file import loads


def tangent(medium: nf.Medium, frequency) -> np.ndarray:
    permittivity = medium.relative_permittivity(frequency)
    return -permittivity.imag / permittivity.real


def test_a_loss_tangent_at_a_frequency_is_the_conductivity_that_has_it():
    board = nf.Medium(4.4, loss_tangent=0.02, loss_frequency="2.4 GHz")
    assert tangent(board, 2.4e9) == pytest.approx(0.02, rel=1e-12)
    assert board.conductivity == pytest.approx(2 * np.pi * 2.4e9 * 8.8541878e-12 * 4.4 * 0.02, rel=1e-8)
    assert board == nf.Medium(4.4, conductivity=board.conductivity)


@pytest.mark.parametrize("loss", [0.0009, 0.02, 0.1])
@pytest.mark.parametrize("band", [(1e9, 10e9), (1e8, 20e9), (1e6, 1e10)])
def test_a_loss_tangent_over_a_band_is_constant_within_its_ripple_and_passive(loss, band):
    board = nf.Medium(4.4, loss_tangent=loss, loss_band=band)
    at = np.geomspace(*band, 301)
    assert np.abs(tangent(board, at) / loss - 1).max() < 0.03
    middle = float(np.sqrt(band[0] * band[1]))
    assert board.relative_permittivity(middle).real == pytest.approx(4.4, rel=1e-9)
    assert all(pole.strength > 0 for pole in board.poles) and board.valid_band == band
    # Kramers and Kronig: eps falls by 2/pi tan d ln(high/low) of itself over the band, as that of a constant loss does
    ends = board.relative_permittivity(np.array(band)).real
    assert (ends[0] - ends[1]) / 4.4 == pytest.approx(2 / np.pi * loss * np.log(band[1] / band[0]), rel=0.1)


def test_a_model_with_a_loss_tangent_survives_writing_and_reading():
    text = """
grid = { kind = "uniform", spacing = "1 mm", cells = [20, 20, 20] }
[media.board]
permittivity = 4.4
loss_tangent = 0.02
loss_band = ["1 GHz", "10 GHz"]
[media.foam]
permittivity = 1.1
loss_tangent = 0.001
loss_frequency = "5 GHz"
"""
    model = loads(text)
    assert model.media["board"].poles and model.media["foam"].conductivity > 0
    assert loads(model.to_toml()) == model


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"loss_tangent": 0.02}, "loss_frequency"),
        ({"loss_tangent": 0.02, "loss_frequency": 1e9, "loss_band": (1e9, 2e9)}, "both"),
        ({"loss_frequency": 1e9}, "without a loss_tangent"),
        ({"loss_tangent": 0.02, "loss_frequency": 1e9, "conductivity": 0.1}, "conductivity"),
        ({"loss_tangent": 0.02, "loss_band": (1e9, 2e9), "poles": [nf.Debye(1, 1e-12)]}, "poles"),
        ({"loss_tangent": 0.02, "loss_band": (2e9, 1e9)}, "lower first"),
        ({"loss_tangent": 3, "loss_band": (1e6, 1e11)}, "cannot be constant"),
        ({"loss_tangent": -0.1, "loss_frequency": 1e9}, "zero or positive"),
    ],
)
def test_a_loss_tangent_that_is_not_whole_is_refused(given, words):
    with pytest.raises(nf.ModelError, match=words):
        nf.Medium(4.4, **given)


COPPER = """
[grid]
kind = "auto"
maximum_frequency = "{frequency}"
[[structures]]
name = "plate"
medium = "library:copper"
shape = {{ kind = "box", lower = [0, 0, 0], upper = ["{size}", "{size}", "{size}"] }}
[[sources]]
kind = "point-current"
position = [0, 0, "-{size}"]
axis = "x"
waveform = {{ kind = "gaussian", maximum_frequency = "{frequency}" }}
"""


def test_copper_in_the_gigahertz_names_the_conductor_to_use(tmp_path, capsys):
    (tmp_path / "m.toml").write_text(COPPER.format(frequency="10 GHz", size="10 mm"))
    assert main(["check", str(tmp_path / "m.toml")]) == 2
    message = capsys.readouterr().err
    assert "Conductor(" in message and "structure 'plate'" in message and "skin depth" in message
    given = message.split("Conductor(")[1].split(")")[0]
    assert 4e7 < float(given) < 8e7  # handbooks have 5.8e7 S/m for copper


def test_copper_at_optical_frequencies_is_meshed():
    model = loads(COPPER.format(frequency="400 THz", size="100 nm"))
    assert np.prod(model.grid.resolve(model).cells) < 1e8


def with_board(**loss) -> nf.Simulation:
    board = nf.Structure(nf.Box((0, 0, 0), (1e-3, 1e-3, 1e-3)), "board")
    return nf.Simulation(nf.Grid.uniform(1e-3, (4, 4, 4)), [board], media={"board": nf.Medium(4.4, **loss)}, steps=1)


@pytest.mark.parametrize("band", [{"loss_frequency": 10**9.5}, {"loss_band": (1e9, 10e9)}])
def test_what_is_replaced_in_a_medium_leaves_its_loss_tangent_as_stated(band):
    model = with_board(loss_tangent=0.02, **band)
    denser = model.replace("media.board.permittivity", 4.8)
    assert denser == model.replace("media.board", nf.Medium(4.8, loss_tangent=0.02, **band))
    assert denser.media["board"].relative_permittivity(10**9.5).real == pytest.approx(4.8)
    less = denser.replace("media.board.loss_tangent", 0.01).media["board"]
    assert tangent(less, 10**9.5) == pytest.approx(0.01, rel=0.03)
    assert model.replace("media.board.name", "FR4").media["board"] == model.media["board"].model_copy(
        update={"name": "FR4"}
    )
    with pytest.raises(nf.ModelError, match="in place of conductivity"):
        model.replace("media.board.conductivity", 0.1)


def test_a_copy_with_other_numbers_no_longer_has_the_loss_tangent():
    board = with_board(loss_tangent=0.02, loss_frequency=1e9).media["board"]
    model = with_board().replace("media.board", board.model_copy(update={"conductivity": 0.5}))
    assert model.replace("media.board.permittivity", 4.0).media["board"] == nf.Medium(4.0, conductivity=0.5)
