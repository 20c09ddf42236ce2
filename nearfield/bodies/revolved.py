"""Bodies of revolution: horns, cones, dishes, rings."""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import field_validator

from nearfield.bodies.shapes import Axis, Solid
from nearfield.entry.quantities import Length, Position, Read
from nearfield.entry.schema import tag
from nearfield.entry.triples import Point, triple

Profile = Read[tuple[tuple[Length, Length], ...]]
SQUARES = 256  # along each axis of the table of distances
AT_ONCE = 1_000_000  # pairs of points and sides in a batch, for memory
TOUCHING = 1e-12  # extent squared; corners of a triangle of less than half this area lie on one line


class Sides:
    """The sides `start` to `end` (n, 2) of a profile, without those on the axis, and how far points are from them.

    Most points need not ask all sides: distances in the middles of `SQUARES` x `SQUARES` squares bound theirs.
    """

    def __init__(self, start: np.ndarray, end: np.ndarray) -> None:
        real = ((start[:, 0] > 0.0) | (end[:, 0] > 0.0)) & (start != end).any(axis=1)
        self._start, self._end = start[real].T[:, :, None], end[real].T[:, :, None]
        self._lower = np.array((0.0, start[:, 1].min()))
        self._pitch = (np.array((2.0**0.5 * start[:, 0].max(), start[:, 1].max())) - self._lower) / SQUARES
        self._reach = 0.5 * float(np.hypot(*self._pitch))
        self._middle = [low + pitch * (np.arange(SQUARES) + 0.5) for low, pitch in zip(self._lower, self._pitch)]
        u, v = (part.ravel() for part in np.meshgrid(*self._middle, indexing="ij"))
        self._distance = self._exact(u, v).reshape(SQUARES, SQUARES)

    def distance(self, radius: np.ndarray, along: np.ndarray) -> np.ndarray:
        """Signed distance (m) of points, far from all sides a bound of it."""
        at = np.broadcast_arrays(radius, along)
        places = zip(at, self._lower, self._pitch)
        index = tuple(np.clip((q - low) / pitch, 0, SQUARES - 1).astype(np.intp) for q, low, pitch in places)
        there = self._distance[index]
        found = np.abs(there) - np.hypot(*(q - middle[n] for q, middle, n in zip(at, self._middle, index)))
        near = found < self._reach  # beyond, no side lies between a point and its square's middle
        found = np.asarray(np.copysign(found, there))
        found[near] = self._exact(at[0][near], at[1][near])
        return found

    def _exact(self, u: np.ndarray, v: np.ndarray) -> np.ndarray:
        found, batch = np.empty(u.size), max(1, AT_ONCE // self._start.shape[1])
        for first in range(0, u.size, batch):
            part = slice(first, first + batch)
            found[part] = self._of_all(u[part], v[part])
        return found

    def _of_all(self, u: np.ndarray, v: np.ndarray) -> np.ndarray:
        (u0, v0), (u1, v1) = self._start, self._end
        du, dv, out, up = u1 - u0, v1 - v0, u - u0, v - v0
        part = np.clip((out * du + up * dv) / (du * du + dv * dv), 0.0, 1.0)
        square = ((out - part * du) ** 2 + (up - part * dv) ** 2).min(axis=0)
        beyond = ((v0 > v) != (v1 > v)) & (out < up * (du / np.where(dv == 0.0, 1.0, dv)))
        inside = np.logical_xor.reduce(beyond, axis=0)
        return np.where(inside, -1.0, 1.0) * np.sqrt(square)


class Revolved(Solid):
    """A body of revolution: a closed profile in (radius, along) turned about an axis through a centre.

    The last point of the profile is joined to the first. Metal on whole cells takes those whose centre it holds;
    `metal="conformal"` follows its surface. On whole cells walls should be 1.5 cells thick or more, or they have holes.

    >>> import nearfield as nf
    >>> cone = nf.Revolved("z", [(0, 0), ("3 mm", 0), (0, "4 mm")], center=(0, 0, "1 mm"))
    >>> cone.bounds()
    ((-0.003, -0.003, 0.001), (0.003, 0.003, 0.005))
    """

    _corners: ClassVar[tuple[str, ...]] = ("center",)
    kind: Literal["revolved"] = tag("revolved")
    axis: Axis
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
        corners: np.ndarray = np.asarray(profile)
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

    def bounds(self) -> tuple[Point, Point]:
        radius, along = zip(*self.profile)
        lower, upper = ([centre + sign * max(radius) for centre in self.center] for sign in (-1, 1))
        own = self._along
        lower[own], upper[own] = self.center[own] + min(along), self.center[own] + max(along)
        return triple(lower), triple(upper)

    def _levels(self, axis: int) -> list[float]:
        start: np.ndarray = np.asarray(self.profile)
        end = np.roll(start, -1, axis=0)
        flat = np.unique(start[(start[:, 1] == end[:, 1]) & (start[:, 0] != end[:, 0]), 1])
        return (flat + self.center[axis]).tolist() if axis == self._along else []

    def _signed_distance(self, x: Any, y: Any, z: Any) -> np.ndarray:
        offset = [np.asarray(q, dtype=float) - c for q, c in zip((x, y, z), self.center)]
        along, u, v = (offset[(self._along + shift) % 3] for shift in range(3))
        return self._sides.distance(np.hypot(u, v), along)

    @property
    def _along(self) -> int:
        return "xyz".index(self.axis)

    @cached_property
    def _sides(self) -> Sides:
        start: np.ndarray = np.asarray(self.profile)
        return Sides(start, np.roll(start, -1, axis=0))


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
