"""Numbers that users of elements count with."""

from __future__ import annotations

from typing import Any

from nearfield.entry.counts import threads_given
from nearfield.machine.hardware import this_machine

MOST_CHUNK = 1 << 30


def threads_of(given: Any) -> int:
    """So many threads, one a physical core if left out. Error: no number of them."""
    return threads_given(given) or len(this_machine().cores)
