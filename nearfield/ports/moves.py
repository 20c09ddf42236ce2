"""What of ports, elements and currents on edges the grid moves to its lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from nearfield.grid.moves import Moved, moved_place, moved_span
from nearfield.grid.yee import YeeGrid


def moved_entries(entries: Iterable[tuple[str, Any]], grid: YeeGrid) -> Iterator[Moved]:
    """Corners and reference planes of entries (label, entry)."""
    for label, entry in entries:
        corners = [getattr(entry, name, None) for name in ("lower", "upper", "start", "end")]
        given = [corner for corner in corners if corner is not None]
        if len(given) != 2 or not (hasattr(entry, "_block") or entry.kind == "waveguide"):
            continue
        for axis in range(3):
            low, high = sorted(corner[axis] for corner in given)
            if entry.kind != "waveguide" or low == high:  # the metal about its opening moves, and says so
                yield from moved_span(label, grid, axis, low, high)
        plane, heading = getattr(entry, "reference_plane", None), getattr(entry, "propagation", None)
        if plane is not None and heading:
            yield from moved_place(f"{label}, its reference plane", grid, "xyz".index(heading[-1]), plane)
