"""Resistive sheets on the grid: what part of its dual face a sheet has along each E edge.

A sheet takes the edges of the nearest grid plane. An edge gains the conductivity part/(R d): d is the dual length along
the normal (half a cell on a magnetic wall), part what the sheet covers of the rectangle about the edge in the plane,
its own length times the dual length across, so that edges abreast conduct as the sheet does. Of sheets in one plane the
later one wins; a later body takes what lies strictly inside it. In the CPML what reaches its inner face goes on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from nearfield.bodies.shapes import Extruded, Solid
from nearfield.entry.constants import VACUUM_PERMITTIVITY
from nearfield.grid.yee import SAMPLE_TOLERANCE, YeeGrid
from nearfield.media.poles import Drude
from nearfield.media.surface_media import ResistiveSheet
from nearfield.metal.metal import Window, shape_of

Painted = dict[tuple[int, int], dict[int, np.ndarray]]  # by (normal, node) and kind: parts of the quarters of faces
SAMPLES = 4  # points along each side of a quarter of a face that an outline crosses


@dataclass(frozen=True)
class EdgeSheet:
    """One sheet's edges of one component in the plane `node` across `normal`, parts over d (1/m).

    `start` and the shape of `values` are indices along the two axes cyclically after the normal.
    """

    component: int
    normal: int
    node: int
    start: tuple[int, int]
    values: np.ndarray

    def row(self, axis: int, plane: int) -> np.ndarray | None:
        """Its values in a plane across another axis, None where it does not reach that."""
        place = (axis - self.normal) % 3 - 1
        index = plane - self.start[place]
        return self.values.take(index, axis=place) if 0 <= index < self.values.shape[place] else None


class SheetSurface:
    """The sheets of one medium, as a term of the coefficients: what it adds to each edge for a part of 1/m."""

    magnetic = False

    def __init__(self, resistance: float, inductance: float, edges: list[EdgeSheet]) -> None:
        self.edges, self.store = edges, 0.0
        self.loss, self.poles = 0.0, ()
        if inductance:  # 1/(s eps0 (R + s L)), a Drude pole
            square = 1.0 / (VACUUM_PERMITTIVITY * inductance)
            self.poles = (Drude(square**0.5 / (2.0 * np.pi), resistance / inductance),)
        else:
            self.loss = 1.0 / resistance

    def signature(self, axis: int, plane: int) -> tuple:
        """Equal for planes across `axis` where the sheets are the same."""
        found = []
        for number, edges in enumerate(self.edges):
            if edges.normal == axis:
                found += [(number, plane)] if edges.node == plane else []
            elif (row := edges.row(axis, plane)) is not None:
                found.append((number, row.tobytes()))
        return tuple(found)

    def part(self, component: int, axis: int, plane: int, window: Window) -> np.ndarray | float:
        """Parts of the edges of a window over the dual length along the normal (1/m); 0 where there are none."""
        found = np.zeros(shape_of(window))
        across = (axis + 1) % 3, (axis + 2) % 3
        for edges in self.edges:
            if edges.component != component:
                continue
            if edges.normal == axis:
                values, start = edges.values if edges.node == plane else None, edges.start
            else:
                row, along = edges.row(axis, plane), 3 - axis - edges.normal
                values = None if row is None else np.expand_dims(row, across.index(edges.normal))
                first = {edges.normal: edges.node, along: edges.start[(along - edges.normal) % 3 - 1]}
                start = tuple(first[a] for a in across)
            if values is not None:
                _add(found, values, start, window)
        return found if found.any() else 0.0


def _add(found: np.ndarray, values: np.ndarray, first: tuple[int, ...], window: Window) -> None:
    """Add values whose first sample is `first` to those of a window."""
    cut = [(max(a, low), min(a + n, high)) for a, n, (low, high) in zip(first, values.shape, window)]
    if all(low < high for low, high in cut):
        there = tuple(slice(low - start, high - start) for (low, high), (start, _) in zip(cut, window))
        found[there] += values[tuple(slice(low - a, high - a) for (low, high), a in zip(cut, first))]


def sheet_surfaces(grid: YeeGrid, interior, structures: Sequence[tuple[Solid, object]]) -> list[SheetSurface]:
    """The sheets among some shapes with their media, in the order in which they are drawn."""
    sheets = [medium for _, medium in structures if isinstance(medium, ResistiveSheet)]
    if not sheets:
        return []
    kinds = list(dict.fromkeys((sheet.ohms_per_square, sheet.inductance) for sheet in sheets))
    painted: Painted = {}
    halves = [_Halves(grid, interior, axis) for axis in range(3)]
    for shape, medium in structures:
        if isinstance(medium, ResistiveSheet):
            number = kinds.index((medium.ohms_per_square, medium.inductance))
            _paint(painted, shape, number, grid, interior, halves)
        else:
            _erase(painted, shape, grid, halves)
    edges: list[list[EdgeSheet]] = [[] for _ in kinds]
    for (normal, node), parts in painted.items():
        for number, covered in parts.items():
            edges[number] += _edges(grid, normal, node, covered, halves)
    return [SheetSurface(*kind, own) for kind, own in zip(kinds, edges) if own]


class _Halves:
    """The halves of the cells along an axis; in the CPML they look at those of its inner face."""

    def __init__(self, grid: YeeGrid, interior, axis: int) -> None:
        ends = np.sort(np.concatenate((grid.lines[axis], grid.centres(axis))))
        self.length = np.repeat(0.5 * grid.primary(axis), 2)
        low, high = interior[axis]
        source = np.clip(np.arange(self.length.size), 2 * low, 2 * high - 1)
        self.low, self.high = ends[:-1][source], ends[1:][source]

    def covered(self, low: float, high: float) -> np.ndarray:
        """What part of each lies between two coordinates."""
        overlap = np.minimum(self.high, high) - np.maximum(self.low, low)
        return np.clip(overlap / (self.high - self.low), 0.0, 1.0)


def _paint(painted: Painted, shape: Solid, number: int, grid: YeeGrid, interior, halves) -> None:
    """Cover quarters of faces of the shape's plane."""
    lower, upper = shape.bounds()
    normal = next(axis for axis in range(3) if lower[axis] == upper[axis])
    node, line = grid.nearest_node(normal, lower[normal]), grid.lines[normal]
    spare = SAMPLE_TOLERANCE * float(grid.primary(normal).min())
    low, high = interior[normal]
    if not (line[0] - spare <= lower[normal] <= line[-1] + spare and low <= node <= high):
        return
    node = node % grid.cells[normal] if grid.closed(normal) else node
    u, v = ((normal + shift) % 3 for shift in (1, 2))
    covered = halves[u].covered(lower[u], upper[u])[:, None] * halves[v].covered(lower[v], upper[v])
    if isinstance(shape, Extruded):
        covered = _outlined(shape, halves[u], halves[v], covered)
    parts = painted.setdefault((normal, node), {})
    for before in parts.values():
        before *= 1.0 - covered
    parts[number] = parts.get(number, 0.0) + covered


