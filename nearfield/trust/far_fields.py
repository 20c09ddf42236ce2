"""Powers of far fields: through the surface, over the sphere, and accepted by the port."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np

from nearfield.analysis.pattern_variables import surface_difference
from nearfield.records.records import ExcitationRecord, Variables
from nearfield.trust.balance import far_field_balance
from nearfield.trust.entries import Recorded, Trust, judged
from nearfield.trust.ports import largest_finite

POWERS = 2.0, 5.0  # % between the pattern's integral and the power through the surface
LAG = 30.0, 90.0  # degrees of the grid's waves on their way to a surface; the far field takes it off, at second order
SAME_POWER = 0.02  # relative: surfaces that less power tells apart hold the same antenna
DIFFERENT = 1.0, 3.0  # % of the largest amplitude between two surfaces about one antenna: 0.09 and 0.27 dB
MOST_PAIRS = 10  # pairs of surfaces that are compared


def far_field_trust(result: Recorded) -> Iterator[Trust]:
    """Entries for each far field of each excitation."""
    for excitation in result.record.excitations:
        run = result.excitation(excitation)
        for name, monitor in run.record.monitors.items():
            if monitor.kind == "far-field":
                yield from _pattern(run[name], f"{name}, {excitation} driven")
                yield from far_field_balance(result, excitation, name, run[name])
                yield from _lag(monitor.variables, f"{name}, {excitation} driven")


def _pattern(far_field: Any, label: str) -> Iterator[Trust]:
    radiated, surface = far_field.radiated_power.values, far_field.surface_power.values
    with np.errstate(divide="ignore", invalid="ignore"):
        largest, at = largest_finite(100 * np.abs(radiated / surface - 1), far_field.radiated_power.frequency.values)
    entry = judged(
        f"far field's power, {label}",
        largest,
        *POWERS,
        f"between the pattern's integral and the power through its surface{at}; a feed line or a board that leaves "
        "the surface carries power of its own",
        "%",
    )
    # power that leaves on a line is no fault of the pattern, and cannot be told from one
    yield entry if entry.verdict != "bad" else Trust(entry.name, "warn", entry.value, entry.limit, entry.text, "%")


def _lag(variables: Variables, label: str) -> Iterator[Trust]:
    if "grid_lag" in variables:
        text = (
            "by which waves of the grid lag on their way to the surface; the far field counts with the grid's own waves"
        )
        yield judged(
            f"lag up to the surface, {label}",
            float(np.degrees(variables["grid_lag"].array.max())),
            *LAG,
            text,
            "degrees",
        )


def surface_trust(excitation: str, record: ExcitationRecord) -> Iterator[Trust]:
    """What the far fields of two surfaces differ by that as much power leaves, so that both hold the same antenna.

    It takes their far fields, so it is judged once, at the end of the run.
    """
    found = {key: m.variables for key, m in record.monitors.items() if "radiated_power" in m.variables}
    for (one, first), (other, second) in list(combinations(found.items(), 2))[:MOST_PAIRS]:
        shared = np.intersect1d(first["frequency"].array, second["frequency"].array, return_indices=True)[1:]
        powers = [variables["surface_power"].array[at] for variables, at in zip((first, second), shared)]
        if powers[0].size and np.abs(powers[0] - powers[1]).max() <= SAME_POWER * np.abs(powers[0]).max():
            difference = surface_difference(first, second)
            text = "of the largest amplitude, between the far fields of two surfaces about one antenna"
            name = f"surface consistency, {one} and {other}, {excitation} driven"
            yield judged(name, float("nan") if difference is None else 100 * difference, *DIFFERENT, text, "%")
