"""The media below the size of a cell: which medium fills each piece of space, and means over the pieces.

Every axis is cut at the grid lines, at the cell centres and at the flat faces of all bodies. Pieces of the product of
these cuts lie wholly inside or outside each flat body, so "the later one wins" is exact at any position. Pieces that a
curved surface crosses are sampled on 4 x 4 lines, cut where surfaces cross them, so that shares go on smoothly when
bodies grow or move. In the CPML the pieces next to its inner face go on.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from nearfield import _core
from nearfield.bodies.shapes import Solid
from nearfield.coefficients.divided_pieces import divided
from nearfield.entry.triples import triple
from nearfield.grid.yee import SAMPLE_TOLERANCE, YeeGrid
from nearfield.metal.patches import Window, next_axes, shape_of, spread

BATCH = 4_000  # crossed pieces divided at a time
CACHED = 8  # layers of pieces in memory ...
CACHED_OF_WINDOW = 4  # ... and of one window: a plane and the next need three or four


class Groups(NamedTuple):
    """Ranges [start, stop) of pieces, one for each sample."""

    start: np.ndarray
    stop: np.ndarray

    @property
    def most(self) -> int:
        """Pieces of the largest range."""
        return int((self.stop - self.start).max())


class CutAxis:
    """The pieces of one axis; `centre` is where a piece asks for its medium, `extent` how wide it looks there.

    Before the first piece of a closed axis stand those of the last half cell once more: they lie about the first node.
    """

    def __init__(self, grid: YeeGrid, axis: int, interior: tuple[int, int], faces: list[float]) -> None:
        line, (low, high) = grid.lines[axis], interior
        middles = 0.5 * (line[1:] + line[:-1])
        base = np.sort(np.concatenate((line, middles)))
        inner = np.unique([face for face in faces if line[low] < face < line[high]])
        if inner.size:
            above = np.clip(np.searchsorted(base, inner), 1, base.size - 1)
            nearest = np.minimum(np.abs(inner - base[above]), np.abs(inner - base[above - 1]))
            inner = inner[nearest > SAMPLE_TOLERANCE * (base[above] - base[above - 1])]
        edges = np.sort(np.concatenate((base, inner)))
        self.cells = line.size - 1
        centre = 0.5 * (edges[1:] + edges[:-1])
        half = np.searchsorted(base, centre) - 1
        cell = half // 2
        whole = np.bincount(half)[half] == 1  # equal in equal cells, which differences of coordinates are not
        self.length = np.where(whole, 0.5 * grid.primary(axis)[cell], np.diff(edges))
        first, last = np.searchsorted(cell, low), np.searchsorted(cell, high) - 1
        source = np.clip(np.arange(centre.size), first, last)
        self.centre, self.extent = centre[source], self.length[source]
        self._cell_start = np.searchsorted(cell, np.arange(self.cells + 1))
        self._node_start = np.searchsorted(half, 2 * np.arange(self.cells + 2) - 1)
        if grid.closed(axis):
            self._repeat_last(int(np.searchsorted(half, 2 * self.cells - 1)))

    def _repeat_last(self, first: int) -> None:
        """Put the pieces from number `first` on before all others too."""
        count = self.length.size - first
        self.length, self.centre, self.extent = (
            np.concatenate((values[first:], values)) for values in (self.length, self.centre, self.extent)
        )
        self._cell_start += count
        self._node_start[1:] += count

    def groups(self, start: int, stop: int, nodes: bool) -> Groups:
        """Pieces about the nodes, or in the cells, start to stop; a cell past the end stands for the last one."""
        index = np.arange(start, stop)
        if not nodes:
            index = np.minimum(index, self.cells - 1)
        bounds = self._node_start if nodes else self._cell_start
        return Groups(bounds[index], bounds[index + 1])

    def span(self, start: int, stop: int) -> tuple[int, int]:
        """Range of pieces that the nodes and cells start to stop need."""
        first, last = self._cell_start[min(start, self.cells - 1)], self._cell_start[min(stop, self.cells)]
        return int(min(self._node_start[start], first)), int(max(self._node_start[stop], last))


def mean(values: Any, place: int, groups: Groups, length: np.ndarray, offset: int, series: bool) -> Any:
    """Mean over the groups of pieces along array axis `place`, weighted by length: sum w v, or 1/sum(w/v) in series."""
    if np.ndim(values) == 0:
        return values
    start, stop = groups.start - offset, groups.stop - offset
    if groups.most == 1:
        return _taken(values, start, place)
    own = length[offset : offset + values.shape[place]]
    return _core.mean_along(values, place, start, stop, own, series)


def weighted_mean(parts: list[tuple[float, Any]], series: bool) -> Any:
    """Mean of (weight, values), added in this order; that of equal values is this value to the last bit."""
    if len(parts) == 1:
        return parts[0][1]
    weights, planes = zip(*parts)
    shape = np.broadcast_shapes((1, 1), *map(np.shape, planes))
    found = _core.mean_of_planes(weights, [np.broadcast_to(plane, shape) for plane in planes], series)
    return found if any(map(np.ndim, planes)) else found.item()


def _taken(values: np.ndarray, index: np.ndarray, place: int) -> np.ndarray:
    """Entries along an axis; a view where the indices are evenly spaced, which is three times faster."""
    step = int(index[1] - index[0]) if index.size > 1 else 1
    if step > 0 and (np.diff(index) == step).all():
        cut = slice(int(index[0]), int(index[-1]) + 1, step)
        return values[:, cut] if place else values[cut]
    return np.take(values, index, axis=place)


@dataclass(frozen=True)
class Layer:
    """One layer of pieces across an axis: medium numbers; those past the last medium are mixtures."""

    numbers: np.ndarray | int
    parts: np.ndarray  # (mixtures, media): shares of the media in a mixture
    ends: np.ndarray  # (mixtures, 3, 2, media): shares in its lower and upper face across x, y, z
    _known: dict = field(default_factory=dict)

    def values(self, table: np.ndarray, column: int) -> np.ndarray | float:
        """One property of every piece; a scalar where all are equal. `table` is (media, properties)."""
        if np.ndim(self.numbers) == 0:
            return float(table[self.numbers, column])
        own = table[:, column]
        if np.ptp(own) == 0.0:
            return float(own[0])
        if column not in self._known:
            self._known[column] = np.concatenate((own, (self.parts * own).sum(axis=1)))[self.numbers]
        return self._known[column]

    def mixed(self, media: int) -> np.ndarray:
        """Whether pieces are mixtures of two or more of the first media."""
        several = (self.parts[:, :media] > 0.0).sum(axis=1) > 1
        return np.asarray(np.append(np.zeros(self.parts.shape[1], dtype=bool), several)[self.numbers])

    def looked_up(self, at: tuple[np.ndarray, ...], contrast: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(..., media): shares of the media in some pieces; (..., 3, 2): `contrast` (media,) on their faces."""
        key = contrast.tobytes()
        if key not in self._known:
            faces = np.broadcast_to(contrast[:, None, None], (contrast.size, 3, 2))
            mixed = (self.ends * contrast).sum(axis=-1)
            self._known[key] = np.concatenate((np.eye(contrast.size), self.parts)), np.concatenate((faces, mixed))
        parts, faces = self._known[key]
        numbers = self.numbers[at] if isinstance(self.numbers, np.ndarray) else np.full(at[0].shape, self.numbers)
        return parts[numbers], faces[numbers]


