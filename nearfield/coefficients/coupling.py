"""The full inverse permittivity at slanting and curved surfaces: what of it is no coefficient, `averaging="tensor"`.

D is taken to the nodes, as means along each axis of both edges that meet there, times

    n_a n_b (<1/eps> - 1/<eps>) s,    a != b,    n and the means being those of the space about the node,

and back to the edges. s is the largest number in [0, 1] with which the energy is positive at each node, and no larger
than the limit of the time step allows: docs/method.md has the proof. A node takes part where E = xi D and c dt curl H
is all that D gains in a step at its six edges, so that E gains a sum of samples of H.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from nearfield.coefficients.media_means import PERMITTIVITY
from nearfield.coefficients.plane_means import PlaneMeans
from nearfield.machine.schedule import in_order, kept_by_thread
from nearfield.metal.patches import pair
from nearfield.plan.coupling_term import CouplingTerm
from nearfield.plan.plan import Plan
from nearfield.plan.term import is_magnetic

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nearfield.coefficients.coefficients import Coefficients
    from nearfield.grid.yee import YeeGrid

LEAST = 0.1  # lower bound of xi over the least 1/eps of all media
CLEAR = 2  # samples between nodes that take part and edges that conformal metal cuts
REACH = 1  # samples along each axis from one of E to those of H that act on it
TAPS = (3, *[2 * REACH + 1] * 3)
NEGLIGIBLE = 1e-14  # weight over the largest one that rounding leaves of zero
NARROW = 1e-18  # difference of 1/eps that counts as none


class Pairs(NamedTuple):
    """Edges (component, i, j, k), (4, pairs), that get what others give: E += value c dt curl H there."""

    gets: np.ndarray
    gives: np.ndarray
    value: np.ndarray  # (pairs,)


def coupling_term(plan: Plan, grid: YeeGrid, coefficients: Coefficients) -> CouplingTerm | None:
    """The coupling of a model on its whole grid; None without any. `plan`: the model's, terms included."""
    found = [pairs for nodes in _planes(plan, grid, coefficients) for pairs in nodes.pairs()]
    if not found:
        return None
    gets, gives, value = (np.concatenate(parts, axis=-1) for parts in zip(*found))
    for axis, cells in enumerate(grid.cells):  # those that get lie in the grid
        before = cells * (gets[1 + axis] < 0)
        gets[1 + axis] += before
        gives[1 + axis] += before
    return _taps(Pairs(gets, gives, value), plan)


def _planes(plan: Plan, grid: YeeGrid, coefficients: Coefficients) -> Iterator[_Nodes]:
    """The nodes that take part, one plane across x after the other, without those that symmetry mirrors."""
    means, relative = coefficients.means, coefficients.means.table[:, PERMITTIVITY]
    bounds = LEAST / float(relative.max()), 1.0 / float(relative.min()), spare(grid, coefficients.cuts_edges)
    box = [_range(grid, axis, *ends) for axis, ends in enumerate(means.slanting_nodes())]
    if any(low >= high for low, high in box):
        return
    far = _far_from_cuts(box, coefficients)
    driven, window = _driven(plan), pair((max(0, low - 1), high) for low, high in box[1:])
    skipped = [low - start for (start, _), (low, _) in zip(window, box[1:])]  # edges that begin at no node of the box

    @kept_by_thread(2)
    def inverse(plane: int) -> list[np.ndarray]:
        samples = coefficients.window(0, plane, window)
        return [samples.inverse_permittivity(component) for component in range(3)]

    def taking_part(plane: int) -> _Nodes | None:
        found = PlaneMeans(means, 0, plane, window).at_nodes()
        if found is None:
            return None
        inside = (found.at[0] >= skipped[0]) & (found.at[1] >= skipped[1])
        j, k = (index[inside] for index in found.at)
        at = np.stack((np.full_like(j, plane), j + window[0][0], k + window[1][0]))
        nodes = _Nodes(grid, at, found.between[inside], {})
        taken = far[plane - box[0][0], j - skipped[0], k - skipped[1]]
        for (a, side), edges in nodes.edges.items():
            place = edges[2] - window[0][0], edges[3] - window[1][0]  # -1: the last, over the seam
            nodes.inverse[a, side] = inverse((plane - (a == 0 and side == 0)) % grid.cells[0])[a][place]
            taken &= (nodes.inverse[a, side] > 0.0) & _undriven(edges, plan, driven)
        return nodes.chosen(taken, bounds) if taken.any() else None

    first, last = box[0]
    found = in_order(lambda n: taking_part(first + n), last - first, coefficients.threads_for(window, last - first))
    yield from (nodes for nodes in found if nodes is not None)


