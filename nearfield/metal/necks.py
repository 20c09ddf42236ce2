"""Parts of flat metal along no axis that are too narrow to hold together on edges, and the chains that join them.

The nodes in metal of width w with the unit normal n are a chain along edges if w is at least the length of a cell's
sides across it, abs(n_u) d_u + abs(n_v) d_v. Where an outline is narrower, at the tip of a bow-tie or along the inner
arms of a spiral, its nodes are islands with gaps between them: the edges through the nodes nearest to its middle are
metal there too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nearfield.metal.patches import runs

if TYPE_CHECKING:
    from nearfield.metal.outlines import FlatMetal

STEP = 0.25  # cells between points along a side
ALONG = 1e-6  # part of a side's length by which it may leave an axis
FACING = -0.49  # cosine of the angle between the normals of two sides above which they do not face each other
NEAR = 1e-9  # cells from a side within which the way across begins
AT_ONCE = 1 << 22  # pairs of points and sides


def holding(normal: np.ndarray, cells: np.ndarray) -> np.ndarray:
    """The width (m) from which metal with unit normals (..., 2) holds together on edges of some lengths (2,) (m)."""
    return np.asarray(np.abs(normal) @ cells)


@dataclass(frozen=True)
class Neck:
    """Points (n, 2) (m) in the middle of a part of a plane's metal that is too narrow, in order and less than a cell
    apart, with one more at ends where metal goes on; its least width (m)."""

    points: np.ndarray
    width: float


def necks(flat: FlatMetal) -> list[Neck]:
    """The parts of a plane's metal that are too narrow to hold together."""
    sides = [flat.rims(number) for number in flat.inside]
    start, end, normal = (np.concatenate([np.empty((0, 2)), *(side[n] for side in sides)]) for n in range(3))
    cells = np.array([[float(each(flat.grid.primary(a))) for a in flat.across] for each in (np.min, np.max)])
    middle, wide, narrow = [np.empty((0, 2))], [np.empty(0)], [np.empty(0, dtype=bool)]
    for side in np.flatnonzero(np.abs(normal).min(axis=1, initial=1.0) > ALONG).tolist():
        along, most = end[side] - start[side], float(holding(normal[side], cells[1]))
        count = max(1, int(np.ceil(np.hypot(*along) / (STEP * cells[0].min()))))
        at = start[side] + (np.arange(count) + 0.5)[:, None] / count * along
        facing = np.flatnonzero((normal @ normal[side] < FACING) & (np.arange(len(normal)) > side))
        width = _across(at, -normal[side], start[facing], end[facing] - start[facing], NEAR * most)
        middle.append(at - 0.5 * np.minimum(width, most)[:, None] * normal[side])
        wide.append(width)
        narrow.append(width < most)
    points, widths, own = (np.concatenate(parts) for parts in (middle, wide, narrow))
    apart = np.flatnonzero((np.abs(np.diff(points, axis=0)) > cells[0]).any(axis=1)) + 1
    return [
        Neck(line[max(first - 1, 0) : last + 1], float(size[first:last].min()))
        for line, size, inside in zip(*(np.split(each, apart) for each in (points, widths, own)))
        for first, last in runs(inside)
    ]


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
