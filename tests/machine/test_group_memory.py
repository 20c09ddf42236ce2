"""Limits of control groups count: a run that one of them cannot hold is refused before the kernel ends it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import nearfield as nf
from nearfield.cli import main
from nearfield.machine import system_files
from nearfield.machine.group_memory import group_memory, nodes_free
from nearfield.run import memory as run_memory

MIB = 2**20


def written(folder: Path, **files: object) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name.replace("__", ".")).write_text(f"{content}\n")


def test_version_2_takes_the_narrowest_group_on_the_way_to_the_root(tmp_path):
    root, member = tmp_path / "fs" / "cgroup", tmp_path / "membership"
    written(root / "batch", memory__max=300 * MIB, memory__current=100 * MIB, memory__stat=f"inactive_file {40 * MIB}")
    written(root / "batch" / "job", memory__max="max", memory__current=90 * MIB, memory__stat="")
    written(root / "batch" / "job" / "step", memory__max=500 * MIB, memory__current=10 * MIB)
    member.write_text("0::/batch/job/step\n")
    found = group_memory(tmp_path, member)
    assert found is not None and found.group.endswith("/batch")
    assert (found.limit, found.free) == (300 * MIB, 240 * MIB)


def test_version_1_knows_its_number_for_no_limit(tmp_path):
    root, member = tmp_path / "fs" / "cgroup" / "memory", tmp_path / "membership"
    names = {"memory__limit_in_bytes": 2**63 - 4096, "memory__usage_in_bytes": 5 * MIB}
    written(root, **names)
    written(root / "docker" / "a", **names)
    member.write_text("5:devices:/\n4:memory:/docker/a\n0::/\n")
    assert group_memory(tmp_path, member) is None
    stat = f"cache 1\ntotal_inactive_file {2 * MIB}"
    written(root / "docker", memory__limit_in_bytes=64 * MIB, memory__usage_in_bytes=60 * MIB, memory__stat=stat)
    found = group_memory(tmp_path, member)
    assert found is not None and (found.limit, found.free) == (64 * MIB, 6 * MIB)


def test_a_group_that_is_not_below_the_mount_leaves_the_mount_itself(tmp_path):
    """In a container the system names groups of the host, and shows the container's own at the root."""
    written(tmp_path / "fs" / "cgroup", memory__max=10 * MIB, memory__current=0)
    (tmp_path / "membership").write_text("0::/../host/docker/abc\n")
    found = group_memory(tmp_path, tmp_path / "membership")
    assert found is not None and found.limit == 10 * MIB


def test_without_groups_nothing_is_known(tmp_path):
    assert group_memory(tmp_path, tmp_path / "none") is None


@pytest.mark.parametrize(
    ("allowed", "policy", "free"),
    [("0-1", "default", None), ("0-1", "interleave:1", None), ("1", "default", 20), ("0-1", "bind:0", 10)],
)
def test_a_process_that_is_held_to_nodes_has_their_memory_alone(tmp_path, allowed, policy, free):
    for node, size in ((0, 10), (1, 20)):
        folder = tmp_path / "devices" / "system" / "node" / f"node{node}"
        written(folder, meminfo=f"Node {node} MemFree: {size * 1024} kB\nNode {node} MemTotal: 99999999 kB")
    written(tmp_path, status=f"Mems_allowed_list:\t{allowed}", maps=f"559ab3361000 {policy} file=/usr/bin/head")
    found = nodes_free(tmp_path, tmp_path / "status", tmp_path / "maps")
    assert found == (None if free is None else free * MIB)


def box(cells: int) -> nf.Simulation:
    return nf.Simulation(
        nf.Grid.uniform(1e-3, (cells,) * 3),
        boundaries=nf.Boundaries(all=nf.PEC),
        steps=20,
        sources=[nf.PointCurrent((4e-3,) * 3, "z", nf.Gaussian(15e9))],
    )


def test_check_and_run_refuse_what_the_group_cannot_hold(tmp_path, monkeypatch, capsys):
    limit = run_memory.group_memory.__globals__["GroupMemory"]("/fs/batch", 30 * MIB, 20 * MIB)
    monkeypatch.setattr(run_memory, "group_memory", lambda: limit)
    monkeypatch.setattr(run_memory, "free_memory", lambda: limit.free)
    (tmp_path / "model.toml").write_text(box(120).to_toml())
    for command in (["check"], ["run", "--output", str(tmp_path / "out"), "--no-report"]):
        assert main([command[0], str(tmp_path / "model.toml"), *command[1:]]) == 2
        said = capsys.readouterr().err
        assert "/fs/batch) grants 30 MiB, of which 20 MiB are left" in said and said.count("error:") == 1, said
    assert not (tmp_path / "out" / "result.h5").exists()
    with pytest.raises(nf.ModelError, match="control group"):
        box(120).run(threads=1)
    assert box(20).run(threads=1).status == "done"


def long_snapshots(steps: int) -> nf.Simulation:
    """Small, but what its monitor keeps in memory grows with the steps: 50 KiB a snapshot."""
    kept = nf.Snapshot("kept", (0, 0, 0), (12e-3,) * 3, every=10)
    return box(12).model_copy(update={"monitors": [kept], "steps": steps})


