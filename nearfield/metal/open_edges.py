"""Which metal has an edge in the open field, where conformal metal has a field of its own to follow (docs/method.md).

These are rims of sheets, strips narrower than a cell, and right-angled corners of solids that run along an axis: none
in closed cavities and on plates from wall to wall.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from nearfield.bodies.geometry import FilledShape
from nearfield.bodies.shapes import Wire
from nearfield.grid.boundaries import Boundaries
from nearfield.grid.yee import YeeGrid
from nearfield.media.surface_media import ResistiveSheet
from nearfield.metal.conformal import followed
from nearfield.metal.corner_lines import CornerLine, corner_lines
from nearfield.metal.half_lattice import half_lattice
from nearfield.metal.metal import Body, body_of, kind_of
from nearfield.metal.narrow_strips import narrow_strips
from nearfield.metal.outlines import FlatMetal
from nearfield.metal.patches import margin_of, next_axes
from nearfield.metal.rim_points import rim_points
from nearfield.metal.sheet_rims import planes_of, with_openings


def open_edges(
    bodies: Sequence[FilledShape], grid: YeeGrid, boundaries: Boundaries, rods: Iterable[int]
) -> list[FilledShape]:
    """Bodies of metal with such an edge, `rods` (their numbers) among them, and sheets in one plane with it, in the
    order of the structures."""
    thin = {*narrow_strips(bodies, grid, boundaries), *rods}
    strips = {bodies[number].number for number in thin}
    kept = [body for body in bodies if not isinstance(body.medium, ResistiveSheet)]
    drawn = [body_of(body.shape, kind_of(body.medium), grid, boundaries) for body in kept]
    if not any(body.kind == "pec" for body in drawn):
        return []
    found = _rimmed(drawn, grid, boundaries) | _cornered(drawn, grid, boundaries)
    found |= {number for number, body in enumerate(kept) if body.number in strips}
    return [kept[number] for number in sorted(found)]


def _rimmed(bodies: Sequence[Body], grid: YeeGrid, boundaries: Boundaries) -> set[int]:
    """Numbers of flat bodies in planes with a free rim."""
    interior, bodies = boundaries.interior(grid), with_openings(bodies)
    lattices = [half_lattice(grid, interior[axis], axis) for axis in range(3)]
    found: set[int] = set()
    for (normal, node), inside in planes_of(bodies, grid).items():
        flat, across = FlatMetal(grid, bodies, inside, normal, node), [lattices[axis] for axis in next_axes(normal)]
        points = rim_points(flat, across, bodies[inside[0]].lower[normal], 0.0)
        found.update(inside if points.s.size else ())
    return found


def _cornered(bodies: Sequence[Body], grid: YeeGrid, boundaries: Boundaries) -> set[int]:
    """Numbers of solid bodies of metal that lie at a free corner."""
    solid = [number for number, body in enumerate(bodies) if not isinstance(body.shape, Wire)]
    inside = [bodies[number] for number in solid]
    taken = followed(inside, grid)
    at_faces = [one or body.kind == "medium" for body, one in zip(inside, taken)]
    metal = [(number, body) for number, body, one in zip(solid, inside, taken) if one]
    found: set[int] = set()
    for line in corner_lines(grid, boundaries, inside, at_faces):
        found |= {number for number, body in metal if _lies_at(body, line, grid)}
    return found


def _lies_at(body: Body, line: CornerLine, grid: YeeGrid) -> bool:
    """Whether a corner's line touches the box about a body."""
    margin, along = margin_of(grid), grid.centres(line.axis)[np.nonzero(line.cells)[0]]
    near = (body.lower[line.axis] - margin <= along) & (along <= body.upper[line.axis] + margin)
    beside = (body.lower[a] - margin <= q <= body.upper[a] + margin for a, q in zip(next_axes(line.axis), line.place))
    return bool(near.any()) and all(beside)