class _Drawn(threading.local):
    """Layers in memory by signature and window, of each thread by itself."""

    def __init__(self) -> None:
        self.layers: dict[tuple[tuple, Window], Layer] = {}


class Painter:
    """Paints bodies over one another, later ones on top, on layers of pieces across one axis."""

    def __init__(self, cuts: list[CutAxis], bodies: list[tuple[Solid, int]], media: int, axis: int) -> None:
        self.cuts, self.bodies, self.media, self.axis = cuts, bodies, media, axis
        self.across = next_axes(axis)
        bounds = np.array([shape.bounds() for shape, _ in bodies]).reshape(-1, 2, 3)
        self._low, self._high = bounds[:, 0, axis], bounds[:, 1, axis]
        self._curved = np.array([not shape._constant_along(axis) for shape, _ in bodies], dtype=bool)
        self._aslant = [not all(shape._constant_along(a) for a in range(3)) for shape, _ in bodies]
        self._signatures: dict[int, tuple] = {}
        self._drawn = _Drawn()

    def signature(self, piece: int) -> tuple:
        """Equal for layers that hold the same media: the bodies present, and the place if one of them curves."""
        if piece not in self._signatures:
            at, half = self.cuts[self.axis].centre[piece], 0.5 * self.cuts[self.axis].extent[piece]
            reach = half * self._curved
            present = np.nonzero((self._low - reach <= at) & (at <= self._high + reach))[0]
            place = (float(at), float(half)) if self._curved[present].any() else None
            self._signatures[piece] = tuple(present.tolist()), place
        return self._signatures[piece]

    def slants(self, piece: int) -> bool:
        """Whether a layer may hold surfaces that do not follow the axes."""
        return any(self._aslant[number] for number in self.signature(piece)[0])

    def layer(self, piece: int, window: Window) -> Layer:
        """The layer of pieces number `piece` along the axis, within piece ranges along the two other axes."""
        signature = self.signature(piece)
        key, drawn = (signature, window), self._drawn.layers
        if key not in drawn:
            alike = [each for each in drawn if each[1] == window]
            if len(alike) >= CACHED_OF_WINDOW or len(drawn) >= CACHED:
                drawn.pop(alike[0] if len(alike) >= CACHED_OF_WINDOW else next(iter(drawn)))
            drawn[key] = self._paint(signature[0], piece, window)
        return drawn[key]

    def forget(self) -> None:
        """Let go of the layers that this thread has in memory."""
        self._drawn.layers.clear()

    def _paint(self, present: tuple[int, ...], piece: int, window: Window) -> Layer:
        nothing = np.empty((0, self.media)), np.empty((0, 3, 2, self.media))
        if not present:
            return Layer(0, *nothing)
        numbers, crossed = np.zeros(shape_of(window), dtype=np.int32), np.zeros(shape_of(window), dtype=bool)
        for body, medium in (self.bodies[number] for number in present):
            for part in product(*self._runs(body, window)):
                if all(body._constant_along(a) for a in range(3)):
                    numbers[part], crossed[part] = medium, False
                    continue
                distance, reach = self._distance(body, piece, window, part)
                numbers[part][distance <= 0.0] = medium
                crossed[part] = (np.abs(distance) < reach) | (crossed[part] & (distance > 0.0))
        if not crossed.any():
            return Layer(numbers, *nothing)
        parts, ends = self._divided(present, piece, window, np.nonzero(crossed))
        mixed = parts.max(axis=1) < 1.0
        numbers[crossed] = np.where(mixed, self.media + np.cumsum(mixed) - 1, parts.argmax(axis=1))
        return Layer(numbers, parts[mixed], ends[mixed])

    def _runs(self, body: Solid, window) -> list[list[slice]]:
        """Pieces of the window that the body may touch, along both axes; over a seam in two runs."""
        found = []
        for (start, stop), a in zip(window, self.across):
            low, high = body.bounds()[0][a], body.bounds()[1][a]
            centre, half = self.cuts[a].centre[start:stop], 0.5 * self.cuts[a].extent[start:stop]
            if body._constant_along(a):
                half = 0.0
            inside = np.nonzero((low - half <= centre) & (centre <= high + half))[0]  # as in `signature`
            runs = np.split(inside, np.nonzero(np.diff(inside) > 1)[0] + 1) if inside.size else []
            found.append([slice(int(run[0]), int(run[-1]) + 1) for run in runs])
        return found

    def _distance(self, body: Solid, piece: int, window: Window, part) -> tuple[np.ndarray, np.ndarray | float]:
        """Distance of the pieces' centres from the curved surface, and how far their corners reach."""
        q, square = [], np.zeros(())
        for a in range(3):
            place, index = -1, slice(piece, piece + 1)
            if a != self.axis:
                place = self.across.index(a)
                index = slice(window[place][0] + part[place].start, window[place][0] + part[place].stop)
            q.append(spread(self.cuts[a].centre[index], place))
            if not body._constant_along(a):
                square = square + (0.5 * spread(self.cuts[a].extent[index], place)) ** 2
        size = tuple(cut.stop - cut.start for cut in part)
        if body._blocks:
            return np.where(np.broadcast_to(body.contains(*triple(q)), size), -np.inf, np.inf), 0.0
        return np.broadcast_to(body._lateral_distance(*q), size), np.broadcast_to(np.sqrt(square), size)

    def _divided(self, present: tuple[int, ...], piece: int, window, crossed) -> tuple[np.ndarray, np.ndarray]:
        """Shares of the media in pieces that a curved surface crosses, and in their faces, as `Layer` has them."""
        count, bodies = crossed[0].size, [self.bodies[number] for number in present]
        parts, ends = np.empty((count, self.media)), np.empty((count, 3, 2, self.media))
        for begin in range(0, count, BATCH):
            rows = slice(begin, begin + BATCH)
            index = {a: part[rows] + start for a, part, (start, _) in zip(self.across, crossed, window)}
            index[self.axis] = np.full(crossed[0][rows].size, piece)
            at, size = (
                [getattr(cut, name)[index[a]] for a, cut in enumerate(self.cuts)] for name in ("centre", "extent")
            )
            parts[rows], ends[rows] = divided(bodies, self.media, at, size)
        return parts, ends
