"""Samples about the free rims of one plane of flat metal: which are metal or cut, and the factors of the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from nearfield.metal.cell_bound import ELSEWHERE
from nearfield.metal.half_lattice import HalfLattice
from nearfield.metal.outlines import FlatMetal
from nearfield.metal.patches import next_axes
from nearfield.metal.rim_factors import Factors, among, apart_from
from nearfield.metal.rim_field import (
    REACH,
    RimView,
    edge_across,
    edge_energy_across,
    edge_energy_in_plane,
    edge_in_plane,
    face_across,
    face_energy_across,
    face_energy_in_plane,
    face_in_plane,
)
from nearfield.metal.rim_points import rim_points
from nearfield.metal.sample_numbers import SampleNumbers
from nearfield.metal.sheet_vertices import corner_factors
from nearfield.metal.slot_ends import with_ends

CLOSED = 1e-6  # part of an edge; edges that are open by less are metal
# Energy of fields along a narrow gap: next to none, so that they are changed alone where that is enough, and waves
# along a line keep their speed.
WEAK = 1e-12
ALONG = 0.05  # cosine of the angle to a slanting rim's normal below which a sample begins to count as along it


class RimPlane:
    """The samples about rims of the flat bodies of a plane; `parts`: factors of edges and of faces.

    `metal`, `cut`, `open`: numbers of edges in the plane near its rims that lie in metal, that rims divide, that do not
    lie wholly in metal. Rims of one plane do not say what is metal in another.
    """

    def __init__(
        self, flat: FlatMetal, samples: SampleNumbers, lattices: Sequence[HalfLattice], node: int, height: float
    ) -> None:
        self._samples, self._normal, self._across = samples, flat.normal, next_axes(flat.normal)
        self._along = [lattices[a] for a in self._across]
        self._levels(samples.grid, node)
        least = REACH * self._cells
        self.points = with_ends(rim_points(flat, self._along, height, least), flat, self._along)
        self.metal: np.ndarray = np.empty(0, dtype=np.int64)
        self.cut: np.ndarray = np.empty(0, dtype=np.int64)
        self.open: np.ndarray = np.empty(0, dtype=np.int64)
        edges, faces = corner_factors(flat, samples, self._along, node, height)
        none: np.ndarray = np.empty(0, dtype=np.int64)
        beside = np.unique(samples.faces_about(np.concatenate([none, *(part.number for part in edges)])))
        beside = beside[beside >= 0]  # what these pass is bounded cell by cell, as edges about corners are
        self.parts: tuple[list[Factors], list[Factors]] = (
            list(self._edges()),
            [*apart_from(beside, self._faces()), *faces],
        )
        self.by_cell: tuple[list[Factors], list[Factors]] = (
            [*self._edges_by_cell(), *edges],
            [*self._faces_by_cell(), *self._faces_beside(beside)],
        )

    def _levels(self, grid, node: int) -> None:
        """Heights of nodes and of the cell centres below them over the plane, mirrored at the grid's ends."""
        axis, line = self._normal, grid.lines[self._normal]
        if grid.closed(axis):
            period, count = line[-1] - line[0], line.size - 1
            number = np.arange(node - count // 2, node + count // 2 + 1)
            nodes = line[number % count] + number // count * period
        else:
            number, nodes = np.arange(line.size), line
        ends = np.concatenate(([2 * nodes[0] - nodes[1]], nodes, [2 * nodes[-1] - nodes[-2]])) - line[node]
        self._numbers, self._nodes, self._centres = number, ends[1:-1], 0.5 * (ends[1:] + ends[:-1])
        at = int(np.nonzero(number == node)[0][0])
        sides = np.diff(ends)[at : at + 2]
        self._cells = float(sides.max())
        self._beside = float(self._centres[at]), float(self._centres[at + 1])

    def _views(
        self, half: tuple[bool, bool], between: bool, by_cell: bool = False
    ) -> Iterator[tuple[RimView, np.ndarray, int]]:
        """The samples of a component near rims, level by level, by whether they lie midway along u, v and the normal:
        view, which of the points, level."""
        points = self.points
        numbers = np.stack([lattice.number[n] for lattice, n in zip(self._along, points.at)])
        here = (numbers[0] % 2 == half[0]) & (numbers[1] % 2 == half[1]) & (points.by_cell == by_cell)
        heights = self._centres[1:-1] if between else self._nodes
        lengths, pasts = [lattice.length for lattice in self._along], [lattice.past for lattice in self._along]
        for level, height in enumerate(heights):
            which = np.nonzero(here & (abs(height) < points.reach))[0]
            if which.size:
                length, past = (
                    np.stack([values[n[which]] for values, n in zip(of_axes, points.at)])
                    for of_axes in (lengths, pasts)
                )
                yield (
                    RimView(points.s[which], points.normal[:, which], length, past, points.gap[which], self._beside),
                    which,
                    level,
                )

    def _number(self, component: int, which: np.ndarray, level: int) -> np.ndarray:
        """Numbers of the samples of a component at some points."""
        index = np.empty((which.size, 3), dtype=np.int64)
        index[:, self._normal] = self._numbers[level]
        for a, lattice, n in zip(self._across, self._along, self.points.at):
            index[:, a] = lattice.number[n[which]] // 2
        return self._samples.number(component, index)

    def _factors(self, component: int, view: RimView, which: np.ndarray, level: int, height: float, value, share):
        if component > 2:
            share = share * ~self.points.cornered[which]
        return self._made(component, which, level, height, value, share, view.upright * self.points.alone[which])

    def _made(
        self, component: int, which: np.ndarray, level: int, height: float, value: np.ndarray, share, upright=0.0
    ) -> Factors:
        """Factors, 1 where the field turns within a sample, so that it says nothing of it."""
        number, distance = self._number(component, which, level), np.hypot(self.points.s[which], height)
        value = np.where(value > 0.0, value, 1.0)
        return Factors(number, distance, value, *(np.broadcast_to(each, value.shape) for each in (share, upright)))

    def _edges(self) -> Iterator[Factors]:
        for n, component in enumerate(self._across):
            for view, which, level in self._views((n == 0, n == 1), False):
                z, low, high = self._nodes[level], self._centres[level], self._centres[level + 1]
                if z == 0.0:
                    self._divide(component, view, n, which, level)
                value = edge_in_plane(view, n, z, low, high)
                yield self._factors(component, view, which, level, z, value, view.normal[n] ** 2)
        for view, which, level in self._views((False, False), True):
            low, high = self._nodes[level : level + 2]
            yield self._factors(self._normal, view, which, level, 0.5 * (low + high), edge_across(view, low, high), 1.0)

    def _edges_by_cell(self) -> Iterator[Factors]:
        for n, component in enumerate(self._across):
            for view, which, level in self._views((n == 0, n == 1), False, True):
                z, low, high = self._nodes[level], self._centres[level], self._centres[level + 1]
                if z == 0.0:
                    self._divide(component, view, n, which, level)
                value = edge_in_plane(view, n, z, low, high)
                value = 1.0 + _across(view, n) * (value - 1.0)
                energy = edge_energy_in_plane(view, n, z, value) + _elsewhere(view, n)
                yield self._made(component, which, level, z, value, energy)
        for view, which, level in self._views((False, False), True, True):
            low, high = self._nodes[level : level + 2]
            value = edge_across(view, low, high)
            energy = edge_energy_across(view, low, high, value) + ELSEWHERE
            yield self._made(self._normal, which, level, 0.5 * (low + high), value, energy)

    def _faces_in_plane(self, by_cell: bool) -> Iterator[Factors]:
        """With the energy of their field as `share`."""
        for view, which, level in self._views((True, True), False, by_cell):
            z, low, high = self._nodes[level], self._centres[level], self._centres[level + 1]
            value = face_in_plane(view, z, low, high)
            if z == 0.0:
                value = value / self.points.opened[which]
            energy = face_energy_in_plane(view, low, high, value) + ELSEWHERE
            yield self._made(3 + self._normal, which, level, z, value, energy)

    def _faces_by_cell(self) -> Iterator[Factors]:
        yield from self._faces_in_plane(True)
        for n, component in enumerate(self._across):
            for view, which, level in self._views((n == 1, n == 0), True, True):
                low, high = self._nodes[level : level + 2]
                value = face_across(view, n, low, high)
                value = 1.0 + _across(view, n) * (value - 1.0)
                energy = face_energy_across(view, n, low, high, value) + _elsewhere(view, n)
                yield self._made(3 + component, which, level, 0.5 * (low + high), value, energy)

    def _divide(self, component: int, view: RimView, n: int, which: np.ndarray, level: int) -> None:
        """Sort edges in the plane into metal, cut and open ones."""
        number, half = self._number(component, which, level), np.abs(view.spans[n])
        closed = view.s + half <= CLOSED * view.length[n]
        cut = ~closed & (view.s - half < -CLOSED * view.length[n])
        self.metal, self.cut = np.append(self.metal, number[closed]), np.append(self.cut, number[cut])
        self.open = np.append(self.open, number[~closed])

    def _faces(self) -> Iterator[Factors]:
        for view, which, level in self._views((True, True), False):
            z, low, high = self._nodes[level], self._centres[level], self._centres[level + 1]
            yield self._factors(
                3 + self._normal, view, which, level, z, face_in_plane(view, z, low, high), view.upright
            )
        for n, component in enumerate(self._across):
            for view, which, level in self._views((n == 1, n == 0), True):
                low, high = self._nodes[level : level + 2]
                value = face_across(view, n, low, high)
                share = view.normal[n] ** 2 * view.upright
                yield self._factors(3 + component, view, which, level, 0.5 * (low + high), value, share)

    def _faces_beside(self, beside: np.ndarray) -> Iterator[Factors]:
        """Some faces about rims along axes, for a bound cell by cell: those in the plane with the rims' field, others
        with none."""
        own = among(beside, self._faces_in_plane(False))
        rest = np.setdiff1d(beside, np.concatenate([beside[:0], *(part.number for part in own)]))
        yield from own
        yield Factors(rest, *(np.full(rest.size, value) for value in (self._cells, 1.0, ELSEWHERE, 0.0)))


def _across(view: RimView, n: int) -> np.ndarray:
    """1 for samples across a slanting rim, falling to 0 for those along it, where the rim's field says nothing."""
    return np.minimum(np.abs(view.normal[n]) / ALONG, 1.0)


def _elsewhere(view: RimView, n: int) -> np.ndarray:
    """Energy of other fields in samples along u (0) or v (1): little where that is along a rim along an axis."""
    return ELSEWHERE - (ELSEWHERE - WEAK) * (1.0 - view.normal[n] ** 2) * view.upright
