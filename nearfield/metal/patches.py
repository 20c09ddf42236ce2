"""Patches of Yee samples, one component's in a window of a plane across an axis, and arrays that overlap them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, TypeVar

import numpy as np

from nearfield.entry.triples import Triple
from nearfield.grid.yee import SAMPLE_TOLERANCE, YeeGrid

Value = TypeVar("Value")
Window = tuple[tuple[int, int], tuple[int, int]]  # [start, stop) along the two cyclically next axes
Slices = tuple[slice, ...]
Evaluate = Callable[[int, int, Window], Sequence[np.ndarray]]
SHARED = 2  # times the work of windows of their own up to which planes share one
PLANE_COST = 10_000  # samples that take as long as a plane does besides its own


class Patch(NamedTuple):
    """Samples of a component, 0 to 5 = Ex ... Hz, in a window of the plane number `plane` across an axis."""

    component: int
    axis: int
    plane: int
    window: Window

    @property
    def magnetic(self) -> bool:
        """Whether they are samples of H."""
        return self.component >= 3

    @property
    def shape(self) -> tuple[int, int]:
        """Samples along both axes of the window."""
        return shape_of(self.window)


def pair(values: Iterable[Value]) -> tuple[Value, Value]:
    """Two values as a tuple of two, which type checkers can count."""
    first, second = values
    return first, second


def next_axes(axis: int) -> tuple[int, int]:
    """The two axes that follow an axis cyclically."""
    return (axis + 1) % 3, (axis + 2) % 3


def cyclic_axes(axis: int) -> Triple:
    """The axis and the two that follow it cyclically."""
    return axis, *next_axes(axis)


def shape_of(window: Window) -> tuple[int, int]:
    """Samples of a window along both of its axes."""
    return pair(stop - start for start, stop in window)


def spread(values: np.ndarray, place: int, dimensions: int = 2) -> np.ndarray:
    """Values along one array axis, shaped to broadcast over an array of so many dimensions."""
    return values.reshape([-1 if n == place else 1 for n in range(dimensions)])


def extent(test: np.ndarray) -> slice | None:
    """From the first to the last that holds; None where none does."""
    inside = np.nonzero(test)[0]
    return slice(int(inside[0]), int(inside[-1]) + 1) if inside.size else None


def runs(inside: np.ndarray) -> list[tuple[int, int]]:
    """First and past the last of each run of what is inside."""
    steps = np.flatnonzero(np.diff(np.concatenate(([False], inside, [False]))))
    return list(zip(steps[::2].tolist(), steps[1::2].tolist()))


def layer_of(values: np.ndarray, first: Triple, axis: int, plane: int) -> np.ndarray | None:
    """A plane of a three-dimensional array that begins at sample `first`, along the next axes; None past its ends."""
    number = plane - first[axis]
    return values.transpose(cyclic_axes(axis))[number] if 0 <= number < values.shape[axis] else None


def overlap(window: Window, first: Sequence[int], shape: Sequence[int]) -> tuple[Slices, Slices] | None:
    """The part of a window, and that of an array from sample `first` on, that lie on each other; None without any."""
    cut = [(max(at, low), min(at + n, high)) for at, n, (low, high) in zip(first, shape, window)]
    if any(low >= high for low, high in cut):
        return None
    starts = [start for start, _ in window]
    return pair(tuple(slice(low - at, high - at) for (low, high), at in zip(cut, origin)) for origin in (starts, first))


class SamplesByPlane:
    """A list of samples (component, three indices), found by plane."""

    def __init__(self, component: np.ndarray, index: Sequence[np.ndarray]) -> None:
        self.component, self.index = component, index
        self._order = [np.argsort(part, kind="stable") for part in index]
        self._sorted = [part[order] for part, order in zip(index, self._order)]

    def rows(self, axis: int, plane: int) -> np.ndarray:
        """Numbers of the samples in a plane across an axis."""
        first, last = np.searchsorted(self._sorted[axis], (plane, plane + 1))
        return self._order[axis][first:last]

    def inside(self, patch: Patch) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray]]:
        """Numbers of the samples in a patch, and their places in its window."""
        rows = self.rows(patch.axis, patch.plane)
        rows = rows[self.component[rows] == patch.component]
        for a, (start, stop) in zip(next_axes(patch.axis), patch.window):
            rows = rows[(start <= self.index[a][rows]) & (self.index[a][rows] < stop)]
        return rows, pair(self.index[a][rows] - start for a, (start, _) in zip(next_axes(patch.axis), patch.window))


class DriveFactors(SamplesByPlane):
    """Factors of Cb and Db of a list of samples, found by plane; they are 1 elsewhere."""

    def __init__(self, component: np.ndarray, index: Sequence[np.ndarray], factor: np.ndarray) -> None:
        super().__init__(component, index)
        self._factor = factor

    def signature(self, axis: int, plane: int) -> tuple | None:
        """Equal for planes across `axis` with the same factors at the same places."""
        rows = self.rows(axis, plane)
        columns = self.component, *(self.index[a] for a in next_axes(axis)), self._factor
        return tuple(column[rows].tobytes() for column in columns) if rows.size else None

    def factor(self, patch: Patch) -> np.ndarray | None:
        """Factor of Cb or Db; None where it is 1."""
        rows, at = self.inside(patch)
        if not rows.size:
            return None
        found = np.ones(patch.shape)
        found[at] = self._factor[rows]
        return found


def at_samples(grid: YeeGrid, index: Sequence, evaluate: Evaluate) -> tuple[np.ndarray, ...]:
    """Values of the samples (i, j, k), evaluated on one window for each plane across the axis that makes least work.

    `evaluate(axis, plane, window)` gives arrays over the window. Planes share a window where it is hardly more work:
    what one takes of the next is then worked out once.
    """
    lattice = np.broadcast_arrays(*(np.asarray(n, dtype=np.int64) for n in grid.in_cell(index)))
    shape, index = lattice[0].shape, [n.ravel() for n in lattice]
    if not index[0].size:
        return np.empty(shape), np.empty(shape)
    size = [int(np.ptp(n)) + 1 for n in index]
    work = [np.unique(n).size * (PLANE_COST + math.prod(size) // size[a]) for a, n in enumerate(index)]
    axis = work.index(min(work))
    planes, u, v = (index[a] for a in cyclic_axes(axis))
    parts = [np.nonzero(planes == plane)[0] for plane in np.unique(planes)]
    windows = [pair((int(n[rows].min()), int(n[rows].max()) + 1) for n in (u, v)) for rows in parts]
    common = pair(_rounded(n, grid.cells[a]) for n, a in zip((u, v), next_axes(axis)))
    if min(work) <= SHARED * sum(PLANE_COST + math.prod(shape_of(window)) for window in windows):
        windows = [common] * len(windows)
    found: list[np.ndarray] = []
    for rows, window in zip(parts, windows):
        values = evaluate(axis, int(planes[rows[0]]), window)
        found = found or [np.empty(u.size) for _ in values]
        for column, value in zip(found, values):
            column[rows] = value[u[rows] - window[0][0], v[rows] - window[1][0]]
    return tuple(column.reshape(shape) for column in found)


def _rounded(index: np.ndarray, cells: int) -> tuple[int, int]:
    """From a multiple of 16 to one past all of some samples, which may lie on the last line: to share by components."""
    low, high = int(index.min()) // 16 * 16, int(index.max()) + 1
    return low, max(high, min((high + 15) // 16 * 16, cells))


def shortest_cells(grid: YeeGrid) -> list[float]:
    """Shortest cells (m) along x, y and z."""
    return [float(grid.primary(axis).min()) for axis in range(3)]


def margin_of(grid: YeeGrid) -> float:
    """Distance (m) below which a point counts as lying on a surface."""
    return SAMPLE_TOLERANCE * min(shortest_cells(grid))


def cell_near(grid: YeeGrid, axis: int, low: float, high: float) -> float:
    """The largest cell (m) between two coordinates."""
    line = grid.lines[axis]
    first, last = np.clip(np.searchsorted(line, (low, high)), 1, line.size - 1)
    return float(grid.primary(axis)[first - 1 : last].max())


def is_grain(grid: YeeGrid, lower: Sequence[float], upper: Sequence[float]) -> bool:
    """Whether a body is smaller than a cell along all axes, and flat along none."""
    return all(0.0 < high - low < cell_near(grid, a, low, high) for a, (low, high) in enumerate(zip(lower, upper)))