def _range(grid: YeeGrid, axis: int, low: int, high: int) -> tuple[int, int]:
    """Of nodes on no wall and in no half that symmetry mirrors, all of them where surfaces may lie about a seam."""
    cells = grid.cells[axis]
    if low < high and grid.closed(axis) and (low == 0 or high >= cells):
        return 0, cells
    return max(1, grid.stepped_from[axis], low), min(cells, high)


def _far_from_cuts(box: list[tuple[int, int]], coefficients: Coefficients) -> np.ndarray:
    """Which nodes of a box are at least CLEAR samples away from all edges that conformal metal cuts."""
    shape = tuple(high - low for low, high in box)
    if not coefficients.cuts_edges:
        return np.ones(shape, dtype=bool)
    grid, lattice = coefficients.grid, []
    for axis, (low, high) in enumerate(box):
        near, cells = np.arange(low - CLEAR, high + CLEAR), grid.cells[axis]
        lattice.append(near % cells if grid.closed(axis) else np.clip(near, 0, cells - 1))
    cut = np.zeros([len(index) for index in lattice], dtype=bool)
    for component in range(3):
        cut |= coefficients.open_fraction(component, *np.ix_(*lattice)) < 1.0
    for axis in range(3):
        cut = np.any([cut.take(range(n, n + shape[axis]), axis=axis) for n in range(2 * CLEAR + 1)], axis=0)
    return ~cut


@dataclass(frozen=True)
class _Nodes:
    """Nodes (3, nodes) of one plane across x, none on a wall, that slanting surfaces are next to."""

    grid: YeeGrid
    at: np.ndarray
    between: np.ndarray  # (nodes, 3): of 1/eps there, (y, z), (z, x), (x, y)
    inverse: dict[tuple[int, int], np.ndarray]  # 1/eps of the edges along an axis that end (0) or begin (1) there
    bounds: tuple = ()  # of 1/eps, (least, most), and by what part most may be passed in means along x, y, z

    @cached_property
    def edges(self) -> dict[tuple[int, int], np.ndarray]:
        """(component, i, j, k) of the edges that meet there, (4, nodes); -1 over a seam."""
        found = {}
        for a, side in product(range(3), (0, 1)):
            found[a, side] = np.insert(self.at, 0, a, axis=0)
            found[a, side][1 + a] -= 1 - side
        return found

    def chosen(self, which: np.ndarray, bounds: tuple) -> _Nodes:
        """Some of them."""
        inverse = {key: values[which] for key, values in self.inverse.items()}
        return _Nodes(self.grid, self.at[:, which], self.between[which], inverse, bounds)

    def pairs(self) -> Iterator[Pairs]:
        """Of the edges that meet there."""
        half = {(a, side): 0.5 * self.grid.primary(a)[at[1 + a]] for (a, side), at in self.edges.items()}
        part = {(a, side): half[a, side] / (half[a, 0] + half[a, 1]) for a, side in half}
        least, most, more = self.bounds
        low = _series(part, {key: inverse - least for key, inverse in self.inverse.items()})
        high = _series(part, {key: most - inverse for key, inverse in self.inverse.items()}) + most * more
        between = self.between * largest_share(self.between, low, high)[:, None]
        volume = np.prod([half[a, 0] + half[a, 1] for a in range(3)], axis=0)
        for one, other in combinations(half, 2):
            if one[0] != other[0]:
                value = volume * part[one] * part[other] * between[:, 3 - one[0] - other[0]]
                for gets, gives in ((one, other), (other, one)):
                    yield Pairs(self.edges[gets], self.edges[gives], value / self._volume(gets))

    def _volume(self, key: tuple[int, int]) -> np.ndarray:
        """Volume of edges: their length times the area of their dual faces."""
        lengths = [(self.grid.primary if a == key[0] else self.grid.dual)(a) for a in range(3)]
        return np.prod([length[index] for length, index in zip(lengths, self.edges[key][1:])], axis=0)


