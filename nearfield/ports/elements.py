"""Circuits of R, L and C in edges between two corners, and lumped elements, which are such circuits alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Self

from pydantic import model_validator

from nearfield.coefficients.edge_loads import EdgeLoad
from nearfield.entry.quantities import Position, PositiveCapacitance, PositiveInductance, PositiveResistance
from nearfield.entry.schema import tag
from nearfield.entry.triples import Point
from nearfield.grid.yee import AXES
from nearfield.lowering.context import Context, Site
from nearfield.plan.term import Term
from nearfield.ports.circuits import Circuit, Connection, two_pole
from nearfield.ports.lumped import PlacedCircuit
from nearfield.sources.edges import Edges, Name, OnEdges, ordered
from nearfield.sources.sources import Axis


class TwoPole(OnEdges):
    """A circuit in the edges between two corners."""

    if TYPE_CHECKING:

        @property
        def lower(self) -> Point: ...
        @property
        def upper(self) -> Point: ...
        @property
        def axis(self) -> Axis: ...
        @property
        def resistance(self) -> float | None: ...
        @property
        def inductance(self) -> float | None: ...
        @property
        def capacitance(self) -> float | None: ...
        @property
        def connection(self) -> Connection: ...

    def _circuit(self) -> Circuit:
        """Its circuit."""
        return two_pole(self.resistance, self.inductance, self.capacitance, self.connection)

    @model_validator(mode="after")
    def _has_length(self) -> Self:
        ordered(self.lower, self.upper)
        axis = AXES.index(self.axis)
        if self.lower[axis] == self.upper[axis]:
            raise ValueError(
                f"lower and upper have the same {self.axis}={self.lower[axis]:.6g} m, but the terminals lie apart "
                f"along {self.axis}; let {self.axis} differ, or name the axis along which they do"
            )
        return self

    @property
    def _span(self) -> tuple[Point, Point, int]:
        """Corners (m) and axis of its edges."""
        return self.lower, self.upper, AXES.index(self.axis)

    def _placed(self, site: Site) -> PlacedCircuit:
        """Its circuit on its edges."""
        return PlacedCircuit(self._circuit(), self._block(site).over_seams(site.grid))

    def _edges(self, site: Site) -> list[Edges]:
        """The samples that carry it, each once."""
        block = self._placed(site).block
        return [(block.component, *block.index)]

    def _loads(self, site: Site) -> list[EdgeLoad]:
        """Loads that it adds to the medium of its edges, before the coefficients are made."""
        return self._placed(site).loads()


class LumpedElement(TwoPole):
    """A resistor, inductor, capacitor, or R-L-C in series or in parallel, between two corners along an axis.

    On one edge, or on all edges of a sheet or block: then the current spreads over its columns so that the whole is
    the two-pole asked for. An element left out is absent: 0 ohm or 0 H in series, nothing across in parallel.

    >>> import nearfield as nf
    >>> nf.LumpedElement((0, 0, 0), (0, 0, "1 mm"), "z", inductance="2 nH", capacitance="1 pF").connection
    'series'
    """

    kind: Literal["lumped-element"] = tag("lumped-element")
    lower: Position
    """Corner with the smallest coordinates (m)."""
    upper: Position
    """Opposite corner (m)."""
    axis: Axis
    """Direction from one terminal to the other."""
    resistance: PositiveResistance | None = None
    """Resistance (ohm)."""
    inductance: PositiveInductance | None = None
    """Inductance (H)."""
    capacitance: PositiveCapacitance | None = None
    """Capacitance (F), beside that of the cells themselves."""
    connection: Connection = "series"
    """Whether resistance, inductance and capacitance lie in series or in parallel."""
    name: Name | None = None
    """Name for messages."""

    @model_validator(mode="after")
    def _not_empty(self) -> LumpedElement:
        if self.resistance is None and self.inductance is None and self.capacitance is None:
            raise ValueError("no resistance, inductance or capacitance given; give at least one, or use metal")
        return self

    def _terms(self, context: Context) -> list[Term]:
        """Terms that the engine steps with the fields."""
        return self._placed(context).terms(context, None)
