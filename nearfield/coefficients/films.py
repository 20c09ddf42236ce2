"""Media about flat metal that acts on another plane than it is drawn on: their faces go along with the metal.

Where a face cannot, or lies beside it, the space between is filled by what touches the metal. Else a strip on a board
whose top lies 0.15 cells below a line would act on a film of air (docs/method.md, Media).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from nearfield.bodies.combined import Difference, less
from nearfield.bodies.geometry import FilledShape
from nearfield.bodies.sections import sections, stretched
from nearfield.bodies.shapes import Box, Rectangular, Solid, Wire
from nearfield.grid.moves import Moved, moved_place
from nearfield.grid.yee import AXES, YeeGrid
from nearfield.media.materials import Medium
from nearfield.media.surface_media import is_metal
from nearfield.metal.grid_metal import GridMetal
from nearfield.metal.metal import electric_ends
from nearfield.metal.patches import margin_of, next_axes

BESIDE = 1e-6  # of the distance from the line: where the medium that touches metal is looked for


class Carrier(NamedTuple):
    """Flat metal off the lines of the grid: the axis across it, its faces, and the line on which it acts (m)."""

    shape: Solid
    axis: int
    low: float
    high: float
    line: float


def carriers(bodies: Sequence[FilledShape], grid: YeeGrid, metal: GridMetal) -> list[Carrier]:
    """That of all bodies, of which followed ones and rods act where they are drawn."""
    margin, drawn = margin_of(grid), metal.followed | set(metal.rods)
    found = (_carrier(body, grid) for number, body in enumerate(bodies) if number not in drawn)
    return [one for one in found if one and max(one.high - one.line, one.line - one.low) > margin]


def _carrier(body: FilledShape, grid: YeeGrid) -> Carrier | None:
    shape = body.shape
    if not is_metal(body.medium) or isinstance(shape, Wire):
        return None
    lower, upper = shape.bounds()
    nodes = [electric_ends(grid, a, low, high) for a, (low, high) in enumerate(zip(lower, upper))]
    flat = [a for a, (low, high) in enumerate(nodes) if shape._constant_along(a) and low == high]
    if not 0 < len(flat) < 3:
        return None
    axis = min(flat, key=lambda a: upper[a] - lower[a])  # narrow strips are thin along two
    line = grid.lines[axis]
    if not line[0] <= lower[axis] <= upper[axis] <= line[-1]:
        return None
    return Carrier(shape, axis, lower[axis], upper[axis], float(line[nodes[axis][0] % line.size]))


def carried(shape: Solid, metal: Sequence[Carrier], margin: float) -> Solid:
    """A shape whose flat faces at such metal lie on its line; as it was where nothing would be left of it."""
    if isinstance(shape, Difference):
        body, *minus = (carried(part, metal, margin) for part in (shape.body, *shape.minus))
        same = body is shape.body and all(one is other for one, other in zip(minus, shape.minus))
        return shape if same else less(body, minus)
    for one in metal:
        if shape._constant_along(one.axis):
            before = [end[one.axis] for end in shape.bounds()]
            low, high = (one.line if one.low - margin <= end <= one.high + margin else end for end in before)
            if [low, high] != before and low < high - margin:
                shape = stretched(shape, one.axis, (low, high)) or shape
    return shape


def moved_faces(bodies: Sequence[FilledShape], metal: Sequence[Carrier], grid: YeeGrid) -> Iterator[Moved]:
    """The faces of media that go along with metal."""
    for body in bodies if metal else ():
        acting = carried(body.shape, metal, margin_of(grid)) if isinstance(body.medium, Medium) else body.shape
        for side, drawn, acts in zip(("lower", "upper"), body.shape.bounds(), acting.bounds()):
            for axis in (a for a in range(3) if acts[a] != drawn[a]):
                what = f"{body.label}, its {side} face across {AXES[axis]}"
                yield from moved_place(what, grid, axis, drawn[axis], "it goes along with flat metal that lies on it")


def films(
    media: Sequence[tuple[Solid, Medium]],
    background: Medium,
    metal: Sequence[Carrier],
    solid: Sequence[Solid],
    margin: float,
) -> Iterator[tuple[Solid, Medium]]:
    """Shapes and their media, to be painted over all others in this order; `solid`: metal that is none of them."""
    for one in metal if media else ():
        for drawn, way in ((one.low, -1), (one.high, 1)):
            if way * (drawn - one.line) > margin:
                beside = drawn + way * BESIDE * abs(drawn - one.line)
                yield from _filled(one, (drawn, beside), media, background, solid, margin)


def _filled(
    one: Carrier,
    side: tuple[float, float],
    media: Sequence[tuple[Solid, Medium]],
    background: Medium,
    solid: Sequence[Solid],
    margin: float,
) -> Iterator[tuple[Solid, Medium]]:
    """What fills the space between metal as drawn and its line: the media beside this `side`, in their order."""
    metal, axis, ends = one.shape, one.axis, (min(one.line, side[0]), max(one.line, side[0]))
    near = [each for each in media if _overlap(each[0], metal, axis, (min(*ends, *side), max(*ends, *side)))]
    faces = [end[axis] for shape, _ in near for end in shape.bounds()]
    if not any(ends[0] <= face <= ends[1] and abs(face - one.line) > margin for face in faces):
        return  # what touches the metal goes on there, or nothing is there
    footprint = _drawn_out(metal, axis, 0.5 * (one.low + one.high), ends)
    holes = [other for other in solid if _overlap(other, metal, axis, ends)]
    for own in footprint or ():
        yield (less(own, holes) if holes else own), background
        for shape, medium in near:
            for other in _drawn_out(shape, axis, side[1], ends) or ():
                common = _common(own, other)
                if common is not None:
                    yield (less(common, holes) if holes else common), medium


def _overlap(shape: Solid, metal: Solid, axis: int, ends: tuple[float, float]) -> bool:
    """Whether the box about a shape meets that about metal, drawn out between two places."""
    (lower, upper), (low, high) = shape.bounds(), metal.bounds()
    across = all(lower[a] < high[a] and upper[a] > low[a] for a in next_axes(axis))
    return across and lower[axis] <= ends[1] and upper[axis] >= ends[0]


def _drawn_out(shape: Solid, axis: int, at: float, ends: tuple[float, float]) -> list[Solid] | None:
    """The section of a shape at a place along an axis, from end to end; None where it is not known."""
    size = max(high - low for low, high in zip(*shape.bounds()))
    found = sections(shape, axis, (at - size, at + size))
    return None if found is None else [_between(each, axis, ends) for each in found]


def _between(shape: Solid, axis: int, ends: tuple[float, float]) -> Solid:
    if isinstance(shape, Difference):
        return less(_between(shape.body, axis, ends), shape.minus)
    drawn = stretched(shape, axis, ends)
    assert drawn is not None
    return drawn


def _common(one: Solid, other: Solid) -> Solid | None:
    """What two shapes between the same ends share; None where that is nothing."""
    low, high = (pick([each.bounds()[n] for each in (one, other)], axis=0) for n, pick in ((0, np.max), (1, np.min)))
    if (low >= high).any():
        return None
    if isinstance(one, Rectangular) and isinstance(other, Rectangular):
        return Box(tuple(low.tolist()), tuple(high.tolist()))
    return less(one, [less(one, [other])])
