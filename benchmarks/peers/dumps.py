"""Nearfield and openEMS on the empty PEC box, each with and without dumps of its whole volume, the four in turn.

    .venv/bin/python benchmarks/peers/dumps.py --cells 200 --steps 1000 --every 200 --pairs 5

Both write E and H of every point to HDF5, single precision, each component where it lies in the Yee cell, without
compression, as often: openEMS dumps step 0 and makes one step less. It pads every component to a point more than cells
along each axis; `bytes` has what each wrote. Nearfield's rate is of the whole run from the first step to closed files
that are flushed to the disk, openEMS's of its loop, within which it dumps, not flushed: `--folder /dev/shm` leaves the
disk out.
Writes benchmarks/results/peers-dumps.json; exit code 2 where openEMS is not installed.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

from compare import FOLDER, PEERS, is_installed
from paired import parser, write

from nearfield.measure.bench import box
from nearfield.monitors.field_file import FieldFile
from nearfield.monitors.fields import Snapshot
from nearfield.simulation import Simulation

RATIOS = {
    "nearfield_kept": ("nearfield", "nearfield_plain"),
    "openems_kept": ("openems", "openems_plain"),
    "nearfield_over_openems": ("nearfield", "openems"),
    "plain_over_plain": ("nearfield_plain", "openems_plain"),
}


def nearfield(given: argparse.Namespace, dumps: bool) -> tuple[float, int]:
    """Mcells/s and bytes of field files."""
    plain: Simulation = box(given.cells, given.steps)
    corner = tuple(line[-1] for line in plain._setup().grid.lines)
    monitors = (Snapshot("fields", (0, 0, 0), corner, every=given.every, file=FieldFile()),) if dumps else ()
    model = box(given.cells, given.steps, monitors=monitors)
    with tempfile.TemporaryDirectory(dir=given.folder) as place:
        begun = time.perf_counter()
        result = model.run(threads=given.threads, output=Path(place) / "result.h5")
        seconds = time.perf_counter() - begun - result.facts["setup_seconds"]
        written = sum(path.stat().st_size for path in Path(place).glob("result-fields/*"))
    return given.cells**3 * given.steps / seconds / 1e6, written


def openems(given: argparse.Namespace, dumps: bool) -> tuple[float, int]:
    """Mcells/s and bytes of dumps."""
    command = [
        PEERS["openems"].interpreter,
        str(FOLDER / "openems_box.py"),
        "--cells",
        str(given.cells),
        "--steps",
        str(given.steps - 1),
        "--threads",
        str(given.threads),
        "--every",
        str(given.every),
    ]
    done = subprocess.run([*command, *(["--dumps", given.folder] if dumps else [])], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"openEMS ended with exit code {done.returncode}:\n{(done.stdout + done.stderr)[-2000:]}")
    found = json.loads(done.stdout)
    return found["mcells_per_second"], found["dumped_bytes"]


def measure(given: argparse.Namespace) -> dict[str, Any]:
    """Rates and bytes of the four runs, and the ratios of runs that are neighbours in time."""
    runs = {
        "nearfield": (nearfield, True),
        "nearfield_plain": (nearfield, False),
        "openems": (openems, True),
        "openems_plain": (openems, False),
    }
    rounds = [{name: code(given, dumps) for name, (code, dumps) in runs.items()} for _ in range(given.pairs)]
    found: dict[str, Any] = {
        "mcells_per_second": {name: [round(each[name][0], 1) for each in rounds] for name in runs},
        "bytes": {name: rounds[0][name][1] for name in runs},
    }
    for name, (above, below) in RATIOS.items():
        ratios = sorted(each[above][0] / each[below][0] for each in rounds)
        found[name] = {
            "median": round(median(ratios), 3),
            "lowest": round(ratios[0], 3),
            "highest": round(ratios[-1], 3),
        }
    return found


def main() -> int:
    made = parser(__doc__, cells=128, steps=1000, pairs=3)
    made.add_argument("--every", type=int, default=200, help="steps between dumps")
    made.add_argument("--folder", default=tempfile.gettempdir(), help="where the dumps go")
    given = made.parse_args()
    peer = PEERS["openems"]
    if not is_installed(peer):
        print(f"{peer.title} is not installed for {peer.interpreter}; run: {peer.install}", file=sys.stderr)
        return 2
    found = measure(given)
    for name, rates in found["mcells_per_second"].items():
        print(f"{name:16} {median(rates):8.1f} Mcells/s  {found['bytes'][name] / 1e6:8.1f} MB")
    for name in RATIOS:
        print(f"{name:23} {found[name]['median']} ({found[name]['lowest']} to {found[name]['highest']})")
    write("peers-dumps", given, **found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
