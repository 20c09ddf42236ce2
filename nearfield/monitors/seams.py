"""Planes at the ends of an axis: the seam of a periodic one has half samples on both sides, a PMC wall an odd image."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from nearfield.entry.triples import Triple, triple
from nearfield.grid.yee import AXES, SIDES, YeeGrid, is_half
from nearfield.lowering.context import Context
from nearfield.records.regions import Region


@dataclass(frozen=True)
class Seam:
    """The first or the last (`high`) line of an axis of `cells` cells that closes on itself with a `phase` (rad).

    `places` (m): where the half samples below and above it lie.
    """

    axis: int
    cells: int
    phase: float
    high: bool
    places: np.ndarray

    @classmethod
    def at(cls, grid: YeeGrid, axis: int, node: int) -> Seam | None:
        """The seam at a node; None where there is none, and of a single cell, whose samples are all alike."""
        phase, cells, length = grid.phases[axis], grid.cells[axis], grid.primary(axis)
        if phase is None or node not in (0, cells) or (cells == 1 and phase == 0.0):
            return None
        places = grid.lines[axis][node] + 0.5 * np.array([-length[-1], length[0]])
        return cls(axis, cells, phase, node > 0, places)

    def sides(self, region: Region) -> tuple[Region, Region]:
        """The samples below and above it, as the engine numbers them."""
        return self._moved(region, self.cells - 1), self._moved(region, 0)

    def _moved(self, region: Region, to: int) -> Region:
        lower, upper = list(region.lower), list(region.upper)
        lower[self.axis], upper[self.axis] = to, to + 1
        return replace(region, lower=triple(lower), upper=triple(upper))

    def joined(self, below: np.ndarray, above: np.ndarray) -> np.ndarray:
        """Both along the axis; the side that lies one period off leads below the first line, and lags past the last."""
        if self.phase:
            turn = np.exp((-1j if self.high else 1j) * self.phase)
            below, above = (below, above * turn) if self.high else (below * turn, above)
        return np.concatenate((below, above), 1 + self.axis)


def odd_across(context: Context, component: int, first: Triple, last: Triple) -> str:
    """The axes across which a plane lies on a PMC wall where the component is odd, so that it is 0 there."""
    found = ""
    for axis, ends in enumerate((0, count) for count in context.grid.cells):
        if first[axis] == last[axis] and first[axis] in ends and is_half(component, axis):
            side = SIDES[ends.index(first[axis])]
            found += AXES[axis] if context.boundaries.face(axis, side) == "pmc" else ""
    return found
