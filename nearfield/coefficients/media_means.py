"""The table of media and where they lie, for means of their properties about Yee samples.

About an E edge that is the arithmetic mean over its dual face and the series (harmonic) mean along the edge, so that
both a boundary along the edge and one across it keep what is continuous there. About an H face likewise, with the dual
edge through it. Media with conductivities or poles lend all they have by the weights of that series, and where curved
and slanting surfaces cross that space the interface's normal weighs all media (interfaces.py); with averaging "volume"
both count by the arithmetic mean over all of that space. Constants that differ along x, y and z count for
each component by their own: each has a column. What conformal metal takes of the space does not
count.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nearfield.bodies.shapes import Solid
from nearfield.coefficients.interfaces import Contrast
from nearfield.coefficients.subcells import CutAxis, Painter
from nearfield.grid.yee import YeeGrid
from nearfield.media.materials import CONSTANTS, Medium, along_axes

PERMITTIVITY, PERMEABILITY, CONDUCTIVITY, MAGNETIC_CONDUCTIVITY = range(4)
METAL = -1  # instead of a medium's row


class Columns:
    """Where the table of some media has their constants: in four columns, and two more for each that differs along x, y
    and z, of which its first column is then that along x."""

    def __init__(self, media: Sequence[Medium]) -> None:
        split = [any(isinstance(getattr(medium, name), tuple) for medium in media) for name in CONSTANTS]
        places = ((number, axis) for number, along in enumerate(split) for axis in (1, 2) if along)
        self._along = {place: len(CONSTANTS) + more for more, place in enumerate(places)}
        self.count = len(CONSTANTS) + len(self._along)

    def at(self, component: int, column: int) -> int:
        """The column of a constant, or what else the column is, for a component."""
        return self._along.get((column, component % 3), column)

    def row(self, medium: Medium) -> list[float]:
        """The constants of a medium."""
        along = [along_axes(getattr(medium, name)) for name in CONSTANTS]
        return [constant[0] for constant in along] + [along[number][axis] for number, axis in self._along]


def faces_across(shapes: Sequence[Solid], axis: int, line: np.ndarray) -> list[float]:
    """Where media are cut across an axis: at faces of bodies that end flat along it, and at flat parts of others.

    The latter (sides of polygons, rims of bodies of revolution) are divided like curved surfaces where they are more
    than the cells, as in a layout of many steps.
    """
    flat = {level for shape in shapes for level in shape._levels(axis) if line[0] < level < line[-1]}
    return [*(face for shape in shapes for face in shape._faces(axis)), *(flat if len(flat) < line.size else ())]


class MediaMeans:
    """Bodies painted one over the other; means of their properties: plane_means.py.

    `table`: (media, properties), the background first; `painted`: bodies with the row of their medium, or `METAL`;
    `contrasts`: by component, whose sizes and mixes are columns of the table (`sizes_of`).
    `pierced`: conformal metal takes space; in `weighted` it is the last medium, the last column the share of the rest.
    """

    def __init__(
        self,
        grid: YeeGrid,
        interior,
        painted: Sequence[tuple[Solid, int]],
        table: np.ndarray,
        columns: Columns,
        contrasts: Sequence[Contrast],
        averaging: str,
    ) -> None:
        self.grid, self.columns, self.contrasts, self.averaging = grid, columns, contrasts, averaging
        distinct = list({id(own): own for own in contrasts}.values())
        numbers = [next(n for n, own in enumerate(distinct) if own is each) for each in contrasts]
        self.sizes_of = [table.shape[1] + 2 * number for number in numbers]  # by component
        self.table = table = np.column_stack([table, *(part for own in distinct for part in (own.sizes, own.mixes))])
        self.pierced = len(table) > 1 and any(row == METAL for _, row in painted)
        drawn = [(shape, row % (len(table) + 1)) for shape, row in painted if row != METAL or self.pierced]
        self.weighted = table
        if self.pierced:  # metal has nothing of any property
            self.weighted = np.pad(np.insert(table, table.shape[1], 1.0, axis=1), ((0, 1), (0, 0)))
        shapes = [shape for shape, _ in drawn]
        self.cuts = [CutAxis(grid, a, interior[a], faces_across(shapes, a, grid.lines[a])) for a in range(3)]
        self.painters = [Painter(self.cuts, drawn, len(self.weighted), a) for a in range(3)]
        lossy = [table[:, columns.at(axis, CONDUCTIVITY)] != 0.0 for axis in range(3)]
        keeps_nothing = ~(contrasts[0].remembers | np.logical_or.reduce(lossy))
        self.keeps_nothing = keeps_nothing.astype(float)  # 1.0 of media with neither conductivity nor poles of E

    def signature(self, axis: int, plane: int) -> tuple:
        """Equal for planes across `axis` about which the same media lie."""
        cut, painter = self.cuts[axis], self.painters[axis]
        nodes, cells = (cut.groups(plane, plane + 1, kind) for kind in (True, False))
        pieces = range(int(nodes.start[0]), int(max(nodes.stop[0], cells.stop[0])))
        media = tuple(painter.signature(piece) for piece in pieces)
        slants = any(painter.slants(piece) for piece in pieces)  # there lengths count among equal layers too
        if slants or any(signature != media[0] for signature in media):
            return tuple(zip(media, cut.length[pieces.start : pieces.stop].tolist()))
        return media[:1]

    def forget(self) -> None:
        """Let go of what was drawn of planes, which takes some hundreds of bytes a cell of one."""
        for painter in self.painters:
            painter.forget()

    def mixes(self, component: int) -> bool:
        """Whether media with poles may be mixed by what they lend."""
        return self.averaging != "volume" and self.contrasts[component].mixes.max() > 0.0

    def slanting_nodes(self) -> list[tuple[int, int]]:
        """Ranges of nodes along each axis within which all surfaces lie that do not follow the axes."""
        shapes = (shape for shape, _ in self.painters[0].bodies)
        bounds = [shape.bounds() for shape in shapes if not all(shape._constant_along(a) for a in range(3))]
        if not bounds:
            return [(0, 0)] * 3
        low, high = np.min(bounds, axis=0)[0], np.max(bounds, axis=0)[1]
        ends = [np.searchsorted(line, (low[a], high[a])) for a, line in enumerate(self.grid.lines)]
        return [(max(0, int(first) - 1), int(last) + 1) for first, last in ends]
