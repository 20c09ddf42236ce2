"""`nearfield elements RESULT:MONITOR`: scalars of a run's fields at the cell centres."""

from __future__ import annotations

import json

import numpy as np
import pytest

import nearfield as nf
from nearfield.cli import main

CELLS, CELL = 24, 1e-3
TM110 = 299792458.0 / (np.sqrt(2) * CELLS * CELL)  # Hz


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    """A square cavity of 24 x 24 x 4 cells in which TM110 rings, driven in its middle at its frequency."""
    centre = (12e-3, 12e-3, 1.5e-3)
    sim = nf.Simulation(
        grid=nf.Grid.uniform(CELL, (CELLS, CELLS, 4)),
        boundaries=nf.Boundaries(all=nf.PEC),
        sources=[nf.PointCurrent(centre, "z", nf.Gaussian(TM110), moment=1e-3)],
        monitors=[
            nf.Snapshot("box", (0, 0, 0), (24e-3, 24e-3, 4e-3), every=200),
            nf.FieldDFT("spectrum", (0, 0, 0), (24e-3, 24e-3, 4e-3), [TM110]),
            nf.Probe("tip", centre),
        ],
        steps=400,
    )
    return sim.run(threads=1).save(tmp_path_factory.mktemp("run") / "result.h5")


def found_at(given, capsys, *options):
    assert main(["elements", str(given), "--method", "discrete", "--threads", "1", "--json", *options]) == 0
    return json.loads(capsys.readouterr().out)


def test_quantities_of_monitors_are_those_of_their_fields(result, capsys, tmp_path):
    spectrum = nf.open_result(result)["spectrum"].collocated().isel(frequency=0)
    squares = {kind: sum(np.abs(spectrum[kind + axis].values) ** 2 for axis in "xyz") for kind in "EH"}
    electric, magnetic = (np.stack([spectrum[kind + axis] for axis in "xyz"]) for kind in "EH")
    power = 0.5 * np.cross(electric, magnetic.conj(), axis=0).real
    expected = {
        "E": np.sqrt(squares["E"]),
        "energy": 0.25 * (8.8541878e-12 * squares["E"] + 1.2566371e-6 * squares["H"]),
        "S": np.linalg.norm(power, axis=0),
        "Ez": np.abs(spectrum["Ez"].values),
    }
    for quantity, values in expected.items():
        # from the folder, and from the array as a user would put it together
        run = found_at(f"{result.parent}:spectrum", capsys, "--quantity", quantity)
        own = nf.elements(values, CELL, "", "discrete", threads=1).summary()
        assert run["mean_length"] == pytest.approx(own["mean_length"], rel=1e-5)
        assert run["mean_difference"] == pytest.approx(own["mean_difference"], rel=1e-5)
        assert ("constants of vacuum" in run["field"]) == (quantity == "energy")
        assert quantity in run["field"] and run["spacing"] == pytest.approx([CELL] * 3)


def test_one_of_several_snapshots_is_named(result, capsys):
    assert main(["elements", f"{result}:box", "--quantity", "E"]) == 2
    assert "values of time" in capsys.readouterr().err
    times = nf.open_result(result)["box"].collocated().time.values
    found = found_at(f"{result}:box", capsys, "--quantity", "E", "--at", str(times[-1]))
    assert f"{times[-1]:.6g}" in found["field"] and found["shape"] == [CELLS, CELLS, 4]


@pytest.mark.parametrize(
    ("monitor", "options", "words"),
    [
        ("spectrum", [], "say --quantity"),
        ("tip", ["--quantity", "E"], "holds no fields"),
        ("none", ["--quantity", "E"], "no monitor"),
        ("spectrum", ["--quantity", "heat"], "quantities: E or H"),
        ("spectrum", ["--quantity", "E", "--spacing", "1"], "leave it out"),
    ],
)
def test_choices_that_a_monitor_has_not_are_refused(result, monitor, options, words, capsys):
    assert main(["elements", f"{result}:{monitor}", *options]) == 2
    assert words in capsys.readouterr().err


def test_data_sets_inside_a_result_are_no_monitors(result, capsys):
    assert main(["elements", f"{result}:grid/x", "--quantity", "E"]) == 2
    assert "choose from a run's monitor" in capsys.readouterr().err


def test_means_over_snapshots_are_those_of_powers(result, capsys):
    box = nf.open_result(result)["box"].collocated()
    first, last = (float(box.time[number]) for number in (0, -1))
    expected = np.mean([sum(box[f"E{axis}"].values[moment] ** 2 for axis in "xyz") for moment in range(2)], axis=0)
    assert box.sizes["time"] == 2
    found = found_at(f"{result}:box", capsys, "--quantity", "intensity", "--at", f"{first}:{last}")
    own = nf.elements(expected, CELL, "", "discrete", threads=1).summary()
    assert found["mean_difference"] == pytest.approx(own["mean_difference"], rel=1e-5)
    assert "averaged over 2 snapshots" in found["field"]
    for at, monitor, words in (
        (f"{last}:{2 * last}", "box", "takes two or more"),
        ("1:2", "spectrum", "one frequency"),
    ):
        assert main(["elements", f"{result}:{monitor}", "--quantity", "E", "--at", at]) == 2
        assert words in capsys.readouterr().err
    spectrum = nf.open_result(result)["spectrum"].collocated().isel(frequency=0)
    mean = 0.5 * sum(np.abs(spectrum[f"E{axis}"].values) ** 2 for axis in "xyz")
    found = found_at(f"{result}:spectrum", capsys, "--quantity", "intensity")
    own = nf.elements(mean, CELL, "", "discrete", threads=1).summary()
    assert found["mean_difference"] == pytest.approx(own["mean_difference"], rel=1e-5)


def test_fields_are_those_of_the_excitation_that_is_named(tmp_path, capsys):
    ends = {name: ((x * 1e-3, 4e-3, 0), (x * 1e-3, 4e-3, 2e-3)) for name, x in (("left", 3), ("right", 15))}
    sim = nf.Simulation(
        grid=nf.Grid.uniform(1e-3, (18, 8, 6)),
        boundaries=nf.Boundaries(all=nf.PEC),
        structures=[nf.Structure(nf.Sheet((2e-3, 3e-3, 2e-3), (16e-3, 5e-3, 2e-3)), nf.PEC)],
        ports=[nf.LumpedPort(name, *span, "z") for name, span in ends.items()],
        waveform=nf.Gaussian("8 GHz"),
        monitors=[nf.FieldDFT("all", (0, 0, 0), (18e-3, 8e-3, 6e-3), [5e9])],
        steps=300,
    )
    result = sim.run(threads=1)
    path = result.save(tmp_path / "result.h5")
    for name in ends:
        fields = result.excitation(name)["all"].collocated().isel(frequency=0)
        electric = np.sqrt(sum(np.abs(fields["E" + axis].values) ** 2 for axis in "xyz"))
        run = found_at(f"{path}:all", capsys, "--quantity", "E", "--excitation", name)
        assert run["mean_difference"] == pytest.approx(
            nf.elements(electric, 1e-3, "", "discrete", threads=1).summary()["mean_difference"], rel=1e-5
        )
        assert run["field"].endswith(f"of excitation '{name}'")
    assert main(["elements", f"{path}:all", "--quantity", "E", "--excitation", "middle"]) == 2
    assert "no excitation 'middle'" in capsys.readouterr().err
    np.save(tmp_path / "field.npy", np.arange(27.0).reshape(3, 3, 3))
    assert main(["elements", f"{tmp_path}/field.npy", "--excitation", "left"]) == 2
    assert "names one of a run's" in capsys.readouterr().err
