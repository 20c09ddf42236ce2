"""Studies of convergence: the power law, the words of quantities, finer grids, and true values within uncertainties."""

from __future__ import annotations

import json
import math
from types import SimpleNamespace

import numpy as np
import pytest
import xarray
from cases import slow_after

import nearfield as nf
from nearfield.entry.errors import NoRoom
from nearfield.entry.wording import uncertain
from nearfield.studies.extrapolation import extrapolated
from nearfield.studies.quantities import quantity_of
from nearfield.studies.refinement import refined
from nearfield.studies.words import ends_as_typed

LIGHT = 299792458.0


def cavity(grid, lower=(0.0, 0.0, 0.0), size=20e-3, steps=1500):
    """A cube of metal walls, driven off its middle; TM110 rings at c/(sqrt(2) size)."""
    place = tuple(low + part * size for low, part in zip(lower, (0.3, 0.3, 0.5)))
    return nf.Simulation(
        grid=grid,
        boundaries=nf.Boundaries(all=nf.PEC),
        steps=steps,
        sources=[nf.PointCurrent(place, "z", nf.Gaussian("15 GHz"))],
        monitors=[nf.Probe("tip", place)],
    )


@pytest.mark.parametrize("order", [1.0, 1.5, 2.0])
@pytest.mark.parametrize("sizes", [(1.0, 0.5, 0.25), (1.0, 0.5, 1 / 3), (3.0, 2.0, 1.1)])
def test_a_power_law_is_extrapolated_exactly(order, sizes):
    found = extrapolated(sizes, [7.0 + 0.3 * size**order for size in sizes])
    assert found.order == pytest.approx(order, rel=1e-9)
    assert found.value == pytest.approx(7.0, abs=1e-9)
    assert found.uncertainty >= abs(7.0 - (7.0 + 0.3 * sizes[-1] ** order))


def test_values_that_go_up_and_down_keep_the_finest_and_three_times_their_spread():
    found = extrapolated((1.0, 0.5, 0.25), (1.0, 1.4, 1.2))
    assert (found.value, found.uncertainty) == pytest.approx((1.2, 1.2))
    assert found.order is None


# Errors of the lowest mode of round cavities, radii of 6.2 to 9.3 cells, cells cut in 1, 2 and 3 parts, in 1e-4.
CHANCE = [(-23.36, -7.54, -7.07), (-19.02, -5.08, -3.96), (-14.02, -4.84, -3.64), (-16.20, -5.58, -3.89)]


@pytest.mark.parametrize("errors", CHANCE)
def test_grids_that_agree_by_chance_do_not_make_the_uncertainty_small(errors):
    found = extrapolated((1.0, 1 / 2, 1 / 3), errors)
    assert found.order > 2.1
    assert abs(found.value) < found.uncertainty < 12.0


def test_two_grids_show_no_order_and_hold_all_orders_from_one_on():
    for order in (1.0, 1.5, 2.0, 3.0):
        found = extrapolated((1.0, 0.5), [5.0 + size**order for size in (1.0, 0.5)])
        assert found.order is None
        assert abs(found.value - 5.0) <= found.uncertainty * (1 + 1e-12)


# Errors of S21 (dB) of dielectric slabs in a guide of 18 x 8 cells, and of cells cut in two: their sign changes.
OVERSHOT = [(0.0053, -0.0090), (-0.0596, 0.0072), (-0.0160, 0.0252), (0.0156, -0.0014), (0.0019, -0.0032)]


@pytest.mark.parametrize("errors", OVERSHOT)
def test_two_grids_hold_values_that_their_errors_have_passed(errors):
    assert abs(extrapolated((1.0, 0.5), errors).value) < extrapolated((1.0, 0.5), errors).uncertainty


def test_errors_of_two_orders_that_cancel_are_held_by_three_grids():
    """h - 0.6 h^2: two values agree at 1 and 2/3, and both are far from that at 0."""
    values = [2.0 + size - 0.6 * size**2 for size in (1.0, 2 / 3, 0.58)]
    found = extrapolated((1.0, 2 / 3, 0.58), values)
    assert abs(found.value - 2.0) <= found.uncertainty * (1 + 1e-9)
    shrunk = [2.0 + 0.3 * size - size**2 for size in (1.0, 0.5, 1 / 3)]
    found = extrapolated((1.0, 0.5, 1 / 3), shrunk)
    assert found.order > 2.1 and abs(found.value - 2.0) <= found.uncertainty * (1 + 1e-9)


