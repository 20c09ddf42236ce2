"""Sweeps: one dataset with a dimension a parameter, runs made once, failures as rows, any executor, kills survived."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import nearfield as nf
from nearfield.cli import main
from nearfield.studies.executors import workers
from nearfield.studies.sweep_point import allow_runs, end_all, run_kept
from nearfield.studies.sweep_values import axes_of, points_of, swept

MODEL = """
steps = {steps}
[parameters]
length = "20 mm"
place = "6 mm"
[grid]
kind = "uniform"
spacing = "2 mm"
cells = ["= round(length / 2 mm)", 10, 10]
[boundaries]
all = "pec"
[[ports]]
kind = "lumped"
name = "feed"
lower = ["= place", "6 mm", "8 mm"]
upper = ["= place", "6 mm", "10 mm"]
axis = "z"
waveform = {{kind = "gaussian", maximum_frequency = "15 GHz"}}
"""
TEXT = MODEL.format(steps=120)
ASKED = """
[[ports]]
kind = "lumped"
name = "far"
lower = ["12 mm", "6 mm", "8 mm"]
upper = ["12 mm", "6 mm", "10 mm"]
axis = "z"
waveform = {kind = "gaussian", maximum_frequency = "15 GHz"}
[[monitors]]
kind = "far-field"
name = "round"
frequencies = ["5 GHz"]
[[monitors]]
kind = "flux"
name = "sum"
lower = ["2 mm", "2 mm", "2 mm"]
upper = ["14 mm", "14 mm", "14 mm"]
frequencies = ["5 GHz"]
"""


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NEARFIELD_CACHE", str(tmp_path / "cache"))
    Path("m.toml").write_text(TEXT)


def test_the_values_of_a_range_are_the_typed_ones_in_their_unit():
    several, fixed = swept(["length=15mm:17mm:9", "width=1 mm,3 mm", "eps=2.2"])
    assert several["length"][:2] == ["15 mm", "15.25 mm"] and len(several["length"]) == 9
    assert fixed == {"eps": "2.2"}
    axes = axes_of(several)
    assert axes[0].coordinates[1] == 15.25e-3 and axes[0].unit == "m"
    assert len(points_of(axes)) == 18
    assert points_of(axes)[1] == {"length": "15 mm", "width": "3 mm"}  # the last is fastest


@pytest.mark.parametrize(
    "texts",
    [[], ["length=15mm"], ["length=15mm:17mm"], ["length=15mm:17mm:1"], ["length=15mm:17:3"], ["length=a:b:3"]],
)
def test_ranges_that_are_none_are_refused(texts):
    with pytest.raises(nf.ModelError, match="15mm:17mm:9"):
        swept(texts)


@pytest.mark.parametrize(
    "values", [[], "12", [1, 1], [3, 3.0], ["1 mm", "0.001 m"], [1, float("nan")], ["1 mm", "2 GHz"], None]
)
def test_parameters_without_values_of_one_unit_are_refused(values):
    with pytest.raises(nf.ModelError):
        axes_of({} if values is None else {"a": values})


def test_a_sweep_has_the_results_of_its_runs_and_its_failures_as_rows(capsys):
    command = ["sweep", "m.toml", "--set", "length=16mm:18mm:2", "--set", "place=6mm,17mm", "--output", "s"]
    command += ["--executor", "processes:2", "--threads", "1", "--quantity", "S11 depth"]
    assert main([*command, "--json"]) == 0
    captured = capsys.readouterr()
    answer = json.loads(captured.out)
    assert (answer["runs"], answer["failed"], answer["file"]) == (4, 1, "s/sweep.h5")
    assert answer["made"] == 4 and "outside the grid" in captured.err
    table = nf.open_sweep("s")
    assert table.sizes["length"] == 2 and table.sizes["place"] == 2
    assert table.status.values.tolist() == [["done", "refused"], ["done", "done"]]
    assert "outside the grid" in str(table.message.values[0, 1]) and np.isnan(table.sparameters.values[0, 1]).all()
    alone = nf.load("m.toml", {"length": "18 mm", "place": "17 mm"}).run(threads=1)
    there = table.sel(length=18e-3, place=17e-3)
    assert np.array_equal(there.sparameters.values, alone.sparameters.values, equal_nan=True)
    assert there["S11 depth"].attrs["units"] == "dB" and np.isfinite(float(there["S11 depth"]))
    assert nf.open_result(Path("s") / str(there.folder.values) / "result.h5").parameters["length"] == "18 mm"
    stamps = {path: path.stat().st_mtime_ns for path in Path("s").glob("runs/*/result.h5")}
    assert main([*command, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["made"] == 1  # what was refused is asked again, nothing else
    assert stamps == {path: path.stat().st_mtime_ns for path in Path("s").glob("runs/*/result.h5")}


@pytest.mark.parametrize("values", ["16mm,,18mm", "nan,18mm", "16mm,wide"])
def test_a_list_with_a_value_that_is_none_is_refused_before_the_runs(values, capsys):
    assert main(["sweep", "m.toml", "--set", f"length={values}", "--output", "s"]) == 2
    assert "a finite number" in capsys.readouterr().err and not Path("s").exists()


@pytest.mark.parametrize(
    ("quantity", "said"),
    [
        ("S99 dB at 5 GHz", "1 port, "),
        ("S11 at 500 GHz", "holds too little at 500 GHz"),
        ("pattern gain at 5 GHz", "no monitor 'pattern' of kind far-field"),
        ("tip resonance between 5 GHz and 6 GHz", "no monitor 'tip'"),
        ("S22 dB at 5 GHz", "no run drives port 'far'; the model's excitations are: feed"),
        ("Z21 real at 5 GHz", "no run drives port 'far'"),
        ("S21 dip between 9 GHz and 5 GHz", "band ends below its beginning"),
        ("S21 dip between 90 GHz and 95 GHz", "holds too little above 90 GHz"),
        ("round directivity at 6 GHz", "'round' has 5 GHz"),
        ("sum power at 6 GHz", "'sum' has 5 GHz"),
    ],
)
def test_a_quantity_that_no_run_can_have_is_refused_before_the_runs(quantity, said, capsys):
    if "1 port" not in said:
        Path("m.toml").write_text(TEXT.replace("[parameters]", 'excitations = ["feed"]\n[parameters]', 1) + ASKED)
    line = ["m.toml", "--quantity", quantity, "--output", "s"]
    assert main(["sweep", "--set", "length=16mm,18mm", *line]) == 2
    assert said in capsys.readouterr().err
    assert main(["converge", *line]) == 2
    assert said in capsys.readouterr().err and not Path("s").exists()


def test_points_without_a_model_are_reported_too():
    told = []
    nf.sweep(box, {"size": [8, 9]}, None, "s", threads=1, report=lambda point, done, count: told.append((point, done)))
    assert [(point.parameters["size"], point.status) for point, _ in told] == [(9, "refused"), (8, "done")]
    assert [done for _, done in told] == [1, 2]
    assert "nine is not allowed" in told[0][0].message


def test_a_sweep_that_no_point_of_which_has_a_model_is_refused(capsys):
    assert main(["sweep", "m.toml", "--set", "lenght=16mm:20mm:3", "--output", "s"]) == 2
    assert "did you mean length?" in capsys.readouterr().err
    for executor in ("prcesses:2", "processes:0", "mpi", "dask:"):
        assert main(["sweep", "m.toml", "--set", "length=16mm,20mm", "--executor", executor]) == 2


@pytest.mark.slow
def test_runs_that_all_fail_give_their_rows_and_exit_code_4(capsys):
    assert main(["sweep", "m.toml", "--set", "place=60mm,70mm", "--output", "s", "--json"]) == 4
    assert json.loads(capsys.readouterr().out)["failed"] == 2


def box(size: int, wall: str = "pec") -> nf.Simulation:
    if size == 9:
        raise ValueError("nine is not allowed")
    source = nf.PointCurrent((4e-3, 4e-3, 4e-3), "z", nf.Gaussian("15 GHz"))
    flux = nf.Flux("out", (2e-3, 2e-3, 2e-3), (6e-3, 6e-3, 6e-3), [5e9, 10e9])
    grid, walls = nf.Grid.uniform(1e-3, (size, 8, 8)), nf.Boundaries(all=wall)
    return nf.Simulation(grid, boundaries=walls, sources=[source], monitors=[flux], steps=150)


def steps_of(result: nf.Result) -> float:
    return result.facts["runs"]["sources"]["steps"]


def test_a_function_sweeps_on_any_executor_and_makes_equal_models_once():
    with ThreadPoolExecutor(2) as pool:
        table = nf.sweep(box, {"size": [9, 10], "wall": ["pec", "pmc"]}, pool, "s", [steps_of], threads=1)
    assert table["steps_of"].sel(size=10, wall="pmc").item() == 150
    assert set(table.message.sel(size=9).values.tolist()) == {"ValueError: nine is not allowed"}
    assert table["out"].dims == ("size", "wall", "frequency")
    again = nf.sweep(lambda length: box(10), {"length": [1.0, 2.0]}, "processes:1", "s", threads=1)
    assert len(list(Path("s/runs").iterdir())) == 2  # both are the (10, "pec") of before
    assert again.folder.values[0] == again.folder.values[1] == str(table.folder.sel(size=10, wall="pec").values)
    assert len({str(folder) for folder in table.folder.values.ravel()} - {""}) == 2


class Job:
    """What submitit gives for a future: no `concurrent.futures.Future`, and its state is asked for."""

    def __init__(self, future):
        self.done, self.exception, self.result = future.done, future.exception, future.result


def test_jobs_that_are_no_futures_are_waited_for_too():
    with ThreadPoolExecutor(2) as pool:
        executor = SimpleNamespace(submit=lambda *given: Job(pool.submit(*given)))
        table = nf.sweep(box, {"size": [10, 11]}, executor, "s", threads=1)
    assert table.status.values.tolist() == ["done", "done"]


def test_cores_are_shared_out_among_runs_beside_each_other(monkeypatch):
    from nearfield.machine.topology import available_threads
    from nearfield.studies.sweep_point import MODEL, RESULT, make_run

    folder = Path("point")
    folder.mkdir()
    (folder / MODEL).write_text(box(8).to_toml())
    for share in (1, 2 * available_threads()):
        assert make_run(folder, None, share) == 0
        facts = nf.open_result(folder / RESULT).facts
        assert facts["threads"] <= max(1, available_threads() // share)


def started(*arguments: str) -> subprocess.Popen:
    environment = os.environ | {"PYTHONPATH": str(Path(nf.__file__).parents[1])}
    command = [sys.executable, "-m", "nearfield", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)


def done_runs(folder: Path) -> set[str]:
    return {path.parent.name for path in folder.glob("runs/*/result.h5")}


def killed_after(process: subprocess.Popen, folder: Path, count: int) -> set[str]:
    """Kill a sweep once so many of its runs are done; the runs that are."""
    try:
        while process.poll() is None and len(done_runs(folder)) < count:
            time.sleep(0.05)
        assert process.poll() is None, process.stderr.read()
    finally:
        process.kill()
        process.communicate()
    return done_runs(folder)


@pytest.mark.slow
@pytest.mark.alone
def test_a_killed_sweep_goes_on_and_its_runs_end_with_it(capsys):
    Path("m.toml").write_text(TEXT.replace("steps = 120", "steps = 4000"))
    line = ["sweep", "m.toml", "--set", "length=16mm:26mm:6", "--output", "s", "--threads", "1", "--json"]
    kept = killed_after(started(*line), Path("s"), 2)
    assert 2 <= len(kept) < 6
    assert main([*line, "--executor", "processes:2"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["failed"] == 0 and answer["made"] == 6 - len(kept)


@pytest.mark.slow
@pytest.mark.alone
def test_a_sweep_that_is_asked_to_end_ends_its_runs():
    Path("m.toml").write_text(TEXT.replace("steps = 120", "steps = 1000000000"))
    process = started("sweep", "m.toml", "--set", "length=16mm,20mm", "--output", "s", "--executor", "processes:2")
    while len(list(Path("s").glob("runs/*/model.toml"))) < 2:
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    try:
        assert process.wait(timeout=60) == 130
    finally:
        process.kill()  # its runs end with it
    assert done_runs(Path("s")) == set() or all(
        nf.open_result(Path("s/runs") / name / "result.h5").status != "done" for name in done_runs(Path("s"))
    )


def test_a_run_that_starts_while_its_sweep_is_asked_to_end_is_ended_too():
    Path("m.toml").write_text(TEXT.replace("steps = 120", "steps = 1000000000"))
    text = nf.load("m.toml").to_toml()
    end_all()
    try:
        assert run_kept(text, str(Path("s").absolute()), 1, 1)["status"] == "failed"  # comes back at all
    finally:
        allow_runs()


def test_a_sweep_that_fails_leaves_the_runs_of_later_ones_alone():
    with pytest.raises(ZeroDivisionError), workers("processes:1"):
        raise ZeroDivisionError
    Path("m.toml").write_text(TEXT)
    assert run_kept(nf.load("m.toml").to_toml(), str(Path("s").absolute()), 1, 1)["status"] == "done"


def test_a_dask_scheduler_that_is_not_there_is_one_line_and_leaves_nothing(capsys, monkeypatch):
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(distributed, "Client", None)  # one that finds nothing prints a traceback when it is thrown away
    line = ["sweep", "m.toml", "--set", "length=16mm,18mm", "--output", "s"]
    assert main([*line, "--executor", "dask:nowhere"]) == 2
    (said,) = capsys.readouterr().err.splitlines()
    assert said.startswith("error: no Dask scheduler answers at nowhere (") and not Path("s").exists()


@pytest.mark.slow
@pytest.mark.alone
def test_a_sweep_on_dask_with_two_workers_survives_kills(tmp_path, capsys):
    """The sweep is killed, then goes on while one of the two worker processes is killed."""
    distributed = pytest.importorskip("distributed")
    Path("m.toml").write_text(TEXT.replace("steps = 120", "steps = 12000"))
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with distributed.LocalCluster(host="127.0.0.1", **options) as cluster:
        line = ["sweep", "m.toml", "--set", "length=16mm:34mm:10", "--output", str(tmp_path / "s"), "--json"]
        line += ["--executor", f"dask:{cluster.scheduler_address}"]
        kept = killed_after(started(*line), tmp_path / "s", 3)
        assert 3 <= len(kept) < 10
        going_on = started(*line)
        while len(done_runs(tmp_path / "s")) < len(kept) + 2:
            assert going_on.poll() is None
            time.sleep(0.05)
        os.kill(next(iter(cluster.workers.values())).process.pid, signal.SIGKILL)
        output, complaint = going_on.communicate(timeout=300)
    assert going_on.returncode == 0, complaint
    answer = json.loads(output)
    assert answer["runs"] == 10 and answer["failed"] == 0 and answer["made"] < 10
    assert set(nf.open_sweep(tmp_path / "s").status.values.tolist()) == {"done"}


@pytest.mark.slow
@pytest.mark.alone
def test_a_sweep_on_the_ranks_of_a_launcher_is_that_of_one_process(capsys):
    pytest.importorskip("mpi4py")
    from nearfield.parallel.launch import command, launcher

    arguments = ["sweep", "m.toml", "--set", "length=16mm:20mm:3", "--threads", "1", "--json"]
    line, needed = command(3, [*arguments, "--executor", "mpi", "--output", "ranks"], launcher())
    environment = os.environ | needed | {"PYTHONPATH": str(Path(nf.__file__).parents[1])}
    done = subprocess.run(line, capture_output=True, text=True, env=environment, timeout=120)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["failed"] == 0
    assert main([*arguments, "--output", "alone"]) == 0
    ranks, alone = nf.open_sweep("ranks"), nf.open_sweep("alone")
    assert np.array_equal(ranks.sparameters.values, alone.sparameters.values, equal_nan=True)


def test_monitors_on_frequencies_of_their_own_keep_them_beside_s_parameters(capsys):
    walls = '{ kind = "cpml", cells = 3 }'
    directions = "theta = [0.0, 1.0, 2.0], phi = [0.0, 1.5]"
    monitor = f'monitors = [{{kind = "far-field", name = "pattern", frequencies = ["10 GHz"], {directions}}}]\n'
    Path("open.toml").write_text(monitor + TEXT.replace('"pec"', walls).replace("10, 10]", "14, 14]"))
    assert main(["sweep", "open.toml", "--set", "length=28mm,30mm", "--output", "s", "--json"]) == 0
    capsys.readouterr()
    table = nf.open_sweep("s")
    assert table["pattern directivity"].dims == ("length", "pattern frequency")
    assert table["pattern frequency"].values.tolist() == [10e9]
    assert table.sparameters.sizes["frequency"] > 1 and np.isfinite(table["pattern directivity"]).all()


def test_a_full_disk_ends_a_sweep_and_says_which(capsys, monkeypatch):
    assert main(["sweep", "m.toml", "--set", "length=16mm,18mm", "--output", "s"]) == 0
    with monkeypatch.context() as full:
        full.setattr("nearfield.studies.sweep_point.write_whole", no_room)
        assert main(["sweep", "m.toml", "--set", "length=16mm,18mm,20mm,22mm", "--output", "s"]) == 4
    said = capsys.readouterr().err
    assert "error: no room for the runs in s: " in said and "No space left on device. 2 runs of 4 done and kept" in said
    assert "worker was lost" not in said
    assert (nf.open_sweep("s").status.values == "done").sum() == 2


def no_room(path, content):
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_result_that_the_disk_has_no_room_for_ends_a_sweep(capsys):
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (20000,) * 2)"
    code = f"{limit}; import sys; from nearfield.cli import main; sys.exit(main())"
    line = ["sweep", "m.toml", "--set", "length=16mm,18mm", "--output", "s"]
    process = subprocess.run([sys.executable, "-c", code, *line], capture_output=True, text=True)
    assert process.returncode == 4
    assert "error: no room for the runs in s: the result could not be written to" in process.stderr


def test_what_is_left_out_is_a_line_each(capsys):
    Path("m.toml").write_text(
        TEXT + '[[monitors]]\nkind = "probe"\nname = "tip"\nposition = ["4 mm", "4 mm", "4 mm"]\n'
    )
    quantity = "tip resonance between 5 GHz and 9 GHz"
    assert main(["sweep", "m.toml", "--set", "length=16mm,18mm", "--quantity", quantity, "--output", "s"]) == 0
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("warning: ")]
    assert len(lines) == 2 and all(line.startswith(f"warning: {quantity} of point ") for line in lines)
    assert len(nf.open_sweep("s").attrs["left_out"].splitlines()) == 2
