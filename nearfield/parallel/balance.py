"""Best cuts of one axis, which make the slowest domain as fast as possible while the other axes stay as they are cut.

The cuts of the other two axes make M columns; a slab [p, q) of the axis costs what its costliest column costs.
Costs grow with the thickness, so a slab is filled up to a time T by bisection, and the least T for which all slabs
reach the end is found by bisection again (parametric search; exact for slabs, where M is 1).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from nearfield.entry.triples import Triple, triple
from nearfield.parallel.weights import HaloCost, Weights, interpolated
from nearfield.plan.sizes import LANES

MOST_CANDIDATES = 2_000_000  # positions of cuts times columns that are weighed at once
CLOSE, ROUGH = 1e-5, 1e-3  # relative width at which the search for the least time ends: up to FEW slabs, more
FEW = 16  # slabs
MOST_ROUNDS = 200  # rounds of local moves
Index = int | np.ndarray  # numbers of positions


@dataclass(frozen=True, eq=False)
class Slabs:
    """The cost of every slab of an axis.

    positions: (P,) where cuts may lie, both ends included. begins, ends: (2, P, M) cumulative work up to a slab's lower
    or upper end at each position, without [0] and with [1] the ghosts beyond it. ghosts: (n, 2) whether the slab has
    any below and above. side: (2, M) faces along the axis, a layer; face: (2, n, M) faces across it; both towards
    domains of the same process [0] and towards other ranks [1]. speeds: (n, M).
    """

    positions: np.ndarray
    begins: np.ndarray
    ends: np.ndarray
    ghosts: np.ndarray
    side: np.ndarray
    face: np.ndarray
    speeds: np.ndarray
    hidden: float = 0.0  # part of the exchange that runs under the update, while that lasts
    least: int = 1  # layers of a slab

    @property
    def count(self) -> int:
        return len(self.ghosts)

    def columns(self, slab: int, p: Index, q: Index) -> np.ndarray:
        """Cost (..., M) of a slab between two positions, given by number, or of each of many pairs."""
        low, high = self.ghosts[slab]
        layers = (self.positions[q] - self.positions[p])[..., None]
        update = (self.ends[high, q] - self.begins[low, p]) / self.speeds[slab]
        update = update + layers * self.side[0] + self.face[0, slab]
        exchange = layers * self.side[1] + self.face[1, slab]
        cost: np.ndarray = np.maximum(update + (1 - self.hidden) * exchange, exchange)
        return cost

    def costs(self, cuts: list[int]) -> np.ndarray:
        """Cost (n, M) of all, cut at these positions' numbers."""
        return np.stack([self.columns(slab, cuts[slab], cuts[slab + 1]) for slab in range(self.count)])

    def dearest(self, slab: int, p: Index, q: Index) -> Any:
        """Cost of the costliest column of slabs between pairs of positions."""
        return self.columns(slab, p, q).max(axis=-1)

    def first(self, p: Index) -> Any:
        """The first position at which a slab from p may end."""
        return np.searchsorted(self.positions, self.positions[p] + self.least)

    def filled(self, time: float) -> list[int] | None:
        """Cuts that fill one slab after the other up to a time; None where the last does not reach the end.

        The further a slab reaches the better, unless the thinnest slab from there is a dear one: so the ends of each
        slab are followed within twice that thickness.
        """
        reached, steps = np.array([0]), []
        for slab, latest in enumerate(latest_cuts(self.positions, self.count, self.least)[1:]):
            ends = self.first(reached)
            possible = ends <= latest
            possible[possible] = self.dearest(slab, reached[possible], ends[possible]) <= time
            reached, ends = reached[possible], ends[possible]
            if not len(reached):
                return None
            low, high = ends.copy(), np.full(len(ends), latest)
            while (low < high).any():
                middle = (low + high + 1) // 2
                within = self.dearest(slab, reached, middle) <= time
                low, high = np.where(within, middle, low), np.where(within, high, middle - 1)
            near = np.arange(max(int(ends.min()), int(low.max()) - 2 * self.least), int(low.max()) + 1)
            holds = (near[:, None] >= ends) & (near[:, None] <= low)
            near, holds = near[holds.any(axis=1)], holds[holds.any(axis=1)]
            steps.append((near, reached[holds.argmax(axis=1)]))
            reached = near
        return self._followed(steps) if reached[-1] == len(self.positions) - 1 else None

    def _followed(self, steps: list[tuple[np.ndarray, np.ndarray]]) -> list[int]:
        """The cuts that led to the end: steps hold the ends of each slab and where it began."""
        cuts = [len(self.positions) - 1]
        for ends, begins in reversed(steps):
            cuts.append(int(begins[np.searchsorted(ends, cuts[-1])]))
        return cuts[::-1]


