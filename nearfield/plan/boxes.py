"""Boxes of samples: the domains that a run is cut into, and the ranks that own them.

Coordinates are global sample indices along x, y, z, half-open; domains and ranks are numbered with z fastest.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from operator import add

from nearfield.entry.triples import Triple, triple

Growth = int | Sequence[Sequence[int]]  # layers: everywhere, or (low, high) along each axis


@dataclass(frozen=True)
class Box:
    """Samples lower <= (i, j, k) < upper."""

    lower: Triple
    upper: Triple

    @classmethod
    def between(cls, ends: Iterable[Sequence[int]]) -> Box:
        """The box from (low, high) along x, y and z."""
        lower, upper = zip(*ends)
        return cls(triple(lower), triple(upper))

    @property
    def shape(self) -> Triple:
        """Samples along x, y, z."""
        return triple(high - low for low, high in zip(self.lower, self.upper))

    @property
    def size(self) -> int:
        """Samples in all."""
        return math.prod(self.shape)

    def intersection(self, other: Box) -> Box | None:
        """The samples of both boxes; None without any."""
        lower = triple(map(max, self.lower, other.lower))
        upper = triple(map(min, self.upper, other.upper))
        return Box(lower, upper) if all(low < high for low, high in zip(lower, upper)) else None

    def moved(self, by: Sequence[int]) -> Box:
        """The box, shifted by so many samples."""
        lower, upper = (triple(map(add, end, by)) for end in (self.lower, self.upper))
        return Box(lower, upper)

    def grown(self, by: Growth, within: Box) -> Box:
        """The box with so many layers more on each side, as far as `within` reaches."""
        layers = [(by, by)] * 3 if isinstance(by, int) else by
        lower = (max(low - more, end) for low, (more, _), end in zip(self.lower, layers, within.lower))
        upper = (min(high + more, end) for high, (_, more), end in zip(self.upper, layers, within.upper))
        return Box(triple(lower), triple(upper))

    def sides(self, other: Box) -> Triple:
        """Along each axis, whether another box lies below this one (-1), above (1), or neither (0)."""
        return triple((other.lower[n] >= self.upper[n]) - (other.upper[n] <= self.lower[n]) for n in range(3))

    def slices(self, origin: Triple = (0, 0, 0)) -> tuple[slice, slice, slice]:
        """Slices of the box in an array whose first sample is `origin`."""
        return triple(slice(low - o, high - o) for low, high, o in zip(self.lower, self.upper, origin))


@dataclass(frozen=True)
class Arrangement:
    """Rectilinear cuts along x, y, z, each 0 = c0 < c1 < ... < cn = samples along the axis."""

    cuts: tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]

    @property
    def counts(self) -> Triple:
        """Domains along x, y, z."""
        return triple(len(cuts) - 1 for cuts in self.cuts)

    @property
    def whole(self) -> Box:
        """The box that the domains fill."""
        return Box((0, 0, 0), triple(cuts[-1] for cuts in self.cuts))

    def box(self, index: Triple) -> Box:
        """The domain with this index along x, y, z."""
        return Box.between(cuts[n : n + 2] for cuts, n in zip(self.cuts, index))

    def boxes(self) -> list[Box]:
        """All domains in order."""
        return [self.box(index) for index in indices(self.counts)]


@dataclass(frozen=True)
class Grouping:
    """Domains shared out to ranks: each rank owns a box of them.

    Along an axis the groups differ by one domain at most, the larger ones first: 5 domains on 2 ranks are 3 + 2.
    """

    counts: Triple  # domains along x, y, z
    ranks: Triple = (1, 1, 1)

    def groups(self, axis: int) -> tuple[int, ...]:
        """Ends of the groups along an axis, in domains: 0 ... counts[axis]."""
        each, more = divmod(self.counts[axis], self.ranks[axis])
        return tuple(n * each + min(n, more) for n in range(self.ranks[axis] + 1))

    def group_of(self, axis: int, domain: int) -> int:
        """The group that holds a domain's index along an axis."""
        return next(n for n, end in enumerate(self.groups(axis)[1:]) if domain < end)

    def rank_of(self, index: Triple) -> int:
        """The rank that owns the domain with this index."""
        x, y, z = (self.group_of(axis, n) for axis, n in enumerate(index))
        return (x * self.ranks[1] + y) * self.ranks[2] + z

    def domains_of(self, rank: int) -> list[Triple]:
        """Indices of a rank's domains, in order."""
        x, y, z = (range(*span) for span in self._spans(rank))
        return list(product(x, y, z))

    def box(self, rank: int, arrangement: Arrangement) -> Box:
        """The samples that a rank owns."""
        spans = zip(arrangement.cuts, self._spans(rank))
        return Box.between((cuts[low], cuts[high]) for cuts, (low, high) in spans)

    def boxes(self, arrangement: Arrangement) -> list[Box]:
        """The samples of all ranks in order."""
        return [self.box(rank, arrangement) for rank in range(math.prod(self.ranks))]

    def _spans(self, rank: int) -> list[tuple[int, int]]:
        rest, z = divmod(rank, self.ranks[2])
        index = (*divmod(rest, self.ranks[1]), z)
        return [(ends[n], ends[n + 1]) for n, ends in zip(index, map(self.groups, range(3)))]


def indices(counts: Triple) -> Iterator[Triple]:
    """Every index of so many things along x, y, z, the last fastest."""
    x, y, z = map(range, counts)
    return product(x, y, z)
