"""The record of tangential fields on flat faces: what the power flux and the far field are made of.

A face lies on a plane of grid nodes, normal to axis a; b and c are the axes that follow cyclically. E_b and E_c are
sampled on the plane, H_b and H_c half a cell to either side and interpolated linearly to the plane. On a face E_b and
H_c share their positions (half b, node c), E_c and H_b theirs (node b, half c). In time H is averaged from half a step
to either side of E, the factor cos(w dt/2) in a spectrum: E x H is then the grid's own power, see analysis/flux.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from nearfield.analysis.faces import time_factor
from nearfield.entry.triples import Triple, triple
from nearfield.grid.boundaries import FACES
from nearfield.grid.yee import AXES, COMPONENTS, YeeGrid
from nearfield.lowering.context import Context, dft_stride
from nearfield.monitors.regions import held_region, is_held, restored
from nearfield.plan.recorders import DFTBox, Recording
from nearfield.records.records import Variable, Variables
from nearfield.records.regions import Region, frequency_axis, unit_of

OUTWARD = {"low": -1, "high": +1, "plane": +1}


@dataclass(frozen=True)
class FacePlace:
    """Where a face lies: node `node` of `axis`, between the nodes `first` and `last` of the box."""

    axis: int
    side: str  # "low" | "high" | "plane"
    first: Triple
    last: Triple

    @property
    def node(self) -> int:
        return (self.last if self.side == "high" else self.first)[self.axis]

    @property
    def components(self) -> tuple[int, int, int, int]:
        """E_b, E_c, H_b, H_c."""
        b, c = (self.axis + 1) % 3, (self.axis + 2) % 3
        return b, c, b + 3, c + 3

    def region(self, grid: YeeGrid, component: int) -> Region:
        """The samples of a tangential component on the plane (E) or on both sides of it (H)."""
        first, last = list(self.first), list(self.last)
        first[self.axis] = last[self.axis] = self.node
        return Region.between(grid, component, triple(first), triple(last))

    def name(self, component: int) -> str:
        """Name of the component's record."""
        return f"{COMPONENTS[component]}_{AXES[self.axis]}_{self.side}"


def closed_box(first: Triple, last: Triple, absent: set[tuple[int, str]]) -> list[FacePlace]:
    """The faces of a box of nodes, without those that lie on a wall."""
    return [FacePlace(axis, side, first, last) for axis, side in FACES if (axis, side) not in absent]


def surface_terms(context: Context, places: list[FacePlace], frequencies: np.ndarray) -> list[DFTBox]:
    """The running Fourier sums of all faces."""
    stride, terms = dft_stride(context, frequencies), []
    for region in surface_regions(context.grid, places):
        if is_held(region, context):
            held = held_region(region, context)
            terms.append(DFTBox(held.component, held.lower, held.upper, frequencies, stride))
    return terms


def surface_regions(grid: YeeGrid, places: list[FacePlace]) -> list[Region]:
    """The regions of all faces in the order of the terms."""
    return [place.region(grid, component) for place in places for component in place.components]


def surface_variables(
    context: Context, places: list[FacePlace], frequencies: np.ndarray, recordings: Iterator[Recording]
) -> Variables:
    """The faces as variables `Ey_x_low` (frequency, y_half, z), H averaged to the face's plane and E's time steps."""
    variables = frequency_axis(frequencies)
    averaged = time_factor(frequencies, context.time_step)[:, None, None]
    for place in places:
        axis, below, above = place.axis, *cells_beside(context.grid, place)
        for component in place.components:
            region = place.region(context.grid, component)
            values = next(recordings).values if is_held(region, context) else None
            values = restored(region, values, context, frequencies.size)
            if component >= 3:
                low, high = np.moveaxis(values, axis + 1, 0)
                values = averaged * (above * low + below * high) / (below + above)
            else:
                values = values.squeeze(axis + 1)
            dims = [dim for a, dim in enumerate(region.dims) if a != axis]
            axes = region.coordinates(context.grid)
            variables |= {dim: axes[dim] for dim in dims}
            attributes = {
                "units": unit_of(component) + " s",
                "axis": AXES[axis],
                "outward": OUTWARD[place.side],
                "position": float(context.grid.lines[axis][place.node]),
                "cells_beside": [below, above],
                "time_step": context.time_step,
            }
            variables[place.name(component)] = Variable(("frequency", *dims), values, attributes)
    return variables


def cells_beside(grid: YeeGrid, place: FacePlace) -> tuple[float, float]:
    """Lengths (m) of the cells below and above the face's plane."""
    length = grid.primary(place.axis)
    return float(length[place.node - 1]), float(length[place.node])
