"""The places in a file of the samples that a recorder copies: as they are, mirrored below planes, again past a seam.

The file holds the whole region. With planes of symmetry only its upper part is recorded, along closed axes all but the
last line; each recorded box is therefore written at several places, with a sign, or turned by Bloch phases.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.entry.triples import triple
from nearfield.grid.folds import Fold
from nearfield.monitors.regions import cut_edges as region_cut_edges
from nearfield.records.regions import Region

if TYPE_CHECKING:
    from nearfield.grid.yee import YeeGrid
    from nearfield.lowering.context import Context


@dataclass(frozen=True)
class Image:
    """Along an axis: recorded samples first, first + step, ... are `count` samples of the region from `offset` on."""

    first: int
    count: int
    offset: int
    step: int = 1
    sign: int = 1
    lag: float = 0.0  # rad


def images(grid: YeeGrid, region: Region, axis: int, lower: int, upper: int, active: int) -> list[Image]:
    """The images of recorded samples [lower, upper), counted in the half above a plane if there is one."""
    begin, end, middle, last = region.lower[axis], region.upper[axis], grid.stepped_from[axis], grid.cells[axis]
    parts = []
    if grid.mirrors[axis]:
        fold = Fold.of(grid, region.component, axis, active)
        top = middle - fold.half  # sample n of the half is number top - n below the plane
        first, stop = max(begin, top + 1 - upper), min(end, top + 1 - max(lower, not fold.half))
        if first < stop:
            parts.append(Image(top - first - lower, stop - first, first - begin, -1, fold.parity))
    first, stop = max(begin, middle + lower), min(end, middle + upper)
    if first < stop:
        parts.append(Image(first - middle - lower, stop - first, first - begin))
    if grid.closed(axis) and lower == 0 and begin <= last < end:
        parts.append(Image(0, 1, last - begin, lag=grid.phases[axis] or 0.0))
    return parts


def reach(grid: YeeGrid, region: Region, axis: int, upper: int, active: int) -> int:
    """End of the samples that are stored for recorded ones up to `upper`: with the zeros on a high wall."""
    fold = Fold.of(grid, region.component, axis, active) if grid.mirrors[axis] else None
    if grid.closed(axis) or upper != (fold.end if fold else active):
        return upper
    if fold is None:
        return region.upper[axis]
    return max(upper, int(fold.folded(np.array([region.lower[axis], region.upper[axis] - 1])).max()) + 1)


def piece_of(
    grid: YeeGrid,
    name: str,
    region: Region,
    lower: Sequence[int],
    upper: Sequence[int],
    active: Sequence[int],
    axes: Sequence[int],
) -> dict[str, Any]:
    """The writer's description of a recorder's box, stored along the axes `axes`; `active`: samples of the whole."""
    upper = [reach(grid, region, axis, upper[axis], active[axis]) for axis in range(3)]
    extent = [int(b - a) for a, b in zip(lower, upper)]
    along = [images(grid, region, axis, int(lower[axis]), int(upper[axis]), active[axis]) for axis in range(3)]
    return {
        "component": name,
        "shape": tuple(extent[axis] for axis in axes),
        "turned": [list(axes).index(axis) for axis in range(3)],
        "images": [
            {
                "take": [(image.first, image.count, image.step) for image in each],
                "offset": [image.offset for image in each],
                "sign": math.prod(image.sign for image in each),
                "lags": [image.lag for image in each if image.lag],
            }
            for each in product(*along)
        ],
        "boxes": [tuple(zip(*box)) for box in product(*(merged(each) for each in along))],
    }


def cut_edges(context: Context, component: int, lower: Sequence[int], extent: Sequence[int]) -> dict[str, Any]:
    """Places (x, y, z) in a piece of the edges that conformal metal cuts, and how far they are open."""
    first = triple(int(middle + low) for middle, low in zip(context.grid.stepped_from, lower))
    region = Region(component, first, triple(low + count for low, count in zip(first, extent)))
    place, fraction = region_cut_edges(region, context)
    return {"cut": [each.tolist() for each in place], "open": fraction.tolist()}


def merged(along: list[Image]) -> list[tuple[int, int]]:
    """(offset, count) of the images along an axis; images that touch are one."""
    spans: list[tuple[int, int]] = []
    for image in sorted(along, key=lambda image: image.offset):
        if spans and sum(spans[-1]) == image.offset:
            spans[-1] = spans[-1][0], spans[-1][1] + image.count
        else:
            spans.append((image.offset, image.count))
    return spans