def latest_cuts(positions: np.ndarray, count: int, least: int) -> list[int]:
    """The last position of each cut, the ends included, that leaves room for the slabs behind it; by number."""
    found = [len(positions) - 1]
    for _ in range(count):
        found.append(int(np.searchsorted(positions, positions[found[-1]] - least, "right")) - 1)
    return found[::-1]


def least_time(slabs: Slabs, start: list[int]) -> list[int]:
    """Cuts whose costliest slab is the cheapest possible; no worse than `start`."""
    alike = (slabs.ends[0, -1] - slabs.begins[0, 0]) / slabs.speeds.sum(axis=0)  # a column in perfect balance
    best, low, high = start, float(alike.max()) * (1 - CLOSE), float(slabs.costs(start).max())
    while high - low > (CLOSE if slabs.count <= FEW else ROUGH) * high:
        middle = 0.5 * (low + high)
        found = slabs.filled(middle)
        if found is None:
            low = middle
        else:
            best, high = found, float(slabs.costs(found).max())
    return best


def settle(slabs: Slabs, cuts: list[int]) -> list[int]:
    """Each cut moved while that makes the costlier of its two slabs cheaper, or the two more alike."""
    cuts = list(cuts)

    def weighed(number: int, position: int) -> tuple[float, float]:
        before, after = (cuts[number - 1], position), (position, cuts[number + 1])
        pair = np.concatenate((slabs.columns(number - 1, *before), slabs.columns(number, *after)))
        return round(float(pair.max()), 6), float(np.square(pair).sum())

    for _ in range(MOST_ROUNDS):
        before = list(cuts)
        for number in range(1, slabs.count):
            here = cuts[number]
            near = [here]
            near += [here - 1] if here - 1 >= slabs.first(cuts[number - 1]) else []
            near += [here + 1] if here < cuts[number + 1] and slabs.first(here + 1) <= cuts[number + 1] else []
            cuts[number] = min(near, key=lambda position: weighed(number, position))
        if cuts == before:
            break
    return cuts


@dataclass(frozen=True, eq=False)
class Sides:
    """The lower and the upper face of every slab of an axis, (n, 2) each."""

    ghosts: np.ndarray  # whether another rank lies beyond
    exchange: np.ndarray  # cost of a sample, 0 without ghosts
    message: np.ndarray  # cost that does not depend on its size


