"""Cross-sections of long metal by what its static field shows from afar: potential, middle and spread of its charge.

With the charge 1 a metre, far away the potential is -ln(r)/(2 pi), r from the middle of the charge; a round wire of
the radius `radius` about it would have the potential of the metal. Both, and the second moments, come from the charge
on the surface: for a circle by symmetry, for polygons by the method of moments on panels that grow shorter towards the
corners (Harrington, Field Computation by Moment Methods, 1968, ch. 2).
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from nearfield.bodies.outlines import straight_sides
from nearfield.bodies.shapes import Box, Cylinder, Polygon, Solid
from nearfield.metal.patches import next_axes, pair

PANELS = 24  # a side: the radius of a square is then within 2e-4 of Gamma(1/4)^2/(4 pi^1.5) sides
MOST = 480  # panels in all; outlines of more sides than half of it are not looked at


class Section(NamedTuple):
    """Radius (m) of the round wire with its potential; along the two axes after its own, the middle of its charge (m)
    and the mean of the difference of both squares and of the product (m^2) about it."""

    radius: float
    middle: tuple[float, float]
    squares: float = 0.0
    product: float = 0.0


@lru_cache(maxsize=4096)
def section_of(shape: Solid, axis: int) -> Section | None:
    """The cross-section of a shape that is the same all along an axis; None for shapes that are not known to be."""
    if isinstance(shape, Cylinder):
        middle = pair(shape.start[a] for a in next_axes(axis))
        return Section(shape.radius, middle) if shape._constant_along(axis) else None
    sides = straight_sides(shape, axis) if isinstance(shape, Box | Polygon) else None
    return _of_sides(*sides) if sides is not None and len(sides[0]) <= MOST // 2 else None


def _of_sides(start: np.ndarray, end: np.ndarray) -> Section:
    """That of straight sides, the last axis of both (sides, 2) along u, v (m)."""
    part = 0.5 - 0.5 * np.cos(np.linspace(0.0, np.pi, min(PANELS, MOST // len(start)) + 1))
    corner = start[:, None] + part[:, None] * (end - start)[:, None]
    first, last = corner[:, :-1].reshape(-1, 2), corner[:, 1:].reshape(-1, 2)
    middle, length = 0.5 * (first + last), np.linalg.norm(last - first, axis=1)
    scale = float(np.ptp(np.concatenate((start, end)), axis=0).max())  # so that logarithms are of numbers near 1
    potential = -_logarithms(middle / scale, first / scale, last / scale) / (2.0 * np.pi)
    charge, level = _equal(potential / (length / scale))
    place = charge @ middle
    off = middle - place
    squares, product = charge @ (off[:, 0] ** 2 - off[:, 1] ** 2), charge @ (off[:, 0] * off[:, 1])
    return Section(scale * float(np.exp(-2.0 * np.pi * level)), pair(place.tolist()), float(squares), float(product))


def _equal(potential: np.ndarray) -> tuple[np.ndarray, float]:
    """Charges of sum 1 that give all panels one potential, and that potential; `potential`: of a charge 1 on each."""
    count = len(potential)
    system = np.ones((count + 1, count + 1))
    system[:count, :count], system[:count, count], system[count, count] = potential, -1.0, 0.0
    found = np.linalg.solve(system, np.append(np.zeros(count), 1.0))
    return found[:count], float(found[count])


def _logarithms(at: np.ndarray, first: np.ndarray, last: np.ndarray) -> np.ndarray:
    """Integrals of ln(r) over straight panels (n, 2) from the points (m, 2): (m, n)."""
    along = last - first
    length = np.linalg.norm(along, axis=1)
    along = along / length[:, None]
    offset = at[:, None] - first
    x, y = (offset * along).sum(-1), offset[..., 0] * along[:, 1] - offset[..., 1] * along[:, 0]

    def primitive(s: np.ndarray) -> np.ndarray:
        square = np.maximum(s * s + y * y, 1e-300)
        return 0.5 * s * np.log(square) - s + np.abs(y) * np.arctan2(s, np.abs(y))

    return primitive(x) - primitive(x - length)
