"""Resistive sheets on the grid: the part of its dual face that a sheet takes about each E edge (docs/method.md).

A sheet takes the edges of the nearest grid plane; an edge gains the conductivity part/(R d), d being the dual length
along the normal (half a cell on a magnetic wall). Those in which it ends count otherwise (resistive_rims.py). Of sheets
in one plane the later one wins; a later body takes what is drawn strictly inside it. In the CPML what reaches its inner
face goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from nearfield.bodies.geometry import FilledShape
from nearfield.bodies.shapes import Extruded, Solid
from nearfield.entry.constants import VACUUM_PERMITTIVITY
from nearfield.entry.triples import Triple, triple
from nearfield.grid.yee import SAMPLE_TOLERANCE, YeeGrid
from nearfield.media.materials import Medium
from nearfield.media.poles import Drude
from nearfield.media.surface_media import ResistiveSheet
from nearfield.metal.patches import DriveFactors, Patch, extent, layer_of, margin_of, next_axes, overlap, spread
from nearfield.metal.resistive_rims import Ends, ends_of_sheet, rim_factors

# By (normal, node), and by kind and height as drawn (m): parts of the quarters of faces.
Painted = dict[tuple[int, int], dict[tuple[int, float], np.ndarray]]
CONTACT = 0.03  # conductance of a cell of a medium, over a sheet's, from which on current goes from one into the other
SAMPLES = 4  # points along each side of a quarter of a face that an outline crosses


@dataclass(frozen=True)
class EdgeSheet:
    """One sheet's edges of one component, parts over d (1/m), from sample `start` on; one sample thick."""

    component: int
    start: Triple
    values: np.ndarray


class SheetSurface:
    """The sheets of one medium, as a term of the coefficients: what it adds to each edge for a part of 1/m."""

    magnetic = False

    def __init__(self, resistance: float, inductance: float, edges: list[EdgeSheet]) -> None:
        self.edges, self.store = edges, 0.0
        self.loss = 0.0 if inductance else 1.0 / resistance
        self.poles: tuple[Drude, ...] = ()
        if inductance:  # 1/(s eps0 (R + s L)), a Drude pole
            square = 1.0 / (VACUUM_PERMITTIVITY * inductance)
            frequency = square**0.5 / (2.0 * np.pi)
            self.poles = (Drude(plasma_frequency=frequency, collision_frequency=resistance / inductance),)

    def signature(self, axis: int, plane: int) -> tuple:
        """Equal for planes across `axis` where the sheets are the same."""
        rows = (layer_of(sheet.values, sheet.start, axis, plane) for sheet in self.edges)
        return tuple((number, row.tobytes()) for number, row in enumerate(rows) if row is not None)

    def part(self, patch: Patch) -> np.ndarray | float:
        """Parts of the edges of a patch over the dual length along the normal (1/m); 0 where there are none."""
        found = np.zeros(patch.shape)
        for sheet in self.edges:
            row = layer_of(sheet.values, sheet.start, patch.axis, patch.plane)
            if sheet.component == patch.component and row is not None:
                both = overlap(patch.window, [sheet.start[a] for a in next_axes(patch.axis)], row.shape)
                if both is not None:
                    found[both[0]] += row[both[1]]
        return found if found.any() else 0.0


def sheet_surfaces(
    grid: YeeGrid, interior, bodies: Sequence[FilledShape], meets: Callable[[np.ndarray], np.ndarray]
) -> tuple[list[SheetSurface], DriveFactors | None]:
    """The sheets among some bodies, in the order in which they are drawn, and factors of Cb at their rims.

    `meets`: whether metal or circuits come to nodes (n, 3).
    """
    sheets = [body.medium for body in bodies if isinstance(body.medium, ResistiveSheet)]
    if not sheets:
        return [], None
    kinds = list(dict.fromkeys((sheet.ohms_per_square, sheet.inductance) for sheet in sheets))
    painted: Painted = {}
    halves = [_Halves(grid, interior, axis) for axis in range(3)]
    for body in bodies:
        if isinstance(body.medium, ResistiveSheet):
            number = kinds.index((body.medium.ohms_per_square, body.medium.inductance))
            _paint(painted, body.shape, number, grid, interior, halves)
        else:
            _erase(painted, body.shape, grid, halves)
    edges: list[list[EdgeSheet]] = [[] for _ in kinds]
    for (normal, node), parts in painted.items():
        for (number, _), covered in parts.items():
            edges[number] += _edges(grid, normal, node, covered, halves)
    joined = _joined(grid, bodies, max(kind[0] for kind in kinds))
    rims = _rims(grid, painted, halves, lambda nodes: meets(nodes) | joined(nodes))
    edges = [[_with_ends(sheet, rims, inductive=kind[1] > 0.0) for sheet in own] for kind, own in zip(kinds, edges)]
    return [SheetSurface(*kind, own) for kind, own in zip(kinds, edges) if own], rim_factors(rims)


def _joined(grid: YeeGrid, bodies: Sequence[FilledShape], resistance: float) -> Callable[[np.ndarray], np.ndarray]:
    """Whether media are at nodes (n, 3), or touch them, into which the current of a sheet goes on."""
    cell, margin = min(float(grid.primary(a).min()) for a in range(3)), margin_of(grid)
    media = [(body.shape, body.medium) for body in bodies if isinstance(body.medium, Medium)]
    shapes = [shape for shape, medium in media if np.max(np.array(medium.conductivity)) * cell * resistance > CONTACT]

    def found(nodes: np.ndarray) -> np.ndarray:
        places = [grid.lines[a][nodes[:, a]] for a in range(3)]
        inside = [shape.contains(*triple(places), tolerance=margin) for shape in shapes]
        return np.logical_or.reduce(inside, axis=0)  # type: ignore[no-any-return]

    return found if shapes else lambda nodes: np.zeros(len(nodes), dtype=bool)


