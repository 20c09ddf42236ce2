"""Where elements lie: the boxes around them, and which of them touch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def bounding_boxes(
    labels: np.ndarray, count: int, coordinates: Sequence[np.ndarray], periods: Sequence[float | None]
) -> np.ndarray:
    """Lowest and highest coordinate of the points of each of `count` elements, (elements, axes, 2).

    On a periodic axis an element may lie across the end of the box: the box then begins after the longest part of the
    period without points, and its highest coordinate lies beyond the period.
    """
    boxes = np.empty((count, labels.ndim, 2))
    for axis, (line, period) in enumerate(zip(coordinates, periods)):
        held = occupied(labels, count, axis)
        first, last = held.argmax(axis=1), held.shape[1] - 1 - held[:, ::-1].argmax(axis=1)
        for element in np.flatnonzero((first == 0) & (last == held.shape[1] - 1)) if period else ():
            at = np.flatnonzero(held[element])
            gaps = np.diff(np.append(at, at[0] + held.shape[1]))
            longest = int(gaps.argmax())
            if gaps[longest] > 1:
                first[element], last[element] = at[(longest + 1) % len(at)], at[longest]
        boxes[:, axis, 0] = line[first]
        boxes[:, axis, 1] = line[last] + np.where(last < first, period or 0.0, 0.0)
    return boxes


def occupied(labels: np.ndarray, count: int, axis: int) -> np.ndarray:
    """Whether an element has points at each position of an axis, (elements, positions)."""
    held = np.zeros((count, labels.shape[axis]), bool)
    for position in range(held.shape[1]):
        held[labels.take(position, axis).ravel(), position] = True
    return held


def neighbours(labels: np.ndarray, count: int, periodic: Sequence[bool]) -> np.ndarray:
    """Pairs of elements that have points beside each other along an axis, the lower number first, (pairs, 2)."""
    keys = np.empty(0, np.int64)
    for axis, closed in enumerate(periodic):
        rows = np.moveaxis(labels, axis, 0)
        for position in range(len(rows) if closed else len(rows) - 1):
            one, other = rows[position].ravel(), rows[(position + 1) % len(rows)].ravel()
            differ = one != other
            low = np.minimum(one[differ], other[differ]).astype(np.int64)
            keys = np.union1d(keys, low * count + np.maximum(one[differ], other[differ]))
    return np.column_stack(np.divmod(keys, count))
