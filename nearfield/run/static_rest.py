"""What stays after a pulse: fields of charge or flux left behind, told apart from those that still move.

A static field never decays, and holds the energy above the wanted part of its peak. When the energy hardly changes any
more, the fields are looked at a few times between two checks: what differs is what moves.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from nearfield.engines.protocol import Engine

PAUSE = 1.3  # times as many checks since the sources ended as at the last look, before the next one
FIRST = 8  # checks since the sources ended before the first look
LEVEL = 0.1  # largest change of the energy, relative, over the last checks ...
CHECKS = 5  # ... so many, that makes a look worth its while
SPANS = (
    0.0,
    0.236,
    0.618,
    1.0,
)  # moments of a look, of the steps between two checks: no period divides all differences
SAMPLES = 500_000  # of each component that are compared, at most


def worth_a_look(energies: Sequence[float]) -> bool:
    """Whether to look now for a static field; `energies`: of the checks since the sources ended."""
    count = len(energies)
    looks = math.log(count / FIRST, PAUSE) if count >= FIRST else -1.0
    if looks < 0 or count != math.ceil(FIRST * PAUSE ** math.floor(looks + 1e-9)):
        return False
    last = np.asarray(energies[-CHECKS:])
    return bool(last.max() - last.min() <= LEVEL * last.max())


def moments(step: int, every: int) -> list[int]:
    """Steps at which the fields are looked at, from a check on and before the next one; none without room for it."""
    found = sorted({step + round(span * (every - 1)) for span in SPANS})
    return found if len(found) == len(SPANS) else []


@dataclass
class Look:
    """The fields at some moments, sample by sample, thinned; where ranks share a run, on rank 0."""

    steps: list[int]  # at which to look
    fields: list[list[np.ndarray]] = field(default_factory=list)
    thinned: float = 1.0  # samples over those that are compared

    def take(self, engine: Engine) -> None:
        """Copy the fields as they are now."""
        self.steps = self.steps[1:]
        now = []
        for component in range(12 if engine.plan.complex_fields else 6):
            values = engine.gathered(component)
            if values is not None:
                stride = max(1, math.ceil((values.size / SAMPLES) ** (1 / 3)))
                chosen = np.array(values[::stride, ::stride, ::stride], dtype=np.float64, order="C")
                self.thinned = values.size / chosen.size
                now.append(chosen)
        self.fields.append(now)

    def moving(self, least_turn: float) -> float:
        """Sum of squares of what moves, at most; `least_turn`: the angle (rad) by which its slowest part turned.

        A part that turns by an angle a differs by 2 (1 - cos a) of its square; faster parts count for too much.
        """
        if not self.fields[0]:
            return math.inf
        seen = 2.0 * (1.0 - math.cos(min(math.pi, least_turn)))
        pairs = [(a, b) for n, a in enumerate(self.fields) for b in self.fields[:n]]
        differences = [sum(float(np.sum((x - y) ** 2)) for x, y in zip(a, b)) for a, b in pairs]
        return max(differences) * self.thinned / max(seen, 1e-300)
