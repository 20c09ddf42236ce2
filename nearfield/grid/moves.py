"""What the grid moves to its lines: entries of the list that `check` prints, made by the folder of what is moved."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypedDict

from nearfield.entry.wording import quantity
from nearfield.grid.yee import AXES, SAMPLE_TOLERANCE, YeeGrid

# coordinates in m; the effect with its size; `cells`: how far from its place it acts
Moved = TypedDict("Moved", {"what": str, "from": float, "to": float, "effect": str, "cells": float})
AT_HOME = 0.02  # cells from its place up to which an edge of thin metal on a line meant for it acts where it is drawn


def moved_place(
    what: str, grid: YeeGrid, axis: int, place: float, effect: str = "", beyond: int = 0
) -> Iterator[Moved]:
    """A coordinate (m) that is moved to the nearest line; nothing where it lies on one, or past an end of
    the grid that is not closed.

    `beyond`: -1 or 1 for the lower or the upper edge of thin metal, which acts a third of a cell further out than its
    line: nothing of one that so acts where it is drawn.
    """
    line, (node, to) = grid.lines[axis], grid.nearest_line(axis, place)
    cell = float(grid.primary(axis)[node % grid.cells[axis] if grid.closed(axis) else min(node, line.size - 2)])
    if not (grid.closed(axis) or line[0] <= place <= line[-1]) or abs(to - place) <= SAMPLE_TOLERANCE * cell:
        return
    acts = to + beyond * cell_beyond(grid, axis, node, beyond) / 3
    off = abs(acts - place) / cell
    if not beyond or off > AT_HOME:
        by = f"moved along {AXES[axis]} by {quantity(abs(to - place), 'm')}, {abs(to - place) / cell:.2g} of a cell"
        text = f"{by}{'; ' if effect else ''}{effect}"
        yield {"what": what, "from": float(place), "to": to, "effect": text, "cells": off}


def cell_beyond(grid: YeeGrid, axis: int, node: int, way: int) -> float:
    """Length (m) of the cell past a node, towards lower (-1) or higher coordinates."""
    cells, number = grid.primary(axis), node - (way < 0)
    return float(cells[number % cells.size if grid.closed(axis) else min(max(number, 0), cells.size - 1)])


def moved_span(
    what: str, grid: YeeGrid, axis: int, low: float, high: float, low_rim: bool = False, high_rim: bool = False
) -> Iterator[Moved]:
    """Both ends of an extent (m); `low_rim`, `high_rim`: ends that are edges of thin metal, see `moved_place`."""
    if low == high:
        yield from moved_place(f"{what}, its place along {AXES[axis]}", grid, axis, low)
        return
    nodes, (first, last) = zip(*(grid.nearest_line(axis, end) for end in (low, high)))
    first -= low_rim * cell_beyond(grid, axis, nodes[0], -1) / 3
    last += high_rim * cell_beyond(grid, axis, nodes[1], 1) / 3
    longer = 100.0 * ((last - first) / (high - low) - 1.0)
    how = "acts as if" if low_rim or high_rim else "is"
    effect = (
        f"it {how} {quantity(last - first, 'm')} instead of {quantity(high - low, 'm')} long there ({longer:+.2g} %)"
    )
    for end, name, beyond in ((low, "lower", -int(low_rim)), (high, "upper", int(high_rim))):
        yield from moved_place(f"{what}, its {name} end along {AXES[axis]}", grid, axis, end, effect, beyond)
