"""Structures moved, turned, mirrored and repeated: each copy becomes a structure of a shape of its own, exactly."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BeforeValidator, Field, model_validator

from nearfield.bodies.layout import Layout
from nearfield.bodies.mesh import Mesh, turned
from nearfield.bodies.outlined import box_surface, prism
from nearfield.bodies.revolved import Revolved
from nearfield.bodies.shapes import Axis, Box, Cylinder, Polygon, Sheet, Solid, Sphere, Wire
from nearfield.entry.quantities import Angle, Length, Position, Read, Whole, refuse_degrees, three
from nearfield.entry.schema import Schema, tag
from nearfield.entry.triples import triple

Copies = Annotated[Whole, Field(ge=1, le=10_000)]
EXACT = 1e-12  # parts of a turned axis below which it lies along an axis of the grid
MOST_COPIES = 100_000
NAMES: tuple[Axis, Axis, Axis] = ("x", "y", "z")


class Translate(Schema):
    """A structure moved by three lengths."""

    kind: Literal["translate"] = tag("translate")
    by: Position
    """How far along x, y, z (m)."""

    def _applied(self, shape: Any) -> list[Any]:
        return [shape.moved(self.by)]


class Rotate(Schema):
    """A structure turned about a line along an axis, right-handed.

    >>> import nearfield as nf
    >>> arm = nf.Sheet((0, "-1 mm", 0), ("9 mm", "1 mm", 0))
    >>> turned = nf.Structure(arm, nf.PEC, transforms=[nf.Rotate("z", "30 deg")]).parts()[0]
    >>> turned.shape.kind
    'polygon'
    """

    kind: Literal["rotate"] = tag("rotate")
    axis: Axis
    """Direction of the line: "x", "y" or "z"."""
    angle: Angle
    """By how much (rad, or with a unit)."""
    about: Position = (0.0, 0.0, 0.0)
    """A point of the line (m)."""

    @model_validator(mode="after")
    def _in_radians(self) -> Rotate:
        refuse_degrees("angle", self.angle)
        return self

    def _applied(self, shape: Any) -> list[Any]:
        return mapped(shape, self._matrix(), np.array(self.about))

    def _matrix(self) -> np.ndarray:
        angles = triple(self.angle if axis == self.axis else 0.0 for axis in "xyz")
        return turned(angles)


class Mirror(Schema):
    """A structure mirrored at a plane across an axis; with `keep` its image beside it."""

    kind: Literal["mirror"] = tag("mirror")
    axis: Axis
    """Normal of the plane: "x", "y" or "z"."""
    at: Length = 0.0
    """Where the plane lies on the axis (m)."""
    keep: bool = False
    """Whether the structure stays as well, beside its image."""

    def _applied(self, shape: Any) -> list[Any]:
        normal = "xyz".index(self.axis)
        matrix, centre = np.eye(3), np.zeros(3)
        matrix[normal, normal], centre[normal] = -1.0, self.at
        return [shape] * self.keep + mapped(shape, matrix, centre)


class Array(Schema):
    """Copies of a structure in rows: so many along x, y and z, so far apart.

    >>> import nearfield as nf
    >>> via = nf.Cylinder((0, 0, 0), (0, 0, "1 mm"), "0.2 mm")
    >>> fence = nf.Structure(via, nf.PEC, name="via", transforms=[nf.Array((5, 1, 1), ("1 mm", 0, 0))])
    >>> [part.name for part in fence.parts()][-1]
    'via 5'
    """

    kind: Literal["array"] = tag("array")
    counts: Annotated[Read[tuple[Copies, Copies, Copies]], BeforeValidator(three)]
    """Copies along x, y and z, each at least 1."""
    step: Position
    """Distance between neighbours along x, y and z (m)."""

    def _applied(self, shape: Any) -> list[Any]:
        refuse_many(math.prod(self.counts))
        places = np.ndindex(*self.counts)
        steps = ([n * step for n, step in zip(place, self.step)] for place in places)
        return [shape.moved(by) for by in steps]


AnyTransform = Annotated[Translate | Rotate | Mirror | Array, Field(discriminator="kind")]


def transformed(shape: Solid, transforms: Sequence[Any]) -> list[Any]:
    """The shapes that a shape becomes, one transform after the other. ValueError: it cannot be so, or too many."""
    found: list[Any] = [shape]
    for transform in transforms:
        found = [copy for each in found for copy in transform._applied(each)]
        refuse_many(len(found))
    return found


def refuse_many(copies: int) -> None:
    """ValueError: transforms make too many copies."""
    if copies > MOST_COPIES:
        raise ValueError(f"transforms make {copies:,} copies; at most {MOST_COPIES:,}: give smaller counts")


def mapped(shape: Any, matrix: np.ndarray, centre: np.ndarray) -> list[Any]:
    """The shapes that a shape becomes under an orthogonal matrix about a point. ValueError: there is none."""

    def turned_point(point: Any) -> np.ndarray:
        return matrix @ (np.asarray(point, dtype=float) - centre) + centre

    digits = meant_digits([turned_point(corner) for corner in product(*zip(*shape.bounds()))])

    def place(point: Any) -> list[float]:
        return [round(float(value), digits) for value in turned_point(point)]

    if shape.kind == "difference":
        return shape._mapped(matrix, centre)
    match shape:
        case Sphere():
            return [Sphere(place(shape.center), shape.radius)]
        case Cylinder():
            return [Cylinder(place(shape.start), place(shape.end), shape.radius)]
        case Wire():
            return [Wire(tuple(map(place, shape.points)), shape.radius)]
        case Box() | Sheet():
            return [mapped_box(shape, matrix, place)]
        case Polygon():
            return [mapped_polygon(shape, matrix, place)]
        case Layout():
            return [mapped_polygon(part, matrix, place) for part in shape.polygons()]
        case Revolved():
            return [mapped_revolved(shape, matrix, place)]
        case Mesh():
            return [mapped_mesh(shape, matrix, centre)]
    raise ValueError(f"a shape of kind {shape.kind!r} can be moved and repeated, not turned or mirrored")


def along_axis(matrix: np.ndarray, axis: int) -> tuple[int, int] | None:
    """Where an axis of the grid goes: the axis and the sign, or None where it goes along none."""
    column = matrix[:, axis]
    to = int(np.argmax(np.abs(column)))
    straight = np.abs(np.delete(column, to)).max() <= EXACT
    return (to, 1 if column[to] > 0 else -1) if straight else None


def mapped_box(shape: Any, matrix: np.ndarray, place: Any) -> Any:
    """A box or sheet: itself where its sides stay along the axes, else a polygon or a body of triangles."""
    ways = [along_axis(matrix, axis) for axis in range(3)]
    if all(ways):
        ends = np.sort(np.array([place(shape.lower), place(shape.upper)]), axis=0)
        return type(shape)(ends[0].tolist(), ends[1].tolist())
    normal = shape._normal if isinstance(shape, Sheet) else next((axis for axis in range(3) if ways[axis]), 2)
    if isinstance(shape, Sheet) and not ways[normal]:
        raise ValueError("a sheet stays across an axis of the grid; give metal that is tilted a thickness (a Box)")
    if ways[normal]:
        u, v = (normal + 1) % 3, (normal + 2) % 3
        low, high = shape.lower, shape.upper
        corners = [(low[u], low[v]), (high[u], low[v]), (high[u], high[v]), (low[u], high[v])]
        polygon = Polygon(NAMES[normal], corners, low[normal], high[normal])
        return mapped_polygon(polygon, matrix, place)
    return solid(*box_surface(shape.lower, shape.upper), matrix, place)


def mapped_polygon(shape: Any, matrix: np.ndarray, place: Any) -> Any:
    """An extruded polygon: one along another axis, or a body of triangles."""
    normal = shape._normal
    way = along_axis(matrix, normal)
    if way is None:
        if shape.lower == shape.upper:
            raise ValueError("a flat polygon stays across an axis of the grid; give metal that is tilted a thickness")
        return solid(*prism(normal, np.array(shape.vertices), (shape.lower, shape.upper)), matrix, place)
    to = way[0]
    corners = []
    for u, v in shape.vertices:
        point = [0.0, 0.0, 0.0]
        point[normal], point[(normal + 1) % 3], point[(normal + 2) % 3] = shape.lower, u, v
        at = place(point)
        corners.append((at[(to + 1) % 3], at[(to + 2) % 3]))
    ends = []
    for end in (shape.lower, shape.upper):
        point = [0.0, 0.0, 0.0]
        point[normal] = end
        ends.append(place(point)[to])
    return Polygon(NAMES[to], corners, min(ends), max(ends))


def mapped_revolved(shape: Any, matrix: np.ndarray, place: Any) -> Any:
    """A body of revolution about another axis of the grid."""
    way = along_axis(matrix, shape._along)
    if way is None:
        raise ValueError("a revolved shape stays along an axis of the grid; turn it by quarters, or give a Mesh")
    profile = [(radius, way[1] * along) for radius, along in shape.profile]
    return Revolved(NAMES[way[0]], profile, place(shape.center))


def mapped_mesh(shape: Any, matrix: np.ndarray, centre: np.ndarray) -> Any:
    """A body of triangles: its file with another rotation, or its triangles where it is mirrored."""
    if np.linalg.det(matrix) < 0.0:
        corners = (shape._surface.corners + np.array(shape.offset) - centre) @ matrix.T + centre
        return Mesh(vertices=corners, triangles=shape._surface.triangles[:, ::-1])
    from scipy.spatial.transform import Rotation

    angles = Rotation.from_matrix(matrix @ turned(shape.rotation)).as_euler("xyz")
    offset = matrix @ (np.array(shape.offset) - centre) + centre
    given = {name: getattr(shape, name) for name in shape.model_fields_set if name != "kind"}
    return Mesh(**given | {"rotation": angles, "offset": offset})


def solid(corners: np.ndarray, triangles: np.ndarray, matrix: np.ndarray, place: Any) -> Mesh:
    """A body of triangles under a matrix; a mirror turns them inside out."""
    triangles = triangles[:, ::-1] if np.linalg.det(matrix) < 0.0 else triangles
    return Mesh(vertices=[place(corner) for corner in corners], triangles=triangles)


def meant_digits(points: Any) -> int:
    """Digits after the point of coordinates that were meant: turns by quarters leave digits of rounding. One number for
    all points of a shape, which lie in one plane or on one line of the grid after it too."""
    return 14 - math.floor(math.log10(float(np.max(np.abs(points))) or 1.0))
