"""Many alike round bodies as one: vias, perforations, the holes of a crystal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from nearfield.bodies.shapes import Cylinder, Solid, Sphere

FEW = 4  # alike bodies that are as soon asked one by one


class Rounds:
    """Spheres of one radius, or cylinders of one radius along an axis between the same ends.

    Of each point the nearest one decides. It answers what a part of a combined body is asked.
    """

    def __init__(self, shapes: Sequence[Sphere | Cylinder]) -> None:
        from scipy.spatial import KDTree

        first, low, high = shapes[0], *np.swapaxes([shape.bounds() for shape in shapes], 0, 1)
        self._ends = low.min(axis=0), high.max(axis=0)
        self._radius, self._flat = first.radius, [first._constant_along(axis) for axis in range(3)]
        self._across = [axis for axis in range(3) if not self._flat[axis]]
        named = [shape.center if isinstance(shape, Sphere) else shape.start for shape in shapes]
        self._centres = np.array(named)[:, self._across]
        self._tree = KDTree(self._centres)

    def _constant_along(self, axis: int) -> bool:
        return self._flat[axis]

    def _signed_distance(self, x: Any, y: Any, z: Any) -> np.ndarray:
        at, found = [np.asarray(q, dtype=float) for q in (x, y, z)], self._lateral_distance(x, y, z)
        for axis, (low, high) in enumerate(zip(*self._ends)):
            if self._flat[axis]:
                found = np.maximum(np.maximum(low - at[axis], at[axis] - high), found)
        return found

    def _lateral_distance(self, x: Any, y: Any, z: Any) -> np.ndarray:
        at = np.stack(np.broadcast_arrays(*((x, y, z)[axis] for axis in self._across)), axis=-1)
        if not at.size:
            return np.empty(at.shape[:-1])
        nearest = self._tree.query(np.where(np.isfinite(at), at, 0.0))[1]
        return np.sqrt(((at - self._centres[nearest]) ** 2).sum(axis=-1)) - self._radius


def gathered(shapes: Iterable[Solid]) -> list[Any]:
    """The shapes, those that are alike and round as one."""
    alike: dict[Any, list[Any]] = {}
    for shape in shapes:
        alike.setdefault(_kind_of(shape) or id(shape), []).append(shape)
    each = ([Rounds(group)] if len(group) > FEW else group for group in alike.values())
    return [part for group in each for part in group]


def _kind_of(shape: Solid) -> tuple | None:
    """Equal for round shapes that differ by their place across their axis."""
    if isinstance(shape, Sphere):
        return "sphere", shape.radius
    if isinstance(shape, Cylinder):
        low, high = shape.bounds()
        for axis in range(3):
            if shape._constant_along(axis):
                return "cylinder", shape.radius, axis, low[axis], high[axis]
    return None
