"""Elements over ranks and out of memory: the same bits as of one process in memory."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from contextlib import ExitStack
from pathlib import Path

import h5py
import numpy as np
import pytest

import nearfield as nf
from nearfield.cli import main
from nearfield.dissipation.elements import Request, analysed
from nearfield.dissipation.memory import Keeper, in_memory
from nearfield.dissipation.team import workplace
from nearfield.machine.transport import Alone


class Together:
    """What threads that stand for ranks exchange."""

    def __init__(self, size: int) -> None:
        self.values: list = [None] * size
        self.barrier = threading.Barrier(size, timeout=60)


class ThreadRank(Alone):
    """A rank that is a thread of this process."""

    def __init__(self, rank: int, together: Together) -> None:
        self.rank, self.size, self.together = rank, len(together.values), together

    def everywhere(self, value) -> list:
        self.together.values[self.rank] = value
        self.together.barrier.wait()
        found = list(self.together.values)
        self.together.barrier.wait()
        return found

    def from_root(self, value):
        return self.everywhere(value)[0]


def on_threads(field: np.ndarray, request: Request, folder: Path, hosts: tuple[str, ...]) -> list[nf.Elements]:
    """The elements that each rank of these hosts finds."""
    together, found = Together(len(hosts)), {}

    def work(rank: int) -> None:
        # hosts have folders of their own
        with workplace(folder / hosts[rank], ThreadRank(rank, together), hosts) as place:
            found[rank] = analysed(field, request, place)

    threads = [threading.Thread(target=work, args=(rank,)) for rank in range(len(hosts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [found[rank] for rank in range(len(hosts))]


def noisy(*shape: int) -> np.ndarray:
    """A smooth field with plateaus: values of few digits."""
    x, y, z = np.meshgrid(*(np.arange(count) * 2 * np.pi / 16 for count in shape), indexing="ij")
    smooth = np.cos(x) + 0.8 * np.cos(y + 0.2) * np.cos(z) + 0.5 * np.sin(x + y - 2 * z)
    return np.round(smooth + 0.2 * np.random.default_rng(3).standard_normal(shape), 1).astype(np.float32)


def assert_same(one: nf.Elements, other: nf.Elements) -> None:
    assert np.array_equal(one.labels, other.labels)
    for name in ("maximum", "minimum", "shift", "points"):
        assert np.array_equal(getattr(one, name), getattr(other, name))
    for ours, theirs in ((one.maxima, other.maxima), (one.minima, other.minima)):
        assert np.array_equal(ours.position, theirs.position)
    assert (one.traced, one.unresolved, one.simplified) == (other.traced, other.unresolved, other.simplified)


@pytest.mark.parametrize(
    ("method", "hosts"),
    [("discrete", "aa"), ("discrete", "aabb"), ("trace", "abc"), ("hybrid", "aaaa"), ("hybrid", "ab")],
)
def test_ranks_find_the_elements_of_one_process(tmp_path, method, hosts):
    field = noisy(13, 14, 16)
    request = Request(0.5, "xz", method, 1, 0.15, chunk=64)
    alone = analysed(field, request)
    assert alone.simplified > 0 and len(alone) > 20
    for found in on_threads(field, request, tmp_path, tuple(hosts)):
        assert_same(alone, found)
    assert not any(path.is_file() for path in tmp_path.rglob("*"))


def test_flat_fields_of_fewer_rows_than_ranks_are_shared_too(tmp_path):
    line = np.sin(np.arange(24) * np.pi / 6)
    for found in on_threads(line, Request(periodic="x", threads=1), tmp_path, ("a", "a", "b")):
        assert_same(nf.elements(line, periodic="x"), found)


def test_files_of_a_scratch_folder_hold_the_same_labels_and_are_gone_later(tmp_path):
    field = noisy(12, 16, 10)
    with h5py.File(tmp_path / "flow.h5", "w") as file:
        data = file.create_dataset("phi", data=field, chunks=True)
        found = nf.elements(data, periodic="y", scratch=tmp_path / "scratch")
    assert_same(nf.elements(field, periodic="y"), found)
    assert list((tmp_path / "scratch").iterdir()) == []
    assert found.statistics().equals(nf.elements(field, periodic="y").statistics())


def test_fields_beyond_the_given_memory_are_analysed_in_files(tmp_path, capsys):
    field = noisy(16, 16, 16)
    with h5py.File(tmp_path / "flow.h5", "w") as file:
        file["phi"] = field
    np.save(tmp_path / "flow.npy", field)
    for given in ("flow.h5:phi", "flow.npy"):
        command = ["elements", f"{tmp_path}/{given}", "--memory", "20kB", "--json", "--output", f"{tmp_path}/found.h5"]
        assert main(command) == 0
        told = capsys.readouterr()
        assert json.loads(told.out)["storage"] in told.err and "files in" in told.err
        assert_same(nf.elements(field), nf.open_elements(tmp_path / "found.h5"))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--memory", "much"], "give a size as 500MB or 8GB"),
        (["--chunk", "0"], "--chunk"),
        (["--memory", "20kB", "--scratch", "/proc/nowhere"], "name a folder with more by --scratch"),
    ],
)
def test_what_cannot_be_kept_is_refused_in_words(tmp_path, capsys, options, words):
    np.save(tmp_path / "flow.npy", noisy(12, 12, 12))
    assert main(["elements", f"{tmp_path}/flow.npy", *options]) == 2
    assert words in capsys.readouterr().err


def test_a_field_of_1024_cubed_is_planned_and_refused_where_no_disk_has_room(tmp_path, monkeypatch):
    class Data:
        shape, dtype = (1024, 1024, 1024), np.dtype(np.float32)

    monkeypatch.setattr("nearfield.dissipation.memory.free_memory", lambda: 8 << 30)
    with ExitStack() as stack:
        keeper = Keeper(stack, "hybrid", tmp_path)
        monkeypatch.setattr("nearfield.dissipation.memory.room_in", lambda folder: 23 << 30)
        assert keeper._folder(Data(), 20 << 30, 8 << 30) == tmp_path
        assert "22 GiB" in keeper.remark
        monkeypatch.setattr("nearfield.dissipation.memory.room_in", lambda folder: 21 << 30)
        with pytest.raises(nf.ModelError, match=r"20 GiB of memory, of which 8 GiB .* 22 GiB on a disk, .* has 21 GiB"):
            keeper._folder(Data(), 20 << 30, 8 << 30)


def test_folders_in_memory_are_told_from_those_of_disks(tmp_path):
    mounts = tmp_path / "mounts"
    mounts.write_text(f"disk / ext4 rw 0 0\ntmpfs {tmp_path.resolve()} tmpfs rw 0 0\n")
    assert in_memory(tmp_path / "new", mounts) and not in_memory(Path("/"), mounts)


BOUND = """
import resource, sys
import numpy as np
import nearfield as nf
from nearfield.dissipation.memory import Keeper
field = np.load(sys.argv[1], mmap_mode="r")
nf.elements(np.array(field[:16, :16, :16]), 1.0, threads=1)
used = int(open("/proc/self/status").read().partition("VmData:")[2].split()[0]) << 10
resource.setrlimit(resource.RLIMIT_DATA, (used + field.size * 6,) * 2)  # less than half of what labels need
scratch = sys.argv[2] if len(sys.argv) > 2 else None
print(len(nf.elements(field, 1.0, "xyz", threads=1, scratch=scratch)))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="private memory is bounded by Linux's RLIMIT_DATA")
def test_private_memory_stays_below_that_of_labels_where_they_lie_in_files(tmp_path):
    x = np.arange(192, dtype=np.float32) * np.float32(np.pi / 24)
    np.save(tmp_path / "field.npy", np.cos(x)[:, None, None] + np.cos(x)[:, None] + np.cos(x))
    command = [sys.executable, "-c", BOUND, str(tmp_path / "field.npy")]
    inside = subprocess.run(command, capture_output=True, text=True)
    assert (inside.returncode and "bad_alloc" in inside.stderr) or "MemoryError" in inside.stderr
    outside = subprocess.run([*command, str(tmp_path)], capture_output=True, text=True, check=True)
    assert int(outside.stdout) == 512


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("mpiexec") is None, reason="needs MPI's launcher")
@pytest.mark.parametrize("ranks", [2, 4])
def test_labels_over_mpi_are_those_of_one_process(tmp_path, ranks):
    field = noisy(24, 20, 16)
    with h5py.File(tmp_path / "flow.h5", "w") as file:
        file["phi"] = field
    command = [
        "mpiexec",
        "-n",
        str(ranks),
        sys.executable,
        "-m",
        "nearfield.cli",
        "elements",
        f"{tmp_path}/flow.h5:phi",
    ]
    command += [
        "--periodic",
        "xy",
        "--persistence",
        "0.15",
        "--threads",
        "1",
        "--output",
        f"{tmp_path}/out.h5",
        "--json",
    ]
    told = subprocess.run(command, capture_output=True, text=True, env=os.environ)
    assert told.returncode == 0, told.stderr
    assert json.loads(told.stdout)["ranks"] == ranks
    assert_same(nf.elements(field, 1.0, "xy", persistence=0.15), nf.open_elements(tmp_path / "out.h5"))
