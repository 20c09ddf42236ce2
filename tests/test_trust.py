"""The trust report: each entry is good where the result is, and says so by number where it is not."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import nearfield as nf
from nearfield.analysis.guided_line import GuideLine
from nearfield.cli import main
from nearfield.discretization.discretization import Discretization
from nearfield.entry.constants import VACUUM_SPEED
from nearfield.grid.yee import YeeGrid
from nearfield.records.records import ExcitationRecord, RunRecord, Variable
from nearfield.results import Result
from nearfield.run import memory
from nearfield.trust.entries import Trust, judged
from nearfield.trust.model import model_trust

GRID = YeeGrid((np.linspace(0, 0.02, 21),) * 3)
KEYS = {"name", "verdict", "value", "limit", "text"}


def result_of(matrix, facts=None, status="done"):
    """A result with made-up S-parameters, (frequency, to, source), and facts."""
    names = np.array([f"p{number + 1}" for number in range(matrix.shape[1])])
    variables = {
        "sparameters": Variable(("frequency", "to", "source"), matrix.astype(complex)),
        "frequency": Variable(("frequency",), np.linspace(1e9, 2e9, len(matrix)), {"units": "Hz"}),
        "to": Variable(("to",), names),
        "source": Variable(("source",), names),
        "reference_impedance": Variable(("to",), np.full(names.size, 50.0)),
    }
    return Result(RunRecord("", GRID, {}, facts or {}, status, {}, variables))


def entry(result, start) -> Trust:
    """The one entry whose name begins so."""
    (found,) = [entry for entry in result.trust if entry.name.startswith(start)]
    return found


def line(ends=0.5, **changes):
    """A lossless strip over ground in a metal box, between two ports."""
    entries = {
        "grid": nf.Grid.uniform("1 mm", (24, 12, 6)),
        "boundaries": nf.Boundaries(all=nf.PEC),
        "structures": [nf.Structure(nf.Sheet((2e-3, 4e-3, 2e-3), (22e-3, 8e-3, 2e-3)), nf.PEC)],
        "ports": [
            nf.LumpedPort("in", (2e-3, 6e-3, 0), (2e-3, 6e-3, 2e-3), "z", 50),
            nf.LumpedPort("out", (22e-3, 6e-3, 0), (22e-3, 6e-3, 2e-3), "z", 50),
        ],
        "waveform": nf.Gaussian("4 GHz"),
    }
    return nf.Simulation(**entries | changes)


def test_numbers_past_the_limit_warn_and_far_past_it_are_bad():
    verdicts = [judged("n", value, 1.0, 2.0, "").verdict for value in (1.0, 1.5, 2.5, np.nan)]
    assert verdicts == ["good", "warn", "bad", "unknown"]
    verdicts = [judged("n", value, 2.0, 1.0, "", at_least=True).verdict for value in (2.0, 1.5, 0.5)]
    assert verdicts == ["good", "warn", "bad"]


@pytest.mark.parametrize(("level", "verdict"), [(1.0, "good"), (1.015, "warn"), (1.1, "bad"), (np.nan, "unknown")])
def test_power_out_beyond_power_in_is_not_passive(level, verdict):
    found = result_of(np.full((5, 1, 1), level))
    if verdict == "unknown":  # a port that was not driven has no entry, and none can pass for it
        assert not [entry for entry in found.trust if entry.name.startswith("passivity")]
    else:
        assert (entry(found, "passivity").verdict, entry(found, "passivity").value) == (verdict, pytest.approx(level))


def test_what_other_ports_send_back_is_no_power_that_a_model_makes():
    """S of one excitation errs by it, and passes 1 there; all waves together balance."""
    low, high = (0.0, 0.0), (18e-3, 3e-3)
    found = nf.Simulation(
        grid=nf.Grid.uniform((4.5e-3, 1e-3, 1e-3), (4, 3, 48)),
        boundaries=nf.Boundaries(all=nf.PEC, x=nf.PMC, z=nf.PMC),
        waveform=nf.Gaussian(5e9),
        ports=[
            nf.LumpedPort("a", (*low, 0.0), (*high, 0.0), "y"),
            nf.LumpedPort("b", (*low, 48e-3), (*high, 48e-3), "y"),
            nf.LumpedPort("c", (*low, 17e-3), (*high, 17e-3), "y", resistance=200.0, reference_impedance=75.0),
        ],
        excitations=["a"],
    ).run(threads=1)
    column = found.sparameters.sel(source="a").values
    assert np.nanmax(np.sqrt((np.abs(column) ** 2).sum(axis=1))) > 1.02
    assert entry(found, "passivity, a").verdict == "good" and entry(found, "power balance, a").verdict == "good"
    assert entry(found, "waves sent back").verdict == "bad"


@pytest.mark.parametrize(("difference", "verdict"), [(0.0, "good"), (0.015, "warn"), (0.3, "bad")])
def test_unequal_transmission_is_not_reciprocal(difference, verdict):
    matrix = np.full((5, 2, 2), 0.3)
    matrix[2, 0, 1] += difference
    found = entry(result_of(matrix), "reciprocity")
    assert (found.verdict, found.value) == (verdict, pytest.approx(difference))


def test_waves_below_the_cut_off_of_their_mode_are_no_power():
    """S to a mode that decays is a ratio of amplitudes: it may exceed 1, and differ from the way back."""
    matrix = np.zeros((5, 2, 2))
    matrix[:, 0, 0], matrix[:, 1, 0], matrix[:, 0, 1] = 0.6, 0.8, 0.8
    matrix[:, 1, 1] = 0.6
    matrix[:2, 0, 0], matrix[:2, 1, 0], matrix[:2, 0, 1], matrix[:2, 1, 1] = 1.0, 3.0, 0.5, 2.0
    found = result_of(matrix, {"lossless": True})  # at 1 to 2 GHz
    lines = [GuideLine("TE", 2 * np.pi * f / VACUUM_SPEED, 1e-3, 1e-12, 1.0, 1.0) for f in (0.5e9, 1.3e9)]
    ports = {
        f"p{n}": {"voltage": Variable(("time",), np.zeros(1), {"mode": "TE", **vars(line)})}
        for n, line in enumerate(lines, start=1)
    }
    found.record.excitations |= {name: ExcitationRecord(ports=ports) for name in ports}
    for name in ("passivity, p1", "passivity, p2", "reciprocity", "power balance, p1", "power balance, p2"):
        assert entry(found, name).verdict == "good", name
    higher = {"voltage": replace(ports["p2"]["voltage"], attributes={"mode": "TE", **vars(lines[1]), "cutoff": 80.0})}
    found.record.excitations |= {name: ExcitationRecord(ports=ports | {"p2": higher}) for name in ports}
    assert not [each for each in found.trust if "p2 driven" in each.name]  # below its cut-off throughout


def test_power_that_a_lossless_model_loses_is_a_share():
    matrix = np.zeros((5, 2, 2))
    matrix[:, 0, 1] = matrix[:, 1, 0] = np.sqrt(0.9)
    assert entry(result_of(matrix, {"lossless": True}), "power balance, p1").value == pytest.approx(10.0)
    assert entry(result_of(matrix, {"lossless": True}), "power balance, p1").verdict == "bad"
    assert not [found for found in result_of(matrix).trust if found.name.startswith("power")]


@pytest.mark.parametrize(("status", "verdict"), [("done", "good"), ("interrupted", "warn"), ("diverged", "bad")])
def test_the_end_of_the_run_counts(status, verdict):
    assert entry(result_of(np.full((5, 1, 1), 0.5), status=status), "end").verdict == verdict


def test_the_worst_comes_first_and_results_without_facts_have_what_their_record_allows():
    verdicts = [found.verdict for found in result_of(np.full((5, 1, 1), 1.5)).trust]
    assert verdicts == ["bad", "good"]


def test_a_lossless_line_is_good_throughout():
    result = line(metal="conformal").run()
    assert {found.verdict for found in result.trust} == {"good"}
    assert entry(result, "power balance, in").limit == 2.0
    assert entry(result, "energy left, in").value < -59.0  # ended by decay, to 1e-6


def test_a_run_cut_short_says_what_it_left():
    result = line(steps=150).run()
    ratio = result.facts["runs"]["in"]["energy_ratio"]
    found = entry(result, "energy left, in")
    assert found.verdict != "good"
    assert found.value == pytest.approx(10 * np.log10(ratio))


@pytest.mark.parametrize(("permittivity", "verdict"), [(1.0, "good"), (30.0, "warn"), (60.0, "bad")])
def test_cells_per_wavelength_are_those_of_the_worst_medium(permittivity, verdict):
    block = nf.Structure(nf.Box((8e-3, 4e-3, 3e-3), (16e-3, 8e-3, 5e-3)), nf.Medium(permittivity, name="block"))
    found = entry(line(structures=[block], steps=10).run(), "cells per wavelength")
    assert found.value == pytest.approx(299792458.0 / 4e9 / np.sqrt(permittivity) / 1e-3, rel=1e-6)
    assert found.verdict == verdict


def test_cells_per_skin_depth_of_a_conductor_that_fields_enter():
    block = nf.Structure(nf.Box((8e-3, 4e-3, 3e-3), (16e-3, 8e-3, 5e-3)), nf.Medium(1, conductivity=100, name="block"))
    found = entry(line(structures=[block], steps=10).run(), "cells per skin depth")
    depth = 1 / np.sqrt(np.pi * 4e9 * 4e-7 * np.pi * 100)  # 0.8 mm, of a good conductor
    assert found.value == pytest.approx(depth / 1e-3, rel=0.01)  # conduction over displacement current is 450
    assert (found.verdict, "block" in found.text) == ("bad", True)
    assert any("0.8 cells per skin depth in block" in text for text in warnings_of(block))


def warnings_of(block, grid=None):
    model = line(structures=[block], steps=10)
    return (model.model_copy(update={"grid": grid}) if grid else model).check().warnings


def test_check_warns_of_skins_below_a_cell_alone():
    """Across their surfaces: fine cells along z are enough for a layer through the grid, and for films no skin is."""
    saline = nf.Medium(1, conductivity=100, name="saline")
    layer = nf.Structure(nf.Box((0, 0, 0), (24e-3, 12e-3, 2e-3)), saline)
    fine = nf.Grid(x=np.arange(25) * 1e-3, y=np.arange(13) * 1e-3, z=np.arange(31) * 2e-4)
    film = nf.Structure(nf.Box((8e-3, 4e-3, 4e-3), (16e-3, 8e-3, 4.3e-3)), saline)
    assert any("skin depth" in text for text in warnings_of(layer))
    assert not any("skin depth" in text for text in warnings_of(layer, fine))
    assert not any("skin depth" in text for text in warnings_of(film))


def test_sums_that_take_every_few_steps_alias_less_than_their_limit():
    monitors = [nf.FieldDFT("plane", (0, 0, 1e-3), (20e-3, 10e-3, 1e-3), ["1 GHz"])]
    found = entry(line(monitors=monitors, steps=10).run(), "aliasing")
    assert found.verdict == "good"
    assert found.value < -60


def test_each_running_sum_is_judged_at_its_own_sampling_rate():
    """A second monitor of higher frequencies samples more often, and says nothing of the first."""
    low = nf.FieldDFT("low", (0, 0, 1e-3), (20e-3, 10e-3, 1e-3), ["1 GHz"])
    high = nf.FieldDFT("high", (0, 0, 1e-3), (20e-3, 10e-3, 1e-3), ["400 GHz"])

    sudden = nf.Samples((0.0, 1e-10, 2e-10, 2.01e-10), (0.0, 1.0, 1.0, 0.0))  # with much at high frequencies

    def level(*monitors):
        found = model_trust(Discretization(line(monitors=monitors, waveform=sudden, steps=10, time_step=2e-13)))
        return next(each.value for each in found if each.name.startswith("aliasing"))

    assert level(low, high) == pytest.approx(max(level(low), level(high)), abs=0.1)
    assert level(low) > level(high) + 1.0


def test_both_commands_hold_the_report(tmp_path, capsys):
    from nearfield.cli import main

    model = tmp_path / "line.toml"
    model.write_text(line(steps=150).to_toml())
    assert main(["run", str(model), "--output", str(tmp_path / "out"), "--json"]) == 0
    ran = json.loads(capsys.readouterr().out)["trust"]
    assert main(["show", str(tmp_path / "out"), "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)["trust"]
    assert ran == shown
    assert all(set(each) >= KEYS and each["verdict"] in ("good", "warn", "bad", "unknown") for each in ran)
    assert main(["show", str(tmp_path / "out")]) == 0
    text = capsys.readouterr().out
    assert "trust: " in text
    assert "energy left, in" in text
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "energy left, in" in page


def entry_of(entries, name) -> Trust:
    (found,) = [each for each in entries if each.name == name]
    return found


@pytest.mark.parametrize(("off", "cells", "verdict"), [(0.0, 0, "good"), (0.3, 1 / 30, "good"), (0.1, 7 / 30, "warn")])
def test_metal_that_the_grid_moves_counts_by_its_distance_in_cells(off, cells, verdict):
    """An edge of thin metal acts a third of a cell past its line; what lies on a line is not moved."""
    plate = nf.Structure(nf.Sheet((5e-3, 4e-3, 4e-3), (15e-3, (8 + off) * 1e-3, 4e-3)), nf.PEC, name="plate")
    found = entry_of(model_trust(Discretization(line(structures=[plate], metal="staircase"))), "moved to grid lines")
    assert (found.value, found.verdict) == (pytest.approx(cells, abs=1e-9), verdict)


@pytest.mark.parametrize(
    ("off", "wider", "verdict"), [(0.0, 2 / 3, "warn"), (1 / 3, 1 / 3, "warn"), (-0.2, 13 / 15, "bad")]
)
def test_sheets_on_whole_edges_say_by_how_much_they_act_wider(off, wider, verdict):
    """A strip four cells wide acts a third of a cell wider on each side than its lines; followed rims have no entry."""
    strip = nf.Structure(nf.Sheet((2e-3, 4e-3, 2e-3), (22e-3, (8 + off) * 1e-3, 2e-3)), nf.PEC, name="strip")
    found = entry_of(model_trust(Discretization(line(structures=[strip], metal="staircase"))), "rims of sheets")
    assert (found.value, found.verdict) == (pytest.approx(100 * wider / (4 + off)), verdict)
    assert "strip" in found.text and "along y" in found.text
    followed = model_trust(Discretization(line(structures=[strip], metal="conformal")))
    assert not [entry for entry in followed if entry.name == "rims of sheets"]


@pytest.mark.parametrize(
    ("lower", "upper", "shortest", "corners"),
    [((5, 4, 2), (12, 8, 4), 2, 8), ((5, 4, 0), (12, 8, 5), 4, 4), ((5.4, 4.4, 1.4), (12.4, 8.4, 4.4), 3, 8)],
)
def test_corners_of_solids_say_how_short_their_edges_are(lower, upper, shortest, corners):
    """Blocks in the open, and a post on the floor; what goes from wall to wall has edges alone."""
    block = nf.Structure(nf.Box([1e-3 * q for q in lower], [1e-3 * q for q in upper]), nf.PEC)
    walls = {"boundaries": nf.Boundaries(nf.PEC)}
    found = entry_of(model_trust(Discretization(line(structures=[block], **walls))), "corners of solids")
    assert (found.value, found.verdict) == (shortest, "warn") and f"{corners} corners" in found.text
    bar = nf.Structure(nf.Box((5e-3, 4e-3, -1), (12e-3, 8e-3, 1)), nf.PEC)
    entries = model_trust(Discretization(line(structures=[bar], **walls)))
    assert not [entry for entry in entries if entry.name == "corners of solids"]


def test_corners_over_a_periodic_face_or_a_mirror_are_those_of_the_whole_block():
    def found(low, **faces):
        block = nf.Structure(nf.Box((low * 1e-3, 4e-3, 2e-3), ((low + 9) * 1e-3, 8e-3, 5e-3)), nf.PEC)
        metal = Discretization(line(structures=[block], ports=[], steps=1, boundaries=nf.Boundaries(nf.PEC, **faces)))
        return sorted(metal.coefficients.metal.vertices)

    assert found(8) == [3] * 8
    assert all(found(low, x="periodic") == [3] * 8 for low in (0, 8, 15, 20))
    assert found(-6.0, x_low=nf.PMC) == [3] * 4  # three cells, six with the mirrored ones


def test_ends_of_sheets_at_other_metal_are_no_rims():
    """A stub that begins at a strip's edge between lines: its end acts at its line, and no third of a cell beyond."""
    strip = nf.Structure(nf.Sheet((2e-3, 4e-3, 2e-3), (22e-3, 7.3e-3, 2e-3)), nf.PEC)
    stub = nf.Structure(nf.Sheet((10e-3, 7.3e-3, 2e-3), (14e-3, 10e-3, 2e-3)), nf.PEC, name="stub")
    model = line(structures=[strip, stub], metal="staircase")
    moved = {each["what"]: each for each in model.check().moved}
    end = moved["structure 'stub', its lower end along y"]
    assert end["cells"] == pytest.approx(0.3) and "acts as if 3.333 mm instead of 2.7 mm" in end["effect"]


