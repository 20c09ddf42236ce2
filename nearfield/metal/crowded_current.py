"""Good conductors whose current crowds at rims and edges nearer to them than the samples of H, so that they lose less
than they should: strips of few cells, and edges of solids that no corner's field tells of (corner_loss.py)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from nearfield.bodies.geometry import FilledShape
from nearfield.bodies.layout import Layout
from nearfield.bodies.outlines import straight_sides
from nearfield.bodies.shapes import Extruded, Polygon, Solid
from nearfield.entry.wording import counted
from nearfield.grid.yee import YeeGrid
from nearfield.media.surface_media import Conductor
from nearfield.metal.cautions import and_others
from nearfield.metal.metal import electric_ends
from nearfield.metal.patches import cell_near, next_axes
from nearfield.metal.thickness import area_of, strip_width

MANY = 10.0  # cells across a strip from which on its loss is within a fifth
STRIPS = (1.0, 1.6, 2.0, 4.0, 8.0, 10.0), (100.0, 73.0, 60.0, 37.0, 19.0, 15.0)  # cells across, % of the loss missing
STEPPED, SLANTING = 76.0, 45.0  # % missing, over the cube root of the cells across a bar: on whole cells, and cut
MARKS = 0.1  # of a layout's area, which narrower outlines may have together without being counted
SHARP = 0.87  # cosine between the sides of a corner of an outline, 30 degrees, above which it counts as round


class Crowded(NamedTuple):
    """A body and its medium, its cells across, the part of its loss that is missing (%), and whether it is flat."""

    body: FilledShape
    medium: Conductor
    cells: float
    missing: float
    flat: bool


def crowded_currents(bodies: Sequence[FilledShape], grid: YeeGrid, conformal: bool) -> list[Crowded]:
    """Conductors that lose too little, the worst first; `conformal`: solids are followed to their faces."""
    found = []
    for body in bodies:
        if not isinstance(body.medium, Conductor):
            continue
        lower, upper = body.shape.bounds()
        cells = sorted((upper[a] - lower[a]) / cell_near(grid, a, lower[a], upper[a]) for a in range(3))
        straight = all(body.shape._constant_along(a) for a in range(3))
        wide = _cells_across(body.shape, cells, grid)
        flat = sum(first == last for first, last in (electric_ends(grid, a, lower[a], upper[a]) for a in range(3)))
        if (straight or isinstance(body.shape, Polygon | Layout)) and (flat > 1 or (flat == 1 and wide < MANY)):
            wide = wide if flat == 1 else 0.0
            found.append(Crowded(body, body.medium, wide, float(np.interp(wide, *STRIPS)), True))
        elif not flat and (_has_slanting_edges(body.shape) if conformal else straight and _has_edges(body.shape, grid)):
            across = max(cells[0], 1.0)
            found.append(
                Crowded(body, body.medium, across, (SLANTING if conformal else STEPPED) / across ** (1 / 3), False)
            )
    return sorted(found, key=lambda each: -each.missing)


def _cells_across(shape: Solid, cells: Sequence[float], grid: YeeGrid) -> float:
    """Cells across a strip: those of a body's middle extent, fewer where its outline is that of a narrower strip."""
    if not isinstance(shape, Polygon | Layout):
        return cells[1]
    lower, upper = shape.bounds()
    cell = np.array([cell_near(grid, a, lower[a], upper[a]) for a in next_axes(shape._normal)])
    outlines = [
        np.asarray(each.vertices) / cell for each in (shape.polygons() if isinstance(shape, Layout) else [shape])
    ]
    widths, areas = np.array([(strip_width(each), area_of(each)) for each in outlines]).T
    order = np.argsort(widths)
    part = np.cumsum(areas[order]) >= MARKS * areas.sum()
    return min(cells[1], float(widths[order][part][0]))


def _has_edges(shape: Solid, grid: YeeGrid) -> bool:
    """Whether faces across two axes lie within the grid."""
    lower, upper = shape.bounds()
    return sum(line[0] < low or high < line[-1] for line, low, high in zip(grid.lines, lower, upper)) > 1


def _has_slanting_edges(shape: Solid) -> bool:
    """Whether a solid has edges in which faces meet that are not both across axes."""
    if not isinstance(shape, Extruded):
        return False
    sides = straight_sides(shape, shape._normal)
    if sides is None:
        return False
    start, end = sides
    along = (end - start) / np.linalg.norm(end - start, axis=1)[:, None]
    after = np.array([np.flatnonzero((start == point).all(axis=1))[0] for point in end])
    sharp = (along * along[after]).sum(axis=1) < SHARP
    slanting = (np.abs(along) > 1e-9).all(axis=1)
    return bool((sharp & (slanting | slanting[after])).any())


def conductors_that_lose_too_little(bodies: Sequence[FilledShape], grid: YeeGrid, conformal: bool) -> Iterator[str]:
    """Warnings about the worst strip, and the worst solid."""
    found = crowded_currents(bodies, grid, conformal)
    for flat in (True, False):
        own = [each for each in found if each.flat == flat]
        if not own:
            continue
        worst = own[0]
        who = worst.body.label + and_others(own)
        medium = worst.medium.label()
        if not flat:
            remedy = (
                "its edges run between faces along no axis; take smaller cells"
                if conformal
                else 'the grid has its edges on whole cells; leave out metal="staircase"'
            )
            yield (
                f"{who}: a solid of {medium} {worst.cells:.2g} cells thick loses some {worst.missing:.0f} % too little "
                "where its current runs along its edges, as it crowds there nearer than the samples of H, and this "
                f"falls with the cube root of the cell: {remedy}"
            )
            continue
        amount = f"is {worst.cells:.2g} cells wide and loses too little" if worst.cells >= 1 else "counts without loss"
        yield (
            f"{who}: metal of {medium} that {amount}, as its current crowds at its rims, nearer "
            "to it than the samples of H: strips in the open lose a quarter of what they should at 1.6 cells, 40 % at "
            "2, 60 % at 4 and 80 % at 8, and nothing below 1; take smaller cells, or a ResistiveSheet of half the "
            "surface's resistance"
        )


def missing_loss(bodies: Sequence[FilledShape], grid: YeeGrid, conformal: bool) -> tuple[float, str] | None:
    """The largest part of a conductor's loss that is missing (%), and of which, in words; None where none is."""
    found = crowded_currents(bodies, grid, conformal)
    if not found:
        return None
    kind = "a strip" if found[0].flat else "a solid"
    return found[0].missing, f"{found[0].body.label}, {kind}, the most of {counted(len(found), 'conductor')}"
