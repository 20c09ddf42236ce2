"""The progress of a run: a live bar on a terminal, one plain line every few seconds elsewhere."""

from __future__ import annotations

import math
import sys
import time
from typing import TYPE_CHECKING, Any, Self

from nearfield.analysis.network import power_decibels
from nearfield.commands.streams import silence, write
from nearfield.entry.wording import duration

if TYPE_CHECKING:
    from nearfield.run.options import ProgressInfo

SECONDS_BETWEEN_LINES = 5.0


def energy_text(ratio: float) -> str:
    """Field energy relative to its peak, in dB."""
    if ratio is None or not math.isfinite(ratio):
        return "energy -"
    return f"energy {power_decibels(ratio):.1f} dB" if ratio > 0 else "energy 0"


class Outlook:
    """The progress of a run: by steps, or by the decay of its energy where that will end it earlier."""

    def __init__(self, decay: float | None) -> None:
        self.decay = decay
        self.excitation, self.begun = "", time.monotonic()

    def part(self, info: ProgressInfo) -> float:
        """The part of the excitation that is done, 0 to 1."""
        if info.excitation != self.excitation:
            self.excitation, self.begun = info.excitation, time.monotonic()
        part = info.step / info.steps
        if self.decay and 0 < info.energy_ratio < 1:
            part = max(part, math.log(info.energy_ratio) / math.log(self.decay))
        return min(part, 1.0)

    def text(self, info: ProgressInfo) -> str:
        """A line about one step: rate, energy, time left."""
        part = self.part(info)
        left = (time.monotonic() - self.begun) * (1 - part) / part if part > 0 else math.inf
        return (
            f"step {info.step}  {info.mcells_per_second:.0f} Mcells/s  {energy_text(info.energy_ratio)}  "
            f"{duration(left)} left" + (f"  {info.note}" if info.note else "")
        )


class PlainProgress:
    """Lines on stderr, for pipes and logs."""

    def __init__(self, decay: float | None = None) -> None:
        self.outlook, self.last = Outlook(decay), time.monotonic()

    def __call__(self, info: ProgressInfo) -> None:
        text, now = self.outlook.text(info), time.monotonic()
        if now - self.last >= SECONDS_BETWEEN_LINES or info.step >= info.steps:
            self.last = now
            write(sys.stderr, text)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: Any) -> None:
        """Nothing to restore."""


class LiveProgress(PlainProgress):
    """A bar on a terminal."""

    def __init__(self, decay: float | None = None) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        super().__init__(decay)
        parts = (TextColumn("{task.description}"), BarColumn(bar_width=24), TextColumn("{task.fields[facts]}"))
        self.bar = Progress(*parts, console=Console(stderr=True), transient=False, refresh_per_second=4)
        self.task = self.bar.add_task("running", total=1.0, facts="")
        self.broken = False

    def __call__(self, info: ProgressInfo) -> None:
        if self.broken:
            return
        try:
            facts, part = self.outlook.text(info), self.outlook.part(info)
            self.bar.update(self.task, completed=part, facts=facts, description=info.excitation[:20])
        except OSError:
            self.broken = True
            silence(sys.stderr)

    def __enter__(self) -> Self:
        self.bar.start()
        return self

    def __exit__(self, *error: Any) -> None:
        self.bar.stop()


def progress(decay: float | None = None) -> PlainProgress:
    """The progress display that suits stderr, for runs that end when the energy has decayed so far (None: by steps)."""
    return LiveProgress(decay) if sys.stderr.isatty() else PlainProgress(decay)
