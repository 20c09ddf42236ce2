"""The benchmarks of the command line: what they hold, never how fast it was."""

from __future__ import annotations

import json

import pytest

from nearfield.cli import main
from nearfield.machine import memory_rate
from nearfield.measure.bench import Timed, box
from nearfield.measure.bench_features import CASES
from nearfield.run import memory
from nearfield.run.roofline import recorded_bytes

CELLS = 32


@pytest.fixture
def short_triad(monkeypatch):
    """Arrays for the triad that take no time."""
    monkeypatch.setattr(memory_rate, "MOST_BYTES", 2**20)


def test_the_table_of_features_keeps_its_contract(short_triad, capsys):
    command = ["bench", "features", "--cells", str(CELLS), "--steps", "4", "--threads", "1", "--rounds", "2", "--json"]
    assert main(command) == 0
    answer = json.loads(capsys.readouterr().out)
    assert [case["name"] for case in answer["cases"]] == list(CASES)
    assert answer["roofline_mcells_per_second"] == pytest.approx(answer["triad_gb_per_second"] * 1e3 / 48)
    assert answer["cells"] == CELLS**3 and answer["machine"]["processor"]
    for case in answer["cases"]:
        assert case["schedule"] == "tiled" and case["tile_depth"] >= 4 and case["tile_width"] > 0
        assert case["lowest_share"] <= case["share_of_vacuum"] <= case["highest_share"]
        expected = case["mcells_per_second"] / answer["roofline_mcells_per_second"]
        assert case["roofline_multiple"] == pytest.approx(expected)
        assert (case["dft_stride"] is None) == (not {"DFT", "flux"} & set(case["name"].split()))


def test_the_table_of_features_is_readable_and_holds_the_cases_that_are_named(short_triad, capsys):
    chosen = "vacuum", "plane wave along rows"
    command = ["bench", "features", "--cells", str(CELLS), "--steps", "2", "--precision", "double", "--rounds", "1"]
    assert main([*command, *(word for name in chosen for word in ("--case", name))]) == 0
    table = capsys.readouterr().out
    assert [name for name in CASES if f"\n{name}  " in table] == list(chosen)
    assert main([*command, "--case", "plane waves"]) == 2
    assert "no case 'plane waves'; there is: 'vacuum'" in capsys.readouterr().err
    assert "roofline" in table and "double" in table


@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("name", CASES)
def test_each_feature_is_in_its_model(name, precision):
    timed = Timed(CASES[name](CELLS, 40, precision), threads=1)
    timed.seconds(25)  # a whole tile and the next
    assert timed.engine.step == 25 and timed.engine.facts()["schedule"] == "tiled"
    assert any(timed.engine.state(component).any() for component in range(6))
    recorded = timed.engine.recordings()
    assert bool(recorded) == (name.split()[0] in ("DFT", "flux", "snapshots", "ports"))
    assert any(recording.values.any() for recording in recorded) or not recorded


def test_a_recorded_plane_is_in_the_model_of_the_traffic():
    timed = Timed(CASES["DFT plane along rows"](CELLS, 40, "single"), threads=1)
    stride = timed.setup.plan.terms[-1].stride
    samples = 9 * CELLS**2  # three components lie half a cell off the plane and are recorded on both sides of it
    assert recorded_bytes(timed.setup.plan, 40) == pytest.approx(4 * 4 * samples * 20 / stride / CELLS**3)


def test_facts_name_the_schedule_that_ran():
    stepwise = Timed(box(CELLS, 4, schedule="stepwise"), threads=1).facts()
    tiled = Timed(box(CELLS, 4), threads=1).facts()
    assert (stepwise["schedule"], stepwise["traffic_bytes_per_cell"]) == ("stepwise", 48.0)
    assert tiled["schedule"] == "tiled" and tiled["traffic_bytes_per_cell"] <= 24.0


def test_the_triad_moves_something_or_says_that_memory_is_short(short_triad, monkeypatch):
    assert memory_rate.triad(2) > 0
    monkeypatch.setattr(memory_rate, "run", lambda pool, parts: (_ for _ in ()).throw(MemoryError))
    assert memory_rate.triad(2) is None


@pytest.mark.parametrize(
    "command", [["bench", "box", "--steps", "2"], ["bench", "features", "--rounds", "1", "--steps", "2"], ["tune"]]
)
def test_a_box_that_memory_has_no_room_for_is_refused(command, short_triad, monkeypatch, capsys):
    monkeypatch.setattr(memory, "free_memory", lambda: 2**20)
    assert main([*command, "--cells", str(CELLS), "--threads", "1"]) == 2
    assert "of memory, 1 MiB are free here; use fewer cells" in capsys.readouterr().err
