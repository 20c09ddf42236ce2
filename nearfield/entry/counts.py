"""Numbers that users count with: threads, lines, points."""

from __future__ import annotations

import operator
from typing import Any

from nearfield.entry.errors import ModelError
from nearfield.entry.messages import shown

MOST_THREADS = 4096


def count_of(name: str, given: Any, most: int) -> int:
    """The number. Error: no whole number from 1 to `most`."""
    try:
        number = 0 if isinstance(given, bool) else operator.index(given)
    except TypeError:
        number = 0
    if not 1 <= number <= most:
        raise ModelError(f"{name}={shown(given)}: give 1 or more, a whole number up to {most:,}")
    return number


def threads_given(given: Any) -> int | None:
    """So many threads; None where it is left open. Error: no number of them."""
    return None if given is None else count_of("threads", given, MOST_THREADS)
