"""Schedule of checkpoints: "every 10 min", "every 1000 steps"."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from nearfield.entry.errors import ModelError

SECONDS = {"s": 1.0, "sec": 1.0, "second": 1.0, "min": 60.0, "minute": 60.0, "h": 3600.0, "hour": 3600.0}


@dataclass(frozen=True)
class Schedule:
    """Due after so many seconds, or after so many steps; one of the two is None."""

    seconds: float | None = None
    steps: int | None = None

    @classmethod
    def of(cls, text: str) -> Schedule:
        """The schedule that a text means. Error: anything but a positive time or number of steps."""
        found = re.fullmatch(r"\s*(?:every\s+)?(\d+(?:\.\d*)?(?:e[+-]?\d+)?)\s*([a-z]+)\s*", str(text), re.ASCII)
        number, unit = (float(found[1]), found[2]) if found else (0.0, "")
        unit = unit if unit in SECONDS else unit.removesuffix("s")
        if unit == "step" and number > 0 and number.is_integer():
            return cls(steps=int(number))
        if 0 < (seconds := number * SECONDS.get(unit, 0.0)) < math.inf:
            return cls(seconds=seconds)
        raise ModelError(
            f'checkpoint {text!r} is no time between checkpoints and no number of steps; give "every 10 min" (s, min, '
            'h) or "every 1000 steps"'
        )

    def __str__(self) -> str:
        return f"every {self.steps} steps" if self.steps else f"every {self.seconds:g} s"