def _rims(grid: YeeGrid, painted: Painted, halves, meets: Callable[[np.ndarray], np.ndarray]) -> list[Ends]:
    """The edges in which sheets end that nothing meets there, sheets of other planes neither."""

    def met(nodes: np.ndarray, normal: int) -> np.ndarray:
        found = meets(nodes)
        for other, at in painted:
            if other != normal:
                found |= nodes[:, other] == at  # wherever in its plane: where sheets cross, both are whole
        return found

    found: list[Ends] = []
    for (normal, node), parts in painted.items():
        for sheet in _edges(grid, normal, node, sum(parts.values(), np.zeros(())), halves):
            covered = sheet.values * grid.dual(normal)[node]
            found += ends_of_sheet(grid, normal, node, sheet.component, sheet.start, covered, met)
    return found


def _with_ends(sheet: EdgeSheet, rims: Sequence[Ends], inductive: bool) -> EdgeSheet:
    """A sheet with the edges about its ends as they conduct."""
    values = sheet.values.copy()
    for each in rims:
        if each.component == sheet.component:
            index = each.samples - np.array(sheet.start)
            inside = ((index >= 0) & (index < values.shape)).all(axis=1)
            values[tuple(index[inside].T)] *= (each.conducts > 0.0 if inductive else each.conducts)[inside]
    return EdgeSheet(sheet.component, sheet.start, values)


class _Halves:
    """The halves of the cells along an axis; in the CPML they stand for those at its inner face."""

    def __init__(self, grid: YeeGrid, interior, axis: int) -> None:
        ends = np.sort(np.concatenate((grid.lines[axis], grid.centres(axis))))
        self.length = np.repeat(0.5 * grid.primary(axis), 2)
        low, high = interior[axis]
        source = np.clip(np.arange(self.length.size), 2 * low, 2 * high - 1)
        self.low, self.high = ends[:-1][source], ends[1:][source]
        self.middle, self.size = 0.5 * (self.low + self.high), self.high - self.low

    def covered(self, low: float, high: float) -> np.ndarray:
        """Part of each that lies between two coordinates."""
        length = np.minimum(self.high, high) - np.maximum(self.low, low)
        return np.clip(length / self.size, 0.0, 1.0)


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
    u, v = next_axes(normal)
    covered = halves[u].covered(lower[u], upper[u])[:, None] * halves[v].covered(lower[v], upper[v])
    if isinstance(shape, Extruded):
        covered = _outlined(shape, halves[u], halves[v], covered)
    parts = painted.setdefault((normal, node), {})
    for before in parts.values():
        before *= 1.0 - covered
    kind = number, lower[normal]
    parts[kind] = parts.get(kind, 0.0) + covered


def _outlined(shape: Extruded, u: _Halves, v: _Halves, near: np.ndarray) -> np.ndarray:
    """Part of each quarter that an outline covers, given those near it."""
    rows, columns = np.nonzero(near)
    distance = shape._flat_distance(u.middle[rows], v.middle[columns])
    found = (distance <= 0.0).astype(float)
    crossed = np.abs(distance) < 0.5 * np.hypot(u.size[rows], v.size[columns])
    steps = (np.arange(SAMPLES) + 0.5) / SAMPLES - 0.5
    p, q = (
        half.middle[at[crossed]][:, None, None] + half.size[at[crossed]][:, None, None] * step
        for half, at, step in ((u, rows, steps[:, None]), (v, columns, steps))
    )
    found[crossed] = (shape._flat_distance(p + 0.0 * q, q + 0.0 * p) <= 0.0).mean(axis=(1, 2))
    covered = np.zeros_like(near)
    covered[rows, columns] = found
    return covered


def _erase(painted: Painted, shape: Solid, grid: YeeGrid, halves) -> None:
    """Take away what is drawn strictly inside a later body."""
    lower, upper = shape.bounds()
    if shape.kind == "wire" or any(low == high for low, high in zip(lower, upper)):
        return
    margin = margin_of(grid)
    for (normal, _), parts in painted.items():
        near = []
        for axis in next_axes(normal):
            middle = halves[axis].middle
            near.append(np.nonzero((lower[axis] < middle) & (middle < upper[axis]))[0])
        for (_, level), before in parts.items():
            if lower[normal] + margin < level < upper[normal] - margin:
                at = [np.full((1, 1), level)] * 3
                for place, axis in enumerate(next_axes(normal)):
                    at[axis] = spread(halves[axis].middle[near[place]], place)
                before[np.ix_(*near)] *= ~shape.contains(*triple(at), tolerance=-margin)


def _edges(grid: YeeGrid, normal: int, node: int, covered: np.ndarray, halves) -> Iterator[EdgeSheet]:
    """Means of the quarters about each edge of both components, cut to where there are any."""
    axes = next_axes(normal)
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
        first, second = extent(values.any(axis=1)), extent(values.any(axis=0))
        if first and second:
            start = {normal: node, axes[0]: first.start, axes[1]: second.start}
            sheet = np.moveaxis(np.ascontiguousarray(values[first, second])[None], (0, 1, 2), (normal, *axes))
            yield EdgeSheet(component, triple(start[a] for a in range(3)), sheet)
