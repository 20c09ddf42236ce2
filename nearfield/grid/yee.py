"""The graded Cartesian Yee grid: where the six field components lie, and how long a time step may be.

Cells nx, ny, nz between grid lines x[0..nx], y[0..ny], z[0..nz]. Component numbers 0..5 = Ex Ey Ez Hx Hy Hz.
Ex lies at (i+1/2, j, k), Hx at (i, j+1/2, k+1/2); y and z follow by cyclic exchange.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from nearfield.entry.constants import VACUUM_SPEED
from nearfield.entry.errors import ModelError
from nearfield.entry.triples import Point, Triple, triple

AXES = "xyz"
COMPONENTS = ("Ex", "Ey", "Ez", "Hx", "Hy", "Hz")
SIDES = ("low", "high")  # ends of an axis
Arrays = tuple[np.ndarray, np.ndarray, np.ndarray]
REACH = 3  # samples past a seam from which may be interpolated
SAMPLE_TOLERANCE = 1e-6  # cells; a point nearer to a sample than this is taken to be on it


def is_half(component: int, axis: int) -> bool:
    """Whether the component's samples lie midway between grid lines along the axis."""
    return (component % 3 == axis) == (component < 3)


@dataclass(frozen=True)
class YeeGrid:
    """Positions and lengths of the Yee grid between given grid lines.

    `lines` are three increasing arrays (m), n+1 values for n cells. `phases`: the angle (rad) by which fields lag over
    an axis that closes on itself, so that its last line is its first one again; None for one that ends.
    `mirrors`: "electric" or "magnetic" where a plane of symmetry lies in the middle of an axis. Errors: `ModelError`
    for a point outside.

    >>> import nearfield as nf
    >>> grid = nf.Grid.uniform(1e-3, (4, 5, 6)).resolve()
    >>> grid.cells, grid.component_shape(0)
    ((4, 5, 6), (4, 6, 7))
    """

    lines: Arrays
    phases: tuple[float | None, float | None, float | None] = (None, None, None)
    mirrors: tuple[str | None, str | None, str | None] = (None, None, None)

    @cached_property
    def cells(self) -> Triple:
        """Number of cells along x, y, z."""
        return triple(line.size - 1 for line in self.lines)

    def primary(self, axis: int) -> np.ndarray:
        """Cell lengths (m), n values; exactly constant where the lines are evenly spaced but for rounding."""
        return self._primary[axis]

    @cached_property
    def _primary(self) -> Arrays:
        return triple(map(_lengths, self.lines))

    def dual(self, axis: int) -> np.ndarray:
        """Distances between cell centres (m), n+1 values, one for each line; half a cell at the two walls."""
        length = self.primary(axis)
        beyond = (length[-1:], length[:1]) if self.closed(axis) else ([0.0], [0.0])
        padded = np.concatenate((beyond[0], length, beyond[1]))
        return 0.5 * (padded[1:] + padded[:-1])

    def closed(self, axis: int) -> bool:
        """Whether the axis closes on itself."""
        return self.phases[axis] is not None

    @property
    def stepped_from(self) -> Triple:
        """The node of the plane of symmetry across each axis, from which on the model is stepped; 0 without one."""
        return triple(n // 2 if kind else 0 for n, kind in zip(self.cells, self.mirrors))

    def in_cell(self, index: Iterable[Any]) -> tuple[Any, Any, Any]:
        """Sample numbers (i, j, k); past the ends of closed axes, the numbers of the samples that they repeat."""
        return triple(np.mod(n, count) if self.closed(a) else n for a, (n, count) in enumerate(zip(index, self.cells)))

    def centres(self, axis: int) -> np.ndarray:
        """Coordinates of the cell centres (m), n values."""
        return self._centres[axis]

    @cached_property
    def _centres(self) -> Arrays:
        return triple(0.5 * (line[1:] + line[:-1]) for line in self.lines)

    def component_shape(self, component: int) -> Triple:
        """Full shape of a component's array, samples on all walls included."""
        return triple(n + (not is_half(component, axis)) for axis, n in enumerate(self.cells))

    def component_axes(self, component: int) -> Arrays:
        """The x, y and z coordinates (m) of a component's samples."""
        return triple(self.centres(a) if is_half(component, a) else self.lines[a] for a in range(3))

    def maximum_time_step(self, minimum_index: float = 1.0) -> float:
        """Longest stable time step (s) in media whose refractive index is nowhere below `minimum_index`.

        dt = n / (c sqrt(1/dx^2 + 1/dy^2 + 1/dz^2)), where dx^2 is the least product of two neighbouring cell
        lengths (or the square of an end cell at a wall): Gershgorin's bound of the one-dimensional difference
        operators, equal to the Courant limit on a uniform grid and safe on a graded one.
        """
        return minimum_index / (VACUUM_SPEED * sum(self.squared_rates) ** 0.5)

    @cached_property
    def squared_rates(self) -> np.ndarray:
        """1/dx^2, 1/dy^2, 1/dz^2 of the longest stable time step (1/m^2)."""
        least = []
        for axis in range(3):
            length = self.primary(axis)
            ends = (length[:1] * length[-1:],) if self.closed(axis) else (length[:1] ** 2, length[-1:] ** 2)
            least.append(np.concatenate((length[1:] * length[:-1], *ends)).min())
        return 1.0 / np.array(least)

    def nearest_node(self, axis: int, coordinate: float) -> int:
        """Index of the grid line nearest to a coordinate."""
        line = self.lines[axis]
        above = int(np.clip(np.searchsorted(line, coordinate), 1, line.size - 1))
        return above - int(coordinate - line[above - 1] <= line[above] - coordinate)

    def nearest_line(self, axis: int, coordinate: float) -> tuple[int, float]:
        """Number and coordinate (m) of the nearest grid line; those of a closed axis go on past its ends."""
        line = self.lines[axis]
        period = line[-1] - line[0]
        past = self.closed(axis) and not line[0] <= coordinate <= line[-1]
        turn = int(np.floor((coordinate - line[0]) / period)) if past else 0
        node = self.nearest_node(axis, coordinate - turn * period)
        return node + turn * self.cells[axis], float(line[node] + turn * period)

    def reached_by(self, lower: Point, upper: Point) -> bool:
        """Whether a box (m) reaches into the grid; along a closed axis, where its images lie, all do."""
        ends = enumerate(zip(lower, upper, self.lines))
        return all(self.closed(a) or (low <= line[-1] and high >= line[0]) for a, (low, high, line) in ends)

    def contains(self, position: Point) -> bool:
        """Whether a point lies in the grid, walls included, with a millionth of a cell to spare."""
        sides = ((line[0], line[-1], self.primary(axis)) for axis, line in enumerate(self.lines))
        spans = [(low - SAMPLE_TOLERANCE * n[0], high + SAMPLE_TOLERANCE * n[-1]) for low, high, n in sides]
        return all(low <= at <= high for at, (low, high) in zip(position, spans))

    def interpolation(self, component: int, position: Point, cubic: bool = False) -> list[tuple[int, int, int, float]]:
        """Nearest samples (i, j, k, weight) of a component about a point: trilinear, exact on a sample.

        Up to eight entries whose weights sum to one. Past the outermost samples (half a cell from a wall) the last
        one stands. `cubic`: Lagrange's weights of four samples an axis instead, where there are four; the error falls
        from (k d)^2/8 to 3 (k d)^4/128 for waves of wave number k on samples d apart. Over the ends of a closed axis
        samples go on, as -1 and n. Error: a point outside the grid.
        """
        if not self.contains(position):
            raise ModelError(f"position {tuple(position)} lies outside the grid, {self.extent_text()}; move it inside")
        along = _cubic if cubic else _linear
        axes = []
        for axis, (samples, value) in enumerate(zip(self.component_axes(component), position)):
            first = -REACH if self.closed(axis) else 0
            if first:
                samples = self._repeated(samples[: self.cells[axis]], axis)
            axes.append([(first + n, weight) for n, weight in along(samples, value)])
        return [(i, j, k, wi * wj * wk) for i, wi in axes[0] for j, wj in axes[1] for k, wk in axes[2]]

    def _repeated(self, samples: np.ndarray, axis: int) -> np.ndarray:
        """The samples of a closed axis with some of the next cells' on both sides."""
        number, period = np.arange(-REACH, samples.size + REACH), self.lines[axis][-1] - self.lines[axis][0]
        return samples[number % samples.size] + period * (number // samples.size)

    def extent_text(self) -> str:
        """The grid's extent for messages: `x 0 to 0.01, y ... m`."""
        return ", ".join(f"{AXES[a]} {line[0]:.9g} to {line[-1]:.9g}" for a, line in enumerate(self.lines)) + " m"


def _lengths(line: np.ndarray) -> np.ndarray:
    length = np.diff(line)
    mean = (line[-1] - line[0]) / length.size
    # rounding of the coordinates must not make an evenly spaced grid look graded to the engine
    rounding = 4 * np.finfo(float).eps * np.abs(line[[0, -1]]).max()
    even = np.abs(length - mean).max() <= max(rounding, 1e-9 * mean)
    return np.full(length.size, mean) if even else length


def _linear(samples: np.ndarray, value: float) -> list[tuple[int, float]]:
    if samples.size == 1 or value <= samples[0]:
        return [(0, 1.0)]
    if value >= samples[-1]:
        return [(samples.size - 1, 1.0)]
    above = int(np.searchsorted(samples, value))
    part = float((value - samples[above - 1]) / (samples[above] - samples[above - 1]))
    if part < SAMPLE_TOLERANCE:
        return [(above - 1, 1.0)]
    if part > 1.0 - SAMPLE_TOLERANCE:
        return [(above, 1.0)]
    return [(above - 1, 1.0 - part), (above, part)]


def _cubic(samples: np.ndarray, value: float) -> list[tuple[int, float]]:
    nearest = _linear(samples, value)
    first = nearest[0][0] - 1
    if len(nearest) == 1 or first < 0 or first + 4 > samples.size:
        return nearest
    at = samples[first : first + 4]
    weights = [np.prod([(value - q) / (p - q) for q in at if q != p]) for p in at]
    return [(first + n, float(weight)) for n, weight in enumerate(weights)]
