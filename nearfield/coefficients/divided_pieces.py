"""Shares of media in pieces of space that curved or slanting surfaces cross, smooth in the sizes and places of bodies.

A piece has 4 x 4 x 4 samples, each of them its middle line along one axis, cut where surfaces cross it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from nearfield.bodies.shapes import Solid
from nearfield.entry.triples import triple
from nearfield.grid.yee import SAMPLE_TOLERANCE

SAMPLES = 4  # along each edge of a piece
SHARE = 2.0**-26  # of which shares are multiples: their sums and squares are exact
TIED = 1e-6  # of the steepness: axes that are as steep, of which the first is taken, in mirrored pieces too
ROUNDS = 4  # at most, to find where a surface crosses a line; a plane takes one
Places = Sequence[np.ndarray]  # along x, y, z
Rows = tuple[np.ndarray, ...]  # numbers of samples: piece, x, y, z
DistanceOn = Callable[[Rows, np.ndarray], np.ndarray]  # of samples, at parts of their lines


def divided(bodies: list[tuple[Solid, int]], media: int, at: Places, size: Places) -> tuple[np.ndarray, np.ndarray]:
    """(pieces, media) and (pieces, 3, 2, media): shares of media in pieces with these middles and lengths, and in their
    lower and upper faces across x, y, z. Later bodies win.
    """
    parts, ends = np.zeros((at[0].size, media)), np.zeros((at[0].size, 3, 2, media))
    for medium, inside in _samples(bodies, at, size).items():
        parts[:, medium], ends[..., medium] = _filled(inside)
    return _shared_out(parts), _shared_out(ends)


def _samples(bodies: list[tuple[Solid, int]], at: Places, size: Places) -> dict[int, np.ndarray]:
    """Shares (pieces, x, y, z) of each medium in samples.

    A sample's line lies along the axis on which surfaces cross the piece most steeply.
    """
    reach = 0.5 * np.sqrt(size[0] ** 2 + size[1] ** 2 + size[2] ** 2)
    steep = np.zeros((3, reach.size))
    painted = []
    for body, medium in bodies:
        middle = _middle_distance(body, at)
        crossed = np.abs(middle) <= reach
        painted.append(Painted(body, medium, middle <= 0.0, crossed))
        if crossed.any():
            near, lengths = ([each[crossed] for each in places] for places in (at, size))
            for a in range(3):
                ends = ([q + by * lengths[n] if n == a else q for n, q in enumerate(near)] for by in (-0.5, 0.5))
                low, high = (body._lateral_distance(*triple(each)) for each in ends)
                steep[a, crossed] += np.abs(middle[crossed] - low) + np.abs(high - middle[crossed])
    found = {medium: np.zeros((reach.size, *[SAMPLES] * 3)) for medium in {0, *(medium for _, medium in bodies)}}
    along = (steep >= (1.0 - TIED) * steep.max(axis=0)).argmax(axis=0)
    for a in range(3):
        rows = np.nonzero(along == a)[0]
        if rows.size:
            pieces = ([each[rows] for each in places] for places in (at, size))
            for medium, share in _cut_lines(a, [each.of(rows) for each in painted], *pieces).items():
                found[medium][rows] = share
    return found


class Painted(NamedTuple):
    """A body, its medium, and which pieces' middles lie in it and may be crossed by its surface: (pieces,) each."""

    body: Solid
    medium: int
    inside: np.ndarray
    crossed: np.ndarray

    def of(self, rows: np.ndarray) -> Painted:
        """The same of some of the pieces."""
        return self._replace(inside=self.inside[rows], crossed=self.crossed[rows])


def _cut_lines(axis: int, painted: Sequence[Painted], at: Places, size: Places) -> dict[int, np.ndarray]:
    """Shares of each medium in the samples' lines along an axis.

    From the last body back, each takes both ends of a line, so that what is left for those before it is in one piece.
    """
    shape = (at[0].size, *[SAMPLES] * 3)
    first, last = np.zeros(shape), np.ones(shape)  # of what is left
    found = {medium: np.zeros(shape) for medium in {0, *(each.medium for each in painted)}}
    for body, medium, inside, crossed in reversed(painted):
        rows = np.nonzero(inside & ~crossed)[0]
        found[medium][rows] += np.maximum(last[rows] - first[rows], 0.0)
        last[rows] = first[rows]
        rows = np.nonzero(crossed)[0]
        if rows.size:
            below, above = _taken(body, axis, *([each[rows] for each in places] for places in (at, size)))
            left = first[rows], last[rows]
            found[medium][rows] += np.maximum(np.minimum(left[1], below) - left[0], 0.0)
            found[medium][rows] += np.maximum(left[1] - np.maximum(left[0], above), 0.0)
            first[rows], last[rows] = np.maximum(left[0], below), np.minimum(left[1], above)
    found[0] += np.maximum(last - first, 0.0)
    return found


