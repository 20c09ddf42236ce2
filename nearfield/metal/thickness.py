"""How thick bodies are that are thin across no axis: plates, shells, discs."""

from __future__ import annotations

import numpy as np

from nearfield.bodies.closed_surface import volume
from nearfield.bodies.layout import Layout
from nearfield.bodies.mesh import Mesh
from nearfield.bodies.revolved import Revolved
from nearfield.bodies.shapes import Cylinder, Polygon, Solid

SLIGHT = 0.1  # of a body's least extent along the axes, below which twice volume over surface is a plate's thickness


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


def least_thickness(shape: Solid) -> float:
    """The least extent of a body (m): of its bounds, and of plates, shells and outlines across no axis their own."""
    lower, upper = shape.bounds()
    extent = min(high - low for low, high in zip(lower, upper))
    if isinstance(shape, Polygon | Layout):
        outlines = shape.polygons() if isinstance(shape, Layout) else [shape]
        own = max(strip_width(np.asarray(outline.vertices)) for outline in outlines)
    elif isinstance(shape, Revolved):
        own = _wall(np.asarray(shape.profile))
    else:
        own = mean_thickness(shape)
        own = own if own < SLIGHT * extent else np.inf  # of compact bodies it is a third of their size
    return float(min(extent, own))


def _wall(profile: np.ndarray) -> float:
    """Width of the section of a body of revolution by a plane through its axis, from its profile (radius, along): of
    one that touches the axis of both halves."""
    radius, along = profile.T
    sides = np.abs(np.roll(along, -1) - along)
    on_axis = float(sides[(radius <= 0.0) & (np.roll(radius, -1) <= 0.0)].sum())
    if not on_axis:
        return strip_width(profile)
    return _strip(2.0 * area_of(profile), 2.0 * (_length(profile) - on_axis))


def mean_width(corners: np.ndarray) -> float:
    """Twice the area over the length of an outline (n, 2)."""
    return 2.0 * area_of(corners) / _length(corners)


def strip_width(corners: np.ndarray) -> float:
    """The shorter side of the rectangle with the area of an outline (n, 2) and its length, of a rounder one a quarter
    of its length: of a strip, bent ones too, its width."""
    return _strip(area_of(corners), _length(corners))


def _strip(area: float, length: float) -> float:
    return 0.25 * length - max(0.0625 * length**2 - area, 0.0) ** 0.5


def area_of(corners: np.ndarray) -> float:
    """Area within an outline (n, 2)."""
    u, v = (corners - corners.mean(axis=0)).T
    return float(0.5 * abs(np.sum(u * np.roll(v, -1) - v * np.roll(u, -1))))


def _length(corners: np.ndarray) -> float:
    return float(np.hypot(*(np.roll(corners, -1, axis=0) - corners).T).sum())


def _of_mesh(shape: Mesh) -> float:
    corners, triangles = shape._surface.corners, shape._surface.triangles
    a, b, c = (corners[triangles[:, n]] for n in range(3))
    return float(4.0 * abs(volume(corners, triangles)) / np.linalg.norm(np.cross(b - a, c - a), axis=1).sum())
