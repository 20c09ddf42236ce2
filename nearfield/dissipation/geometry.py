"""Where elements lie: the boxes around them, and which of them touch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nearfield.dissipation.counts import threads_of
from nearfield.machine.compiled import core


def bounding_boxes(
    labels: np.ndarray,
    count: int,
    coordinates: Sequence[np.ndarray],
    periods: Sequence[float | None],
    threads: int | None = None,
) -> np.ndarray:
    """Lowest and highest coordinate of the points of each of `count` elements, (elements, axes, 2).

    On a periodic axis an element may lie across the end of the box: the box then begins after the longest part of the
    period without points, and its highest coordinate lies beyond the period.
    """
    missing = 3 - labels.ndim
    closed = [False] * missing + [period is not None for period in periods]
    places = core().extents(solid(labels), closed, count, threads_of(threads)).reshape(count, 3, 2)
    boxes = np.empty((count, labels.ndim, 2))
    for axis, (line, period) in enumerate(zip(coordinates, periods)):
        first, last = places[:, missing + axis].T
        boxes[:, axis, 0] = line[first]
        boxes[:, axis, 1] = line[last] + np.where(last < first, period or 0.0, 0.0)
    return boxes


def solid(labels: np.ndarray) -> np.ndarray:
    """The labels with three axes."""
    return np.ascontiguousarray(labels, np.uint32).reshape((1,) * (3 - labels.ndim) + labels.shape)


def neighbours(labels: np.ndarray, count: int, periodic: Sequence[bool], threads: int | None = None) -> np.ndarray:
    """Pairs of elements that have points beside each other along an axis, the lower number first, (pairs, 2)."""
    closed = [False] * (3 - labels.ndim) + list(periodic)
    keys = core().touching(solid(labels), closed, count, threads_of(threads))[:, 0]
    return np.column_stack(np.divmod(keys, count))


def nearest(position: np.ndarray, periods: Sequence[float | None]) -> np.ndarray:
    """Distance from each place to the nearest other one, or to the nearest image of its own; nan where none is."""
    from scipy.spatial import KDTree

    # images of the box around it: no place has its nearest one farther away than the longest of its periods
    shifts = np.zeros((1, position.shape[1]))
    for axis, period in enumerate(periods):
        along = np.zeros(position.shape[1])
        along[axis] = period or 0.0
        shifts = np.concatenate([shifts + turn * along for turn in ((0, -1, 1) if period else (0,))])
    images = (shifts[:, None] + position).reshape(-1, position.shape[1])
    if len(images) == 1:
        return np.full(1, np.nan)
    distances, _ = KDTree(images).query(position, k=2)
    return distances[:, 1]