def _taken(body: Solid, axis: int, at: Places, size: Places) -> tuple[np.ndarray, np.ndarray]:
    """Which parts of the samples' lines a body takes, of their length: from 0 to the first, from the second to 1.

    Two surfaces in one line are known by the distances of its ends, less together than what the line goes to them.
    """
    q, place = _points(at, size, along=axis), 1 + axis
    distance, margin = body._lateral_distance(*triple(q)), SAMPLE_TOLERANCE * size[axis]
    distance = np.where(np.abs(distance) <= margin[:, None, None, None], 0.0, distance)
    if distance.shape[place] == 1:
        distance = np.repeat(distance, SAMPLES + 1, place)
    low, high = _cut(distance, slice(None, -1), place), _cut(distance, slice(1, None), place)
    inside, step = low <= 0.0, np.broadcast_to(np.abs(high - low).max(axis=place, keepdims=True), low.shape)
    crossed = inside != (high <= 0.0)
    begins = [_cut(each, slice(None, -1), place) if a == axis else each for a, each in enumerate(q)]
    within = tuple(slice(count) for count in low.shape)

    def distance_on(rows: Rows, part: np.ndarray) -> np.ndarray:
        points = [np.broadcast_to(each[within], low.shape)[rows] for each in begins]
        points[axis] = points[axis] + part * (size[axis] / SAMPLES)[rows[0]]
        return body._lateral_distance(*triple(points))

    below, above = inside.astype(float), np.ones(low.shape)
    rows = np.nonzero(crossed)
    if rows[0].size:
        root = _root(distance_on, rows, low[rows], high[rows], margin[rows[0]])
        below[rows], above[rows] = np.where(inside[rows], root, 0.0), np.where(inside[rows], 1.0, root)
    rows = np.nonzero(~crossed & (np.abs(low) + np.abs(high) < step))
    if rows[0].size:
        near, far = np.abs(low[rows]) / step[rows], np.abs(high[rows]) / step[rows]
        two = (distance_on(rows, 0.5 * (1.0 + near - far)) <= 0.0) != inside[rows]
        rows, near, far = tuple(each[two] for each in rows), near[two], far[two]
        first = np.where(near <= far, 1.0 - near - far, 0.0)  # a thin body is taken to begin at the end it is nearer to
        below[rows] = np.where(inside[rows], near, first)
        above[rows] = np.where(inside[rows], 1.0 - far, np.where(near <= far, 1.0, near + far))
    return below, above


def _root(distance_on: DistanceOn, rows: Rows, low: np.ndarray, high: np.ndarray, margin: np.ndarray) -> np.ndarray:
    """Where the distance on lines is zero, by the rule of false position; low, high: at their ends, of unlike sign."""
    first, last, low, high = np.zeros(low.size), np.ones(low.size), low.copy(), high.copy()
    found, left = low / (low - high), np.arange(low.size)
    for _ in range(ROUNDS):
        there = distance_on(tuple(each[left] for each in rows), found[left])
        open_ = np.abs(there) > margin[left]
        left, there = left[open_], there[open_]
        if not left.size:
            break
        same = (there <= 0.0) == (low[left] <= 0.0)
        first[left], low[left] = np.where(same, found[left], first[left]), np.where(same, there, low[left])
        last[left], high[left] = np.where(same, last[left], found[left]), np.where(same, high[left], there)
        found[left] = first[left] + (last - first)[left] * low[left] / (low - high)[left]
    return found


def _points(at: Places, size: Places, along: int) -> list[np.ndarray]:
    """The middles of the samples of pieces, (pieces, x, y, z) when broadcast; along one axis their ends."""
    found = []
    for a in range(3):
        steps = np.arange(SAMPLES + 1) if a == along else np.arange(SAMPLES) + 0.5
        points = at[a][:, None] + size[a][:, None] * (steps / SAMPLES - 0.5)
        found.append(np.expand_dims(points, [1 + other for other in range(3) if other != a]))
    return found


def _cut(values: np.ndarray, part: slice, axis: int) -> np.ndarray:
    """Part of an array along one axis."""
    return values[(slice(None),) * axis + (part,)]


def _middle_distance(body: Solid, at: Places) -> np.ndarray:
    """Signed distance (m) of the middles of pieces from a body, infinite where it has no curved surface."""
    if body._blocks:
        return np.where(body.contains(*triple(at)), -np.inf, np.inf)
    ends = [
        (at[a] < low) | (high < at[a]) for a, (low, high) in enumerate(zip(*body.bounds())) if body._constant_along(a)
    ]
    distance = np.broadcast_to(body._lateral_distance(*triple(at)), at[0].shape)
    return np.where(np.logical_or.reduce(ends), np.inf, distance) if ends else distance


def _filled(inside: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(pieces,) and (pieces, 3, 2): filled shares of pieces and of their faces, from samples (pieces, x, y, z).

    The share of a face is extrapolated linearly from the two layers of samples next to it. Sums have one order, so that
    shares have the same bits in whatever batch a piece is.
    """
    ends = np.empty((len(inside), 3, 2))
    for a in range(3):
        one, other = (1 + axis for axis in range(3) if axis != a)
        layers = _mean(_mean(inside, other), one)
        ends[:, a] = 1.5 * layers[:, [0, -1]] - 0.5 * layers[:, [1, -2]]
    return _mean(layers, 1), ends


def _mean(samples: np.ndarray, axis: int) -> np.ndarray:
    """The mean along an axis of so many samples, added in their order."""
    return sum(np.take(samples, n, axis) for n in range(SAMPLES)) / SAMPLES


def _shared_out(shares: np.ndarray) -> np.ndarray:
    """Shares of media, along the last axis, as multiples of `SHARE` that add up to one: equal media have a mean that is
    theirs to the last bit."""
    found = np.round(shares / SHARE) * SHARE
    most = found.argmax(axis=-1)[..., None]
    rest = 1.0 - found.sum(axis=-1, keepdims=True)
    np.put_along_axis(found, most, np.take_along_axis(found, most, -1) + rest, -1)
    return found
