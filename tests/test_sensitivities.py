"""Derivatives of S-parameters by reciprocity against central differences of runs on the same grid."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import xarray
from derivatives import CELL, HIGH, agreement, differences

import nearfield as nf
from nearfield.cli import main
from nearfield.commands.sensitivities import listed
from nearfield.discretization.discretization import Discretization
from nearfield.report.tolerance_section import tolerance_recipes
from nearfield.studies.dip_slopes import dip_slope, tolerances
from nearfield.studies.pattern_slopes import recorded_at, seen_towards, towards_of
from nearfield.studies.probe_slopes import probed, probes_of
from nearfield.studies.sensitivities import _frequencies, percent, sensitivities
from nearfield.studies.sweep_table import save_sweep
from nearfield.studies.varied import alike, varied


def patch(length=9.3e-3, permittivity=2.2, shift=0.0, port=-1e-3, metal="conformal", medium=None, **entries):
    lines = (np.arange(-9, 10) * CELL).tolist()
    board = nf.Structure(nf.Box((-1, -1, 0), (1, 1, HIGH)), medium or nf.Medium(permittivity))
    sheet = nf.Sheet((-4.6e-3, -length / 2 + shift, HIGH), (4.6e-3, length / 2 + shift, HIGH))
    return nf.Simulation(
        nf.Grid(lines, lines, (np.arange(8) * CELL).tolist()),
        structures=[board, nf.Structure(sheet, nf.PEC)],
        boundaries=nf.Boundaries(all=nf.CPML(4), z_low=nf.PEC),
        ports=[nf.LumpedPort("feed", (0, port, 0), (0, port, HIGH), "z")],
        waveform=nf.ModulatedGaussian("9 GHz", "5 GHz"),
        metal=metal,
        **{"precision": "double", "decay": 1e-7, **entries},
    )


def test_derivatives_at_a_lumped_port_are_central_differences():
    """Both errors are of second order in the step; what is left is the Fourier sums' end, 1e-3 of the pulse there."""
    values, frequencies = {"length": 9.3e-3, "permittivity": 2.2}, np.linspace(8e9, 11e9, 13)
    found = sensitivities(patch, values, frequencies, threads=1)
    for name, step in (("length", 4e-6), ("permittivity", 1e-3)):
        more, less = differences(patch, values, name, step, frequencies)
        assert agreement(found.derivative.sel(parameter=name).values, 0.5 * (more + less)) < 5e-3


def test_an_edge_on_a_grid_line_is_asked_where_its_coefficients_go_on():
    """Metal that retreats from a line leaves edges to the field: the derivative is that of metal that advances."""
    frequencies = np.linspace(8e9, 11e9, 13)
    found = sensitivities(patch, {"length": 8e-3}, frequencies, threads=1)
    more, less = differences(patch, {"length": 8e-3}, "length", 2e-6, frequencies)
    assert agreement(found.derivative.values[0], more) < 0.01
    assert agreement(less, more) > 1.0  # another law on the other side: the test asks something


@pytest.mark.parametrize(
    "length, beside",
    [
        pytest.param(7.994e-3, (0.0,), id="0.003 cells before a line"),
        pytest.param(9.2e-3, (-3e-6, 3e-6), id="where samples leave the reach of a rim"),
    ],
)
def test_an_edge_where_coefficients_are_steep_or_leap_has_the_slope_of_a_side(length, beside):
    """Cut edges and faces change as steeply as the field beside them, and nearly all of it cancels. Where coefficients
    leap by 0.02 the slope is that of a side, 5 %: bends of others there; not what a step over both makes of it. Where
    bounds of the time step begin to act slopes bend, too (by 2 % at some 7.995 mm)."""
    frequencies = np.linspace(8e9, 11e9, 13)
    found = sensitivities(patch, {"length": length}, frequencies, threads=1).derivative.values[0]
    pairs = (differences(patch, {"length": length + by}, "length", 4e-7, frequencies) for by in beside)
    assert min(agreement(found, 0.5 * sum(pair)) for pair in pairs) < (0.05 if len(beside) > 1 else 0.01)


