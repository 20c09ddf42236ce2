"""What launchers are given: the founding paper's three listings, and that PRRTE and Hydra place ranks as the lines say.

PRRTE's allocator simulator and Hydra's topology debugging read the machine from an XML file: no cluster is needed.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from nearfield.cli import main
from nearfield.entry.errors import ModelError
from nearfield.machine.hardware import Unit, from_synthetic, this_machine
from nearfield.machine.launchers import LAUNCHERS, emit, mask, ranges
from nearfield.machine.placement import Rank, host_names, ranks
from nearfield.machine.xml_export import to_xml

ROOT = Path(__file__).resolve().parents[2]
S0 = "pack:2 [numa] core:4 pu:1"
LIMIT = 100  # seconds, of any launcher
# machines on which cores, processors, packages and nodes are numbered and nested in all the ways that matter
CASES = [
    (S0, "node"),
    (S0, "socket"),
    (S0, "core"),
    (S0, "none"),
    ("pack:2 [numa] l3:2 core:4 pu:2(indexes=16*2:1*16)", "l3"),
    ("pack:2 numa:2 core:3 pu:2", "numa"),
    ("pack:1 [numa] core:4 pu:2(indexes=2*4:1*2)", "core"),
    ("group:72 pack:2 numa:2(memory=16GB) core:6 pu:1", "numa"),
]


def lines(topology: str, scheme: str, launcher: str, hosts: int | str = 2) -> list[str]:
    machine = from_synthetic(topology)
    names = host_names(hosts) if isinstance(hosts, int) else tuple(hosts.split(","))
    return emit(launcher, machine, scheme, ranks(machine, scheme, names))


# The listings of the founding paper (Zhao, Chen, Yu), letter for letter


def listing(capsys, scheme: str) -> str:
    assert main(["place", "--topology", S0, "--nodes", "2", "--bind", scheme, "--emit", "rankfile"]) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    return shown.out


def test_binding_nodes_is_the_papers_listing(capsys):
    assert listing(capsys, "node") == "rank 0=host0 slot=0-7\nrank 1=host1 slot=0-7\n"


def test_binding_cpus_is_the_papers_listing(capsys):
    assert listing(capsys, "socket") == (
        "rank 0=host0 slot=0-3\nrank 1=host0 slot=4-7\nrank 2=host1 slot=0-3\nrank 3=host1 slot=4-7\n"
    )


def test_binding_cores_is_the_papers_listing(capsys):
    assert listing(capsys, "core") == "".join(f"rank {rank}=host{rank // 8} slot={rank % 8}\n" for rank in range(16))


@pytest.mark.parametrize("launcher", LAUNCHERS)
@pytest.mark.parametrize("topology, scheme", CASES)
def test_there_is_a_line_for_each_rank_and_nothing_else(launcher, topology, scheme):
    machine = from_synthetic(topology)
    assert len(lines(topology, scheme, launcher, 3)) == 3 * len(machine.units(scheme))


def test_hosts_have_the_names_that_were_given(capsys):
    names = ["--nodes", "2", "--hosts", "n7,n9"]
    assert main(["place", "--topology", S0, *names, "--bind", "node", "--emit", "hydra"]) == 0
    assert [line.split(":")[0] for line in capsys.readouterr().out.splitlines()] == ["n7", "n9"]


def test_hydra_has_the_processors_of_all_ranks_on_a_hosts_first_line():
    assert lines(S0, "socket", "hydra") == [
        "host0:1 binding=user:0+1+2+3,4+5+6+7",
        "host0:1",
        "host1:1 binding=user:0+1+2+3,4+5+6+7",
        "host1:1",
    ]
    assert lines(S0, "none", "hydra") == ["host0:1", "host1:1"]


def test_slurm_has_hosts_with_masks_as_comments():
    assert lines(S0, "socket", "slurm") == ["host0#0xf", "host0#0xf0", "host1#0xf", "host1#0xf0"]
    assert lines(S0, "none", "slurm") == ["host0", "host1"]
    hyper = lines("pack:1 [numa] core:4 pu:2(indexes=2*4:1*2)", "core", "slurm", 1)
    assert hyper == ["host0#0x11", "host0#0x22", "host0#0x44", "host0#0x88"]


def test_masks_of_1728_processors_are_whole_and_too_long_ones_are_refused():
    found = lines("group:72 pack:2 numa:2(memory=16GB) core:6 pu:1", "core", "slurm", 1)
    assert [int(line.split("#")[1], 16) for line in found] == [1 << number for number in range(1728)]
    with pytest.raises(ModelError, match="processor 4095 needs a mask longer"):
        lines("pack:64 [numa] core:64 pu:1", "node", "slurm")
    assert lines("pack:64 [numa] core:64 pu:1", "node", "rankfile") == [f"rank {n}=host{n} slot=0-4095" for n in (0, 1)]


def test_ranges_and_masks():
    assert ranges([]) == "" and ranges([3]) == "3" and ranges([9, 0, 2, 1, 8]) == "0-2,8-9"
    assert mask([0, 3, 3]) == "0x9"


# Acceptance by the launchers


@pytest.fixture(scope="module")
def prterun() -> str:
    """PRRTE apart from .venv, fetched where it is not there yet."""
    program = ROOT / "build" / "prrte" / "bin" / "prterun"
    if not program.exists():
        fetched = subprocess.run([ROOT / "scripts" / "prrte"], capture_output=True, text=True, timeout=LIMIT)
        if fetched.returncode:
            pytest.skip(f"no PRRTE: scripts/prrte could not fetch it ({fetched.stderr.strip()[-200:]})")
    return str(program)


@pytest.fixture(scope="module")
def hydra() -> str:
    """MPICH's launcher, beside this Python or on the path."""
    beside = Path(sys.executable).parent / "mpiexec.hydra"
    program = str(beside) if beside.exists() else shutil.which("mpiexec.hydra")
    if not program:
        pytest.skip("no Hydra: install MPICH")
    return program


