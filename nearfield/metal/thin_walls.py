"""Walls of metal so thin that both their sides lie in one face: of its open parts the face keeps the largest.

The edges of the others are metal then, for all faces about them: every wall is closed (docs/method.md).

Faces as in cut_faces.py; `pieces` are the open pieces of their sides, two for each: (8, faces) from and to,
nothing where these are equal. Only a side with metal between open ends has a second piece.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from nearfield.metal.patches import pair

Pieces = tuple[np.ndarray, np.ndarray]
Ends = tuple[np.ndarray, np.ndarray]  # where a side begins and ends to be open; see `FollowedMetal.opened`
CORNERS = ((0, 1, 1, 0), (1, 1, 2, 1), (2, 0, 3, 1), (3, 0, 0, 0))  # side, its low or high end, and the other's
TRIED = (0.5, 0.5), (0.1, 0.1), (0.1, 0.9), (0.9, 0.1), (0.9, 0.9)  # places on two pieces between which lines are drawn


def pieces_of(sides: Sequence[Ends]) -> Pieces:
    """The open pieces of sides."""
    low, high = [], []
    for begin, end in sides:
        across = begin > end
        low += [np.where(across, 0.0, begin), begin]
        high += [end, np.where(across, 1.0, begin)]
    return np.array(low), np.array(high)


def kept(ends: Ends, given_up: np.ndarray) -> Ends:
    """The rest of sides without the pieces `given_up` (2, ...); nothing where metal crosses and both pieces stay."""
    low, high = pieces_of([ends])
    left = (high > low) & ~given_up
    one = left[0] != left[1]
    return pair(np.where(one, np.where(left[0], part[0], part[1]), 0.0) for part in (low, high))


def _meeting(pieces: Pieces) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """For each corner of the faces, whether open pieces meet there, and their numbers."""
    low, high = pieces
    found = []
    for corner in CORNERS:
        numbers, reach = [], True
        for side, end in (corner[:2], corner[2:]):
            second = high[2 * side + 1] > low[2 * side + 1]
            number = 2 * side + (second if end else np.zeros_like(second))
            start, stop = (np.take_along_axis(part, number[None], 0)[0] for part in (low, high))
            reach = reach & (start < stop) & ((stop == 1.0) if end else (start == 0.0))
            numbers.append(number)
        found.append((reach, *numbers))
    return found


def doubtful(pieces: Pieces) -> np.ndarray:
    """Which faces have open pieces that do not all meet at corners."""
    return (pieces[1] > pieces[0]).sum(axis=0) - sum(meet[0] for meet in _meeting(pieces)) > 1


def parts_of(pieces: Pieces, wall: Callable[..., np.ndarray]) -> np.ndarray:
    """(8, faces) numbers of the open part that each piece belongs to, -1 of nothing.

    `wall(faces, from (u, v), to (u, v))`: where metal lies on straight lines in some faces, NaN where it does not.
    Parts that no line joins are apart.
    """
    low, high = pieces
    there, linked = high > low, np.zeros((low.shape[1], 8, 8), dtype=bool)
    linked[:, np.arange(8), np.arange(8)] = True
    for reach, one, other in _meeting(pieces):
        linked[np.nonzero(reach)[0], one[reach], other[reach]] = True
    linked = _closed(linked)
    for first, second in TRIED:
        face, one, other = np.nonzero(np.triu(~linked & (there[:, None] & there[None]).transpose(2, 0, 1)))
        if not face.size:
            break
        ends = (_place(pieces, piece, face, at) for piece, at in ((one, first), (other, second)))
        free = np.isnan(wall(face, *ends))
        linked[face[free], one[free], other[free]] = True
        linked = _closed(linked)
    return np.where(there, linked.argmax(axis=2).T, -1)


def _closed(linked: np.ndarray) -> np.ndarray:
    """All pieces that are linked over others."""
    linked = (linked | linked.transpose(0, 2, 1)).astype(np.uint8)
    for _ in range(3):
        linked = np.minimum(linked @ linked, 1)
    return linked.astype(bool)


def _place(pieces: Pieces, piece: np.ndarray, face: np.ndarray, at: float) -> tuple[np.ndarray, np.ndarray]:
    """(u, v) of a part of the way along pieces."""
    low, high = (part[piece, face] for part in pieces)
    along, side = low + at * (high - low), piece // 2
    across = np.where((side == 1) | (side == 2), 1.0, 0.0)
    return np.where(side % 2, across, along), np.where(side % 2, along, across)
