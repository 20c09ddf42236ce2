"""`nearfield elements`: the dissipation elements of a scalar field in a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from nearfield.commands.console import print_answer
from nearfield.commands.element_fields import field_of_monitor, monitor_named
from nearfield.commands.tables import rows
from nearfield.dissipation.elements import Elements, elements
from nearfield.dissipation.reading import read_field
from nearfield.entry.errors import ModelError
from nearfield.entry.wording import counted


def find_elements(
    given: str,
    spacing: str | None,
    periodic: str,
    method: str,
    quantity: str | None,
    at: float | None,
    output: Path | None,
    threads: int | None,
    as_json: bool,
) -> int:
    """Read the field, find its elements, print their numbers and means."""
    distances: Sequence[float | np.ndarray] | None
    if monitor := monitor_named(given):
        if spacing is not None:
            raise ModelError(f"--spacing {spacing}: the grid of a run's monitor is in its result; leave it out")
        field, distances, what = field_of_monitor(*monitor, quantity, at, periodic)
        label = f"{given}, {what}"
    elif quantity is not None or at is not None:
        raise ModelError(f"--quantity and --at choose from a run's monitor, RESULT:MONITOR; {given} is none")
    else:
        field, distances, label = read_field(given), spacings(spacing, given), given
    found = elements(field, 1.0 if distances is None else distances, periodic, method, threads)
    answer = found.summary() | ({} if output is None else {"output": str(found.save(output))})
    answer |= {
        "field": label,
        "shape": found.labels.shape,
        "spacing": found.spacing,
        "periodic": "".join(axis for axis, closed in zip("xyz", found.periodic) if closed),
        "method": found.method,
        "traced": found.traced,
        "unresolved": found.unresolved,
    }
    return print_answer(as_json, answer, readable(label, found, distances is None), warnings(found))


def spacings(given: str | None, field: str) -> Sequence[float | np.ndarray] | None:
    """Numbers of `0.1` or `0.1,0.1,0.2`; other words name the coordinates of an axis in the field's own file.

    Error: no such data set.
    """
    if given is None:
        return None
    return [distance(word, field, given) for word in given.split(",")]


def distance(word: str, field: str, given: str) -> float | np.ndarray:
    """A number, or the coordinates that the word names."""
    try:
        return float(word)
    except ValueError:
        file = field.rpartition(":")[0]
        if not file or not word.strip():
            raise ModelError(
                f"--spacing {given}: give a number, or one for each axis as 0.1,0.1,0.2; in place of one, for "
                "fields in HDF5 files, the data set with the coordinates of the axis"
            ) from None
    try:
        return read_field(f"{file}:{word}")
    except ModelError as error:
        raise ModelError(f"--spacing {given}: '{word}' is no number, and {error}") from None


def warnings(found: Elements) -> list[str]:
    """What was not found by the definition."""
    if not found.unresolved:
        return []
    lines = counted(found.unresolved, "gradient line")
    why = "ended at saddles, displaced or not, and took the end of the path of steepest neighbours"
    return [f"{lines} of {found.traced:,} {why}"]


def readable(given: str, found: Elements, in_cells: bool) -> str:
    """Numbers and means in words."""
    unit = " cells" if in_cells else ""
    axes = "".join(axis for axis, closed in zip("xyz", found.periodic) if closed)
    lines = {
        "elements": f"{len(found):,} ({found.pairs:,} pairs of extrema)",
        "extrema": f"{len(found.maxima):,} maxima, {len(found.minima):,} minima",
        "mean length": f"{found.length.mean():.6g}{unit}",
        "mean difference": f"{found.difference.mean():.6g}",
        "points": f"{found.labels.size / len(found):.4g} an element",
        "rate": f"{found.points_per_second / 1e6:.3g} Mpoint/s, {found.seconds:.3g} s ({found.method})",
    }
    shape = " x ".join(map(str, found.labels.shape))
    closed = f"periodic along {', '.join(axes)}" if axes else "not periodic"
    return f"{given}: {shape} points, {closed}\n{rows(lines, 16)}"