@pytest.mark.parametrize("model", [box(120), long_snapshots(10000)], ids=["cells", "snapshots"])
def test_run_refuses_what_the_whole_machine_cannot_hold_and_check_says_so(tmp_path, monkeypatch, capsys, model):
    """Without a control group the run was begun; `check` plans runs for other machines too."""
    monkeypatch.setattr(run_memory, "group_memory", lambda: None)
    monkeypatch.setattr(run_memory, "memory_whole", lambda: 30 * MIB)
    monkeypatch.setattr(run_memory, "free_memory", lambda: 20 * MIB)
    (tmp_path / "model.toml").write_text(model.to_toml())
    assert main(["check", str(tmp_path / "model.toml")]) == 0
    assert "this machine has 30 MiB in all" in capsys.readouterr().out
    assert main(["run", str(tmp_path / "model.toml"), "--output", str(tmp_path / "out"), "--no-report"]) == 2
    said = capsys.readouterr().err
    assert "this machine has 30 MiB in all" in said and said.count("error:") == 1, said
    assert not (tmp_path / "out" / "result.h5").exists()


def test_what_is_not_free_now_is_a_warning(monkeypatch):
    monkeypatch.setattr(run_memory, "group_memory", lambda: None)
    monkeypatch.setattr(run_memory, "memory_whole", lambda: 1000 * MIB)
    monkeypatch.setattr(run_memory, "free_memory", lambda: 20 * MIB)
    assert any("20 MiB are free here" in warning for warning in box(120).check().warnings)


GROUP = Path("/sys/fs/cgroup/memory")


def run_in_a_group(model: nf.Simulation, mib: int, folder: Path, *more: str) -> subprocess.CompletedProcess:
    """The command in a control group of its own with such a limit."""
    own = GROUP / f"nearfield-test-{os.getpid()}"
    try:
        own.mkdir()
        (own / "memory.limit_in_bytes").write_text(str(mib * MIB))
    except OSError as error:
        own.exists() and own.rmdir()
        pytest.skip(f"needs the right to make control groups of version 1 ({error})")
    try:
        (folder / "model.toml").write_text(model.to_toml())
        code = (
            f"import os, sys; open({str(own / 'cgroup.procs')!r}, 'w').write(str(os.getpid()))\n"
            "from nearfield.cli import main; sys.exit(main())"
        )
        line = [sys.executable, "-c", code, "run", "model.toml", "--output", "out", "--threads", "1", *more]
        environment = os.environ | {"PYTHONPATH": str(Path(nf.__file__).parents[1])}
        return subprocess.run(line, cwd=folder, env=environment, capture_output=True, text=True, timeout=100)
    finally:
        own.rmdir()


def test_a_run_in_a_real_group_is_refused_before_the_kernel_ends_it(tmp_path):
    done = run_in_a_group(box(200), 220, tmp_path, "--no-report")  # some 240 MiB
    assert done.returncode == 2 and "grants 220 MiB" in done.stderr, done.stderr


def with_bodies(cells: int) -> nf.Simulation:
    """A sphere of a medium and metal that cuts cells, whose coefficients take more memory than the fields."""
    middle, low, high = ((share * cells * 1e-3,) * 3 for share in (0.5, 0.3, 0.7))
    bodies = [
        nf.Structure(nf.Sphere(middle, 0.3e-3 * cells), nf.Medium(3)),
        nf.Structure(nf.Cylinder(low, high, 9e-3), nf.PEC),
    ]
    cut = nf.Snapshot("cut", (0, 0, middle[2]), (2 * middle[0], 2 * middle[1], middle[2]), every=20)
    return box(cells).model_copy(update={"structures": bodies, "monitors": [cut]})


@pytest.mark.slow
def test_what_coefficients_take_while_they_are_made_counts(tmp_path):
    """Some 45 MiB and 40 more beside what Python takes; 45 alone would be let in."""
    assert with_bodies(100).check().setup_memory_bytes > 30 * MIB
    done = run_in_a_group(with_bodies(100), 120, tmp_path, "--no-report")
    assert done.returncode == 2 and "grants 120 MiB" in done.stderr, (done.returncode, done.stderr)


@pytest.mark.slow
def test_pictures_that_the_group_has_no_room_for_are_left_out_with_a_word(tmp_path):
    done = run_in_a_group(with_bodies(100), 260, tmp_path)
    assert done.returncode == 0 and (tmp_path / "out" / "result.h5").exists(), (done.returncode, done.stderr)
    assert "pictures and report need 200 MiB of memory" in done.stdout + done.stderr
    assert not (tmp_path / "out" / "report.html").exists()


def test_the_only_node_has_the_memory_of_the_machine(tmp_path):
    """A virtual machine that was given memory later has it in no node's own file."""
    node = tmp_path / "node0"
    written(node, cpulist="0-1", meminfo=f"Node 0 MemTotal: {9 * 2**10} kB", distance="10")
    (found,), _ = system_files.memory_of(tmp_path, frozenset({0, 1}), frozenset({0}), 24 * MIB)
    assert found.size == 24 * MIB
    (found,), _ = system_files.memory_of(tmp_path, frozenset({0, 1}), frozenset({0}))
    assert found.size == 9 * MIB
