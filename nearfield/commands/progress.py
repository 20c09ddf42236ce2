"""The progress of a run: a live bar on a terminal, one plain line every few seconds elsewhere."""

from __future__ import annotations

import math
import sys
import time
from typing import TYPE_CHECKING, Any

from nearfield.commands.console import silence, write
from nearfield.wording import duration

if TYPE_CHECKING:
    from nearfield.simulation import ProgressInfo

SECONDS_BETWEEN_LINES = 5.0


def energy_text(ratio: float) -> str:
    """Field energy relative to its peak, in dB."""
    if ratio is None or not math.isfinite(ratio):
        return "energy -"
    return f"energy {10 * math.log10(ratio):.1f} dB" if ratio > 0 else "energy 0"


def facts_text(info: ProgressInfo) -> str:
    """What is known at one step."""
    return (
        f"step {info.step}/{info.steps}  {info.mcells_per_second:.0f} Mcells/s  {energy_text(info.energy_ratio)}  "
        f"{duration(info.seconds_left)} left at most"
    )


class PlainProgress:
    """Lines on stderr, for pipes and logs."""

    def __init__(self) -> None:
        self.last = time.monotonic()

    def __call__(self, info: Any) -> None:
        now = time.monotonic()
        if now - self.last >= SECONDS_BETWEEN_LINES or info.step >= info.steps:
            self.last = now
            write(sys.stderr, facts_text(info))

    def __enter__(self) -> PlainProgress:
        return self

    def __exit__(self, *error: Any) -> None:
        """Nothing to put back."""


class LiveProgress:
    """A bar on a terminal."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        self.bar = Progress(
            TextColumn("{task.description}"), BarColumn(bar_width=24), TextColumn("{task.fields[facts]}"),
            console=Console(stderr=True), transient=False, refresh_per_second=4,
        )
        self.task = self.bar.add_task("running", total=None, facts="")
        self.broken = False

    def __call__(self, info: Any) -> None:
        if self.broken:
            return
        try:
            self.bar.update(self.task, completed=info.step, total=info.steps, facts=facts_text(info))
        except OSError:
            self.broken = True
            silence(sys.stderr)

    def __enter__(self) -> LiveProgress:
        self.bar.start()
        return self

    def __exit__(self, *error: Any) -> None:
        self.bar.stop()


def progress() -> PlainProgress | LiveProgress:
    """The progress display that suits stderr."""
    return LiveProgress() if sys.stderr.isatty() else PlainProgress()
