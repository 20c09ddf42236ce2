"""Dissipation elements of a scalar field: the regions whose gradient lines join one minimum with one maximum.

From every point of the grid follow the gradient upwards to a maximum and downwards to a minimum. Points with the same
pair form an element (Wang and Peters, J. Fluid Mech. 554 (2006) 457); elements fill space and need no threshold. On
periodic axes an extremum has images, and elements that reach to different images of one are different elements.
"""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.dissipation.geometry import bounding_boxes, neighbours
from nearfield.dissipation.grids import field_of, middles, periods_of, widths_of
from nearfield.dissipation.statistics import statistics, taylor_scale
from nearfield.dissipation.storing import dataset_of, save
from nearfield.entry.errors import ModelError
from nearfield.machine.compiled import core
from nearfield.machine.group_memory import free_memory
from nearfield.machine.hardware import this_machine

if TYPE_CHECKING:
    import xarray

METHODS = ("discrete", "trace", "hybrid")
BYTES_A_POINT = {"discrete": 12, "trace": 16, "hybrid": 16}  # beyond the field, at the peak


@dataclass(frozen=True)
class Extrema:
    """All maxima, or all minima, in the order of their points."""

    index: np.ndarray
    "Flat index of the highest (lowest) point of the grid."
    position: np.ndarray
    "Refined by one step of Newton's method on the parabola through the points around: (extrema, axes), as `spacing`."
    value: np.ndarray
    "Of that parabola there."

    def __len__(self) -> int:
        return len(self.index)


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

    def __len__(self) -> int:
        return len(self.points)

    @property
    def spacing(self) -> tuple[float, ...]:
        """Mean distance between points of each axis."""
        return tuple(float(widths.mean()) for widths in self.widths)

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
        periods = [widths.sum() if closed else None for widths, closed in zip(self.widths, self.periodic)]
        return bounding_boxes(self.labels, len(self), self.coordinates, periods)

    @property
    def neighbours(self) -> np.ndarray:
        """Pairs of elements with points beside each other, (pairs, 2)."""
        return neighbours(self.labels, len(self), self.periodic)

    def statistics(self) -> xarray.Dataset:
        """Densities of lengths and differences, mean difference given the length, mean length over the Taylor scale.

        Also `taylor_scale`, sqrt(<f^2> / <(df/dx)^2>); each element counts once.
        """
        return statistics(self.length, self.difference, taylor_scale(self.field, self.widths))

    def dataset(self) -> xarray.Dataset:
        """All that is known: of points, extrema (maxima, then minima), elements, and pairs of neighbours."""
        return dataset_of(self)

    def save(self, path: str | Path) -> Path:
        """Write `dataset` and `statistics` as groups `elements` and `statistics` of an HDF5 file."""
        return save(self, path)

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


def elements(
    array: Any,
    spacing: float | Sequence[float | np.ndarray] | np.ndarray = 1.0,
    periodic: str | Iterable[bool] | bool = "",
    method: str = "hybrid",
    threads: int | None = None,
) -> Elements:
    """Dissipation elements of a scalar field on a grid of one, two or three axes.

    - `array`: real values at the points of the grid, axes x, y, z, at least four points along each
    - `spacing`: between points, one for all axes or one each; in place of a number the coordinates of an axis whose
      spacing changes (on a periodic axis one more than points: where the next period begins)
    - `periodic`: axes that close on themselves, as "xz", one truth value for all or one each; the last point then lies
      one spacing before the first of the next period
    - `method`: "trace" follows the gradient of a cubic interpolant with a continuous gradient, "discrete" goes from
      point to steepest neighbour (fast, biased along the grid), "hybrid" traces where neighbours differ in "discrete"
    - `threads`: one a physical core if left out; labels are the same bits for any number

    Error (ModelError): values that are not finite, the same everywhere or complex, other numbers of axes or points, a
    field that memory has no room for.

    >>> x = np.arange(32) * np.pi / 8
    >>> field = np.sin(x)[:, None, None] * np.sin(x)[:, None] * np.sin(x)
    >>> len(nf.elements(field, np.pi / 8, periodic="xyz"))
    192
    """
    field = field_of(array)
    closed = periods_of(periodic, field.ndim)
    first, widths = widths_of(spacing, field.shape, closed)
    if method not in METHODS:
        raise ModelError(f"method '{method}' is unknown; allowed: {', '.join(METHODS)}")
    if threads is not None and threads < 1:
        raise ModelError(f"threads={threads}: give 1 or more")
    refuse_memory(field, method)
    missing = 3 - field.ndim
    solid = field.reshape((1,) * missing + field.shape)
    begun = time.perf_counter()
    try:
        found = core().elements(
            solid,
            [[1.0]] * missing + [axis.tolist() for axis in widths],
            [False] * missing + list(closed),
            method,
            threads or len(this_machine().cores),
        )
    except ValueError as error:
        raise ModelError(f"the field cannot be labelled: {error}; smooth it, or give a smaller part of it") from None
    seconds = time.perf_counter() - begun
    table = found["elements"]
    return Elements(
        field=field,
        labels=found["labels"].reshape(field.shape),
        maxima=extrema_of(found["maxima"], missing, first),
        minima=extrema_of(found["minima"], missing, first),
        maximum=table[:, 0],
        minimum=table[:, 1],
        shift=table[:, 2 + missing : 5],
        points=table[:, 5],
        first=first,
        widths=widths,
        periodic=closed,
        method=method,
        traced=found["traced"],
        unresolved=found["unresolved"],
        seconds=seconds,
    )


def extrema_of(found: dict[str, np.ndarray], missing: int, first: np.ndarray) -> Extrema:
    """Extrema with positions as users count them: the first point lies at `first`."""
    return Extrema(found["index"][:, 0], found["place"][:, missing:] + first, found["value"][:, 0])


def refuse_memory(field: np.ndarray, method: str) -> None:
    """Error: the labels need more memory than this machine has left."""
    needed, free = field.size * BYTES_A_POINT[method], free_memory()
    if free is not None and needed > free:
        raise ModelError(
            f"{field.size:,} points need {needed / 2**30:.3g} GiB beside the field and {free / 2**30:.3g} are free; "
            "give a part of the field (analysis out of memory, or over ranks, is not there yet)"
        )
