"""The progress of a run: a live bar on a terminal, one plain line every few seconds elsewhere."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any, Self

from nearfield.commands.streams import silence, write
from nearfield.run.outlook import Outlook

if TYPE_CHECKING:
    from nearfield.run.options import ProgressInfo

SECONDS_BETWEEN_LINES = 5.0


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