def test_records_that_are_cut_off_are_said_with_what_derivatives_lack():
    """A ring that decays as exp(-a t) is cut off at 0.05: its transform lacks 0.05 of it, that of t times it 0.2."""
    ended = patch(decay=None, steps=700).run(threads=1)
    level = next(entry.value for entry in ended.trust if entry.name.startswith("left at the end in port"))
    left = 10 ** (level / 20)
    assert 0.005 < left < 0.3
    with pytest.warns(UserWarning, match="the record of port 'feed' ends at"):
        found = sensitivities(lambda length: patch(length, decay=None, steps=700), {"length": 9.3e-3}, [9e9], threads=1)
    assert f"derivatives by {percent(left * (1 - np.log(left)))}" in found.attrs["cut_off"]
    whole = sensitivities(patch, {"length": 9.3e-3}, [9e9], threads=1)
    assert "cut_off" not in whole.attrs


def stub(length=4.3e-3, **entries):
    """A strip between two ports with an open stub at its middle, over ground."""
    lines = [(np.arange(-n, m + 1) * CELL).tolist() for n, m in ((12, 12), (7, 11), (0, 7))]
    sheets = [nf.Sheet((-6e-3, -1.4e-3, HIGH), (6e-3, 1.4e-3, HIGH))]
    sheets.append(nf.Sheet((-1.3e-3, 1.4e-3, HIGH), (1.3e-3, 1.4e-3 + length, HIGH)))
    board = nf.Structure(nf.Box((-1, -1, 0), (1, 1, HIGH)), nf.Medium(2.2))
    ends = {"in": -5e-3, "out": 5e-3}
    return nf.Simulation(
        nf.Grid(*lines),
        structures=[board, *(nf.Structure(sheet, nf.PEC) for sheet in sheets)],
        boundaries=nf.Boundaries(all=nf.CPML(4), z_low=nf.PEC),
        ports=[nf.LumpedPort(name, (x, 0, 0), (x, 0, HIGH), "z") for name, x in ends.items()],
        waveform=nf.ModulatedGaussian("9 GHz", "5 GHz"),
        metal="conformal",
        precision="double",
        decay=1e-7,
        **entries,
    )


def test_derivatives_by_the_length_of_a_stub_are_central_differences():
    """Of all four S-parameters, where the stub stops the line and beside; errors as above."""
    frequencies, step = np.linspace(7e9, 11e9, 9), 4e-6
    found = sensitivities(stub, {"length": 4.3e-3}, frequencies, threads=1)
    more, less = differences(stub, {"length": 4.3e-3}, "length", step, frequencies)
    assert np.abs(found.sparameters.values[:, 1, 0]).min() < 0.5 < np.abs(found.sparameters.values[:, 1, 0]).max()
    for to, source in np.ndindex(2, 2):
        expected = 0.5 * (more + less)[:, to, source]
        assert agreement(found.derivative.values[0, :, to, source], expected) < 0.01


def test_derivatives_of_the_field_at_a_probe_are_central_differences():
    """Beside the patch, off the lines, by one further run a probe; errors as of S at a lumped port."""
    values, frequencies = {"length": 9.3e-3, "permittivity": 2.2}, np.linspace(8e9, 11e9, 7)
    probes = [nf.Probe(part, (3.3e-3, 2.2e-3, 2.4e-3), part) for part in ("Ez", "Hx")]

    def make(**given):
        return patch(**given, monitors=probes)

    found = sensitivities(make, values, frequencies, threads=1, probes=["Ez", "Hx"])
    assert found.field_derivative.dims == ("parameter", "probe", "frequency", "source")
    for name, step in (("length", 4e-6), ("permittivity", 1e-3)):
        _, pairs = alike(make, varied(values, {name: step}, make))
        runs = [each.run(threads=1) for each in pairs[list(values).index(name)]]
        more, less = (probed(run, probes, frequencies) for run in runs)
        for part in range(2):
            slopes = found.field_derivative.sel(parameter=name)[part].values
            assert agreement(slopes, (more - less)[part] / (2 * step)) < 5e-3


