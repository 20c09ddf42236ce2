"""Points about the free rims of one plane of flat metal, on the half lattice on which all samples lie."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nearfield.metal.facing_rims import at_ends, facing, widths
from nearfield.metal.half_lattice import HalfLattice
from nearfield.metal.outlines import BESIDE, FlatMetal, nearest_foot, past_ends
from nearfield.metal.patches import spread
from nearfield.metal.rim_field import REACH

UPRIGHT = 1e-3  # sine of the angle to an axis up to which a rim counts as along it
INTO = 0.7  # part of a side's normal along an axis below which it leads into the CPML across that axis
TIES = 6  # decimals of distances in cells up to which two rims are as near
SAME_WAY = 1e-6  # difference of the cosines of twice the angles of rims below which they are parallel


@dataclass(frozen=True)
class RimPoints:
    """Points of a plane: their places in the lattices of u and v, signed distance (m) from the nearest free rim,
    positive outside metal, its unit normal outwards, how far the rim is felt (m), which feel no other rim and which
    feel one across it, as at a corner, the number of the narrow gap before the rim (-1: none) and how wide it is (m;
    inf), and the open part of the cell along a slot that ends in it (slot_ends.py; 1 elsewhere).

    `by_cell`: whose factors the time step bounds cell by cell (cell_bound.py), about rims along no axis, which are
    sides of an outline, and about narrow gaps."""

    at: np.ndarray  # (2, n)
    s: np.ndarray
    normal: np.ndarray  # (2, n)
    reach: np.ndarray
    by_cell: np.ndarray
    alone: np.ndarray
    cornered: np.ndarray
    facing: np.ndarray
    gap: np.ndarray
    opened: np.ndarray


def rim_points(flat: FlatMetal, lattices: Sequence[HalfLattice], height: float, least: float) -> RimPoints:
    """All points near free rims; `height` of the metal as drawn, `least`: how far a rim is felt at least (m)."""
    found = [_about(flat, number, lattices, least) for number in flat.inside]
    at, place, distance, foot, side, slants = (np.concatenate([part[n] for part in found], axis=-1) for n in range(6))
    key = np.ravel_multi_index(tuple(at), [lattice.number.size for lattice in lattices])
    _, first, back = np.unique(key, return_index=True, return_inverse=True)
    each = place[:, first].T
    inside = flat.holds(each)
    solid = inside.copy()  # in solid metal alone, of whose surface the rims know nothing
    solid[inside] = ~flat.holds(each[inside], solid=False)
    inside, solid = inside[back], solid[back]
    away = np.where(distance > flat.margin, (place - foot) / np.maximum(distance, flat.margin), 0.0)
    own = np.where(inside, -away, away)
    normal = np.where(distance > flat.margin, own, side)
    beyond = (foot + BESIDE * flat.shortest * normal).T
    free = ~flat.holds(beyond) & ~past_ends(beyond, [lattice.end for lattice in lattices], flat.margin)
    shorts = at_ends(flat, foot, normal)
    free &= ~flat.touches_others(foot.T, height) & ~shorts
    cells = np.stack([lattice.cell[n] for lattice, n in zip(lattices, at)])
    felt = free & (distance < np.maximum(REACH * (np.abs(side) * cells).sum(axis=0), least) - flat.margin)
    beside = np.abs((side * normal).sum(axis=0)) > 1.0 - SAME_WAY  # a side, not past its ends
    felt &= beside
    places, ways = (
        _range(value[felt], back[felt], first.size)
        for value in ((side * (foot - place)).sum(axis=0), side[0] ** 2 - side[1] ** 2)
    )
    relative = distance / np.maximum((np.abs(side) * cells).sum(axis=0), flat.margin)  # cells across the side
    relative = np.where(beside | slants, relative, np.hypot(*(distance * normal / cells)))
    facing_it = facing(flat, foot, normal)
    gap = widths(flat, facing_it)
    relative = np.round(relative, TIES)  # midway between two rims that with a narrow gap counts, on either side
    order = np.lexsort((gap, np.where(shorts, np.inf, relative), key))
    nearest = np.zeros(key.size, dtype=bool)
    nearest[order[np.unique(key[order], return_index=True)[1]]] = True
    order = order[(free & (inside | nearest) & ~solid)[order]]
    chosen = _as_near(order, key, relative, normal, facing_it >= 0)
    s = np.where(inside, -distance, distance)[chosen]
    reach = np.maximum(REACH * (np.abs(normal[:, chosen]) * cells[:, chosen]).sum(axis=0), least)
    s, normal, facing_it = _seen_from_outside(
        lattices, at[:, chosen], s, normal[:, chosen], facing_it[chosen], flat.margin
    )
    s = np.where(np.abs(s) <= flat.margin, 0.0, s)
    gap, wide = widths(flat, facing_it), facing_it < 0
    alone = (places[back[chosen]] < flat.margin) & (ways[back[chosen]] < SAME_WAY) & wide
    cornered = ways[back[chosen]] > 1.0
    near = np.abs(s) < reach - flat.margin
    return RimPoints(
        at[:, chosen][:, near],
        s[near],
        normal[:, near],
        reach[near],
        (slants[chosen] | (~wide & ~cornered))[near],
        alone[near],
        cornered[near],
        facing_it[near],
        gap[near],
        np.ones(np.count_nonzero(near)),
    )


def _as_near(
    order: np.ndarray, key: np.ndarray, relative: np.ndarray, normal: np.ndarray, gap: np.ndarray
) -> np.ndarray:
    """Of pairs of points and sides in the order of nearness the first of each point (`key`), and those as near with
    other normals, as on the diagonal of a corner: neither is preferred. Of those before a narrow `gap` the first alone.

    By rising key, normals along u first."""
    _, first, back = np.unique(key[order], return_index=True, return_inverse=True)
    first = order[first][back]
    tied = (relative[order] == relative[first]) & ~gap[order] & ~gap[first]
    found = np.append(order[first == order], order[tied])
    ways = np.rint(normal[:, found] / SAME_WAY).astype(np.int64)
    _, once = np.unique(np.stack((key[found], -np.abs(ways[0]), *ways)), axis=1, return_index=True)
    return found[once]


def _range(value: np.ndarray, group: np.ndarray, count: int) -> np.ndarray:
    """Largest less least of the values of each group."""
    low, high = np.full(count, np.inf), np.full(count, -np.inf)
    np.minimum.at(low, group, value)
    np.maximum.at(high, group, value)
    return high - low


def _seen_from_outside(
    lattices: Sequence[HalfLattice], at: np.ndarray, s: np.ndarray, normal: np.ndarray, gap: np.ndarray, margin: float
):
    """Distances, normals and numbers of gaps; of the middle of an edge that leaves metal those of the rim it crosses.

    Near a corner another rim may be nearer to its middle.
    """
    shape = [lattice.number.size for lattice in lattices]
    key = np.ravel_multi_index(tuple(at), shape)  # rising; of points as near to two rims those across u first
    found, turned, before = s.copy(), normal.copy(), gap.copy()
    odd = np.stack([lattice.number[n] % 2 for lattice, n in zip(lattices, at)])
    for a, lattice in enumerate(lattices):
        middle = np.nonzero((odd[a] == 1) & (odd[1 - a] == 0) & (s <= margin))[0]
        beside = [
            np.where(np.arange(2)[:, None] == a, lattice.same[at[a, middle] + way], at[:, middle]) for way in (-1, 1)
        ]
        keys = [np.ravel_multi_index(tuple(each), shape) for each in beside]
        rows = [np.searchsorted(key, each, side="right" if a else "left") - a for each in keys]
        rows = [np.clip(row, 0, key.size - 1) for row in rows]
        outside = [(key[row] == each) & (s[row] > margin) for row, each in zip(rows, keys)]
        for n, way in enumerate((-1, 1)):
            own = outside[n] & ~outside[1 - n]
            row, to = rows[n][own], middle[own]
            half = 0.5 * lattices[a].length[at[a][to]]
            found[to], turned[:, to] = s[row] - way * normal[a][row] * half, normal[:, row]
            before[to] = gap[row]
    return found, turned, before


def _about(flat: FlatMetal, number: int, lattices: Sequence[HalfLattice], least: float) -> tuple[np.ndarray, ...]:
    """(places in the lattices, place (m), distance, foot, normal of the side, whether it slants) of points near each
    side of one body; past a seam: places of the samples that they are, the place as the side sees it."""
    parts: list[tuple[np.ndarray, ...]] = [
        (np.empty((2, 0), int), np.empty((2, 0)), np.empty(0), *[np.empty((2, 0))] * 2, np.empty(0, bool))
    ]
    for first, last, normal in zip(*flat.rims(number)):
        cuts = [_near(*each, least, flat.margin) for each in zip(lattices, first, last, np.abs(normal))]
        if any(cut.size == 0 for cut in cuts):
            continue
        points = [spread(lattice.place[cut], n) for n, (lattice, cut) in enumerate(zip(lattices, cuts))]
        distance, foot = nearest_foot(points, first, last)
        cell = max(float(lattice.cell[cut].max()) for lattice, cut in zip(lattices, cuts))
        near = np.nonzero(distance < max(REACH * cell * 2.0**0.5, least))
        seen = [cut[n] for cut, n in zip(cuts, near)]
        at, place = (
            np.stack([each[n] for each, n in zip(of, seen)]) for of in zip(*((b.same, b.place) for b in lattices))
        )
        slants = np.full(at.shape[1], np.abs(normal).min() > UPRIGHT)
        parts.append((at, place, distance[near], foot[near].T, np.repeat(normal[:, None], at.shape[1], axis=1), slants))
    return tuple(np.concatenate([part[n] for part in parts], axis=-1) for n in range(6))


def _near(lattice: HalfLattice, start: float, end: float, across: float, least: float, margin: float) -> np.ndarray:
    """Places in a lattice within the reach of a side; none in a CPML that it ends before or rather runs along."""
    low, high = min(start, end), max(start, end)
    reach = np.maximum(REACH * 2.0**0.5 * lattice.cell, least)
    near = (lattice.place >= low - reach) & (lattice.place <= high + reach)
    entered = lattice.reached(low, high, margin) if across < INTO else lattice.layer == 0
    return np.nonzero(near & entered)[0]
