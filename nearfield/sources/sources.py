"""Impressed currents: where they flow and along what. Their signals are in `waveforms`.

A current density J adds E += -Cb eta0 c dt J in step m with J at (m - 1/2) dt, a magnetic current density M adds
(eta0 H) += -Db c dt M with M at m dt. A current I in an edge is J = I/(its dual face), a moment p in a sample's cell is
J = p/(the cell's volume).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from pydantic import model_validator

from nearfield.entry.constants import VACUUM_IMPEDANCE, VACUUM_SPEED
from nearfield.entry.quantities import Current, CurrentMoment, Position, SheetCurrent, VoltageMoment
from nearfield.entry.schema import tag
from nearfield.entry.triples import Point, triple
from nearfield.grid.yee import AXES, YeeGrid
from nearfield.lowering.context import Context, Site
from nearfield.lowering.interpolation import Index, point_samples
from nearfield.plan.excitations import Waveform
from nearfield.plan.term import IMAGINARY
from nearfield.plan.terms import CurrentTerm
from nearfield.plan.turns import turned
from nearfield.sources.edges import Edges, Labelled, Name, OnEdges, flat_axes, ordered, sample_volume
from nearfield.sources.waveforms import AnyWaveform

Axis = Literal["x", "y", "z"]
SOURCES = "sources"  # the excitation in which all impressed currents flow


def current_term(
    context: Context, component: int, index: Index, density: np.ndarray, waveform: Waveform, lag: np.ndarray | float = 0
) -> list[CurrentTerm]:
    """A current density (A/m^2 or V/m^2 per unit of the waveform) in samples; those in metal and on walls that hold the
    component at zero are left out.

    It lags by the angles `lag` (rad), and past a seam with a phase it flows in this cell as much earlier: with a real
    and an imaginary part.
    """
    (i, j, k), angle = turned(context.grid, index)
    angle = angle - lag
    _, factor = context.coefficients.at(component, i, j, k)  # Cb or Db
    scale = VACUUM_IMPEDANCE if component < 3 else 1.0
    weight = -np.asarray(factor, dtype=float) * scale * VACUUM_SPEED * context.time_step * density
    alive = (weight != 0.0) & np.all([part < n for part, n in zip((i, j, k), context.active)], axis=0)
    if not alive.any():
        return []
    i, j, k = (np.asarray(part)[alive] for part in (i, j, k))
    weight, angle = weight[alive], angle[alive]
    if not angle.any():
        return [CurrentTerm(component, i, j, k, weight, waveform)]
    parts = (component, weight * np.cos(angle)), (component + IMAGINARY, weight * np.sin(angle))
    return [CurrentTerm(part, i, j, k, share, waveform) for part, share in parts]


def lag_of_the_wave(grid: YeeGrid, component: int, index: Index, lower: Point, upper: Point) -> np.ndarray:
    """Angle (rad) by which a Bloch wave lags at samples behind the cell's low faces: k r along the axes with a phase
    along which the current has an extent."""
    lag = np.zeros(len(index[0]))
    for axis, phase in enumerate(grid.phases):
        if phase and upper[axis] > lower[axis]:
            line = grid.lines[axis]
            lag += phase * (grid.component_axes(component)[axis][index[axis]] - line[0]) / (line[-1] - line[0])
    return lag


def spread(context: Context, component: int, position: Point) -> tuple[Index, np.ndarray]:
    """Samples about a point and a unit moment there as a density (1/m^3) in each.

    The shares are those by which a field is interpolated to the point, so that the power the current delivers is that
    of the field at its place.
    """
    index, share = point_samples(context, component, position)
    volume = sample_volume(context.grid, component, *index)
    return index, share / (volume * context.coefficients.open_fraction(component, *index))


def nearest_samples(grid: YeeGrid, component: int, position: Point) -> Index:
    """The samples that enclose a point: i, j, k."""
    i, j, k, _ = np.array(grid.interpolation(component, position)).T.astype(np.int64)
    return triple(grid.in_cell((i, j, k)))


class ImpressedCurrent(Labelled):
    """A source with a signal, in the excitation "sources"."""

    if TYPE_CHECKING:

        @property
        def waveform(self) -> AnyWaveform: ...

    def _signal(self) -> Waveform:
        """The column of source amplitudes that this current follows."""
        return Waveform(self.waveform.value, SOURCES, self.waveform.end)


class PointLike(ImpressedCurrent):
    """A current of given moment at a point, along an axis."""

    kind: str = tag("")
    position: Position
    """Where it flows (m)."""
    axis: Axis
    """Direction."""
    waveform: AnyWaveform
    """Its signal."""
    moment: float
    name: Name | None = None
    """Name for messages."""

    @property
    def _component(self) -> int:
        """The component of E, or of H where it is magnetic, which it adds to."""
        return AXES.index(self.axis) + 3 * (self.kind == "magnetic-point-current")

    def _edges(self, site: Site) -> list[Edges]:
        """The samples that carry it."""
        return [(self._component, *nearest_samples(site.grid, self._component, self.position))]

    def _driven(self, context: Context) -> list[Edges]:
        """The samples among which it is shared."""
        return [(self._component, *point_samples(context, self._component, self.position)[0])]

    def _terms(self, context: Context) -> list[CurrentTerm]:
        """The current that the engine adds in each step."""
        index, density = spread(context, self._component, self.position)
        return current_term(context, self._component, index, self.moment * density, self._signal())


class PointCurrent(PointLike):
    """A point-like electric current (an electric dipole of given current moment) along an axis.

    J = moment waveform(t) delta^3(r - position). The moment is current times length (A m); the radiated power of a
    sinusoidal one of peak moment p is eta k^2 p^2/(12 pi). Off a sample it is shared by those around
    it, at a face of metal or of another medium by those on its own side (`point_samples`).

    >>> import nearfield as nf
    >>> nf.PointCurrent((0, 0, 0), "z", nf.GaussianDerivative(1e9), moment=1e-3).axis
    'z'
    """

    kind: Literal["point-current"] = tag("point-current")
    moment: CurrentMoment = 1.0
    """Current times length (A m) at waveform value 1."""


class MagneticPointCurrent(PointLike):
    """A point-like magnetic current (a magnetic dipole, a small loop) along an axis.

    M = moment waveform(t) delta^3(r - position), in Faraday's law curl E = -mu dH/dt - M. The moment is magnetic
    current times length (V m); a small loop of area A with current I has mu A dI/dt.

    >>> import nearfield as nf
    >>> nf.MagneticPointCurrent((0, 0, 0), "x", nf.GaussianDerivative(1e9)).moment
    1.0
    """

    kind: Literal["magnetic-point-current"] = tag("magnetic-point-current")
    moment: VoltageMoment = 1.0
    """Magnetic current times length (V m) at waveform value 1."""


class CurrentOnEdges(OnEdges, ImpressedCurrent):
    """A current on a block of edges; in a cell with a phase one of its Bloch waves."""

    def _flow(self, context: Context, strength: float) -> list[CurrentTerm]:
        """The current (A) of a line, or the density (A/m) of a sheet, that the engine adds in each step."""
        block, (lower, upper, _) = self._block(context), self._span
        lag = lag_of_the_wave(context.grid, block.component, block.index, lower, upper)
        density = strength * block.width / block.area
        return current_term(context, block.component, block.index, density, self._signal(), lag)


class LineCurrent(CurrentOnEdges):
    """A current filament between two points on a line along an axis, snapped to grid edges.

    The current (A) flows from `start` to `end`; where it ends in free space it leaves the charges that continuity asks
    for. From wall to wall of a PEC parallel plate it is the infinite line source of two dimensions. Along an axis with
    a Bloch phase it lags as the fields do, exp(-j k z) with z from the cell's low face: over the period it is an
    endless line.

    >>> import nearfield as nf
    >>> nf.LineCurrent((0, 0, 0), (0, 0, 1e-2), nf.Ricker(5e9)).current
    1.0
    """

    kind: Literal["line-current"] = tag("line-current")
    start: Position
    """Where the current comes from (m)."""
    end: Position
    """Where it goes (m); differs from `start` in one coordinate."""
    waveform: AnyWaveform
    """Its signal."""
    current: Current = 1.0
    """Current (A) at waveform value 1."""
    name: Name | None = None
    """Name for messages."""

    @model_validator(mode="after")
    def _along_an_axis(self) -> LineCurrent:
        moved = [AXES[axis] for axis in range(3) if self.start[axis] != self.end[axis]]
        if len(moved) != 1:
            raise ValueError(
                f"start {self.start} and end {self.end} differ in {' and '.join(moved) or 'no coordinate'}; a line "
                "current runs along one axis, so let exactly one coordinate differ"
            )
        return self

    @property
    def _span(self) -> tuple[Point, Point, int]:
        """Corners (m) and axis of its edges."""
        axis = next(axis for axis in range(3) if self.start[axis] != self.end[axis])
        lower, upper = (triple(map(pick, zip(self.start, self.end))) for pick in (min, max))
        return lower, upper, axis

    def _terms(self, context: Context) -> list[CurrentTerm]:
        """The current that the engine adds in each step."""
        axis = self._span[2]
        return self._flow(context, self.current if self.end[axis] > self.start[axis] else -self.current)


class CurrentSheet(CurrentOnEdges):
    """A uniform surface current over a rectangle, along one of its sides, snapped to grid edges.

    A density K (A/m) over an infinite sheet radiates E = -eta K/2 to each side. Each edge carries K times the width it
    stands for: half a cell at the rectangle's ends, half a cell at a wall. Along axes with a Bloch phase it lags as the
    fields do, K exp(-j k r) with r from the cell's low faces: over the whole period it launches the zeroth order of a
    grating alone, over a part of it other orders too, by its shape.

    >>> import nearfield as nf
    >>> nf.CurrentSheet((0, 0, 5e-3), (1e-2, 1e-2, 5e-3), "x", nf.Gaussian(10e9)).density
    1.0
    """

    kind: Literal["current-sheet"] = tag("current-sheet")
    lower: Position
    """Corner of the rectangle with the smallest coordinates (m)."""
    upper: Position
    """Opposite corner (m); equal to `lower` in one coordinate."""
    axis: Axis
    """Direction of the current, in the rectangle's plane."""
    waveform: AnyWaveform
    """Its signal."""
    density: SheetCurrent = 1.0
    """Current per width (A/m) at waveform value 1."""
    name: Name | None = None
    """Name for messages."""

    @model_validator(mode="after")
    def _rectangle(self) -> CurrentSheet:
        ordered(self.lower, self.upper)
        flat = [AXES[axis] for axis in flat_axes(self.lower, self.upper)]
        if len(flat) != 1:
            raise ValueError(
                f"lower {self.lower} and upper {self.upper} agree in {' and '.join(flat) or 'no coordinate'}; a sheet "
                "is a rectangle, so let exactly one coordinate agree"
            )
        if self.axis == flat[0]:
            raise ValueError(f"axis {self.axis!r} is normal to the sheet; the current must flow in its plane")
        return self

    @property
    def _span(self) -> tuple[Point, Point, int]:
        """Corners (m) and axis of its edges."""
        return self.lower, self.upper, AXES.index(self.axis)

    def _terms(self, context: Context) -> list[CurrentTerm]:
        """The current that the engine adds in each step."""
        return self._flow(context, self.density)
