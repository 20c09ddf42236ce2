"""The one figure of a case, in the style of the reports."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from nearfield.pictures.style import COLOURS, SETTINGS, blank, headline
from validation.case import Case


@contextmanager
def picture(case: Case, columns: int = 1, facts: str = "", width: float | None = None, **options: Any) -> Iterator:
    """Give axes to draw on (a list, one for each column) and write the case's figure when they are done.

    `options` go to matplotlib's `add_subplot`, for example projection="polar".
    """
    import matplotlib

    with matplotlib.rc_context(SETTINGS | {"axes.prop_cycle": matplotlib.cycler(color=COLOURS)}):
        figure = blank(width or (7.2 if columns == 1 else 4.8 * columns), 4.4)
        headline(figure, case.title, facts)
        yield [figure.add_subplot(1, columns, column + 1, **options) for column in range(columns)]
        figure.savefig(case.figure, dpi=110, metadata={"Software": None})
