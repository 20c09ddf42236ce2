"""A run that streams snapshots of its whole volume to a file, beside the same run without, in turn.

    .venv/bin/python benchmarks/streaming.py --cells 200 --steps 600 --pairs 5

With all threads solving there is a snapshot every 200 steps, with one core left to the writer every 20. Times are whole
runs from the first step on, closed files included. `--folder` says where the files go: /dev/shm stands for a disk that
keeps up with anything.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from paired import in_turn, parser, spread, write

from nearfield.bench import box
from nearfield.monitors import FieldFile, Snapshot
from nearfield.simulation import Simulation


def models(given: argparse.Namespace, every: int, steps: int, codec: str) -> tuple[Simulation, Simulation]:
    """The box with and without output."""
    plain = box(given.cells, steps)
    corner = tuple(line[-1] for line in plain.setup().grid.lines)
    snapshot = Snapshot("fields", (0, 0, 0), corner, every=every, file=FieldFile(codec=codec))
    return box(given.cells, steps, monitors=(snapshot,)), plain


def rate(model: Simulation, threads: int, folder: Path, stalled: list[float] | None = None) -> float:
    """Mcells/s from the first step to the last file's end."""
    begun = time.perf_counter()
    with tempfile.TemporaryDirectory(dir=folder) as place:
        result = model.run(threads=threads, output=Path(place) / "result.h5")
        seconds = time.perf_counter() - begun - result.facts["setup_seconds"]
        if stalled is not None:
            stalled.append(max(result.facts["fields"]["stalled_seconds"]))
    return result.facts["cells"] * model.steps / seconds / 1e6


def compare(name: str, given: argparse.Namespace, threads: int, every: int, steps: int, codec: str) -> dict[str, Any]:
    """One case."""
    streaming, plain = models(given, every, steps, codec)
    stalled: list[float] = []
    found = in_turn(given.pairs, lambda: rate(streaming, threads, given.folder, stalled),
                    lambda: rate(plain, threads, given.folder))  # fmt: skip
    print(f"{name}, codec {codec}: {spread(found)}; stalled {max(stalled):.2f} s at most", flush=True)
    return {"case": name, "threads": threads, "every": every, "steps": steps, "codec": codec,
            "stalled_seconds": [round(each, 3) for each in stalled], **found}  # fmt: skip


def main() -> int:
    made = parser(__doc__, steps=600)
    made.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()), help="where the files go")
    made.add_argument("--codec", default="none")
    made.add_argument("--name", default="streaming", help="of the JSON file")
    given = made.parse_args()
    rows = [compare(f"all {given.threads} threads, every 200 steps", given, given.threads, 200, given.steps, given.codec),
            compare("one core left, every 20 steps", given, given.threads - 1, 20, given.steps // 3, given.codec)]
    given.folder = str(given.folder)
    write(given.name, given, comparisons=rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
