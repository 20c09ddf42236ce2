"""Trials of tiles: fair turns, choices that are kept and used again, runs whose bits do not know of it."""

from __future__ import annotations

import errno
import json
from pathlib import Path

import numpy as np
import pytest

import nearfield as nf
from nearfield.cli import main
from nearfield.engines.cpu import heuristics, tuning
from nearfield.engines.cpu.engine import CpuEngine
from nearfield.engines.cpu.heuristics import LEAST_DEPTH, MEMORY_RATE, ROUNDS, TRIAD_COUNTS, TURN_SECONDS
from nearfield.engines.cpu.tiling import STEPWISE, Machine, Rows, Tiling, choose_tiling
from nearfield.engines.cpu.tuning import TILES, Choice, RunTuner, Trial, candidates, choose, key, stored_tiling
from nearfield.entry.errors import ModelError
from nearfield.machine.machine_file import MachineFile
from nearfield.machine.machine_rate import known_rate, known_triad, remember_rate, remember_triad
from nearfield.machine.topology import available_threads
from nearfield.plan.plan import Plan

A, B, C = Tiling(4, 8), Tiling(8, 8), Tiling(12, 6)
MACHINE = Machine(2, 48 * 2**10, 2 * 2**20, 32 * 2**20, 35e9)
ROWS = Rows(200, 200, 200, 5760)


