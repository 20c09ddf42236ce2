"""The shapes that bodies can have.

Every solid answers `signed_distance(x, y, z)` on coordinate arrays that broadcast: negative inside, never larger in
magnitude than the true distance to the surface. Coordinates are in metres throughout.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from pydantic import model_validator

from nearfield.bodies.points import axes_moved, direction, lengths, on_a_line, shifted
from nearfield.entry.quantities import Length, Position, PositiveLength, Read, Several
from nearfield.entry.schema import Schema, tag
from nearfield.entry.triples import Point, triple

Axis = Literal["x", "y", "z"]
ROUNDED = 1e-9  # of its radius, by which the ends of a cylinder along an axis may lie beside each other
AT_ONCE = 20_000  # pairs of points and sides in a batch, so that they stay in a cache


class Solid(Schema):
    """The base of all shapes."""

    if TYPE_CHECKING:

        @property
        def kind(self) -> str: ...

    def bounds(self) -> tuple[Point, Point]:
        """Lower and upper corner (m) of the smallest axis-parallel box about the shape."""
        raise NotImplementedError

    def _signed_distance(self, x: Any, y: Any, z: Any) -> np.ndarray:
        """A bound of the distance to the surface (m), negative inside, zero on it."""
        raise NotImplementedError

    def _lateral_distance(self, x: Any, y: Any, z: Any) -> np.ndarray:
        """The signed distance without the flat ends, for shapes that are constant along an axis."""
        return self._signed_distance(x, y, z)

    def contains(self, x: Any, y: Any, z: Any, tolerance: float = 0.0) -> np.ndarray:
        """Whether points lie in the closed shape, grown by `tolerance` (m)."""
        return self._signed_distance(x, y, z) <= tolerance if tolerance else self._inside(x, y, z)

    def _inside(self, x: Any, y: Any, z: Any) -> np.ndarray:
        return self._signed_distance(x, y, z) <= 0.0

    _combinations: ClassVar[dict[str, Any]] = {}
    """Bodies made of others, by their kind; combined.py enters them."""

    def __or__(self, other: Solid) -> Solid:
        """Both as one body, a `Union`."""
        return self._combinations["union"]([self, other])

    def __sub__(self, other: Solid) -> Solid:
        """The body without the other one, a `Difference`."""
        return self._combinations["difference"](self, [other])

    def _constant_along(self, axis: int) -> bool:
        """Whether the shape is an extrusion along the axis, with flat ends at its bounds."""
        return False

    def _faces(self, axis: int) -> list[float]:
        """Coordinates (m) along an axis of the flat faces that media are cut at."""
        return [end[axis] for end in self.bounds()] if self._constant_along(axis) else []

    @property
    def _blocks(self) -> bool:
        """Whether its faces along the three axes cut space into boxes wholly inside or outside."""
        return all(self._constant_along(axis) for axis in range(3))

    def _levels(self, axis: int) -> list[float]:
        """Coordinates (m) along an axis of flat parts of the surface, where an automatic grid should have lines."""
        return []

    _corners: ClassVar[tuple[str, ...]] = ("lower", "upper")
    """The entries that are positions, to which `moved` adds."""

    def moved(self, by: Sequence[Any]) -> Self:
        """The shape moved by three lengths (m, or texts with a unit). Error: ModelError."""
        return self._shifted(lengths("moved", by))

    def _shifted(self, by: Sequence[float]) -> Self:
        return self.model_copy(update={name: shifted(getattr(self, name), by) for name in self._corners})


class Rectangular(Solid):
    """A box, or a sheet where an extent is zero."""

    if TYPE_CHECKING:

        @property
        def lower(self) -> Point: ...
        @property
        def upper(self) -> Point: ...

    def bounds(self) -> tuple[Point, Point]:
        return self.lower, self.upper

    def _constant_along(self, axis: int) -> bool:
        return True

    def _signed_distance(self, x: Any, y: Any, z: Any) -> np.ndarray:
        outside = [np.maximum(low - q, q - high) for low, q, high in zip(self.lower, _real(x, y, z), self.upper)]
        return np.maximum(np.maximum(outside[0], outside[1]), outside[2])


class Box(Rectangular):
    """A solid box with faces parallel to the axes, from its lower to its upper corner.

    >>> import nearfield as nf
    >>> bool(nf.Box((0, 0, 0), (1e-3, 1e-3, "2 mm")).contains(5e-4, 5e-4, 2e-3))
    True
    """

    kind: Literal["box"] = tag("box")
    lower: Position
    """Corner with the smallest coordinates (m)."""
    upper: Position
    """Corner with the largest coordinates (m)."""

    @model_validator(mode="after")
    def _has_volume(self) -> Box:
        for axis, (low, high) in enumerate(zip(self.lower, self.upper)):
            if not low < high:
                raise ValueError(
                    f"upper must exceed lower along every axis, but along {'xyz'[axis]} it goes from {low:.9g} to "
                    f"{high:.9g} m; exchange the corners, or use a Sheet for metal without thickness"
                )
        return self


class Sphere(Solid):
    """A solid sphere."""

    _corners: ClassVar[tuple[str, ...]] = ("center",)
    kind: Literal["sphere"] = tag("sphere")
    center: Position
    """Centre (m)."""
    radius: PositiveLength
    """Radius (m)."""

    def bounds(self) -> tuple[Point, Point]:
        return triple(c - self.radius for c in self.center), triple(c + self.radius for c in self.center)

    def _signed_distance(self, x: Any, y: Any, z: Any) -> np.ndarray:
        square = sum((q - c) ** 2 for q, c in zip(_real(x, y, z), self.center))
        return np.sqrt(square) - self.radius


class Cylinder(Solid):
    """A solid circular cylinder between the centres of its two flat ends, in any direction."""

    _corners: ClassVar[tuple[str, ...]] = ("start", "end")
    kind: Literal["cylinder"] = tag("cylinder")
    start: Position
    """Centre of one end (m)."""
    end: Position
    """Centre of the other end (m)."""
    radius: PositiveLength
    """Radius (m)."""

    @model_validator(mode="after")
    def _has_length(self) -> Cylinder:
        if self.length == 0.0:
            raise ValueError(f"start and end are the same point {self.start}; give the cylinder a length")
        return self

    @property
    def length(self) -> float:
        """Distance between the ends (m)."""
        return float(np.linalg.norm(np.subtract(self.end, self.start)))

    @property
    def direction(self) -> np.ndarray:
        """Unit vector from start to end; along an axis but for rounding, that axis."""
        return direction(self.start, self.end, ROUNDED * self.radius)

    def bounds(self) -> tuple[Point, Point]:
        reach = self.radius * np.sqrt(np.maximum(1.0 - self.direction**2, 0.0))
        low, high = np.sort((self.start, self.end), axis=0) + np.outer((-1.0, 1.0), reach)
        return triple(low.tolist()), triple(high.tolist())

    def _constant_along(self, axis: int) -> bool:
        return self.direction[axis] != 0.0 and np.count_nonzero(self.direction) == 1

    def _signed_distance(self, x: Any, y: Any, z: Any) -> np.ndarray:
        along, radial = self._cylindrical(x, y, z)
        return np.maximum(np.maximum(-along, along - self.length), radial - self.radius)

    def _lateral_distance(self, x: Any, y: Any, z: Any) -> np.ndarray:
        straight = np.count_nonzero(self.direction) == 1
        return self._cylindrical(x, y, z)[1] - self.radius if straight else self._signed_distance(x, y, z)

    def _cylindrical(self, x: Any, y: Any, z: Any) -> tuple[np.ndarray, np.ndarray]:
        offset = [q - s for q, s in zip(_real(x, y, z), self.start)]
        along = sum(q * u for q, u in zip(offset, self.direction))
        return along, np.sqrt(sum((q - along * u) ** 2 for q, u in zip(offset, self.direction)))


class Sheet(Rectangular):
    """Metal without thickness: a rectangle with exactly one zero extent, moved to the nearest grid plane.

    >>> import nearfield as nf
    >>> nf.Sheet((0, 0, "1 mm"), ("5 mm", "8 mm", "1 mm")).upper
    (0.005, 0.008, 0.001)
    """

    kind: Literal["sheet"] = tag("sheet")
    lower: Position
    """Corner with the smallest coordinates (m)."""
    upper: Position
    """Corner with the largest coordinates (m)."""

    @model_validator(mode="after")
    def _is_flat(self) -> Sheet:
        flat = [axis for axis in range(3) if self.lower[axis] == self.upper[axis]]
        if len(flat) != 1 or any(low > high for low, high in zip(self.lower, self.upper)):
            raise ValueError(
                "a sheet has exactly one zero extent and upper exceeds lower in the other two, "
                f"given lower {self.lower} and upper {self.upper}; use a Box for a solid, a Wire for a line"
            )
        return self

    @property
    def _normal(self) -> int:
        """Axis (0, 1, 2) along which the sheet has no extent."""
        return np.equal(self.lower, self.upper).tolist().index(True)


class Wire(Solid):
    """A thin metal wire: a polyline in any direction, on the grid edges nearest to it.

    It acts with the given radius; without one with that of bare metal edges, about 0.2 of a cell. A straight one along
    an axis acts where it is drawn, if it has a radius and nothing runs along it within 2.5 cells; other parts along
    axes move to the nearest lines. Parts along none need a radius and a time step 1.4 (in planes of the grid) or 1.7
    times shorter. A free end acts where it is drawn, without a radius half a cell on; one that touches something meets
    it on the nearest line. Lumped ports and elements on a line of edges that touches it are gaps. Errors: a radius
    over half of the shortest cell across (along no axis 0.3), wires less than two cells apart.

    >>> import nearfield as nf
    >>> arm = nf.Wire([(0, 0, "1 mm"), (0, 0, "75 mm")], radius="0.1 mm")
    >>> from math import cos, sin  # four turns of a helix
    >>> helix = nf.Wire([(0.05 * cos(t / 4), 0.05 * sin(t / 4), 3e-3 * t) for t in range(101)], radius="1 mm")
    """

    _corners: ClassVar[tuple[str, ...]] = ("points",)
    kind: Literal["wire"] = tag("wire")
    points: Several[Position]
    """Corners of the polyline (m), at least two."""
    radius: PositiveLength | None = None
    """Radius (m), at most half of the shortest cell across; left out, that of metal edges."""

    @model_validator(mode="after")
    def _leads_somewhere(self) -> Wire:
        if len(self.points) < 2:
            raise ValueError(f"{len(self.points)} points given, a wire needs at least 2")
        for number, (start, end) in enumerate(pairwise(self.points)):
            if start == end:
                raise ValueError(f"part {number + 1} at {start} has no length; leave one of its points out")
            if self.radius is None and axes_moved(start, end) > 1:
                raise ValueError(f"part {number + 1} from {start} to {end} is not parallel to an axis; give `radius`")
        return self

    @property
    def _slants(self) -> int:
        """Along how many axes its most slanting part goes, 2 or 3; 0 if all parts are parallel to axes."""
        return max((n for n in (axes_moved(*ends) for ends in pairwise(self.points)) if n > 1), default=0)

    def bounds(self) -> tuple[Point, Point]:
        return triple(map(min, zip(*self.points))), triple(map(max, zip(*self.points)))

    def _ends_along(self, axis: int) -> set[float]:
        """Where the wire ends with a part along the axis, if no other part of it lies there (m)."""
        pairs = (self.points[:2], self.points[:-3:-1])
        ends = {last[axis] for last, before in pairs if last[axis] != before[axis]}
        inner = {point[axis] for point in self.points[1:-1]}
        return ends - inner


class Extruded(Solid):
    """The base of shapes with an `axis` and ends `lower` and `upper` on it, flat metal if these are equal."""

    if TYPE_CHECKING:

        @property
        def axis(self) -> Axis: ...
        @property
        def lower(self) -> float: ...
        @property
        def upper(self) -> float: ...

    @property
    def _normal(self) -> int:
        """Axis (0, 1, 2) of the extrusion."""
        return "xyz".index(self.axis)

    def _flat_bounds(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Lower and upper corner (u, v) of the outline (m)."""
        raise NotImplementedError

    def _flat_distance(self, u: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Signed distance (m) to the outline in its own plane."""
        raise NotImplementedError

    def bounds(self) -> tuple[Point, Point]:
        lower, upper = [self.lower] * 3, [self.upper] * 3
        for end, flat in zip((lower, upper), self._flat_bounds()):
            end[(self._normal + 1) % 3], end[(self._normal + 2) % 3] = flat
        return triple(lower), triple(upper)

    def _constant_along(self, axis: int) -> bool:
        return axis == self._normal

    def _signed_distance(self, x: Any, y: Any, z: Any) -> np.ndarray:
        q = _real(x, y, z)
        along, u, v = (q[(self._normal + shift) % 3] for shift in range(3))
        return np.maximum(np.maximum(self.lower - along, along - self.upper), self._flat_distance(u, v))

    def _lateral_distance(self, x: Any, y: Any, z: Any) -> np.ndarray:
        q = _real(x, y, z)
        return self._flat_distance(q[(self._normal + 1) % 3], q[(self._normal + 2) % 3])


class Polygon(Extruded):
    """A polygon extruded along an axis from `lower` to `upper`; metal may have lower equal to upper (a flat plate).

    Vertices are (u, v) along the cyclically next axes: (y, z) for axis "x", (z, x) for "y", (x, y) for "z".
    Self-crossing polygons follow the even-odd rule.

    >>> import nearfield as nf
    >>> nf.Polygon("z", [(0, 0), (2e-3, 0), (0, 1e-3)], 0, 1e-3).bounds()
    ((0.0, 0.0, 0.0), (0.002, 0.001, 0.001))
    """

    kind: Literal["polygon"] = tag("polygon")
    axis: Axis
    """Direction of the extrusion: "x", "y" or "z"."""
    vertices: Read[tuple[tuple[Length, Length], ...]]
    """Corners (u, v) in order (m), at least three."""
    lower: Length
    """Start of the extrusion (m)."""
    upper: Length
    """End of the extrusion (m)."""

    @model_validator(mode="after")
    def _has_area(self) -> Polygon:
        if len(self.vertices) < 3:
            raise ValueError(f"{len(self.vertices)} vertices given, a polygon needs at least 3")
        if self.lower > self.upper:
            raise ValueError(f"upper ({self.upper:.9g} m) lies below lower ({self.lower:.9g} m); exchange them")
        if on_a_line(np.asarray(self.vertices)):
            raise ValueError("all vertices lie on one line; the polygon encloses nothing")
        return self

    def _shifted(self, by: Sequence[float]) -> Polygon:
        along, *across = (by[(self._normal + n) % 3] for n in range(3))
        vertices = tuple((u + across[0], v + across[1]) for u, v in self.vertices)
        return Polygon(axis=self.axis, vertices=vertices, lower=self.lower + along, upper=self.upper + along)

    def _flat_bounds(self) -> tuple[tuple[float, float], tuple[float, float]]:
        u, v = zip(*self.vertices)
        return (min(u), min(v)), (max(u), max(v))

    def _levels(self, axis: int) -> list[float]:
        if axis == self._normal:
            return []
        column, following = (axis - self._normal - 1) % 3, (*self.vertices[1:], self.vertices[0])
        return [a[column] for a, b in zip(self.vertices, following) if a[column] == b[column] and a != b]

    def _flat_distance(self, u: np.ndarray, v: np.ndarray) -> np.ndarray:
        u, v = np.broadcast_arrays(u, v)
        square, inside = np.full(u.shape, np.inf), np.zeros(u.shape, dtype=bool)
        (start, end), batch = self._sides, max(1, AT_ONCE // max(1, u.size))
        for first in range(0, len(start), batch):
            sides = (ends[first : first + batch].T.reshape(2, -1, *[1] * u.ndim) for ends in (start, end))
            (u0, v0), (u1, v1) = sides
            du, dv = u1 - u0, v1 - v0
            part = np.clip(((u - u0) * du + (v - v0) * dv) / (du * du + dv * dv), 0.0, 1.0)
            square = np.minimum(square, ((u - u0 - part * du) ** 2 + (v - v0 - part * dv) ** 2).min(axis=0))
            beyond = ((v0 > v) != (v1 > v)) & (u < u0 + (v - v0) * (du / np.where(dv == 0.0, 1.0, dv)))
            inside ^= np.logical_xor.reduce(beyond, axis=0)
        return np.where(inside, -1.0, 1.0) * np.sqrt(square)

    @cached_property
    def _sides(self) -> tuple[np.ndarray, np.ndarray]:
        start: np.ndarray = np.asarray(self.vertices)
        end = np.roll(start, -1, axis=0)
        real = (start != end).any(axis=1)
        return start[real], end[real]


def _real(*at: Any) -> list[np.ndarray]:
    return [np.asarray(values, dtype=float) for values in at]
