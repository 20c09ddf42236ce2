"""Parts of flat metal along no axis that are too narrow to hold together on edges, and the chains that join them.

The nodes in metal of width w with the unit normal n are a chain along edges if w is at least the length of a cell's
sides across it, abs(n_u) d_u + abs(n_v) d_v. Where an outline is narrower, at the tip of a bow-tie or along the inner
arms of a spiral, its nodes are islands with gaps between them: the edges through the nodes nearest to its middle are
metal there too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nearfield.metal.patches import cell_near, runs

if TYPE_CHECKING:
    from nearfield.metal.outlines import FlatMetal

STEP = 0.25  # cells between points along a side
ALONG = 1e-6  # part of a side's length by which it may leave an axis
FACING, PARALLEL = -0.49, -0.8  # cosines of the angle between normals up to which sides face each other, make gaps
TIP = 0.4  # of the largest width of a narrow part; where the least is less it ends in a point
NEAR = 1e-9  # cells from a side within which the way across begins
AT_ONCE = 1 << 22  # pairs of points and sides


def holding(normal: np.ndarray, cells: np.ndarray) -> np.ndarray:
    """The width (m) from which metal with unit normals (..., 2) holds together on edges of some lengths (2,) (m)."""
    return np.asarray(np.abs(normal) @ cells)


@dataclass(frozen=True)
class Neck:
    """Points (n, 2) (m) in the middle of a narrow part of a plane's metal, or of a gap, in order and less than a cell
    apart, with one more at ends where it widens; its least width (m), the cell there (m); whether it `ends` in a point.
    """

    points: np.ndarray
    width: float
    cell: float
    ends: bool


def necks(flat: FlatMetal) -> list[Neck]:
    """The parts of a plane's metal that are too narrow to hold together."""
    return _narrow(flat, -1.0, FACING, holding)


def slanting_gaps(flat: FlatMetal, cells_wide: float) -> list[Neck]:
    """Gaps along no axis between rims of a plane, narrower than so many cells across them."""
    return _narrow(flat, 1.0, PARALLEL, lambda normal, cells: cells_wide / np.hypot(*(normal / cells)))


def _narrow(
    flat: FlatMetal, way: float, turned: float, most_of: Callable[[np.ndarray, np.ndarray], np.ndarray]
) -> list[Neck]:
    """Where sides of outlines with some along no axis face others nearer than `most_of` their normals and cells (m), in
    metal (`way` -1) or before it; `turned`: cosine of the angle between their normals, at most."""
    from scipy.spatial import KDTree

    sides = [flat.rims(number) for number in flat.inside]
    start, end, normal = (np.concatenate([np.empty((0, 2)), *(side[n] for side in sides)]) for n in range(3))
    bodies = np.repeat(np.arange(len(sides)), [len(side.start) for side in sides])
    looked = np.flatnonzero(np.isin(bodies, bodies[np.abs(normal).min(axis=1, initial=1.0) > ALONG]))
    if not looked.size:
        return []
    least = np.array([float(flat.grid.primary(a).min()) for a in flat.across])
    counts = np.maximum(1, np.ceil(np.hypot(*(end - start).T) / (STEP * least.min())).astype(int))
    owner, first = np.repeat(np.arange(len(counts)), counts), np.cumsum(counts) - counts
    part = (np.arange(len(owner)) - first[owner] + 0.5) / counts[owner]
    places = start[owner] + part[:, None] * (end - start)[owner]
    tree, rows = KDTree(places), []
    for side in looked.tolist():
        at, ends = places[first[side] : first[side] + counts[side]], np.sort((start[side], end[side]), axis=0).T
        cells = np.array([cell_near(flat.grid, a, *span) for a, span in zip(flat.across, ends.tolist())])
        most = float(most_of(normal[side], cells))
        near = tree.query_ball_point(at, most + STEP * least.max())
        facing = np.unique(owner[np.concatenate([np.asarray(each, dtype=int) for each in near])])
        facing = facing[(facing > side) & (normal[facing] @ normal[side] < turned)]
        width = _across(at, way * normal[side], start[facing], end[facing] - start[facing], NEAR * most)
        middle = at + 0.5 * way * np.minimum(width, most)[:, None] * normal[side]
        rows.append((middle, width, width < most, np.full(len(at), cells.max())))
    points, widths, own, cell = (np.concatenate(parts) for parts in zip(*rows))
    apart = np.flatnonzero((np.abs(np.diff(points, axis=0)) > least).any(axis=1)) + 1
    lines = zip(*(np.split(each, apart) for each in (points, widths, own, cell)))
    return [
        _neck(line[max(begin - 1, 0) : stop + 1], size[begin:stop], cells[begin:stop])
        for line, size, inside, cells in lines
        for begin, stop in runs(inside)
    ]


def _neck(points: np.ndarray, width: np.ndarray, cell: np.ndarray) -> Neck:
    narrowest = int(np.argmin(width))
    low = float(width[narrowest])
    return Neck(points, low, float(cell[narrowest]), low < TIP * float(width.max()))


def _across(at: np.ndarray, way: np.ndarray, start: np.ndarray, along: np.ndarray, least: float) -> np.ndarray:
    """How far (m) points (n, 2) are from the nearest of some sides (m, 2) along a way (2,); inf: none lies there."""
    found = np.full(len(at), np.inf)
    turn = way[0] * along[:, 1] - way[1] * along[:, 0]
    for own in np.array_split(np.arange(len(at)), 1 + len(at) * len(start) // AT_ONCE) if len(start) else ():
        to = start - at[own, None]
        far = (to[..., 0] * along[:, 1] - to[..., 1] * along[:, 0]) / turn
        part = (to[..., 0] * way[1] - to[..., 1] * way[0]) / turn
        there = (far > least) & (part >= 0.0) & (part <= 1.0)
        found[own] = np.where(there, far, np.inf).min(axis=1)
    return found


def chain(nodes: np.ndarray, places: np.ndarray, lines: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """Nodes (m, 2) one edge from each other through some (n, 2) that are at most one cell apart along each axis; on the
    way across a cell the corner nearer to the middle of two `places` (n, 2) (m)."""
    found = [nodes[:1]]
    for before, after, middle in zip(nodes[:-1], nodes[1:], 0.5 * (places[1:] + places[:-1])):
        if (before != after).all():
            corners = np.array([(after[0], before[1]), (before[0], after[1])])
            at = np.stack([line[corners[:, n]] for n, line in enumerate(lines)], axis=1)
            found.append(corners[[int(np.argmin(np.hypot(*(at - middle).T)))]])
        if (before != after).any():
            found.append(after[None])
    return np.concatenate(found)
