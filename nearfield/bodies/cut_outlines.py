"""The sides of flat shapes that others are cut out of: pieces of the sides of all of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nearfield.bodies.outlines import Ends

MOST = 6_000  # sides of all parts together: each looks for those that it meets
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
    first, last = [], []
    low, high = np.minimum(start, end).T - tied, np.maximum(start, end).T + tied
    for number, (one, other) in enumerate(zip(start, end)):
        along = other - one
        square = along @ along
        near = (low[0] <= high[0, number]) & (high[0] >= low[0, number])
        near &= (low[1] <= high[1, number]) & (high[1] >= low[1, number])
        begin, turn = start[near], end[near] - start[near]
        cuts = [np.array([0.0, 1.0])]
        for at in (begin, begin + turn):
            part = (at - one) @ along / square
            on_it = np.hypot(*(at - one - part[:, None] * along).T) <= tied
            cuts.append(part[on_it])
        cross = along[0] * turn[:, 1] - along[1] * turn[:, 0]
        met = np.abs(cross) > tied * np.hypot(*turn.T)
        away = begin[met] - one
        part = (away[:, 0] * turn[met, 1] - away[:, 1] * turn[met, 0]) / cross[met]
        there = (away[:, 0] * along[1] - away[:, 1] * along[0]) / cross[met]
        cuts.append(part[(there >= 0.0) & (there <= 1.0)])
        part = np.unique(np.clip(np.concatenate(cuts), 0.0, 1.0))
        part = part[np.append(True, np.diff(part) * square**0.5 > tied)]
        first.append(one + part[:-1, None] * along)
        last.append(one + part[1:, None] * along)
    return np.concatenate(first), np.concatenate(last)


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
