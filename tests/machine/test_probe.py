"""Probes: what they count, how they place, the fit, what is printed and kept; never how fast it was."""

from __future__ import annotations

import json
import os
import re
import subprocess

import numpy as np
import pytest

from nearfield.cli import main
from nearfield.entry.errors import ModelError
from nearfield.machine import transport
from nearfield.machine.hardware import from_synthetic, this_machine
from nearfield.machine.profile import Profile, load_profile
from nearfield.measure import probe, probe_messages, probe_mpi
from nearfield.measure.probe import Effort, near_workers, placement_of, profile_from, spread, unsteady, workers_on
from nearfield.measure.probe_latency import probe_latency
from nearfield.measure.probe_simulated import CORE_RATE, FAR, NEAR, NODE_RATE, MakeBelieve
from nearfield.measure.probe_stream import LOOPS, doubling, elements_each, growing, probe_scale, probe_stream
from nearfield.parallel.launch import command

SERVER = from_synthetic("pack:2 [numa(memory=6GB)] l3:1(size=8MB) core:4 pu:2")
BELIEVED = MakeBelieve(SERVER)
SMALL = Effort(passes=2, most_bytes=2**20, quick=True)
LINES = [
    {
        "bytes": size,
        "latency": spread([2e-6 + size / 5e9] * 3),
        "bandwidth": spread([1e9]),
        "bidirectional": spread([2e9]),
    }
    for size in probe_messages.SIZES
]


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("NEARFIELD_CACHE", str(tmp_path))
    for variable in transport.SIZES:
        monkeypatch.delenv(variable, raising=False)
    return tmp_path


@pytest.fixture
def core():
    try:
        return probe.compiled_memory()
    except ModelError as error:
        pytest.skip(str(error))


def place(processor: int, numa: list[int], host: str = "a") -> dict:
    return {"host": host, "processors": [processor], "numa": numa}


def test_threads_sit_on_the_first_processor_of_each_core_with_pages_on_its_node():
    assert near_workers(SERVER, [0, 3, 4]) == [([0], 0), ([6], 0), ([8], 1)]
    assert workers_on(SERVER, [0, 1], 1) == [([0], 1), ([2], 1)]
    assert placement_of(near_workers(SERVER, [3, 4])) == "2 threads bound to processors 6,8, pages bound to node 0, 1"


def test_one_node_needs_no_memory_policy():
    single = from_synthetic("core:2 pu:1")
    assert near_workers(single, [0, 1]) == [([0], -1), ([1], -1)]
    assert placement_of(near_workers(single, [0])) == "1 thread bound to processor 0, pages by first touch"


def test_stream_counts_two_two_three_three_words_and_leaves_the_first_pass_out():
    found = probe_stream(SERVER, BELIEVED, SMALL)
    assert list(LOOPS.values()) == [16, 16, 24, 24]
    assert found["core"]["triad"]["best_gb_per_second"] == pytest.approx(CORE_RATE / 1e9)
    assert [each["triad"]["best_gb_per_second"] for each in found["nodes"]] == pytest.approx([NODE_RATE / 1e9] * 2)
    assert found["all"]["threads"] == 8 and found["share_of_sum"] == pytest.approx(1)
    assert "first touch" not in found["all"]["placement"]


def test_arrays_are_four_times_the_caches_where_memory_allows():
    large = Effort(most_bytes=2**40)
    assert 8 * 4 * elements_each(SERVER, large, range(4)) == pytest.approx(4 * SERVER.l3, rel=1e-6)
    assert 8 * 8 * elements_each(SERVER, large, range(8)) == pytest.approx(8 * SERVER.l3, rel=1e-6)
    assert any("caches" in text for text in probe_stream(SERVER, BELIEVED, SMALL)["warnings"])


def test_the_triad_grows_over_cores_of_a_node_and_then_over_whole_nodes():
    assert [len(cores) for cores, _ in growing(from_synthetic("pack:3 [numa] core:6 pu:1"))] == [1, 2, 4, 6, 12, 18]
    assert doubling(1) == [1] and doubling(6) == [1, 2, 4, 6]
    points = probe_scale(SERVER, BELIEVED, SMALL)["points"]
    assert [(point["cores"], point["numa_nodes"]) for point in points] == [(1, 1), (2, 1), (4, 1), (8, 2)]
    assert points[-1]["over_first"] == pytest.approx(2 * NODE_RATE / CORE_RATE)


