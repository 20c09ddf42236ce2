"""A run that streams snapshots of its whole volume to a file, beside the same run without, in turn.

    .venv/bin/python benchmarks/streaming.py --cells 200 --steps 6000 --pairs 5 --folder FOLDER

With all threads solving there is a snapshot every 200 steps, with one core left to the writer every 20. `steps` are
the steps with all waits for the writer, `whole` also the start of the writer and the end of its files. `--folder` says
where the files go; in the second case a disk must take more than 1 GB/s to keep up.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from paired import parser, spread, write

from nearfield.measure.bench import box
from nearfield.monitors.field_file import FieldFile
from nearfield.monitors.fields import Snapshot
from nearfield.simulation import Simulation


def models(given: argparse.Namespace, every: int, steps: int, codec: str) -> tuple[Simulation, Simulation]:
    """The box with and without output."""
    plain = box(given.cells, steps)
    corner = tuple(line[-1] for line in plain._setup().grid.lines)
    snapshot = Snapshot("fields", (0, 0, 0), corner, every=every, file=FieldFile(codec=codec))
    return box(given.cells, steps, monitors=(snapshot,)), plain


def timed(model: Simulation, threads: int, folder: Path) -> dict[str, float]:
    """Seconds of a run: in its steps with all waits for the writer, and of the whole of it but the set-up."""
    begun = time.perf_counter()
    with tempfile.TemporaryDirectory(dir=folder) as place:
        facts = model.run(threads=threads, output=Path(place) / "result.h5").facts
        whole = time.perf_counter() - begun - facts["setup_seconds"]
    fields = facts.get("fields", {"stalled_seconds": [0.0], "opening_seconds": 0.0, "closing_seconds": 0.0})
    stalled = max(fields["stalled_seconds"])
    return {
        "steps": sum(run["seconds"] for run in facts["runs"].values()) + stalled,
        "stalled": stalled,
        "opening": fields["opening_seconds"],
        "closing": fields["closing_seconds"],
        "whole": whole,
    }


def compare(name: str, given: argparse.Namespace, threads: int, every: int, steps: int) -> dict[str, Any]:
    """One case: the rate with output over that without, of the steps and of whole runs."""
    streaming, plain = models(given, every, steps, given.codec)
    runs = [(timed(streaming, threads, given.folder), timed(plain, threads, given.folder)) for _ in range(given.pairs)]
    rows = {
        "case": name,
        "threads": threads,
        "every": every,
        "steps": steps,
        "streaming": [a for a, _ in runs],
        "plain": [b for _, b in runs],
    }
    for part in ("steps", "whole"):
        ratios = sorted(without[part] / streamed[part] for streamed, without in runs)
        rows[part + "_ratio"] = {"ratio": statistics.median(ratios), "lowest": ratios[0], "highest": ratios[-1]}
        print(f"{name}, {part}: {spread(rows[part + '_ratio'])}", flush=True)
    parts = {each: statistics.median(a[each] for a, _ in runs) for each in ("stalled", "opening", "closing")}
    print("  seconds: " + ", ".join(f"{each} {seconds:.2f}" for each, seconds in parts.items()), flush=True)
    return rows


def main() -> int:
    made = parser(__doc__, steps=600)
    made.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()), help="where the files go")
    made.add_argument("--codec", default="none")
    made.add_argument("--name", default="streaming", help="of the JSON file")
    given = made.parse_args()
    rows = [
        compare(f"all {given.threads} threads, every 200 steps", given, given.threads, 200, given.steps),
        compare("one core left, every 20 steps", given, given.threads - 1, 20, given.steps // 6),
    ]
    given.folder = given.folder.name
    write(given.name, given, comparisons=rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
