"""Ranks on several hosts, emulated by network namespaces: the same bits as one process."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from nearfield.cli import main
from nearfield.parallel.launch import launcher

pytest.importorskip("mpi4py")
CLUSTER = Path(__file__).resolve().parents[2] / "scripts" / "make_believe_cluster"


def on_cluster(hosts: int, *command: str) -> subprocess.CompletedProcess:
    line = [str(CLUSTER), str(hosts), "1gbit", *command]
    return subprocess.run(line, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture(scope="module", autouse=True)
def cluster():
    """Skips where this user or system cannot have one."""
    if not (shutil.which("ip") and shutil.which("tc")):
        pytest.skip("an emulated network needs ip and tc (Debian package iproute2)")
    version = subprocess.run([launcher(), "--version"], capture_output=True, text=True, check=False).stdout
    if "HYDRA" not in version:
        pytest.skip("the emulated cluster is set up for MPICH's mpiexec")
    tried = on_cluster(1, "true")
    if tried.returncode:
        pytest.skip(tried.stderr.strip())


BOX = ["bench", "box", "--cells", "40", "--steps", "30", "--boundary", "cpml", "--threads", "1", "--json"]


@pytest.mark.parametrize("depth", ["1", "4"])
def test_two_hosts_give_the_bits_of_one_process(depth, capsys):
    assert main(BOX) == 0
    alone = json.loads(capsys.readouterr().out)
    done = on_cluster(2, sys.executable, "-m", "nearfield", *BOX, "--ranks", "2", "--halo-depth", depth)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [each["host"] for each in found["placement"]] == ["host1", "host2"]
    assert found["checksum"] == alone["checksum"]


PING_PONG = """
import time
import numpy as np
from mpi4py import MPI
world, block, times = MPI.COMM_WORLD, np.ones(2**20, np.uint8), 16
world.Barrier()
begun = time.perf_counter()
for _ in range(times):
    world.Send(block, 1) if world.rank == 0 else world.Recv(block, 0)
    world.Recv(block, 1) if world.rank == 0 else world.Send(block, 0)
if world.rank == 0:
    print(2 * times * block.size / (time.perf_counter() - begun))
"""


def test_messages_between_hosts_take_the_limited_link():
    done = on_cluster(2, str(launcher()), "-n", "2", sys.executable, "-c", PING_PONG)
    assert done.returncode == 0, done.stderr
    # 1 Gbit/s is 125 MB/s, and no load of this machine lets more through; shared memory passes several GB/s
    assert 0 < float(done.stdout) < 1.01 * 125e6


def test_a_cluster_that_cannot_be_is_refused():
    for words in (["0", "1gbit", "true"], ["2", "1gbit"]):
        done = subprocess.run([str(CLUSTER), *words], capture_output=True, text=True, timeout=30, check=False)
        assert done.returncode == 2 and "make_believe_cluster: give HOSTS" in done.stderr
    done = subprocess.run([str(CLUSTER), "2", "fast", "true"], capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 2 and "'fast'" in done.stderr


@pytest.mark.slow
def test_the_benchmark_of_halos_holds_every_kind_and_one_checksum(tmp_path):
    script = CLUSTER.parents[1] / "benchmarks" / "cluster.py"
    tiny = ["--sizes", "40", "--hosts", "3", "--work", "1e6", "--pairs", "1"]
    line = [sys.executable, str(script), *tiny, "--output", str(tmp_path), "--plot", str(tmp_path / "cluster.png")]
    done = subprocess.run(line, capture_output=True, text=True, timeout=500, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads((tmp_path / "cluster.json").read_text())
    assert [row["hosts"] for row in found["comparisons"]] == [2, 3] and (tmp_path / "cluster.png").exists()
    for row in found["comparisons"]:
        assert len(row["checksums"]) == 1 and len(row["kinds"]) == 4
        assert all(each["efficiency"] > 0 < each["predicted_efficiency"] <= 1.0001 for each in row["kinds"])
