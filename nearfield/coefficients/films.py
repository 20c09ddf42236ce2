"""What fills the space between flat metal as drawn and the line of the grid on which it acts: what touches the metal.

Without this a strip on a board whose top lies 0.15 cells below a line would act on a film of air, a board's thickness
off in its capacity (docs/method.md, Media).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from nearfield.bodies.combined import Difference, less
from nearfield.bodies.geometry import FilledShape
from nearfield.bodies.sections import sections, stretched
from nearfield.bodies.shapes import Box, Rectangular, Solid, Wire
from nearfield.grid.yee import YeeGrid
from nearfield.media.materials import Medium
from nearfield.media.surface_media import Conductor
from nearfield.metal.metal import electric_ends
from nearfield.metal.patches import margin_of, next_axes

BESIDE = 1e-6  # of the distance from the line: where the medium that touches metal is looked for


def films(
    bodies: Sequence[FilledShape], background: Medium, grid: YeeGrid, followed: set[int]
) -> Iterator[tuple[Solid, Medium]]:
    """Shapes and their media, to be painted over all others in this order; `followed`: numbers of metal that acts where
    it is drawn."""
    margin = margin_of(grid)
    media = [body for body in bodies if isinstance(body.medium, Medium)]
    for number, body in enumerate(bodies):
        place = _plane(body, grid) if media and number not in followed else None
        if place is None:
            continue
        axis, line = place
        low, high = (end[axis] for end in body.shape.bounds())
        for drawn, way in ((low, -1), (high, 1)):
            if way * (drawn - line) > margin:
                ends = (line, drawn) if way > 0 else (drawn, line)
                solid = [bodies[n].shape for n in sorted(followed)]
                yield from _filled(
                    body.shape, axis, ends, drawn + way * BESIDE * abs(drawn - line), media, background, solid
                )


def _plane(body: FilledShape, grid: YeeGrid) -> tuple[int, float] | None:
    """The axis across flat metal and the place (m) of the line on which it acts; None of all else."""
    shape = body.shape
    if not (body.medium == "pec" or isinstance(body.medium, Conductor)) or isinstance(shape, Wire):
        return None
    lower, upper = shape.bounds()
    nodes = [electric_ends(grid, a, low, high) for a, (low, high) in enumerate(zip(lower, upper))]
    flat = [a for a, (low, high) in enumerate(nodes) if shape._constant_along(a) and low == high]
    if len(flat) != 1 or not grid.lines[flat[0]][0] <= lower[flat[0]] <= upper[flat[0]] <= grid.lines[flat[0]][-1]:
        return None
    return flat[0], float(grid.lines[flat[0]][nodes[flat[0]][0] % grid.lines[flat[0]].size])


def _filled(
    metal: Solid,
    axis: int,
    ends: tuple[float, float],
    beside: float,
    media: Sequence[FilledShape],
    background: Medium,
    solid: Sequence[Solid],
) -> Iterator[tuple[Solid, Medium]]:
    """What fills the space along metal between two places (m): the media `beside` it, in their order."""
    near = [body for body in media if _overlap(body.shape, metal, axis, (min(*ends, beside), max(*ends, beside)))]
    if not any(ends[0] <= end[axis] <= ends[1] for body in near for end in body.shape.bounds()):
        return  # what touches the metal goes on there, or nothing is there
    footprint = _drawn_out(metal, axis, 0.5 * sum(end[axis] for end in metal.bounds()), ends)
    holes = [other for other in solid if _overlap(other, metal, axis, ends)]
    for own in footprint or ():
        yield (less(own, holes) if holes else own), background
        for body in near:
            for other in _drawn_out(body.shape, axis, beside, ends) or ():
                common = _common(own, other)
                if common is not None:
                    yield (less(common, holes) if holes else common), body.medium  # type: ignore[misc]


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
