"""Monitors of one number over time: a field component at a point, the line integral of E, the loop integral of H."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from nearfield.entry.errors import ModelError
from nearfield.entry.quantities import Frequency, Position, Whole
from nearfield.entry.schema import tag
from nearfield.entry.triples import triple
from nearfield.grid.yee import AXES, YeeGrid
from nearfield.lowering.context import Context
from nearfield.lowering.interpolation import point_samples
from nearfield.monitors.regions import BoxLike, Component, Monitor, held_samples
from nearfield.plan.recorders import Functional, Recording
from nearfield.records.records import Variable, Variables
from nearfield.records.regions import component_number, time_axis, unit_of
from nearfield.sources.edges import Name, flat_axes, snapped


class Probe(Monitor):
    """One field component at a point over time.

    Interpolated between the nearest samples (tricubic within one medium, trilinear elsewhere, at faces those of its own
    side where the component jumps), exact on a sample; V/m or A/m, every `stride` steps.

    >>> import nearfield as nf
    >>> nf.Probe("tip", ("1 mm", 0, 0), "Hx").component
    'Hx'
    """

    kind: Literal["probe"] = tag("probe")
    name: Name
    """Name in the result."""
    position: Position
    """Where (m)."""
    component: Component = "Ez"
    """Which component."""
    stride: Annotated[Whole, Field(ge=1)] = 1
    """Steps between samples."""
    resonances: tuple[Frequency, Frequency] | None = None
    """Band (lowest and highest frequency, Hz) in which the report lists what rings once the source has ended."""

    @model_validator(mode="after")
    def _band(self) -> Probe:
        if self.resonances and not self.resonances[0] < self.resonances[1]:
            raise ValueError(
                f"resonances: given {self.resonances[0]:.6g} to {self.resonances[1]:.6g} Hz; give the lowest and the "
                "highest frequency, in this order"
            )
        return self

    def _terms(self, context: Context) -> list[Functional]:
        """One weighted sum over the nearest samples."""
        component = component_number(self.component)
        index, weight = point_samples(context, component, self.position)
        weight = weight / context.coefficients.open_fraction(component, *index)
        return [held_samples(context, component, list(index), weight, self.stride)]

    def _collect(self, context: Context, recordings: list[Recording], excitation: str = "") -> Variables:
        """The component over time."""
        number = component_number(self.component)
        axis = time_axis(recordings[0].time, number >= 3)
        attributes = {"units": unit_of(number), "position": list(self.position)}
        return axis | {self.component: Variable(tuple(axis), recordings[0].values, attributes)}


class Voltage(Monitor):
    """The line integral of E from `start` to `end` over time: the voltage of `start` above `end` (V).

    The ends are moved to the nearest grid nodes; the path must be straight along one axis.

    >>> import nearfield as nf
    >>> nf.Voltage("gap", start=(0, 0, 1e-3), end=(0, 0, 0)).start
    (0.0, 0.0, 0.001)
    """

    kind: Literal["voltage"] = tag("voltage")
    name: Name
    """Name in the result."""
    start: Position
    """Where the path begins (m)."""
    end: Position
    """Where it ends (m)."""

    @model_validator(mode="after")
    def _straight(self) -> Voltage:
        if sum(a != b for a, b in zip(self.start, self.end)) != 1:
            raise ValueError(
                f"the path from {self.start} to {self.end} must run along one axis: exactly one coordinate may differ; "
                "for a bent path use one Voltage per leg and add them"
            )
        return self

    @property
    def _axis(self) -> int:
        """The axis along which the path runs."""
        return next(axis for axis in range(3) if self.start[axis] != self.end[axis])

    def _terms(self, context: Context) -> list[Functional]:
        """The sum of E times length over the edges of the path."""
        axis = self._axis
        low, high = (triple(map(pick, zip(self.start, self.end))) for pick in (min, max))
        spans = snapped(context.grid, low, high, self._label)
        along = np.arange(*spans[axis])
        index = [np.full(along.size, span[0]) for span in spans]
        index[axis] = along
        sign = 1.0 if self.end[axis] > self.start[axis] else -1.0
        return [held_samples(context, axis, index, sign * context.grid.primary(axis)[along])]

    def _collect(self, context: Context, recordings: list[Recording], excitation: str = "") -> Variables:
        """The voltage over time."""
        axis = time_axis(recordings[0].time)
        return axis | {"voltage": Variable(("time",), recordings[0].values, {"units": "V"})}


class Current(BoxLike):
    """The current through a rectangle over time (A), positive along the + normal axis: the loop integral of H.

    The loop runs half a cell outside the outermost grid nodes in the closed rectangle, so that it takes in every edge
    that pierces it, metal at the rim included; along the normal H is interpolated to the rectangle's plane.
    Displacement current is part of it.

    >>> import nearfield as nf
    >>> nf.Current("feed", (-1e-3, -1e-3, 0), ("1 mm", "1 mm", 0)).upper
    (0.001, 0.001, 0.0)
    """

    kind: Literal["current"] = tag("current")
    upper: Position
    """Opposite corner (m); equal to `lower` along exactly one axis, the normal."""

    @model_validator(mode="after")
    def _flat(self) -> Self:
        flat = flat_axes(self.lower, self.upper)
        if len(flat) != 1:
            equal = " and ".join(AXES[axis] for axis in flat) or "no coordinate"
            raise ValueError(
                f"lower {self.lower} and upper {self.upper} agree in {equal}; a rectangle lies across exactly one "
                "axis, its normal, so let exactly one coordinate agree"
            )
        return self

    @property
    def _normal(self) -> int:
        """The axis across the rectangle."""
        return flat_axes(self.lower, self.upper)[0]

    def _terms(self, context: Context) -> list[Functional]:
        """H times dual length over the four sides of the loop."""
        grid, a = context.grid, self._normal
        b, c = (a + 1) % 3, (a + 2) % 3
        snapped(grid, self.lower, self.upper, self._label)
        spans = {axis: enclosed_nodes(grid, axis, self.lower[axis], self.upper[axis]) for axis in (b, c)}
        samples: list[Stretch] = []
        for along, across, sign in ((b, c, 1.0), (c, b, -1.0)):
            first, last = spans[across]
            cancel = grid.phases[across] == 0.0 and last - first + 1 == grid.cells[across]  # sides on the same samples
            for at, side in () if cancel else ((first - 1, sign), (last, -sign)):
                if grid.closed(across) or 0 <= at < grid.cells[across]:
                    nodes = np.arange(spans[along][0], spans[along][1] + 1)
                    samples.append((along + 3, {along: nodes, across: at}, side * grid.dual(along)[nodes]))
        if not samples:
            raise ModelError(
                f"{self._label}: its rectangle spans the whole grid, so that the loop round it runs in the walls alone "
                "and the current is always 0; end it at least a cell inside one of the walls whose current you want"
            )
        planes = plane_weights(grid, a, self.lower[a])
        return [loop_functional(context, a, planes, samples)]

    def _collect(self, context: Context, recordings: list[Recording], excitation: str = "") -> Variables:
        """The current over time."""
        axis = time_axis(recordings[0].time, half=True)
        return axis | {"current": Variable(tuple(axis), recordings[0].values, {"units": "A"})}


Stretch = tuple[int, dict[int, Any], np.ndarray]  # component, index by axis but the normal, weight


def loop_functional(
    context: Context, normal: int, planes: list[tuple[int, float]], samples: list[Stretch]
) -> Functional:
    """One sum over several stretches of different components, on one or two planes across the normal."""
    parts = []
    for number, place, values in samples:
        for plane, share in planes:
            at = place | {normal: plane}
            index = [np.broadcast_to(np.asarray(at[axis]), values.shape) for axis in range(3)]
            part = held_samples(context, number, index, share * values)
            parts.append((part.component, part.i, part.j, part.k, part.weight))
    component, i, j, k, weight = map(np.concatenate, zip(*parts))
    return Functional(component, i, j, k, weight)


def plane_weights(grid: YeeGrid, axis: int, coordinate: float) -> list[tuple[int, float]]:
    """The one or two cell centres beside a coordinate and their weights in linear interpolation; those past the seam of
    a closed axis have the numbers -1 and n."""
    centres, before = grid.centres(axis), 0
    if grid.closed(axis) and centres.size > 1:
        period = grid.lines[axis][-1] - grid.lines[axis][0]
        centres, before = np.concatenate((centres[-1:] - period, centres, centres[:1] + period)), 1
    above = int(np.clip(np.searchsorted(centres, coordinate), 1, max(centres.size - 1, 1)))
    if centres.size == 1:
        return [(0, 1.0)]
    part = float(np.clip((coordinate - centres[above - 1]) / (centres[above] - centres[above - 1]), 0.0, 1.0))
    return [(plane - before, share) for plane, share in ((above - 1, 1 - part), (above, part)) if share > 0]


def enclosed_nodes(grid: YeeGrid, axis: int, low: float, high: float) -> tuple[int, int]:
    """First and last grid node within [low, high]; the nearest to its middle where there is none. Of a closed axis no
    node comes twice."""
    line = grid.lines[axis]
    slack = 1e-6 * float(grid.primary(axis).min())
    first, last = int(np.searchsorted(line, low - slack)), int(np.searchsorted(line, high + slack, "right")) - 1
    if grid.closed(axis):
        last = min(last, first + grid.cells[axis] - 1)
    return (first, last) if first <= last else (grid.nearest_node(axis, 0.5 * (low + high)),) * 2
