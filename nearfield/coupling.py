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

from itertools import combinations, product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nearfield.media_means import PERMITTIVITY
from nearfield.plan import CouplingTerm, Plan, RecordingTerm, is_magnetic

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nearfield.coefficients import Coefficients
    from nearfield.grid import YeeGrid
    from nearfield.media_means import MediaMeans

LEAST = 0.1  # of the least 1/eps: what eigenvalues of M keep to
NEGLIGIBLE = 1e-9  # of the largest 1/eps, or of the largest weight


class Pairs(NamedTuple):
    """Edges (component, i, j, k), (4, pairs), that get what others give: E += value c dt curl H there."""

    gets: np.ndarray
    gives: np.ndarray
    value: np.ndarray  # (pairs,)


def coupling_term(plan: Plan, grid: YeeGrid, coefficients: Coefficients) -> CouplingTerm | None:
    """That of a model on its whole grid; None where nothing is coupled. `plan`: the model's, terms included."""
    found = list(_pairs(grid, coefficients.means))
    if not found:
        return None
    pairs = Pairs(*(np.concatenate(parts, axis=-1) for parts in zip(*found)))
    kept = np.logical_and(*(_takes_part(edges, plan, coefficients) for edges in pairs[:2]))
    return _taps(Pairs(*(part[..., kept] for part in pairs)), plan) if kept.any() else None


def _pairs(grid: YeeGrid, means: MediaMeans) -> Iterator[Pairs]:
    """Those about the nodes of one plane across x after the other; nodes on walls have none."""
    lower = [max(1, start) for start in grid.stepped_from]
    window = tuple((lower[a], max(lower[a], grid.cells[a])) for a in (1, 2))
    for plane in range(lower[0], grid.cells[0]):
        found = means.at_nodes(0, plane, window)
        if found is not None:
            rows, columns = found.at
            nodes = np.stack((np.full_like(rows, plane), rows + window[0][0], columns + window[1][0]))
            yield from _about(nodes, found.between, grid, means)


def _about(nodes: np.ndarray, between: np.ndarray, grid: YeeGrid, means: MediaMeans) -> Iterator[Pairs]:
    """The pairs of edges that meet at nodes (3, nodes) of one plane across x."""
    edges = {(a, side): _edges(nodes, a, side) for a in range(3) for side in (0, 1)}
    diagonal = _inverse_permittivity(edges, means)
    half = {(a, side): 0.5 * grid.primary(a)[at[1 + a]] for (a, side), at in edges.items()}
    values: dict = {}
    for octant in (tuple(zip(range(3), sides)) for sides in product((0, 1), repeat=3)):
        added = largest_share(np.stack([diagonal[edge] for edge in octant], axis=1), between, *_bounds(means))
        added *= np.prod([half[edge] for edge in octant], axis=0)[:, None]
        for one, other in combinations(octant, 2):
            values[one, other] = values.get((one, other), 0.0) + added[:, 3 - one[0] - other[0]]
    for (one, other), value in values.items():
        for gets, gives in ((one, other), (other, one)):
            yield Pairs(edges[gets], edges[gives], value / _volume(edges[gets], grid))


def _edges(nodes: np.ndarray, axis: int, side: int) -> np.ndarray:
    """(component, i, j, k) of the edges along an axis that begin (side 1) or end (side 0) at nodes."""
    edges = np.insert(nodes, 0, axis, axis=0)
    edges[1 + axis] -= 1 - side
    return edges


def _inverse_permittivity(edges: dict, means: MediaMeans) -> dict:
    """1/eps of the edges at nodes, by (axis, side)."""
    found = {}
    for key, (components, planes, rows, columns) in edges.items():
        window = tuple((int(index.min()), int(index.max()) + 1) for index in (rows, columns))
        shape = tuple(stop - start for start, stop in window)
        relative = means.mean(int(components[0]), 0, int(planes[0]), window, PERMITTIVITY, {})
        found[key] = 1.0 / np.broadcast_to(relative, shape)[rows - window[0][0], columns - window[1][0]]
    return found


