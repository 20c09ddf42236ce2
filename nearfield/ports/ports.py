"""Ports and lumped elements: circuits between metal, and the waves that go in and out.

Signs: a port's voltage V = -integral E dl from its lower to its upper terminal is positive when the upper terminal is;
its current I is positive out of the upper terminal into the structure, so that V I is the power that the port delivers.
With the reference impedance Z (ohm, real) the waves are a = (V + Z I)/(2 sqrt(Z)) and b = (V - Z I)/(2 sqrt(Z)).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Self

import numpy as np
from pydantic import model_validator

from nearfield.entry.errors import ModelError
from nearfield.entry.quantities import Length, Position, PositiveCapacitance, PositiveInductance, PositiveResistance
from nearfield.entry.schema import tag
from nearfield.entry.triples import triple
from nearfield.grid.yee import AXES, YeeGrid
from nearfield.lowering.context import Context, Site
from nearfield.plan.excitations import Waveform
from nearfield.plan.recorders import Recording
from nearfield.plan.term import Term
from nearfield.ports.circuits import Circuit, Connection, two_pole
from nearfield.ports.elements import TwoPole
from nearfield.ports.line import line_current, line_voltage
from nearfield.records.records import Variable, Variables
from nearfield.records.regions import time_axis
from nearfield.sources.edges import EdgeBlock, Heading, Name, axis_and_sign
from nearfield.sources.sources import Axis
from nearfield.sources.waveforms import AnyWaveform

BESIDE = 2  # edges past a microstrip port's width at which metal is the ground's; a snapped strip may reach over one


class Port(TwoPole):
    """A circuit with a source and a reference impedance."""

    if TYPE_CHECKING:

        @property
        def name(self) -> str: ...
        @property
        def resistance(self) -> float: ...
        @property
        def reference_impedance(self) -> float | None: ...
        @property
        def waveform(self) -> AnyWaveform | None: ...

    @property
    def _channels(self) -> tuple[Self, ...]:
        """The port as ports of one wave each: itself."""
        return (self,)

    @property
    def impedance(self) -> float:
        """Reference impedance (ohm) of its waves."""
        return self.resistance if self.reference_impedance is None else self.reference_impedance

    def _source(self, context: Context) -> Waveform | None:
        """The source's voltage, None for a passive termination."""
        if self.name in context.waveforms or self.waveform is None:
            return context.waveforms.get(self.name)
        return Waveform(self.waveform.value, self.name, self.waveform.end)

    def _terminal(self, context: Context, recording: Recording, excitation: str, end: str, prefix: str) -> Variables:
        """V and I at the circuit's terminals at (m - 1/2) dt, from the voltage recorded at whole steps."""
        voltage, time_name = np.asarray(recording.values, dtype=float), "time" + end
        time = np.asarray(recording.time, dtype=float) - 0.5 * context.time_step
        waveform = self._source(context)
        source = waveform.value(time) if waveform and waveform.excitation == excitation else np.zeros(time.size)
        mean = 0.5 * (voltage + np.append(0.0, voltage[:-1]))
        current = self._circuit().current(voltage, source, context.time_step)
        columns = (time_name, time, "s"), (f"{prefix}voltage", mean, "V"), (f"{prefix}current", current, "A")
        return {name: Variable((time_name,), values, {"units": unit}) for name, values, unit in columns}