def placed_by_prrte(program: str, folder: Path, machine, rank_file: list[str], slots: int) -> dict[int, tuple]:
    """Host and logical cores of each rank on two simulated hosts, nodeA0 and nodeA1, of this machine."""
    (folder / "machine.xml").write_text(to_xml(machine))
    (folder / "ranks").write_text("\n".join(rank_file) + "\n")
    done = subprocess.run(
        [
            program,
            "--allow-run-as-root",
            "--prtemca",
            "ras_simulator_num_nodes",
            "2",
            "--prtemca",
            "ras_simulator_slots",
            str(slots),
            "--prtemca",
            "ras_simulator_topo_files",
            str(folder / "machine.xml"),
            "-n",
            str(len(rank_file)),
            "--map-by",
            f"rankfile:FILE={folder / 'ranks'}",
            "--display",
            "map",
            "true",
        ],
        capture_output=True,
        text=True,
        timeout=LIMIT,
        cwd=folder,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found, host, rank = {}, "", -1
    for line in done.stdout.splitlines():
        if node := re.match(r"Data for node: (\S+)", line):
            host = node[1]
        elif process := re.search(r"Data for proc: \[.*,(\d+)\]", line):
            rank = int(process[1])
        elif "Binding:" in line:
            found[rank] = (host, numbers(re.findall(r"core:L([\d,-]+)", line)))
    return found


def numbers(lists: list[str]) -> tuple[int, ...]:
    """The numbers of lists such as `0-3,8`."""
    ends = [[int(end) for end in part.split("-")] for listed in lists for part in listed.split(",")]
    return tuple(number for part in ends for number in range(part[0], part[-1] + 1))


@pytest.mark.parametrize("topology, scheme", CASES)
def test_prrte_puts_every_rank_where_the_line_says(prterun, tmp_path, topology, scheme):
    machine = from_synthetic(topology)
    placed = ranks(machine, scheme, ("nodeA0", "nodeA1"))
    rank_file = emit("prrte", machine, scheme, placed)
    found = placed_by_prrte(prterun, tmp_path, machine, rank_file, len(machine.cores))
    assert rank_file == emit("rankfile", machine, scheme, placed)
    assert found == {rank.number: (rank.host, rank.unit.cores) for rank in placed}


def test_prrte_takes_cores_that_are_not_neighbours(prterun, tmp_path):
    machine = from_synthetic(S0)
    placed = [Rank(0, "nodeA0", 0, Unit((0, 1, 5), (0, 1))), Rank(1, "nodeA1", 0, Unit((2, 7), (0, 1)))]
    found = placed_by_prrte(prterun, tmp_path, machine, emit("prrte", machine, "node", placed), 8)
    assert found == {0: ("nodeA0", (0, 1, 5)), 1: ("nodeA1", (2, 7))}


STAYS = "sleep", "0.3"  # ranks that end at once: hydra writes to a part of itself that is gone (SIGPIPE, one in ten)


@pytest.mark.parametrize("topology, scheme", [case for case in CASES if case[1] != "none"])
def test_hydra_binds_every_rank_as_its_host_file_says(hydra, tmp_path, topology, scheme):
    machine = from_synthetic(topology)
    units = machine.units(scheme)
    hosts = ("one",) if len(units) > 64 else ("one", "two")  # processes are real
    count = min(len(units), 16) if len(hosts) == 1 else len(units) * len(hosts)
    (tmp_path / "machine.xml").write_text(to_xml(machine))
    (tmp_path / "hosts").write_text("\n".join(emit("hydra", machine, scheme, ranks(machine, scheme, hosts))) + "\n")
    environment = os.environ | {"HWLOC_XMLFILE": str(tmp_path / "machine.xml"), "HYDRA_TOPO_DEBUG": "1"}
    done = subprocess.run(
        [hydra, "-launcher", "fork", "-f", tmp_path / "hosts", "-n", str(count), *STAYS],
        capture_output=True,
        text=True,
        timeout=LIMIT,
        env=environment,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    shown = re.findall(r"process (\d+) binding: ([01]+)", done.stdout + done.stderr)
    found = Counter((int(local), tuple(place for place, bit in enumerate(bits) if bit == "1")) for local, bits in shown)
    expected = [(local, machine.processors_of(unit)) for local, unit in enumerate(units)] * len(hosts)
    assert found == Counter(expected[:count])


# On this machine, for real


def bound_ranks(command: list[str]) -> dict[int, tuple[int, ...]]:
    """Processors that each rank may use, as the kernel says, of ranks that a launcher started here."""
    show = "echo $PMI_RANK$PMIX_RANK $(grep Cpus_allowed_list /proc/self/status)"
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PMI", "HWLOC"))}
    done = subprocess.run([*command, "sh", "-c", show], capture_output=True, text=True, timeout=LIMIT, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    shown = re.findall(r"^(\d+) Cpus_allowed_list:\s*(\S+)", done.stdout, re.MULTILINE)
    return {int(rank): numbers([listed]) for rank, listed in shown}


def placed_here(folder: Path, capsys, launcher: str) -> dict[int, tuple[int, ...]]:
    """The processors that the ranks are to have; what the launcher takes lies in `folder`/ranks."""
    arguments = ["place", "--bind", "core", "--hosts", socket.gethostname(), "--emit", launcher]
    assert main(arguments) == 0
    (folder / "ranks").write_text(capsys.readouterr().out)
    machine = this_machine()
    return {rank: machine.processors_of(unit) for rank, unit in enumerate(machine.units("core"))}


def test_hydra_binds_the_ranks_of_this_machine(hydra, tmp_path, capsys):
    wanted = placed_here(tmp_path, capsys, "hydra")
    assert bound_ranks([hydra, "-f", str(tmp_path / "ranks"), "-n", str(len(wanted))]) == wanted


def test_prrte_binds_the_ranks_of_this_machine(prterun, tmp_path, capsys):
    wanted = placed_here(tmp_path, capsys, "prrte")
    count, file = str(len(wanted)), tmp_path / "ranks"
    assert bound_ranks([prterun, "--allow-run-as-root", "-n", count, "--map-by", f"rankfile:FILE={file}"]) == wanted
