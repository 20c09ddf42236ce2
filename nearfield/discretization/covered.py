"""Warnings about structures that later ones take the place of, so that they have no effect."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from nearfield.bodies.geometry import FilledShape
from nearfield.bodies.points_inside import points_inside
from nearfield.bodies.shapes import Wire
from nearfield.entry.wording import counted
from nearfield.grid.yee import SAMPLE_TOLERANCE, YeeGrid

LOOKED_AT = 400  # points of a structure; one of which less than a 400th shows may be taken for covered


def covered_bodies(bodies: Sequence[FilledShape], grid: YeeGrid) -> Iterator[str]:
    """A warning about structures all of which lies inside later ones of other media."""
    found = list(_covered(bodies, grid))
    if found:
        body, cover = found[0]
        others = f", and so {'does' if len(found) == 2 else 'do'} {counted(len(found) - 1, 'other structure')}"
        yield (
            f"{body.label} lies wholly inside {cover.label}, which is drawn after it and takes its place, so it has no "
            f"effect{others if len(found) > 1 else ''}; draw it after {cover.label}"
        )


def _covered(bodies: Sequence[FilledShape], grid: YeeGrid) -> Iterator[tuple[FilledShape, FilledShape]]:
    """Pairs of a structure without effect and one that covers it, into which no later one reaches there."""
    if not bodies:
        return
    corners = np.array([body.shape.bounds() for body in bodies])
    ends = np.array([(line[0], line[-1]) for line in grid.lines]).T
    margin = SAMPLE_TOLERANCE * min(float(grid.primary(axis).min()) for axis in range(3))
    media: list[object] = []
    for body in bodies:
        if body.medium not in media:
            media.append(body.medium)
    medium = np.array([media.index(body.medium) for body in bodies], dtype=int)
    wires = np.array([isinstance(body.shape, Wire) for body in bodies])
    solid = np.all(corners[:, 0] < corners[:, 1], axis=1) & ~wires
    for number, body in enumerate(bodies):
        low, high = np.maximum(corners[number, 0], ends[0]), np.minimum(corners[number, 1], ends[1])
        reach = solid & (corners[:, 0] < high).all(axis=1) & (corners[:, 1] > low).all(axis=1)
        later = reach & (medium != medium[number]) & (np.arange(len(bodies)) > number)
        if (low > high).any() or not later.any():
            continue
        covers: list[int] = np.flatnonzero(later).tolist()
        spans = corners[covers, 0].min(axis=0), corners[covers, 1].max(axis=0)
        if (spans[0] > low).any() or (spans[1] < high).any():
            continue
        x, y, z = points_inside(body.shape, ends[0], ends[1], LOOKED_AT)
        inside = np.array([bodies[cover].shape.contains(x, y, z, -margin) for cover in covers])
        if not x.size or not inside.any(axis=0).all():
            continue
        cover = covers[int(inside.sum(axis=1).argmax())]
        # a hole that is drawn after the cover lays open what is below it: edges on its rim see that medium
        if not (reach[cover:] & (medium[cover:] != medium[cover])).any():
            yield body, bodies[cover]
