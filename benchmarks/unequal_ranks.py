"""Two ranks of which one has half a processor: the rate of a run that is shared by measured speeds, over the ideal.

    .venv/bin/python benchmarks/unequal_ranks.py          as root (a cgroup of the kernel limits the second rank)

A core each. The ideal is the sum of the rates of both alone, at once, the second one limited as in the run: the same
load, no messages. Runs are taken in turn with those whose cut is even, as if the ranks were alike.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from machine import favoured
from paired import parser, write

from nearfield.measure.probe_mpi import launcher

PERIOD = 2_000  # us, over which the kernel keeps the limit: less than a step, in which a rank must not just stand still
FAVOURED = "echo -15 > /proc/self/autogroup"  # of the session that MPI's launcher makes; see machine.favoured
LIMITED = Path("/sys/fs/cgroup/cpu/nearfield_unequal_ranks")  # cgroups of version 1
LIMITED_NOW = Path("/sys/fs/cgroup/nearfield_unequal_ranks")  # of version 2


@contextmanager
def limit(share: float) -> Iterator[Path]:
    """A file that takes the number of a process, which then gets this share of a processor. Error: `OSError`."""
    quota, old = round(share * PERIOD), LIMITED.parent.is_dir()
    group = LIMITED if old else LIMITED_NOW
    group.mkdir()
    try:
        if old:
            (group / "cpu.cfs_period_us").write_text(str(PERIOD))
            (group / "cpu.cfs_quota_us").write_text(str(quota))
            (group / "cpu.shares").write_text(str(2**18))  # the most: nothing else takes of what it may have
        else:
            (group / "cpu.max").write_text(f"{quota} {PERIOD}")
            (group / "cpu.weight").write_text("10000")
        yield group / "cgroup.procs"
    finally:
        group.rmdir()


def bench(given: Namespace, *more: str) -> str:
    """The command of one process, for a shell."""
    words = [sys.executable, "-m", "nearfield", "bench", "box", "--cells", given.cells, "--steps", given.steps]
    return " ".join(map(str, [*words, "--threads", 1, "--json", *more]))


def alone(given: Namespace, limited: Path) -> list[float]:
    """Mcells/s of each of both processes, at once, with a box and a processor of its own."""
    lines = [f"taskset -c 0 {bench(given)}", f"echo $$ > {limited}; exec taskset -c 1 {bench(given)}"]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "text": True}
    started = [subprocess.Popen(["bash", "-c", line], **pipes) for line in lines]
    return [json.loads(each.communicate()[0])["mcells_per_second"] for each in started]


def together(given: Namespace, limited: Path, *more: str) -> dict[str, Any]:
    """What `bench box` said of a run on both."""
    line = f'{FAVOURED}; [ "$PMI_RANK" = 1 ] && echo $$ > {limited}; exec {bench(given, *more)}'
    run = [str(launcher()), "-n", "2", "bash", "-c", line]
    return json.loads(subprocess.run(run, stdout=subprocess.PIPE, text=True, check=True).stdout)


def main() -> int:
    made = parser(__doc__, cells=256, steps=60, threads=1, pairs=3)
    made.add_argument("--share", type=float, default=0.5, help="of a processor that the second rank has")
    given = made.parse_args()
    rounds = []
    with favoured(), limit(given.share) as limited:
        for _ in range(given.pairs):
            each = alone(given, limited)
            ideal = sum(each)
            runs = {"measured": together(given, limited, "--speeds", "measure"), "even": together(given, limited)}
            rounds.append((each, runs))
            found = {name: round(run["mcells_per_second"] / ideal, 3) for name, run in runs.items()}
            print(
                f"ideal {each[0]:.1f} + {each[1]:.1f} Mcells/s, of it {found}, cuts {runs['measured']['cuts']}",
                flush=True,
            )
    shares = {
        name: sorted(run[name]["mcells_per_second"] / sum(each) for each, run in rounds)
        for name in ("measured", "even")
    }
    kinds = {
        name: {"of_ideal": statistics.median(each), "lowest": each[0], "highest": each[-1]}
        for name, each in shares.items()
    }
    checksums = {run["checksum"] for _, runs in rounds for run in runs.values()}
    cuts = [runs["measured"]["cuts"] for _, runs in rounds]
    write("unequal_ranks", given, alone=[each for each, _ in rounds], **kinds, cuts=cuts, checksums=sorted(checksums))
    return 0 if len(checksums) == 1 else 1


if __name__ == "__main__":
    sys.exit(main())
