"""The state of a run, as its progress is reported."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ProgressInfo:
    """The state of a run: step of steps (at most), rate, energy over its peak, seconds left at most."""

    step: int
    steps: int
    mcells_per_second: float
    energy_ratio: float
    seconds_left: float
    excitation: str
    note: str = ""  # a trial of tiles that goes on
