"""Folds at planes of symmetry: samples below a plane are the mirrored ones above it, times a parity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nearfield.entry.triples import Triple
from nearfield.grid.yee import YeeGrid, is_half


@dataclass(frozen=True)
class Fold:
    """Samples of a component along one axis: below node `middle` they are mirrored, times `parity`."""

    middle: int
    half: bool  # midway between grid lines
    parity: int
    end: int  # samples that the half holds

    @classmethod
    def of(cls, grid: YeeGrid, component: int, axis: int, active: int) -> Fold:
        """The fold of a component along an axis where the whole model has `active` samples."""
        kind, middle = grid.mirrors[axis], grid.cells[axis] // 2
        normal, electric = component % 3 == axis, component % 6 < 3
        even = (normal == electric) == (kind == "electric")
        return cls(middle, is_half(component % 6, axis), 1 if even else -1, active - middle)

    def folded(self, index) -> np.ndarray:
        """Sample numbers of the half, from 0 at the plane."""
        index = np.asarray(index)
        return np.where(index >= self.middle, index - self.middle, self.middle - self.half - index)

    def sign(self, index) -> np.ndarray:
        """Factor of a sample over the one that it is folded onto: 1, -1, or 0 where the half holds none."""
        below = np.asarray(index) < self.middle
        return np.where(self.folded(index) < self.end, np.where(below, self.parity, 1), 0)

    def span(self, lower: int, upper: int) -> tuple[int, int]:
        """The samples of the half that those from `lower` to `upper` are folded onto; one at least."""
        places = self.folded(np.arange(lower, upper))
        low = min(int(places.min()), self.end - 1)
        return low, max(low + 1, min(int(places.max()) + 1, self.end))

    def unfolded(self, values: np.ndarray, lower: int, upper: int, axis: int) -> np.ndarray:
        """The samples from `lower` to `upper` of those that `span` recorded, along an axis of an array."""
        index = np.arange(lower, upper)
        low, high = self.span(lower, upper)
        taken = np.take(values, np.clip(self.folded(index), low, high - 1) - low, axis)
        shape = [1] * values.ndim
        shape[axis] = -1
        return taken * self.sign(index).reshape(shape).astype(values.real.dtype)


@dataclass(frozen=True)
class Folds:
    """The planes of symmetry of a grid, and how its `active` samples are folded at them."""

    grid: YeeGrid
    active: Triple

    @property
    def axes(self) -> list[int]:
        """The axes that have a plane across them."""
        return planes(self.grid)

    @property
    def start(self) -> Triple:
        """The node of the plane across each axis, 0 without one."""
        return self.grid.stepped_from

    def of(self, component: int, axis: int) -> Fold:
        """The fold of a component at the plane across an axis."""
        return Fold.of(self.grid, component, axis, self.active[axis])

    def acts(self, component: int | np.ndarray, axis: int, index: np.ndarray) -> np.ndarray:
        """Whether samples lie above the plane across an axis and are not zero for good, as tangential E on a PEC."""
        number = np.asarray(component) % 6
        dead = (number < 3) & (number != axis) & (self.grid.mirrors[axis] == "electric")
        return index >= self.start[axis] + dead


def planes(grid: YeeGrid) -> list[int]:
    """The axes that have a plane across them."""
    return [axis for axis in range(3) if grid.mirrors[axis]]


def unfolded(
    values: np.ndarray, component: int, lower: Sequence[int], upper: Sequence[int], grid: YeeGrid, active: Sequence[int]
) -> np.ndarray:
    """The recording of samples [lower, upper), (leading, x, y, z), completed below the planes."""
    for axis in planes(grid):
        fold = Fold.of(grid, component, axis, active[axis])
        values = fold.unfolded(values, lower[axis], upper[axis], 1 + axis)
    return values
