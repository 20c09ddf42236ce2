"""Ranks that are killed, stopped, or behind a cut link, on emulated hosts: how runs end, and what they keep and leave.

    .venv/bin/python benchmarks/lost_ranks.py                     as root (scripts/make_believe_cluster)
    .venv/bin/python benchmarks/lost_ranks.py --mpi openmpi       the same trials with Open MPI, where it is installed
    .venv/bin/python benchmarks/lost_ranks.py --mpi openmpi --one-host

Each trial starts a run with checkpoints, one rank a host, waits for its first checkpoint and for up to two seconds
more, and strikes one rank. A run that has not ended by itself within `--limit` seconds counts as hung, and is killed.
With `--one-host` there is no network: ranks share this machine's memory, are killed or stopped, and no link is cut.
What MPI leaves in /dev/shm is counted, and counted again after what the next run does about it.
"""

from __future__ import annotations

import json
import os
import platform
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from argparse import Namespace
from pathlib import Path
from typing import Any

from machine import on_hosts
from marked_ranks import MARK, MODEL, processes, ranks, waited
from paired import parser, write

from nearfield.commands.doctor import mpi_flavour
from nearfield.entry.errors import ModelError
from nearfield.machine.left_segments import remove_left
from nearfield.machine.transport import ALONE
from nearfield.parallel.launch import WANTED_MPI, launcher
from nearfield.run.checkpoint.folder import newest

SHARED = Path("/dev/shm")
KINDS = ("killed", "stopped", "cut off")


def struck(kind: str, mark: str, rank: int) -> None:
    """Strike a rank, or the link of its host."""
    if kind == "cut off":
        subprocess.run(["ip", "link", "set", f"port{rank + 1}", "down"], check=True)
        return
    os.kill(ranks(mark)[rank], signal.SIGKILL if kind == "killed" else signal.SIGSTOP)


def left(before: set[Path]) -> int:
    """Bytes in shared memory that were not there before."""
    return sum(path.stat().st_size for path in set(SHARED.iterdir()) - before)


def trial(kind: str, number: int, given: Namespace) -> dict[str, Any]:
    """One run that loses a rank: its exit code, seconds to its end, whether it hung, and what is left."""
    draw, mark, shared = random.Random(f"{kind} {number}"), f"{kind}-{number}", set(SHARED.iterdir())
    rank, later = draw.randrange(given.hosts), draw.uniform(0.0, 2.0)
    host = platform.node() if given.one_host else f"host{rank + 1}"
    with tempfile.TemporaryDirectory() as folder:
        model, out = Path(folder) / "model.toml", Path(folder) / "out"
        model.write_text(MODEL)
        line = [
            sys.executable,
            "-m",
            "nearfield",
            "run",
            model,
            "--ranks",
            str(given.hosts),
            "--threads",
            "1",
            "--no-report",
        ]
        line += ["--output", out, "--checkpoint", "every 1000 steps", "--patience", str(given.patience)]
        streams: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
        with subprocess.Popen(line, env=os.environ | {MARK: mark}, **streams) as run:
            waited(lambda: list(out.glob("checkpoint-*")) or run.poll() is not None, 60)
            if run.poll() is not None:
                raise ModelError(f"trial {mark}: the run ended before its rank was struck: {run.communicate()[1]}")
            time.sleep(later)
            begun = time.monotonic()
            struck(kind, mark, rank)
            hung = not waited(lambda: run.poll() is not None, given.limit)
            seconds = time.monotonic() - begun
            gone = waited(lambda: not processes(mark), 10)
            for pid in processes(mark):
                os.kill(pid, signal.SIGKILL)
            _, said = run.communicate()
        if kind == "cut off":
            subprocess.run(["ip", "link", "set", f"port{rank + 1}", "up"], check=True)
        try:
            whole = newest(out, ALONE, lambda text: None) is not None
        except ModelError:
            whole = False
    shared_bytes = left(shared)
    remove_left()
    return {
        "rank": rank,
        "code": run.returncode,
        "seconds": round(seconds, 1),
        "hung": hung,
        "named": f"rank {rank} on {host} gave no sign of life" in said,
        "whole_checkpoint": whole,
        "processes_left": not gone,
        "shared_bytes_left": shared_bytes,
        "shared_bytes_cleaned": left(shared),
    }


def summary(trials: list[dict[str, Any]]) -> dict[str, Any]:
    """How often each promise was held."""
    count = {
        name: sum(each[name] for each in trials) for name in ("hung", "named", "whole_checkpoint", "processes_left")
    }
    return {
        "trials": len(trials),
        **count,
        "code_4": sum(each["code"] == 4 for each in trials),
        "median_seconds": statistics.median(each["seconds"] for each in trials),
        "longest_seconds": max(each["seconds"] for each in trials),
        **{name: max(each[name] for each in trials) for name in ("shared_bytes_left", "shared_bytes_cleaned")},
    }


def kinds(given: Namespace) -> tuple[str, ...]:
    """What is done to ranks; those of one host have no link."""
    return KINDS[:-1] if given.one_host else KINDS


def inside(given: Namespace) -> None:
    """On the head of the cluster, or on this machine: all trials, a line of JSON each."""
    for kind in kinds(given):
        for number in range(given.trials):
            found = trial(kind, number, given)
            print(json.dumps({"kind": kind, **found}), flush=True)


def command(given: Namespace) -> list[str]:
    """What makes the trials: this script, on the head of an emulated cluster unless there is one host."""
    own = [sys.executable, __file__, *sys.argv[1:], "--inside"]
    return own if given.one_host else [*on_hosts(given.hosts, "1gbit"), *own]


def arguments() -> Namespace:
    """Those of the command line."""
    made = parser(__doc__, cells=None, steps=None, threads=1, pairs=1)
    made.add_argument("--trials", type=int, default=20, help="of each kind")
    made.add_argument("--hosts", type=int, default=3, help="hosts, or ranks of the one")
    made.add_argument("--patience", type=float, default=2.0, help="s that ranks wait for a sign of life")
    made.add_argument("--limit", type=float, default=60.0, help="s after which a run counts as hung")
    made.add_argument("--mpi", choices=("mpich", "openmpi"), default="mpich")
    made.add_argument("--one-host", action="store_true", help="no network: ranks share this machine's memory")
    made.add_argument("--inside", action="store_true", help="make the trials where this runs")
    return made.parse_args()


def main() -> int:
    given = arguments()
    os.environ[WANTED_MPI] = given.mpi
    if given.inside:
        inside(given)
        return 0
    launcher()  # or say what is missing
    mpi = (mpi_flavour() or "").split(" (")[0]
    done = subprocess.run(command(given), stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        return done.returncode
    trials = [json.loads(text) for text in done.stdout.splitlines()]
    found = {kind: summary([each for each in trials if each["kind"] == kind]) for kind in kinds(given)}
    name = "-".join(["lost_ranks", *[given.mpi] * (given.mpi != "mpich"), *["one-host"] * given.one_host])
    for word in ("threads", "pairs", "inside"):
        delattr(given, word)
    write(name, given, launcher=mpi, **found, each=trials)
    for kind, counted in found.items():
        print(f"{kind}: {counted}")
    return 0 if not any(counted["hung"] + counted["processes_left"] for counted in found.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
