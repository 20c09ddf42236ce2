"""The full inverse permittivity at slanting and curved surfaces: what of it is no coefficient, `averaging="tensor"`.

The grid is cut into octants, each at a node, with the halves next to it of three edges that meet there. With v its
volume, V that of an edge (the sum of v over its eight octants) and P what takes the D of an octant's edges,

    xi = 1/V sum over octants P^T v M P,    M_aa = 1/eps of edge a,    M_ab = s n_a n_b (<1/eps> - 1/<eps>)

n and the means being those of the space about the node. This is the averaged form of Bauer, Werner and Cary (2011) but
for s, the largest in [0, 1] with which the eigenvalues of M lie between a part of the least 1/eps of all media and the
largest. So xi is symmetric in the product that the energy is made of, positive, and nowhere above the largest 1/eps:
the limit of the time step stays. That does not change where an edge takes no part, alone with its M_aa.

The media next to these nodes keep nothing, so that E = xi D is E <- E + xi c dt curl H in a step, and what M_ab adds is a
sum over samples of H.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nearfield.media_means import PERMITTIVITY
from nearfield.plan import CouplingTerm, Plan, RecordingTerm, is_magnetic

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nearfield.coefficients import Coefficients
    from nearfield.grid import YeeGrid

LEAST = 0.1  # of the least 1/eps: what eigenvalues of M keep to
REACH = 2  # samples along each axis from one of E to those of H that act on it
TAPS = (3, *[2 * REACH + 1] * 3)
NEGLIGIBLE = 1e-9  # of the largest 1/eps, or of the largest weight


class Pairs(NamedTuple):
    """Edges (component, i, j, k), (4, pairs), that get what others give: E += value c dt curl H there."""

    gets: np.ndarray
    gives: np.ndarray
    value: np.ndarray  # (pairs,)


def coupling_term(plan: Plan, grid: YeeGrid, coefficients: Coefficients) -> CouplingTerm | None:
    """That of a model on its whole grid; None where nothing is coupled. `plan`: the model's, terms included."""
    found = [pairs for nodes in _Nodes.of(grid, coefficients) for pairs in nodes.pairs()]
    if not found:
        return None
    pairs = Pairs(*(np.concatenate(parts, axis=-1) for parts in zip(*found)))
    kept = (pairs.value != 0.0) & _undriven(pairs.gets, plan) & _undriven(pairs.gives, plan)
    return _taps(Pairs(*(part[..., kept] for part in pairs)), plan) if kept.any() else None


@dataclass(frozen=True)
class _Nodes:
    """Nodes (3, nodes) of one plane across x, none on a wall, that slanting surfaces are next to."""

    grid: YeeGrid
    at: np.ndarray
    between: np.ndarray  # (nodes, 3)
    diagonal: dict[tuple[int, int], np.ndarray]  # 1/eps of the edges along an axis that end (0) or begin (1) there
    bounds: tuple[float, float]

    @classmethod
    def of(cls, grid: YeeGrid, coefficients: Coefficients) -> Iterator[_Nodes]:
        """Plane by plane, in one window of edges about all such surfaces; those that symmetry mirrors are left out."""
        means, relative = coefficients.means, coefficients.means.table[:, PERMITTIVITY]
        bounds = LEAST / float(relative.max()), 1.0 / float(relative.min())
        ranges = [(max(1, first, low), min(n, high)) for first, n, (low, high) in
                  zip(grid.stepped_from, grid.cells, means.slanting_nodes())]  # fmt: skip
        window = tuple((low - 1, high) for low, high in ranges[1:])

        @lru_cache(maxsize=2)
        def inverse(plane: int) -> list[np.ndarray]:
            memory: dict = {}
            return [coefficients.inverse_permittivity(c, 0, plane, window, memory) for c in range(3)]

        for plane in range(*ranges[0]) if all(low < high for low, high in ranges) else ():
            found = means.at_nodes(0, plane, window)
            if found is None:
                continue
            (j, k), diagonal = found.at, {}
            inside = (j > 0) & (k > 0)
            j, k = j[inside], k[inside]
            for side in (0, 1):
                back = 1 - side
                diagonal[0, side] = inverse(plane - back)[0][j, k]
                diagonal[1, side], diagonal[2, side] = inverse(plane)[1][j - back, k], inverse(plane)[2][j, k - back]
            at = np.stack((np.full_like(j, plane), j + window[0][0], k + window[1][0]))
            yield cls(grid, at, found.between[inside], diagonal, bounds)

    def pairs(self) -> Iterator[Pairs]:
        """Of the edges that meet at the nodes."""
        edges = {key: self._edges(*key) for key in self.diagonal}
        values: dict = {}
        for octant in (tuple(zip(range(3), sides)) for sides in product((0, 1), repeat=3)):
            added = largest_share(np.stack([self.diagonal[key] for key in octant], axis=1), self.between, *self.bounds)
            half = [0.5 * self.grid.primary(key[0])[edges[key][1 + key[0]]] for key in octant]
            added *= np.prod(half, axis=0)[:, None]
            for one, other in combinations(octant, 2):
                values[one, other] = values.get((one, other), 0.0) + added[:, 3 - one[0] - other[0]]
        for (one, other), value in values.items():
            for gets, gives in ((one, other), (other, one)):
                yield Pairs(edges[gets], edges[gives], value / _volume(edges[gets], self.grid))

    def _edges(self, axis: int, side: int) -> np.ndarray:
        edges = np.insert(self.at, 0, axis, axis=0)
        edges[1 + axis] -= 1 - side
        return edges