def test_the_matrices_have_the_cores_in_rows_and_the_memory_in_columns():
    found = probe_latency(SERVER, BELIEVED, SMALL)
    latency = [[cell["median"] for cell in row] for row in found["latency_ns"]]
    bandwidth = [[cell["median"] for cell in row] for row in found["bandwidth_gb_per_second"]]
    assert latency == [[NEAR, FAR], [FAR, NEAR]]
    assert np.array(bandwidth) == pytest.approx(np.array([[40, 40 / 2.1], [40 / 2.1, 40]]))


def test_passes_that_differ_by_more_than_five_percent_are_warned_of():
    assert unsteady("triad", spread([1.0, 1.02, 1.04])) == []
    (said,) = unsteady("triad", spread([1.0, 1.02, 1.06]))
    assert "triad" in said and "6 %" in said
    assert "factor of 7" in unsteady("triad", spread([1.0, 2.0, 7.0]))[0]


def test_the_fit_recovers_latency_and_bandwidth_of_a_line():
    sizes = probe_messages.SIZES
    line = probe_mpi.fit(sizes, [3e-6 + size / 7e9 for size in sizes])
    assert line["latency"] == pytest.approx(3e-6, rel=1e-9) and line["bandwidth"] == pytest.approx(7e9, rel=1e-9)
    assert line["latency_error"] < 1e-12 and line["bandwidth_error"] < 10


def test_the_errors_of_the_fit_are_those_of_its_parameters():
    sizes, random = np.array(probe_messages.SIZES), np.random.default_rng(1)
    found = [
        probe_mpi.fit(sizes, (3e-6 + sizes / 7e9) * (1 + 0.05 * random.standard_normal(len(sizes)))) for _ in range(400)
    ]
    for name, error in (("latency", "latency_error"), ("bandwidth", "bandwidth_error")):
        # of 400 fits the deviation is known to 1/sqrt(800) = 3.5 %; five times that
        deviation = np.std([each[name] for each in found])
        assert deviation == pytest.approx(np.mean([each[error] for each in found]), rel=0.18)


def test_a_line_needs_three_sizes():
    with pytest.raises(ModelError, match="three"):
        probe_mpi.fit([1, 2], [1.0, 2.0])


@pytest.mark.parametrize(
    ("first", "second", "where"),
    [
        (place(0, [0]), place(1, [0]), "numa"),
        (place(0, [0]), place(8, [1]), "across"),
        (place(0, [0]), place(0, [0], "b"), "hosts"),
        (place(0, [0, 1]), place(0, [0, 1]), "processes"),
    ],
)
def test_pairs_of_ranks_are_told_apart_by_what_lies_between(first, second, where):
    assert probe_messages.where_of(first, second) == where


def test_pairs_are_two_cores_of_a_node_two_nodes_and_two_unbound_processes():
    assert probe_mpi.pairs_of(SERVER) == [(0, 2), (0, 8), ()]
    assert probe_mpi.pairs_of(from_synthetic("core:1 pu:1")) == [()]


def test_what_was_found_joins_the_profile_and_the_rest_stays():
    latency, stream = probe_latency(SERVER, BELIEVED, SMALL), probe_stream(SERVER, BELIEVED, SMALL)
    pairs = [{"where": where, "fit": {"latency": 1e-6, "bandwidth": 1e9}} for where in ("numa", "processes")]
    rates = {"pec": {"rates": {"core": 5.0, "numa": 9.0, "cores": 4, "cells": 96}}}
    before = Profile(messages={"hosts": {"latency": 2e-5, "bandwidth": 1e8}})
    found = {"stream": stream, "latency": latency, "mpi": {"pairs": pairs}, "fdtd": {"boundaries": rates}}
    profile = profile_from(found, "server", before)
    assert profile.triad.numa == pytest.approx((40.0, 40.0)) and profile.remote == pytest.approx(1 / 2.1)
    assert set(profile.messages) == {"numa", "hosts"} and profile.rates().cores == 4
    assert profile_from({}, "server", profile).fdtd == profile.fdtd
    assert set(profile.sources) == set(found)


