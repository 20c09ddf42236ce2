"""The free edges of thin metal: of sheets in one plane the outline of their union, in parts along the axes.

Where another conductor goes on behind a part of a sheet's edge, that part is no edge: a stub that stands on a strip
touches a part of the strip's edge, and the rest of it keeps its singular field.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from nearfield.bodies.outlines import straight_sides
from nearfield.bodies.shapes import Solid
from nearfield.entry.triples import triple

Edge = tuple[float, int]  # coordinate (m), +1 where metal lies above it and -1 below
Side = tuple[int, float, float, float]  # axis across it, where it lies on it, from and to along the other axis (m)


def free_edges(sheets: Sequence[tuple[Solid, int]], metal: Sequence[Solid], beside: float) -> list[set[Edge]]:
    """The free edges of sheets (shape, normal axis) across x, y and z; `metal` are all conductors.

    beside: distance (m) from an edge at which it is decided on which side metal lies.
    """
    found: list[set[Edge]] = [set(), set(), set()]
    sides = [sides_of(shape, normal) for shape, normal in sheets]
    corners = [np.unique([side[1] for own in sides for side in own if side[0] == axis]) for axis in range(3)]
    for (shape, normal), own in zip(sheets, sides):
        for axis in {side[0] for side in own}:
            parts = [part for side in own if side[0] == axis for part in _parts(side, corners[3 - axis - normal])]
            places, middles = np.array(parts).reshape(-1, 2).T
            above, below = (_held(shape, normal, axis, places + step, middles, metal) for step in (beside, -beside))
            found[axis] |= {(float(place), 1) for place in places[above & ~below]}
            found[axis] |= {(float(place), -1) for place in places[below & ~above]}
        found = [one | two for one, two in zip(found, _round_ends(shape, normal, own))]
    return found


def sides_of(shape: Solid, normal: int) -> list[Side]:
    """The sides of a flat shape's outline that follow the axes."""
    axes = (normal + 1) % 3, (normal + 2) % 3
    start, end = straight_sides(shape, normal) or (np.empty((0, 2)), np.empty((0, 2)))
    return [
        (axes[place], one[place], *sorted((one[1 - place], two[1 - place])))
        for one, two in zip(start.tolist(), end.tolist())
        for place in (0, 1)
        if one[place] == two[place]
    ]


def _parts(side: Side, corners: np.ndarray) -> list[tuple[float, float]]:
    """(place, middle) of the parts of a side between the corners of other sheets."""
    _, place, low, high = side
    ends = [low, *corners[(corners > low) & (corners < high)].tolist(), high]
    return [(place, 0.5 * (a + b)) for a, b in pairwise(ends)]


def _held(
    shape: Solid, normal: int, axis: int, places: np.ndarray, middles: np.ndarray, metal: Sequence[Solid]
) -> np.ndarray:
    """Whether some conductor that touches the shape's plane holds points of it."""
    low, high = (corner[normal] for corner in shape.bounds())
    spare = 1e-9 * max(abs(low), abs(high), high - low)
    at = {axis: places, 3 - axis - normal: middles}
    inside = np.zeros(places.shape, dtype=bool)
    for other in metal:
        first, last = (corner[normal] for corner in other.bounds())
        if first <= high + spare and last >= low - spare:
            at[normal] = np.full(places.shape, float(np.clip(0.5 * (low + high), first, last)))
            inside |= np.broadcast_to(other.contains(*triple(at[a] for a in range(3))), inside.shape)
    return inside


def _round_ends(shape: Solid, normal: int, sides: Sequence[Side]) -> list[set[Edge]]:
    """Ends of the shape along the axes where none of its sides follows them: those of discs and tips."""
    low, high = shape.bounds()
    found: list[set[Edge]] = [set(), set(), set()]
    for axis in (a for a in range(3) if a != normal):
        straight = {place for own, place, *_ in sides if own == axis}
        found[axis] = {(end, way) for end, way in ((low[axis], 1), (high[axis], -1)) if end not in straight}
    return found
