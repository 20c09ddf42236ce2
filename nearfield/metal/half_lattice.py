"""The nodes and cell centres of an axis in turn, on which all samples of the six components lie."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nearfield.grid.yee import YeeGrid

PAST = 8  # half cells past the ends of closed axes that are looked at


@dataclass(frozen=True)
class HalfLattice:
    """Nodes and cell centres of an axis in turn: numbers (even: nodes), places, lengths of cell and dual cell there.

    In the CPML places and lengths are those at its inner face. `end`: places of the inner faces, None if closed.
    `layer`: -1 and 1 in the CPML below and above. `same`: where the lattice has the same samples within the period.
    """

    number: np.ndarray
    place: np.ndarray
    cell: np.ndarray
    length: np.ndarray  # of the cell at centres, of the dual cell at nodes
    past: np.ndarray  # by how much (m) the middle of that dual cell lies past the node, where cells differ
    end: tuple[float, float] | None
    layer: np.ndarray
    same: np.ndarray

    def reached(self, low: float, high: float, margin: float) -> np.ndarray:
        """Which samples metal from `low` to `high` (m) may lie at: those in a CPML only if it goes on into it."""
        inside = self.layer == 0
        if self.end is None:
            return inside
        below, above = low <= self.end[0] + margin, high >= self.end[1] - margin
        return inside | (self.layer < 0) & below | (self.layer > 0) & above


def half_lattice(grid: YeeGrid, interior: tuple[int, int], axis: int) -> HalfLattice:
    """All samples of an axis, some past its ends if it is closed."""
    line, cell, count = grid.lines[axis], grid.primary(axis), grid.cells[axis]
    dual = grid.dual(axis).copy()
    if not grid.closed(axis):
        dual[[0, -1]] *= 2.0  # as in a mirror
    place, length = np.empty(2 * count + 1), np.empty(2 * count + 1)
    place[::2], place[1::2], length[::2], length[1::2] = line, grid.centres(axis), dual, cell
    around = np.maximum(np.append(cell, cell[-1]), np.append(cell[0], cell))
    largest = np.empty(2 * count + 1)
    largest[::2], largest[1::2] = around, cell
    past = np.zeros(2 * count + 1)
    past[2:-2:2] = 0.25 * (cell[1:] - cell[:-1])
    if grid.closed(axis):
        past[[0, -1]] = 0.25 * (cell[0] - cell[-1])
    number = np.arange(2 * count + 1)
    if grid.closed(axis):
        number = np.arange(-PAST, 2 * count + PAST)
        source, turns = number % (2 * count), number // (2 * count)
        place = place[source] + turns * (line[-1] - line[0])
        layer, same = np.zeros_like(number), source + PAST
        return HalfLattice(number, place, largest[source], length[source], past[source], None, layer, same)
    low, high = 2 * interior[0], 2 * interior[1]
    odd = number % 2
    source = np.clip(number, low + odd, high - odd)
    ends, layer = (place[low], place[high]), np.sign(number - np.clip(number, low, high))
    return HalfLattice(number, place[source], largest[source], length[source], past[source], ends, layer, number)