def test_equal_values_have_no_uncertainty_but_rounding():
    found = extrapolated((1.0, 0.5), (3.0, 3.0))
    assert (found.value, found.order) == (3.0, None)
    assert found.uncertainty < 1e-11


def test_uncertainties_have_two_digits():
    assert uncertain(10.5992625e9, 2.09e6, "Hz") == "10.5993 +- 0.0021 GHz"
    assert uncertain(-12.345, 0.5, "dB") == "-12.35 +- 0.50 dB"
    assert uncertain(5e9, 30e9, "Hz") == "5 +- 30 GHz"


@pytest.mark.parametrize(
    "grid",
    [
        nf.Grid.uniform("2 mm", (10, 10, 10)),
        nf.Grid(x=[0, 1e-3, 3e-3], y=[0, 2e-3], z=[0, 2e-3, 3e-3]),
        nf.GradedGrid(*[nf.Grading([0, "20 mm"], ["1 mm", "2 mm"])] * 3),
    ],
)
def test_cells_cut_in_three_keep_the_space_and_nearly_every_line(grid):
    coarse = grid.resolve()
    fine = refined(cavity(grid), 3).grid.resolve()
    assert fine.cells == tuple(3 * count for count in coarse.cells)
    for before, after in zip(coarse.lines, fine.lines):
        slack = 0.2 * np.diff(before).max() if grid.kind == "graded" else 1e-12 * np.ptp(before)
        np.testing.assert_allclose(after[::3], before, atol=slack)


def test_an_absorber_keeps_its_depth_when_cells_are_cut():
    model = nf.Simulation(grid=nf.Grid.uniform("1 mm", (40, 40, 40)), boundaries=nf.Boundaries(z_low=nf.PEC), steps=10)
    finer = refined(model, 2)
    assert finer.boundaries.cpml_cells(0) == (20, 20)
    assert finer.boundaries.cpml_cells(2) == (0, 20)
    assert finer.steps == 20


def test_parts_that_are_not_whole_are_refused_where_lines_are_given():
    with pytest.raises(nf.ModelError, match=r"refinement 1\.5.*2 or 3"):
        refined(cavity(nf.Grid.uniform("2 mm", (10, 10, 10))), 1.5)


@pytest.mark.parametrize("words", ["S11", "S11 dip at 5 GHz", "", "S21 at five", "gain"])
def test_unknown_quantities_are_refused_with_the_forms_there_are(words):
    with pytest.raises(nf.ModelError, match="quantity"):
        quantity_of(words)


@pytest.mark.parametrize(
    "words",
    [
        "tip resonance between 10 and 11 GHz",
        "tip resonance between 10e9 and 11e9",
        "tip resonance between 10GHz and 11GHz",
    ],
)
def test_the_unit_of_a_band_is_that_of_both_its_ends(words, monkeypatch):
    asked = []

    def noted(result, band, probe):
        asked.append(band)
        raise nf.ModelError("asked")

    monkeypatch.setattr("nearfield.studies.quantities.resonances", noted)
    with pytest.raises(nf.ModelError, match="asked"):
        quantity_of(words).read(None)
    assert asked == [(10e9, 11e9)]


def test_a_band_of_the_command_line_shares_its_unit_too():
    assert ends_as_typed("0", "3 GHz") == ("0 GHz", "3 GHz")
    assert ends_as_typed("2e9", "3e9") == (2e9, 3e9)
    assert ends_as_typed("2 MHz", "3GHz") == ("2 MHz", "3GHz")


def test_a_band_that_ends_below_its_beginning_is_refused_with_its_ends():
    with pytest.raises(nf.ModelError, match="ends below its beginning, 11 GHz to 10 GHz"):
        quantity_of("S11 dip between 11 and 10 GHz")


