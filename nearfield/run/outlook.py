"""How far a run is, in words and as a part of the whole; the bar that notebooks show."""

from __future__ import annotations

import html
import math
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from nearfield.entry.levels import power_decibels
from nearfield.entry.wording import duration

if TYPE_CHECKING:
    from nearfield.run.options import ProgressInfo

KERNEL = "ZMQInteractiveShell"  # the shell of Jupyter's kernels; IPython's own in a terminal has another


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


class NotebookProgress:
    """A bar under a notebook's cell, redrawn in place: `show(html)` gives what takes the next state."""

    def __init__(self, decay: float | None, show: Callable[[str], Callable[[str], None]]) -> None:
        self.outlook, self.show = Outlook(decay), show
        self.update: Callable[[str], None] | None = None

    def __call__(self, info: ProgressInfo) -> None:
        text = self.outlook.text(info)
        markup = (
            f'<div style="font-family:sans-serif;font-size:13px">{html.escape(info.excitation)} '
            f'<progress max="1" value="{self.outlook.part(info):.4f}"></progress> {html.escape(text)}</div>'
        )
        if self.update is None:
            self.update = self.show(markup)
        else:
            self.update(markup)


def notebook_progress(decay: Callable[[], float | None]) -> NotebookProgress | None:
    """The bar of the notebook in which this process is the kernel; None anywhere else. decay: asked for there only."""
    ipython: Any = sys.modules.get("IPython")
    if ipython is None or type(ipython.get_ipython()).__name__ != KERNEL:
        return None
    from IPython.display import HTML, display  # type: ignore[import-not-found]

    def show(markup: str) -> Callable[[str], None]:
        handle = display(HTML(markup), display_id=True)
        return lambda text: handle.update(HTML(text))

    return NotebookProgress(decay(), show)