def attenuated(share, takers, excess=0.0):
    """A made-up two-port that lets so much of the power go, in a model in which some things take power."""
    matrix = np.zeros((5, 2, 2))
    matrix[:, 0, 1] = matrix[:, 1, 0] = np.sqrt(1 - share + excess)
    return entry(result_of(matrix, {"lossless": False, "takers": takers}), "power balance, p1")


@pytest.mark.parametrize(("share", "verdict"), [(0.01, "good"), (0.03, "unknown"), (0.6, "unknown")])
def test_power_that_media_may_take_is_no_verdict_but_a_number_with_their_names(share, verdict):
    found = attenuated(share, {"inside": ["structure 'board'"], "open": ["the CPML"], "past": {}})
    assert (found.verdict, found.value) == (verdict, pytest.approx(100 * share))
    assert verdict == "good" or "structure 'board', the CPML" in found.text


def lossy_line(**changes):
    """The strip of `line` on a board that loses a part of the power."""
    board = nf.Structure(nf.Box((0, 0, 0), (24e-3, 12e-3, 2e-3)), nf.Medium(2.0, conductivity=0.05), name="board")
    return line(structures=[board, *line().structures], **changes)


def test_a_lossy_line_names_what_takes_its_power_and_judges_nothing():
    found = entry(lossy_line().run(threads=1), "power balance, in")
    assert found.verdict == "unknown" and found.value > 5.0  # "bad" of a lossless one
    assert "structure 'board'" in found.text and "the CPML" not in found.text