def test_ports_from_ten_on_have_a_name_in_quantities():
    ports = [nf.LumpedPort(f"p{n}", (n * 1e-3, 4e-3, 0), (n * 1e-3, 4e-3, 1e-3), "z") for n in range(2, 12)]
    model = cavity(nf.Grid.uniform("1 mm", (14, 8, 8)), size=8e-3).replace(
        sources=(), ports=ports, waveform=nf.Gaussian("15 GHz")
    )
    quantity_of("S10,1 dB at 5 GHz").refuse(model)
    with pytest.raises(nf.ModelError, match="there is 10 ports"):
        quantity_of("S11,1 dB at 5 GHz").refuse(model)


@pytest.mark.parametrize("factor", [float("nan"), float("inf")])
def test_refinements_that_are_no_numbers_are_refused(factor):
    with pytest.raises(nf.ModelError, match=r"give a factor between 0\.5 and 100"):
        nf.converge(cavity(nf.Grid.uniform("2 mm", (10, 10, 10))), "S11 dip", refinements=(1, factor))


def test_one_grid_is_refused():
    with pytest.raises(nf.ModelError, match="two or more"):
        nf.converge(cavity(nf.Grid.uniform("2 mm", (10, 10, 10))), "tip resonance between 10 GHz and 11 GHz", [1])


@pytest.mark.parametrize("size", slow_after(1, [20e-3, 31e-3]))
def test_the_true_resonance_of_a_cavity_lies_within_the_uncertainty(size):
    low, high = 0.9 * LIGHT / math.sqrt(2) / size, 1.1 * LIGHT / math.sqrt(2) / size
    words = f"tip resonance between {low:.6g} and {high:.6g}"
    found = nf.converge(cavity(nf.Grid.uniform(size / 10, (10, 10, 10)), size=size), words, (1, 2, 3))
    assert found.order == pytest.approx(2.0, abs=0.1)  # Yee's scheme on an even grid
    assert abs(found.value - LIGHT / math.sqrt(2) / size) < found.uncertainty < 1e-3 * found.value


@pytest.mark.slow
def test_a_callable_gives_the_value_and_its_name():
    def ringing(result):
        modes = nf.resonances(result, (10e9, 11e9), probe="tip")
        return float(modes.frequency.values[np.argmax(np.abs(modes.amplitude.values))])

    found = nf.converge(cavity(nf.Grid.uniform("2 mm", (10, 10, 10))), ringing, (1, 2))
    assert found.quantity == "ringing"
    assert abs(found.value - LIGHT / math.sqrt(2) / 20e-3) < found.uncertainty


def line(cells=(44, 12, 6)):
    """A strip over ground between two lumped ports, short and lossless."""
    return nf.Simulation(
        grid=nf.Grid.uniform("1 mm", cells),
        boundaries=nf.Boundaries(all=nf.PEC),
        structures=[nf.Structure(nf.Sheet((2e-3, 4e-3, 2e-3), (42e-3, 8e-3, 2e-3)), nf.PEC)],
        ports=[
            nf.LumpedPort("in", (2e-3, 6e-3, 0), (2e-3, 6e-3, 2e-3), "z", 50),
            nf.LumpedPort("out", (42e-3, 6e-3, 0), (42e-3, 6e-3, 2e-3), "z", 50),
        ],
        waveform=nf.Gaussian("4 GHz"),
        steps=2500,
    )


def test_quantities_of_ports_agree_with_the_result():
    result = line().run()
    waves = result.sparameters_at(["2 GHz"]).values[0]
    assert quantity_of("S21 at 2 GHz").read(result) == pytest.approx(abs(waves[1, 0]))
    assert quantity_of("S21 dB at 2e9").read(result) == pytest.approx(20 * math.log10(abs(waves[1, 0])))
    impedance = 50 * np.linalg.solve(np.eye(2) - waves, np.eye(2) + waves)
    assert quantity_of("Z11 imag at 2 GHz").read(result) == pytest.approx(impedance[0, 0].imag)
    dip = quantity_of("S11 dip between 1 GHz and 4 GHz").read(result)
    level = np.abs(result.sparameters_at(dip * np.array([0.97, 1.0, 1.03])).values[:, 0, 0])
    assert level[1] == min(level)
    with pytest.raises(nf.ModelError, match="2 ports"):
        quantity_of("S31 at 2 GHz").read(result)