def _outlined(shape: Extruded, u: _Halves, v: _Halves, near: np.ndarray) -> np.ndarray:
    """What an outline covers of the quarters, given those near it."""
    rows, columns = np.nonzero(near)
    middle = [0.5 * (half.low + half.high) for half in (u, v)]
    size = [half.high - half.low for half in (u, v)]
    at = middle[0][rows], middle[1][columns]
    distance = shape._flat_distance(*at)
    found = (distance <= 0.0).astype(float)
    crossed = np.abs(distance) < 0.5 * np.hypot(size[0][rows], size[1][columns])
    steps = (np.arange(SAMPLES) + 0.5) / SAMPLES - 0.5
    p = at[0][crossed][:, None, None] + size[0][rows[crossed]][:, None, None] * steps[:, None]
    q = at[1][crossed][:, None, None] + size[1][columns[crossed]][:, None, None] * steps
    found[crossed] = (shape._flat_distance(p + 0.0 * q, q + 0.0 * p) <= 0.0).mean(axis=(1, 2))
    covered = np.zeros_like(near)
    covered[rows, columns] = found
    return covered


def _erase(painted: Painted, shape: Solid, grid: YeeGrid, halves) -> None:
    """Take away what lies strictly inside a later body."""
    lower, upper = shape.bounds()
    if shape.kind == "wire" or any(low == high for low, high in zip(lower, upper)):
        return
    margin = SAMPLE_TOLERANCE * min(float(grid.primary(axis).min()) for axis in range(3))
    for (normal, node), parts in painted.items():
        place = grid.lines[normal][node]
        if not lower[normal] < place < upper[normal]:
            continue
        q, near = [np.full((1, 1), place)] * 3, []
        for axis, form in (((normal + 1) % 3, (-1, 1)), ((normal + 2) % 3, (1, -1))):
            middle = 0.5 * (halves[axis].low + halves[axis].high)
            near.append(np.nonzero((lower[axis] < middle) & (middle < upper[axis]))[0])
            q[axis] = middle[near[-1]].reshape(form)
        outside = ~shape.contains(*q, -margin)
        for before in parts.values():
            before[np.ix_(*near)] *= outside


def _edges(grid: YeeGrid, normal: int, node: int, covered: np.ndarray, halves) -> Iterator[EdgeSheet]:
    """Means of the quarters about each edge of both components, cut to where there are any."""
    axes = (normal + 1) % 3, (normal + 2) % 3
    area = covered * halves[axes[0]].length[:, None] * halves[axes[1]].length
    for place, component in enumerate(axes):
        across = axes[1 - place]
        summed = area.swapaxes(0, place)  # along the edges, across them
        summed = summed[0::2] + summed[1::2]
        seam = summed[:, -1:] if grid.closed(across) else np.zeros_like(summed[:, :1])
        summed = np.concatenate((seam, summed, np.zeros_like(seam)), axis=1)
        summed = summed[:, 0::2] + summed[:, 1::2]
        if grid.closed(across):
            summed = summed[:, :-1]
        space = grid.primary(component)[:, None] * grid.dual(across)[: summed.shape[1]] * grid.dual(normal)[node]
        values = (summed / space).swapaxes(0, place)
        held = [np.nonzero(values.any(axis=1 - n))[0] for n in range(2)]
        if held[0].size:
            start = int(held[0][0]), int(held[1][0])
            cut = tuple(slice(int(index[0]), int(index[-1]) + 1) for index in held)
            yield EdgeSheet(component, normal, node, start, np.ascontiguousarray(values[cut]))
