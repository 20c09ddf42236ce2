"""Means of the media's properties about Yee samples.

Of an E edge: the arithmetic mean over its dual face and, for eps_r, the series (harmonic) mean along the edge, so that
both a boundary along the edge and one across it keep what is continuous there; of conductivities and of poles, the
arithmetic mean over all of that space. Of an H face likewise, with the dual edge through it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nearfield.grid import YeeGrid
from nearfield.metal import Window
from nearfield.shapes import Solid
from nearfield.subcells import CutAxis, Painter, mean

PERMITTIVITY, PERMEABILITY, CONDUCTIVITY, MAGNETIC_CONDUCTIVITY = range(4)  # columns of the table of media


class MediaMeans:
    """Means of the properties of bodies painted one over the other.

    `table`: (media, properties), the background first; `painted`: bodies with the row of their medium.
    """

    def __init__(self, grid: YeeGrid, interior, painted: Sequence[tuple[Solid, int]], table: np.ndarray) -> None:
        self.table = table
        faces = [[face for shape, _ in painted for face in shape.faces(a)] for a in range(3)]
        self._cuts = [CutAxis(grid.lines[a], interior[a], faces[a], grid.closed(a)) for a in range(3)]
        self._painters = [Painter(self._cuts, list(painted), table, a) for a in range(3)]

    def signature(self, axis: int, plane: int) -> tuple:
        """Equal for planes across `axis` about which the same media lie."""
        cut, painter = self._cuts[axis], self._painters[axis]
        nodes, cells = (cut.groups(plane, plane + 1, kind) for kind in (True, False))
        pieces = range(int(nodes.start[0]), int(max(nodes.stop[0], cells.stop[0])))
        media = tuple(painter.signature(piece) for piece in pieces)
        if any(signature != media[0] for signature in media):
            return tuple(zip(media, cut.length[pieces.start : pieces.stop].tolist()))
        return media[:1]

    def mean(self, component: int, axis: int, plane: int, window: Window, column: int, memory: dict):
        """Mean of one property about the samples of a component in a window of a plane across `axis`.

        A scalar where all are equal. `memory` keeps what the components of one plane and window share.
        """
        if np.ptp(self.table[:, column]) == 0.0:
            return float(self.table[0, column])
        own, magnetic = component % 3, component >= 3
        series = column in (PERMITTIVITY, PERMEABILITY)
        across = (axis + 1) % 3, (axis + 2) % 3
        spans = tuple(self._cuts[a].span(start, stop) for a, (start, stop) in zip(across, window))

        def reduced(values, place: int, along: bool):
            a = across[place]
            nodes = magnetic if along else not magnetic
            groups = self._cuts[a].groups(*window[place], nodes)
            return mean(values, place, groups, self._cuts[a].length, spans[place][0], along and series)

        if own == axis:
            layers = self._layers(axis, plane, spans, column, magnetic)
            flat = [(weight, reduced(reduced(values, 0, False), 1, False)) for weight, values in layers]
            return _combined(flat, series)
        key = column, magnetic
        if key not in memory:
            memory[key] = _combined(self._layers(axis, plane, spans, column, not magnetic), False)
        place = across.index(own)
        return reduced(reduced(memory[key], 1 - place, False), place, True)

    def _layers(self, axis: int, plane: int, spans: Window, column: int, nodes: bool) -> list:
        """[(length, values)] of the layers of pieces about a node plane, or in a layer of cells; equal ones as one."""
        cut, painter = self._cuts[axis], self._painters[axis]
        groups, merged = cut.groups(plane, plane + 1, nodes), {}
        for piece in range(int(groups.start[0]), int(groups.stop[0])):
            signature, length = painter.signature(piece), float(cut.length[piece])
            if signature in merged:
                merged[signature][0] += length
            else:
                merged[signature] = [length, painter.layer(piece, spans).values(self.table, column)]
        return list(merged.values())


def _combined(layers: list, series: bool):
    """Mean of layers weighted by length, or in series."""
    if len(layers) == 1:
        return layers[0][1]
    total = sum(weight for weight, _ in layers)
    if series:
        return total / sum(weight / values for weight, values in layers)
    return sum(weight * values for weight, values in layers) / total
