"""Snapshots in files from ranks on several hosts: a writer and files on each, the numbers of one process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from cases import slow_after
from test_cluster import CLUSTER, cluster, on_cluster  # noqa: F401  - skips where there can be none

import nearfield as nf
from nearfield.formats.reading import joined_parts, stored_fields

MM = 1e-3
CORNER = (14 * MM, 12 * MM, 40 * MM)
END = ((0, 0, 36 * MM), (14 * MM, 12 * MM, 36 * MM))


def model(file: nf.FieldFile | None, steps: int = 60, every: int = 7, more: tuple = ()) -> str:
    """A pulse in a long box: one rank holds all of the plane at its end, both hold some of the whole."""
    return nf.Simulation(
        grid=nf.Grid.uniform(MM, (14, 12, 40)),
        boundaries=nf.Boundaries(all=nf.CPML(3), z_low=nf.PEC, y_high=nf.PMC),
        sources=[nf.PointCurrent((7 * MM, 6 * MM, 30 * MM), "x", nf.Gaussian(20e9))],
        monitors=[
            nf.Snapshot("all", (0, 0, 0), CORNER, every=every, file=file),
            nf.Snapshot("end", *END, ("Ex", "Hy"), every=every, file=file),
            *more,
        ],
        steps=steps,
        check_every=20,
    ).to_toml()


def run(*options: str) -> list[str]:
    return [sys.executable, "-m", "nearfield", "run", *options, "--no-report", "--threads", "1"]


TWO = ("--ranks", "2", "--domains", "1x1x2")


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def on_two_hosts(*options: str) -> subprocess.CompletedProcess:
    return on_cluster(2, *run(*options))


def same_bits(found: str, wanted: str, monitors: tuple[str, ...] = ("all", "end")) -> None:
    for monitor in monitors:
        one, other = (nf.open_result(Path(place) / "result.h5")[monitor] for place in (found, wanted))
        assert list(one) == list(other)
        for name in other:
            assert np.array_equal(one[name].values, other[name].values) and other[name].values.any()
            assert all(np.array_equal(one[name][dim], other[name][dim]) for dim in other[name].dims)


@pytest.mark.parametrize("format", slow_after(1, ["hdf5", "binary"]))
def test_the_writers_of_two_hosts_leave_the_bits_of_one_process(folder, format):
    Path("model.toml").write_text(model(nf.FieldFile(format)))
    done = on_two_hosts("model.toml", "--output", "two", "--json", *TWO)
    assert done.returncode == 0, done.stderr
    assert {each["host"] for each in nf.open_result("two/result.h5").facts["placement"]} == {"host1", "host2"}
    fields = json.loads(done.stdout)["fields"]
    assert len(fields["stalled_seconds"]) == 2 and fields["bytes"] > 0
    subprocess.run(run("model.toml", "--output", "one"), check=True, capture_output=True, timeout=60)
    same_bits("two", "one")
    files = {path.stem: path for path in Path("two/result-fields").iterdir()}
    assert set(files) == {"all-sources", "all-sources.d0", "all-sources.d1", "end-sources", "end-sources.d0"}
    assert len(joined_parts(files["all-sources"])) == 2
    assert all(stored_fields(path).status == "complete" for path in files.values())


def begun(*options: str) -> subprocess.Popen:
    line = [str(CLUSTER), "2", "1gbit", *run(*options)]
    return subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for_snapshots(process: subprocess.Popen, path: Path, count: int) -> None:
    end = time.monotonic() + 60
    while not path.exists() or len(stored_fields(path).steps) < count:
        assert process.poll() is None and time.monotonic() < end
        time.sleep(0.05)


def processes_of(process: subprocess.Popen, rank: int, word: str) -> list[int]:
    """Those of a rank in the cluster of a process whose command line has a word."""
    wanted = {f"CLUSTER_INSIDE={process.pid}", f"PMI_RANK={rank}"}
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            told = (place / "environ").read_text(errors="replace").split("\0")
            line = (place / "cmdline").read_text(errors="replace")
        except OSError:
            continue
        if wanted <= set(told) and word in line:
            found.append(int(place.name))
    return found


def test_a_writer_killed_on_the_second_host_ends_the_run_on_all(folder):
    Path("model.toml").write_text(model(nf.FieldFile(), steps=200_000, every=40))
    process = begun("model.toml", "--output", "out", *TWO, "--no-space-check")
    path = Path("out/result-fields/all-sources.h5")
    wait_for_snapshots(process, path, 1)
    (writer,) = processes_of(process, 1, "nearfield.output.writer")
    os.kill(writer, signal.SIGKILL)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 4 and "signal 9" in said, said
    assert nf.open_result("out/result.h5").status == "failed"
    stored = stored_fields(path)
    assert stored.status.startswith("interrupted") and "signal 9" in stored.status and len(stored.steps) > 0
    for name in ("all-sources.d0.h5", "all-sources.d1.h5", "end-sources.h5"):
        assert stored_fields(path.with_name(name)).status.startswith("interrupted")
    assert np.isfinite(stored.arrays["Ex"][:]).all()


@pytest.mark.slow
def test_a_run_on_two_hosts_goes_on_there_and_on_one_host_but_not_by_other_ranks_there(folder):
    Path("model.toml").write_text(model(nf.FieldFile(codec="zlib"), steps=2000, every=20, more=WHOLE))
    process = begun("model.toml", "--output", "out", "--checkpoint", "200 steps", *TWO)
    wait_for_snapshots(process, Path("out/result-fields/all-sources.h5"), 20)
    for rank in (0, 1):
        for number in processes_of(process, rank, "nearfield\0run"):
            os.kill(number, signal.SIGKILL)
    process.communicate(timeout=60)
    subprocess.run(["cp", "-r", "out", "here"], check=True)
    other = on_two_hosts("--resume", "out", "--ranks", "2", "--domains", "1x2x1")
    assert other.returncode == 2 and "on one host" in other.stderr and "Traceback" not in other.stderr, other.stderr
    done = on_two_hosts("--resume", "out", *TWO)
    assert done.returncode == 0, done.stderr
    subprocess.run(run("--resume", "here"), check=True, capture_output=True, timeout=60)
    subprocess.run(run("model.toml", "--output", "whole"), check=True, capture_output=True, timeout=60)
    for place in ("out", "here"):
        same_bits(place, "whole", ("all", "end", "centres", "thin"))
        found, wanted = (nf.open_result(f"{each}/result.h5")["spots"].drop_vars("seconds") for each in (place, "whole"))
        assert found.equals(wanted)


WHOLE = (
    nf.Snapshot("centres", (0, 0, 0), CORNER, every=7, file=nf.FieldFile(positions="cells")),
    nf.Snapshot("thin", (0, 0, 0), CORNER, every=11, file=nf.FieldFile(sample_every=3)),
    nf.ElementStatistics("spots", (0, 0, 0), CORNER, every=20),
)


@pytest.mark.parametrize("domains", slow_after(1, ["1x1x2", "1x2x1"]))
def test_what_must_be_whole_comes_to_one_host(folder, domains):
    """Means at cell centres, every n-th sample and statistics of elements; with files of domains beside them."""
    Path("model.toml").write_text(model(nf.FieldFile(), more=WHOLE))
    done = on_two_hosts("model.toml", "--output", "two", "--ranks", "2", "--domains", domains)
    assert done.returncode == 0, done.stderr
    subprocess.run(run("model.toml", "--output", "one"), check=True, capture_output=True, timeout=60)
    same_bits("two", "one", ("all", "end", "centres", "thin"))
    one, two = (nf.open_result(f"{place}/result.h5")["spots"].drop_vars("seconds") for place in ("one", "two"))
    assert one.equals(two) and one.sizes["time"] == 3 and one.elements.values[-1] > 0
    files = {path.name for path in Path("two/result-fields").iterdir()}
    assert {"centres-sources.h5", "thin-sources.h5", "spots-sources.h5", "all-sources.d1.h5"} <= files
    assert not any(name.startswith(("centres-sources.d", "thin-sources.d", "spots-sources.d")) for name in files)
