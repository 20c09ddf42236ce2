"""MPI jobs that are killed leave nothing behind for long: the next one removes it, and only what is nobody's."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from nearfield.machine import left_segments
from nearfield.machine.left_segments import MADE_BY_MPI, note_own, remove_left
from nearfield.parallel.launch import command, launcher

CHILD = """
import mmap, os, sys, time
from contextlib import suppress
from pathlib import Path
from nearfield.machine.left_segments import note_own
folder = Path(sys.argv[1])
maps = []
for name in sys.argv[2:]:
    with open(folder / name, "a+b") as file:
        file.truncate(4096)
        maps.append(mmap.mmap(file.fileno(), 4096))
print(note_own(folder), flush=True)
time.sleep(60)
"""


def rank(folder: Path, *files: str) -> subprocess.Popen:
    """A process that has files of an MPI mapped and has noted them."""
    process = subprocess.Popen([sys.executable, "-c", CHILD, folder, *files], stdout=subprocess.PIPE, text=True)
    assert process.stdout and "nearfield-mpi." in process.stdout.readline()
    return process


def killed(process: subprocess.Popen) -> None:
    process.kill()
    process.communicate()


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir() if not path.name.startswith("nearfield-mpi.")}


def test_what_a_killed_job_left_is_removed_and_what_the_living_use_or_others_made_stays(tmp_path):
    for name in ("mpich_shm_of_others_0", "precious"):
        (tmp_path / name).touch()
    first, second = rank(tmp_path, "mpich_shm_1_0", "precious"), rank(tmp_path, "mpich_shm_1_0")
    living = rank(tmp_path, "mpich_shm_2_0")
    everything = names(tmp_path)
    assert remove_left(tmp_path) == [] and names(tmp_path) == everything
    killed(first)
    assert remove_left(tmp_path) == []  # the other rank of the job lives
    killed(second)
    assert remove_left(tmp_path) == ["mpich_shm_1_0"]
    assert names(tmp_path) == everything - {"mpich_shm_1_0"}
    killed(living)
    assert remove_left(tmp_path) == ["mpich_shm_2_0"] and remove_left(tmp_path) == []
    assert names(tmp_path) == {"mpich_shm_of_others_0", "precious"}
    assert not list(tmp_path.glob("nearfield-mpi.*"))


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b'{"mpich_shm_x_0": {}}', b'{"../mpich_shm_x_0": 1}'])
def test_a_note_that_anyone_may_have_written_removes_nothing(content, tmp_path):
    folder = tmp_path / "shm"
    folder.mkdir()
    (tmp_path / "mpich_shm_x_0").touch()
    (folder / "mpich_shm_x_0").touch()
    (folder / f"nearfield-mpi.{os.getuid()}.a").write_bytes(content)
    assert remove_left(folder) == []
    assert (tmp_path / "mpich_shm_x_0").exists() and (folder / "mpich_shm_x_0").exists()


def test_a_name_that_was_given_to_another_file_since_or_a_link_is_left_alone(tmp_path):
    other = tmp_path / "mpich_shm_x_0"
    other.touch()
    link = tmp_path / "mpich_shm_y_0"
    link.symlink_to(other)
    inodes = {"mpich_shm_x_0": other.stat().st_ino + 1, "mpich_shm_y_0": link.stat().st_ino}
    (tmp_path / f"nearfield-mpi.{os.getuid()}.a").write_text(json.dumps(inodes))
    assert remove_left(tmp_path) == [] and other.exists() and link.is_symlink()


def test_a_process_without_an_mpi_notes_nothing(tmp_path):
    assert note_own(tmp_path) is None and list(tmp_path.iterdir()) == []


def test_ranks_of_a_run_that_is_killed_leave_nothing_that_the_next_run_does_not_remove():
    pytest.importorskip("mpi4py")
    line, needed = command(2, [], launcher())
    line = [*line[: line.index("-m")], "-c"]
    script = "from nearfield.machine.transport import world; world(); import os; os.write(1, b'%9d' % os.getpid())"
    waiting = [*line, f"{script}; import time; time.sleep(60)"]
    options = {"env": os.environ | needed, "stdout": subprocess.PIPE, "text": True}
    process = subprocess.Popen(waiting, **options)
    assert process.stdout
    ranks = [int(process.stdout.read(9)) for _ in range(2)]
    shared = left_segments.SHARED_MEMORY
    mapped = [path for rank in ranks for path in re.findall(rf"{shared}/\S+", Path(f"/proc/{rank}/maps").read_text())]
    files = {Path(path) for path in mapped if Path(path).name.startswith(MADE_BY_MPI)}
    for rank in ranks:
        with suppress(ProcessLookupError):  # the launcher may end a rank once another has died
            os.kill(rank, signal.SIGKILL)
    process.communicate()
    assert files and any(path.exists() for path in files)
    subprocess.run([*line, script], check=True, **options)
    assert not any(path.exists() for path in files)