class LumpedPort(Port):
    """A source with a resistance, or with R-L-C, between two terminals; measures the voltage and current there.

    The source (volts, the waveform's value) stands in series with the resistance: in a series connection with all
    elements, in a parallel one with the resistor alone. Recorded are V and I at (m - 1/2) dt, the mean of V over a
    step and the current that the circuit's discrete equations give for it, so that their product is exactly the power
    that left the port: on one edge the abs(S11) of a lossless structure is 1 to rounding.

    >>> import nearfield as nf
    >>> nf.LumpedPort("feed", (0, 0, 0), (0, 0, 1e-3), "z").impedance
    50.0
    """

    kind: Literal["lumped"] = tag("lumped")
    name: Name
    """Name in results."""
    lower: Position
    """Corner with the smallest coordinates (m), at the lower terminal."""
    upper: Position
    """Opposite corner (m), at the upper terminal."""
    axis: Axis
    """Direction from the lower to the upper terminal."""
    resistance: PositiveResistance = 50.0
    """Resistance (ohm) of the source."""
    inductance: PositiveInductance | None = None
    """Inductance (H) of the port."""
    capacitance: PositiveCapacitance | None = None
    """Capacitance (F) of the port."""
    connection: Connection = "series"
    """Whether resistance, inductance and capacitance lie in series or in parallel."""
    reference_impedance: PositiveResistance | None = None
    """Reference impedance (ohm) of its waves; left out, the resistance."""
    waveform: AnyWaveform | None = None
    """Source voltage (V); left out, the simulation's waveform."""

    def _terms(self, context: Context) -> list[Term]:
        """Terms that the engine steps with the fields, and the recorded voltage."""
        placed = self._placed(context)
        return [*placed.terms(context, self._source(context)), placed.voltage(context)]

    def _collect(self, context: Context, recordings: list[Recording], excitation: str) -> Variables:
        """`voltage` (V) and `current` (A) over `time` (s) of the run in which the named excitation was on."""
        return self._terminal(context, recordings[0], excitation, "", "")