def guide_and_coax():
    """A guide with a waveguide port and a lumped one in it."""
    return nf.Simulation(
        nf.Grid.uniform("2 mm", (12, 6, 20)),
        boundaries=nf.Boundaries(all=nf.PEC, z_low=nf.CPML(4), z_high=nf.CPML(4)),
        ports=[
            nf.WaveguidePort("wave", (0, 0, 12e-3), (24e-3, 12e-3, 12e-3), "+z", ["TE10"]),
            nf.LumpedPort("feed", (12e-3, 0, 24e-3), (12e-3, 2e-3, 24e-3), "y"),
        ],
        waveform=nf.ModulatedGaussian("9 GHz", "4 GHz"),
        steps=500,
    )


def test_an_impedance_is_that_of_its_own_ports_whatever_the_others_waves_are():
    model = guide_and_coax()
    for words in ("Z11 real at 9 GHz", "Z21 imag at 9 GHz"):
        with pytest.raises(nf.ModelError, match="'wave' is that of a guide, whose waves have no impedance"):
            nf.converge(model, words, (1, 2))
    quantity_of("Z22 real at 9 GHz").refuse(model)
    ports, waves = ["wave", "feed"], np.array([[0.2, 0.4j], [0.4j, 0.3]])
    matrix = xarray.DataArray(waves[None], {"to": ports, "source": ports}, ("frequency", "to", "source"))
    known = {"wave": math.nan, "feed": 50.0}
    result = SimpleNamespace(sparameters=matrix, sparameters_at=lambda at: matrix, reference_impedances=known)
    ratio = np.linalg.solve(np.eye(2) - waves, np.eye(2) + waves)
    assert quantity_of("Z22 real at 9 GHz").read(result) == pytest.approx(50 * ratio[1, 1].real)


def values_by_size(found):
    """A quantity of the test: a number, or the error to raise, by the number of cells."""

    def value(result):
        answer = found[result.facts["cells"]]
        if isinstance(answer, Exception):
            raise answer
        return answer

    return value


def test_a_grid_on_which_a_quantity_fails_is_left_out_and_the_others_count():
    said = []
    fails = nf.ModelError("there is no dip")
    found = nf.converge(
        flux_model(), values_by_size({512: 1.0, 8 * 512: fails, 27 * 512: 1.1}), (1, 2, 3), 1, warn=said.append
    )
    assert [run.refinement for run in found.runs] == [1, 3] and abs(found.value - 1.1) < found.uncertainty
    assert said[-1] == found.warnings[-1] == "cells 2 times finer are left out: there is no dip"


def test_a_study_that_one_grid_is_left_of_says_what_that_gave():
    given = values_by_size({512: 1.5, 8 * 512: nf.ModelError("there is no dip")})
    with pytest.raises(nf.ModelError, match=r"there is no dip; cells 1 times finer gave 1\.5"):
        nf.converge(flux_model(), given, (1, 2), 1)


def test_a_study_that_diverges_keeps_what_was_recorded_and_a_full_disk_ends_it(monkeypatch):
    def run(model, threads, file):
        if np.prod(model.grid.resolve().cells) > 8 * 512:
            raise ends
        return model.run(threads=threads)

    monkeypatch.setattr("nearfield.studies.convergence.run_whole", run)
    found = values_by_size({512: 1.0, 8 * 512: 1.1})
    ends = nf.DivergedError("grew", "what was recorded")
    assert [run.refinement for run in nf.converge(flux_model(), found, (1, 2, 3), 1).runs] == [1, 2]
    with pytest.raises(nf.DivergedError) as raised:
        nf.converge(flux_model(), found, (1, 3), 1)
    assert raised.value.result == "what was recorded"
    for ends in (NoRoom("the disk is full"), nf.ModelError("locked")):
        with pytest.raises(type(ends), match=str(ends)):
            nf.converge(flux_model(), found, (1, 2, 3), 1)


