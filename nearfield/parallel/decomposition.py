"""Domains of a run, and the ranks that own them: the arrangement whose slowest domain is the fastest."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from nearfield.entry.errors import ModelError
from nearfield.entry.triples import Triple, triple
from nearfield.parallel.balance import Problem, Sides
from nearfield.parallel.weights import HaloCost, Weights
from nearfield.plan.boxes import Arrangement, Grouping, indices
from nearfield.plan.sizes import LANES

MOST_DOMAINS = 10**6
LEAST_LAYERS = 2  # layers of the thinnest domain
COMFORT = 2  # thickness of a domain over the depth of its halos, where there is a choice
MANY = 16  # domains; more get less of a search
MOST_REFINED, OF_MANY = 12, 4  # arrangements that are refined: up to MANY domains, more
MOST_RESTARTED, RESTARTS = 2, 8  # best arrangements that begin again, and how often, up to MANY domains
BALANCED = 1.02  # imbalance below which an arrangement does not begin again
LINK = HaloCost()
Speeds = Sequence[float] | None


def parse_domains(given: str | int | Triple) -> int | Triple:
    """Domains in all, or along x, y, z, as they are given: `8`, "8" or "2x1x4". Error: anything else."""
    numbers: Any = [given] if isinstance(given, int) else given
    if isinstance(given, str) and re.fullmatch(r"\d+(x\d+x\d+)?", given):
        numbers = given.split("x")
    if isinstance(numbers, (list, tuple)) and len(numbers) in (1, 3):
        counts = [int(n) for n in numbers]
        if min(counts) > 0 and math.prod(counts) <= MOST_DOMAINS:
            return triple(counts) if len(counts) == 3 else counts[0]
    raise ModelError(
        f"domains {given!r} are no number and no arrangement; give how many in all (1 to {MOST_DOMAINS:,}), such as 8, "
        "or along x, y and z, such as 2x1x4"
    )


@lru_cache(64)
def factorizations(number: int) -> list[Triple]:
    """All (x, y, z) with the product `number`."""
    divisors = [n for n in range(1, number + 1) if number % n == 0]
    return [(x, y, number // (x * y)) for x in divisors for y in divisors if number % (x * y) == 0]


def groupings(counts: Triple, ranks: int) -> list[Grouping]:
    """The ways to give each of so many ranks a box of domains."""
    return [Grouping(counts, split) for split in factorizations(ranks) if all(map(int.__le__, split, counts))]


def refuse_ranks(domains: int | Triple, ranks: int) -> None:
    """Say which numbers of ranks these domains could be shared out to."""
    counts = (domains, 1, 1) if isinstance(domains, int) else domains
    possible = sorted({(x + 1) * (y + 1) * (z + 1) for x, y, z in indices(counts)})
    why = "every rank needs one" if ranks > math.prod(counts) else "every rank owns a box of them"
    raise ModelError(
        f"{ranks} ranks cannot share {times(domains)} domains: {why}. Give {wording(possible)} ranks, or {ranks} or "
        "more domains in all, in any arrangement"
    )


def times(counts: int | Sequence[int]) -> str:
    """ "8", or "2 x 1 x 4"."""
    return str(counts) if isinstance(counts, int) else " x ".join(map(str, counts))


def wording(numbers: Sequence[int], most: int = 12) -> str:
    """ "1, 2 or 4"; the first few of many."""
    shown = [str(n) for n in numbers[:most]]
    if len(numbers) > most:
        return ", ".join(shown) + f", ... or {numbers[-1]}"
    return " or ".join(filter(None, (", ".join(shown[:-1]), shown[-1])))


@dataclass(frozen=True, eq=False)
class Decomposition:
    """An arrangement, who owns its domains, and the time of each: (nx, ny, nz), in vacuum cells of a speed of 1."""

    arrangement: Arrangement
    grouping: Grouping
    costs: np.ndarray

    @property
    def slowest(self) -> float:
        """Time of the slowest domain."""
        return float(self.costs.max())

    @property
    def imbalance(self) -> float:
        """The slowest domain's time over the mean."""
        return self.slowest / float(self.costs.mean())


def decompose(
    weights: Weights, domains: int | Triple, ranks: int = 1, speeds: Speeds = None, halo: HaloCost = LINK
) -> Decomposition:
    return decompositions(weights, domains, ranks, speeds, halo)[0]


