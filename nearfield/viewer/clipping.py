"""Surfaces of triangles cut off at other bodies, for pictures: what is outside of them, or inside.

A triangle that a body's surface may cross, by the signed distance at its middle, is halved until it is small;
what crosses then is cut straight.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nearfield.bodies.outlined import Surface
from nearfield.bodies.shapes import Solid

SMALLEST = 1 / 24  # of the body's size: circumradius of triangles that are cut straight
MOST = 400_000  # triangles; larger ones are cut where there would be more


def clipped(surface: Surface, bodies: Sequence[Solid], outside: bool, size: float) -> Surface:
    """The part of a surface outside of some bodies, or inside of all; `size` (m) of what is drawn."""
    corners, triangles = surface
    points = corners[triangles]  # (triangles, 3, 3)
    if not bodies or not len(points):
        return surface

    def beyond(at: np.ndarray) -> np.ndarray:
        """Positive where the surface stays, a bound of the distance (m) to where it does not."""
        x, y, z = np.moveaxis(at, -1, 0)
        distance = [body._signed_distance(x, y, z) for body in bodies]
        return np.minimum.reduce(distance) if outside else -np.maximum.reduce(distance)

    kept = []
    while len(points):
        middle = points.mean(axis=1)
        reach = np.linalg.norm(points - middle[:, None], axis=2).max(axis=1)
        value = beyond(middle)
        kept.append(points[value >= reach])
        points, reach = points[np.abs(value) < reach], reach[np.abs(value) < reach]
        small = (reach < SMALLEST * size) | (len(points) > MOST)
        kept.append(straight(points[small], beyond(points[small])))
        points = divided(points[~small])
    found = np.concatenate(kept)
    return found.reshape(-1, 3), np.arange(3 * len(found)).reshape(-1, 3)


def divided(points: np.ndarray) -> np.ndarray:
    """Each triangle (n, 3, 3) as two, halved across its longest side."""
    sides = np.linalg.norm(np.roll(points, -1, axis=1) - points, axis=2)  # from each corner to the next
    order = (np.argmax(sides, axis=1)[:, None] + np.arange(3)) % 3
    a, b, c = (points[np.arange(len(points)), order[:, number]] for number in range(3))
    middle = 0.5 * (a + b)
    return np.concatenate((np.stack((a, middle, c), axis=1), np.stack((middle, b, c), axis=1)))


def straight(points: np.ndarray, value: np.ndarray) -> np.ndarray:
    """The parts of triangles (n, 3, 3) where a value (n, 3), linear between their corners, is positive."""
    inside = value > 0.0
    found = [points[inside.all(axis=1)]]
    for count in (1, 2):
        rows = np.flatnonzero(inside.sum(axis=1) == count)
        odd = np.argmax(inside[rows] if count == 1 else ~inside[rows], axis=1)  # the corner that differs
        order = (odd[:, None] + np.arange(3)) % 3
        p, v = points[rows[:, None], order], value[rows[:, None], order]
        ends = [p[:, 0] + (v[:, 0] / (v[:, 0] - v[:, n]))[:, None] * (p[:, n] - p[:, 0]) for n in (1, 2)]
        if count == 1:
            found.append(np.stack((p[:, 0], *ends), axis=1))
        else:
            found += [np.stack((ends[0], p[:, 1], p[:, 2]), axis=1), np.stack((ends[0], p[:, 2], ends[1]), axis=1)]
    return np.concatenate(found)
