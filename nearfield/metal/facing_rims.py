"""Gaps between flat metal so narrow that the field of one rim is not that of the other: where rims face each other.

Faces beside a gap count with little of 1/mu, which fields that fill it along its length do not see. The current of a
circuit in a gap does: about those each rim keeps the field of its own (a dipole fed over one cell rang 8 % low).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nearfield.metal.outlines import BESIDE
from nearfield.metal.patches import cell_near, pair, runs

if TYPE_CHECKING:
    from nearfield.metal.outlines import FlatMetal

Span = tuple[float, float, float, float]  # both rims, first and last place along them (m)

WIDEST = 1.5  # cells; in wider gaps each rim has a field of its own
SHARED = 1.15  # cells; in wider gaps the rims at ends have a field of their own
ALONG = 1e-9  # part of a side's length by which it may leave an axis


class Gap(NamedTuple):
    """A narrow gap across an axis of the plane (0: u), between rims at `low` and `high`, open from `first` to `last`
    along the other one (m); which of these two ends are `closed` by metal; whether it is so narrow that the rims there
    `share` their field with those along it."""

    axis: int
    low: float
    high: float
    first: float
    last: float
    closed: tuple[bool, bool]
    share: bool

    @property
    def is_slot(self) -> bool:
        """Whether it is longer than wide: waves run along it, and see its ends as shorts."""
        return self.last - self.first > self.high - self.low


def facing(flat: FlatMetal, foot: np.ndarray, normal: np.ndarray) -> np.ndarray:
    """Numbers (see `gaps_of`) of the narrowest gaps before points (2, n) on rims with unit normals (2, n); -1: none."""
    found, gaps = np.full(foot.shape[1], -1), gaps_of(flat)
    width = np.full(foot.shape[1], np.inf)
    for number, (axis, low, high, first, last, *_) in enumerate(gaps):
        beside = (first - flat.margin <= foot[1 - axis]) & (foot[1 - axis] <= last + flat.margin)
        for place, way in ((low, 1.0), (high, -1.0)):
            own = beside & (np.abs(foot[axis] - place) <= flat.margin) & (way * normal[axis] > 1.0 - ALONG)
            own &= high - low < width
            found[own], width[own] = number, high - low
    return found


def widths(flat: FlatMetal, number: np.ndarray) -> np.ndarray:
    """Widths (m) of gaps by number; inf for -1."""
    known = [gap.high - gap.low for gap in gaps_of(flat)]
    return np.array([*known, np.inf])[number]


def at_ends(flat: FlatMetal, foot: np.ndarray, normal: np.ndarray) -> np.ndarray:
    """Which points (2, n) on rims with unit normals (2, n) lie on metal that closes a slot where rims share a field."""
    found = np.zeros(foot.shape[1], dtype=bool)
    for axis, low, high, first, last, closed, _ in (gap for gap in gaps_of(flat) if gap.is_slot and gap.share):
        beside = (low - flat.margin <= foot[axis]) & (foot[axis] <= high + flat.margin)
        beside &= np.abs(normal[axis]) < 1.0 - ALONG  # at its corners too, but straight across the gap
        for end, shut in zip((first, last), closed):
            found |= shut & beside & (np.abs(foot[1 - axis] - end) <= flat.margin)
    return found


def gaps_of(flat: FlatMetal) -> list[Gap]:
    """All narrow gaps of a plane."""
    if flat.gaps is None:
        flat.gaps = _gaps(flat)
    return flat.gaps


def _gaps(flat: FlatMetal) -> list[Gap]:
    found: list[Gap] = []
    sides = [flat.rims(number) for number in flat.inside]
    for axis, real in enumerate(flat.across):
        start, end, way = _over_seams(flat, axis, [np.concatenate([side[n] for side in sides]) for n in range(3)])
        upright = np.abs(way[:, axis]) > 1.0 - ALONG
        places, first, last = start[:, axis], *np.sort((start[:, 1 - axis], end[:, 1 - axis]), axis=0)
        above = np.flatnonzero(upright & (way[:, axis] < 0.0))
        above = above[np.argsort(places[above], kind="stable")]
        widest = WIDEST * float(flat.grid.primary(real).max()) + flat.margin
        for low in np.flatnonzero(upright & (way[:, axis] > 0.0)).tolist():
            ends = np.searchsorted(places[above], places[low] + np.array((flat.margin, widest)), side="right")
            for high in above[slice(*ends)].tolist():
                span = max(first[low], first[high]), min(last[low], last[high])
                cell = cell_near(flat.grid, real, places[low], places[high])
                if span[1] - span[0] > flat.margin and places[high] - places[low] <= WIDEST * cell + flat.margin:
                    gap = float(places[low]), float(places[high]), float(span[0]), float(span[1])
                    share = gap[1] - gap[0] < SHARED * cell - flat.margin
                    found += [] if _is_fed(flat, axis, gap) else _open(flat, axis, gap, share, start, end)
    return found


def _open(flat: FlatMetal, axis: int, gap: Span, share: bool, start: np.ndarray, end: np.ndarray) -> Iterator[Gap]:
    """The parts of what lies between two rims that no metal of the plane fills; `start`, `end` of all sides."""
    low, high, first, last = gap
    middle = 0.5 * (low + high)
    before, after = start[:, axis] - middle, end[:, axis] - middle
    own = np.flatnonzero(before * after < 0.0)
    part = before[own] / (before[own] - after[own])
    cuts = start[own, 1 - axis] + part * (end[own, 1 - axis] - start[own, 1 - axis])
    cuts = np.unique(np.concatenate(([first, last], cuts[(cuts > first) & (cuts < last)])))

    def holds(along: np.ndarray) -> np.ndarray:
        at = np.full((along.size, 2), middle)
        at[:, 1 - axis] = along
        return flat.holds(at)

    step = BESIDE * flat.shortest
    for a, b in (cuts[list(ends)] for ends in runs(~holds(0.5 * (cuts[1:] + cuts[:-1])))):
        yield Gap(axis, low, high, float(a), float(b), pair(holds(np.array([a - step, b + step])).tolist()), share)


def _is_fed(flat: FlatMetal, axis: int, gap: Span) -> bool:
    """Whether a circuit lies in a gap."""
    across, along = flat.fed[:, axis], flat.fed[:, 1 - axis]
    inside = (gap[0] - flat.margin < across) & (across < gap[1] + flat.margin)
    return bool((inside & (gap[2] - flat.margin < along) & (along < gap[3] + flat.margin)).any())


def _over_seams(flat: FlatMetal, axis: int, sides: Sequence[np.ndarray]) -> tuple[np.ndarray, ...]:
    """Starts, ends and normals of sides, with those that they repeat on both sides of a closed axis."""
    start, end = (flat.repeated(part, axis) for part in sides[:2])
    return start, end, np.tile(sides[2], (len(start) // max(len(sides[2]), 1), 1))
