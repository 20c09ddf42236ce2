"""Snapshots that go to files while a run goes on: the same numbers, whoever is killed, and a status that is true."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import nearfield as nf
from nearfield import stream
from nearfield.cli import main
from nearfield.commands.run import spread_lines
from nearfield.discretization.discretization import Discretization
from nearfield.formats.reading import stored_fields
from nearfield.machine.interruption import FOR_THE_RUN
from nearfield.output.field_streams import FieldStreams, Outlet
from nearfield.output.file_tasks import FileTasks
from nearfield.output.writer import FileThread
from nearfield.output.writer_process import WriterProcess
from nearfield.run import time_loop
from nearfield.run.checkpoint.folder import checkpoints

MM = 1e-3
CELLS = (14, 12, 18)
CORNER = tuple(n * MM for n in CELLS)
PLANE = ((5 * MM, 0, 0), (5 * MM, *CORNER[1:]))


def model(file: nf.FieldFile | None, steps: int = 40, every: int = 7, **more) -> nf.Simulation:
    """A pulse in a box with a wall of each kind, its whole volume and a plane recorded."""
    return nf.Simulation(
        grid=nf.Grid.uniform(MM, CELLS),
        boundaries=nf.Boundaries(all=nf.CPML(3), z_low=nf.PEC, y_high=nf.PMC),
        sources=[nf.PointCurrent((7 * MM, 6 * MM, 9 * MM), "z", nf.Gaussian(20e9))],
        monitors=[
            nf.Snapshot("all", (0, 0, 0), CORNER, every=every, file=file),
            nf.Snapshot("cut", *PLANE, ("Ex", "Hy"), every=3, file=file),
        ],
        steps=steps,
        check_every=27,
        **more,
    )


@pytest.fixture(scope="module")
def kept() -> nf.Result:
    """The same run with its snapshots in memory."""
    return model(None).run(threads=1)


@pytest.mark.parametrize(
    "file",
    [
        nf.FieldFile(),
        nf.FieldFile(codec="zlib"),
        nf.FieldFile("binary"),
        nf.FieldFile(per_domain=True),
        nf.FieldFile("binary", per_domain=True),
    ],
    ids=str,
)
def test_a_file_holds_the_bits_that_memory_would_have_held(file, kept, tmp_path):
    ran = model(file).run(threads=2, output=tmp_path / "r.h5")
    for result in (ran, nf.open_result(tmp_path / "r.h5")):
        assert result.status == "done"
        for monitor in ("all", "cut"):
            for name in kept[monitor]:
                wanted, found = kept[monitor][name], result[monitor][name]
                assert found.dims == wanted.dims and found.attrs["units"] == wanted.attrs["units"]
                assert np.array_equal(found.values, wanted.values) and wanted.values.any()
                assert all(np.array_equal(found[dim], wanted[dim]) for dim in found.dims)
    assert all(stored_fields(path).status == "complete" for path in (tmp_path / "r-fields").iterdir())


@pytest.mark.parametrize("format", ["ascii", "vtkhdf"])
def test_formats_of_points_hold_the_components_averaged_to_the_cells(format, kept, tmp_path):
    model(nf.FieldFile(format)).run(threads=1, output=tmp_path / "r.h5")
    result = nf.open_result(tmp_path / "r.h5")
    for monitor in ("all", "cut"):
        wanted = kept[monitor].collocated()
        for name in kept[monitor]:
            assert np.array_equal(result[monitor][name].values, wanted[name].values.astype(np.float32))
            assert all(np.array_equal(result[monitor][name][axis], wanted[name][axis]) for axis in "xyz")
        there = result[monitor].collocated()  # as they are: they were averaged when they were written
        assert set(there) == set(wanted) and there.sizes == wanted.sizes
        assert all(np.array_equal(there[name].values, result[monitor][name].values) for name in there)
        assert all(np.array_equal(there[axis], wanted[axis]) for axis in "xyz")


def test_fields_without_the_samples_beside_a_centre_are_not_brought_there(tmp_path):
    result = model(nf.FieldFile(sample_every=2)).run(threads=1, output=tmp_path / "r.h5")
    with pytest.raises(nf.ModelError, match="sample_every above 1 lack the samples"):
        result["all"].collocated()


def test_samples_and_precision_are_thinned(kept, tmp_path):
    model(nf.FieldFile(sample_every=2, precision="half")).run(threads=1, output=tmp_path / "r.h5")
    for name, wanted in kept["all"].items():
        found = nf.open_result(tmp_path / "r.h5")["all"][name]
        with np.errstate(over="ignore"):
            assert np.array_equal(found.values, wanted.values[:, ::2, ::2, ::2].astype(np.float16))
        assert np.array_equal(found["x"], wanted["x"][::2])


@pytest.mark.parametrize("bound", [1e-3, 2.0**-12, 2e-7])
def test_a_relative_bound_holds_the_rounding_of_a_double_run_to_single(bound, tmp_path):
    made = []
    for name, file in (("a", nf.FieldFile()), ("b", nf.FieldFile(precision="single", relative_error=bound))):
        result = model(file, precision="double").run(threads=1, output=tmp_path / f"{name}.h5")
        made.append(result["all"])
    for component, wanted in made[0].items():
        exact, found = wanted.values, made[1][component].values.astype(float)
        ordinary = np.abs(exact) > 1e-37
        assert found.shape == exact.shape and ordinary.any()
        assert (np.abs(found - exact)[ordinary] <= bound * np.abs(exact)[ordinary]).all()


def test_files_that_cannot_be_are_refused_before_the_run(tmp_path):
    with pytest.raises(nf.ModelError, match="no output"):
        model(nf.FieldFile()).run(threads=1)
    for wrong, why in (
        ({"codec": "zip"}, "codec"),
        ({"format": "ascii", "positions": "yee"}, "same points"),
        ({"format": "binary", "codec": "zlib"}, "never compressed"),
        ({"absolute_error": 1.0, "relative_error": 1e-3}, "error bound"),
        ({"precision": "half", "absolute_error": 1e-3}, r"0\.00049 of it"),
        ({"precision": "half", "relative_error": 0.1}, "give the bound alone"),
        ({"per_domain": True, "sample_every": 2}, "domains"),
    ):
        with pytest.raises(nf.ModelError, match=why):
            nf.FieldFile(**wrong)
    on_wall = nf.Snapshot("wall", (CORNER[0], 0, 0), CORNER, ("Ey",), every=3, file=nf.FieldFile())
    with pytest.raises(nf.ModelError, match="on a wall where all that it records is zero"):
        model(None).model_copy(update={"monitors": [on_wall]}).run(threads=1, output=tmp_path / "r.h5")
    for too_close in ({"relative_error": 5e-8}, {"absolute_error": 1e-3}):
        with pytest.raises(nf.ModelError, match="double precision to single"):
            rounded = nf.FieldFile(precision="single", **too_close)
            model(rounded, precision="double").run(threads=1, output=tmp_path / "r.h5")
    endless = model(nf.FieldFile(), steps=5_000_000, every=1)
    with pytest.raises(nf.ModelError, match=r"free.*--no-space-check"):
        endless.run(threads=1, output=tmp_path / "r.h5")
    assert not list(tmp_path.iterdir())
    check = endless.check()
    assert any("free" in warning for warning in check.warnings) and "GB" in check.field_files


def test_every_file_of_a_run_has_a_name_of_its_own():
    """Those that were alone with their name keep it."""
    files = {
        name: SimpleNamespace(item=SimpleNamespace(file=nf.FieldFile())) for name in ("cut", "cut-2", "a b", "a_b")
    }
    setup = SimpleNamespace(excitations=("1", "2-1", "p+", "p*"))
    tasks = FileTasks(setup, files, Path("f"), None)
    names = [tasks.path(name, each).name for each in setup.excitations for name in files]
    assert len(set(names)) == len(names) == 16
    assert names[:4] == ["cut-1.h5", "cut-2-1.h5", "a_b-1.h5", "a_b-1-2.h5"] and "cut-2-1-2.h5" in names


def test_the_last_snapshot_of_a_file_leaves_blocks_of_steps_as_long_as_they_like():
    early = Outlet("cut", np.array([0, 1, 2]))
    assert early.room(0) == 1 and early.room(3) > 10**9


def test_what_lies_there_is_not_asked_for_again_of_a_run_that_goes_on(tmp_path, monkeypatch):
    simulation = model(nf.FieldFile(), steps=60)
    simulation.run(threads=1, output=tmp_path / "result.h5", checkpoint="every 20 steps")
    files = sum(path.stat().st_size for path in (tmp_path / "result-fields").iterdir())
    monkeypatch.setattr("nearfield.formats.sizes.free_bytes", lambda folder: files // 10)
    with pytest.raises(nf.ModelError, match="free"):
        simulation.run(threads=1, output=tmp_path / "other" / "result.h5")
    assert nf.resume(tmp_path, threads=1).status == "done"


def test_the_writer_goes_on_at_signals_that_are_for_the_run():
    process = WriterProcess()
    for number in FOR_THE_RUN:  # before it can say that it ignores them
        os.kill(process._process.pid, number)
    assert process.ask({"do": "settle", "complete": True, "reason": ""}) == {"done": "settle"}
    process.close()


@pytest.mark.filterwarnings("ignore:field files want")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_run_whose_writer_has_stopped(number, tmp_path, monkeypatch):
    monkeypatch.setattr("nearfield.output.writer_process.LAST_WORDS", 0.4)

    def stop(info) -> None:
        (writer,) = writers_of(os.getpid())
        os.kill(writer, signal.SIGSTOP)
        threading.Timer(0.3, os.kill, (os.getpid(), number)).start()

    with pytest.raises(nf.RunFailed, match="did not answer within") as raised:
        model(nf.FieldFile(), steps=100_000, every=1).run(
            threads=1, output=tmp_path / "result.h5", progress=stop, checkpoint="every 1 h"
        )
    assert raised.value.result.status == "interrupted" and not writers_of(os.getpid())


def test_no_checkpoint_is_left_whose_snapshots_are_in_no_file(tmp_path, monkeypatch):
    def refused(streams, step) -> None:
        streams.failure = "the disk refused" if step > 20 else None

    monkeypatch.setattr(FieldStreams, "flush", refused)
    with pytest.raises(nf.RunFailed, match="the disk refused"):
        model(nf.FieldFile()).run(threads=1, output=tmp_path / "result.h5", checkpoint="every 10 steps")
    assert [path.name for path in checkpoints(tmp_path)] == ["checkpoint-20", "checkpoint-10"]


def test_an_error_that_nobody_foresaw_is_said_and_the_rings_are_emptied():
    class Broken:
        committed = 0

        def write(self, block) -> None:
            raise MemoryError

    thread = FileThread.__new__(FileThread)
    threading.Thread.__init__(thread)
    received = iter([[SimpleNamespace(release=lambda: None)], []])
    state = {"ended": "", "failure": "", "written": 0, "wanted": 0, "settled": 0, "readers": [], "reported": 0.0}
    vars(thread).update(state, task={}, file=Broken())
    thread.committed = threading.Condition()
    thread._write = lambda blocks: thread.file.write(blocks)

    def receive() -> list:
        blocks = next(received)
        thread.ended = "" if blocks else "closed"
        return blocks

    thread._received = receive
    thread.run()
    assert "not enough memory" in thread.failure
    thread.commit_up_to(3)  # and nobody waits for it


@pytest.fixture
def long_run(tmp_path, monkeypatch) -> Path:
    """A folder with the model file of a run of some seconds."""
    monkeypatch.chdir(tmp_path)
    Path("model.toml").write_text(model(nf.FieldFile(), steps=12000, every=40).to_toml())
    return tmp_path


def started(*options: str) -> subprocess.Popen:
    line = [sys.executable, "-m", "nearfield", "run", "model.toml", "--no-report", "--threads", "1", *options]
    return subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for_snapshots(path: Path, count: int) -> None:
    end = time.monotonic() + 60
    while not path.exists() or len(stored_fields(path).steps) < count:
        assert time.monotonic() < end
        time.sleep(0.05)


def writers_of(process: int) -> list[int]:
    children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return [int(child) for child in children if "output.writer" in Path(f"/proc/{child}/cmdline").read_text()]


def test_a_writer_that_is_killed_ends_the_run_which_says_so_and_keeps_what_it_has(long_run):
    process, path = started("--output", "out"), Path("out/result-fields/cut-sources.h5")
    wait_for_snapshots(path, 1)
    (writer,) = writers_of(process.pid)
    os.kill(writer, signal.SIGKILL)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 4 and "signal 9" in said
    assert nf.open_result("out/result.h5").status == "failed"
    stored = stored_fields(path)
    assert stored.status.startswith("interrupted") and len(stored.steps) > 0


def test_a_solver_that_is_killed_leaves_files_that_can_be_read_and_no_ring(long_run):
    process, path = started("--output", "out"), Path("out/result-fields/cut-sources.h5")
    wait_for_snapshots(path, 1)
    (writer,) = writers_of(process.pid)
    process.kill()
    process.communicate()
    end = time.monotonic() + 30
    while Path(f"/proc/{writer}").exists():
        assert time.monotonic() < end
        time.sleep(0.05)
    stored = stored_fields(path)
    assert stored.status == "interrupted: the solver ended without closing it"
    assert np.isfinite(stored.arrays["Ex"][:]).all() and len(stored.steps) > 0
    assert not [each for each in stream.rings() if each.name.startswith(f"run.{process.pid}.")]


def test_a_run_that_goes_on_from_a_checkpoint_leaves_the_same_files(long_run):
    Path("model.toml").write_text(model(nf.FieldFile(codec="zlib"), steps=600, every=40).to_toml())
    process = started("--output", "out", "--checkpoint", "200 steps")
    wait_for_snapshots(Path("out/result-fields/cut-sources.h5"), 80)
    process.kill()
    process.communicate()
    assert main(["run", "--resume", "out", "--no-report", "--threads", "2"]) == 0
    assert main(["run", "model.toml", "--no-report", "--output", "whole"]) == 0
    found, wanted = nf.open_result("out/result.h5"), nf.open_result("whole/result.h5")
    for monitor in ("all", "cut"):
        for name in wanted[monitor]:
            assert np.array_equal(found[monitor][name].values, wanted[monitor][name].values)
            assert np.array_equal(found[monitor][name]["time"], wanted[monitor][name]["time"])


def test_ranks_write_one_file_together(long_run):
    pytest.importorskip("mpi4py")
    Path("model.toml").write_text(model(nf.FieldFile()).to_toml())
    process = started("--output", "out", "--ranks", "2", "--json")
    said, complaint = process.communicate(timeout=90)
    assert process.returncode == 0, complaint
    fields = json.loads(said)["fields"]
    assert len(fields["stalled_seconds"]) == 2 and fields["bytes"] > 0
    wanted = model(None).run(threads=1)
    found = nf.open_result("out/result.h5")
    for monitor in ("all", "cut"):
        assert all(np.array_equal(found[monitor][n].values, wanted[monitor][n].values) for n in wanted[monitor])


def test_the_share_of_waiting_is_of_all_time():
    """A writer that took the larger part had more than 100 % of the steps' time."""
    fields = {"bytes": 2**20, "folder": "out/fields", "stalled_seconds": [1.0, 3.0]}
    (line,) = spread_lines({"runs": {"a": {"seconds": 0.5}, "b": {"seconds": 0.5}}, "fields": fields})
    assert line == "fields: 1 MiB into fields; waiting for their writer: 75.0 % of the time of steps and waiting"