def strips(length=9.3e-3, permittivity=2.2, **entries):
    """A dipole of two strips on a small board in the open."""
    lines = [((np.arange(-n, n + 1) + shift) * CELL).tolist() for n, shift in ((16, 0.5), (13, 0), (12, 0))]
    board = nf.Structure(nf.Box((-5e-3, -2e-3, -1e-3), (5e-3, 2e-3, 0)), nf.Medium(permittivity))
    arms = [(-length / 2, -0.5e-3), (0.5e-3, length / 2)]
    sheets = [nf.Sheet((low, -1.4e-3, 0), (high, 1.4e-3, 0)) for low, high in arms]
    surface = {"lower": (-11e-3, -8e-3, -7e-3), "upper": (11e-3, 8e-3, 7e-3)}
    return nf.Simulation(
        nf.Grid(*lines),
        structures=[board, *(nf.Structure(sheet, nf.PEC) for sheet in sheets)],
        boundaries=nf.Boundaries(all=nf.CPML(4)),
        ports=[nf.LumpedPort("feed", (-0.5e-3, 0, 0), (0.5e-3, 0, 0), "x")],
        waveform=nf.ModulatedGaussian("10 GHz", "5 GHz"),
        metal="conformal",
        precision="double",
        decay=1e-7,
        **{"monitors": [nf.FarField("pattern", ["10 GHz"], **surface)], **entries},
    )


@pytest.mark.slow
def test_derivatives_of_the_far_field_are_central_differences():
    """By a plane wave from each direction: along an axis and at an angle, along theta and phi."""
    values, frequencies = {"length": 9.3e-3, "permittivity": 2.2}, np.linspace(9e9, 12e9, 4)
    directions = [("pattern", 0, 0, "theta"), ("pattern", "35 deg", "50 deg", "phi")]
    found = sensitivities(strips, values, frequencies, threads=1, far_fields=directions)
    assert found.far_field_derivative.dims == ("parameter", "toward", "frequency", "source")
    towards = towards_of(strips(), directions)
    for name, step in (("length", 4e-6), ("permittivity", 1e-3)):
        _, pairs = alike(strips, varied(values, {name: step}, strips))
        models = [
            each.replace(monitors=recorded_at(each, towards, frequencies)) for each in pairs[list(values).index(name)]
        ]
        more, less = (seen_towards(each.run(threads=1), towards, frequencies)[0] for each in models)
        for number in range(2):
            slopes = found.far_field_derivative.sel(parameter=name)[number].values
            assert agreement(slopes, (more - less)[number] / (2 * step)) < 0.01


def test_far_fields_that_have_no_derivative_are_refused_in_words():
    narrow = nf.FarField("narrow", ["10 GHz"], (-4e-3, -4e-3, -4e-3), (4e-3, 4e-3, 4e-3))
    model = strips(monitors=[narrow, nf.Probe("tip", (3.5e-3, 0, 2e-3))])
    for given, said in (
        (("tip", 0, 0, "theta"), "'tip' is no monitor FarField; there is: narrow"),
        (("narrow", 0, 0, "x"), "give .*theta or phi"),
        (("narrow", "1 GHz", 0, "phi"), "GHz"),
    ):
        with pytest.raises(nf.ModelError, match=said):
            towards_of(model, [given])
    half = model.replace(symmetry=nf.Symmetry(y="magnetic"))
    with pytest.raises(nf.ModelError, match=r"far_fields: .* planes of symmetry"):
        sensitivities(lambda length: half, {"length": 9.3e-3}, [10e9], far_fields=[("narrow", 0, 0, "phi")])
    with pytest.raises(nf.ModelError, match="outside the surface of 'narrow'"):
        ways = [("narrow", 0, 0, "theta")]
        sensitivities(lambda length: strips(length, monitors=[narrow]), {"length": 9.3e-3}, [10e9], far_fields=ways)


