"""Spectra of single Yee samples out of a run: what field monitors have to record for them, and reading them back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from nearfield.entry.constants import VACUUM_IMPEDANCE
from nearfield.entry.triples import triple
from nearfield.grid.yee import COMPONENTS, is_half
from nearfield.monitors.fields import FieldDFT
from nearfield.records.regions import Region

if TYPE_CHECKING:
    from nearfield.coefficients.coefficients import Coefficients
    from nearfield.entry.triples import Point
    from nearfield.grid.yee import YeeGrid
    from nearfield.results import ExcitationResult

PREFIX = "sensitivities"  # of the monitors' names
FILLED = 0.5  # share of a box that its samples must fill to be recorded in one piece


class SampleFields:
    """The regions that hold some samples, (component, index (3, n)) each, and their values in a run."""

    def __init__(self, grid: YeeGrid, active: tuple[int, int, int], wanted: Iterable[tuple[int, np.ndarray]]) -> None:
        self.grid, self.regions = grid, list[Region]()
        by_component: dict[int, list[np.ndarray]] = {}
        for component, index in wanted:
            held = (index >= 0).all(axis=0) & (index < np.array(active)[:, None]).all(axis=0)
            by_component.setdefault(component, []).append(index[:, held])
        for component, parts in sorted(by_component.items()):
            index = np.unique(np.concatenate(parts, axis=1), axis=1)
            if index.size:
                self.regions += [
                    Region(component, triple(low.tolist()), triple(high.tolist())) for low, high in boxes(index)
                ]

    @property
    def samples(self) -> int:
        """How many are recorded."""
        return sum(region.samples for region in self.regions)

    def monitors(self, frequencies: np.ndarray) -> list[FieldDFT]:
        """What records them."""
        made = []
        for number, region in enumerate(self.regions):
            lower, upper = corners(self.grid.lines, region)
            name, component = f"{PREFIX} {number}", COMPONENTS[region.component]
            made.append(FieldDFT(name, lower, upper, frequencies=frequencies.tolist(), components=component))
        return made

    def read(self, run: ExcitationResult, coefficients: Coefficients) -> Spectra:
        """Their spectra in the run of one excitation."""
        return Spectra(self.regions, [self._values(run, n, coefficients) for n in range(len(self.regions))])

    def _values(self, run: ExcitationResult, number: int, coefficients: Coefficients) -> np.ndarray:
        """What the engine holds: E over whole edges (a monitor's is that over open parts), and eta0 H."""
        region = self.regions[number]
        values = np.asarray(run[f"{PREFIX} {number}"][COMPONENTS[region.component]].values)
        if region.component >= 3:
            return values * VACUUM_IMPEDANCE
        i, j, k = np.indices(region.shape).reshape(3, -1) + np.array(region.lower)[:, None]
        opened = np.asarray(coefficients.open_fraction(region.component, i, j, k))
        return values * np.broadcast_to(opened, i.shape).reshape(region.shape)


class Spectra:
    """Spectra of samples in regions."""

    def __init__(self, regions: list[Region], values: list[np.ndarray]) -> None:
        self._parts = list(zip(regions, values))

    def at(self, component: int, index: np.ndarray) -> np.ndarray:
        """Values (frequency, n) at an index (3, n); zero where none is recorded, on walls."""
        found = np.zeros((len(self._parts[0][1]), index.shape[1]), complex)
        for region, values in self._parts:
            if region.component == component:
                place = index - np.array(region.lower)[:, None]
                here = (place >= 0).all(axis=0) & (place < np.array(region.shape)[:, None]).all(axis=0)
                i, j, k = place[:, here]
                found[:, here] = values[:, i, j, k]
        return found


def boxes(index: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Boxes [lower, upper) of samples that cover those of the index (3, n), one where it is filled well enough."""
    lower, upper = index.min(axis=1), index.max(axis=1) + 1
    if index.shape[1] >= FILLED * np.prod(upper - lower):
        return [(lower, upper)]
    cuts = [_planes(index, axis) for axis in range(3)]
    return min(cuts, key=lambda found: sum(int(np.prod(high - low)) for low, high in found))


def _planes(index: np.ndarray, axis: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """The rectangles about the samples of each plane across an axis, equal neighbours in one box."""
    found: list[tuple[np.ndarray, np.ndarray]] = []
    others = [other for other in range(3) if other != axis]
    for plane in np.unique(index[axis]):
        here = index[:, index[axis] == plane]
        low, high = here.min(axis=1), here.max(axis=1) + 1
        if found and found[-1][1][axis] == plane:
            before = found[-1]
            if all(before[0][n] == low[n] and before[1][n] == high[n] for n in others):
                found[-1] = (before[0], high)
                continue
        found.append((low, high))
    return found


def corners(lines: tuple[np.ndarray, ...], region: Region) -> tuple[Point, Point]:
    """The nodes (m) between which a monitor records just this region."""
    ends = [n - (not is_half(region.component, axis)) for axis, n in enumerate(region.upper)]
    first, last = (tuple(float(lines[a][n]) for a, n in enumerate(part)) for part in (region.lower, ends))
    return (first[0], first[1], first[2]), (last[0], last[1], last[2])
