"""Whatever ends a writer, and at whichever of its writes, what it had committed can be read and the status is true."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from fields_made import at_points, blocks, storage, values_of

from nearfield.entry.errors import RunFailed
from nearfield.formats.opening import open_field_file
from nearfield.formats.reading import open_fields

HERE = Path(__file__).parent
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE.parents[1]), os.environ.get("PYTHONPATH", "")])}


@pytest.fixture(scope="module")
def shim(tmp_path_factory) -> Path:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None or sys.platform != "linux":
        pytest.skip("needs a C compiler and Linux")
    made = tmp_path_factory.mktemp("shim") / "failing_disk.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", made, HERE / "failing_disk.c", "-ldl"], check=True)
    return made


def states(
    shim: Path,
    folder: Path,
    kind: str,
    codec: str,
    snapshots: int,
    fault: str,
    every: int = 1,
    keep: int = -1,
    *more: str,
) -> tuple[int, str]:
    """Calls that were made to fail, and what was wrong with any state that was left."""
    command = [sys.executable, HERE / "every_write.py", shim, kind, codec, snapshots, fault, every, keep, folder, *more]
    done = subprocess.run(
        list(map(str, command)),
        env={**ENVIRONMENT, "LD_PRELOAD": str(shim)},
        capture_output=True,
        text=True,
        timeout=580,
    )
    assert done.returncode == 0, done.stderr
    *wrong, last = done.stdout.splitlines()
    return int(last.split()[1]), "\n".join(wrong)


@pytest.mark.parametrize("fault", ["ENOSPC", "EIO"])
@pytest.mark.parametrize(
    "kind, codec, snapshots", [("hdf5", "zlib", 3), ("vtkhdf", "none", 1), ("binary", "none", 3), ("ascii", "none", 3)]
)
def test_a_disk_that_fails_at_any_write_leaves_all_committed_snapshots(kind, codec, snapshots, fault, shim, tmp_path):
    calls, wrong = states(shim, tmp_path, kind, codec, snapshots, fault)
    assert calls > 3 * snapshots and wrong == ""


@pytest.mark.parametrize("fault", ["ENOSPC", "EIO", "KILL"])
@pytest.mark.parametrize("kind, codec", [("hdf5", "none"), ("hdf5", "zlib"), ("binary", "none")])
def test_so_does_one_that_is_written_past_the_page_cache(kind, codec, fault, shim, tmp_path):
    calls, wrong = states(shim, tmp_path, kind, codec, 3, fault, 3, -1, "direct")
    assert calls > 9 and wrong == ""


@pytest.mark.parametrize("kind, codec, every", [("hdf5", "zlib", 17), ("binary", "none", 2), ("ascii", "none", 3)])
def test_a_kill_at_a_write_leaves_all_committed_snapshots(kind, codec, every, shim, tmp_path):
    assert states(shim, tmp_path, kind, codec, 3, "KILL", every)[1] == ""


@pytest.mark.parametrize("kind, every", [("hdf5", 5), ("binary", 1), ("ascii", 1)])
@pytest.mark.parametrize("fault", ["EIO", "KILL"])
def test_a_failure_while_a_file_is_gone_on_with_keeps_what_was_to_be_kept(kind, every, fault, shim, tmp_path):
    assert states(shim, tmp_path, kind, "none", 4, fault, every * (1 + 2 * (fault == "KILL")), keep=2)[1] == ""


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["ENOSPC", "EIO", "KILL"])
def test_long_files_stand_failures_too(fault, shim, tmp_path):
    """Long enough for the chunk index to have blocks of blocks."""
    calls, wrong = states(shim, tmp_path, "hdf5", "zlib", 260, fault, 401 if fault == "KILL" else 101)
    assert calls > 1000 and wrong == ""


WRITER = """
import sys
import numpy as np
from fields_made import at_points, storage
from nearfield.formats.description import Block
from nearfield.formats.opening import open_field_file
path, kind, codec = sys.argv[1:]
description = at_points(4000, **storage(kind, codec))
pattern = np.arange(5 * 4 * 6, dtype="f4").reshape(5, 4, 6)
with open_field_file(path, description, threads=2) as file:
    print("begun", flush=True)
    for snapshot in range(4000):
        for number, name in enumerate(description.components):
            file.write(Block(name, snapshot, snapshot, 1e-12 * snapshot, pattern + 10 * snapshot + number))
        if snapshot % 2:
            print(file.flush(), flush=True)
"""


@pytest.mark.parametrize("kind, codec", [("hdf5", "zlib"), ("hdf5", "none"), ("binary", "none"), ("ascii", "none")])
def test_kill_9_at_a_random_moment_leaves_what_was_committed(kind, codec, tmp_path):
    moments, pattern = random.Random(7), np.arange(5 * 4 * 6, dtype="f4").reshape(5, 4, 6)
    for attempt in range(2):
        path = tmp_path / f"fields{attempt}"
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path), kind, codec],
            cwd=HERE,
            env=ENVIRONMENT,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert writer.stdout.readline() == "begun\n"
        time.sleep(moments.uniform(0.0, 0.4))
        writer.send_signal(signal.SIGKILL)
        told = [int(line) for line in writer.stdout.read().splitlines(True) if line.endswith("\n")]
        assert writer.wait() == -signal.SIGKILL
        found = open_fields(path)
        count = found.sizes["time"]
        assert found.status.startswith("interrupted: ") and count >= (told[-1] if told else 0)
        for snapshot in {0, count // 2, count - 1} if count else ():
            assert int(found.step[snapshot]) == snapshot
            for number, name in enumerate(found):
                assert np.array_equal(found[name][snapshot], pattern + 10 * snapshot + number)


@pytest.mark.parametrize("kind, codec", [("hdf5", "none"), ("hdf5", "zlib"), ("binary", "none"), ("ascii", "none")])
def test_a_disk_that_is_really_full_leaves_all_committed_snapshots(kind, codec, tmp_path):
    place = tmp_path / "small"
    place.mkdir()
    if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=512k", "none", place]).returncode:
        pytest.skip("needs the right to mount a small disk")
    try:
        description = at_points(200, shape=(8, 8, 8), **storage(kind, codec))
        values, committed = values_of(description), 0
        with pytest.raises(RunFailed, match=r"No space left.*can be read"):
            file = open_field_file(place / "fields", description)
            for block in blocks(description, values):
                file.write(block)
                committed = max(committed, file.flush())
        found = open_fields(place / "fields")
        assert found.sizes["time"] >= committed > 0
        assert found.status.startswith("interrupted: ") and "No space left" in found.status
        count = found.sizes["time"]
        assert all(np.array_equal(found[name], wanted[:count]) for name, wanted in values.items())
        with pytest.raises(RunFailed):
            file.flush()
    finally:
        subprocess.run(["umount", "-l", place], check=True)  # lazily: arrays of the file may still be mapped
