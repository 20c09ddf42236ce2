"""Samples about right-angled corners of solid metal, which lie anywhere in the cells, and their factors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nearfield.grid.boundaries import Boundaries
from nearfield.grid.yee import YeeGrid
from nearfield.metal.cell_bound import ELSEWHERE
from nearfield.metal.corner_field import Lattice, corner_links
from nearfield.metal.corner_lines import CornerLine, corner_lines
from nearfield.metal.corner_loss import pieces_beside
from nearfield.metal.patches import margin_of, next_axes, pair
from nearfield.metal.rim_factors import Factors, MetalSamples, nearest, nearest_rim
from nearfield.metal.sample_numbers import SampleNumbers

if TYPE_CHECKING:
    from nearfield.metal.metal import Body

REACH = 1.1 - 1e-6  # cells from a corner, along both axes, whose links count otherwise (docs/method.md has what more
# changes); less than 1.1, of which rounding would decide
WEAK = 0.002  # energy of E along a corner beside it, over that of the corner's field at one cell from it
BESIDE = 1.6 - 1e-6  # cells from a corner, along both axes, whose edges along it the time step changes first
CLOSED = 1e-6  # part of a link; links that are open by less are metal
PAST = 4  # nodes past the ends of closed axes that are looked at


@dataclass(frozen=True)
class _Nodes:
    """Nodes of an axis but those in the CPML: numbers, places (m), and centres between them, one more at both ends."""

    number: np.ndarray
    place: np.ndarray
    centres: np.ndarray


class SolidCorners:
    """Factors of the `edges` and `faces` about all free corners of metal, over what conformal metal makes of them.

    `by_cell`: those about corners off the grid's lines, which the time step bounds cell by cell, with the energy of
    their field as `share`; `lines`: the corners themselves.
    `bodies`, `drawn`: see `corner_lines`; `metal`: what is known of samples by number.
    """

    def __init__(
        self, grid: YeeGrid, boundaries: Boundaries, bodies: Sequence[Body], drawn: Sequence[bool], metal: MetalSamples
    ) -> None:
        self._samples, self._margin = SampleNumbers(grid), margin_of(grid)
        interior = boundaries.interior(grid)
        self._nodes = [_nodes(grid, interior[axis], axis) for axis in range(3)]
        self.lines = list(corner_lines(grid, boundaries, bodies, drawn))
        found = [self._about(line) for line in self.lines]
        self._lost: list[Factors] = [part for line in self.lines for part in self._pieces(line)]
        self.edges, self.faces = ([_cut(nearest_rim(parts), metal)] for parts in _kinds(found, True))
        self.by_cell = pair([_cut(nearest_rim(parts), metal)] for parts in _kinds(found, False))

    @property
    def lost(self) -> Factors:
        """What samples of H beside corners count with as surfaces of conductors (corner_loss.py)."""
        return nearest(self._lost)

    def _pieces(self, line: CornerLine) -> Iterator[Factors]:
        """The samples of H across a corner on both faces of its metal."""
        across = next_axes(line.axis)
        lattices, numbers = zip(*(self._near(a, q, way) for a, q, way in zip(across, line.place, line.way)))
        for n in range(2):
            at, *columns = pieces_beside(pair(lattices), n, self._margin)
            component = 3 + across[1 - n]
            number, share, far, value = self._listed(
                component, line.axis, numbers, at, line.cells.astype(float), columns
            )
            yield Factors(number, far, value, share, share)

    def _about(self, line: CornerLine) -> tuple[bool, Factors, Factors]:
        """Whether a corner lies on lines of the grid, and the factors of edges and faces across it."""
        grid, across = self._samples.grid, next_axes(line.axis)
        lattices, numbers = zip(*(self._near(a, q, way) for a, q, way in zip(across, line.place, line.way)))
        part = np.concatenate((line.cells[-1:], line.cells, line.cells[:1])).astype(float)
        if not grid.closed(line.axis):
            part[[0, -1]] = part[[1, -2]]
        ends, whole = 0.5 * (part[1:] + part[:-1]), part[1:-1]
        on_lines = all(np.abs(lattice.nodes).min() < self._margin for lattice in lattices)  # else cells are cut there
        found: tuple[list[Factors], list[Factors]] = [], []
        for n, links in enumerate(corner_links(lattices[0], lattices[1], self._margin)):
            distance, near = _distance(lattices, n)
            at = np.nonzero(near & (links.opened > CLOSED))
            columns = distance[at], links.factor[at], links.energy[at]
            for parts, component, along in zip(found, (across[n], 3 + across[1 - n]), (ends, whole)):
                number, share, far, value, energy = self._listed(component, line.axis, numbers, at, along, columns)
                if on_lines:
                    parts.append(Factors(number, far, value, share, np.ones(number.size)))
                else:
                    value, energy = 1.0 + share * (value - 1.0), share * energy + ELSEWHERE
                    parts.append(Factors(number, far, value, energy, np.zeros(number.size)))
        if not on_lines:
            beside = [np.abs(each.nodes) < BESIDE * np.abs(np.diff(each.centres)) for each in lattices]
            at = np.nonzero(np.logical_and.outer(*beside))
            distance = np.hypot(*(each.nodes[m] for each, m in zip(lattices, at)))
            number, share, far = self._listed(line.axis, line.axis, numbers, at, whole, (distance,))
            found[0].append(Factors(number, far, share, WEAK * share, np.zeros(number.size)))
        return on_lines, nearest(found[0]), nearest(found[1])

    def _listed(
        self,
        component: int,
        axis: int,
        numbers: Sequence[np.ndarray],
        at: Sequence[np.ndarray],
        along: np.ndarray,
        columns: Sequence[np.ndarray],
    ) -> list[np.ndarray]:
        """Numbers of the samples at places across an axis and at all levels along it of which a part counts, this part,
        and columns of values at the places."""
        level = np.nonzero(along)[0]
        index = np.empty((at[0].size, level.size, 3), dtype=np.int64)
        index[..., axis] = level
        for a, number, m in zip(next_axes(axis), numbers, at):
            index[..., a] = number[m][:, None]
        share = np.broadcast_to(along[level], index.shape[:2])
        spread = [share, *(np.broadcast_to(values[:, None], index.shape[:2]) for values in columns)]
        return [self._samples.number(component, index).ravel(), *(values.ravel() for values in spread)]

    def _near(self, axis: int, place: float, way: int) -> tuple[Lattice, np.ndarray]:
        """The nodes about a place, and their numbers."""
        nodes = self._nodes[axis]
        at = int(np.searchsorted(nodes.place, place))
        first, last = max(at - PAST, 0), min(at + PAST, nodes.place.size)
        lattice = Lattice((nodes.place[first:last] - place) * way, (nodes.centres[first : last + 1] - place) * way, way)
        return lattice, nodes.number[first:last]


def _kinds(found: Sequence[tuple[bool, Factors, Factors]], on_lines: bool) -> tuple[list[Factors], list[Factors]]:
    """Factors of edges and of faces about the corners that lie on lines, or do not."""
    own = [parts for on, *parts in found if on == on_lines]
    return [edges for edges, _ in own], [faces for _, faces in own]


def _cut(found: Factors, metal: MetalSamples) -> Factors:
    """Factors over those of conformal metal, which are one over the open part."""
    return found._replace(value=found.value * metal.opened(found.number))


def _nodes(grid: YeeGrid, interior: tuple[int, int], axis: int) -> _Nodes:
    line, count = grid.lines[axis], grid.cells[axis]
    if grid.closed(axis):
        number = np.arange(-2 * PAST, count + 2 * PAST + 1)
        place = line[number % count] + number // count * (line[-1] - line[0])
    else:
        number = np.arange(interior[0], interior[1] + 1)
        place = line[number]
    ends = np.concatenate(([2.0 * place[0] - place[1]], place, [2.0 * place[-1] - place[-2]]))
    return _Nodes(number, place, 0.5 * (ends[1:] + ends[:-1]))


def _distance(lattices: Sequence[Lattice], n: int) -> tuple[np.ndarray, np.ndarray]:
    """(distance in m of the middles of links along an axis, whether they lie within the reach)."""
    along, beside = lattices[n], lattices[1 - n]
    middle, length = 0.5 * (along.nodes[1:] + along.nodes[:-1]), np.abs(np.diff(along.nodes))
    dual = np.abs(np.diff(beside.centres))
    near = np.logical_and.outer(np.abs(middle) < REACH * length, np.abs(beside.nodes) < REACH * dual)
    distance = np.hypot(*np.meshgrid(middle, beside.nodes, indexing="ij"))
    return distance.swapaxes(0, n), near.swapaxes(0, n)