def _volume(edges: np.ndarray, grid: YeeGrid) -> np.ndarray:
    """Of edges of one component."""
    own = edges[0, 0]
    return np.prod([(grid.primary if a == own else grid.dual)(a)[edges[1 + a]] for a in range(3)], axis=0)


def largest_share(diagonal: np.ndarray, between: np.ndarray, least: float, most: float) -> np.ndarray:
    """The largest part, up to all, of the entries (y, z), (z, x), (x, y) `between` (matrices, 3) with which symmetric
    matrices of a diagonal (matrices, 3) keep their eigenvalues between two bounds that it keeps to.

    Rows whose diagonal is `most`, or zero, have none.
    """
    open_ = ((diagonal > 0.0) & (most - diagonal > NEGLIGIBLE * most)).astype(float)
    full = np.zeros((len(diagonal), 3, 3))
    for c in range(3):
        a, b = (c + 1) % 3, (c + 2) % 3
        full[:, a, b] = full[:, b, a] = between[:, c] * open_[:, a] * open_[:, b]
    largest = np.ones(len(diagonal))
    for room, sign in ((diagonal - least, -1.0), (most - diagonal, 1.0)):
        root = 1.0 / np.sqrt(np.maximum(room, NEGLIGIBLE * most))
        largest = np.maximum(largest, np.linalg.eigvalsh(sign * full * root[:, :, None] * root[:, None, :])[:, -1])
    return np.stack([full[:, 1, 2], full[:, 2, 0], full[:, 0, 1]], axis=1) / largest[:, None]


def _undriven(edges: np.ndarray, plan: Plan) -> np.ndarray:
    """Whether D of E edges (4, edges) is made by the curl of H alone: no CPML, no source or circuit."""
    free = ~np.isin(np.ravel_multi_index(tuple(edges), _shape(plan)), _driven(plan))
    for axis, profile in enumerate(plan.profiles):
        free &= (edges[0] == axis) | (profile.drive_electric[edges[1 + axis]] == 0.0)
    return free


def _shape(plan: Plan) -> tuple[int, ...]:
    return 3, *(n + 1 for n in plan.active)


def _driven(plan: Plan) -> np.ndarray:
    """The numbers of the edges that something else acts on."""
    found = [np.zeros(0, dtype=np.int64)]
    for term in plan.terms:
        if not isinstance(term, RecordingTerm) and not is_magnetic(term.component):
            index = np.broadcast_arrays(*(np.asarray(n) for n in (term.component, term.i, term.j, term.k)))
            found.append(np.ravel_multi_index(tuple(index), _shape(plan)).ravel())
    return np.concatenate(found)


def _taps(pairs: Pairs, plan: Plan) -> CouplingTerm:
    """The pairs as sums over H, in the order of the samples and, for each, of the H samples."""
    gets, taps, weights = [], [], []
    for own in range(3):  # D <- D + c dt (d H_r/dq - d H_q/dr)
        here = pairs.gives[0] == own
        edges = pairs.gives[:, here]
        for across, sign in (((own + 1) % 3, 1.0), ((own + 2) % 3, -1.0)):
            slope = sign * plan.scale * pairs.value[here] * plan.profiles[across].inverse_dual[edges[1 + across]]
            for side in (0, 1):
                tap = edges.copy()
                tap[0] = 6 - own - across
                tap[1 + across] -= 1 - side
                gets.append(pairs.gets[:, here])
                taps.append(tap)
                weights.append(slope if side else -slope)
    return gathered(*(np.concatenate(parts, axis=-1) for parts in (gets, taps, weights)))


def gathered(gets: np.ndarray, taps: np.ndarray, weights: np.ndarray) -> CouplingTerm:
    """Weights (taps,) of samples of H on samples of E near them, both (component, i, j, k), as a term: equal ones
    added, those that vanish left out."""
    away = taps[1:] - gets[1:] + REACH
    near = np.ravel_multi_index((taps[0] - 3, *away), TAPS)
    sample = np.ravel_multi_index((*gets[1:], gets[0]), (*(gets[1:].max(axis=1) + 1), 3))
    key = sample * math.prod(TAPS) + near
    order = np.argsort(key, kind="stable")
    starts = _starts(key[order])
    weights, order = np.add.reduceat(weights[order], starts), order[starts]
    kept = np.abs(weights) > NEGLIGIBLE * np.abs(weights).max()
    weights, order = weights[kept], order[kept]
    first = _starts(sample[order])
    component, *at = gets[:, order[first]]
    first, tap = np.append(first, order.size), taps[:, order]
    return CouplingTerm(component, np.stack(at, axis=1), first, tap[0], tap[1:].T.copy(), weights)


def _starts(ordered: np.ndarray) -> np.ndarray:
    """Where runs of equal entries begin."""
    return np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