def test_other_monitors_than_probes_are_refused_by_name():
    model = patch(monitors=[nf.Probe("tip", (3e-3, 0, 2e-3)), nf.FarField("pattern", ["9 GHz"])])
    for name, said in (("pattern", "'pattern' is a far-field monitor"), ("top", "'top' is not there"), ("top", "tip")):
        with pytest.raises(nf.ModelError, match=said):
            probes_of(model, [name])
    half = model.model_copy(update={"symmetry": nf.Symmetry(x="magnetic")})
    with pytest.raises(nf.ModelError, match=r"probes: .* planes of symmetry"):
        sensitivities(lambda length: half, {"length": 9.3e-3}, [9e9], probes=["tip"])


def iris(opening=10.2e-3, symmetric=False):
    across, high = 22.86e-3, 10.16e-3
    walls = [(0, (across - opening) / 2), ((across + opening) / 2, across)]
    ports = [("in", -9e-3, "+z"), ("out", 9e-3, "-z")]
    return nf.Simulation(
        nf.Grid(*(np.linspace(*ends).tolist() for ends in ((0, across, 15), (0, high, 3), (-18e-3, 18e-3, 25)))),
        structures=[nf.Structure(nf.Box((low, 0, -2e-3), (end, high, 2e-3)), nf.PEC) for low, end in walls],
        boundaries=nf.Boundaries(all=nf.PEC, z=nf.CPML(5)),
        ports=[nf.WaveguidePort(name, (0, 0, z), (across, high, z), way, "TE10") for name, z, way in ports],
        waveform=nf.ModulatedGaussian("10 GHz", "3 GHz"),
        symmetry=nf.Symmetry(x="magnetic") if symmetric else nf.Symmetry(),
        metal="conformal",
        decay=1e-6,
    )


@pytest.mark.parametrize("symmetric", [pytest.param(False, marks=pytest.mark.slow), True])
def test_derivatives_between_guides_are_central_differences(symmetric):
    values, frequencies = {"opening": 10.2e-3}, np.linspace(8.5e9, 12e9, 5)

    def make(opening):
        return iris(opening, symmetric)

    found = sensitivities(make, values, frequencies, threads=1)
    more, less = differences(make, values, "opening", 1e-5, frequencies)
    assert found.derivative.dims == ("parameter", "frequency", "to", "source")
    assert agreement(found.derivative.values[0], 0.5 * (more + less)) < 0.01


def test_the_dip_of_a_resonator_moves_as_its_derivative_says():
    """S = 1 - 1.8/(1 + j q (f - f0(p))): the dip is f0 itself, whose slope is given."""
    f, slope, quality = np.linspace(0.9e9, 1.1e9, 201), 3e8, 4e-8
    inner = 1 + 1j * quality * (f - 1.0003e9)
    waves, change = 1 - 1.8 / inner, -1.8 / inner**2 * 1j * quality * slope
    dims = ("frequency", "to", "source")
    found = xarray.Dataset(
        {
            "sparameters": (dims, waves.reshape(-1, 1, 1)),
            "derivative": (("parameter", *dims), change.reshape(1, -1, 1, 1)),
            "value": ("parameter", [0.5]),
            "unit": ("parameter", ["m"]),
        },
        {"parameter": ["p"], "frequency": f, "to": ["a"], "source": ["a"]},
    )
    assert dip_slope(found, found.derivative[0], "a", 1.0003e9) == pytest.approx(
        slope, rel=1.6e-3
    )  # splines of 1 MHz: (step q)^2
    assert np.isnan(dip_slope(found.isel(frequency=slice(0, None, 20)), found.derivative[0, ::20], "a", 1.0e9))
    (row,) = tolerances(found)
    assert row.shift == pytest.approx(0.005 * slope, rel=1.6e-3)
    assert row.dip == pytest.approx(1.0003e9, rel=1e-6)


