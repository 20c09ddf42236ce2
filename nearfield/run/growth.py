"""Growth of the fields after the sources are off, seen in the energies of the checks while it is still small.

The energy of the guard is the fields' alone, weighed as in vacuum. In passive models it can rise from next to nothing,
when poles give back what they hold: as the square of a sine, the log of it in ever smaller parts. What grows by itself
rises by like parts. A ladder of lumped coils and capacitors can hold energy back in more stages than one, so models
with these are not looked at.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

STRETCHES = 6  # compared with each other, the last one being now
SHORTEST = 4  # checks in a stretch: its largest energy does not depend on the phase of a ringing field
RISE = 100.0  # least energy of the last stretch over that of the first ...
LARGEST_PART = 0.4  # ... no more of whose log may fall to one step; a + sin^2 has 0.51 at least


def grown(energies: Sequence[float]) -> tuple[int, float] | None:
    """Over how many checks the energy has grown by itself, and by which factor; None where it has not.

    `energies`: those of all checks since the sources ended. Stretches of 4, 8, 16, ... checks are looked at.
    """
    length = SHORTEST
    while STRETCHES * length <= len(energies):
        if len(energies) % length == 0 and (factor := rise(energies[-STRETCHES * length :])):
            return (STRETCHES - 1) * length, factor
        length *= 2
    return None


def grown_at_end(energies: Sequence[float]) -> tuple[int, float] | None:
    """The same from the least energy since the sources ended, for a run that has no more steps."""
    length = (len(energies) - int(np.argmin(energies))) // STRETCHES if len(energies) else 0
    factor = rise(energies[-STRETCHES * length :]) if length >= SHORTEST else 0.0
    return ((STRETCHES - 1) * length, factor) if factor else None


def rise(energies: Sequence[float]) -> float:
    """Factor by which the largest energy of equal stretches rises from the first to the last; 0: not steadily."""
    largest = np.max(np.reshape(energies, (STRETCHES, -1)), axis=1)
    if largest[0] <= 0.0 or largest[-1] < RISE * largest[0]:
        return 0.0
    parts = np.diff(np.log(largest))
    steady = parts.min() > 0.0 and parts.max() <= LARGEST_PART * parts.sum()
    return float(largest[-1] / largest[0]) if steady else 0.0


def risen(energies: Sequence[float]) -> float:
    """The largest energy of the last checks over the least such of all since the sources ended; 1 of few checks."""
    count = len(energies) // SHORTEST
    if count < 2:
        return 1.0
    largest = np.max(np.reshape(energies[-count * SHORTEST :], (count, SHORTEST)), axis=1)
    return float(largest[-1] / largest.min()) if largest.min() > 0.0 else 1.0
