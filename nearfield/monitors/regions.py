"""The part of a region of samples that the engine holds, and recordings of it put back into the whole region."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, Self

import numpy as np
from pydantic import BeforeValidator, Field, model_validator

from nearfield.entry.quantities import Frequencies, Position, Read, several
from nearfield.entry.schema import tag
from nearfield.entry.triples import Triple, triple
from nearfield.grid.folds import unfolded
from nearfield.grid.yee import YeeGrid
from nearfield.lowering.context import Context
from nearfield.lowering.interpolation import Index
from nearfield.plan.recorders import Functional
from nearfield.plan.turns import lagging
from nearfield.records.records import Variables
from nearfield.records.regions import Region
from nearfield.sources.edges import Labelled, Name, ordered, snapped

Component = Literal["Ex", "Ey", "Ez", "Hx", "Hy", "Hz"]
Components = Annotated[Read[tuple[Component, ...]], BeforeValidator(several), Field(min_length=1)]
SomeFrequencies = Annotated[Frequencies, Field(min_length=1)]


class Monitor(Labelled):
    """A monitor: `_terms(context)` for the engine, `_collect(...)` and `complete(...)` for the result."""

    if TYPE_CHECKING:

        @property
        def name(self) -> str: ...

    def complete(self, variables: Variables) -> Variables:
        """The variables, with what takes long to derive from them; left out when a run is interrupted."""
        return variables


class BoxLike(Monitor):
    """A monitor of the samples between two nodes."""

    kind: str = tag("")
    name: Name
    """Name in the result."""
    lower: Position
    """Corner of the smallest coordinates (m)."""
    upper: Position
    """Opposite corner (m)."""

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        ordered(self.lower, self.upper)
        return self

    def _corners(self, context: Context) -> tuple[Triple, Triple]:
        """The first and last nodes of its samples."""
        return self._drawn_corners(context.grid)

    def _drawn_corners(self, grid: YeeGrid) -> tuple[Triple, Triple]:
        """The nodes nearest to its corners."""
        spans = snapped(grid, self.lower, self.upper, self._label)
        return triple(low for low, _ in spans), triple(high for _, high in spans)


def held_region(region: Region, context: Context) -> Region:
    """The part of a region that the engine holds; the rest lies on a high wall where the component is zero.

    Samples on the last line of a closed axis are those on the first one.
    """
    lower, upper = list(region.lower), list(np.minimum(region.upper, context.active))
    for axis, last in enumerate(context.grid.cells):
        if context.grid.closed(axis) and region.upper[axis] > last:
            lower[axis] = 0
            upper[axis] = 1 if region.lower[axis] == last else last
    return Region(region.component, triple(lower), triple(int(n) for n in upper))


def is_held(region: Region, context: Context) -> bool:
    """Whether the engine holds any sample of a region."""
    return min(held_region(region, context).shape) > 0


def restored(region: Region, values: np.ndarray | None, context: Context, leading: int) -> np.ndarray:
    """Values of what was recorded of the held part, with the zeros of the high walls; `leading`: first extent.

    What lies below planes of symmetry or on the last line of closed axes is put back.
    """
    if values is None:
        return np.zeros((leading, *region.shape), dtype=complex)
    if any(context.grid.mirrors):
        held = held_region(region, context)
        values = unfolded(values, region.component, held.lower, held.upper, context.grid, context.active)
    for axis, phase in enumerate(context.grid.phases):
        values = _unrolled(region, values, axis, context.grid.cells[axis], phase)
    full = np.zeros((leading, *region.shape), dtype=values.dtype)
    _, ni, nj, nk = np.shape(values)
    full[: len(values), :ni, :nj, :nk] = values
    return full


def _unrolled(region: Region, values: np.ndarray, axis: int, last: int, phase: float | None) -> np.ndarray:
    """Values that were held on a closed axis, with those of its last line, which lag by the phase."""
    if phase is None or region.upper[axis] <= last:
        return values
    ends = np.take(values, [0], 1 + axis)
    if phase:
        ends = (ends * np.exp(-1j * phase)).astype(values.dtype)
    if region.lower[axis] == last:
        return ends
    inner = np.take(values, np.arange(region.lower[axis], last), 1 + axis)
    return np.concatenate((inner, ends), 1 + axis)


def over_open_edges(region: Region, values: np.ndarray | None, context: Context, leading: int) -> np.ndarray:
    """`restored`, divided by the open part of edges that conformal metal cuts: the field there."""
    values = restored(region, values, context, leading)
    if not context.coefficients.cuts_edges or region.component >= 3:
        return values
    values = values.copy()
    (i, j, k), fraction = cut_edges(region, context)
    values[:, i, j, k] /= fraction.astype(values.real.dtype)
    return values


def cut_edges(region: Region, context: Context) -> tuple[Index, np.ndarray]:
    """Indices from `lower` on of the samples on edges that conformal metal cuts, and their open fractions."""
    return context.once(("cut edges", region), lambda: _cut_edges(region, context))


def _cut_edges(region: Region, context: Context) -> tuple[Index, np.ndarray]:
    if not context.coefficients.cuts_edges or region.component >= 3:
        return triple(np.empty(0, int) for _ in range(3)), np.empty(0)
    j, k = (np.arange(a, b) for a, b in zip(region.lower[1:], region.upper[1:]))
    parts = []
    for n, i in enumerate(range(region.lower[0], region.upper[0])):
        plane = np.asarray(context.coefficients.open_fraction(region.component, i, j[:, None], k))
        row, column = at = np.nonzero(plane != 1.0)
        parts.append((np.full(row.size, n), row, column, plane[at]))
    *index, fraction = (np.concatenate(part) for part in zip(*parts))
    return triple(index), fraction


def held_samples(
    context: Context, component: int, index: list[np.ndarray], weight: np.ndarray, stride: int = 1
) -> Functional:
    """A weighted sum over samples; those on high walls, where the component is zero, get no weight."""
    active = context.active
    number, places, weight = lagging(context.grid, np.asarray(component), tuple(index), weight)
    inside = np.all([np.asarray(part) < n for part, n in zip(places, active)], axis=0)
    i, j, k = (np.minimum(np.asarray(part, dtype=np.int64), n - 1) for part, n in zip(places, active))
    return Functional(np.broadcast_to(number, i.shape), i, j, k, np.where(inside, weight, 0.0), stride)
