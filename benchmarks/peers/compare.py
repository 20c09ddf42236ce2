"""Nearfield beside another solver on the same model, taken in turn: A B A B ...

    .venv/bin/python benchmarks/peers/compare.py --cells 200 --steps 200 --pairs 5 [--peers openems meep gprmax]
    .venv/bin/python benchmarks/peers/compare.py --case patch --pairs 5

Cases: the empty box, with PEC walls and with absorbing ones, and the patch antenna of the demo at four times its cells
(openEMS alone). Prints the median ratio of the speeds and its spread, and writes benchmarks/results/peers-NAME.json,
peers-NAME-patch.json. A peer that is not installed is named with the line that installs it. Exit code 0 if any peer
was measured, else 2.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent))
from paired import in_turn, parser, write  # noqa: E402  (found through the line above)

PATCH_STEPS = 1000  # Nearfield's run lasts a second or two
BOX_STEPS = 200

Command = Callable[[str, argparse.Namespace, str], list[str]]


@dataclass(frozen=True)
class Peer:
    """Another solver: how it is started, which precision it computes in, how it is installed."""

    title: str
    module: str
    precision: str
    interpreter: str
    install: str
    command: Command
    steps_share: float = 1.0  # slow codes take fewer steps


def plain(script: str) -> Command:
    def command(interpreter: str, given: argparse.Namespace, boundary: str) -> list[str]:
        return [
            interpreter,
            str(FOLDER / script),
            "--cells",
            str(given.cells),
            "--steps",
            str(given.steps),
            "--threads",
            str(given.threads),
            "--boundary",
            boundary,
        ]

    return command


def meep_command(interpreter: str, given: argparse.Namespace, boundary: str) -> list[str]:
    steps = max(10, round(given.steps * PEERS["meep"].steps_share))
    return [
        "mpirun",
        "--allow-run-as-root",
        "-np",
        str(given.threads),
        interpreter,
        str(FOLDER / "meep_box.py"),
        "--cells",
        str(given.cells),
        "--steps",
        str(steps),
        "--boundary",
        boundary,
    ]


DEBIAN = "apt-get install --no-install-recommends"
PEERS = {
    "openems": Peer(
        "openEMS", "openEMS", "single", "/usr/bin/python3", f"{DEBIAN} python3-openems", plain("openems_box.py")
    ),
    "meep": Peer(
        "Meep",
        "meep",
        "double",
        "/usr/bin/python3",
        f"{DEBIAN} python3-meep-openmpi python3-mpi4py openmpi-bin",
        meep_command,
        steps_share=0.2,
    ),
    "gprmax": Peer(
        "gprMax",
        "gprMax",
        "single",
        "build/gprmax/bin/python",
        "python3 -m venv build/gprmax && build/gprmax/bin/pip install gprMax",
        plain("gprmax_box.py"),
    ),
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


def box_commands(peer: Peer, given: argparse.Namespace, boundary: str) -> tuple[list[str], list[str]]:
    """Nearfield and the peer on the empty box."""
    program = str(Path(sys.executable).parent / "nearfield")
    ours = [
        program,
        "bench",
        "box",
        "--cells",
        str(given.cells),
        "--steps",
        str(given.steps),
        "--threads",
        str(given.threads),
        "--boundary",
        boundary,
        "--precision",
        peer.precision,
        "--json",
    ]
    return ours, peer.command(peer.interpreter, given, boundary)


def patch_commands(peer: Peer, given: argparse.Namespace, folder: str) -> tuple[list[str], list[str]]:
    """Nearfield and openEMS on the patch antenna, which Nearfield describes to it in a file of the folder."""
    ours, described = [sys.executable, str(FOLDER / "nearfield_patch.py")], str(Path(folder) / "patch.json")
    subprocess.run([*ours, "--describe", described], check=True)
    common = ["--steps", str(given.steps), "--threads", str(given.threads)]
    return [*ours, *common], [peer.interpreter, str(FOLDER / "openems_patch.py"), "--model", described, *common]


def compare(peer: Peer, given: argparse.Namespace, what: str, commands: tuple[list[str], list[str]]) -> dict[str, Any]:
    """Pairs of runs; each ratio is of two neighbours in time."""
    found = in_turn(given.pairs, lambda: speed(commands[0]), lambda: speed(commands[1]))
    row = {
        "peer": peer.title,
        "precision": peer.precision,
        "boundary": what,
        "nearfield_mcells_per_second": found["first"],
        "peer_mcells_per_second": found["second"],
        "median_ratio": round(found["ratio"], 2),
        "lowest_ratio": round(found["lowest"], 2),
        "highest_ratio": round(found["highest"], 2),
    }
    print(
        f"{peer.title:8} {what:5} {peer.precision:7} nearfield {median(found['first']):7.1f}  "
        f"{peer.title} {median(found['second']):7.1f} Mcells/s  ratio {row['median_ratio']} "
        f"({row['lowest_ratio']} to {row['highest_ratio']})",
        flush=True,
    )
    return row


def measure(name: str, given: argparse.Namespace) -> None:
    """Compare with one peer and write what was found."""
    peer = PEERS[name]
    if given.case == "box":
        rows = [compare(peer, given, wall, box_commands(peer, given, wall)) for wall in given.boundaries]
        write(f"peers-{name}", given, cells=given.cells**3, comparisons=rows)
        return
    with tempfile.TemporaryDirectory() as folder:
        row = compare(peer, given, "patch", patch_commands(peer, given, folder))
        lines = json.loads((Path(folder) / "patch.json").read_text(encoding="utf-8"))["lines"]
    write(f"peers-{name}-patch", given, cells=math.prod(len(line) - 1 for line in lines), comparisons=[row])


def arguments() -> argparse.Namespace:
    made = parser(__doc__, steps=None)
    made.add_argument("--steps", type=int, help=f"left out, {BOX_STEPS} for the box and {PATCH_STEPS} for the patch")
    made.add_argument("--case", choices=["box", "patch"], default="box")
    made.add_argument("--boundaries", nargs="+", choices=["pec", "cpml"], default=["pec", "cpml"], help="of the box")
    made.add_argument("--peers", nargs="+", choices=sorted(PEERS), default=["openems"])
    given = made.parse_args()
    given.steps = given.steps or (PATCH_STEPS if given.case == "patch" else BOX_STEPS)
    if given.case == "patch" and given.peers != ["openems"]:
        made.error("the patch is compared with openEMS alone; leave --peers out")
    return given


def main() -> int:
    given = arguments()
    measured = False
    for name in given.peers:
        peer = PEERS[name]
        if not is_installed(peer):
            print(f"{peer.title} is not installed for {peer.interpreter}; run: {peer.install}", file=sys.stderr)
            continue
        measure(name, given)
        measured = True
    return 0 if measured else 2


if __name__ == "__main__":
    sys.exit(main())
