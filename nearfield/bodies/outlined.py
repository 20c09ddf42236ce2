"""Surfaces of boxes, extruded polygons and turned profiles: corners (n, 3), triangles (m, 3) of them, outward."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

Surface = tuple[np.ndarray, np.ndarray]
QUADS = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))


def box_surface(lower: Any, upper: Any) -> Surface:
    """A solid box."""
    ends = np.array([lower, upper])
    corners = np.array([[ends[i, 0], ends[j, 1], ends[k, 2]] for i in (0, 1) for j in (0, 1) for k in (0, 1)])
    return corners, np.array([part for a, b, c, d in QUADS for part in ((a, b, c), (a, c, d))])


def prism(normal: int, outline: np.ndarray, span: Sequence[float]) -> Surface:
    """An outline (n, 2) drawn out along an axis from one end to the other, or flat where they are equal."""
    outline = outline[(outline != np.roll(outline, 1, axis=0)).any(axis=1)]  # corners given twice in a row
    if area(outline) < 0.0:
        outline = outline[::-1]
    caps, count = ears(outline), len(outline)
    ends = sorted(set(span))
    corners = np.empty((len(ends) * count, 3))
    for number, end in enumerate(ends):
        part = corners[number * count : (number + 1) * count]
        part[:, normal], part[:, (normal + 1) % 3], part[:, (normal + 2) % 3] = end, outline[:, 0], outline[:, 1]
    if len(ends) == 1:
        return corners, caps
    low, high = np.arange(count), np.arange(count) + count
    walls = [np.stack((low, np.roll(low, -1), np.roll(high, -1)), 1), np.stack((low, np.roll(high, -1), high), 1)]
    return corners, np.concatenate([caps[:, ::-1], caps + count, *walls])


def rings(radii: np.ndarray, along: np.ndarray, sides: int, closed: bool) -> Surface:
    """A profile of radii over places along z, turned about z; `closed`: its last point is joined to the first."""
    angle = 2 * np.pi * np.arange(sides) / sides
    corners = np.empty((radii.size, sides, 3))
    corners[..., 0], corners[..., 1] = radii[:, None] * np.cos(angle), radii[:, None] * np.sin(angle)
    corners[..., 2] = along[:, None]
    number = np.arange(radii.size * sides).reshape(radii.size, sides)
    pairs = [(number[n], number[n + 1]) for n in range(radii.size - 1)] + ([(number[-1], number[0])] if closed else [])
    quads = [(a, np.roll(a, -1), np.roll(b, -1), b) for a, b in pairs]
    triangles = [np.stack(part, axis=1) for a, b, c, d in quads for part in ((a, b, c), (a, c, d))]
    flat, found = corners.reshape(-1, 3), np.concatenate(triangles)
    size = np.cross(flat[found[:, 1]] - flat[found[:, 0]], flat[found[:, 2]] - flat[found[:, 0]])
    return flat, found[(size != 0.0).any(axis=1)]  # those at the axis have no area


def placed(surface: Surface, start: Any, direction: np.ndarray) -> Surface:
    """A surface about z with z turned into a direction and the origin at a point."""
    w = direction / np.linalg.norm(direction)
    u = np.cross(w, np.eye(3)[int(np.argmin(np.abs(w)))])
    u /= np.linalg.norm(u)
    return surface[0] @ np.stack([u, np.cross(w, u), w]) + np.asarray(start), surface[1]


def area(outline: np.ndarray) -> float:
    """Signed area of a polygon (n, 2), positive counter-clockwise."""
    u, v = outline.T
    return 0.5 * float(np.sum(u * np.roll(v, -1) - v * np.roll(u, -1)))


def ears(outline: np.ndarray) -> np.ndarray:
    """Triangles (n - 2, 3) of a counter-clockwise polygon, an ear cut off at a time.

    Of a polygon that crosses itself what is left when no ear is found is cut off as it comes.
    """
    left, found = list(range(len(outline))), []
    at, misses = 0, 0
    while len(left) > 3:
        a, b, c = (left[(at + step) % len(left)] for step in (-1, 0, 1))
        if misses > len(left) or is_ear(outline, left, a, b, c):
            found.append((a, b, c))
            left.pop(at % len(left))
            at, misses = (at - 1) % len(left), 0
        else:
            at, misses = (at + 1) % len(left), misses + 1
    return np.array([*found, tuple(left)])


def is_ear(outline: np.ndarray, left: list[int], a: int, b: int, c: int) -> bool:
    """Whether the corner b is convex and its triangle holds no other corner."""
    p, q, r = outline[a], outline[b], outline[c]
    turn = (q[0] - p[0]) * (r[1] - q[1]) - (q[1] - p[1]) * (r[0] - q[0])
    if turn <= 0.0:
        return False
    others = outline[left]
    inside = np.ones(len(others), dtype=bool)
    for s, t in ((p, q), (q, r), (r, p)):
        inside &= (t[0] - s[0]) * (others[:, 1] - s[1]) - (t[1] - s[1]) * (others[:, 0] - s[0]) >= 0.0
    same = (others == p).all(1) | (others == q).all(1) | (others == r).all(1)  # corners that lie on the triangle's own
    return not bool((inside & ~same).any())
