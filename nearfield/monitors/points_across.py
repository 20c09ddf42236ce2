"""Warnings about points within a cell of faces at which H jumps and is still taken from both sides."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from nearfield.entry.triples import Point
from nearfield.grid.yee import is_half
from nearfield.lowering.interpolation import point_samples
from nearfield.lowering.one_sided import ALIKE
from nearfield.media.materials import Medium
from nearfield.media.surface_media import is_metal

if TYPE_CHECKING:
    from nearfield.lowering.context import Context


def points_across(points: Iterable[tuple[str, int, Point]], context: Context) -> Iterator[str]:
    """Probes and currents of H, as (label, component, place), at magnetic media and at sheets that conduct."""
    for who, component, position in points:
        if component < 3:
            continue
        index = np.stack(point_samples(context, component, position)[0])
        i, j, k = context.grid.in_cell(index)
        _, drive = context.coefficients.media_at(component, i, j, k)
        times = float(np.max(drive) / max(np.min(drive), 1e-300))
        if 1.0 + ALIKE < times:
            yield (
                f"{who} lies within a cell of a face of a magnetic medium, across which the normal H jumps up to "
                f"{times:.3g} times, and takes samples of both sides; keep it a cell away, or where its cell's middle "
                "lies wholly in one medium"
            )
        elif _sheet_between(context, component, index, position):
            yield (
                f"{who} lies within a cell of a sheet that conducts, across which H jumps by the current in it, and "
                "takes samples of both sides: between what is above and below; keep it a cell away"
            )


def _sheet_between(context: Context, component: int, index: np.ndarray, position: Point) -> bool:
    """Whether a flat body of a surface medium at a point parts samples (3, n) that lie midway between its lines."""
    axes, steps = context.grid.component_axes(component), [context.grid.primary(a).max() for a in range(3)]
    ends = [(line[part].min(), line[part].max()) for line, part in zip(axes, context.grid.in_cell(index))]
    for _, medium, bounds in context.coefficients.fillings():
        if bounds is None or isinstance(medium, Medium) or is_metal(medium):
            continue
        near = [low - step < p < high + step for low, high, p, step in zip(*bounds, position, steps)]
        for axis in range(3):
            between = ends[axis][0] < bounds[0][axis] == bounds[1][axis] < ends[axis][1]
            if between and all(near) and is_half(component, axis):
                return True
    return False
