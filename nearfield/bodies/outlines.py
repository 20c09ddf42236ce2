"""The straight sides of flat shapes: rectangles, polygons and layouts without thickness."""

from __future__ import annotations

import numpy as np

from nearfield.bodies.layout import Layout
from nearfield.bodies.shapes import Polygon, Rectangular, Solid

Ends = tuple[np.ndarray, np.ndarray]  # first and last points (n, 2) of sides


def straight_sides(shape: Solid, normal: int) -> Ends | None:
    """The sides of a flat shape's outline along the two axes after its normal; None of shapes without any."""
    u, v = (normal + 1) % 3, (normal + 2) % 3
    if isinstance(shape, Rectangular):
        (u0, v0), (u1, v1) = ((end[u], end[v]) for end in shape.bounds())
        return closed([np.array([(u0, v0), (u1, v0), (u1, v1), (u0, v1)])])
    if isinstance(shape, Polygon) and shape._normal == normal:
        return closed([np.asarray(shape.vertices)])
    if isinstance(shape, Layout):
        return closed([np.asarray(polygon.vertices) for polygon in shape.polygons()])
    return None


def closed(outlines: list[np.ndarray]) -> Ends:
    """The sides of closed outlines, each with corners (n, 2); none of no length."""
    start, end = np.concatenate(outlines), np.concatenate([np.roll(outline, -1, axis=0) for outline in outlines])
    real = (start != end).any(axis=1)
    return start[real], end[real]
