"""`nearfield bench scaling` and `bench model`: what they run and print, never how fast it was."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from dataclasses import replace

import pytest

from nearfield.cli import main
from nearfield.entry.errors import ModelError
from nearfield.machine.hardware import from_synthetic, this_machine
from nearfield.machine.profile import Profile, Rates
from nearfield.measure import bench_scaling
from nearfield.measure.bench_scaling import (
    ANTENNA,
    Point,
    cases,
    cluster_of,
    points,
    rank_counts,
    rate_predicted,
    schemes_of,
    units_of,
)
from nearfield.parallel.launch import command_on
from nearfield.predict.step_time import Cluster
from nearfield.report.scaling_plots import scaling

TWO_SOCKETS = from_synthetic("pack:2 [numa] l3:1 core:4 pu:1")
KNOWN = Profile(fdtd={"pec": Rates(core=100, numa=400, cores=4)})


def box_point(scheme: str, ranks: int, threads: int, cells: int = 48) -> Point:
    return Point(cases(["box"], cells, 10, ANTENNA, this_machine())[0], scheme, ranks, threads)


def predicted(point: Point, boxes: tuple[int, int, int], depth: int = 1) -> float | None:
    said = {"halo_depth": depth, "rank_arrangement": list(boxes)}
    return rate_predicted(point, said, Cluster(TWO_SOCKETS, 1, KNOWN))


def test_schemes_of_the_same_cores_are_run_once():
    assert schemes_of(TWO_SOCKETS) == {
        "node": ["node"],
        "socket": ["socket", "numa", "l3"],
        "core": ["core"],
        "none": ["none"],
    }
    assert schemes_of(from_synthetic("pack:1 core:1 pu:1")) == {
        "node": ["node", "socket", "numa", "core"],
        "none": ["none"],
    }
    assert schemes_of(TWO_SOCKETS, ["numa", "l3"]) == {"numa": ["numa"], "l3": ["l3"]}
    with pytest.raises(ModelError, match="binding 'sockets' is unknown"):
        schemes_of(TWO_SOCKETS, ["sockets"])


def test_uneven_numbers_of_ranks_are_among_those_taken_by_default():
    assert rank_counts(2) == [1, 2, 3]
    assert rank_counts(8) == [1, 2, 3, 4, 6, 8, 9]
    assert rank_counts(1) == [1, 2]


def test_threads_are_one_and_what_fills_the_cores():
    found = points(cases(["box"], 16, 1, ANTENNA, this_machine()), ["node"], 8, [1, 3, 9], None)
    assert [(point.ranks, point.threads) for point in found] == [(1, 1), (1, 8), (3, 1), (3, 2), (9, 1)]


def test_the_antenna_makes_as_many_updates_as_the_box():
    box, antenna = cases(["box", "antenna"], 64, 100, ANTENNA, this_machine())
    steps = int(antenna.arguments[-1])
    assert box.job.cells * 100 == pytest.approx(antenna.job.cells * steps, abs=antenna.job.cells / 2)
    assert antenna.job.weights.values.max() > box.job.weights.values.max()  # CPML
    with pytest.raises(ModelError, match="allowed: box, antenna"):
        cases(["patch"], 64, 100, ANTENNA, this_machine())


def test_a_point_is_started_as_a_user_would():
    line, needed = box_point("core", 2, 3).command()
    assert needed == {} and line == [
        sys.executable,
        "-m",
        "nearfield",
        "bench",
        "box",
        "--cells",
        "48",
        "--steps",
        "10",
        "--bind",
        "core",
        "--threads",
        "3",
        "--json",
        "--ranks",
        "2",
    ]


def test_predictions_use_the_cores_that_binding_gives():
    cores = [set(unit.cores) for unit in units_of(box_point("socket", 2, 4), TWO_SOCKETS)]
    assert cores == [{0, 1, 2, 3}, {4, 5, 6, 7}]
    assert [len(unit.cores) for unit in units_of(box_point("node", 1, 3), TWO_SOCKETS)] == [3]
    crowded = [unit.cores for unit in units_of(box_point("core", 9, 1), TWO_SOCKETS)]
    assert crowded[0] == crowded[8] == (0,)
    alone, two, eight = (predicted(box_point("core", n, 1), (n, 1, 1)) for n in (1, 2, 8))
    assert two < 2 * alone and eight < 8 * alone and alone < two < eight
    # two ranks on one core: each takes twice as long
    assert predicted(box_point("core", 9, 1), (9, 1, 1)) < 0.65 * eight


@pytest.mark.parametrize("rounds, chosen", [(1, "box"), pytest.param(2, "box,antenna", marks=pytest.mark.slow)])
def test_the_table_of_points_keeps_its_contract(rounds, chosen, capsys, tmp_path):
    several = importlib.util.find_spec("mpi4py") is not None
    line = [
        "bench",
        "scaling",
        "--cells",
        "24",
        "--steps",
        "4",
        "--rounds",
        str(rounds),
        "--bind",
        "node",
        "--threads",
        "1",
        "--ranks",
        "1,2" if several else "1",
        "--json",
        "--plot",
        str(tmp_path / "scaling.png"),
    ]
    assert main([*line, "--case", chosen]) == 0
    found = json.loads(capsys.readouterr().out)
    ranks = (1, 2) if several else (1,)
    assert [(p["case"], p["bind"], p["ranks"], p["threads"]) for p in found["points"]] == [
        (case, "node", count, 1) for case in chosen.split(",") for count in ranks
    ]
    nodes = len(this_machine().numa)
    for point in found["points"]:
        assert point["locality_share"] == 1.0 if nodes == 1 else point["locality_share"] is not None
        assert len(point["rates"]) == rounds and point["lowest"] <= point["mcells_per_second"] <= point["highest"]
        assert point["predicted_over_measured"] * point["mcells_per_second"] == pytest.approx(
            point["predicted_mcells_per_second"]
        )
    assert found["checksums_agree"] and len({point["checksum"] for point in found["points"]}) == len(chosen.split(","))
    assert (tmp_path / "scaling.png").read_bytes().startswith(b"\x89PNG")


def test_a_point_that_is_refused_is_said_in_its_line_and_not_tried_again(capsys, monkeypatch):
    tried = []
    monkeypatch.setattr(bench_scaling, "run", lambda point: tried.append(point) or {"error": "too thin"})
    line = ["bench", "scaling", "--case", "box", "--cells", "16", "--bind", "none", "--threads", "1", "--ranks", "2"]
    assert main(line) == 2
    table = capsys.readouterr().out
    assert re.search(r"none +\S+ +2 x 1", table) and "refused: too thin" in table and len(tried) == 1


def test_minutes_follow_from_the_rate_beside_them(monkeypatch, capsys):
    """Those of an even number of rounds were a mean of their own."""
    said = dict.fromkeys(bench_scaling.REPORTED, 1) | {"rank_arrangement": [1, 1, 1], "cells": 10**6, "steps": 100}
    said["placement"] = [{"memory": {"locality_share": 1.0}}]
    rounds = [said | {"mcells_per_second": rate, "seconds": 100 / rate} for rate in (50.0, 200.0)]
    monkeypatch.setattr(bench_scaling, "measure", lambda *_: [rounds, [{"error": "too thin"}]])
    line = ["bench", "scaling", "--case", "box", "--cells", "16", "--bind", "none", "--threads", "1", "--ranks", "1,2"]
    assert main([*line, "--rounds", "2", "--json"]) == 0  # one of two points is refused
    point, refused = json.loads(capsys.readouterr().out)["points"]
    assert point["mcells_per_second"] == 125 and point["minutes"] == pytest.approx(100 / 125 / 60)
    assert "refused" in refused


@pytest.mark.parametrize(
    "given, said",
    [
        (["--ranks", "1;2"], "give whole numbers"),
        (["--threads", "0"], "give whole numbers"),
        (["--ranks", "1,4000"], "stall"),
        (["--plot", "rates.pdf"], ".png"),
        (["--case", "horn"], "box, antenna"),
        (["--antenna", "none.toml"], "none.toml"),
        (["--memory", "first-touch,moon"], "'moon' is unknown; allowed: first-touch"),
        (["--hosts", "nowhere"], "a host's name on each line"),
    ],
)
def test_wrong_arguments_are_refused_before_anything_runs(given, said, capsys):
    assert main(["bench", "scaling", "--cells", "16", *given]) == 2
    assert said in capsys.readouterr().err


def test_memory_policies_and_hosts_are_swept_with_the_bindings():
    case = cases(["box"], 16, 1, ANTENNA, this_machine())
    found = points(case, ["node", "core"], 2, [1], [1], ["first-touch", "off"], ["a", "b", "c"])
    assert [(len(p.hosts), p.scheme, p.memory) for p in found] == [
        (count, scheme, memory)
        for count in (1, 2, 3)
        for scheme in ("node", "core")
        for memory in ("first-touch", "off")
    ]
    assert "--memory off" in " ".join(found[1].arguments())


def test_the_share_of_local_pages_is_that_of_the_worst_rank():
    def placed(*shares: float | None) -> list[dict]:
        return [{"memory": {"locality_share": share}} for share in shares]

    assert (
        bench_scaling.lowest_share(placed(0.97, 0.5)) == 0.5 and bench_scaling.lowest_share(placed(1.0, None)) is None
    )


def test_ranks_are_started_on_every_host(monkeypatch, tmp_path):
    hydra = tmp_path / "mpiexec"
    hydra.write_text("#!/bin/sh\necho HYDRA build details\n")
    other = tmp_path / "mpirun"
    other.write_text("#!/bin/sh\necho 'mpirun (Open MPI) 5.0'\n")
    for file in (hydra, other):
        file.chmod(0o755)
    line, needed = command_on(["a", "b"], 3, ["bench", "box"], hydra)
    assert line[1:8] == ["-hosts", "a,b", "-ppn", "3", "-n", "6", sys.executable] and needed == {}
    line, needed = command_on(["a", "b"], 3, ["bench", "box"], other)
    assert line[1:5] == ["--host", "a:3,b:3", "-n", "6"] and needed["OMPI_ALLOW_RUN_AS_ROOT"] == "1"


def test_hosts_are_predicted_together_and_policies_apart():
    point = box_point("socket", 2, 4, cells=128)
    said = {"halo_depth": 1, "rank_arrangement": [4, 1, 1]}
    pair = replace(point, hosts=("a", "b"), memory="first-touch")
    cluster = cluster_of(pair, TWO_SOCKETS, KNOWN)
    assert cluster.hosts == 2
    one, two = predicted(point, (2, 1, 1)), rate_predicted(pair, said, cluster)
    assert one < two < 2 * one  # messages between hosts
    assert rate_predicted(replace(pair, memory="interleave"), said, cluster) < two


@pytest.mark.parametrize("text", ["", "# none\n", "a b\n", "a\nb\na\n"])
def test_files_of_hosts_that_name_none_or_one_twice_are_refused(text, tmp_path, capsys):
    file = tmp_path / "hosts"
    file.write_text(text)
    assert main(["bench", "scaling", "--cells", "16", "--hosts", str(file)]) == 2
    assert "give a host's name on each line" in capsys.readouterr().err


def test_a_model_is_timed_with_the_fields_of_the_box(capsys):
    assert main(["bench", "box", "--cells", "24", "--steps", "4", "--threads", "1", "--json"]) == 0
    box = json.loads(capsys.readouterr().out)
    checksums = set()
    for threads, domains in (("1", "1"), ("2", "3")):
        line = ["bench", "model", str(ANTENNA), "--steps", "5", "--threads", threads, "--domains", domains, "--json"]
        assert main(line) == 0
        found = json.loads(capsys.readouterr().out)
        assert set(found) == set(box) | {"model"} and found["boundary"] == "cpml" and found["steps"] == 5
        checksums.add(found["checksum"])
    assert len(checksums) == 1


def test_every_series_of_the_figure_has_a_mark_of_its_own_in_a_legend_that_fits():
    points = [
        {"case": "box", "bind": bind, "memory": memory, "hosts": 1, "ranks": ranks, "threads": 1}
        | {"mcells_per_second": 100.0 * ranks, "lowest": 90.0 * ranks, "highest": 110.0 * ranks, "minutes": 0.1}
        | {"predicted_mcells_per_second": 120.0}
        for bind in ("node", "cpu", "none")
        for memory in ("first-touch", "interleave", "off")
        for ranks in (1, 2)
    ]
    found = {"cases": {"box": {}}, "points": points, "machine": {"processor": "one"}, "cores": 2, "rounds": 1}
    figure = scaling(found)
    figure.canvas.draw()
    lines = [line for line in figure.axes[1].get_lines() if not line.get_label().startswith("_")]
    assert len({(line.get_marker(), line.get_color()) for line in lines}) == len(lines) == 9
    (legend,) = figure.legends
    assert len(legend.get_texts()) == 10
    drawn, whole = legend.get_window_extent(), figure.bbox
    assert whole.x0 <= drawn.x0 and drawn.x1 <= whole.x1 and whole.y0 <= drawn.y0
    assert drawn.y1 < min(axes.get_tightbbox().y0 for axes in figure.axes)