def decompositions(
    weights: Weights, domains: int | Triple, ranks: int = 1, speeds: Speeds = None, halo: HaloCost = LINK
) -> list[Decomposition]:
    """Ways to cut a run into domains for so many ranks, the one with the fastest slowest domain first.

    `domains` in all, or along x, y, z; `speeds`: one for each domain in order, or for each rank, which shares its own
    out to its domains; left out, ranks are alike, 1 on the average. Of all factorizations the most promising are
    refined. Rows are cut only where no other way fits or the caller says so. Error: nothing fits.
    One rank decides for all: sums may differ in the last digit from processor to processor.
    """
    total = domains if isinstance(domains, int) else math.prod(domains)
    if speeds is not None and (len(speeds) not in (total, ranks) or not all(speed > 0 for speed in speeds)):
        raise ModelError(f"{len(speeds)} speeds for {total} domains; give one positive speed for each domain")
    unit = weights.storage_axes[2]
    promising = sorted(fitting(weights, domains, ranks, halo), key=lambda grouping: rough_time(weights, grouping, halo))
    found: list[tuple[Problem, Decomposition]] = []
    for grouping in promising[: MOST_REFINED if total <= MANY else OF_MANY]:
        shared = shared_speeds(grouping, speeds)
        least = triple(thinnest(axis == unit, grouping.ranks[axis] > 1, halo.depth) for axis in range(3))
        problem = Problem(weights, halo, triple(sides(grouping, axis, halo) for axis in range(3)), shared, least)
        found.append((problem, decomposed(problem, grouping, problem.start())))
    found.sort(key=lambda pair: pair[1].slowest)
    best = [again(*pair) for pair in found[:MOST_RESTARTED]] if total <= MANY else []
    return sorted([*best, *(each for _, each in found[len(best) :])], key=lambda each: each.slowest)


def decomposed(problem: Problem, grouping: Grouping, start: list[np.ndarray]) -> Decomposition:
    """The decomposition that refinement leads to."""
    cuts = problem.refined(start)
    return Decomposition(Arrangement(triple(tuple(ends.tolist()) for ends in cuts)), grouping, problem.costs(cuts))


def again(problem: Problem, found: Decomposition) -> Decomposition:
    """The best of several starts: cuts along several axes can be caught where no single axis improves them."""
    if sum(count > 1 for count in problem.counts) < 2 or found.imbalance < BALANCED:
        return found
    others = [decomposed(problem, found.grouping, problem.elsewhere(number)) for number in range(RESTARTS)]
    return min([found, *others], key=lambda each: each.slowest)


def shared_speeds(grouping: Grouping, speeds: Speeds) -> np.ndarray:
    """The speed of each domain, of those of all domains in order or of all ranks."""
    even = even_speeds(grouping)
    if speeds is None:
        return even
    given = np.asarray(speeds, float)
    if len(given) != math.prod(grouping.ranks):
        return np.reshape(given, grouping.counts)
    x, y, z = (np.repeat(range(ranks), np.diff(grouping.groups(axis))) for axis, ranks in enumerate(grouping.ranks))
    shared: np.ndarray = even * given.reshape(grouping.ranks)[np.ix_(x, y, z)]
    return shared


def even_speeds(grouping: Grouping) -> np.ndarray:
    """The speed of each domain where ranks are alike and share theirs out evenly; the mean domain of all has 1."""
    x, y, z = (np.repeat(sizes, sizes) for sizes in (np.diff(grouping.groups(axis)) for axis in range(3)))
    return math.prod(grouping.counts) / math.prod(grouping.ranks) / (x[:, None, None] * y[:, None] * z)


def fitting(weights: Weights, domains: int | Triple, ranks: int, halo: HaloCost) -> list[Grouping]:
    """Groupings that fit: of whole rows and thick domains if there are such, else of thin ones, else of cut rows."""
    unit = weights.storage_axes[2]

    def is_allowed(grouping: Grouping) -> bool:
        return not any(whole and parts > 1 for whole, parts in zip(weights.unparted, grouping.ranks))

    def fits(grouping: Grouping, comfort: int) -> bool:
        return all(
            n == 1 or length // thinnest(axis == unit, grouping.ranks[axis] > 1, comfort * halo.depth) >= n
            for axis, (n, length) in enumerate(zip(grouping.counts, weights.shape))
        )

    if ranks < 1:
        raise ModelError(f"{ranks} ranks cannot run anything; give 1 or more")
    if isinstance(domains, int):
        if ranks > domains:
            refuse_ranks(domains, ranks)
        room = most_domains(weights)
        possible = [counts for counts in factorizations(domains) if all(map(int.__le__, counts, room))]
        every = [found for counts in possible for found in groupings(counts, ranks)]
        whole = [grouping for grouping in every if grouping.counts[unit] == 1]
        tiers = [(whole, COMFORT), (whole, 1), (every, 1)]
    else:
        every = groupings(domains, ranks)
        if not every:
            refuse_ranks(domains, ranks)
        tiers = [(every, 1)]
    for choices, comfort in tiers:
        if found := [grouping for grouping in choices if is_allowed(grouping) and fits(grouping, comfort)]:
            return found
    raise ModelError(too_many(weights, domains, ranks, halo))


