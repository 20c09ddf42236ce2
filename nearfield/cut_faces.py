"""The open part of a face that metal cuts: the polygon through the ends of the open intervals of its sides.

Faces are unit squares with the sides bottom, right, top, left; each side is open from one part of it to another, along
u or v. A side that is closed belongs to the rim where it is metal's surface, from corner to corner.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

Side = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]  # from, to, whether on the rim, whether metal


def rim(ends: list[tuple[np.ndarray, np.ndarray]], held: list[np.ndarray]) -> list[Side]:
    """The sides from where they begin and end to be open, and whether the corners after them are on the rim."""
    found = []
    for number, (low, high) in enumerate(ends):
        closed = high <= low
        first, last = (held[number - 1], held[number])[:: 1 if number < 2 else -1]
        here = first | last | ~closed
        found.append((np.where(closed, ~first, low), np.where(closed, last, high), here, closed))
    return found


def _outline(sides: list[Side]) -> Iterator[tuple[np.ndarray, ...]]:
    """The pieces (x, y) to (u, v) of the rims, bottom first: for each side the way to it, then itself."""
    corners = []
    for number, (low, high, present, _) in enumerate(sides):
        zero, one = np.zeros_like(low), np.ones_like(low)
        first, last = (low, high) if number < 2 else (high, low)
        side = {0: [(first, zero), (last, zero)], 1: [(one, first), (one, last)],
                2: [(first, one), (last, one)], 3: [(zero, first), (zero, last)]}  # fmt: skip
        corners.append((present, side[number]))
    x, y = np.zeros_like(sides[0][0]), np.zeros_like(sides[0][0])
    for present, (_, (u, v)) in corners:  # the last corner, before the first one
        x, y = np.where(present, u, x), np.where(present, v, y)
    for present, side in corners:
        for u, v in side:
            u, v = np.where(present, u, x), np.where(present, v, y)
            yield x, y, u, v
            x, y = u, v


def open_area(sides: list[Side]) -> np.ndarray:
    """Area of the open part of the squares."""
    return sum(0.5 * (x * v - u * y) for x, y, u, v in _outline(sides))


def metal_length(sides: list[Side], width: np.ndarray, height: np.ndarray):
    """(length, (u, v)) of the metal on the rims of rectangles, and of the middle of its longest piece, in parts of the
    sides; `width` and `height` of the rectangles."""
    total, longest, middle = 0.0, np.full(width.shape, -1.0), (np.zeros(width.shape), np.zeros(width.shape))
    for number, (x, y, u, v) in enumerate(_outline(sides)):
        length = np.hypot((u - x) * width, (v - y) * height)
        if number % 2:
            length = np.where(sides[number // 2][3], length, 0.0)
        total, longer = total + length, length > longest
        longest = np.where(longer, length, longest)
        middle = np.where(longer, 0.5 * (x + u), middle[0]), np.where(longer, 0.5 * (y + v), middle[1])
    return total, middle
