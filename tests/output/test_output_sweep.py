"""`nearfield bench output`: what it runs, prints and leaves behind, never how fast it was."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from nearfield.cli import main
from nearfield.commands.output import buffers
from nearfield.entry.errors import ModelError, RunFailed
from nearfield.formats import sizes
from nearfield.machine.transport import Alone
from nearfield.measure import sweep_cases
from nearfield.measure.sweep import Sweep, deadline, has_mpi, launched, measure
from nearfield.measure.sweep_cases import Case, foreseen, lines


def test_a_small_sweep_keeps_its_contract_and_leaves_no_file(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("NEARFIELD_CACHE", str(tmp_path / "cache"))
    disk, plots = tmp_path / "disk", tmp_path / "plots"
    line = [
        "bench",
        "output",
        "--sizes",
        "12",
        "--domains",
        "1,2",
        "--codecs",
        "zlib",
        "--rounds",
        "1",
        "--output",
        str(disk),
        "--plot",
        str(plots),
        "--json",
    ]
    assert main(line) == 0
    found = json.loads(capsys.readouterr().out)
    kinds = [("ascii", "none"), ("binary", "none"), ("hdf5", "zlib:1")]
    rows = {(row["size"], row["domains"], row["mode"], row["format"]): row for row in found["cases"]}
    assert set(rows) == {
        (size, domains, mode, form)
        for size in (12,)
        for domains, mode in ((1, "server"), (2, "server"), (2, "file-per-domain"))
        for form, _ in kinds
    }
    mpi = has_mpi()
    for (size, domains, mode, form), row in rows.items():
        assert row["ranks"] == (domains if mpi else 1) and row["points"] == size**3 * domains
        joined = mode == "file-per-domain" and mpi and form != "ascii"  # one more file joins those of the ranks
        assert row["files"] == {"server": 1, "file-per-domain": domains + joined}[mode]
        assert all(len(row[name]["values"]) == 1 for name in ("compute", "communication", "output", "opening"))
        if mode == "server" and form != "hdf5":
            assert row["predicted_exact"] and row["bytes"] == row["predicted_bytes"]
        if form == "ascii":  # averaged to the points; elsewhere components have their own, some on one plane more
            assert row["raw_bytes"] == row["points"] * 24 * found["recorded_steps"]
    assert found["left_out"] == [] and list(disk.iterdir()) == []
    names = {"fig1-hdf5-fits", "fig2-hdf5-time", "fig3-ascii-binary-time", "fig4-file-sizes", "fig5-ratios"}
    assert {path.stem for path in plots.iterdir()} == names
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in plots.iterdir())


def test_fields_are_recorded_at_ten_steps_and_filled_ones_are_nowhere_zero():
    for fields, domains in (("early", 1), ("filled", 2)):
        case = Case(10, domains, "hdf5", "none", "whole", fields)
        result = case.simulation(1).run(threads=1)
        ez = result["record0"]["Ez"]
        assert ez.sizes["time"] == 10 and result.facts["runs"]["sources"]["steps"] == case.steps
        inside = ez.values[:, 1:-1, 1:-1]
        assert ((inside != 0).all()) == (fields == "filled")


def test_sizes_beyond_the_time_are_left_out_but_the_first(tmp_path):
    cases = Sweep((6, 8, 10), (1,), formats=("binary",)).cases(1)
    found = list(lines(cases, tmp_path, 1.0, Alone()))  # a second after the epoch
    assert [each["case"]["size"] for each in found] == [6, 8, 10]
    assert ["left_out" in each for each in found] == [False, True, True]
    assert found[0]["raw_bytes"] > 0 and list(tmp_path.iterdir()) == []


def test_rounds_that_would_end_too_late_are_left_out_but_the_first(tmp_path):
    told: list[str] = []
    found = measure(Sweep((6,), (1,), formats=("binary",), rounds=3, seconds=1e-9), tmp_path, told.append)
    assert found["rounds"] == 1 and len(told) == 1 and len(found["cases"]) == 1
    assert found["cases"][0]["output"]["spread"] == 0 and found["left_out"] == []


@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)])
def test_a_sweep_that_is_broken_off_leaves_no_file_and_no_process(number, tmp_path):
    line = [
        sys.executable,
        "-m",
        "nearfield",
        "bench",
        "output",
        "--sizes",
        "40",
        "--formats",
        "ascii",
        "--rounds",
        "9",
        "--domains",
        "2",
        "--output",
        str(tmp_path),
    ]
    with subprocess.Popen(line, stderr=subprocess.PIPE, start_new_session=True) as sweep:
        until = time.monotonic() + 60
        while not list(tmp_path.glob("*/case/*/*")) and time.monotonic() < until:
            time.sleep(0.01)
        assert list(tmp_path.glob("*/case/*/*"))
        sweep.send_signal(number)
        sweep.communicate(timeout=60)
    assert sweep.returncode == 130 and list(tmp_path.iterdir()) == []
    assert not [path for path in Path("/proc").glob("[0-9]*/cmdline") if str(tmp_path) in text_of(path)]


def text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def test_what_a_size_will_take_follows_from_those_before():
    assert foreseen([(1000, 5.0, 2.0)], 20) == pytest.approx(3.0 + 2.0 * 8)
    assert foreseen([(1000, 5.0, 2.0), (8000, 12.0, 9.0)], 30) == pytest.approx(12.0 + 19000 * 1e-3)
    assert foreseen([(1000, 5.0, 2.0), (8000, 4.0, 1.0)], 30) == pytest.approx(4.0)


def test_the_time_of_the_first_round_is_shared_by_points():
    sweep = Sweep((6,), (1, 3), seconds=400.0, rounds=2)
    begun = 1e12  # far ahead: the clock does not matter
    whole = deadline(sweep, 3, begun) - begun
    assert whole == pytest.approx(200.0)
    assert deadline(sweep, 1, begun) < begun + 200.0


def test_a_case_that_would_fill_the_disk_is_refused_before_it_begins(tmp_path, monkeypatch):
    monkeypatch.setattr(sizes, "free_bytes", lambda folder: 100_000)
    found = sweep_cases.measurement(Case(10, 1, "binary", "none", "server"), tmp_path, Alone())
    assert "on a disk with 100 kB free" in found["refused"] and list(tmp_path.iterdir()) == []


def test_a_case_that_needs_too_much_memory_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(sweep_cases, "free_memory", lambda: 1000)
    assert "of memory" in sweep_cases.measurement(Case(10, 1, "binary", "none", "server"), tmp_path, Alone())["refused"]


def test_a_launch_that_breaks_down_is_told_with_its_last_word(tmp_path):
    with pytest.raises(RunFailed, match=r"1 ranks made 0 of 1 cases, exit code 1: .*nonsense"):
        list(launched([Case(8, 1, "nonsense", "none", "server")], tmp_path, None, False))
    assert os.listdir(tmp_path) == []


def test_the_modes_and_codecs_of_the_sweep_are_those_asked_for():
    sweep = Sweep((6,), (1, 2), codecs=("zlib", "none"), modes=("server", "file-per-domain", "whole"))
    assert [(case.format, case.codec, case.mode) for case in sweep.cases(1)] == [
        ("ascii", "none", "server"),
        ("binary", "none", "server"),
        ("hdf5", "zlib:1", "server"),
        ("hdf5", "none", "server"),
        ("hdf5", "none", "whole"),
    ]
    assert len(sweep.cases(2)) == 9
    with pytest.raises(ModelError, match="add mode server"):
        Sweep((6,), (1,), modes=("file-per-domain",))


def test_a_record_kept_in_memory_is_measured_beside_a_ring_with_the_same_file():
    kinds = [(case.codec, case.mode) for case in Sweep((6,), (1,), ("hdf5",), modes=("server", "whole")).cases(1)]
    assert kinds == [("zlib:1", "server"), ("none", "server"), ("none", "whole")]

    def row(codec: str, mode: str, seconds: float) -> dict:
        size = {"size": 6, "domains": 1, "raw_bytes": 10**6, "buffer_bytes": 10**6}
        return size | {"format": "hdf5", "codec": codec, "mode": mode, "output": {"mean": seconds}}

    rows = [row("zlib:1", "server", 3.0), row("none", "server", 2.0), row("none", "file-per-domain", 2.5)]
    said = buffers([*rows, row("none", "whole", 4.0)])[0]
    assert said.index("; ring, none: 1 MB, 2.000 s") < said.index("; ring, zlib:1: 1 MB, 3.000 s")
    assert "; a ring a domain, none: 1 MB, 2.500 s" in said


def test_over_hosts_domains_are_spread_evenly_and_each_has_its_file():
    sweep = Sweep((6,), (1, 2), modes=("server", "file-per-domain", "whole"), hosts=("a", "b", "c"))
    assert [len(sweep.hosts_for(domains)) for domains in (1, 2, 3, 4, 5, 6)] == [1, 2, 3, 2, 1, 3]
    assert {case.mode for case in sweep.cases(1)} == {"server", "whole"}
    kinds = [(case.format, case.codec, case.mode) for case in sweep.cases(2)]
    assert kinds == [
        ("binary", "none", "file-per-domain"),
        ("hdf5", "zlib:1", "file-per-domain"),
        ("hdf5", "none", "file-per-domain"),
        ("hdf5", "none", "whole"),
    ]


@pytest.mark.parametrize(
    "given, said",
    [
        (["--hosts", "nowhere"], "a host's name on each line"),
        (["--sizes", "1"], "2 to 1000"),
        (["--sizes", "30;40"], "whole numbers"),
        (["--domains", "4000"], "domains are"),
        (["--formats", "netcdf"], "allowed: ascii, binary, hdf5"),
        (["--codecs", "zip"], "choose one of"),
        (["--modes", "both"], "allowed: server, file-per-domain, whole"),
        (["--fields", "zero"], "allowed: filled, early"),
        (["--rounds", "0"], "--rounds"),
        (["--seconds", "0"], "--seconds"),
        (["--output", "{file}/x"], "--output"),
    ],
)
def test_wrong_arguments_are_refused_before_anything_runs(given, said, capsys, tmp_path):
    file = tmp_path / "file"
    file.touch()
    assert main(["bench", "output", *(word.format(file=file) for word in given)]) == 2
    assert said in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == [file]