def thinnest(is_unit: bool, with_ghosts: bool, depth: int) -> int:
    """Layers that a domain needs along an axis: two, a halo's where it has one, whole blocks of 16 along the rows."""
    layers = max(LEAST_LAYERS, depth if with_ghosts else 0)
    return -(-layers // LANES) * LANES if is_unit else layers


def most_domains(weights: Weights, depth: int = 0) -> Triple:
    """Number of domains that fit along x, y, z, each with halos so deep (0: without)."""
    unit = weights.storage_axes[2]
    return triple(max(1, n // thinnest(axis == unit, depth > 0, depth)) for axis, n in enumerate(weights.shape))


def too_many(weights: Weights, domains: int | Triple, ranks: int, halo: HaloCost) -> str:
    """Why so many domains do not fit, and how many would."""
    if ranks > 1 and any(weights.unparted):
        axes = " and ".join("xyz"[axis] for axis in range(3) if weights.unparted[axis])
        return (
            f"{ranks} ranks cannot share {times(domains)} domains here: the fields repeat along {axes}, in rows that "
            f"are no multiple of {LANES} samples, and ranks part other axes alone; give fewer ranks, domains along the "
            "other axes, or one rank and more threads"
        )
    most = most_domains(weights, halo.depth if ranks > 1 else 0)
    halos = f", {halo.depth} across cuts between ranks (the depth of their halos)" if halo.depth > LEAST_LAYERS else ""
    fewer = ""
    if isinstance(domains, int):
        below = range(min(domains - 1, math.prod(most)), 1, -1)
        fits = (n for n in below if any(all(map(int.__le__, counts, most)) for counts in factorizations(n)))
        fewer = f", {next(fits, 1)} in all"
    return (
        f"{times(domains)} domains do not fit {times(weights.shape)} samples: a domain needs {LEAST_LAYERS} "
        f"layers{halos} and {LANES} samples along {'xyz'[weights.storage_axes[2]]}, the axis of the rows. At most "
        f"{times(most)} fit{fewer}; give fewer domains or ranks, or shallower halos"
    )


def sides(grouping: Grouping, axis: int, halo: HaloCost) -> Sides:
    """The faces of the slabs of domains along an axis; one is far if any two ranks across it run on different hosts."""
    far, near = (halo.exchange, halo.message), halo.near or (halo.exchange, halo.message)
    hosts = np.arange(math.prod(grouping.ranks)).reshape(grouping.ranks) // halo.ranks_a_host
    price = np.zeros((grouping.counts[axis] + 1, 2))
    ghosts = np.zeros(grouping.counts[axis] + 1, bool)
    for number, end in enumerate(grouping.groups(axis)[1:-1]):
        ghosts[end] = True
        price[end] = far if (hosts.take(number, axis) != hosts.take(number + 1, axis)).any() else near
    return Sides(*(np.stack((ends[:-1], ends[1:]), axis=1) for ends in (ghosts, *price.T)))


def rough_time(weights: Weights, grouping: Grouping, halo: HaloCost) -> float:
    """Time of the domain with the dearest faces, were all alike: orders the arrangements before any is refined."""
    lengths = [n / parts for n, parts in zip(weights.shape, grouping.counts)]
    mean, rows = weights.total / math.prod(weights.shape), weights.row / lengths[weights.storage_axes[2]]
    size, grown, faces, exchange = math.prod(lengths), 1.0, 0.0, 0.0
    for place, axis in enumerate(weights.storage_axes):
        cut, between = (min(2, parts[axis] - 1) for parts in (grouping.counts, grouping.ranks))
        inner = 0 if grouping.ranks[axis] == grouping.counts[axis] else cut - 0.5 * between
        found = sides(grouping, axis, halo)
        grown *= lengths[axis] + between * halo.repeated
        faces += size / lengths[axis] * inner * halo.shared[place]
        exchange += size / lengths[axis] * found.exchange.sum(axis=1).max() + found.message.sum(axis=1).max()
    return max(grown * (mean + rows) + faces + (1 - halo.hidden) * exchange, exchange)