def _volume(edges: np.ndarray, grid: YeeGrid) -> np.ndarray:
    """Of edges of one component."""
    own = edges[0, 0]
    return np.prod([(grid.primary if a == own else grid.dual)(a)[edges[1 + a]] for a in range(3)], axis=0)


def _bounds(means: MediaMeans) -> tuple[float, float]:
    relative = means.table[:, PERMITTIVITY]
    return LEAST / float(relative.max()), 1.0 / float(relative.min())


def largest_share(diagonal: np.ndarray, between: np.ndarray, least: float, most: float) -> np.ndarray:
    """The largest part, up to all, of the entries (y, z), (z, x), (x, y) `between` (matrices, 3) with which symmetric
    matrices of a diagonal (matrices, 3) keep their eigenvalues between two bounds that it keeps to."""
    open_ = (most - diagonal > NEGLIGIBLE * most).astype(float)
    full = np.zeros((len(diagonal), 3, 3))
    for c in range(3):
        a, b = (c + 1) % 3, (c + 2) % 3
        full[:, a, b] = full[:, b, a] = between[:, c] * open_[:, a] * open_[:, b]
    largest = np.ones(len(diagonal))
    for room, sign in ((diagonal - least, -1.0), (most - diagonal, 1.0)):
        root = 1.0 / np.sqrt(np.maximum(room, NEGLIGIBLE * most))
        largest = np.maximum(largest, np.linalg.eigvalsh(sign * full * root[:, :, None] * root[:, None, :])[:, -1])
    return np.stack([full[:, 1, 2], full[:, 2, 0], full[:, 0, 1]], axis=1) / largest[:, None]


def _takes_part(edges: np.ndarray, plan: Plan, coefficients: Coefficients) -> np.ndarray:
    """Whether E edges (4, edges) obey E = D/eps of their media alone, and D the curl of H alone: no metal, loss or
    poles, no CPML, no source or circuit."""
    number = np.ravel_multi_index(tuple(edges), (3, *(n + 1 for n in plan.active)))
    unique, back = np.unique(number, return_inverse=True)
    component, *at = np.unravel_index(unique, (3, *(n + 1 for n in plan.active)))
    free = ~np.isin(unique, _driven(plan))
    for own in range(3):
        here = component == own
        index = [part[here] for part in at]
        free[here] &= coefficients.media_alone(own, *index)
        for a in (axis for axis in range(3) if axis != own):
            free[here] &= (plan.profiles[a].drive_electric == 0.0)[index[a]]
    return free[back.ravel()]


def _driven(plan: Plan) -> np.ndarray:
    """The numbers of the edges that something else acts on."""
    found = [np.zeros(0, dtype=np.int64)]
    for term in plan.terms:
        if not isinstance(term, RecordingTerm) and not is_magnetic(term.component):
            index = np.broadcast_arrays(*(np.asarray(n) for n in (term.component, term.i, term.j, term.k)))
            found.append(np.ravel_multi_index(tuple(index), (3, *(n + 1 for n in plan.active))).ravel())
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
    """Weights (taps,) of samples of H on samples of E, both (component, i, j, k), as a term: equal ones added, those
    that vanish left out."""
    order = np.lexsort((*taps[[3, 2, 1, 0]], *gets[[0, 3, 2, 1]]))
    both = np.concatenate((gets, taps))[:, order]
    new = np.ones(order.size, dtype=bool)
    new[1:] = (both[:, 1:] != both[:, :-1]).any(axis=0)
    starts = np.flatnonzero(new)
    weights, both = np.add.reduceat(weights[order], starts), both[:, starts]
    kept = np.abs(weights) > NEGLIGIBLE * np.abs(weights).max()
    weights, both = weights[kept], both[:, kept]
    new = np.ones(weights.size, dtype=bool)
    new[1:] = (both[:4, 1:] != both[:4, :-1]).any(axis=0)
    first = np.append(np.flatnonzero(new), weights.size)
    component, *at = both[:4, first[:-1]]
    return CouplingTerm(component, np.stack(at, axis=1), first, both[4], both[5:].T.copy(), weights)