def antenna(**changes):
    """A short dipole with a port in its middle, in space."""
    wires = [
        nf.Structure(nf.Wire([(15e-3, 15e-3, 15.5e-3 + way * 0.5e-3), (15e-3, 15e-3, 15.5e-3 + way * 4.5e-3)]), nf.PEC)
        for way in (-1, 1)
    ]
    entries = {
        "grid": nf.Grid.uniform("1 mm", (30, 30, 31)),
        "boundaries": nf.Boundaries(all=nf.CPML(8)),
        "structures": wires,
        "ports": [nf.LumpedPort("feed", (15e-3, 15e-3, 15e-3), (15e-3, 15e-3, 16e-3), "z", 50)],
        "waveform": nf.ModulatedGaussian("14 GHz", "4 GHz"),
        "monitors": [nf.FarField("far", ["14 GHz"], (9e-3,) * 3, (21e-3, 21e-3, 22e-3))],
    }
    return nf.Simulation(**entries | changes)


def test_an_antenna_s_missing_power_is_unknown_where_something_takes_it_and_good_where_nothing_is_missing():
    found = entry(antenna().run(threads=1), "power balance, far")
    assert found.verdict == "good" and found.value < 2.0
    coat = nf.Structure(nf.Box((12e-3, 12e-3, 12e-3), (18e-3, 18e-3, 19e-3)), nf.Medium(1, conductivity=0.1), "coat")
    dipole = antenna().structures
    found = entry(antenna(structures=[coat, *dipole]).run(threads=1), "power balance, far")
    assert found.verdict == "unknown" and found.value > 5.0 and "structure 'coat'" in found.text


