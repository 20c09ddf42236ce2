"""The midline of a thin outline between its two narrow ends, and the outline of a plate with beads about a midline."""

from __future__ import annotations

import numpy as np

from nearfield.bodies.revolved import first_crossing
from nearfield.metal.thickness import mean_width

NARROW = 1.5  # mean thicknesses; longer sides are no narrow ends
TURNED = -0.5  # cosine of the angle between the sides beside a narrow end above which it is none
SHARPEST = 0.5  # one more than the cosine of the angle between two parts of a midline below which no plate follows them


def midline(corners: np.ndarray) -> np.ndarray | None:
    """Points (m, 2) midway between the two long sides of an outline (n, 2); None without exactly two narrow ends."""
    sides = long_sides(corners)
    return None if sides is None else 0.5 * (sides[0] + sides[1])


def long_sides(corners: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """The two long sides of an outline (n, 2) from one narrow end to the other, as pairs of points (m, 2) that face
    each other; None without exactly two narrow ends."""
    along = np.roll(corners, -1, axis=0) - corners
    length = np.hypot(*along.T)
    if not length.all():
        return None
    way = along / length[:, None]
    back = (np.roll(way, 1, axis=0) * np.roll(way, -1, axis=0)).sum(axis=1) < TURNED
    ends = np.nonzero(back & (length < NARROW * mean_width(corners)))[0]
    if ends.size != 2:
        return None
    count, (first, last) = len(corners), ends
    one = corners[first + 1 : last + 1]
    other = corners[np.arange(last + 1, count + first + 1) % count][::-1]
    if len(one) < 2 or len(other) < 2:
        return None
    if len(one) != len(other):
        parts = [_lengths(side) / _lengths(side)[-1] for side in (one, other)]
        both = np.union1d(*parts)
        one, other = (_at(side, part, both) for side, part in zip((one, other), parts))
    return one, other


def _lengths(line: np.ndarray) -> np.ndarray:
    """Length of a line up to its points."""
    return np.concatenate(([0.0], np.cumsum(np.hypot(*np.diff(line, axis=0).T))))


def _at(line: np.ndarray, parts: np.ndarray, where: np.ndarray) -> np.ndarray:
    return np.stack([np.interp(where, parts, line[:, n]) for n in range(2)], axis=1)


def divided(line: np.ndarray, step: float) -> np.ndarray:
    """Points of a line at most a step apart, its corners among them."""
    counts = [max(1, int(np.ceil(size / step))) for size in np.hypot(*np.diff(line, axis=0).T)]
    parts = [a + (b - a) * (np.arange(n) / n)[:, None] for a, b, n in zip(line[:-1], line[1:], counts)]
    return np.concatenate((*parts, line[-1:]))


def beaded(
    line: np.ndarray, thickness: float, bead: float, drawn_back: tuple[float | None, float | None]
) -> np.ndarray | None:
    """The outline of a plate about a midline (m, 2), `bead` thick up to `bead` from its ends and tapered over as much.

    Ends are drawn back; those with None stay as they are, without a bead. None where the outline would cross itself.
    """
    for back in drawn_back:
        found = _shortened(line, back or 0.0)
        if found is None:
            return None
        line = found[::-1]
    size = _lengths(line)
    free = [from_end for from_end, back in zip((lambda q: q, lambda q: size[-1] - q), drawn_back) if back is not None]
    marks = [from_end(by * bead) for from_end in free for by in (1, 2)]
    places = np.union1d(size, [mark for mark in marks if 0.0 < mark < size[-1]])
    line = np.stack([np.interp(places, size, line[:, n]) for n in range(2)], axis=1)
    far = np.min([np.full(places.size, np.inf), *(from_end(places) for from_end in free)], axis=0)
    return _about(line, thickness + (bead - thickness) * np.clip(2.0 - far / bead, 0.0, 1.0))


def _shortened(line: np.ndarray, by: float) -> np.ndarray | None:
    """A line without the first `by` of its length."""
    size = _lengths(line)
    if size[-1] <= by:
        return None
    start = [np.interp(by, size, line[:, n]) for n in range(2)]
    return np.concatenate(([start], line[size > by]))


def _about(line: np.ndarray, thickness: np.ndarray) -> np.ndarray | None:
    """The outline about a midline, with its thickness at each point; None where it would cross itself."""
    way = np.diff(line, axis=0)
    way /= np.hypot(*way.T)[:, None]
    across = np.stack((-way[:, 1], way[:, 0]), axis=1)
    before, after = np.concatenate((across[:1], across)), np.concatenate((across, across[-1:]))
    opening = 1.0 + (before * after).sum(axis=1)
    if opening.min() < SHARPEST:
        return None
    offset = (0.5 * thickness / opening)[:, None] * (before + after)
    corners = np.concatenate((line + offset, (line - offset)[::-1]))
    return None if first_crossing(corners) else corners
