"""Ranks that are killed, stopped, or behind a cut link, on emulated hosts: how runs end, and what they keep and leave.

    .venv/bin/python benchmarks/lost_ranks.py          as root (scripts/make_believe_cluster)

Each trial starts a run with checkpoints, one rank a host, waits for its first checkpoint and for up to two seconds
more, and strikes one rank. A run that has not ended by itself within `--limit` seconds counts as hung, and is killed.
"""

from __future__ import annotations

import json
import os
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

from machine import ROOT
from paired import parser, write

from nearfield.entry.errors import ModelError
from nearfield.machine.transport import ALONE
from nearfield.run.checkpoint.folder import newest

CLUSTER = ROOT / "scripts" / "make_believe_cluster"
SHARED = Path("/dev/shm")
MARK = "NEARFIELD_LOST_RANKS"
KINDS = ("killed", "stopped", "cut off")
MODEL = """
steps = 100000000
monitors = [{ kind = "probe", name = "tip", position = ["5 mm", "5 mm", "5 mm"], component = "Ez" }]
[boundaries]
all = "pec"
[[sources]]
kind = "point-current"
position = ["10 mm", "10 mm", "10 mm"]
axis = "z"
waveform = { kind = "gaussian-derivative", frequency = "10 GHz" }
[grid]
kind = "uniform"
spacing = "1 mm"
cells = [30, 30, 30]
"""


def processes(mark: str) -> dict[int, str]:
    """Live processes of a trial, and the number of the rank that each is ("" where it is none)."""
    found = {}
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "environ").read_bytes().split(b"\0") if entry.name.isdigit() else []
            alive = bool(words) and " Z " not in (entry / "stat").read_text()
        except OSError:
            continue
        environment = dict(word.split(b"=", 1) for word in words if b"=" in word)
        if alive and environment.get(MARK.encode()) == mark.encode():
            found[int(entry.name)] = environment.get(b"PMI_RANK", b"").decode()
    return found


def waited(done: Any, seconds: float) -> bool:
    """Whether something came true in time."""
    end = time.monotonic() + seconds
    while not done() and time.monotonic() < end:
        time.sleep(0.05)
    return bool(done())


def struck(kind: str, mark: str, rank: int) -> None:
    """Strike a rank, or the link of its host."""
    if kind == "cut off":
        subprocess.run(["ip", "link", "set", f"port{rank + 1}", "down"], check=True)
        return
    (found,) = (pid for pid, number in processes(mark).items() if number == str(rank))
    os.kill(found, signal.SIGKILL if kind == "killed" else signal.SIGSTOP)


def trial(kind: str, number: int, hosts: int, patience: float, limit: float) -> dict[str, Any]:
    """One run that loses a rank: its exit code, seconds to its end, whether it hung, and what is left."""
    draw, mark, shared = random.Random(f"{kind} {number}"), f"{kind}-{number}", set(SHARED.iterdir())
    rank, later = draw.randrange(hosts), draw.uniform(0.0, 2.0)
    with tempfile.TemporaryDirectory() as folder:
        model, out = Path(folder) / "model.toml", Path(folder) / "out"
        model.write_text(MODEL)
        line = [sys.executable, "-m", "nearfield", "run", model, "--ranks", str(hosts), "--threads", "1", "--no-report"]
        line += ["--output", out, "--checkpoint", "every 1000 steps", "--patience", str(patience)]
        streams: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
        with subprocess.Popen(line, env=os.environ | {MARK: mark}, **streams) as run:
            waited(lambda: list(out.glob("checkpoint-*")) or run.poll() is not None, 60)
            if run.poll() is not None:
                raise ModelError(f"trial {mark}: the run ended before its rank was struck: {run.communicate()[1]}")
            time.sleep(later)
            begun = time.monotonic()
            struck(kind, mark, rank)
            hung = not waited(lambda: run.poll() is not None, limit)
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
    left = sorted(set(SHARED.iterdir()) - shared)
    return {
        "rank": rank,
        "code": run.returncode,
        "seconds": round(seconds, 1),
        "hung": hung,
        "named": f"rank {rank} on host{rank + 1} gave no sign of life" in said,
        "whole_checkpoint": whole,
        "processes_left": not gone,
        "shared_bytes_left": sum(path.stat().st_size for path in left),
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
        "shared_bytes_left": max(each["shared_bytes_left"] for each in trials),
    }


def inside(given: Namespace) -> None:
    """On the head of the cluster: all trials, a line of JSON each."""
    for kind in KINDS:
        for number in range(given.trials):
            found = trial(kind, number, given.hosts, given.patience, given.limit)
            print(json.dumps({"kind": kind, **found}), flush=True)


def main() -> int:
    made = parser(__doc__, cells=None, steps=None, threads=1, pairs=1)
    made.add_argument("--trials", type=int, default=20, help="of each kind")
    made.add_argument("--hosts", type=int, default=3)
    made.add_argument("--patience", type=float, default=2.0, help="s that ranks wait for a sign of life")
    made.add_argument("--limit", type=float, default=60.0, help="s after which a run counts as hung")
    made.add_argument("--inside", action="store_true", help="this is the head of the cluster")
    given = made.parse_args()
    if given.inside:
        inside(given)
        return 0
    line = [str(CLUSTER), str(given.hosts), "1gbit", sys.executable, __file__, *sys.argv[1:], "--inside"]
    done = subprocess.run(line, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        return done.returncode
    trials = [json.loads(text) for text in done.stdout.splitlines()]
    found = {kind: summary([each for each in trials if each["kind"] == kind]) for kind in KINDS}
    for name in ("threads", "pairs", "inside"):
        delattr(given, name)
    write("lost_ranks", given, **found, each=trials)
    for kind, counted in found.items():
        print(f"{kind}: {counted}")
    return 0 if not any(counted["hung"] + counted["processes_left"] for counted in found.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