def test_an_antenna_that_loses_power_to_nothing_known_is_bad():
    """The same run with its media forgotten: what is missing there is an error."""
    coat = nf.Structure(nf.Box((12e-3, 12e-3, 12e-3), (18e-3, 18e-3, 19e-3)), nf.Medium(1, conductivity=0.1), "coat")
    result = antenna(structures=[coat, *antenna().structures]).run(threads=1)
    result.record.facts["takers"] = {"inside": [], "open": ["the CPML"], "past": {}}
    assert entry(result, "power balance, far").verdict == "bad"


def test_a_run_that_needs_more_memory_than_is_free_says_so_before_it_begins(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(memory, "free_memory", lambda: 10_000)
    with pytest.warns(UserWarning, match=r"needs .* of memory, .* are free here"):
        result = line(steps=20).run(threads=1)
    assert any("are free here" in warning for warning in result.facts["warnings"])
    (tmp_path / "line.toml").write_text(line(steps=20).to_toml())
    arguments = "run", str(tmp_path / "line.toml"), "--output", str(tmp_path / "out"), "--threads", "1", "--no-report"
    assert main(list(arguments)) == 0
    assert "are free here" in capsys.readouterr().err
    monkeypatch.setattr(memory, "free_memory", lambda: 10**12)
    assert not any("are free here" in warning for warning in line(steps=20).run(threads=1).facts["warnings"])


def test_flat_models_that_do_not_fit_while_they_are_set_up_say_so(monkeypatch):
    """Planes as large as the model are in hand while its coefficients are made: more than its fields ever take."""
    ball = nf.Structure(nf.Sphere((150.3e-3, 150.3e-3, 2.1e-3), 1.7e-3), "pec", name="ball")
    grid = nf.Grid.uniform(1e-3, (300, 300, 4))
    setup = Discretization(nf.Simulation(grid, structures=[ball], boundaries=nf.Boundaries(all="pec"), steps=5))
    needed = memory.memory_of(setup, 0)
    assert needed.setup > needed.total > 0
    monkeypatch.setattr(memory, "group_memory", lambda: None)
    monkeypatch.setattr(memory, "free_memory", lambda: needed.total + needed.setup)
    assert memory.short_of_memory(setup)
    monkeypatch.setattr(memory, "free_memory", lambda: 10**12)
    assert not memory.short_of_memory(setup)


def test_what_takes_power_in_two_ways_is_named_once():
    found = attenuated(0.6, {"inside": ["structure 'board'"], "open": ["structure 'board'", "the CPML"], "past": {}})
    assert "lost to structure 'board', the CPML, or" in found.text
