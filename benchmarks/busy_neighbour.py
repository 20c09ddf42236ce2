"""The empty box beside one other busy process on each core against the same alone, in turn.

    .venv/bin/python benchmarks/busy_neighbour.py --cells 200 --steps 400 --pairs 5

A fair share is a half. Runs should last seconds, so that the system's time slices average out.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from paired import in_turn, parser, spread, write

from nearfield.measure.bench import Timed, box

BUSY = "import os; os.sched_setaffinity(0, {%d}); print(flush=True)\nwhile os.getppid() == %d: pass"


@contextmanager
def busy_cores() -> Iterator[None]:
    """A process that computes for nothing on each core that this one may use."""
    codes = [BUSY % (core, os.getpid()) for core in os.sched_getaffinity(0)]
    others = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) for code in codes]
    try:
        for other in others:
            other.stdout.readline()  # it is on its core
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()
            other.stdout.close()


def main() -> int:
    given = parser(__doc__, steps=400).parse_args()
    timed = Timed(box(given.cells, given.steps), given.threads)

    def beside() -> float:
        with busy_cores():
            return timed.rate(given.steps)

    found = in_turn(given.pairs, beside, lambda: timed.rate(given.steps))
    write("busy_neighbour", given, **timed.facts(), **found)
    print(f"beside a busy process on each core, of the rate alone: {spread(found)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
