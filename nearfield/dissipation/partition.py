"""A field parted into its dissipation elements: extrema, elements, points, and what is worked out from them."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.dissipation.extrema import Extrema
from nearfield.dissipation.geometry import bounding_boxes, neighbours
from nearfield.dissipation.grids import middles
from nearfield.dissipation.plots import ElementPlots
from nearfield.dissipation.statistics import arc_dataset, statistics, taylor_scale
from nearfield.dissipation.storing import dataset_of, hot_spots, save
from nearfield.dissipation.trajectories import OnGrid, arc_lengths, chosen_points, refuse_lines, trajectories

if TYPE_CHECKING:
    import xarray

NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True)
class Elements:
    """Dissipation elements of a field; lengths in the unit of `spacing`, values in that of the field."""

    field: np.ndarray
    "The values that were analysed, float32 or float64."
    labels: np.ndarray
    "Element of each point, an array like the field."
    maxima: Extrema
    minima: Extrema
    maximum: np.ndarray
    "Of each element, the number of its maximum."
    minimum: np.ndarray
    "Of each element, the number of its minimum."
    shift: np.ndarray
    "Of each element, periods by which its maximum lies away from the minimum: (elements, axes)."
    points: np.ndarray
    "Of each element, points of the grid in it."
    first: np.ndarray
    "Coordinates of the first point."
    widths: tuple[np.ndarray, ...]
    "Distances from each point of an axis to its next; on a periodic axis the last one leads to the next period."
    periodic: tuple[bool, ...]
    method: str
    traced: int
    "Gradient lines that were followed; a point has two."
    unresolved: int
    "Gradient lines that took the end of the path of steepest neighbours, as all of their neighbours met saddles."
    seconds: float
    persistence: float = 0.0
    "Extrema that differ by less from the pass to a higher (lower) one are left out."
    simplified: int = 0
    "Extrema that were left out."
    threads: int | None = None
    "Threads that found them, and that look for boxes, neighbours and lines; None: one a physical core."

    def __len__(self) -> int:
        return len(self.points)

    @property
    def spacing(self) -> tuple[float, ...]:
        """Mean distance between points of each axis."""
        return tuple(float(widths.mean()) for widths in self.widths)

    @property
    def periods(self) -> tuple[float | None, ...]:
        """Length of the period along each axis, None where it is open."""
        return tuple(float(widths.sum()) if closed else None for widths, closed in zip(self.widths, self.periodic))

    @property
    def coordinates(self) -> tuple[np.ndarray, ...]:
        """Of the points along each axis."""
        ends = zip(self.first, self.widths, self.labels.shape)
        return tuple(first + np.concatenate(([0.0], np.cumsum(widths)))[:count] for first, widths, count in ends)

    @property
    def difference_vector(self) -> np.ndarray:
        """From the minimum of each element to its maximum, (elements, axes)."""
        period = np.array([widths.sum() for widths in self.widths])
        return self.maxima.position[self.maximum] + self.shift * period - self.minima.position[self.minimum]

    @property
    def length(self) -> np.ndarray:
        """Straight distance between the extrema of each element, l."""
        return np.linalg.norm(self.difference_vector, axis=1)

    @property
    def difference(self) -> np.ndarray:
        """Value at the maximum less that at the minimum of each element."""
        return self.maxima.value[self.maximum] - self.minima.value[self.minimum]

    @property
    def volume(self) -> np.ndarray:
        """Of each element the sum over its points, out to half the way to the next; areas or lengths of flat fields."""
        own = [middles(widths, closed) for widths, closed in zip(self.widths, self.periodic)]
        if all(np.ptp(lengths) == 0 for lengths in own):
            return self.points * math.prod(float(lengths[0]) for lengths in own)
        volume = np.zeros(len(self))
        rest = functools.reduce(np.multiply.outer, own[1:], np.ones(()))
        for plane, length in zip(self.labels, own[0]):
            volume += np.bincount(plane.ravel(), (rest * length).ravel(), minlength=len(self))
        return volume

    @property
    def bounding_boxes(self) -> np.ndarray:
        """Lowest and highest coordinate of each element's points, across the end of a period where they lie there."""
        return bounding_boxes(self.labels, len(self), self.coordinates, self.periods, self.threads)

    @property
    def neighbours(self) -> np.ndarray:
        """Pairs of elements with points beside each other, (pairs, 2)."""
        return neighbours(self.labels, len(self), self.periodic, self.threads)

    def statistics(self) -> xarray.Dataset:
        """Densities of lengths and differences, mean difference given the length, mean length over the Taylor scale.

        Also `taylor_scale`, sqrt(<f^2> / <(df/dx)^2>); each element counts once.
        """
        return statistics(self.length, self.difference, taylor_scale(self.field, self.widths))

    def hot_spots(self) -> xarray.Dataset:
        """The maxima, the highest first, with what belongs to each: a count of speckle, focal spots, energy cells.

        Variables over `spot`: `position`, `value`, `volume` (of all points whose gradient leads there), `elements`,
        `contrast` (mean difference of its elements, weighted by their points) and `spacing`, the distance to the
        nearest other maximum, nan where there is one alone.
        """
        return hot_spots(self)

    def trajectories(
        self, points: int | Sequence[int] | np.ndarray, along: Mapping[str, Any] = NOTHING, threads: int | None = None
    ) -> xarray.Dataset:
        """Gradient lines through points of the grid, from minimum to maximum, by steps of half a width at most.

        `points`: flat indices, or how many, which are then drawn by random numbers, always the same. `along`: other
        fields at the same points, real or complex, of which each sample gets the cubic interpolant.

        Lines follow one another along `sample`, `row_size` samples each (contiguous ragged arrays of CF conventions):
        `position`, not folded into the box, `value`, `arc_length` from the minimum, and the other fields. Over `line`:
        `point`, `start` (its sample, counted from the line's first), `element` of the point, `maximum` and `minimum` at
        the ends as `dataset` counts them, -1 of those left out for their persistence. Attributes: `unresolved_ends`
        counts ends at rest beside no extremum, where the interpolant has one that no point marks, which count as those
        of steepest neighbours from there; `lines_that_end_elsewhere` lines whose extrema are not their element's, as
        `method` follows no line or takes longer steps. Error (ModelError): points or fields that do not fit, or no
        memory for as many.

        >>> x = np.arange(24) * np.pi / 6
        >>> found = nf.elements(np.sin(x)[:, None] * np.sin(x), np.pi / 6, periodic="xy")
        >>> lines = found.trajectories([40, 41], {"slope": np.cos(x)[:, None] * np.sin(x)})
        >>> lines.sizes["line"], bool((lines.value.diff("sample")[: lines.row_size[0].item() - 1] > 0).all())
        (2, True)
        """
        chosen = chosen_points(points, self.labels.size)
        refuse_lines(len(chosen), float(self.length.mean()), min(float(widths.min()) for widths in self.widths))
        grid = OnGrid(self.field, self.first, self.widths, self.periodic)
        lines = trajectories(
            grid, chosen, along, (self.maxima, self.minima), self.threads if threads is None else threads
        )
        element = self.labels.reshape(-1)[chosen]
        ends = (self.maximum[element], self.minimum[element] + len(self.maxima))
        elsewhere = (lines.maximum.values != ends[0]) | (lines.minimum.values != ends[1])
        return lines.assign(element=("line", element)).assign_attrs(lines_that_end_elsewhere=int(elsewhere.sum()))

    def arc_length(self, each: int | None = None, threads: int | None = None) -> xarray.Dataset:
        """Length of the gradient lines from minimum to maximum, mean over the lines through points of each element.

        `each`: so many of its points, drawn by random numbers, always the same; left out, all of them. Lines are whole
        ones through the cubic interpolant, whatever `method` was, with steps whose end is 1 % of their length off at
        most: as costly as `trace`. Over `element`: `arc_length`, nan where no line ended at an
        extremum; `arc_lines`, how many did. Attributes: `mean_arc_length`, and `arc_over_length`, its ratio to the mean
        straight length. Error (ModelError): `each` below 1.

        >>> x = np.arange(24) * np.pi / 6
        >>> found = nf.elements(np.sin(x)[:, None] * np.sin(x), np.pi / 6, periodic="xy")
        >>> bool((found.arc_length().arc_length >= 0.99 * found.length).all())
        True
        """
        grid = OnGrid(self.field, self.first, self.widths, self.periodic)
        mean, lines = arc_lengths(grid, self.labels, len(self), each, self.threads if threads is None else threads)
        return arc_dataset(mean, lines, self.length)

    @property
    def plot(self) -> ElementPlots:
        """Pictures: `found.plot()` and `found.plot.hot_spots()` of the field, others of the statistics."""
        return ElementPlots(self)

    def dataset(self) -> xarray.Dataset:
        """All that is known: of points, extrema (maxima, then minima), elements, and pairs of neighbours."""
        return dataset_of(self)

    def save(
        self, path: str | Path, trajectories: xarray.Dataset | None = None, arcs: xarray.Dataset | None = None
    ) -> Path:
        """Write an HDF5 file: groups `elements` (of `dataset`), `statistics`, `hot_spots`, `trajectories` if given.

        `arcs`, of `arc_length`, join `elements` and `statistics`.
        """
        return save(self, path, trajectories=trajectories, arcs=arcs)

    @property
    def pairs(self) -> int:
        """Different pairs of extrema, images not told apart."""
        return len(np.unique(self.maximum * len(self.minima) + self.minimum))

    @property
    def points_per_second(self) -> float:
        """Points of the grid over the seconds that the analysis took."""
        return self.labels.size / self.seconds

    def summary(self) -> dict[str, Any]:
        """Numbers of elements, pairs and extrema, means over the elements, and the rate of the analysis."""
        return {
            "elements": len(self),
            "pairs": self.pairs,
            "maxima": len(self.maxima),
            "minima": len(self.minima),
            "mean_length": float(self.length.mean()),
            "mean_difference": float(self.difference.mean()),
            "seconds": self.seconds,
            "points_per_second": self.points_per_second,
        }