def test_a_line_that_its_errors_swallow_is_not_kept():
    pairs = [{"where": "numa", "fit": {"latency": 1e-6, "bandwidth": 1e9, "bandwidth_error": 6e8}}]
    assert profile_from({"mpi": {"pairs": pairs}}, "server", Profile()).messages == {}


def test_memory_without_cores_is_measured_but_is_no_part_of_the_profile():
    found = probe_latency(SERVER, BELIEVED, SMALL)
    for name in ("bandwidth_gb_per_second", "latency_ns"):
        found[name] = [[*row, row[0]] for row in found[name]]
    profile = profile_from({"latency": found | {"columns": [0, 1, 2]}}, "server", Profile())
    assert len(profile.latency) == 2


def test_the_core_runs_stream_reads_and_chases_where_it_is_told(core):
    (first, *_) = this_machine().cores
    bound = [([first.processors[0]], -1)]
    loops = core.stream_seconds(bound, 50_000, 2)
    assert len(loops) == 4 and all(len(times) == 2 and min(times) > 0 for times in loops)
    assert len(core.read_seconds(bound, 2**16, 3)) == 3
    assert min(core.chase_nanoseconds(bound[0], 2**16, 1000, 2)) > 0


@pytest.mark.parametrize(
    ("workers", "error"),
    [
        ([([1 << 20], -1)], OSError),
        ([([], 1000)], OSError),
        ([], ValueError),
    ],
)
def test_the_core_refuses_places_that_are_not_there(core, workers, error):
    with pytest.raises(error):
        core.stream_seconds(workers, 1000, 1)


def test_a_core_without_the_probe_is_named(monkeypatch):
    from nearfield import _core

    monkeypatch.setattr(_core, "machine", object())
    with pytest.raises(ModelError, match="make setup"):
        probe.compiled_memory()


def test_simulated_probes_say_so_and_are_not_kept(capsys, own_cache, tmp_path):
    machine = ["--simulate", "pack:2 [numa] core:2 pu:1", "--quick"]
    assert main(["probe", "stream", *machine]) == 0
    text = capsys.readouterr().out
    assert "SIMULATED" in text and "node 1: 2 threads" in text and "best MB/s" in text
    assert main(["probe", *machine, "--json", "--plot", str(tmp_path / "plots")]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["simulated"] and set(answer["omitted"]) == {"mpi", "fdtd", "gpu"} and "profile" not in answer
    assert {path.name for path in (tmp_path / "plots").iterdir()} == {"stream.png", "latency.png"}
    assert main(["probe", "latency", *machine]) == 0
    assert main(["probe", "stream", "--scale", "--plot", str(tmp_path), *machine]) == 0
    assert not (own_cache / "profile.json").exists()
    assert "over 1 core" in capsys.readouterr().out


def test_a_quick_probe_is_kept_and_read_by_predict(core, capsys, tmp_path):
    assert main(["probe", "fdtd", "--quick", "--json"]) == 0
    text = capsys.readouterr().out
    answer = json.loads(text)
    assert load_profile().fdtd["pec"].core == answer["profile"]["fdtd"]["pec"]["core"]
    (tmp_path / "given.json").write_text(text)
    assert load_profile(tmp_path / "given.json") == load_profile()
    assert main(["probe", "latency", "--quick"]) == 0
    assert load_profile().fdtd and load_profile().latency


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["moon"], "moon"),
        (["latency", "--scale"], "--scale"),
        (["mpi", "--simulate", "core:2 pu:1"], "simulated"),
        (["stream", "--simulate", "moon"], "moon"),
    ],
)
def test_wrong_arguments_are_refused(capsys, arguments, said):
    assert main(["probe", *arguments]) == 2
    assert said in capsys.readouterr().err


def test_several_ranks_may_only_probe_messages(capsys, monkeypatch):
    transport.world()  # kept from here on: this process is alone, whatever the variable says
    monkeypatch.setenv("PMI_SIZE", "2")
    assert main(["probe", "stream"]) == 2
    assert "2 ranks" in capsys.readouterr().err


def test_a_part_that_fails_is_left_out_of_the_whole_and_refused_alone(capsys, monkeypatch):
    def refuse(*_):
        raise OSError(1, "Operation not permitted")

    monkeypatch.setattr(MakeBelieve, "read_seconds", refuse)
    machine = ["--simulate", "pack:2 [numa] core:2 pu:1", "--quick"]
    assert main(["probe", *machine, "--json"]) == 0
    assert "not permitted" in json.loads(capsys.readouterr().out)["omitted"]["latency"]
    assert main(["probe", "latency", *machine]) == 2
    assert "refuses what it needs" in capsys.readouterr().err