@dataclass(frozen=True, eq=False)
class Problem:
    """Domains to be cut: their number along each axis, the costs of their sides, their least thickness."""

    weights: Weights
    halo: HaloCost
    sides: tuple[Sides, Sides, Sides]  # of x, y, z
    speeds: np.ndarray  # (nx, ny, nz)
    least: Triple  # layers of a domain

    @property
    def counts(self) -> Triple:
        return triple(len(sides.ghosts) for sides in self.sides)

    def allowed(self, axis: int) -> np.ndarray:
        """Allowed positions of cuts, both ends included: between blocks of 16 along the rows."""
        length = self.weights.shape[axis]
        step = LANES if axis == self.weights.storage_axes[2] else 1
        return np.append(np.arange(0, max(1, length - self.least[axis] + 1), step), length)

    def faces(self, axis: int) -> np.ndarray:
        """Cost of a sample of both faces of each slab of an axis, within the process and between ranks: (2, n)."""
        count, place = self.counts[axis], self.weights.storage_axes.index(axis)
        inner = np.array([(n > 0) + (n < count - 1) for n in range(count)])
        sides = self.sides[axis]
        return np.stack((self.halo.shared[place] * (inner - sides.ghosts.sum(axis=1)), sides.exchange.sum(axis=1)))

    def grown(self, axis: int, cuts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Bounds of the slabs with the ghosts that they compute again, on the average of an exchange."""
        below, above = (self.halo.repeated * self.sides[axis].ghosts[:, end] for end in (0, 1))
        length = self.weights.shape[axis]
        return np.clip(cuts[:-1] - below, 0, length), np.clip(cuts[1:] + above, 0, length)

    def slabs(self, axis: int, cuts: list[np.ndarray], positions: np.ndarray) -> Slabs:
        """The costs along one axis with the cuts of the two others held."""
        weights, length = self.weights, self.weights.shape[axis]
        unit, table, starts = weights.storage_axes[2], weights.cumulative, np.ones((1, 1))
        for place, a in enumerate(others(axis)):
            low, high = self.grown(a, cuts[a])
            table = weights.within(table, a, low, high)
            starts = starts * along(np.ones(len(low)) if a == unit else high - low, place)
        table, starts = np.moveaxis(table, axis, 0).reshape(-1, starts.size), weights.row * starts.ravel()

        def cumulative(shift: float) -> np.ndarray:
            at = np.clip(positions + shift, 0, length)
            return interpolated(table, weights.edges[axis], at) + (at[:, None] * starts if axis != unit else 0.0)

        begins = np.stack([cumulative(-shift) for shift in (0.0, self.halo.repeated)])
        ends = np.stack([cumulative(shift) for shift in (0.0, self.halo.repeated)])
        ends = ends + starts if axis == unit else ends
        side, face = self._face_costs(axis, cuts)
        speeds = np.moveaxis(self.speeds, axis, 0).reshape(face.shape[1:])
        ghosts = self.sides[axis].ghosts.astype(int)
        return Slabs(positions, begins, ends, ghosts, side, face, speeds, self.halo.hidden, self.least[axis])

    def _face_costs(self, axis: int, cuts: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """`side` and `face` of the slabs."""
        thick = [along(np.diff(cuts[a]), place) for place, a in enumerate(others(axis))]
        first, second = (self.faces(a) for a in others(axis))
        side = [(along(x, 0) * thick[1] + along(y, 1) * thick[0]).ravel() for x, y in zip(first, second)]
        messages = [self.sides[a].message.sum(axis=1) for a in (axis, *others(axis))]
        face = self.faces(axis)[:, :, None] * (thick[0] * thick[1]).ravel()
        face[1] += messages[0][:, None] + (along(messages[1], 0) + along(messages[2], 1)).ravel()
        return np.stack(side), face

    def costs(self, cuts: list[np.ndarray]) -> np.ndarray:
        """Time of one step of every domain, (nx, ny, nz), in vacuum cells of a speed of 1."""
        slabs = self.slabs(0, cuts, cuts[0])
        return slabs.costs(list(range(len(cuts[0])))).reshape(self.counts)

    def start(self) -> list[np.ndarray]:
        """Cuts by the work in all planes across each axis, shared out by the speeds."""
        cuts = []
        for axis in range(3):
            work = np.moveaxis(self.weights.cumulative, axis, 0)[:, -1, -1]
            shares = np.cumsum(self.speeds.sum(axis=others(axis))) / self.speeds.sum()
            cuts.append(self.nearest(axis, np.interp(shares * work[-1], work, self.weights.edges[axis])))
        return cuts

    def elsewhere(self, number: int) -> list[np.ndarray]:
        """Other cuts to begin with, at random; the same for the same number."""
        random = np.random.default_rng(number)
        ends = [np.append(np.sort(random.random(count - 1)), 1.0) for count in self.counts]
        return [self.nearest(axis, parts * self.weights.shape[axis]) for axis, parts in enumerate(ends)]

    def nearest(self, axis: int, wanted: np.ndarray) -> np.ndarray:
        """Allowed cuts near the wanted ends of the slabs of an axis, no slab too thin."""
        allowed, least = self.allowed(axis), self.least[axis]
        latest = latest_cuts(allowed, len(wanted), least)
        cuts = [0]
        for end, last in zip(wanted, latest[1:]):
            first = int(np.searchsorted(allowed, allowed[cuts[-1]] + least))
            cuts.append(min(max(first, int(np.abs(allowed - end).argmin())), last))
        return allowed[cuts]

    def refined(self, cuts: list[np.ndarray]) -> list[np.ndarray]:
        """Cuts improved axis by axis until the slowest domain no longer gets faster."""
        best = float(self.costs(cuts).max())
        while True:
            for axis in range(3):
                if self.counts[axis] > 1:
                    cuts = [self.improved(a, cuts) if a == axis else kept for a, kept in enumerate(cuts)]
            found = float(self.costs(cuts).max())
            if found >= best * (1 - CLOSE):
                return cuts
            best = found

    def improved(self, axis: int, cuts: list[np.ndarray]) -> np.ndarray:
        """The best cuts of one axis with the others held."""
        columns = self.speeds.size // self.counts[axis]
        positions = candidates(self.allowed(axis), cuts[axis], columns)
        slabs = self.slabs(axis, cuts, positions)
        numbers = np.searchsorted(positions, cuts[axis]).tolist()
        return positions[settle(slabs, least_time(slabs, numbers))]


def candidates(allowed: np.ndarray, cuts: np.ndarray, columns: int) -> np.ndarray:
    """Positions to try: all, or where they are too many some of them and all near the present cuts."""
    stride = -(-len(allowed) * columns // MOST_CANDIDATES)
    if stride == 1:
        return allowed
    near = np.searchsorted(allowed, cuts)[:, None] + np.arange(-stride, stride + 1)
    near = near.clip(0, len(allowed) - 1).ravel()
    some: np.ndarray = allowed[np.unique(np.concatenate((np.arange(0, len(allowed), stride), near)))]
    return some


def others(axis: int) -> tuple[int, int]:
    """The two other axes."""
    first, second = (a for a in range(3) if a != axis)
    return first, second


def along(values: np.ndarray, place: int) -> np.ndarray:
    """A column (place 0) or a row (place 1)."""
    return values[:, None] if place == 0 else values[None, :]
