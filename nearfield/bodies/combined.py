"""Bodies made of others: united, cut out of one another, moved and repeated as parts of such.

A structure of one becomes structures of simple shapes, as with transforms: a union's parts each, boxes out of boxes
as boxes. What is no simple shape any more is a `Difference` of one body and those cut out of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import product
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BeforeValidator, Field, model_validator

from nearfield.bodies.layout import Layout
from nearfield.bodies.mesh import Mesh
from nearfield.bodies.revolved import Revolved
from nearfield.bodies.rounds import gathered
from nearfield.bodies.sections import sections, stretched
from nearfield.bodies.shapes import Box, Cylinder, Polygon, Rectangular, Sheet, Solid, Sphere, Wire
from nearfield.bodies.transforms import AnyTransform, Translate, mapped, refuse_many, transformed
from nearfield.bodies.voxels import Voxels
from nearfield.entry.quantities import Read, Several, several
from nearfield.entry.schema import ShortSignature, tag
from nearfield.entry.triples import Point, triple

BESIDE = 1e-9  # of a body's size: what ends so near its face ends at it


def some(given: Any) -> Any:
    """A list of bodies; one alone counts as a list of one. Error: ValueError for none."""
    bodies = several(given)
    if not bodies:
        raise ValueError("given no bodies; give at least one")
    return bodies


class Combined(Solid):
    """The base of bodies made of others."""

    def _resolved(self) -> list[Solid]:
        """Simple shapes, and differences of such, that together are the body."""
        raise NotImplementedError

    @cached_property
    def _simple(self) -> list[Solid]:
        found = self._resolved()
        if not found:
            raise ValueError(f"nothing is left of this {self.kind}: what is cut out holds all of its body")
        refuse_many(len(found))
        return found

    @model_validator(mode="after")
    def _has_parts(self):
        self._simple  # noqa: B018 (made and checked)
        return self

    def bounds(self) -> tuple[Point, Point]:
        lower, upper = zip(*(part.bounds() for part in self._simple))
        return triple(np.min(lower, axis=0).tolist()), triple(np.max(upper, axis=0).tolist())

    def _signed_distance(self, x: Any, y: Any, z: Any) -> np.ndarray:
        return np.minimum.reduce(np.broadcast_arrays(*(part._signed_distance(x, y, z) for part in self._asked)))

    @cached_property
    def _asked(self) -> list[Any]:
        """The simple shapes, alike round ones as one."""
        return gathered(self._simple)


class Union(Combined):
    """Several bodies as one, also `one | other`; parts may overlap and touch.

    >>> import nearfield as nf
    >>> tee = nf.Box((0, 0, 0), (3, 1, 1)) | nf.Box((1, 1, 0), (2, 2, 1))
    >>> print(tee.contains([1.5, 0.5], 1.5, 0.5))
    [ True False]
    """

    kind: Literal["union"] = tag("union")
    bodies: Annotated[Read[Several[AnyBody]], BeforeValidator(some)]
    """The parts, at least one."""

    def _resolved(self) -> list[Solid]:
        return merged([part for body in self.bodies for part in simple_shapes(body)])

    def _shifted(self, by: Sequence[float]) -> Union:
        return Union([body._shifted(by) for body in self.bodies])


class Transformed(Combined):
    """A part of a union or difference that is moved, turned, mirrored or repeated.

    >>> import nearfield as nf
    >>> hole = nf.Cylinder((0, 0, -1), (0, 0, 2), 0.2)
    >>> plate = nf.Box((-1, -1, 0), (6, 1, 1)) - nf.Transformed(hole, nf.Array((6, 1, 1), (1, 0, 0)))
    >>> print(plate.contains([5.0, 5.5], 0, 0.5))
    [False  True]
    """

    kind: Literal["transformed"] = tag("transformed")
    body: Annotated[Read[AnyBody], Field(discriminator="kind")]
    """The part."""
    transforms: Annotated[Several[AnyTransform], BeforeValidator(several)]
    """What is done to it, in this order: `Translate`, `Rotate`, `Mirror`, `Array`."""

    def _resolved(self) -> list[Solid]:
        return [copy for part in simple_shapes(self.body) for copy in transformed(part, self.transforms)]

    def _shifted(self, by: Sequence[float]) -> Transformed:
        return Transformed(self.body, (*self.transforms, Translate(triple(by))))


class Difference(Combined):
    """A body without what others take out of it, also `body - other`.

    Boxes out of boxes, and rectangles out of sheets, leave boxes and sheets; other cuts are exact to their surfaces.

    >>> import nearfield as nf
    >>> plate = nf.Difference(nf.Box((0, 0, 0), (4, 4, 1)), minus=[nf.Cylinder((2, 2, 0), (2, 2, 1), 1)])
    >>> print(plate.contains([2, 0.5], 2, 0.5))
    [False  True]
    """

    kind: Literal["difference"] = tag("difference")
    body: Annotated[Read[AnyBody], Field(discriminator="kind")]
    """What is cut."""
    minus: Annotated[Read[Several[AnyBody]], BeforeValidator(several)]
    """What is cut out; of an empty list nothing."""

    def _resolved(self) -> list[Solid]:
        minus = [part for other in self.minus for part in simple_shapes(other)]
        found = [left for part in simple_shapes(self.body) for left in cut(part, minus)]
        one = found[0] if len(found) == 1 else None
        same = isinstance(one, Difference) and (one.body, one.minus) == (self.body, self.minus)
        return [self] if same else found

    def bounds(self) -> tuple[Point, Point]:
        return self._left if self._whole else super().bounds()

    @cached_property
    def _left(self) -> tuple[Point, Point]:
        """The corners of the body without what boxes cut off its ends; where they leave nothing, of the body."""
        low, high = (np.array(end) for end in self.body.bounds())
        boxes = np.array([part.bounds() for part in self.minus if isinstance(part, Box)]).reshape(-1, 2, 3)
        first, last = boxes[:, 0], boxes[:, 1]
        before = None
        while before != (before := (*low, *high)):  # what one cuts off may bring another to the end
            for axis in range(3):
                across = np.delete((first <= low) & (last >= high), axis, axis=1).all(axis=1)
                at, to = first[across, axis], last[across, axis]
                ends = low[axis], high[axis]
                low[axis] = to[(at <= ends[0]) & (to < ends[1])].max(initial=ends[0])
                high[axis] = at[(at > low[axis]) & (to >= ends[1])].min(initial=ends[1])
        return triple(low.tolist()), triple(high.tolist())

    @cached_property
    def _whole(self) -> bool:
        return any(part is self for part in self._simple)

    def _signed_distance(self, x: Any, y: Any, z: Any) -> np.ndarray:
        if not self._whole:
            return super()._signed_distance(x, y, z)
        parts = (-part._signed_distance(x, y, z) for part in self._taken)
        return np.maximum.reduce(np.broadcast_arrays(self.body._signed_distance(x, y, z), *parts))

    def _lateral_distance(self, x: Any, y: Any, z: Any) -> np.ndarray:
        ends = [self._constant_along(axis) for axis in range(3)]
        if any(flat := [low == high for low, high in zip(*self.body.bounds())]):
            at = zip((x, y, z), self.body.bounds()[0], flat)
            x, y, z = (np.full(np.shape(q), low) if thin else q for q, low, thin in at)
        parts = (-across(part, ends, x, y, z) for part in self._taken)
        return np.maximum.reduce(np.broadcast_arrays(across(self.body, ends, x, y, z), *parts))

    @cached_property
    def _taken(self) -> list[Any]:
        """What is cut out, alike round bodies as one."""
        return gathered(self.minus)

    def _constant_along(self, axis: int) -> bool:
        if not self._whole or not self.body._constant_along(axis):
            return False
        low, high = (end[axis] for end in self.body.bounds())
        if low == high:
            return True
        ends = ((part._constant_along(axis), *(end[axis] for end in part.bounds())) for part in self.minus)
        return all(flat and first <= low and last >= high for flat, first, last in ends)

    def _faces(self, axis: int) -> list[float]:
        low, high = (end[axis] for end in self.bounds())
        faces = {face for part in (self.body, *self.minus) for face in part._faces(axis)}
        return sorted(face for face in faces if low <= face <= high)

    @property
    def _blocks(self) -> bool:
        return all(part._blocks for part in (self.body, *self.minus))

    @cached_property
    def _outlines(self) -> dict[int, Any]:
        """Kept by those who look for its sides, by normal."""
        return {}

    def _levels(self, axis: int) -> list[float]:
        low, high = (end[axis] for end in self.bounds())
        cut = (face for part in self.minus for face in (*part._levels(axis), *part._faces(axis)))
        return [face for face in (*self.body._levels(axis), *cut) if low <= face <= high]

    def _shifted(self, by: Sequence[float]) -> Difference:
        return Difference(self.body._shifted(by), [part._shifted(by) for part in self.minus])

    def _mapped(self, matrix: np.ndarray, centre: np.ndarray) -> list[Solid]:
        """What it becomes under an orthogonal matrix about a point."""
        minus = [part for other in self.minus for part in mapped(other, matrix, centre)]
        return [left for part in mapped(self.body, matrix, centre) for left in cut(part, minus)]


AnyBody = Annotated[
    Box
    | Sphere
    | Cylinder
    | Sheet
    | Wire
    | Polygon
    | Revolved
    | Mesh
    | Layout
    | Voxels
    | Union
    | Difference
    | Transformed,
    Field(discriminator="kind"),
]


def simple_shapes(shape: Solid) -> list[Solid]:
    """The shape, or those that a combined one consists of."""
    return shape._simple if isinstance(shape, Combined) else [shape]


def merged(parts: list[Solid]) -> list[Solid]:
    """The parts, boxes and sheets that together are one as this one."""
    found: list[Solid] = []
    for part in parts:
        joined = True
        while joined:
            joined = False
            for other in found:
                both = _one_box(part, other)
                if both is not None:
                    found.remove(other)
                    part, joined = both, True
                    break
        found.append(part)
    return found


def _one_box(one: Solid, other: Solid) -> Solid | None:
    """The box or sheet that two are together, None if none."""
    if type(one) is not type(other) or not isinstance(one, Box | Sheet):
        return None
    low, high = (np.array(end) for end in zip(one.bounds(), other.bounds()))
    unlike = np.flatnonzero((low[0] != low[1]) | (high[0] != high[1]))
    if unlike.size > 1 or (low.max(axis=0) > high.min(axis=0)).any():
        return None
    if isinstance(one, Sheet) and unlike.size and one._normal == unlike[0]:
        return None
    return type(one)(triple(low.min(axis=0).tolist()), triple(high.max(axis=0).tolist()))


def cut(body: Solid, minus: Sequence[Solid]) -> list[Solid]:
    """What is left of a simple shape or a difference. ValueError: what can neither be cut nor cut out."""
    if isinstance(body, Difference):
        return cut(body.body, [*body.minus, *minus])
    low, high = np.array(body.bounds())
    flat = low == high
    taken: list[Solid] = []
    for part in minus:
        first, last = np.array(part.bounds())
        apart = np.where(flat, (first > high) | (last < low), (first >= high) | (last <= low))
        if not apart.any():
            taken += in_plane(part, (low, high), int(flat.argmax())) if flat.any() else [grown(part, low, high)]
    for each in (body, *taken) if taken else ():
        if isinstance(each, Wire):
            raise ValueError("nothing is cut out of a wire, and a wire cuts nothing out; unite it with bodies")
    for part in taken:
        if any((first == last) and not same for first, last, same in zip(*part.bounds(), flat)):
            raise ValueError(f"a {part.kind} without thickness takes nothing out of a {body.kind}; give it a thickness")
    if not taken:
        return [body]
    if isinstance(body, Box | Sheet) and all(isinstance(part, Rectangular) for part in taken):
        return boxes_left(body, taken)
    return [less(body, taken)]


def less(body: Solid, minus: Sequence[Solid]) -> Difference:
    """A shape without others as one shape, of which nothing may be left; of a difference these are cut out besides."""
    whole, before = (body.body, body.minus) if isinstance(body, Difference) else (body, ())
    found: Difference = Difference.model_construct(body=whole, minus=(*before, *minus))  # type: ignore[attr-defined]
    found.__dict__["_whole"] = True  # boxes and sheets stay as they are too
    return found


def grown(part: Solid, low: np.ndarray, high: np.ndarray) -> Solid:
    """What is cut out, its flat ends at those of the body (m) moved beyond them: else a film would be left there."""
    size = float((high - low).max())
    for axis in range(3):
        if not part._constant_along(axis) or low[axis] == high[axis]:
            continue
        ends = [corner[axis] for corner in part.bounds()]
        near = [abs(ends[0] - low[axis]) <= BESIDE * size, abs(ends[1] - high[axis]) <= BESIDE * size]
        ends = [low[axis] - size if near[0] else ends[0], high[axis] + size if near[1] else ends[1]]
        part = part if not any(near) else stretched(part, axis, (float(ends[0]), float(ends[1]))) or part
    return part


def in_plane(part: Solid, ends: tuple[Sequence[float], Sequence[float]], normal: int) -> list[Solid]:
    """What a shape takes out of flat metal between two corners (m), from one side of it to the other; itself where its
    outline in the plane is not known."""
    low, high = (end[normal] for end in ends)
    first, last = (end[normal] for end in part.bounds())
    if isinstance(part, Wire) or (part._constant_along(normal) and first < low and last > high):
        return [part]
    size = max(upper - lower for lower, upper in zip(*ends))
    found = sections(part, normal, (low - size, high + size))
    return [part] if found is None else found


def together(parts: Sequence[Solid]) -> Solid:
    """Several shapes, or none, as one."""
    found: Union = Union.model_construct(bodies=tuple(parts))  # type: ignore[attr-defined]
    found.__dict__["_simple"] = list(parts)
    return found


def boxes_left(body: Box | Sheet, taken: Sequence[Solid]) -> list[Solid]:
    """Boxes, or sheets, for what boxes leave of one."""
    lower, upper = body.bounds()
    lines = []
    for axis, (low, high) in enumerate(zip(lower, upper)):
        faces = {face for part in taken for face in (end[axis] for end in part.bounds()) if low < face < high}
        lines.append(np.array(sorted({low, high} | faces)) if low < high else np.array([low, high]))
    middles = [0.5 * (line[1:] + line[:-1]) for line in lines]
    left = np.ones([at.size for at in middles], dtype=bool)
    for part in taken:
        left &= ~part.contains(*np.ix_(*middles))
    found: list[Solid] = []
    for place in product(*(range(at.size) for at in middles)):
        if left[place]:
            ends = _grown_block(left, place)
            left[tuple(slice(a, b) for a, b in zip(place, ends))] = False
            first = triple(float(line[a]) for line, a in zip(lines, place))
            found.append(type(body)(first, triple(float(line[b]) for line, b in zip(lines, ends))))
    return found


def _grown_block(left: np.ndarray, start: tuple[int, ...]) -> list[int]:
    """Past the last cells of the largest block of what is left from a cell on, along x, then y, then z."""
    ends = [number + 1 for number in start]
    for axis in range(3):
        while ends[axis] < left.shape[axis]:
            further = [slice(a, b) for a, b in zip(start, ends)]
            further[axis] = slice(ends[axis], ends[axis] + 1)
            if not left[tuple(further)].all():
                break
            ends[axis] += 1
    return ends


def across(part: Solid, flat: Sequence[bool], x: Any, y: Any, z: Any) -> np.ndarray:
    """The signed distance (m) of a shape without its ends along the flat axes."""
    if not isinstance(part, Rectangular):
        straight = any(part._constant_along(axis) for axis in range(3) if flat[axis])
        return part._lateral_distance(x, y, z) if straight else part._signed_distance(x, y, z)
    ends = zip(part.bounds()[0], part.bounds()[1], (x, y, z), flat)
    sides = (np.maximum(low - np.asarray(q), np.asarray(q) - high) for low, high, q, off in ends if not off)
    return np.maximum.reduce(np.broadcast_arrays(*sides))


for combined in (Union, Transformed, Difference):
    combined.model_rebuild()  # type: ignore[union-attr]
    combined.__signature__ = ShortSignature()  # type: ignore[union-attr]
Solid._combinations.update(union=Union, difference=Difference)