def test_without_mpi_the_probe_of_messages_is_refused_in_one_line(capsys, monkeypatch):
    monkeypatch.setattr(probe_mpi.importlib.util, "find_spec", lambda name: None)
    assert main(["probe", "mpi"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "mpi4py is missing" in line


def test_the_messages_table_has_a_line_a_size_and_the_fit(capsys, monkeypatch, tmp_path):
    pairs = [
        {
            "where": "numa",
            "ranks": [0, 1],
            "placement": [place(0, [0]), place(1, [0])],
            "sizes": LINES,
            "busy": spread([3e-10]),
        }
    ]
    made = {"library": "an MPI", "ranks": 2, "window": 16, "pairs": pairs}
    monkeypatch.setattr(probe_mpi, "pairs_of", lambda hardware: [(0, 1)])
    monkeypatch.setattr(probe_mpi, "refuse_without_mpi", lambda: None)
    monkeypatch.setattr(probe_mpi, "started", lambda processors, quick: made)
    matrix = {"nodes": ["here node 0"], "bytes": 1 << 20, "bandwidth": [[5e9]], "latency": [[2e-6]]}
    matrix["mbit_per_second"] = [[8 * 5e9 / 2**20]]
    monkeypatch.setattr(probe_mpi, "matrix_here", lambda hardware, quick: matrix)
    assert main(["probe", "mpi", "--plot", str(tmp_path / "plots")]) == 0
    text = capsys.readouterr().out
    assert "Latency (us)" in text and "4194304" in text and "fit: latency 2.00" in text and "5000" in text
    assert "0.3 ns a byte" in text
    assert re.search(r"as NetPIPE counts\n\s+here node 0\s*\n\s*here node 0\s+3.815e\+04", text)
    link = load_profile().messages["numa"]
    assert (link.bandwidth, link.busy) == pytest.approx((5e9, 3e-10))
    assert (tmp_path / "plots" / "mpi.png").exists()


def test_two_ranks_are_started_and_measured(monkeypatch):
    pytest.importorskip("mpi4py", exc_type=ImportError)
    try:
        probe_mpi.launcher()
    except ModelError as error:
        pytest.skip(str(error))
    monkeypatch.setattr(probe_mpi, "SECONDS", 60)
    found = probe_mpi.started((), quick=True, longest=16)
    (pair,) = found["pairs"]
    assert [row["bytes"] for row in pair["sizes"]] == [1, 2, 4, 8, 16]
    assert all(row["latency"]["min"] > 0 for row in pair["sizes"]) and pair["ranks"] == [0, 1]
    assert 0 < pair["busy"]["median"] < 60


NODES = """
import json
from unittest import mock
from mpi4py import MPI
from nearfield.measure import node_matrix
rank = MPI.COMM_WORLD.rank
place = {"host": "ab"[rank // 2], "processors": [], "numa": [0] if rank < 2 else [rank - 2]}
with mock.patch.object(node_matrix, "this_rank", lambda: place):
    found = node_matrix.node_matrix(MPI.COMM_WORLD, True, size=4096)
if found:
    print(json.dumps(found))
"""


def test_every_pair_of_nodes_is_in_the_matrix_and_nodes_of_one_rank_have_no_inside():
    pytest.importorskip("mpi4py", exc_type=ImportError)
    line, needed = command(4, [], probe_mpi.launcher())
    line = [*line[: line.index("-m")], "-c", NODES]
    done = subprocess.run(line, env=os.environ | needed, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["nodes"] == ["a node 0", "b node 0", "b node 1"] and found["bytes"] == 4096
    for kind in ("bandwidth", "latency", "mbit_per_second"):
        matrix = found[kind]
        assert [row[n] is None for n, row in enumerate(matrix)] == [False, True, True]
        for a in range(3):
            for b in range(a):
                assert matrix[a][b] == matrix[b][a] > 0
    assert found["mbit_per_second"][0][1] == pytest.approx(8 * found["bandwidth"][0][1] / 2**20)
