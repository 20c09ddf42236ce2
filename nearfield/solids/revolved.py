"""Bodies of revolution: horns, cones, dishes, rings."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Literal

import numpy as np
from pydantic import field_validator

from nearfield.quantities import Length, Position
from nearfield.shapes import Corner, Solid
from nearfield.solids.closed_surface import ClosedSurface, tube

Profile = tuple[tuple[Length, Length], ...]
SQUARES = 256
TOUCHING = 1e-12  # of the profile's extent, squared: twice the area of a triangle whose corners lie on one line


class Squares:
    """Distances in the middles of squares of the cut through an axis, which most points need not go beyond."""

    def __init__(self, walls: ClosedSurface, lower: tuple[float, float], upper: tuple[float, float]) -> None:
        self._lower, self._pitch = np.array(lower), np.subtract(upper, lower) / SQUARES
        u, v = (low + pitch * (np.arange(SQUARES) + 0.5) for low, pitch in zip(self._lower, self._pitch))
        self._middles = u, v
        self._distance = walls.distance(u[:, None], v, 0.0)
        self.reach = 0.5 * float(np.hypot(*self._pitch))

    def bound(self, *at: np.ndarray) -> np.ndarray:
        """Bound of the signed distance; it has the right sign where it is at least `reach`, elsewhere it is 0."""
        places = zip(at, self._lower, self._pitch)
        index = tuple(np.clip((q - low) / pitch, 0, SQUARES - 1).astype(np.intp) for q, low, pitch in places)
        there = self._distance[index]
        size = np.abs(there) - np.hypot(*(q - middle[n] for q, middle, n in zip(at, self._middles, index)))
        return np.where(size >= self.reach, np.copysign(size, there), 0.0)


class Revolved(Solid):
    """A body of revolution: a closed profile in (radius, along) turned about an axis through a centre.

    The last point of the profile is joined to the first. Metal thinner than a cell may be lost, as in any solid: give
    shells a back. On whole cells it takes those whose centre it holds; `metal="conformal"` follows its surface.

    >>> import nearfield as nf
    >>> cone = nf.Revolved("z", [(0, 0), ("3 mm", 0), (0, "4 mm")], center=(0, 0, "1 mm"))
    >>> cone.bounds()
    ((-0.003, -0.003, 0.001), (0.003, 0.003, 0.005))
    """

    kind: Literal["revolved"] = "revolved"
    axis: Literal["x", "y", "z"]
    """Direction of the axis: "x", "y" or "z"."""
    profile: Profile
    """Corners (radius, along) in order (m), at least three; `along` counts from the centre."""
    center: Position = (0.0, 0.0, 0.0)
    """A point of the axis (m), from which `along` counts."""

    @field_validator("profile")
    @classmethod
    def _encloses(cls, profile: Profile) -> Profile:
        if len(profile) < 3:
            raise ValueError(f"{len(profile)} points given, a profile needs at least 3")
        corners = np.asarray(profile)
        inward = np.nonzero(corners[:, 0] < 0.0)[0]
        if inward.size:
            raise ValueError(
                f"point {inward[0] + 1} has the radius {corners[inward[0], 0]:.9g} m; radii count from the axis and "
                "cannot be negative: give the half of the profile on one side of the axis"
            )
        if (np.ptp(corners, axis=0) == 0.0).any():
            raise ValueError("all points of the profile lie on one line; it encloses nothing")
        crossing = first_crossing(corners)
        if crossing:
            raise ValueError(
                "the profile crosses itself: its sides from point {} and from point {} meet; give the points in their "
                "order round the profile, or two bodies".format(*crossing)
            )
        return profile

    def bounds(self) -> tuple[Corner, Corner]:
        radius, along = zip(*self.profile)
        lower, upper = ([centre + sign * max(radius) for centre in self.center] for sign in (-1, 1))
        own = "xyz".index(self.axis)
        lower[own], upper[own] = self.center[own] + min(along), self.center[own] + max(along)
        return tuple(lower), tuple(upper)

    def faces(self, axis: int) -> list[float]:
        return self.levels(axis)

    def levels(self, axis: int) -> list[float]:
        start, end = self._sides
        flat = np.unique(start[(start[:, 1] == end[:, 1]) & (start[:, 0] != end[:, 0]), 1])
        return (flat + self.center[axis]).tolist() if axis == "xyz".index(self.axis) else []

    def signed_distance(self, x: Any, y: Any, z: Any) -> np.ndarray:
        offset = [np.asarray(q, dtype=float) - c for q, c in zip((x, y, z), self.center)]
        along, u, v = (offset[("xyz".index(self.axis) + shift) % 3] for shift in range(3))
        radius, along = np.broadcast_arrays(np.hypot(u, v), along)
        squares = self._squares
        found = squares.bound(radius, along)
        near = np.abs(found) < squares.reach
        found[near] = self._walls.distance(radius[near], along[near], 0.0)
        return found

    @property
    def _sides(self) -> tuple[np.ndarray, np.ndarray]:
        """Corners where the sides of the profile begin and end, (n, 2) each."""
        start = np.asarray(self.profile)
        return start, np.roll(start, -1, axis=0)

    @cached_property
    def _squares(self) -> Squares:
        radius, along = np.asarray(self.profile).T
        return Squares(self._walls, (0.0, along.min()), (2.0**0.5 * radius.max(), along.max()))

    @cached_property
    def _walls(self) -> ClosedSurface:
        """The cut through the axis, profile and mirror image, as a tube: sides on the axis are no surface."""
        start, end = self._sides
        real = ((start[:, 0] > 0.0) | (end[:, 0] > 0.0)) & (start != end).any(axis=1)
        start, end = start[real], end[real]
        mirror = np.array([-1.0, 1.0])
        return tube(np.concatenate((start, end * mirror)), np.concatenate((end, start * mirror)))


def first_crossing(corners: np.ndarray) -> tuple[int, int] | None:
    """Numbers, from 1, of two sides of a closed polygon (n, 2) that cross within both; None if none do."""
    start, end = corners, np.roll(corners, -1, axis=0)
    least = TOUCHING * np.ptp(corners, axis=0).max() ** 2

    def sides(a: np.ndarray, b: np.ndarray, p: np.ndarray) -> np.ndarray:
        """On which side of the lines a to b points lie, 0 on them."""
        area = (b - a)[..., 0] * (p - a)[..., 1] - (b - a)[..., 1] * (p - a)[..., 0]
        return np.where(np.abs(area) <= least, 0.0, np.sign(area))

    for n in range(len(corners) - 1):
        a, b, c, d = start[n], end[n], start[n + 1 :], end[n + 1 :]
        apart = (sides(a, b, c) * sides(a, b, d) < 0) & (sides(c, d, a) * sides(c, d, b) < 0)
        if apart.any():
            return n + 1, n + 2 + int(apart.argmax())
    return None
