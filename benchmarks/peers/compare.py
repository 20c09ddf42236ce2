"""Nearfield beside another solver on the same empty box, taken in turn: A B A B ...

    .venv/bin/python benchmarks/peers/compare.py --cells 200 --steps 200 --pairs 5 [--peers openems meep gprmax]

Prints the median ratio of the speeds and its spread for each boundary, and writes benchmarks/results/peers-NAME.json.
A peer that is not installed is named with the line that installs it. Exit code 0 if any peer was measured, else 2.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent))
from machine import commit, machine  # noqa: E402  (found through the line above)


@dataclass(frozen=True)
class Peer:
    """Another solver: how it is started, which precision it computes in, how it is installed."""

    title: str
    module: str
    precision: str
    interpreter: str
    install: str
    command: Callable[[str, argparse.Namespace, str], list[str]]
    steps_share: float = 1.0  # slow codes take fewer steps


def plain(script: str) -> Callable[[str, argparse.Namespace, str], list[str]]:
    def command(interpreter: str, given: argparse.Namespace, boundary: str) -> list[str]:
        return [interpreter, str(FOLDER / script), "--cells", str(given.cells), "--steps", str(given.steps),
                "--threads", str(given.threads), "--boundary", boundary]
    return command


def meep_command(interpreter: str, given: argparse.Namespace, boundary: str) -> list[str]:
    steps = max(10, round(given.steps * PEERS["meep"].steps_share))
    return ["mpirun", "--allow-run-as-root", "-np", str(given.threads), interpreter, str(FOLDER / "meep_box.py"),
            "--cells", str(given.cells), "--steps", str(steps), "--boundary", boundary]


DEBIAN = "apt-get install --no-install-recommends"
PEERS = {
    "openems": Peer("openEMS", "openEMS", "single", "/usr/bin/python3", f"{DEBIAN} python3-openems",
                    plain("openems_box.py")),
    "meep": Peer("Meep", "meep", "double", "/usr/bin/python3",
                 f"{DEBIAN} python3-meep-openmpi python3-mpi4py openmpi-bin", meep_command, steps_share=0.2),
    "gprmax": Peer("gprMax", "gprMax", "single", "build/gprmax/bin/python",
                   "python3 -m venv build/gprmax && build/gprmax/bin/pip install gprMax", plain("gprmax_box.py")),
}


def is_installed(peer: Peer) -> bool:
    try:
        return subprocess.run([peer.interpreter, "-c", f"import {peer.module}"], capture_output=True).returncode == 0
    except OSError:
        return False


def speed(command: list[str]) -> float:
    """Mcells/s of the one JSON object that a run prints among other lines."""
    done = subprocess.run(command, capture_output=True, text=True)
    text = done.stdout
    start = text.find('{"') if text.find('{"') >= 0 else text.find("{")
    if done.returncode or start < 0:
        sys.exit(f"{' '.join(command)}\nended with exit code {done.returncode}:\n{(text + done.stderr)[-2000:]}")
    return float(json.JSONDecoder().raw_decode(text[start:])[0]["mcells_per_second"])


def nearfield_command(given: argparse.Namespace, boundary: str, precision: str) -> list[str]:
    program = str(Path(sys.executable).parent / "nearfield")
    return [program, "bench", "box", "--cells", str(given.cells), "--steps", str(given.steps), "--threads",
            str(given.threads), "--boundary", boundary, "--precision", precision, "--json"]


def compare(peer: Peer, given: argparse.Namespace, boundary: str) -> dict[str, Any]:
    """`given.pairs` pairs of runs; each ratio is of two neighbours in time."""
    ours = nearfield_command(given, boundary, peer.precision)
    theirs = peer.command(peer.interpreter, given, boundary)
    pairs = [(speed(ours), speed(theirs)) for _ in range(given.pairs)]
    ratios = sorted(a / b for a, b in pairs)
    row = {
        "peer": peer.title, "precision": peer.precision, "boundary": boundary,
        "nearfield_mcells_per_second": [round(a, 1) for a, _ in pairs],
        "peer_mcells_per_second": [round(b, 1) for _, b in pairs],
        "median_ratio": round(statistics.median(ratios), 2),
        "lowest_ratio": round(ratios[0], 2), "highest_ratio": round(ratios[-1], 2),
    }
    print(f"{peer.title:8} {boundary:5} {peer.precision:7} nearfield {statistics.median(a for a, _ in pairs):7.1f}  "
          f"{peer.title} {statistics.median(b for _, b in pairs):7.1f} Mcells/s  ratio {row['median_ratio']} "
          f"({row['lowest_ratio']} to {row['highest_ratio']})", flush=True)
    return row


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=int, default=200, help="cells along each side, CPML included")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--boundaries", nargs="+", choices=["pec", "cpml"], default=["pec", "cpml"])
    parser.add_argument("--peers", nargs="+", choices=sorted(PEERS), default=["openems"])
    parser.add_argument("--output", type=Path, default=FOLDER.parent / "results")
    return parser.parse_args()


def main() -> int:
    given = arguments()
    measured = False
    for name in given.peers:
        peer = PEERS[name]
        if not is_installed(peer):
            print(f"{peer.title} is not installed for {peer.interpreter}; run: {peer.install}", file=sys.stderr)
            continue
        rows = [compare(peer, given, boundary) for boundary in given.boundaries]
        command = "benchmarks/peers/compare.py " + " ".join(sys.argv[1:])
        result = {"command": command.strip(), "commit": commit(), "machine": machine(), "cells": given.cells**3,
                  "steps": given.steps, "threads": given.threads, "pairs": given.pairs, "comparisons": rows}
        given.output.mkdir(parents=True, exist_ok=True)
        (given.output / f"peers-{name}.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
        measured = True
    return 0 if measured else 2


if __name__ == "__main__":
    sys.exit(main())
