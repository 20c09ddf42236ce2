"""What of monitors the grid moves to its lines, where that changes what they give: extents of planes and paths."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from nearfield.grid.moves import Moved, moved_span
from nearfield.grid.yee import YeeGrid
from nearfield.sources.edges import flat_axes

ALIKE = 1e-3  # of an extent; planes that become longer or shorter by less are not listed


def moved_monitors(monitors: Iterable[tuple[str, Any]], grid: YeeGrid) -> Iterator[Moved]:
    """Extents of flux planes, ends and places of voltages; monitors come as (label, entry).

    Boxes of flux and the places of planes along their normals change no power, and fields say where their samples lie.
    """
    for label, monitor in monitors:
        if monitor.kind == "flux" and (normal := flat_axes(monitor.lower, monitor.upper)):
            for axis in (axis for axis in range(3) if axis not in normal):
                low, high = monitor.lower[axis], monitor.upper[axis]
                first, last = (float(grid.lines[axis][grid.nearest_node(axis, end)]) for end in (low, high))
                if abs(last - first - (high - low)) > ALIKE * (high - low):
                    yield from moved_span(label, grid, axis, low, high)
        elif monitor.kind == "voltage":
            for axis in range(3):
                low, high = sorted((monitor.start[axis], monitor.end[axis]))
                yield from moved_span(label, grid, axis, low, high)
