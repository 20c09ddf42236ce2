"""Boxes and planes of Yee samples: which indices of each component a monitor reads, and what it gives back.

A box between nodes a..b holds, of a component that lies on the grid lines of an axis, samples a..b, and of one midway
a..b-1. A plane at node a holds the midway samples on both sides of it, so that their mean lies on the plane.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal
from weakref import WeakKeyDictionary

import numpy as np
from pydantic import BeforeValidator, Field

from nearfield.entry.quantities import Frequencies, several
from nearfield.entry.schema import Schema
from nearfield.grid.grid import AXES, YeeGrid, is_half
from nearfield.grid.periods import lagging
from nearfield.plan.plan import COMPONENTS, Functional
from nearfield.records.records import HALF, Variable, Variables

if TYPE_CHECKING:
    from nearfield.plan.plan import Context

Nodes = tuple[int, int, int]
Component = Literal["Ex", "Ey", "Ez", "Hx", "Hy", "Hz"]
Components = Annotated[tuple[Component, ...], BeforeValidator(several), Field(min_length=1)]
SomeFrequencies = Annotated[Frequencies, Field(min_length=1)]
_cut: WeakKeyDictionary = WeakKeyDictionary()  # edges of regions that metal cuts, by the coefficients of a model


class Monitor(Schema):
    """What all monitors share: `terms(context)` for the engine, `collect(...)` and `complete(...)` for the result."""

    @property
    def place(self) -> str:
        """Name for messages."""
        return f"{type(self).__name__} {self.name!r}"

    def complete(self, variables: Variables) -> Variables:
        """What `collect` gave, with what takes long to derive from it; left out when a run is interrupted."""
        return variables


@dataclass(frozen=True)
class Region:
    """The samples [lower, upper) of one component, in Yee indices."""

    component: int
    lower: Nodes
    upper: Nodes

    @classmethod
    def between(cls, grid: YeeGrid, component: int, first: Nodes, last: Nodes) -> Region:
        """The samples of a component in the box between two nodes."""
        lower, upper = [], []
        for axis in range(3):
            start, stop = first[axis], last[axis] + 1
            if is_half(component, axis):
                plane = first[axis] == last[axis]
                start, stop = (max(start - 1, 0), min(stop, grid.cells[axis])) if plane else (start, stop - 1)
            lower.append(start)
            upper.append(stop)
        return cls(component, tuple(lower), tuple(upper))

    @property
    def shape(self) -> tuple[int, int, int]:
        return tuple(b - a for a, b in zip(self.lower, self.upper))

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
        return tuple(AXES[axis] + HALF * is_half(self.component, axis) for axis in range(3))

    def held(self, context: Context) -> Region:
        """The part that the engine holds; the rest lies on a high wall where the component is zero.

        What lies on the last line of a closed axis is held on the first one.
        """
        lower, upper = list(self.lower), list(np.minimum(self.upper, active_shape(context)))
        for axis, last in enumerate(context.grid.cells):
            if context.grid.closed(axis) and self.upper[axis] > last:
                lower[axis] = 0
                upper[axis] = 1 if self.lower[axis] == last else last
        return Region(self.component, tuple(lower), tuple(int(n) for n in upper))

    def restored(self, values: np.ndarray | None, context: Context, leading: int) -> np.ndarray:
        """Values of what was recorded of the held part, with the zeros of the high walls; `leading`: first extent.

        What lies below planes of symmetry or on the last line of closed axes is put back.
        """
        if values is None:
            return np.zeros((leading, *self.shape), dtype=complex)
        if any(context.grid.mirrors):
            from nearfield.discretization.symmetry import unfolded

            values = unfolded(values, self.held(context), context.grid, active_shape(context))
        for axis, phase in enumerate(context.grid.phases):
            values = self._unrolled(values, axis, context.grid.cells[axis], phase)
        full = np.zeros((leading, *self.shape), dtype=values.dtype)
        _, ni, nj, nk = np.shape(values)
        full[: len(values), :ni, :nj, :nk] = values
        return full

    def true(self, values: np.ndarray, context: Context) -> np.ndarray:
        """Values of (leading, x, y, z) over the open part of edges that conformal metal cuts, where the field is."""
        if not context.coefficients.cuts_edges or self.component >= 3:
            return values
        values = values.copy()
        index, fraction = self.cut_edges(context)
        values[:, *index] /= fraction.astype(values.real.dtype)
        return values

    def cut_edges(self, context: Context) -> tuple[tuple[np.ndarray, ...], np.ndarray]:
        """Indices from `lower` on of the samples on edges that conformal metal cuts, and their open fractions.

        Found once a model.
        """
        known = _cut.setdefault(context.coefficients, {})
        if self not in known:
            known[self] = self._cut_edges(context)
        return known[self]

    def _cut_edges(self, context: Context) -> tuple[tuple[np.ndarray, ...], np.ndarray]:
        if not context.coefficients.cuts_edges or self.component >= 3:
            return (np.empty(0, int),) * 3, np.empty(0)
        j, k = (np.arange(a, b) for a, b in zip(self.lower[1:], self.upper[1:]))
        found = []
        for n, i in enumerate(range(self.lower[0], self.upper[0])):
            plane = context.coefficients.open_fraction(self.component, i, j[:, None], k)
            row, column = at = np.nonzero(plane != 1.0)
            found.append((np.full(row.size, n), row, column, plane[at]))
        *index, fraction = (np.concatenate(each) for each in zip(*found))
        return tuple(index), fraction

    def _unrolled(self, values: np.ndarray, axis: int, last: int, phase: float | None) -> np.ndarray:
        """Values that were held on a closed axis, with those of its last line, which lag by the phase."""
        if phase is None or self.upper[axis] <= last:
            return values
        ends = np.take(values, [0], 1 + axis)
        if phase:
            ends = (ends * np.exp(-1j * phase)).astype(values.dtype)
        if self.lower[axis] == last:
            return ends
        inner = np.take(values, np.arange(self.lower[axis], last), 1 + axis)
        return np.concatenate((inner, ends), 1 + axis)

    def is_held(self, context: Context) -> bool:
        """Whether the engine holds any of these samples."""
        return min(self.held(context).shape) > 0


def active_shape(context: Context) -> Nodes:
    """Samples along each axis that the engine updates: the cells, and one more where the high wall is a PMC."""
    faces = [context.boundaries.face(axis, "high") for axis in range(3)]
    return tuple(n + (face == "pmc") for n, face in zip(context.grid.cells, faces))


def held_samples(
    context: Context, component: int, index: list[np.ndarray], weight: np.ndarray, stride: int = 1
) -> Functional:
    """A weighted sum over samples; those on high walls, where the component is zero, get no weight."""
    active = active_shape(context)
    number, index, weight = lagging(context.grid, np.asarray(component), tuple(index), weight)
    inside = np.all([np.asarray(part) < n for part, n in zip(index, active)], axis=0)
    i, j, k = (np.minimum(np.asarray(part, dtype=np.int64), n - 1) for part, n in zip(index, active))
    return Functional(np.broadcast_to(number, i.shape), i, j, k, np.where(inside, weight, 0.0), stride)


def time_axis(times: np.ndarray, half: bool = False) -> Variables:
    """The coordinate of what was recorded in time; samples of H, half a step later, have one of their own."""
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
