"""Rate of this machine when it was last measured: a small file that `bench box`, `doctor` and long runs refresh.

It serves predictions of time, and of what tiles gain; without it stated defaults stand in.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from nearfield.machine.machine_file import MachineFile

RATES = MachineFile("rates.json")
DEFAULT_MCELLS_PER_SECOND = 150.0  # a core, single precision, memory-bound sweep; measured with `bench box` at 200^3
LARGE = 2e6  # cells, some 50 MB of fields
SHORTEST_SECONDS = 0.5  # a shorter measurement is noise
FEWEST = 1e5  # cells; smaller models spend their time between rows, and say nothing of others


@dataclass(frozen=True)
class Rate:
    """Million cells a second, and whether it was measured here."""

    mcells_per_second: float
    source: str


def stored() -> dict[str, float]:
    """The rates of this machine by `precision/threads/size`, and `triad/threads`."""
    try:
        return {name: float(rate) for name, rate in RATES.entries().items() if 0 < float(rate) < math.inf}
    except (ValueError, TypeError):
        return {}


def size_of(cells: float) -> str:
    """Models that stay in cache run faster than those that do not; their rates are kept apart."""
    return "large" if cells >= LARGE else "small"


def known_rate(precision: str, threads: int, cells: float) -> Rate:
    """The rate to expect of a model of so many cells; measured with other numbers of threads it is scaled."""
    rates = stored()
    exact = rates.get(f"{precision}/{threads}/{size_of(cells)}")
    if exact is not None:
        return Rate(exact, f"measured here with {threads} threads")
    for name, rate in rates.items():
        kind, count, size = (*name.split("/"), "", "")[:3]
        if (kind, size) == (precision, size_of(cells)) and count.isdigit() and int(count) > 0:
            return Rate(rate * threads / int(count), f"scaled from a measurement with {count} threads")
    slower = 2.0 if precision == "double" else 1.0
    rate = DEFAULT_MCELLS_PER_SECOND * threads / slower
    return Rate(rate, "an assumption; `nearfield bench box` measures this machine")


def remember_rate(mcells_per_second: float, precision: str, threads: int, seconds: float, cells: float) -> None:
    """Keep the rate measured on a model of so many cells."""
    if seconds < SHORTEST_SECONDS or cells < FEWEST or not mcells_per_second > 0:
        return
    RATES.keep(stored() | {f"{precision}/{threads}/{size_of(cells)}": round(float(mcells_per_second), 3)})


def known_triad(threads: int) -> float | None:
    """Bytes a second of a triad on so many threads, where it was measured here."""
    rate = stored().get(f"triad/{threads}")
    return rate and rate * 1e9


def remember_triad(gigabytes_per_second: float | None, threads: int) -> None:
    """Keep the rate of a triad."""
    if gigabytes_per_second:
        RATES.keep(stored() | {f"triad/{threads}": round(gigabytes_per_second, 3)})
