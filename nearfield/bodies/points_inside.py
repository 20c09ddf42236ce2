"""Points spread evenly through a body, for questions whose answers need no grid."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nearfield.bodies.shapes import Solid, Wire

# steps along x, y, z of a sequence that fills a box evenly: powers of the root of s^4 = s + 1, Roberts (2018)
SEQUENCE = 0.8191725133961645, 0.6710436067037893, 0.5497004779019703


def points_inside(shape: Solid, lower: Sequence[float], upper: Sequence[float], count: int) -> np.ndarray:
    """Up to `count` points (3, n) of a shape between two corners (m); of a thin one in its plane, of a wire on it."""
    if isinstance(shape, Wire):
        ends = np.array(shape.points, dtype=float)
        part = (np.arange(count) % 16 + 0.5) / 16
        first = np.arange(count) // 16 % (len(ends) - 1)
        at = (ends[first] * (1 - part)[:, None] + ends[first + 1] * part[:, None]).T
        within = (at >= np.array(lower)[:, None]) & (at <= np.array(upper)[:, None])
        return at[:, within.all(axis=0)]
    low, high = (pick(pair, axis=0) for pick, pair in zip((np.max, np.min), zip(shape.bounds(), (lower, upper))))
    if (low > high).any():
        return np.empty((3, 0))
    spread = np.outer(SEQUENCE, np.arange(1, count + 1)) % 1.0
    at = low[:, None] + (high - low)[:, None] * spread
    return at[:, np.asarray(shape.contains(*at))]
