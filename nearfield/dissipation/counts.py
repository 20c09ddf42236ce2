"""Numbers that users count with: threads, lines, points."""

from __future__ import annotations

import operator
from typing import Any

from nearfield.entry.errors import ModelError
from nearfield.entry.messages import shown
from nearfield.machine.hardware import this_machine

MOST_THREADS = 4096
MOST_CHUNK = 1 << 30


def count_of(name: str, given: Any, most: int) -> int:
    """The number. Error: no whole number from 1 to `most`."""
    try:
        number = 0 if isinstance(given, bool) else operator.index(given)
    except TypeError:
        number = 0
    if not 1 <= number <= most:
        raise ModelError(f"{name}={shown(given)}: give 1 or more, a whole number up to {most:,}")
    return number


def threads_of(given: Any) -> int:
    """So many threads, one a physical core if left out. Error: no number of them."""
    return len(this_machine().cores) if given is None else count_of("threads", given, MOST_THREADS)
