"""What of ports, elements and currents on edges the grid moves to its lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from nearfield.entry.wording import quantity
from nearfield.grid.moves import Moved, moved_place, moved_span
from nearfield.grid.yee import AXES, SAMPLE_TOLERANCE, YeeGrid


def moved_entries(entries: Iterable[tuple[str, Any]], grid: YeeGrid) -> Iterator[Moved]:
    """Corners and reference planes of entries (label, entry), and places of currents at points on walls."""
    for label, entry in entries:
        if hasattr(entry, "position"):
            yield from _moved_off_walls(label, entry, grid)
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


def _moved_off_walls(label: str, point: Any, grid: YeeGrid) -> Iterator[Moved]:
    """The place of a current along the normal of a wall that is nearer than its first sample, half a cell inside."""
    for axis, samples in enumerate(grid.component_axes(point._component)):
        place, first, last = point.position[axis], float(samples[0]), float(samples[-1])
        to = min(max(place, first), last)
        cell = float(grid.primary(axis)[0 if place < to else -1])
        if samples.size > 1 and not grid.closed(axis) and abs(to - place) > SAMPLE_TOLERANCE * cell:
            yield {
                "what": f"{label}, its place along {AXES[axis]}",
                "from": place,
                "to": to,
                "effect": f"it acts {quantity(abs(to - place), 'm')} inside, in the middle of the cell at the wall",
                "cells": abs(to - place) / cell,
            }
