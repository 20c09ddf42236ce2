"""Periodic axes: what repeats from cell to cell, and samples past a seam by those that they repeat.

The last grid line of a closed axis is its first one in the next cell. Fields there are those here times
exp(-j phase), where the axis has a phase: F(r + period) = F(r) exp(-j k period), in the convention exp(+j w t).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from nearfield.bodies.layout import Layout
from nearfield.bodies.mesh import Mesh
from nearfield.bodies.revolved import Revolved
from nearfield.bodies.shapes import Cylinder, Polygon, Solid, Sphere, Wire
from nearfield.bodies.voxels import Voxels

if TYPE_CHECKING:
    from nearfield.grid.yee import YeeGrid
    from nearfield.plan.plan import Recording, RecordingTerm

IMAGINARY = 6  # from a component's number to that of its imaginary part


def images(shape: Solid, grid: YeeGrid) -> Iterator[Solid]:
    """The shape, and its copies in other cells that reach into this one."""
    spans = []
    for axis, line in enumerate(grid.lines):
        low, high = (corner[axis] for corner in shape.bounds())
        covers = shape.constant_along(axis) and low <= line[0] and high >= line[-1]
        spans.append(range(1) if grid.phases[axis] is None or covers else shifts(low, high, line))
    yield shape
    for cells in product(*spans):
        if any(cells):
            yield moved(shape, [n * (line[-1] - line[0]) for n, line in zip(cells, grid.lines)])


def shifts(low: float, high: float, line: np.ndarray) -> range:
    """By how many periods a body between `low` and `high` (m) may be moved and still lie in the cell."""
    period, spare = line[-1] - line[0], 1e-9 * (line[-1] - line[0])
    first = int(np.floor((line[0] - high + spare) / period)) + 1
    last = int(np.ceil((line[-1] - low - spare) / period)) - 1
    return range(min(first, 0), max(last, 0) + 1)


def moved(shape: Solid, by: list[float]) -> Solid:
    """The shape somewhere else."""

    def shifted(point: tuple[float, ...]) -> tuple[float, ...]:
        return tuple(float(value + step) for value, step in zip(point, by))

    if isinstance(shape, Sphere | Revolved):
        return shape.model_copy(update={"center": shifted(shape.center)})
    if isinstance(shape, Cylinder):
        return shape.model_copy(update={"start": shifted(shape.start), "end": shifted(shape.end)})
    if isinstance(shape, Wire):
        return shape.model_copy(update={"points": tuple(map(shifted, shape.points))})
    if isinstance(shape, Polygon):
        along, u, v = (by[(shape.normal + n) % 3] for n in range(3))
        corners = tuple((first + u, second + v) for first, second in shape.vertices)
        ends = {"lower": shape.lower + along, "upper": shape.upper + along}
        return shape.model_copy(update={"vertices": corners, **ends})
    if isinstance(shape, Layout):
        along, u, v = (by[(shape.normal + n) % 3] for n in range(3))
        offset = shape.offset[0] + u, shape.offset[1] + v
        return shape.model_copy(update={"offset": offset, "lower": shape.lower + along, "upper": shape.upper + along})
    if isinstance(shape, Mesh):
        return shape.model_copy(update={"offset": shifted(shape.offset)})
    if isinstance(shape, Voxels):
        return shape.model_copy(update={"lower": shifted(shape.lower)})
    return shape.model_copy(update={"lower": shifted(shape.lower), "upper": shifted(shape.upper)})


def turned(grid: YeeGrid, index: tuple[np.ndarray, ...]) -> tuple[tuple[np.ndarray, ...], np.ndarray]:
    """Samples by those of this cell that they repeat, and the angle (rad) by which each lags behind that one."""
    angle = np.zeros(np.broadcast_shapes(*(np.shape(part) for part in index)))
    for part, phase, count in zip(index, grid.phases, grid.cells):
        if phase:
            angle = angle + phase * (np.asarray(part) // count)
    return grid.in_cell(index), angle


def lagging(
    grid: YeeGrid, component: np.ndarray, index: tuple[np.ndarray, ...], weight: np.ndarray
) -> tuple[np.ndarray, tuple[np.ndarray, ...], np.ndarray]:
    """(component, index, weight) of a weighted sum of samples, or of its real part, with those past seams brought back.

    A lagging sample has the real part re cos(angle) + im sin(angle): two terms.
    """
    index, angle = turned(grid, index)
    component, weight = np.broadcast_to(component, angle.shape), np.asarray(weight, dtype=float)
    if not angle.any():
        return component, index, weight
    late = angle != 0.0
    index = tuple(np.concatenate((part, part[late])) for part in index)
    component = np.concatenate((component, component[late] + IMAGINARY))
    return component, index, np.concatenate((weight * np.cos(angle), (weight * np.sin(angle))[late]))


def imaginary(term: RecordingTerm) -> RecordingTerm:
    """The term that records the imaginary part of what this one records the real part of."""
    if not hasattr(term, "weight"):
        return replace(term, component=term.component + IMAGINARY)
    real = term.component < IMAGINARY  # the imaginary part of F is the real part of -j F: re -> im, im -> -re
    component = np.where(real, term.component + IMAGINARY, term.component - IMAGINARY)
    return replace(term, component=component, weight=np.where(real, term.weight, -term.weight))


def joined(real: Recording, other: Recording) -> Recording:
    """The complex recording that a term and its `imaginary` one made."""
    return replace(real, values=real.values + 1j * other.values)
