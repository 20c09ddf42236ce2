"""An empty PEC box in single precision full of denormals against one of normal numbers, in turn.

    .venv/bin/python benchmarks/denormals.py --cells 200 --steps 50 --pairs 5

Magnitudes are spread over 1e-40 to 1e-37: most are denormal, the rest make denormals in every difference. Fields are
written anew before each run.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from paired import in_turn, parser, spread, write

from nearfield.measure.bench import Timed, box

LOWEST, HIGHEST = -40.0, -37.0  # powers of ten


def pattern(shape: tuple[int, ...]) -> np.ndarray:
    """Numbers of either sign, evenly spread in magnitude."""
    rng = np.random.default_rng(1)
    return (rng.choice([-1.0, 1.0], shape) * 10 ** rng.uniform(LOWEST, HIGHEST, shape)).astype(np.float32)


def rate(timed: Timed, values: np.ndarray, steps: int) -> float:
    """Million cells a second from fields that all hold the values."""
    for component in range(6):
        timed.engine.state(component)[...] = values
    begun = time.perf_counter()
    timed.engine.advance(steps)
    return timed.cells * steps / (time.perf_counter() - begun) / 1e6


def main() -> int:
    given = parser(__doc__, steps=50).parse_args()
    timed = Timed(box(given.cells, given.steps, sources=()), given.threads)
    small = pattern(timed.engine.state(0).shape)
    normal = small * np.float32(1e38)
    share = float(np.mean(np.abs(small) < np.finfo(np.float32).tiny))
    found = in_turn(given.pairs, lambda: rate(timed, small, given.steps), lambda: rate(timed, normal, given.steps))
    write("denormals", given, denormal_share_at_start=round(share, 3), **timed.facts(), **found)
    print(f"denormal ({100 * share:.0f} % of the numbers) over normal fields: {spread(found)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