@pytest.fixture(autouse=True)
def no_memory(tmp_path, monkeypatch):
    """Every test on a machine that nothing is known of."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NEARFIELD_CACHE", str(tmp_path / "cache"))


def box(cells: int = 20, **entries) -> nf.Simulation:
    """A cube with a current and a probe."""
    middle = cells // 2 * 1e-3
    given = {
        "boundaries": nf.Boundaries(all=nf.PEC),
        "steps": 60,
        "sources": [nf.PointCurrent((middle, middle, middle), "z", nf.Gaussian(15e9))],
        "monitors": [nf.Probe("tip", (4e-3, 4e-3, 4e-3))],
    }
    return nf.Simulation(grid=nf.Grid.uniform(1e-3, (cells,) * 3), **given | entries)


def plan(**entries) -> Plan:
    return box(**entries)._setup().plan


def play(trial: Trial, seconds_per_step: dict[Tiling, list[float]]) -> Trial:
    """Turns of 100 steps that take what is given for each round."""
    taken = {tiling: iter(times) for tiling, times in seconds_per_step.items()}
    while not trial.done:
        trial.add(100, 100 * next(taken[trial.tiling]))
    return trial


def test_candidates_take_turns_and_the_best_median_wins():
    trial, order = Trial([A, B, C]), []
    times = {A: [0.01, 0.01, 0.01], B: [0.007, 0.009, 0.06], C: [0.02, 0.005, 0.02]}
    taken = {tiling: iter(each) for tiling, each in times.items()}
    while not trial.done:
        order.append(trial.tiling)
        trial.add(100, 100 * next(taken[trial.tiling]))
    assert order == [A, B, C] * ROUNDS
    assert trial.best() == B and trial.rates()[B] == pytest.approx(1 / 0.009)


def test_the_models_choice_stands_where_others_are_as_fast_within_the_noise():
    near = play(Trial([STEPWISE, A, B]), {STEPWISE: [0.02] * 9, A: [0.0102] * 9, B: [0.0100] * 9})
    assert near.best() == A
    far = play(Trial([STEPWISE, A, B]), {STEPWISE: [0.02] * 9, A: [0.0105] * 9, B: [0.0100] * 9})
    assert far.best() == B


def test_a_turn_lasts_until_a_check_after_its_time_or_long_after_it():
    trial = Trial([A, B])
    trial.add(10, 0.6 * TURN_SECONDS, checked=True)
    assert trial.tiling == A
    trial.add(10, 0.6 * TURN_SECONDS, checked=False)
    assert trial.tiling == A
    trial.add(10, 0.6 * TURN_SECONDS, checked=True)
    assert trial.tiling == B and trial.seconds_per_step[A] == [pytest.approx(1.8 * TURN_SECONDS / 30)]
    trial.add(10, 3 * TURN_SECONDS, checked=False)
    assert trial.tiling == A


def test_a_trial_past_its_limit_ends_with_the_round():
    trial = play(Trial([A, B], limit=TURN_SECONDS), {A: [1.0] * 9, B: [0.9] * 9})
    assert trial.turns == 2 and trial.best() == B


def test_stepwise_is_measured_but_never_chosen():
    trial = play(Trial([STEPWISE, A, B]), {STEPWISE: [0.01] * 9, A: [0.03] * 9, B: [0.02] * 9})
    assert trial.best() == B


@pytest.mark.parametrize("cells", [8, 32, 200, 700])
def test_candidates_begin_with_the_models_choice_and_differ(cells):
    rows = Rows(cells, cells, cells, 24 * 16 * (-(-cells // 16) + 2))
    found = candidates(rows, MACHINE)
    assert found[0] == choose_tiling(rows, MACHINE) and len(set(found)) == len(found) <= 7
    assert all(tiling.depth >= LEAST_DEPTH and tiling.width >= 4 for tiling in found)
    assert any(tiling.segment for tiling in found) == (cells == 700)


def test_a_measured_choice_serves_rows_alike_and_no_others():
    tuning.remember(Choice(C, "measured", ROWS, MACHINE), {C: 12.0})
    assert stored_tiling(ROWS, MACHINE) == C
    assert stored_tiling(Rows(205, 198, 200, 5760, cpml=0.1), MACHINE) == C
    others = [
        Rows(200, 200, 400, 11000),
        Rows(50, 200, 200, 5760),
        Rows(200, 400, 200, 5760),
        Rows(200, 200, 200, 5760, "double"),
    ]
    machines = [
        Machine(1, MACHINE.l1, MACHINE.l2, MACHINE.l3, 1.0),
        Machine(2, MACHINE.l1, 2**20, MACHINE.l3, 1.0),
        Machine(2, MACHINE.l1, MACHINE.l2, MACHINE.l3, 1.0, "avx2"),
    ]
    assert not any(stored_tiling(rows, MACHINE) for rows in others)
    assert not any(stored_tiling(ROWS, machine) for machine in machines)
    assert tuning.forget() == 1 and stored_tiling(ROWS, MACHINE) is None and tuning.forget() == 0


@pytest.mark.parametrize(
    "entry",
    [
        None,
        5,
        "8x16",
        [],
        {},
        {"depth": 8},
        {"depth": 8, "width": "16", "segment": 0},
        {"depth": 0, "width": 16, "segment": 0},
        {"depth": 2, "width": 16, "segment": 0},
        {"depth": 8, "width": 0, "segment": 0},
        {"depth": 8, "width": -4, "segment": 0},
        {"depth": True, "width": 16, "segment": 0},
        {"depth": 8.0, "width": 16, "segment": 0},
        {"depth": 900000, "width": 900000, "segment": 0},
        {"depth": 8, "width": 16, "segment": 1},
    ],
)
def test_an_entry_that_is_no_choice_is_ignored(entry):
    TILES.keep({key(ROWS, MACHINE): entry})
    assert stored_tiling(ROWS, MACHINE) is None


@pytest.mark.parametrize("text", ["", "spoilt", "[1, 2]", "{}", '{"host": 1}', "\0", "[" * 10**5, '{"a": '])
def test_a_spoilt_file_is_ignored_and_replaced(text, monkeypatch):
    monkeypatch.setattr("platform.node", lambda: "host")
    TILES.path.parent.mkdir(parents=True)
    TILES.path.write_text(text)
    assert TILES.entries() == {} and choose(plan(), 1).how == "model"
    TILES.keep({"a": 1})
    assert TILES.entries() == {"a": 1} and len(list(TILES.path.parent.iterdir())) == 1


def test_hosts_that_share_a_folder_keep_apart(monkeypatch):
    kept = MachineFile("x.json")
    for host in ("one", "two"):
        monkeypatch.setattr("platform.node", lambda host=host: host)
        kept.keep({"is": host})
    assert kept.entries() == {"is": "two"} and kept.hosts()["one"] == {"is": "one"}
    kept.keep({})
    assert list(kept.hosts()) == ["one"]


def test_a_folder_that_cannot_be_written_is_no_error(monkeypatch):
    Path("file").write_text("")
    monkeypatch.setenv("NEARFIELD_CACHE", "file/below")
    assert "not kept: file/below/" in TILES.keep({"a": 1})
    assert TILES.entries() == {}


def test_a_full_disk_keeps_what_was_there_and_no_part(monkeypatch):
    assert TILES.keep({"a": 1}) == ""

    def full(path, text, **_):
        path.touch()
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    assert "No space left on device; name another folder" in TILES.keep({"a": 2})
    assert TILES.entries() == {"a": 1} and len(list(TILES.path.parent.iterdir())) == 1


def test_what_is_given_goes_before_what_was_measured_before_the_model():
    setup = plan()
    chosen = choose(setup, 2)
    assert chosen.how == "model" and chosen.tiling.depth >= LEAST_DEPTH
    tuning.remember(Choice(B, "measured", chosen.rows, chosen.machine), {B: 1.0})
    assert (choose(setup, 2).tiling, choose(setup, 2, tiling="auto").how) == (B, "measured")
    assert choose(setup, 2, tiling="5x7") == Choice(Tiling(5, 7), "given", chosen.rows, chosen.machine)
    assert choose(setup, 2, "stepwise").tiling == STEPWISE
    with pytest.raises(ModelError, match="give one of the two"):
        choose(setup, 2, "stepwise", "5x7")
    assert choose(setup, 2, tiling="5x7x2").tiling == Tiling(5, 7, 2)
    with pytest.raises(ModelError, match="2 or more"):
        choose(setup, 2, tiling="5x7x1")


def test_a_measured_triad_serves_the_model():
    assumed = min(2, available_threads()) * MEMORY_RATE / TRIAD_COUNTS
    assert choose(plan(), 2).machine.memory_rate == pytest.approx(assumed)
    remember_triad(20.0, 2)
    remember_rate(1000.0, "single", 2, seconds=1.0, cells=1e7)
    assert (known_triad(2), known_triad(1)) == (20e9, None) and known_rate("single", 2, 1e7).mcells_per_second == 1000.0
    assert choose(plan(), 2).machine.memory_rate == pytest.approx(20e9 / TRIAD_COUNTS)
    remember_triad(None, 2)
    assert known_triad(2) == 20e9


def test_small_domains_take_no_more_threads_than_help():
    assert choose(plan(cells=4)).machine.threads == 1
    assert choose(plan(cells=4), 3).machine.threads == 3
    assert choose(plan(cells=4), 9).machine.threads == 4  # planes


def test_the_model_knows_the_records_of_the_core():
    for entries in ({}, {"boundaries": nf.Boundaries(all=nf.CPML(5))}, {"precision": "double", "cells": 33}):
        assert Rows.of(plan(**entries)).record_bytes == CpuEngine(plan(**entries), 1).facts()["record_bytes"]


def test_a_choice_says_its_footprint_in_every_level_there_is():
    choice = Choice(Tiling(8, 16), "given", ROWS, MACHINE)
    tile = 10 * 17 * 5760
    assert choice.footprint["L2"] == (tile, MACHINE.l2) and choice.footprint["L3"] == (2 * tile, MACHINE.l3)
    assert set(choice.footprint) == {"L1", "L2", "L3"}
    assert "8x16" in str(choice) and "% of L2" in str(choice) and "times stepwise" in str(choice)
    without = Choice(A, "model", ROWS, Machine(1, 2**15, 2**19, 0, 17e9))
    assert set(without.footprint) == {"L1", "L2"} and Choice(STEPWISE, "given", ROWS, MACHINE).footprint == {}


@pytest.fixture
def hurried(monkeypatch):
    """Every run counts as long, and a turn ends with its first block."""
    for name in ("LONG_RUN", "WARM_UP", "TURN_SECONDS"):
        monkeypatch.setattr(heuristics, name, 0.0)


def test_a_long_run_tries_tiles_with_its_own_steps_and_leaves_the_same_bits(hurried):
    notes = []
    tuned = box(12, steps=3000).run(threads=1, progress=lambda info: notes.append(info.note))
    facts = tuned.facts
    assert facts["tile_choice"] == "measured" and facts["tile_depth"] >= LEAST_DEPTH
    assert len(facts["tile_trial"]) >= 2 and all(rate > 0 for rate in facts["tile_trial"].values())
    assert f"{facts['tile_depth']}x{facts['tile_width']}" in facts["tile_trial"]
    assert any("trying tiles" in note for note in notes) and notes[-1] == ""
    fixed = box(12, steps=3000).run(threads=1, tiling="5x7")
    assert fixed.facts["tile_choice"] == "given" and "tile_trial" not in fixed.facts
    assert (fixed.facts["tile_depth"], fixed.facts["tile_width"], fixed.facts["tile_segment"]) == (5, 7, 0)
    assert np.array_equal(tuned["tip"].values, fixed["tip"].values) and np.abs(fixed["tip"].values).max() > 0
    again = box(12, steps=3000).run(threads=1)
    assert again.facts["tile_choice"] == "measured" and "tile_trial" not in again.facts
    assert again.facts["tile_depth"] == facts["tile_depth"]


@pytest.mark.parametrize(
    "entries",
    [
        {"steps": 90},
        {"steps": 2000, "check_every": 10},
        {"steps": 2000, "tiling": "5x7"},
        {"steps": 2000, "schedule": "stepwise"},
    ],
)
def test_no_trial_for_short_runs_tiles_cut_by_checks_or_fixed_choices(entries, hurried):
    tiling = entries.pop("tiling", None)
    facts = box(**entries).run(threads=1, tiling=tiling).facts
    assert facts["tile_choice"] != "measured" and "tile_trial" not in facts and not TILES.path.exists()


def test_a_run_of_seconds_makes_no_trial():
    tuner = RunTuner(CpuEngine(plan(), 1), Choice(A, "model", ROWS, MACHINE), expected_steps=1000, check_every=100)
    for _ in range(20):
        tuner.add(100, 1.0, checked=True)  # 10 s in all
        assert tuner.note == "" and tuner.choice.tiling == A


def test_a_run_of_minutes_spends_little_of_it_on_a_trial():
    choice = choose(plan(), 1)
    tuner = RunTuner(CpuEngine(plan(), 1), choice, expected_steps=100_000, check_every=100)
    spent, seconds = 0.0, 0.1
    for _ in range(1000):  # of 1000 expected, 100 s
        trying = tuner.trial is not None
        tuner.add(100, seconds, checked=True)
        spent += seconds * trying
    assert tuner.choice.how == "measured" and 0 < spent <= heuristics.SHARE_OF_RUN * 100


def test_the_solver_takes_fixed_tiles():
    fields = []
    for tiling in ("5x7", "auto", Tiling(4, 30)):
        solver = nf.Solver(box(), threads=2, tiling=tiling)
        solver.advance(33)
        fields.append(solver.field("Ez"))
    assert np.array_equal(fields[0], fields[1]) and np.array_equal(fields[0], fields[2]) and fields[0].any()


def test_tune_prints_keeps_and_forgets(capsys):
    assert main(["tune", "--cells", "24", "--threads", "1", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    rates = {each["tiles"]: each["mcells_per_second"] for each in answer["candidates"]}
    assert answer["tiles"] in rates and answer["tile_choice"] == "measured" and answer["cells"] == 24**3
    tiled = {tiles: rate for tiles, rate in rates.items() if tiles != "stepwise"}
    assert max(tiled.values()) == tiled[answer["tiles"]] or answer["tiles"] == next(iter(tiled))
    assert answer["measured_gain"] == pytest.approx(rates[answer["tiles"]] / rates["stepwise"])
    assert set(answer["tile_bytes"]) >= {"L1", "L2"} and answer["predicted_gain"] > 0
    kept = json.loads(TILES.path.read_text())
    assert [list(host) for host in kept.values()] == [[key(*alike(24))]]
    assert choose(plan(cells=24), 1).how == "measured"
    assert main(["tune", "--forget", "--json"]) == 0 and json.loads(capsys.readouterr().out)["forgotten"] == 1
    assert choose(plan(cells=24), 1).how == "model"


def alike(cells: int) -> tuple[Rows, Machine]:
    choice = choose(plan(cells=cells), 1)
    return choice.rows, choice.machine


def test_tune_takes_a_model_and_check_and_run_use_what_it_found(capsys):
    Path("model.toml").write_text(box(steps=40).to_toml())
    assert main(["tune", "model.toml", "--threads", "2"]) == 0
    shown = capsys.readouterr()
    assert "stepwise" in shown.out and "% of L2" in shown.out and "round 1" in shown.err
    assert main(["run", "model.toml", "--no-report", "--threads", "2"]) == 0
    assert "by a trial here" in capsys.readouterr().out
    assert main(["run", "model.toml", "--no-report", "--force", "--tiles", "6x9", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["tile_depth"], answer["tile_width"], answer["tile_choice"]) == (6, 9, "given")
    kept = nf.open_result("out/model/result.h5").facts
    assert kept["tile_bytes"] == answer["tile_bytes"] and kept["predicted_gain"] == answer["predicted_gain"]
    assert main(["check", "model.toml"]) == 0
    assert "tiles  " in capsys.readouterr().out


def test_bench_takes_fixed_tiles_with_the_same_fields(capsys):
    sums = []
    for tiles in ("auto", "5x7"):
        assert main(["bench", "box", "--cells", "20", "--steps", "30", "--tiles", tiles, "--json"]) == 0
        sums.append(json.loads(capsys.readouterr().out))
    assert sums[0]["checksum"] == sums[1]["checksum"] and sums[1]["tile_depth"] == 5 and sums[1]["tile_width"] == 7


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "model.toml", "--tiles", "8"],
        ["run", "model.toml", "--tiles", "8x0"],
        ["run", "model.toml", "--tiles", "8x16x1"],
        ["bench", "box", "--cells", "8", "--tiles", "axb"],
        ["bench", "box", "--cells", "8", "--schedule", "stepwise", "--tiles", "8x8"],
        ["tune", "--cells", "0"],
        ["tune", "missing.toml"],
        ["tune", "stepwise.toml"],
    ],
)
def test_wrong_tiles_are_one_message_and_exit_code_2(arguments, capsys):
    Path("model.toml").write_text(box().to_toml())
    Path("stepwise.toml").write_text(box(schedule="stepwise").to_toml())
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == "" and captured.err.startswith("error: ") and not Path("out").exists()
