"""Gaps narrower than a cell between bodies of metal of which one at least is round, turned or drawn by corners."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from nearfield.bodies.geometry import FilledShape
from nearfield.bodies.shapes import Rectangular, Solid, Wire
from nearfield.entry.wording import quantity
from nearfield.grid.moves import Moved
from nearfield.grid.yee import SAMPLE_TOLERANCE, YeeGrid
from nearfield.media.surface_media import is_metal
from nearfield.metal.patches import cell_near

GAP = 0.99  # cells; of wider ones lines have their impedance to 3 % (benchmarks/round_rods.py)
PLACES = 9  # along each axis of the box that is looked at
ROUNDS = 5  # each looks at half the box about the nearest place
MOST = 1000  # pairs of bodies that come near each other


def curved_gaps(bodies: Sequence[FilledShape], grid: YeeGrid) -> Iterator[Moved]:
    """All of them, but none between bodies that touch somewhere."""
    metal = [body for body in bodies if is_metal(body.medium) and not isinstance(body.shape, Wire)]
    ends = np.array([body.shape.bounds() for body in metal]).reshape(-1, 2, 3)
    longest = np.array([float(grid.primary(axis).max()) for axis in range(3)])
    box = np.array([[line[0], line[-1]] for line in grid.lines]).T
    left = MOST
    for number, body in enumerate(metal):
        low, high = np.maximum(ends[:, 0], ends[number, 0]), np.minimum(ends[:, 1], ends[number, 1])
        near = (low - high < longest).all(axis=1)
        for other in (m for m in np.flatnonzero(near).tolist() if m > number):
            pair = body.shape, metal[other].shape
            left -= 1
            if left < 0 or all(isinstance(shape, Rectangular) for shape in pair):
                continue
            lower, upper = np.minimum(low[other], high[other]), np.maximum(low[other], high[other])
            wide, at = nearest(pair, np.maximum(lower - longest, box[0]), np.minimum(upper + longest, box[1]))
            cell = max(cell_near(grid, axis, at[axis], at[axis]) for axis in range(3))
            if SAMPLE_TOLERANCE * cell < wide < GAP * cell and not _holds(metal, at, pair):
                yield {
                    "what": f"gap between {body.label} and {metal[other].label}",
                    "from": wide,
                    "to": cell,
                    "effect": f"it is {wide / cell:.2g} of a cell wide, so its field is not resolved: lines beside it "
                    f"have up to 6 % too little impedance; take cells of at most {quantity(wide / 1.5, 'm')} there",
                    "cells": 1.0 - wide / cell,
                }


def nearest(pair: Sequence[Solid], lower: np.ndarray, upper: np.ndarray) -> tuple[float, np.ndarray]:
    """How far (m) two bodies are apart, 0 where they touch, and a place between them; looked for in a box.

    The sum of the distances of a place from both is least on the shortest way from one to the other.
    """
    low, high = lower, upper
    for _ in range(ROUNDS):
        axes = [np.linspace(a, b, PLACES) for a, b in zip(low, high)]
        x, y, z = (place.ravel() for place in np.meshgrid(*axes, indexing="ij"))
        apart = np.sum([np.maximum(shape._signed_distance(x, y, z), 0.0) for shape in pair], axis=0)
        best = int(np.argmin(apart))
        at, half = np.array([x[best], y[best], z[best]]), 0.25 * (high - low)
        low, high = np.maximum(at - half, lower), np.minimum(at + half, upper)
    return float(apart[best]), at


def _holds(metal: Sequence[FilledShape], at: np.ndarray, pair: Sequence[Solid]) -> bool:
    """Whether another body of metal fills a place between two."""
    others = (body.shape for body in metal if all(body.shape is not shape for shape in pair))
    return any(bool(shape.contains(*at)) for shape in others)
