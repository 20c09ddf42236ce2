"""When the energy of a run is weighed, and over how long a time it must have decayed.

The sum of squares is an energy as of vacuum. Where eps_r is large it swings between E's part, which counts for 1/eps_r
of what it holds, and H's, twice in a period: one moment may lie in a trough that is 10 log10(eps_r) dB deep, and so may
every check where the checks keep step with the field. What counts is therefore the largest of moments that no period
keeps step with, over half a period of the slowest field.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from nearfield.discretization.cpml import lowest_of

LONGEST = 0.1  # of the time that was simulated: the longest window, since what is slower has hardly begun to ring
GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0
PARTS = (*sorted(n * GOLDEN % 1.0 for n in range(8)), 1.0)  # of a window; at most 0.15 apart


def window(time: float, band: tuple[float, float]) -> float:
    """Seconds before a time over which the largest energy counts: half a period of the lowest frequency of a band."""
    lowest = lowest_of(band)
    return min(0.5 / lowest, LONGEST * time) if lowest > 0.0 else LONGEST * time


@dataclass(frozen=True)
class Weighings:
    """Steps at which the energy is weighed: all multiples of `every`, the last one of all, and within windows."""

    every: int
    steps: int  # of the run
    time_step: float  # s
    band: tuple[float, float]  # Hz

    def is_check(self, step: Any) -> Any:
        """Whether a run may end at a step, or at each of an array of them."""
        return (step % self.every == 0) | (step == self.steps)

    def window(self, step: float) -> int:
        """Steps before a step over which the largest energy counts."""
        return math.ceil(window(step * self.time_step, self.band) / self.time_step - 1e-6)

    def end(self, start: int) -> int:
        """The first check whose window begins at this step or later."""
        return math.ceil((start + self.window(start / (1.0 - LONGEST))) / self.every) * self.every

    def following(self, step: int, start: int | None) -> int:
        """The next step at which to weigh, after one; `start`: since which step all was small."""
        windows = [(self.steps - self.window(self.steps), self.steps)]
        windows += [] if start is None else [(start, self.end(start))]
        within = [begin + round(part * (end - begin)) for begin, end in windows for part in PARTS]
        return min([min(self.steps, step // self.every * self.every + self.every), *(n for n in within if n > step)])
