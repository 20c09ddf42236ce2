"""Dissipation elements of a scalar field: the regions whose gradient lines join one minimum with one maximum.

From every point of the grid follow the gradient upwards to a maximum and downwards to a minimum. Points with the same
pair form an element (Wang and Peters, J. Fluid Mech. 554 (2006) 457); elements fill space and need no threshold. On
periodic axes an extremum has images, and elements that reach to different images of one are different elements.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from nearfield.dissipation.counts import MOST_CHUNK, threads_of
from nearfield.dissipation.extrema import Extrema
from nearfield.dissipation.grids import (
    field_of,
    kind_of,
    periods_of,
    refuse_empty,
    refuse_kind,
    refuse_sizes,
    widths_of,
)
from nearfield.dissipation.labelled import unlabelled
from nearfield.dissipation.memory import refuse_crowded, refuse_memory
from nearfield.dissipation.partition import Elements
from nearfield.dissipation.team import Place, Team, workplace
from nearfield.entry.counts import count_of
from nearfield.entry.errors import ModelError
from nearfield.entry.messages import shown
from nearfield.machine.compiled import core

METHODS = ("discrete", "trace", "hybrid")
CHUNK = 4096  # points of a brick of lines, whose ends a thread keeps until it has all; benchmarks/elements.py --chunks


@dataclass(frozen=True)
class Request:
    """How a field is analysed: see `elements`."""

    spacing: Any = None
    periodic: str | Iterable[bool] | bool = ""
    method: str = "hybrid"
    threads: int | None = None
    persistence: float | str | None = None
    chunk: int | None = None
    "Left out, CHUNK."


def elements(
    array: Any,
    spacing: float | Sequence[float | np.ndarray] | np.ndarray | None = None,
    periodic: str | Iterable[bool] | bool = "",
    method: str = "hybrid",
    threads: int | None = None,
    persistence: float | str | None = None,
    scratch: str | Path | None = None,
) -> Elements:
    """Dissipation elements of a scalar field on a grid of one, two or three axes.

    - `array`: real values at the points of the grid, axes x, y, z, at least four points along each; of an xarray
      DataArray with dims named so, these are its axes, and its coordinates the spacing where none is given
    - `spacing`: between points, 1 if left out, one for all axes or one each; in place of a number the coordinates of an
      axis whose spacing changes (on a periodic axis one more than points: where the next period begins)
    - `periodic`: axes that close on themselves, as "xz", one truth value for all or one each; the last point then lies
      one spacing before the first of the next period
    - `method`: "trace" follows the gradient of a cubic interpolant with a continuous gradient, "discrete" goes from
      point to steepest neighbour (fast, biased along the grid), "hybrid" traces from points of a
      coarse lattice, then from those between points whose labels differ
    - `threads`: one a physical core if left out; labels are the same bits for any number
    - `persistence`: maxima that rise less than this above the pass to a higher one, and minima alike, are left out;
      what leads to them belongs to the extremum across the pass: a value, or "5%" of the difference between the field's
      highest and lowest value
    - `scratch`: a folder on a disk with 22 bytes a point to spare, for fields larger than memory: labels lie in files
      there, which the system pages in and out, and so does a field given as a data set of h5py; gone once nobody uses
      them

    Error (ModelError): values that are not finite, the same everywhere, complex, or beyond 1e-75 to 1e75 (slopes
    too), other numbers of axes or points, a field that memory has no room for, or the disk where `scratch` is.

    >>> x = np.arange(32) * np.pi / 8
    >>> field = np.sin(x)[:, None, None] * np.sin(x)[:, None] * np.sin(x)
    >>> len(nf.elements(field, np.pi / 8, periodic="xyz"))
    192
    """
    request = Request(spacing, periodic, method, threads, persistence)
    if scratch is None:
        return analysed(array, request)
    if not isinstance(scratch, str | Path) or not str(scratch):
        raise ModelError(f"scratch={shown(scratch)}: give a folder on a disk with room for the field and its labels")
    with workplace(scratch) as place:
        if not isinstance(array, np.ndarray) and array.__class__.__module__.startswith("h5py"):
            refuse_empty(array, "the field")
            refuse_kind(array.dtype, array.shape)
            array = place.copied(array, kind_of(array.dtype))
        return analysed(array, request, place)


def analysed(array: Any, request: Request, place: Place | None = None) -> Elements:
    """The elements of a field; labels in files of `place`, made by all of its ranks, which call this alike."""
    array, spacing, periodic = unlabelled(array, request.spacing, request.periodic)
    field = field_of(array)
    closed = periods_of(periodic, field.ndim)
    first, widths = widths_of(spacing, field.shape, closed)
    method = request.method
    refuse_sizes(field, widths)
    if not isinstance(method, str) or method not in METHODS:
        raise ModelError(f"method {shown(method)} is unknown; allowed: {', '.join(METHODS)}")
    chunk = CHUNK if request.chunk is None else count_of("chunk", request.chunk, MOST_CHUNK)
    request = replace(request, threads=threads_of(request.threads), chunk=chunk)
    least = persistence_of(request.persistence, field)
    if place is None:
        refuse_memory(field.shape, field.dtype, method)
    refuse_crowded(field, method, least, place)
    missing = 3 - field.ndim
    begun = time.perf_counter()
    found = in_core(field, (closed, widths), request, least, place)
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
        persistence=least,
        simplified=found["simplified"],
        threads=request.threads,
    )


def in_core(field: np.ndarray, axes: Any, request: Request, least: float, place: Place | None) -> dict[str, Any]:
    """What the core finds. Error (ModelError): more extrema than it can number, a disk without room."""
    closed, widths = axes
    missing = 3 - field.ndim
    solid = field.reshape((1,) * missing + field.shape)
    try:
        return core().elements(
            solid,
            [[1.0]] * missing + [axis.tolist() for axis in widths],
            [False] * missing + list(closed),
            request.method,
            least,
            request.threads,
            request.chunk,
            None if place is None else Team(place, solid.shape[0] * solid.shape[1]),
        )
    except ValueError as error:
        raise ModelError(f"the field cannot be labelled: {error}; smooth it, or give a smaller part of it") from None
    except (OSError, RuntimeError) as error:
        if place is None:
            raise
        raise ModelError(f"{place.folder}: labels cannot be kept there ({error}); choose another folder") from None


def extrema_of(found: dict[str, np.ndarray], missing: int, first: np.ndarray) -> Extrema:
    """Extrema with positions as users count them: the first point lies at `first`."""
    return Extrema(found["index"][:, 0], found["place"][:, missing:] + first, found["value"][:, 0])


def persistence_of(given: float | str | None, field: np.ndarray) -> float:
    """The persistence below which extrema are left out, 0 for none of them. Error: not a positive number or share."""
    if given is None:
        return 0.0
    share = isinstance(given, str) and given.strip().endswith("%")
    try:
        if isinstance(given, bool):
            raise TypeError
        value = float(given.strip().removesuffix("%") if isinstance(given, str) else given)
    except (TypeError, ValueError):
        value = math.nan
    if not 0 < value < (100 if share else math.inf):
        raise ModelError(
            f'persistence {shown(given)}: give a difference of the field\'s values, or "5%" of that between its '
            "highest and its lowest one; both are positive, a share is below 100%, and no persistence leaves no "
            "extremum out"
        )
    return value / 100 * (float(field.max()) - float(field.min())) if share else value