def _series(part: dict, room: dict) -> np.ndarray:
    """(nodes, 3): the least sum of part times room times D^2 over both edges along an axis whose D has the mean 1."""
    both = [[part[a, side] / np.maximum(room[a, side], NARROW) for side in (0, 1)] for a in range(3)]
    return np.stack([1.0 / (one + other) for one, other in both], axis=1)


def spare(grid: YeeGrid, cut: bool = False) -> np.ndarray:
    """By what part D may count more in means along x, y, z at nodes, at the same limit of the time step; `cut`: at that
    of cells that conformal metal cuts (docs/method.md)."""
    if cut:
        least = [float(grid.primary(axis).min()) for axis in range(3)]
        return np.full(3, 0.5 * (min(least) / max(least)) ** 2)
    rate = grid.squared_rates
    return rate / (rate.sum() - rate)


def largest_share(between: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """The largest part, up to all, of symmetric matrices of the entries (y, z), (z, x), (x, y) `between` (matrices, 3)
    that leaves low + matrix and high - matrix positive, `low` and `high` (matrices, 3) being diagonal."""
    full = np.zeros((len(between), 3, 3))
    for c in range(3):
        a, b = (c + 1) % 3, (c + 2) % 3
        full[:, a, b] = full[:, b, a] = between[:, c]
    largest = np.ones(len(between))
    for room, sign in ((low, -1.0), (high, 1.0)):
        root = 1.0 / np.sqrt(room)
        largest = np.maximum(largest, np.linalg.eigvalsh(sign * full * root[:, :, None] * root[:, None, :])[:, -1])
    return 1.0 / largest


def _undriven(edges: np.ndarray, plan: Plan, driven: np.ndarray) -> np.ndarray:
    """Whether D of E edges (4, edges) is made by the curl of H alone: no CPML, no source or circuit."""
    stored = tuple(index % n for index, n in zip(edges, _shape(plan)))
    free = ~np.isin(np.ravel_multi_index(stored, _shape(plan)), driven)
    for axis, profile in enumerate(plan.profiles):
        free &= (edges[0] == axis) | (profile.drive_electric[edges[1 + axis]] == 0.0)
    return free


def _shape(plan: Plan) -> tuple[int, ...]:
    return 3, *plan.active


def _driven(plan: Plan) -> np.ndarray:
    """The numbers of the edges that something else acts on."""
    found = [np.zeros(0, dtype=np.int64)]
    electric = (term for term in plan.terms if not term.recorded and not is_magnetic(term.component))
    acting: list[Any] = [drawn for drawn in (term.drawn() for term in electric) if drawn]
    for term in acting:
        index = np.broadcast_arrays(np.asarray(term.component) % 6, term.i, term.j, term.k)
        found.append(np.ravel_multi_index(tuple(index), _shape(plan)).ravel())
    return np.concatenate(found)


def _taps(pairs: Pairs, plan: Plan) -> CouplingTerm:
    """The pairs as sums over H, in the order of the samples and, for each, of the H samples."""
    gets, taps, weights = [], [], []
    for own in range(3):  # D <- D + c dt (d H_r/dq - d H_q/dr)
        here = pairs.gives[0] == own
        edges = pairs.gives[:, here]
        for across, sign in (((own + 1) % 3, 1.0), ((own + 2) % 3, -1.0)):
            inverse_dual = plan.profiles[across].inverse_dual
            slope = sign * plan.scale * pairs.value[here] * inverse_dual[edges[1 + across] % inverse_dual.size]
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
