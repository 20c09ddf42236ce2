"""Gaps between flat metal so narrow that the field of one rim is not that of the other: where rims face each other.

Faces beside a gap count with little of 1/mu, which fields that fill it along its length do not see. The current of a
circuit in a gap does: about those each rim keeps the field of its own (a dipole fed over one cell rang 8 % low).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nearfield.metal.outlines import FlatMetal, outward, sides_of
from nearfield.metal.patches import cell_near

WIDEST = 1.5  # cells; in wider gaps each rim has a field of its own
ALONG = 1e-9  # part of a side's length by which it may leave an axis


def facing(flat: FlatMetal, foot: np.ndarray, normal: np.ndarray) -> np.ndarray:
    """Widths (m) of the gaps before points (2, n) on rims with unit normals (2, n); inf where none is narrow."""
    found = np.full(foot.shape[1], np.inf)
    if flat.gaps is None:
        flat.gaps = _gaps(flat)
    for axis, (low, high, first, last) in flat.gaps:
        beside = (first - flat.margin <= foot[1 - axis]) & (foot[1 - axis] <= last + flat.margin)
        for place, way in ((low, 1.0), (high, -1.0)):
            own = beside & (np.abs(foot[axis] - place) <= flat.margin) & (way * normal[axis] > 1.0 - ALONG)
            found[own] = np.minimum(found[own], high - low)
    return found


def _gaps(flat: FlatMetal) -> list[tuple[int, tuple[float, float, float, float]]]:
    """(axis across, (both rims, first and last place along them)) of all narrow gaps of a plane."""
    found = []
    sides = [_rims(flat, number) for number in flat.inside]
    for axis, real in enumerate(flat.across):
        start, end, way = _over_seams(flat, axis, [np.concatenate([side[n] for side in sides]) for n in range(3)])
        upright = np.abs(way[:, axis]) > 1.0 - ALONG
        places, first, last = start[:, axis], *np.sort((start[:, 1 - axis], end[:, 1 - axis]), axis=0)
        above = np.flatnonzero(upright & (way[:, axis] < 0.0))
        above = above[np.argsort(places[above], kind="stable")]
        widest = WIDEST * float(flat.grid.primary(real).max())
        for low in np.flatnonzero(upright & (way[:, axis] > 0.0)).tolist():
            ends = np.searchsorted(places[above], places[low] + np.array((flat.margin, widest)), side="right")
            for high in above[slice(*ends)].tolist():
                span = max(first[low], first[high]), min(last[low], last[high])
                cell = cell_near(flat.grid, real, places[low], places[high])
                if span[1] - span[0] > flat.margin and places[high] - places[low] <= WIDEST * cell + flat.margin:
                    gap = float(places[low]), float(places[high]), float(span[0]), float(span[1])
                    found += [] if _is_fed(flat, axis, gap) else [(axis, gap)]
    return found


def _is_fed(flat: FlatMetal, axis: int, gap: tuple[float, float, float, float]) -> bool:
    """Whether a circuit lies in a gap."""
    across, along = flat.fed[:, axis], flat.fed[:, 1 - axis]
    inside = (gap[0] - flat.margin < across) & (across < gap[1] + flat.margin)
    return bool((inside & (gap[2] - flat.margin < along) & (along < gap[3] + flat.margin)).any())


def _over_seams(flat: FlatMetal, axis: int, sides: Sequence[np.ndarray]) -> tuple[np.ndarray, ...]:
    """Starts, ends and normals of sides, with those that they repeat on both sides of a closed axis."""
    line, step = flat.grid.lines[flat.across[axis]], np.zeros(2)
    if not flat.grid.closed(flat.across[axis]):
        return tuple(sides)
    step[axis] = line[-1] - line[0]
    start, end = (np.concatenate([part + turn * step for turn in (-1, 0, 1)]) for part in sides[:2])
    return start, end, np.tile(sides[2], (3, 1))


def _rims(flat: FlatMetal, number: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Starts, ends and outward normals of a body's sides."""
    sides = sides_of(flat.bodies[number].shape, flat.normal)
    assert sides is not None
    return *sides, outward(*sides, lambda points: flat.holds_alone(number, points))
