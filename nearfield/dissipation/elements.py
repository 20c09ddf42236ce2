"""Dissipation elements of a scalar field: the regions whose gradient lines join one minimum with one maximum.

From every point of the grid follow the gradient upwards to a maximum and downwards to a minimum. Points with the same
pair form an element (Wang and Peters, J. Fluid Mech. 554 (2006) 457); elements fill space and need no threshold. On
periodic axes an extremum has images, and elements that reach to different images of one are different elements.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nearfield.entry.errors import ModelError
from nearfield.entry.wording import counted
from nearfield.machine.compiled import core
from nearfield.machine.group_memory import free_memory
from nearfield.machine.hardware import this_machine

METHODS = ("discrete", "trace", "hybrid")
AXES = "xyz"
LEAST_POINTS = 4  # along an axis: those of the interpolant
MOST_POINTS = 2**32 - 2  # labels have 32 bits
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
    spacing: tuple[float, ...]
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
    def difference_vector(self) -> np.ndarray:
        """From the minimum of each element to its maximum, (elements, axes)."""
        period = np.array(self.spacing) * self.labels.shape
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
        """Points of each element times the volume of a cell (in two dimensions its area, in one its length)."""
        return self.points * math.prod(self.spacing)

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
    spacing: float | Sequence[float] = 1.0,
    periodic: str | Iterable[bool] | bool = "",
    method: str = "hybrid",
    threads: int | None = None,
) -> Elements:
    """Dissipation elements of a scalar field on a uniform grid of one, two or three axes.

    - `array`: real values at the points of the grid, axes x, y, z, at least four points along each
    - `spacing`: between points, one for all axes or one each
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
    distances, closed = spacings_of(spacing, field.ndim), periods_of(periodic, field.ndim)
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
            [distances[0]] * missing + list(distances),
            [False] * missing + list(closed),
            method,
            threads or len(this_machine().cores),
        )
    except ValueError as error:
        raise ModelError(f"the field cannot be labelled: {error}; smooth it, or give a smaller part of it") from None
    seconds = time.perf_counter() - begun
    table = found["elements"]
    return Elements(
        labels=found["labels"].reshape(field.shape),
        maxima=extrema_of(found["maxima"], missing, distances),
        minima=extrema_of(found["minima"], missing, distances),
        maximum=table[:, 0],
        minimum=table[:, 1],
        shift=table[:, 2 + missing : 5],
        points=table[:, 5],
        spacing=distances,
        periodic=closed,
        method=method,
        traced=found["traced"],
        unresolved=found["unresolved"],
        seconds=seconds,
    )


def extrema_of(found: dict[str, np.ndarray], missing: int, spacing: tuple[float, ...]) -> Extrema:
    """Extrema with places in cells turned into positions."""
    return Extrema(found["index"][:, 0], found["place"][:, missing:] * spacing, found["value"][:, 0])


def field_of(array: Any) -> np.ndarray:
    """The values as float32 or float64, contiguous. Error: see `elements`."""
    field = np.asarray(array)
    if field.dtype.kind == "c":
        raise ModelError("the field is complex, only real values have maxima; give abs(array) or array.real")
    if field.dtype.kind not in "fiu":
        raise ModelError(f"the field holds {field.dtype}; give real numbers")
    if not 1 <= field.ndim <= 3:
        raise ModelError(f"the field has {field.ndim} axes; give one, two or three")
    short = [f"{axis} has {count}" for axis, count in zip(AXES, field.shape) if count < LEAST_POINTS]
    if short:
        raise ModelError(
            f"every axis needs {LEAST_POINTS} points or more, {', '.join(short)}; an axis of one point is left out as "
            "in array[:, :, 0], which leaves a field of two axes"
        )
    if field.size > MOST_POINTS:
        raise ModelError(f"the field has {field.size:,} points, labels can number {MOST_POINTS:,}; give a part of it")
    field = np.ascontiguousarray(field, np.float32 if field.dtype in (np.float16, np.float32) else np.float64)
    lowest, highest = field.min(), field.max()  # not finite where one value is not
    if not (np.isfinite(lowest) and np.isfinite(highest)):
        wrong = np.argwhere(~np.isfinite(field))
        where = ", ".join(map(str, wrong[0]))
        raise ModelError(
            f"the field has {counted(len(wrong), 'value')} not finite, the first at ({where}); fill or cut them"
        )
    if lowest == highest:
        raise ModelError(f"the field is {lowest:g} everywhere; it has no gradient, and so no elements")
    return field


def spacings_of(given: float | Sequence[float], axes: int) -> tuple[float, ...]:
    """A distance for each axis. Error: another number of them, or one that is not positive."""
    values = np.atleast_1d(np.asarray(given, float))
    if values.ndim > 1 or len(values) not in (1, axes):
        raise ModelError(
            f"spacing {given}: give one number, or {axes} for this field; grids of changing spacing are not there yet"
        )
    if not (np.isfinite(values).all() and (values > 0).all()):
        raise ModelError(f"spacing {given}: distances between points are positive numbers")
    return tuple(float(values[min(axis, len(values) - 1)]) for axis in range(axes))


def periods_of(given: str | Iterable[bool] | bool, axes: int) -> tuple[bool, ...]:
    """Whether each axis closes on itself. Error: letters of axes that the field has not, another number of values."""
    if isinstance(given, str):
        wrong = sorted(set(given) - set(AXES[:axes]))
        if wrong:
            raise ModelError(f"periodic '{given}': this field has the axes {', '.join(AXES[:axes])}")
        return tuple(axis in given for axis in AXES[:axes])
    values = (given,) * axes if isinstance(given, bool | np.bool_) else tuple(given)
    if len(values) != axes:
        raise ModelError(f"periodic has {len(values)} values; give one for each of the {axes} axes")
    return tuple(map(bool, values))


def refuse_memory(field: np.ndarray, method: str) -> None:
    """Error: the labels need more memory than this machine has left."""
    needed, free = field.size * BYTES_A_POINT[method], free_memory()
    if free is not None and needed > free:
        raise ModelError(
            f"{field.size:,} points need {needed / 2**30:.3g} GiB beside the field and {free / 2**30:.3g} are free; "
            "give a part of the field (analysis out of memory, or over ranks, is not there yet)"
        )
