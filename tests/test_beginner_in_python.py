"""Mistakes of a first script in Python and of a first model file: one message that says what to write instead."""

from pathlib import Path

import pytest

import nearfield as nf


def model(**changes):
    """A small box with a source and a probe."""
    entries = {
        "grid": nf.UniformGrid("1 mm", (8, 8, 8)),
        "boundaries": nf.Boundaries(all="pec"),
        "sources": [nf.PointCurrent(("4 mm",) * 3, "z", nf.Gaussian("10 GHz"))],
        "monitors": [nf.Probe("tip", ("4 mm",) * 3)],
        "steps": 5,
    }
    return nf.Simulation(**entries | changes)


def test_an_entry_that_is_set_is_refused_and_names_replace():
    sim = model()
    with pytest.raises(nf.ModelError, match=r"Simulation.title: entries do not change .* sim.replace\("):
        sim.title = "other"
    with pytest.raises(nf.ModelError, match=r"Probe\.name: entries do not change"):
        sim.monitors[0].name = "other"
    assert sim.replace("title", "other").title == "other"


def test_one_entry_alone_counts_as_a_list_of_one():
    probe = nf.Probe("tip", ("4 mm",) * 3)
    assert model(monitors=probe) == model(monitors=[probe])
    assert model(excitations="sources") == model(excitations=["sources"])


@pytest.mark.parametrize(
    "study",
    [
        lambda make: nf.sweep(make, {"lenght": [1, 2]}, output="s"),
        lambda make: nf.sensitivities(make, {"lenght": 1.0}),
        lambda make: nf.optimize(make, {"lenght": (1.0, 2.0)}, "S11 < -10 dB at 5 GHz"),
    ],
)
def test_a_function_that_lacks_a_parameter_is_told_by_the_names_it_takes(study, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(nf.ModelError, match="parameters given: lenght; the function of the model takes length"):
        study(lambda length: model())


def test_a_range_that_is_one_number_is_refused_in_words():
    with pytest.raises(nf.ModelError, match="give its lowest and highest value"):
        nf.optimize(lambda length: model(), {"length": 3}, "S11 < -10 dB at 5 GHz")


def test_a_sweep_that_is_not_there_is_told_in_words():
    with pytest.raises(nf.ModelError, match="nowhere does not exist; give the folder of a `nearfield sweep`"):
        nf.open_sweep("nowhere")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ('[monitors]\nkind = "probe"\n', "opens with [[monitors]]"),
        ('[[grid]]\nkind = "uniform"\n[[boundaries]]\nall = "pec"\n', "[boundaries], not [[boundaries]]"),
        ('[structures]\nname = "a"\n[structures]\nname = "b"\n', "as [[structures]] does"),
    ],
)
def test_brackets_of_a_table_and_of_a_list_are_told_apart(given, said, tmp_path):
    Path(tmp_path / "m.toml").write_text(given)
    with pytest.raises(nf.ModelError) as error:
        nf.load(tmp_path / "m.toml")
    assert said in str(error.value)