@pytest.mark.parametrize("gives", [1j, np.complex64(1), "S11", [1.0, 2.0]])
def test_a_function_that_gives_no_real_number_is_refused(gives):
    with pytest.raises(nf.ModelError, match="give one real number"):
        quantity_of(lambda result: gives).read(None)


@pytest.mark.parametrize(
    ("quantity", "refinements", "said"),
    [("S11 dip", ("a", "b"), "refinements: given"), ("S11 dip", 3, "refinements: given 3"), (3, (1, 2), "quantity 3")],
)
def test_arguments_of_other_kinds_are_refused_in_words(quantity, refinements, said):
    with pytest.raises(nf.ModelError, match=said):
        nf.converge(cavity(nf.Grid.uniform("2 mm", (10, 10, 10))), quantity, refinements)


def test_the_command_prints_value_uncertainty_and_runs(tmp_path, capsys):
    from nearfield.cli import main

    model = tmp_path / "cavity.toml"
    model.write_text(cavity(nf.Grid.uniform("2 mm", (10, 10, 10))).to_toml())
    words = ["converge", str(model), "--quantity", "tip resonance between 10 GHz and 11 GHz", "--refine", "1,2"]
    assert main([*words, "--json", "--output", str(tmp_path / "runs")]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert {"quantity", "value", "uncertainty", "order", "runs", "warnings"} <= answer.keys()
    assert [run["refinement"] for run in answer["runs"]] == [1, 2]
    assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == ["refinement-1.h5", "refinement-2.h5"]
    assert main(words) == 0
    assert "cells of no size: 10.595 +- 0.011 GHz" in capsys.readouterr().out
    assert main([*words[:-1], "1,x"]) == 2


def test_the_command_says_what_check_does_of_the_coarsest_grid(tmp_path, capsys):
    from nearfield.cli import main

    far = nf.Structure(nf.Box((1, 1, 1), (2, 2, 2)), nf.Medium(2.0), name="far")
    box = cavity(nf.Grid.uniform("2 mm", (10, 10, 10))).replace(structures=[far])
    known = box.check().warnings
    assert any("'far' lies outside the grid" in warning for warning in known)
    model = tmp_path / "cavity.toml"
    model.write_text(box.to_toml())
    words = ["converge", str(model), "--quantity", "tip resonance between 9 GHz and 12 GHz", "--json"]
    assert main(words) == 0
    out, err = capsys.readouterr()
    assert tuple(json.loads(out)["warnings"]) == known
    lines = err.splitlines()
    assert lines[: len(known)] == [f"warning: {warning}" for warning in known]  # before the runs


def flux_model(size: int = 8, frequencies=("9.98 GHz", "12 GHz")) -> nf.Simulation:
    """An empty box with the flux out of its middle."""
    return nf.Simulation(
        nf.Grid.uniform(1e-3, (size, 8, 8)),
        boundaries=nf.Boundaries(all=nf.CPML(2)),
        sources=[nf.PointCurrent((4e-3, 4e-3, 4e-3), "z", nf.Gaussian("15 GHz"))],
        monitors=[nf.Flux("sum", (3e-3, 3e-3, 3e-3), (5e-3, 5e-3, 5e-3), frequencies)],
        steps=400,
    )


def test_the_only_frequency_within_a_percent_stands_for_that_asked_for_and_is_named(tmp_path):
    said = "taken at 9.98 GHz, which 'sum' has, within 1 %"
    found = nf.converge(flux_model(), "sum power at 10 GHz", (1, 2), threads=1)
    assert any(said in warning for warning in found.warnings)
    exact = nf.converge(flux_model(), "sum power at 9.98 GHz", (1, 2), threads=1)
    assert exact.value == found.value and not any("taken at" in warning for warning in exact.warnings)
    table = nf.sweep(flux_model, {"size": [8]}, None, tmp_path, ["sum power at 10 GHz"], threads=1)
    assert said in table.attrs["notes"] and said in nf.open_sweep(tmp_path).attrs["notes"]
    for frequencies in (["9.8 GHz"], ["9.98 GHz", "10.02 GHz"]):
        with pytest.raises(nf.ModelError, match="'sum' has"):
            nf.converge(flux_model(frequencies=frequencies), "sum power at 10 GHz", (1, 2))