def guide(permittivity):
    """The iris' guide, filled on both sides of its ports."""
    model = iris()
    filling = nf.Structure(nf.Box((0, 0, -1), (1, 1, 1)), nf.Medium(permittivity))
    return model.model_copy(update={"structures": (filling, *model.structures)})


WATER = nf.Medium(2.0, poles=[nf.Debye(10.0, 1e-11)])


def test_an_automatic_grid_stays_on_both_sides_where_one_has_other_cells():
    """A derivative between a grid that went along and one that stayed would be that of the grids."""

    def make(radius):
        block = nf.Box((1e-3 - radius, -radius, 1.5e-3), (1e-3 + radius, radius, 5e-3))
        sheet = nf.Sheet((-5e-3, -5e-3, 1.5e-3), (5e-3, 5e-3, 1.5e-3))
        return nf.Simulation(
            nf.AutoGrid(10, "14 GHz", (-15e-3, -15e-3, 0), (15e-3, 15e-3, 12e-3)),
            [nf.Structure(sheet, nf.PEC), nf.Structure(block, nf.Medium(6.0))],
            nf.Boundaries(all=nf.CPML(6), z_low=nf.PEC),
            ports=[nf.LumpedPort("feed", (0, -3e-3, 0), (0, -3e-3, 1.5e-3), "z")],
        )

    radii = np.linspace(2.1e-3, 2.4e-3, 61)
    cells = [make(radius)._setup().grid.cells for radius in radii]
    change = next(n for n in range(1, 60) if cells[n] == cells[n + 1] != cells[n - 1])
    model, ((more, less),) = alike(
        make, varied({"radius": float(radii[change])}, {"radius": float(radii[1] - radii[0])}, make)
    )
    assert more.grid == less.grid == model.grid


def test_large_models_are_asked_at_fewer_frequencies_unless_some_are_given():
    model = Discretization(patch())
    assert len(_frequencies(None, model, 1000)) == 101
    assert len(_frequencies(None, model, 10**6)) == 40
    assert len(_frequencies(None, model, 10**9)) == 11
    assert list(_frequencies(["9 GHz"], model, 10**9)) == [9e9]


@pytest.mark.parametrize(
    ("make", "values", "said"),
    [
        (patch, {"port": -1e-3}, "changes ports"),
        (lambda length: patch(length, metal="staircase"), {"length": 9.3e-3}, "changes nothing on the grid"),
        (patch, {"shift": 0.0}, "is 0: give its step"),
        (lambda length: patch(length, medium=WATER), {"length": 9.3e-3}, "dispersive"),
        (patch, {"length": "long"}, "parameter length"),
        (patch, ["length"], "need their values"),
        (guide, {"permittivity": 1.1}, "at the plane of port 'in'"),
    ],
)
def test_what_has_no_derivative_is_refused_in_words(make, values, said):
    with pytest.raises(nf.ModelError, match=said):
        sensitivities(make, values, frequencies=[9e9], threads=1)


