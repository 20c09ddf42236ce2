"""How many elements a field will have, from blocks of it: their tables need memory beside labels."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from nearfield.dissipation.grids import AXES, LEAST_POINTS, kind_of
from nearfield.machine.compiled import core

BLOCK = 24**3  # points of a block, about
BLOCKS = 3  # along each axis


def expected_elements(values: Any, persistence: float = 0.0) -> int:
    """About how many elements an array or a data set has: those of blocks spread over it, for all points.

    Blocks are labelled by steepest neighbours. Where they are cut they have a few elements more, so that smooth fields
    are given one in some thousands of points at least.
    """
    if not 1 <= len(values.shape) <= len(AXES) or min(values.shape) < LEAST_POINTS:
        return 0
    found = points = 0
    for block in blocks_of(values):
        found, points = found + elements_in(block, persistence), points + block.size
    return math.ceil(found / max(points, 1) * math.prod(values.shape))


def blocks_of(values: Any) -> Iterator[np.ndarray]:
    """Blocks at the begin, in the middle and at the end of each axis."""
    side = round(BLOCK ** (1 / len(values.shape)))
    spans = []
    for count in values.shape:
        length = min(side, count)
        first = sorted({(count - length) * part // (BLOCKS - 1) for part in range(BLOCKS)})
        spans.append([slice(begin, begin + length) for begin in first])
    for place in itertools.product(*spans):
        yield np.ascontiguousarray(values[place], kind_of(values.dtype))


def elements_in(block: np.ndarray, persistence: float) -> int:
    """Elements of a small field; none in one that is the same everywhere, or not finite somewhere."""
    if not (np.isfinite(block).all() and np.ptp(block) > 0):
        return 0
    solid = block.reshape((1,) * (3 - block.ndim) + block.shape)
    widths = [[1.0] * max(1, count - 1) for count in solid.shape]
    return len(core().elements(solid, widths, [False] * 3, "discrete", persistence, 1, 1, None)["elements"])
