"""Means of the media's properties about Yee samples.

Of an E edge: the arithmetic mean over its dual face and, for eps_r, the series (harmonic) mean along the edge, so that
both a boundary along the edge and one across it keep what is continuous there; of conductivities the arithmetic mean
over all of that space. Of an H face likewise, with the dual edge through it. Media with poles lend all they have by the
weights of that series, and where curved and slanting surfaces cross that space the interface's normal weighs all media
(interfaces.py), unless averaging is "volume". What conformal metal takes of the space does not count.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from nearfield.bodies.shapes import Solid
from nearfield.coefficients.interfaces import (
    VANISHING,
    Contrast,
    Crossed,
    NodeTensors,
    Pieces,
    Weights,
    off_diagonal,
    weigh,
)
from nearfield.coefficients.subcells import CutAxis, Painter, mean
from nearfield.grid.yee import YeeGrid
from nearfield.metal.metal import Window, shape_of

PERMITTIVITY, PERMEABILITY, CONDUCTIVITY, MAGNETIC_CONDUCTIVITY = range(4)  # columns of the table of media
METAL = -1  # instead of a medium's row
ALL = 1.0 - 1e-9  # of a space


class MediaMeans:
    """Means of the properties of bodies painted one over the other.

    `table`: (media, properties), the background first; `painted`: bodies with the row of their medium, or `METAL`;
    `contrasts`: for E edges and for H faces.
    """

    def __init__(
        self,
        grid: YeeGrid,
        interior,
        painted: Sequence[tuple[Solid, int]],
        table: np.ndarray,
        contrasts: tuple[Contrast, Contrast],
        averaging: str,
    ) -> None:
        self.grid, self.contrasts, self.averaging = grid, contrasts, averaging
        self._sizes = table.shape[1]  # the column of E's, then what it mixes; those of H
        self.table = table = np.column_stack([table, *(part for own in contrasts for part in (own.sizes, own.mixes))])
        self._pierced = len(table) > 1 and any(row == METAL for _, row in painted)
        painted = [(shape, row % (len(table) + 1)) for shape, row in painted if row != METAL or self._pierced]
        self._weighted = table
        if self._pierced:  # metal has nothing of any property, and no share in the space that counts: the last column
            self._weighted = np.pad(np.insert(table, table.shape[1], 1.0, axis=1), ((0, 1), (0, 0)))
        faces = [[face for shape, _ in painted for face in shape._faces(a)] for a in range(3)]
        self._cuts = [CutAxis(grid.lines[a], interior[a], faces[a], grid.closed(a)) for a in range(3)]
        self._painters = [Painter(self._cuts, painted, len(self._weighted), a) for a in range(3)]

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
        own, series = self.table[:, column], column in (PERMITTIVITY, PERMEABILITY)
        alike = series and not self._mixes(component)
        if np.ptp(own) == 0.0 and (alike or own[0] == 0.0):
            return float(own[0])
        found = self._straight(component, axis, plane, window, column, memory)
        aslant = self._aslant(component, axis, plane, window, memory)
        if aslant is not None:
            found = np.array(np.broadcast_to(found, shape_of(window)))
            found[aslant.at] = aslant.relative if series else (aslant.media * own).sum(axis=1)
        return found

    def _straight(self, component: int, axis: int, plane: int, window: Window, column: int, memory: dict):
        """The mean where surfaces lie along or across the axes."""
        at = component, axis, plane, window
        across, behind = self._across(*at, column, memory), self._in_series(*at, memory)
        plain = self._plain(*at, column, across, memory)
        if behind is None:
            return plain
        apart, total, shares = behind
        lent = [(length, value * share**2) for (length, value), share in zip(across, shares)]
        return np.where(apart, total * self._along(*at, lent, False), plain)

    def _plain(self, component: int, axis: int, plane: int, window: Window, column: int, across: list, memory: dict):
        """That of media without poles, given the means over slices across the samples' axis."""
        at, series = (component, axis, plane, window), column in (PERMITTIVITY, PERMEABILITY)
        if not self._pierced:
            return self._along(*at, across, series)
        free = self._across(*at, self._weighted.shape[1] - 1, memory)
        total, nothing = self._along(*at, free, False), float(self.table[0, column])
        if not series:
            return _ratio(self._along(*at, across, False), total, nothing)
        answers = [(length, _ratio(part * part, value, 0.0)) for (length, value), (_, part) in zip(across, free)]
        return _ratio(total, self._along(*at, answers, False), nothing)

    def _in_series(self, component: int, axis: int, plane: int, window: Window, memory: dict):
        """Where media with poles lie one behind the other along an edge, (total, shares): there they lend to the first
        order (interfaces.py) total times the mean of what their slices have times the shares; None where nowhere."""
        key = "series", component
        if key in memory:
            return memory[key]
        memory[key] = None
        if self._mixes(component):
            at, first = (component, axis, plane, window), self._sizes + 2 * (component >= 3)
            sizes, mixes = (self._across(*at, column, memory) for column in (first, first + 1))
            free = [(length, 1.0) for length, _ in sizes]
            if self._pierced:
                free = self._across(*at, self._weighted.shape[1] - 1, memory)
            shares = [_ratio(part, size, 0.0) for (_, size), (_, part) in zip(sizes, free)]
            slices = [(length, size * share**2) for (length, size), share in zip(sizes, shares)]
            inverse, whole = (self._along(*at, values, False) for values in (slices, free))
            apart = self._along(*at, sizes, False) * inverse > (1.0 + VANISHING) * whole**2
            apart &= self._along(*at, mixes, False) > 0.0
            if apart.any():
                memory[key] = apart, _ratio(whole, inverse**2, 0.0), shares
        return memory[key]

    def _mixes(self, component: int) -> bool:
        """Whether media with poles may be mixed by what they lend."""
        return self.averaging != "volume" and self.contrasts[component >= 3].mixes.max() > 0.0

    def _across(self, component: int, axis: int, plane: int, window: Window, column: int, memory: dict) -> list:
        """[(length, values)]: means over slices of the samples' space across their own axis, layer by layer if that is
        the plane's; else the only values are those of the pieces along it."""
        own, magnetic, spans = component % 3, component >= 3, self._spans(axis, window)
        if own == axis:
            layers = self._layers(axis, plane, spans, column, magnetic)
            over = [(length, self._over(0, values, not magnetic, window, axis)) for length, values in layers]
            return [(length, self._over(1, values, not magnetic, window, axis)) for length, values in over]
        key = column, magnetic
        if key not in memory:
            memory[key] = _combined(self._layers(axis, plane, spans, column, not magnetic), False)
        other = 2 - (own - axis) % 3
        return [(1.0, self._over(other, memory[key], not magnetic, window, axis))]

    def _along(self, component: int, axis: int, plane: int, window: Window, across: list, series: bool):
        """The mean along the samples' own axis of those over the slices."""
        own = component % 3
        if own == axis:
            return _combined(across, series)
        return self._over((own - axis) % 3 - 1, across[0][1], component >= 3, window, axis, series)

    def _over(self, place: int, values, nodes: bool, window: Window, axis: int, series: bool = False):
        """Means over the pieces about nodes, or in cells, along one of the two axes of a plane."""
        cut = self._cuts[(axis + 1 + place) % 3]
        first = cut.span(*window[place])[0]
        return mean(values, place, cut.groups(*window[place], nodes), cut.length, first, series)

    def _aslant(self, component: int, axis: int, plane: int, window: Window, memory: dict) -> Weights | None:
        """What media make of the samples next to curved and slanting surfaces; None where there are none."""
        key = "aslant", component
        if key not in memory:
            memory[key] = None if self.averaging == "volume" else self._weigh(component, axis, plane, window)
        return memory[key]

    def _weigh(self, component: int, axis: int, plane: int, window: Window) -> Weights | None:
        own, magnetic = component % 3, component >= 3
        contrast = self.contrasts[magnetic]
        crossed = self._crossed([(a == own) == magnetic for a in range(3)], contrast, axis, plane, window)
        if crossed is None:
            return None
        relative = self.table[:, PERMEABILITY if magnetic else PERMITTIVITY]
        thin = np.full(len(crossed.parts), True)
        if self.averaging == "tensor" and not magnetic:
            thin = crossed.parts @ self.keeps_nothing < ALL
        return weigh(*crossed, own, relative, contrast, thin)

    def slanting_nodes(self) -> list[tuple[int, int]]:
        """Ranges of nodes along each axis within which all surfaces lie that do not follow the axes."""
        shapes = (shape for shape, _ in self._painters[0].bodies)
        bounds = [shape.bounds() for shape in shapes if not all(shape._constant_along(a) for a in range(3))]
        if not bounds:
            return [(0, 0)] * 3
        low, high = np.min(bounds, axis=0)[0], np.max(bounds, axis=0)[1]
        ends = [np.searchsorted(line, (low[a], high[a])) for a, line in enumerate(self.grid.lines)]
        return [(max(0, int(first) - 1), int(last) + 1) for first, last in ends]

    def at_nodes(self, axis: int, plane: int, window: Window) -> NodeTensors | None:
        """The off-diagonal part of 1/eps about nodes that a slanting surface of media without loss or poles is next to;
        None where there is none."""
        crossed = self._crossed((True, True, True), self.contrasts[0], axis, plane, window)
        if crossed is None:
            return None
        kept = crossed.parts @ self.keeps_nothing > ALL
        parts, normal, relative = crossed.parts[kept], crossed.normal[kept], self.table[:, PERMITTIVITY]
        return off_diagonal(tuple(n[kept] for n in crossed.at), parts, normal, relative)

    @cached_property
    def keeps_nothing(self) -> np.ndarray:
        """Whether media have neither conductivity nor poles of E: (media,), 1.0 or 0.0."""
        return (~self.contrasts[0].remembers & (self.table[:, CONDUCTIVITY] == 0.0)).astype(float)

    def _crossed(self, nodes: Sequence[bool], contrast: Contrast, axis: int, plane: int, window: Window):
        """What is `Crossed` of a window, about nodes or in cells along each axis; None where nothing is."""
        axes, ranges = tuple((axis + n) % 3 for n in range(3)), ((plane, plane + 1), *window)
        groups = tuple(self._cuts[a].groups(*part, nodes[a]) for a, part in zip(axes, ranges))
        spans = self._spans(axis, window)
        numbers = range(int(groups[0].start[0]), int(groups[0].stop[0]))
        layers = {piece: self._painters[axis].layer(piece, spans) for piece in numbers}
        if np.ptp(contrast.answers) == 0.0 or not any(len(layer.parts) for layer in layers.values()):
            return None
        pieces = Pieces(layers, axes, tuple(self._cuts[a] for a in axes), groups, (spans[0][0], spans[1][0]))
        at = pieces.crossed(len(self._weighted))
        parts, normal, lengths = pieces.gathered(at, np.append(contrast.answers, [0.0] * self._pierced))
        for a, index in zip(axes, (np.full_like(at[0], plane), *(n + start for n, (start, _) in zip(at, window)))):
            if nodes[a] and not self.grid.closed(a):  # a wall mirrors what lies at it
                normal[(index == 0) | (index == self.grid.cells[a]), a] = 0.0
        size = np.linalg.norm(normal, axis=1)
        has = size > VANISHING * np.ptp(contrast.answers) * lengths.prod(axis=1) ** (2 / 3)
        if self._pierced:  # the normal of what metal is next to is not known
            has &= parts[:, -1] == 0.0
            parts = parts[:, :-1]
        return Crossed(tuple(n[has] for n in at), parts[has], normal[has] / size[has, None], lengths[has])

    def _spans(self, axis: int, window: Window) -> Window:
        """Pieces along the two cyclically next axes that the samples of a window need."""
        return tuple(self._cuts[(axis + n) % 3].span(*part) for n, part in enumerate(window, 1))

    def _layers(self, axis: int, plane: int, spans: Window, column: int, nodes: bool) -> list:
        """[(length, values)] of the layers of pieces about a node plane, or in a layer of cells; equal ones as one."""
        cut, painter = self._cuts[axis], self._painters[axis]
        groups, merged = cut.groups(plane, plane + 1, nodes), {}
        for piece in range(int(groups.start[0]), int(groups.stop[0])):
            signature, length = painter.signature(piece), float(cut.length[piece])
            if signature in merged:
                merged[signature][0] += length
            else:
                merged[signature] = [length, painter.layer(piece, spans).values(self._weighted, column)]
        return list(merged.values())


def _ratio(above, below, otherwise: float):
    """above/below, and `otherwise` where nothing is below."""
    above, below = np.broadcast_arrays(np.asarray(above, dtype=float), below)
    return np.divide(above, below, out=np.full(above.shape, otherwise), where=below > 0.0)


def _combined(layers: list, series: bool):
    """Mean of layers weighted by length, or in series."""
    if len(layers) == 1:
        return layers[0][1]
    total = sum(weight for weight, _ in layers)
    if series:
        return total / sum(weight / values for weight, values in layers)
    return sum(weight * values for weight, values in layers) / total
