"""The empty box in one domain beside two, and one process beside ranks, on the same cores, each run a process in turn.

.venv/bin/python benchmarks/domains.py --cells 200 --steps 200 --threads 2 --pairs 5
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from typing import Any

from machine import ROOT
from paired import in_turn, parser, spread, write


def rate(given: argparse.Namespace, options: list[str]) -> float:
    """Mcells/s of one `nearfield bench box`."""
    line = [
        sys.executable,
        "-m",
        "nearfield",
        "bench",
        "box",
        "--json",
        "--cells",
        str(given.cells),
        "--steps",
        str(given.steps),
        *options,
    ]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["mcells_per_second"]


def cases(threads: int) -> dict[str, tuple[list[str], list[str]]]:
    """What is compared, first over second."""
    alone = ["--threads", str(threads)]
    ranks = ["--ranks", str(threads), "--threads", "1"]
    return {
        f"{threads} domains over one": ([*alone, "--domains", str(threads)], alone),
        f"one process over {threads} ranks": (alone, ranks),
        f"one process over {threads} ranks, halos of one layer": (alone, [*ranks, "--halo-depth", "1"]),
        f"one process over {threads} ranks, halos of 8 layers": (alone, [*ranks, "--halo-depth", "8"]),
    }


def compare(name: str, options: tuple[list[str], list[str]], given: argparse.Namespace) -> dict[str, Any]:
    """One comparison."""
    first, second = options
    found = in_turn(given.pairs, lambda: rate(given, first), lambda: rate(given, second))
    print(f"{name}: {spread(found)}", flush=True)
    return {"case": name, "first_options": first, "second_options": second, **found}


def main() -> int:
    given = parser(__doc__).parse_args()
    write("domains", given, comparisons=[compare(*case, given) for case in cases(given.threads).items()])
    return 0


if __name__ == "__main__":
    sys.exit(main())
