"""How thick bodies are that are thin across no axis: plates, shells, discs."""

from __future__ import annotations

import numpy as np

from nearfield.bodies.closed_surface import volume
from nearfield.bodies.layout import Layout
from nearfield.bodies.mesh import Mesh
from nearfield.bodies.revolved import Revolved
from nearfield.bodies.shapes import Cylinder, Polygon, Solid


def mean_thickness(shape: Solid) -> float:
    """Twice volume over surface of a body (m), of an extruded one twice area over outline, of a slanting disc its
    length: of a plate or a shell the thickness. Infinite for other shapes, and for those without thickness."""
    if isinstance(shape, Polygon | Layout) and shape.lower == shape.upper:
        return np.inf
    if isinstance(shape, Polygon):
        return mean_width(np.asarray(shape.vertices))
    if isinstance(shape, Layout):
        return min(mean_width(np.asarray(polygon.vertices)) for polygon in shape.polygons())
    if isinstance(shape, Revolved):
        return mean_width(np.asarray(shape.profile))
    if isinstance(shape, Mesh):
        return _of_mesh(shape)
    if isinstance(shape, Cylinder) and shape.length < shape.radius:
        return np.inf if any(shape._constant_along(a) for a in range(3)) else shape.length
    return np.inf


def mean_width(corners: np.ndarray) -> float:
    """Twice the area over the length of an outline (n, 2)."""
    area, length = _area_and_length(corners)
    return 2.0 * area / length


def strip_width(corners: np.ndarray) -> float:
    """The shorter side of the rectangle with the area of an outline (n, 2) and its length, of a rounder one a quarter
    of its length: of a strip, bent ones too, its width."""
    area, length = _area_and_length(corners)
    return 0.25 * length - max(0.0625 * length**2 - area, 0.0) ** 0.5


def _area_and_length(corners: np.ndarray) -> tuple[float, float]:
    u, v = (corners - corners.mean(axis=0)).T
    area = 0.5 * abs(np.sum(u * np.roll(v, -1) - v * np.roll(u, -1)))
    return float(area), float(np.hypot(*(np.roll(corners, -1, axis=0) - corners).T).sum())


def _of_mesh(shape: Mesh) -> float:
    corners, triangles = shape._surface.corners, shape._surface.triangles
    a, b, c = (corners[triangles[:, n]] for n in range(3))
    return float(4.0 * abs(volume(corners, triangles)) / np.linalg.norm(np.cross(b - a, c - a), axis=1).sum())