def test_the_command_says_which_tolerance_matters_most(tmp_path, capsys):
    model, file = tmp_path / "block.toml", tmp_path / "s.h5"
    text = patch(decay=None, steps=300, precision="single").to_toml()
    text = text.replace("permittivity = 2.2", 'permittivity = "= permittivity"')
    model.write_text("parameters = { permittivity = 2.2 }\n" + text)
    assert main(["sensitivities", str(model), "--at", "8GHz,9GHz,10GHz", "--output", str(file), "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["parameters"]
    assert row["name"] == "permittivity"
    assert row["largest_change"] > 0
    assert nf.open_sweep(file).derivative.shape == (1, 3, 1, 1)
    assert listed("8GHz:10GHz:3") == ["8 GHz", "9 GHz", "10 GHz"]
    assert main(["sensitivities", str(model), "--at", "8GHz:10"]) == 2
    assert "such as --at 5GHz:6GHz:21" in capsys.readouterr().err
    assert main(["sensitivities", str(model), "--of", "lenght"]) == 2
    assert "it has permittivity" in capsys.readouterr().err


def test_sensitivities_at_the_parameters_of_a_run_become_a_section_of_its_report(tmp_path):
    names = ("sparameters", "derivative", "value", "unit", "step")
    dims = (("frequency", "to", "source"), ("parameter", "frequency", "to", "source"), *[("parameter",)] * 3)
    waves = (np.ones((3, 1, 1)), np.full((2, 3, 1, 1), 4.0), [9.3e-3, 2.2], ["m", ""], [1e-6, 1e-5])
    axes = {"parameter": ["length", "permittivity"], "frequency": [8e9, 9e9, 10e9], "to": ["a"], "source": ["a"]}
    at = {"parameters": json.dumps({"length": "9.3 mm", "permittivity": "2.2", "height": "1 mm"})}
    found = xarray.Dataset({name: each for name, each in zip(names, zip(dims, waves))}, axes, at)
    save_sweep(found, tmp_path / "sensitivities.h5")
    remarks = []
    own = {"length": "0.0093 m", "permittivity": 2.2, "height": "1 mm"}
    run = SimpleNamespace(parameters=own)
    others = [own | {"length": "9.4 mm"}, own | {"height": "2 mm"}, own | {"width": 1.0}]
    ((name, heading, draw, _),) = tolerance_recipes(run, [tmp_path / "sensitivities.h5"], remarks)
    assert (name, heading, remarks) == ("sensitivities", "Which tolerance matters most", [])
    texts = [text.get_text() for text in draw().axes[0].texts]
    assert "0.088" in texts  # 1 % of 2.2, times 4
    nameless = found.assign_attrs(parameters="{}")  # of a function whose models name no parameters
    save_sweep(nameless, tmp_path / "nameless.h5")
    assert not list(tolerance_recipes(SimpleNamespace(parameters={}), [tmp_path / "nameless.h5"], remarks))
    assert "other parameters" in remarks.pop()
    for other in others:  # of any parameter, also one that was not varied
        run = SimpleNamespace(parameters=other)
        assert not list(tolerance_recipes(run, [tmp_path / "sensitivities.h5"], remarks))
        assert "other parameters" in remarks.pop()


@pytest.mark.slow
def test_a_file_beside_a_result_becomes_a_section_of_its_report(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = patch(decay=None, steps=300, precision="single").to_toml()
    text = text.replace("permittivity = 2.2", 'permittivity = "= permittivity"')
    Path("m.toml").write_text("parameters = { permittivity = 2.2 }\n" + text)
    assert main(["run", "m.toml", "--no-report", "--threads", "1"]) == 0
    tolerance = ["sensitivities", "m.toml", "--at", "8GHz:10GHz:21", "--output"]
    assert main([*tolerance, "out/m/sensitivities.h5"]) == 0
    assert main([*tolerance, "out/m/sensitivities-other.h5", "--set", "permittivity=2.3"]) == 0
    capsys.readouterr()
    assert main(["show", "out/m"]) == 0
    page = Path("out/m/report.html").read_text()
    assert page.count("Which tolerance matters most") >= 1
    assert "sensitivities-other.h5 holds sensitivities at other parameters" in page


def test_a_file_that_does_not_say_its_parameters_is_left_out_and_said_so(tmp_path):
    save_sweep(xarray.Dataset({"derivative": ("frequency", [1.0])}), tmp_path / "old.h5")
    remarks = []
    assert not list(tolerance_recipes(None, [tmp_path / "old.h5"], remarks))
    assert remarks == ["old.h5 does not say at which parameters its sensitivities are; make it again."]


def test_frequencies_that_no_pulse_holds_have_no_derivatives():
    with pytest.raises(nf.ModelError, match=r"port 'feed' holds too little at 800 GHz to 900 GHz; its band"):
        sensitivities(patch, {"length": 9.3e-3}, frequencies=[8e11, 9e11], threads=1)
    found = sensitivities(patch, {"length": 9.3e-3}, frequencies=[9e9, 9e11], threads=1)
    assert np.isfinite(found.derivative.values[0, :, 0, 0]).tolist() == [True, False]
