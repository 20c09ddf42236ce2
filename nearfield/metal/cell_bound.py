"""Factors of eps and 1/mu about metal, brought within the time step cell by cell (docs/method.md).

About rims along no axis, about narrow gaps, and about corners of solids off the lines.

The energy of E and H is a sum over cells, of which each has a quarter of its twelve edges and a half of its six faces.
So no eigenvalue of the grid exceeds the largest one of the cells taken alone, which for whole cells in vacuum is
Courant's limit itself. With factors p of eps and q of 1/mu this eigenvalue is the largest singular value, squared, of

    sqrt(q_f) (+-c dt/(n d)) sqrt(1/p_e) / sqrt(2)          faces f, edges e, d: the cell's length across e in f

A vector y on the faces and z on the edges that belong to it say what it hangs on: to raise ln(p_e) by b and to lower
ln(q_f) by a lowers its logarithm by the sum of z_e^2 b + y_f^2 a. Of all such changes the one is taken that adds least
energy, in squares, to the field about the metal.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from nearfield.metal.patches import DriveFactors, next_axes, pair
from nearfield.metal.rim_factors import Factors, MetalSamples, RimFactors, nearest
from nearfield.metal.sample_numbers import UNIT, SampleNumbers
from nearfield.metal.thin_wires import Table

LIMIT = 0.995  # eigenvalue of a cell over that of the time step
CLOSE = 1e-4  # part of the limit by which the search may miss it
ROUNDS = 1000  # each lowers every eigenvalue that is too large
LARGEST = 0.5  # change of the logarithm of a factor in one round
ELSEWHERE = 0.02  # energy in a sample besides that of the field about the metal, over that field's at one cell from it


class CellBound:
    """Edges and faces of the cells about some samples, and what metal leaves of them.

    `light`: c dt/n (m), n the least index of any medium.
    """

    def __init__(self, samples: SampleNumbers, numbers: np.ndarray, metal: MetalSamples, light: float) -> None:
        cells = cells_about(samples, numbers)
        edges, faces, sign, across = _sides(samples, cells)
        live = ~metal.conducts(edges.ravel()).reshape(edges.shape) & (edges >= 0)
        some = live.any(axis=1)
        cells, edges, faces, live = cells[some], edges[some], faces[some], live[some]
        self.edges, self.faces = np.unique(edges[live]), np.unique(faces)
        unused = self.edges[0] if self.edges.size else 0
        self._edge = np.searchsorted(self.edges, np.where(live, edges, unused))
        self._face = np.searchsorted(self.faces, faces)
        length = np.stack([samples.grid.primary(a)[cells[:, a]] for a in range(3)], axis=1)
        self._curl = np.where(live[:, None, :], sign * (0.5**0.5 * light) / length[:, across], 0.0)
        opened = [metal.opened(numbers) for numbers in (self.edges, self.faces)]
        self._curl *= np.sqrt(opened[0][self._edge])[:, None, :] / np.sqrt(opened[1][self._face])[:, :, None]
        self.limit = np.maximum(LIMIT, np.linalg.eigvalsh(self._curl @ self._curl.swapaxes(1, 2))[:, -1])

    def modes(self, which: np.ndarray, strong: np.ndarray, weak: np.ndarray) -> tuple[np.ndarray, ...]:
        """(largest eigenvalue, its squares on edges, on faces) of some cells, given p of edges and q of faces."""
        curl = self._curl[which] * np.sqrt(weak[self._face[which]])[:, :, None]
        curl /= np.sqrt(strong[self._edge[which]])[:, None, :]
        value, vector = np.linalg.eigh(curl @ curl.swapaxes(1, 2))
        value, vector = value[:, -1], vector[:, :, -1]
        on_edges = np.einsum("nfe,nf->ne", curl, vector) ** 2 / np.maximum(value, np.finfo(float).tiny)[:, None]
        return value, on_edges, vector**2

    def within(
        self, strong: np.ndarray, weak: np.ndarray, energy: tuple[np.ndarray, np.ndarray]
    ) -> tuple[np.ndarray, np.ndarray]:
        """p of edges and q of faces, changed where the time step asks for it; `energy` of the fields in both."""
        strong, weak = strong.copy(), weak.copy()
        which = np.arange(self._edge.shape[0])
        for _ in range(ROUNDS):
            value, *squares = self.modes(which, strong, weak)
            over = value > self.limit[which] * (1.0 + CLOSE)
            which = which[over]
            if not which.size:
                break
            places = self._edge[which], self._face[which]
            squares = [square[over] for square in squares]
            eased = [square / part[place] for square, part, place in zip(squares, energy, places)]
            gain = sum((square * ease).sum(axis=1) for square, ease in zip(squares, eased))
            step = np.log(value[over] / self.limit[which]) / gain
            changed = np.zeros(self._edge.shape[0], dtype=bool)
            for factor, way, place, ease, own in zip((strong, weak), (1, -1), places, eased, (self._edge, self._face)):
                change = np.zeros(factor.size)
                np.maximum.at(change, place, np.minimum(step[:, None] * ease, LARGEST))
                factor *= np.exp(way * change)
                changed |= (change[own] > 0.0).any(axis=1)
            which = np.nonzero(changed)[0]
        return strong, weak


def bounded_by_cell(
    upright: RimFactors, edges: Factors, faces: Factors, metal: MetalSamples, light: float
) -> DriveFactors:
    """Factors of Cb and Db about `upright` rims and corners, and of others whose `share` is the energy of their field.

    None of the upright ones may lie on a sample of another; `light`: see `CellBound`.
    """
    samples = upright.samples
    bound = CellBound(samples, np.concatenate((edges.number, faces.number)), metal, light)
    if not bound.edges.size:
        return upright
    straight, parts = Table(*upright.found), ((bound.edges, edges), (bound.faces, faces))
    start, energy = [], []
    for (number, part), power in zip(parts, (-1.0, 1.0)):
        own = Table(part.number, part.value).get(number, np.nan)
        start.append(np.where(np.isnan(own), straight.get(number, 1.0) ** power, own))
        energy.append(Table(part.number, part.share).get(number, 1.0 + ELSEWHERE))
    strong, weak = bound.within(start[0], start[1], (energy[0], energy[1]))
    rest = straight.without(np.concatenate((bound.edges, bound.faces)))
    number = np.concatenate((rest.number, bound.edges, bound.faces))
    factor = np.concatenate((rest.value, 1.0 / strong, weak))
    order = np.argsort(number)
    order = order[factor[order] != 1.0]
    component, index = samples.place(number[order])
    return DriveFactors(component, list(index.T), factor[order])


def apart(one: Sequence[Factors], other: Sequence[Factors]) -> tuple[Factors, Factors]:
    """The nearest samples of each, without those to which the other is nearer."""
    parts = nearest(one), nearest(other)
    lengths = [Table(part.number, part.distance) for part in parts]
    nearer = lengths[1].get(parts[0].number, np.inf) > parts[0].distance
    farther = lengths[0].get(parts[1].number, np.inf) >= parts[1].distance
    return pair(Factors(*(column[own] for column in part)) for part, own in zip(parts, (nearer, farther)))


def cells_about(samples: SampleNumbers, numbers: np.ndarray) -> np.ndarray:
    """(n, 3) indices of the cells that have some samples, each once."""
    component, index = samples.place(numbers)
    grid, found = samples.grid, []
    for kind in range(6):
        own = index[component == kind]
        wide = [a for a in range(3) if (a != kind if kind < 3 else a == kind - 3)]
        for steps in product((0, 1), repeat=len(wide)):
            found.append(own - sum((step * UNIT[a] for a, step in zip(wide, steps)), np.zeros(3, dtype=np.int64)))
    cells, count = np.concatenate(found), np.array(grid.cells)
    for axis in (a for a in range(3) if grid.closed(a)):
        cells[:, axis] %= count[axis]
    return np.unique(cells[((cells >= 0) & (cells < count)).all(axis=1)], axis=0)


def _sides(samples: SampleNumbers, cells: np.ndarray) -> tuple[np.ndarray, ...]:
    """Of cells: numbers of the edges (n, 12) and faces (n, 6); sign of edges about faces (6, 12), and the axis across
    the edge in the face."""
    edges: list[np.ndarray] = []
    faces: list[np.ndarray] = []
    place: dict[tuple[int, int, int], int] = {}
    for axis in range(3):
        p, q = next_axes(axis)
        for a, b in product((0, 1), repeat=2):
            place[axis, a, b] = len(edges)
            edges.append(samples.number(axis, cells + a * UNIT[p] + b * UNIT[q]))
    sign, across = np.zeros((6, 12)), np.zeros((6, 12), dtype=int)
    for axis in range(3):
        p, q = next_axes(axis)
        for side, far in product((0, 1), repeat=2):
            face, way = 2 * axis + side, 2 * far - 1
            for edge, turn, step in ((place[q, side, far], way, p), (place[p, far, side], -way, q)):
                sign[face, edge], across[face, edge] = turn, step
        faces += [samples.number(3 + axis, cells + side * UNIT[axis]) for side in (0, 1)]
    return np.stack(edges, axis=1), np.stack(faces, axis=1), sign, across
