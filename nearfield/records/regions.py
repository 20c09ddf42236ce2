"""Boxes and planes of Yee samples: the indices of a component in them, and their coordinates.

A box between nodes a..b holds, of a component that lies on the grid lines of an axis, samples a..b, and of one midway
a..b-1. A plane at node a holds the midway samples on both sides of it, so that their mean lies on the plane."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nearfield.entry.triples import Triple, triple
from nearfield.grid.yee import AXES, COMPONENTS, YeeGrid, is_half
from nearfield.records.records import HALF, Variable, Variables


@dataclass(frozen=True)
class Region:
    """The samples [lower, upper) of one component, in Yee indices."""

    component: int
    lower: Triple
    upper: Triple

    @classmethod
    def between(cls, grid: YeeGrid, component: int, first: Triple, last: Triple) -> Region:
        """The samples of a component in the box between two nodes."""
        spans = [(start, stop + 1) for start, stop in zip(first, last)]
        for axis, (start, stop) in enumerate(spans):
            if is_half(component, axis):
                plane = first[axis] == last[axis]
                spans[axis] = (max(start - 1, 0), min(stop, grid.cells[axis])) if plane else (start, stop - 1)
        return cls(component, *map(triple, zip(*spans)))

    @property
    def shape(self) -> Triple:
        return triple(b - a for a, b in zip(self.lower, self.upper))

    @property
    def samples(self) -> int:
        return int(np.prod(self.shape))

    def coordinates(self, grid: YeeGrid) -> Variables:
        """The coordinates of the samples, named x or x_half and so on."""
        return {
            dim: Variable((dim,), line[self.lower[axis] : self.upper[axis]], {"units": "m"})
            for axis, (dim, line) in enumerate(zip(self.dims, grid.component_axes(self.component)))
        }

    @property
    def dims(self) -> tuple[str, str, str]:
        x, y, z = (AXES[axis] + HALF * is_half(self.component, axis) for axis in range(3))
        return x, y, z


def time_axis(times: np.ndarray, half: bool = False) -> Variables:
    """The time coordinate of a recording: `time`, or `time_half` for samples of H, half a step later."""
    name = "time" + HALF * half
    return {name: Variable((name,), np.asarray(times, dtype=float), {"units": "s"})}


def frequency_axis(frequencies: np.ndarray) -> Variables:
    """The coordinate of all spectra."""
    return {"frequency": Variable(("frequency",), np.asarray(frequencies, dtype=float), {"units": "Hz"})}


def unit_of(component: int) -> str:
    """Unit of a field component."""
    return "V/m" if component < 3 else "A/m"


def component_number(name: str) -> int:
    """0..5 for Ex Ey Ez Hx Hy Hz."""
    return COMPONENTS.index(name)
