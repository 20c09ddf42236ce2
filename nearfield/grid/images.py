"""Bodies in the cells of a periodic model: the copies that reach into the first one."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from nearfield.bodies.shapes import Solid
from nearfield.entry.errors import ModelError

if TYPE_CHECKING:
    from nearfield.grid.yee import YeeGrid

AnySolid = TypeVar("AnySolid", bound=Solid)
MOST_COPIES = 10_000  # largest number for one body, 100 x 100 periods: more is a slip of units and takes minutes


def images(shape: AnySolid, grid: YeeGrid) -> Iterator[AnySolid]:
    """The shape, and its copies in other cells that reach into this one."""
    spans = []
    for axis, line in enumerate(grid.lines):
        low, high = (corner[axis] for corner in shape.bounds())
        covers = shape._constant_along(axis) and low <= line[0] and high >= line[-1]
        spans.append(range(1) if grid.phases[axis] is None or covers else shifts(low, high, line))
    count = math.prod(span.stop - span.start for span in spans)
    if count > MOST_COPIES:
        raise ModelError(
            f"a {shape.kind} reaches into {count:,} cells of this periodic model, at most {MOST_COPIES:,} are allowed, "
            "since each takes a copy of it; check its size and the period"
        )
    yield shape
    for cells in product(*spans):
        if any(cells):
            yield shape.moved([n * (line[-1] - line[0]) for n, line in zip(cells, grid.lines)])


def in_first_cell(shape: AnySolid, grid: YeeGrid) -> AnySolid:
    """The shape itself, or where it lies wholly beyond an end of a closed axis its copy in the first cell."""
    by = [0.0, 0.0, 0.0]
    for axis, (line, low, high) in enumerate(zip(grid.lines, *shape.bounds())):
        if grid.closed(axis) and (low > line[-1] or high < line[0]):
            period = line[-1] - line[0]
            by[axis] = -period * float(np.floor((0.5 * (low + high) - line[0]) / period))
    return shape.moved(by) if any(by) else shape


def shifts(low: float, high: float, line: np.ndarray) -> range:
    """By how many periods a body between `low` and `high` (m) may be moved and still lie in the cell."""
    period, spare = line[-1] - line[0], 1e-9 * (line[-1] - line[0])
    first = int(np.floor((line[0] - high + spare) / period)) + 1
    last = int(np.ceil((line[-1] - low - spare) / period)) - 1
    return range(min(first, 0), max(last, 0) + 1)
