"""Means of the media's properties about the samples in a window of a plane; what they are: media_means.py."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

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
from nearfield.coefficients.media_means import PERMEABILITY, PERMITTIVITY, MediaMeans
from nearfield.coefficients.subcells import mean, weighted_mean
from nearfield.entry.triples import triple
from nearfield.metal.patches import Window, cyclic_axes, pair, shape_of

ALL = 1.0 - 1e-9  # share of a space from which on it counts as the whole

Values = Any  # an array over a plane's pieces or samples, or one number where all are equal
Slices = list[tuple[float, Values]]  # lengths and values


class PlaneMeans:
    """Means about the samples in a window of the plane number `plane` across an axis; scalars where all are equal."""

    def __init__(self, media: MediaMeans, axis: int, plane: int, window: Window) -> None:
        self._media, self._axis, self._plane, self._window = media, axis, plane, window
        spans = zip(cyclic_axes(axis)[1:], window)
        self._spans = pair(media.cuts[a].span(*part) for a, part in spans)  # pieces that the samples need
        self._memory: dict = {}  # intermediate means that several components or properties share

    def _once(self, key: tuple, draw: Callable[..., Any], *given) -> Any:
        """The result of `draw`, computed once."""
        if key not in self._memory:
            self._memory[key] = draw(*given)
        return self._memory[key]

    def mean(self, component: int, column: int) -> Values:
        """Mean of one property about the samples of a component."""
        series, column = column in (PERMITTIVITY, PERMEABILITY), self._media.columns.at(component, column)
        own = self._media.table[:, column]
        alike = series and not self._media.mixes(component)
        if np.ptp(own) == 0.0 and (alike or own[0] == 0.0):
            return float(own[0])
        found = self._straight(component, column, series)
        aslant = self._once(("aslant", component), self._aslant, component)
        if aslant is not None:
            found = np.array(np.broadcast_to(found, shape_of(self._window)))
            found[aslant.at] = aslant.relative if series else (aslant.media * own).sum(axis=1)
        return found

    def _straight(self, component: int, column: int, series: bool) -> Values:
        """The mean where surfaces lie along or across the axes."""
        across, behind = self._across(component, column), self._once(("series", component), self._in_series, component)
        plain = self._plain(component, column, across, series)
        if behind is None:
            return plain
        apart, total, shares = behind
        lent = [(length, value * (share * share)) for (length, value), share in zip(across, shares)]
        return np.where(apart, total * self._along(component, lent), plain)

    def _plain(self, component: int, column: int, across: Slices, series: bool) -> Values:
        """The mean of media without losses and poles, given the means over slices across the samples' axis."""
        if not self._media.pierced:
            return self._along(component, across, series)
        free = self._across(component, self._media.weighted.shape[1] - 1)
        total, nothing = self._along(component, free), float(self._media.table[0, column])
        if not series:
            return _ratio(self._along(component, across), total, nothing)
        answers = [(length, _ratio(part * part, value, 0.0)) for (length, value), (_, part) in zip(across, free)]
        return _ratio(total, self._along(component, answers), nothing)

    def _in_series(self, component: int) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]] | None:
        """Where media with losses or poles lie one behind the other along an edge, (total, shares): there they lend to
        first order (interfaces.py) total times the mean of what their slices have times the shares; else None."""
        if not self._media.mixes(component):
            return None
        first = self._media.sizes_of[component]
        sizes, mixes = (self._across(component, column) for column in (first, first + 1))
        free: Slices = [(length, 1.0) for length, _ in sizes]
        if self._media.pierced:
            free = self._across(component, self._media.weighted.shape[1] - 1)
        shares = [_ratio(part, size, 0.0) for (_, size), (_, part) in zip(sizes, free)]
        slices = [(length, size * (share * share)) for (length, size), share in zip(sizes, shares)]
        inverse, whole = (self._along(component, values) for values in (slices, free))
        apart = self._along(component, sizes) * inverse > (1.0 + VANISHING) * (whole * whole)
        apart &= self._along(component, mixes) > 0.0
        return (apart, _ratio(whole, inverse * inverse, 0.0), shares) if apart.any() else None

    def _across(self, component: int, column: int) -> Slices:
        """Means over slices of the samples' space across their own axis, layer by layer if that is the plane's; else
        the only values are those of the pieces along it.

        Along the first axis after their own, then along the second, whichever the plane's is: so sums round alike.
        """
        own, electric = component % 3, component < 3
        if own == self._axis:
            layers = self._layers(column, not electric)
            return [(length, self._over(1, self._over(0, values, electric), electric)) for length, values in layers]
        if (own + 1) % 3 == self._axis:
            layer = self._once((column, electric), lambda: weighted_mean(self._layers(column, electric), False))
            return [(1.0, self._over(0, layer, electric))]
        layers = [(length, self._over(1, values, electric)) for length, values in self._layers(column, electric)]
        return [(1.0, weighted_mean(layers, False))]

    def _along(self, component: int, across: Slices, series: bool = False) -> Values:
        """The mean along the samples' own axis of those over the slices."""
        own = component % 3
        if own == self._axis:
            return weighted_mean(across, series)
        return self._over((own - self._axis) % 3 - 1, across[0][1], component >= 3, series)

    def _over(self, place: int, values: Values, nodes: bool, series: bool = False) -> Values:
        """Means over the pieces about nodes, or in cells, along one of the two axes of a plane."""
        cut = self._media.cuts[(self._axis + 1 + place) % 3]
        groups = cut.groups(*self._window[place], nodes)
        return mean(values, place, groups, cut.length, self._spans[place][0], series)

    def _layers(self, column: int, nodes: bool) -> Slices:
        """The layers of pieces about the plane of nodes, or in its layer of cells; one where all are equal."""
        cut, painter = self._media.cuts[self._axis], self._media.painters[self._axis]
        groups = cut.groups(self._plane, self._plane + 1, nodes)
        pieces = range(int(groups.start[0]), int(groups.stop[0]))
        if len({painter.signature(piece) for piece in pieces}) == 1:
            pieces = pieces[:1]
        layers = ((piece, painter.layer(piece, self._spans)) for piece in pieces)
        return [(float(cut.length[piece]), layer.values(self._media.weighted, column)) for piece, layer in layers]

    def _aslant(self, component: int) -> Weights | None:
        """Weights of media at the samples next to curved and slanting surfaces; None where there are none."""
        own, magnetic, averaging = component % 3, component >= 3, self._media.averaging
        contrast = self._media.contrasts[component]
        if averaging == "volume":
            return None
        crossed = self._crossed([(a == own) == magnetic for a in range(3)], contrast)
        if crossed is None:
            return None
        thin = np.full(len(crossed.parts), True)
        if averaging == "tensor" and not magnetic:
            thin = crossed.parts @ self._media.keeps_nothing < ALL
        column = self._media.columns.at(component, PERMEABILITY if magnetic else PERMITTIVITY)
        return weigh(crossed, own, self._media.table[:, column], contrast, thin)

    def crossed_nodes(self) -> Crossed | None:
        """The nodes whose space a curved or slanting surface crosses; None where none is."""
        return self._crossed((True, True, True), self._media.contrasts[0])

    def at_nodes(self) -> NodeTensors | None:
        """The off-diagonal part of 1/eps about nodes that a slanting surface of media without loss or poles is next to;
        None where there is none."""
        crossed = self.crossed_nodes()
        if crossed is None:
            return None
        kept = crossed.parts @ self._media.keeps_nothing > ALL
        return off_diagonal(crossed.chosen(kept), self._media.table[:, PERMITTIVITY])

    def _crossed(self, nodes: Sequence[bool], contrast: Contrast) -> Crossed | None:
        """The samples, about nodes or in cells along each axis, that are `Crossed`; None where none is."""
        axes, ranges = cyclic_axes(self._axis), ((self._plane, self._plane + 1), *self._window)
        cuts, pierced = triple(self._media.cuts[a] for a in axes), self._media.pierced
        groups = triple(cut.groups(*part, nodes[a]) for a, cut, part in zip(axes, cuts, ranges))
        numbers = range(int(groups[0].start[0]), int(groups[0].stop[0]))
        layers = {piece: self._media.painters[self._axis].layer(piece, self._spans) for piece in numbers}
        if np.ptp(contrast.answers) == 0.0 or not any(len(layer.parts) for layer in layers.values()):
            return None
        pieces = Pieces(layers, axes, cuts, groups, pair(start for start, _ in self._spans))
        media = contrast.answers.size  # without metal
        at = pieces.crossed(media)
        own, free = (np.append(values, [0.0] * pierced) for values in (contrast.answers, np.ones(media)))
        parts, normal, lengths = pieces.gathered(at, own, free)
        parts = parts[:, :media]
        places = np.full_like(at[0], self._plane), *(n + start for n, (start, _) in zip(at, self._window))
        for a, index in zip(axes, places):
            if nodes[a] and not self._media.grid.closed(a):  # a wall mirrors what lies at it
                normal[(index == 0) | (index == self._media.grid.cells[a]), a] = 0.0
        size = np.linalg.norm(normal, axis=1)
        has = size > VANISHING * np.ptp(contrast.answers) * lengths.prod(axis=1) ** (2 / 3)
        if pierced:
            has &= parts.any(axis=1)
            parts = parts / np.maximum(parts.sum(axis=1, keepdims=True), VANISHING)
        return Crossed(pair(n[has] for n in at), parts[has], normal[has] / size[has, None], lengths[has])


def _ratio(above: Values, below: Values, otherwise: float) -> np.ndarray:
    """above/below, and `otherwise` where nothing is below."""
    above, below = np.broadcast_arrays(np.asarray(above, dtype=float), below)
    return np.divide(above, below, out=np.full(above.shape, otherwise), where=below > 0.0)