class MicrostripPort(Port):
    """A microstrip line fed from a resistive sheet between ground and strip, measured at a plane further along.

    The sheet stands across the line, from the ground (`lower`) to the strip (`upper`) and as wide as the strip; it
    holds the source (volts, the waveform's value) in series with the resistance, which also ends the line. At the
    reference plane V is taken from ground to strip at the strip's middle, I from H round the strip, half a cell off
    it, and interpolated between the half planes on both sides. V stands at m dt, I at (m + 1/2) dt, each on a time
    axis of its own; waves a travel along `propagation`. The interpolation makes the line's impedance appear
    1/cos(beta d/2) too large for a cell of d along the line, 0.3 % at 40 cells per wavelength.

    >>> import nearfield as nf
    >>> port = nf.MicrostripPort("in", (0, 0, 0), (2e-3, 0, 1e-3), "z", "+y", reference_plane=5e-3)
    >>> port.impedance
    50.0
    """

    kind: Literal["microstrip"] = tag("microstrip")
    name: Name
    """Name in results."""
    lower: Position
    """Corner of the sheet (m) at the ground."""
    upper: Position
    """Opposite corner (m) at the strip; equal to `lower` along the line."""
    axis: Axis
    """Direction from the ground to the strip."""
    propagation: Heading
    """Direction along the line from the sheet into the structure."""
    reference_plane: Length
    """Coordinate (m) along the line at which V and I are measured; snapped to a grid line."""
    resistance: PositiveResistance = 50.0
    """Resistance (ohm) of the sheet."""
    reference_impedance: PositiveResistance | None = None
    """Reference impedance (ohm) of its waves; left out, the resistance."""
    waveform: AnyWaveform | None = None
    """Source voltage (V); left out, the simulation's waveform."""

    @property
    def _heading(self) -> tuple[int, int]:
        """The line's axis; +1 when the waves into the structure travel towards larger coordinates, else -1."""
        return axis_and_sign(self.propagation)

    @model_validator(mode="after")
    def _across_the_line(self) -> MicrostripPort:
        (along, sign), axis = self._heading, AXES.index(self.axis)
        name = AXES[along]
        if along == axis:
            raise ValueError(f"propagation {self.propagation!r} runs along axis {self.axis!r}; it must lie across")
        if self.lower[along] != self.upper[along]:
            raise ValueError(f"the feeding sheet must stand across the line: give lower and upper the same {name}")
        across = 3 - along - axis
        if self.lower[across] == self.upper[across]:
            raise ValueError(f"the feeding sheet has no width along {AXES[across]}; let it span the strip's width")
        if (self.reference_plane - self.lower[along]) * sign <= 0.0:
            raise ValueError(
                f"reference_plane {name}={self.reference_plane:.6g} m does not lie in the direction {self.propagation} "
                f"of the sheet at {name}={self.lower[along]:.6g} m; move it into the line or turn the propagation"
            )
        return self

    def _circuit(self) -> Circuit:
        """Its circuit."""
        return two_pole(self.resistance, None, None, "series")

    def _plane_node(self, grid: YeeGrid) -> int:
        """Grid line of the reference plane; refused at a wall or on the sheet."""
        along, sign = self._heading
        node, sheet = (grid.nearest_node(along, place) for place in (self.reference_plane, self.lower[along]))
        low, high = (sheet, grid.cells[along]) if sign > 0 else (0, sheet)
        if not low < node < high:
            raise ModelError(
                f"{self._label}: reference_plane {AXES[along]}={self.reference_plane:.6g} m falls on the sheet "
                "or on the grid's wall; move it at least one cell into the line"
            )
        return node

    def _block(self, site: Site) -> EdgeBlock:
        """The edges of the sheet; refuses a misplaced reference plane on the way."""
        self._plane_node(site.grid)
        return super()._block(site)

    def _refuse_upside_down(self, context: Context, block: EdgeBlock, along: int, node: int) -> None:
        """Error: metal goes on past the sheet's width at its upper end, where the strip should be, and not below."""
        axis = block.component
        across, grid = 3 - axis - along, context.grid
        sides = [int(block.index[across].min()) - BESIDE, int(block.index[across].max()) + BESIDE - 1]
        if grid.closed(across) or sides[0] < 0 or sides[1] >= grid.cells[across]:
            return
        index = np.full((3, 4), node)
        index[across] = sides * 2
        index[axis] = np.repeat([int(block.index[axis].min()), int(block.index[axis].max()) + 1], 2)
        lower, upper = np.reshape(context.coefficients.is_metal(across, *index), (2, 2))
        if upper.all() and not lower.any():
            name = AXES[axis]
            raise ModelError(
                f"{self._label}: metal at {name}={self.upper[axis]:.6g} m, where its strip should be, goes on past its "
                f"width, and none does at {name}={self.lower[axis]:.6g} m, so that ground and strip have changed "
                f"places: `lower`, with the smaller {name}, is at the ground. Turn the model over"
            )

    def _terms(self, context: Context) -> list[Term]:
        """Terms that the engine steps with the fields, and the recorded voltage and current."""
        placed, (along, sign), node = self._placed(context), self._heading, self._plane_node(context.grid)
        middle = triple(0.5 * (low + high) for low, high in zip(self.lower, self.upper))
        block = self._block(context)
        self._refuse_upside_down(context, block, along, node)
        voltage = line_voltage(context, block, along, node, middle)
        current = line_current(context, block, along, node, sign)
        return [*placed.terms(context, self._source(context)), voltage, current, placed.voltage(context)]

    def _collect(self, context: Context, recordings: list[Recording], excitation: str) -> Variables:
        """`voltage` (V) over `time` and `current` (A) over `time_half` (s) at the reference plane.

        `terminal_voltage` and `terminal_current` over `time_terminal` are those of the feeding sheet, where what the
        source gives is known exactly: between sheet and plane the line itself radiates.
        """
        voltage, current, sheet = recordings
        where = {"reference_plane": float(context.grid.lines[self._heading[0]][self._plane_node(context.grid)])}
        time, time_half = time_axis(voltage.time), time_axis(current.time, half=True)
        return {
            **time,
            "voltage": Variable(tuple(time), voltage.values, {"units": "V", **where}),
            **time_half,
            "current": Variable(tuple(time_half), current.values, {"units": "A", **where}),
            **self._terminal(context, sheet, excitation, "_terminal", "terminal_"),
        }
