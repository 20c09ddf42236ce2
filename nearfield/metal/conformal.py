"""Conformal metal: which bodies are followed through cells, and what that asks of the time step (docs/method.md).

With the open fractions f of an edge and a of a face, the array of an edge holds f E, the mean of E over the whole edge:

    f E <- Ca f E + f Cb (curl H),        H <- Da H - (Db/a) (curl f E)

so both are coefficients, and what reads E at a point divides. How f and a are found: open_parts.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nearfield.bodies.shapes import Cylinder, Solid, Sphere, Wire
from nearfield.entry.constants import VACUUM_SPEED
from nearfield.grid.yee import SAMPLE_TOLERANCE, YeeGrid
from nearfield.media.surface_media import ResistiveSheet, is_metal
from nearfield.metal.metal import kind_of, outline
from nearfield.metal.open_parts import OpenParts
from nearfield.metal.patches import cell_near, margin_of, shortest_cells

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nearfield.bodies.geometry import FilledShape
    from nearfield.grid.boundaries import Boundaries
    from nearfield.metal.metal import Body

STEP_FACTOR = 0.5**0.5  # time step over Courant's limit of the smallest cell


def open_parts(grid: YeeGrid, boundaries: Boundaries, bodies: Sequence[Body], light: float) -> list[OpenParts]:
    """The open parts of planes across x, y and z; empty where there is no metal. `bodies`, `light`: see `OpenParts`."""
    metal = any(body.kind == "pec" for body in bodies)
    return [OpenParts(grid, boundaries.interior(grid), bodies, axis, light) for axis in range(3)] if metal else []


def followed(bodies: Sequence[Body], grid: YeeGrid) -> list[bool]:
    """Which bodies are followed: metal that is thick enough, and with it the thin metal that it touches.

    Rods and balls thinner than two of the cells across them stay what they are on whole cells.
    """
    margin = margin_of(grid)
    lower = np.array([body.lower for body in bodies]).reshape(-1, 3) - margin
    upper = np.array([body.upper for body in bodies]).reshape(-1, 3) + margin
    able = [_has_surface(body, grid) for body in bodies]
    found = [one and _holds_lines(body, grid, margin) for one, body in zip(able, bodies)]
    fresh = [number for number, one in enumerate(found) if one]
    while fresh:
        number = fresh.pop()
        near = ((lower <= upper[number]) & (upper >= lower[number])).all(axis=1)
        touched = [other for other in np.nonzero(near)[0].tolist() if able[other] and not found[other]]
        fresh += touched
        for other in touched:
            found[other] = True
    return found


def _has_surface(body: Body, grid: YeeGrid) -> bool:
    """Whether metal in the grid has a volume, and round metal a radius of a cell or more."""
    inside = all(high >= line[0] and low <= line[-1] for low, high, line in zip(body.lower, body.upper, grid.lines))
    if body.kind != "pec" or isinstance(body.shape, Wire) or not inside:
        return False
    return all(low != high for low, high in zip(body.lower, body.upper)) and not too_slight(body.shape, grid)


def _holds_lines(body: Body, grid: YeeGrid, margin: float) -> bool:
    """Whether a body holds a grid line along each axis on which it is flat."""
    return body.solid and all(
        ((low - margin <= line) & (line <= high + margin)).any()
        for low, high, line, nodes in zip(body.lower, body.upper, grid.lines, body.nodes)
        if nodes
    )


def too_slight(shape: Solid, grid: YeeGrid) -> bool:
    """Whether a round shape has a radius below the cells across it."""
    lower, upper = shape.bounds()
    cells = [cell_near(grid, a, lower[a], upper[a]) for a in range(3) if not shape._constant_along(a)]
    return isinstance(shape, Cylinder | Sphere) and shape.radius < max(cells)


def off_lines(body: FilledShape, grid: YeeGrid, boundaries: Boundaries) -> bool:
    """Whether a body is metal, flat or solid, in the grid and off its lines: on whole cells it acts elsewhere.

    Wires have rules of their own (rods.py).
    """
    if not is_metal(body.medium) or isinstance(body.shape, Wire) or outline(body.shape, "pec", grid).outside:
        return False
    return not _on_lines(body.shape, grid, boundaries)


def cutting(bodies: Sequence[FilledShape], grid: YeeGrid, boundaries: Boundaries) -> list[FilledShape]:
    """Bodies, none of them rods, off the grid lines that can cut cells: metal that is followed, and what is later
    drawn into it."""
    drawn = [body for body in bodies if not isinstance(body.medium, ResistiveSheet)]
    outlines = [outline(body.shape, kind_of(body.medium), grid) for body in drawn]
    found: list[FilledShape] = []
    metal: list[Body] = []
    for body, own, taken in zip(drawn, outlines, followed(outlines, grid)):
        opens = own.opens and any(_overlap(own, other) for other in metal)
        if (taken or opens) and not _on_lines(body.shape, grid, boundaries):
            found.append(body)
        metal += [own] if taken else []
    return found


def _overlap(one: Body, other: Body) -> bool:
    """Whether the boxes about two bodies share a volume."""
    ends = zip(one.lower, one.upper, other.lower, other.upper)
    return all(lower < high and upper > low for lower, upper, low, high in ends)


def _on_lines(shape: Solid, grid: YeeGrid, boundaries: Boundaries) -> bool:
    """Whether all faces of a body are flat and lie on grid lines, in the CPML or outside the grid."""
    for axis, (line, interior) in enumerate(zip(grid.lines, boundaries.interior(grid))):
        for face in (corner[axis] for corner in shape.bounds()):
            nearest = line[grid.nearest_node(axis, face)]
            inside = line[interior[0]] < face < line[interior[1]]
            if inside and abs(nearest - face) > SAMPLE_TOLERANCE * grid.primary(axis).min():
                return False
    return all(shape._constant_along(axis) for axis in range(3))


def maximum_time_step(grid: YeeGrid, minimum_index: float) -> float:
    """Longest time step (s) that is stable where metal cuts cells: `STEP_FACTOR` of that of the smallest cell."""
    total = sum(1.0 / cell**2 for cell in shortest_cells(grid))
    return STEP_FACTOR * minimum_index / (VACUUM_SPEED * total**0.5)
