"""The open part of a face that metal cuts: the polygon through the ends of the open intervals of its sides.

Faces are unit squares with the sides bottom, right, top, left; each side is open from one part of it to another, along
u or v. A side that is closed belongs to the rim where it is metal's surface, from corner to corner. From side to side
the polygon has one corner more, where the surface crosses the way from the middle of the straight line to the corner
of the rectangle about it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, pairwise

import numpy as np

from nearfield.metal.followed_metal import FaceMetal
from nearfield.metal.patches import pair

Side = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]  # from, to, whether on the rim, whether metal
Place = tuple[np.ndarray, np.ndarray]  # (u, v)
Corner = Place  # on the way to a side
NEAR = 2e-3  # part of the way to a corner below which a surface passes through the corner
HALVINGS = 8  # steps of bisection: a corner is known to 2^-8 of its way


def rim(ends: list[tuple[np.ndarray, np.ndarray]], held: list[np.ndarray]) -> list[Side]:
    """The sides from where they begin and end to be open, and whether the corners after them are on the rim."""
    found = []
    for number, (low, high) in enumerate(ends):
        closed = high <= low
        first, last = (held[number - 1], held[number])[:: 1 if number < 2 else -1]
        here = first | last | ~closed
        found.append((np.where(closed, ~first, low), np.where(closed, last, high), here, closed))
    return found


def _straight(sides: list[Side]) -> Iterator[tuple[np.ndarray, ...]]:
    """The pieces (x, y) to (u, v) of the rims, bottom first: for each side the straight way to it, then itself."""
    corners = []
    for number, (low, high, present, _) in enumerate(sides):
        across = np.full_like(low, number in (1, 2))
        ends = (low, high) if number < 2 else (high, low)
        corners.append((present, [(across, end) if number % 2 else (end, across) for end in ends]))
    x, y = np.zeros_like(sides[0][0]), np.zeros_like(sides[0][0])
    for present, (_, (u, v)) in corners:  # the last corner, before the first one
        x, y = np.where(present, u, x), np.where(present, v, y)
    for present, side in corners:
        for u, v in side:
            u, v = np.where(present, u, x), np.where(present, v, y)
            yield x, y, u, v
            x, y = u, v


def corners_between(sides: list[Side], metal: FaceMetal) -> list[Corner]:
    """The corner on the way to each side."""
    found: list[Corner] = []
    for x, y, u, v in islice(_straight(sides), 0, None, 2):
        corner = 0.5 * (x + u), 0.5 * (y + v)
        bent = np.nonzero((np.abs(u - x) > NEAR) & (np.abs(v - y) > NEAR))[0]
        if not bent.size:
            found.append(corner)
            continue
        x, y, u, v = (part[bent] for part in (x, y, u, v))
        middle = pair(part[bent] for part in corner)
        inside = metal.holds(bent, middle)
        beyond = inside == ((u - x) * (v - y) < 0.0)  # metal lies to the right of the way
        way = np.where(beyond, u, x) - middle[0], np.where(beyond, y, v) - middle[1]
        part = _crossing(bent, middle, way, inside, metal)
        for place, m, w in zip(corner, middle, way):
            place[bent] = m + part * w
        found.append(corner)
    return found


def _crossing(faces: np.ndarray, start: Place, way: Place, inside: np.ndarray, metal: FaceMetal) -> np.ndarray:
    """At which part of ways metal's surface is crossed first, 1 where it is not; `inside`: they begin in metal."""

    def at(part: np.ndarray, which: np.ndarray) -> Place:
        return pair(s[which] + part * w[which] for s, w in zip(start, way))

    near, far = np.zeros(faces.size), np.full(faces.size, 1.0 - NEAR)
    through = metal.holds(faces, at(far, np.arange(faces.size))) == inside
    both = np.nonzero(through & ~inside)[0]  # open at both ends: a thin wall may lie between
    wall = metal.wall(faces[both], at(near[both], both), at(far[both], both))
    through[both] = np.isnan(wall)
    far[both] = np.where(through[both], far[both], far[both] * wall)
    crossed = np.nonzero(~through)[0]
    near, far, inside = near[crossed], far[crossed], inside[crossed]
    for _ in range(HALVINGS if crossed.size else 0):
        middle = 0.5 * (near + far)
        same = metal.holds(faces[crossed], at(middle, crossed)) == inside
        near, far = np.where(same, middle, near), np.where(same, far, middle)
    found = np.ones(faces.size)
    found[crossed] = 0.5 * (near + far)
    return found


def _outline(sides: list[Side], corners: list[Corner]) -> Iterator[tuple[np.ndarray, ...]]:
    """The pieces of the rims: for each side the two of the way to it, then itself."""
    for number, (x, y, u, v) in enumerate(_straight(sides)):
        way = [(x, y), *([] if number % 2 else [corners[number // 2]]), (u, v)]
        for start, stop in pairwise(way):
            yield *start, *stop


def open_area(sides: list[Side], corners: list[Corner]) -> np.ndarray:
    """Area of the open part of the squares."""
    return np.clip(sum(0.5 * (x * v - u * y) for x, y, u, v in _outline(sides, corners)), 0.0, 1.0)


def metal_length(sides: list[Side], corners: list[Corner], width: np.ndarray, height: np.ndarray):
    """(length, (u, v)) of the metal on the rims of rectangles, and of the middle of its longest piece, in parts of the
    sides; `width` and `height` of the rectangles."""
    total, longest, middle = 0.0, np.full(width.shape, -1.0), (np.zeros(width.shape), np.zeros(width.shape))
    for number, (x, y, u, v) in enumerate(_outline(sides, corners)):
        length = np.hypot((u - x) * width, (v - y) * height)
        if number % 3 == 2:
            length = np.where(sides[number // 3][3], length, 0.0)
        total, longer = total + length, length > longest
        longest = np.where(longer, length, longest)
        middle = np.where(longer, 0.5 * (x + u), middle[0]), np.where(longer, 0.5 * (y + v), middle[1])
    return total, middle
