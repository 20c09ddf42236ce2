"""The empty box on one thread and on several, in turn; beside it how the memory scales.

.venv/bin/python benchmarks/scaling.py --cells 200 --steps 200 --threads 2 --pairs 5
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

from paired import in_turn, parser, spread, write

from nearfield.machine.memory_rate import triad
from nearfield.measure.bench import Timed, box


def compare(boundary: str, given: argparse.Namespace) -> dict[str, Any]:
    """Several threads over one, on one boundary."""
    model = box(given.cells, given.steps, boundary)
    many, one = (Timed(model, threads) for threads in (given.threads, 1))
    found = in_turn(given.pairs, lambda: many.rate(given.steps), lambda: one.rate(given.steps))
    print(f"{boundary:5} {given.threads} threads over one: {spread(found)}", flush=True)
    return {"boundary": boundary, **many.facts(), **found}


def main() -> int:
    given = parser(__doc__).parse_args()
    rows = [compare(boundary, given) for boundary in ("pec", "cpml")]
    memory = {threads: triad(threads) for threads in (1, given.threads)}
    write("scaling", given, comparisons=rows, triad_gb_per_second_by_threads=memory)
    return 0


if __name__ == "__main__":
    sys.exit(main())