def test_a_disk_that_fills_up_ends_the_run_and_keeps_whole_snapshots(long_run):
    small = long_run / "small"
    small.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=3m", "none", str(small)]
    if subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("mounting a small disk needs root")
    try:
        process = started("--output", "small/out", "--no-space-check")
        _, said = process.communicate(timeout=60)
        stored = stored_fields(small / "out/result-fields/all-sources.h5")
        assert process.returncode == 4 and "No space left" in said
        assert stored.status.startswith("interrupted") and len(stored.steps) > 0
        assert np.isfinite(stored.arrays["Hz"][:]).all()
    finally:
        subprocess.run(["umount", small], check=True)


def test_the_writer_starts_while_the_model_is_set_up_and_ends_at_once_where_the_model_is_refused(tmp_path, monkeypatch):
    alive: list[int] = []

    def set_up(*given):
        alive.extend(writers_of(os.getpid()))
        return Discretization(*given)

    monkeypatch.setattr(time_loop, "Discretization", set_up)
    simulation = model(nf.FieldFile(), steps=20)
    simulation.run(threads=1, output=tmp_path / "result.h5")
    assert len(alive) == 1 and not writers_of(os.getpid())

    outside = nf.Probe("outside", (1.0, 1.0, 1.0), "Ez")
    refused = simulation.model_copy(update={"monitors": (*simulation.monitors, outside)})
    with pytest.raises(nf.ModelError, match="outside"):
        refused.run(threads=1, output=tmp_path / "refused.h5")
    assert len(alive) == 2 and not writers_of(os.getpid())
