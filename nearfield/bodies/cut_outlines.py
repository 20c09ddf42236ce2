"""The sides of flat shapes that others are cut out of: pieces of the sides of all of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nearfield.bodies.outlines import Ends

MOST = 6_000  # sides of all parts together: each looks for those that it meets
AT_ONCE = 1 << 17  # pairs of sides
TIED = 1e-9  # of the size of all: points so near are one
BESIDE = 1e-7  # of the size of all: where both sides of a piece are looked at


def cut_sides(body: Ends, minus: Sequence[Ends]) -> Ends | None:
    """The sides of what closed outlines `minus` leave of another, metal on their left; None of too many."""
    start, end = (np.concatenate([body[n], *(part[n] for part in minus)]) for n in (0, 1))
    if len(start) > MOST:
        return None
    size = float(np.ptp(start, axis=0).max())
    first, last = _pieces(start, end, TIED * size)
    along = last - first
    normal = np.stack((-along[:, 1], along[:, 0]), axis=1) / np.hypot(*along.T)[:, None]
    middle = 0.5 * (first + last)

    def holds(at: np.ndarray) -> np.ndarray:
        return _within(at, body) & ~np.logical_or.reduce([_within(at, part) for part in minus])

    left, right = (holds(middle + by * BESIDE * size * normal) for by in (1.0, -1.0))
    first, last = np.where(left[:, None], first, last), np.where(left[:, None], last, first)
    rim = np.flatnonzero(left != right)
    _, once = np.unique(np.round(middle[rim] / (TIED * size)), axis=0, return_index=True)
    rim = rim[np.sort(once)]
    return first[rim], last[rim]


def _pieces(start: np.ndarray, end: np.ndarray, tied: float) -> Ends:
    """Sides cut where others cross them or end on them."""
    along = end - start
    square = (along**2).sum(axis=1)
    one, other = _near(np.minimum(start, end) - tied, np.maximum(start, end) + tied)
    own, turn = along[one], along[other]
    sides, parts = [np.repeat(np.arange(len(start)), 2)], [np.tile((0.0, 1.0), len(start))]
    for at in (start[other], end[other]):
        part = ((at - start[one]) * own).sum(axis=1) / square[one]
        on_it = np.hypot(*(at - start[one] - part[:, None] * own).T) <= tied
        sides.append(one[on_it])
        parts.append(part[on_it])
    cross = own[:, 0] * turn[:, 1] - own[:, 1] * turn[:, 0]
    met = np.abs(cross) > tied * np.hypot(*turn.T)
    one, own, turn, cross, away = one[met], own[met], turn[met], cross[met], (start[other] - start[one])[met]
    part = (away[:, 0] * turn[:, 1] - away[:, 1] * turn[:, 0]) / cross
    there = (away[:, 0] * own[:, 1] - away[:, 1] * own[:, 0]) / cross
    there = (there >= 0.0) & (there <= 1.0)
    side, part = np.concatenate((*sides, one[there])), np.clip(np.concatenate((*parts, part[there])), 0.0, 1.0)
    order = np.lexsort((part, side))
    side, part = side[order], part[order]
    apart = np.append(True, (np.diff(side) > 0) | (np.diff(part) * square[side[1:]] ** 0.5 > tied))
    side, part = side[apart], part[apart]
    piece = np.flatnonzero(np.diff(side) == 0)
    first, last = (start[side[n]] + part[n, None] * along[side[n]] for n in (piece, piece + 1))
    return first, last


def _near(low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of boxes (n, 2) that meet, each with itself too."""
    found = []
    for part in np.array_split(np.arange(len(low)), 1 + len(low) ** 2 // AT_ONCE):
        own_low, own_high = low[part, None], high[part, None]
        one, other = np.nonzero(((low <= own_high) & (high >= own_low)).all(axis=2))
        found.append((part[one], other))
    return np.concatenate([one for one, _ in found]), np.concatenate([other for _, other in found])


def _within(at: np.ndarray, sides: Ends) -> np.ndarray:
    """Whether points (n, 2) lie within closed outlines, by how often a line from them crosses these."""
    found = np.zeros(len(at), dtype=bool)
    near = np.flatnonzero(((at >= sides[0].min(axis=0)) & (at <= sides[0].max(axis=0))).all(axis=1))
    (x, y), (u, v) = (part.T for part in sides)
    px, py = at[near, :1], at[near, 1:]
    spans = (y > py) != (v > py)
    with np.errstate(divide="ignore", invalid="ignore"):
        place = x + (py - y) / (v - y) * (u - x)
    found[near] = np.sum(spans & (px < place), axis=1) % 2 == 1
    return found
