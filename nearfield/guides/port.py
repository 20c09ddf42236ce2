"""A port across a waveguide: launches modes into a structure, and measures what comes back as waves of modes."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from pydantic import BeforeValidator, Field, model_validator

from nearfield.edges import Heading, Name, axis_and_sign, ordered
from nearfield.grid import AXES
from nearfield.guides.analytic import ALIKE, Opening
from nearfield.guides.launch import LaunchedMode
from nearfield.guides.line import GuideLine
from nearfield.guides.modes import Mode
from nearfield.guides.names import ModeName, Shape
from nearfield.guides.placing import mode_of, port_place
from nearfield.incident.term import IncidentTerm
from nearfield.lumped import functional
from nearfield.plan import VACUUM_SPEED, Context, Functional, Recording, Term
from nearfield.quantities import Length, Position, PositiveLength, several
from nearfield.records import HALF, Variable, Variables
from nearfield.schema import Schema
from nearfield.sources import AnyWaveform


class WaveguidePort(Schema):
    """A port across a rectangular, circular or coaxial guide with metal walls: one or several of its modes.

    The guide runs on behind the port into a CPML. The waveform is the modal voltage (V) of the wave that enters: E =
    V e, H = I n x e, with the integral of e^2 over the guide 1, so that V I is the power. It exists on the side of the
    structure alone: modes, dispersion and wave impedance are those of the grid, and nothing but rounding leaks out
    backwards, below the cut-off too. A pulse should begin above the cut-off, or the guide's own slow ringing there
    lasts long; what it holds at frequency 0 would leave a TE mode's magnetic field standing for good.

    A port of one mode goes by its name in results and S-parameters, modes of several are "name:TE10", each excited
    in a run of its own. S is that of waves of unit power, a = sqrt(Y) V. Below its cut-off, where Y is imaginary, a
    mode's waves decay along the way they go, and S is the ratio of their amplitudes: it may exceed 1. As far as
    `reference_plane` the cells along the guide should be those at the port.

    In a rectangular guide the first number of a mode counts half waves along its broad side. In a round one E of
    "TE11y" points along y in the middle; without an axis it is the first of x, y, z across the guide. Sources: Taflove
    and Hagness, Computational Electrodynamics, 3rd ed., chapter 5; Marcuvitz, Waveguide Handbook, chapter 2.

    >>> import nearfield as nf
    >>> port = nf.WaveguidePort("in", (0, 0, "5 mm"), ("22.86 mm", "10.16 mm", "5 mm"), "+z", "TE10")
    >>> [channel.name for channel in port.channels]
    ['in']
    """

    kind: Literal["waveguide"] = "waveguide"
    name: Name
    """Name in results."""
    lower: Position
    """Corner with the smallest coordinates (m) of the opening, or of the square about a round one."""
    upper: Position
    """Opposite corner (m); the same along the guide."""
    direction: Heading
    """Direction along the guide from the port into the structure."""
    modes: Annotated[tuple[str, ...], BeforeValidator(several), Field(min_length=1)]
    """Its modes: "TE10", "TM11", "TEM", "TE11y" ..."""
    shape: Shape = "rectangular"
    """Of the guide: "rectangular", "circular", "coaxial"."""
    inner_radius: PositiveLength | None = None
    """Radius (m) of a coaxial guide's inner conductor."""
    reference_plane: Length | None = None
    """Coordinate (m) along the guide to which waves are moved with the grid's own wave number; left out, the port."""
    waveform: AnyWaveform | None = None
    """Modal voltage (V) of the wave that enters; left out, the simulation's waveform."""

    @model_validator(mode="after")
    def _across_the_guide(self) -> WaveguidePort:
        ordered(self.lower, self.upper)
        name = AXES[self.along]
        flat = [AXES[axis] for axis in range(3) if self.lower[axis] == self.upper[axis]]
        if flat != [name]:
            raise ValueError(
                f"lower {self.lower} and upper {self.upper} agree in {' and '.join(flat) or 'no coordinate'}; a port "
                f"lies across its guide, so with direction {self.direction!r} let them agree in {name} alone"
            )
        a, b = self.opening.sides
        if self.shape != "rectangular" and abs(a - b) > ALIKE * a:
            raise ValueError(f"the square about a {self.shape} guide has sides {a:.6g} and {b:.6g} m; make them equal")
        if (self.inner_radius is None) == (self.shape == "coaxial"):
            raise ValueError("inner_radius goes with shape = \"coaxial\", and with that alone")
        if self.inner_radius is not None and not self.inner_radius < self.opening.radius:
            raise ValueError(f"inner_radius {self.inner_radius:.6g} m reaches the outer radius {0.5 * a:.6g} m")
        for text in self.modes:
            fault = ModeName.read(text).fault(self.shape, name)
            if fault:
                raise ValueError(f"a {self.shape} guide along {name} has no mode {text!r}: {fault}")
        if len(set(self.modes)) < len(self.modes):
            raise ValueError(f"modes {', '.join(self.modes)} name one twice; leave it out")
        return self

    @property
    def place(self) -> str:
        """Name for messages."""
        return f"WaveguidePort {self.name!r}"

    @property
    def along(self) -> int:
        """The guide's axis."""
        return axis_and_sign(self.direction)[0]

    @property
    def sign(self) -> int:
        """+1 when the waves into the structure travel towards larger coordinates."""
        return axis_and_sign(self.direction)[1]

    @property
    def impedance(self) -> float:
        """Of a guide it is its own at each frequency, so no number."""
        return float("nan")

    @property
    def channels(self) -> tuple[WaveguidePort, ...]:
        """The port as ports of one mode each."""
        if len(self.modes) == 1:
            return (self,)
        return tuple(self.model_copy(update={"name": f"{self.name}:{mode}", "modes": (mode,)}) for mode in self.modes)

    @property
    def opening(self) -> Opening:
        """The guide's opening."""
        across = (self.along + 1) % 3, (self.along + 2) % 3
        lower, upper = (tuple(corner[axis] for axis in across) for corner in (self.lower, self.upper))
        return Opening(self.shape, lower, upper, self.inner_radius or 0.0)

    def loads(self, grid, time_step: float) -> list:
        """It adds nothing to the medium."""
        return []

    def mode(self, context: Context) -> Mode:
        """Its first mode, on the grid."""
        return mode_of(context, self)

    def line(self, context: Context) -> GuideLine:
        """The line of its first mode."""
        mode, cell = self.mode(context), self._cells(context)[1]
        section = mode.section
        return GuideLine(mode.family, mode.cutoff, cell, context.time_step, section.permittivity, section.permeability)

    def terms(self, context: Context) -> list[Term]:
        """What the engine adds where the port is excited; the modal voltage and current that it records."""
        mode = self.mode(context)
        launched = self._launched(context, mode) if self.name in context.waveforms else []
        return [*launched, *self._received(context, mode)]

    def collect(self, context: Context, recordings: list[Recording], excitation: str) -> Variables:
        """`voltage` (V) over `time` in the port's plane, `current` (A) over `time_half` (s) half a cell on.

        What turns them into waves (`nearfield.guides.line`) is kept with the voltage; `cells` lie between the port and
        its reference plane.
        """
        voltage, current = recordings
        line, (node, cell) = self.line(context), (port_place(context, self).node, self._cells(context)[1])
        here = float(context.grid.lines[self.along][node])
        plane = here if self.reference_plane is None else self.reference_plane
        notes = {
            "mode": self.modes[0], "cutoff_frequency": line.cutoff_frequency, "reference_plane": plane,
            "cells": self.sign * (plane - here) / cell, **vars(line),
        }
        return {
            "time": Variable(("time",), voltage.time, {"units": "s"}),
            "voltage": Variable(("time",), voltage.values, {"units": "V", **notes}),
            "time" + HALF: Variable(("time" + HALF,), current.time, {"units": "s"}),
            "current": Variable(("time" + HALF,), current.values, {"units": "A"}),
        }

    def _cells(self, context: Context) -> tuple[float, float]:
        """Lengths (m) of the cells before and behind the plane, as the wave that enters meets them."""
        node = port_place(context, self).node
        below, above = (float(length) for length in context.grid.primary(self.along)[[node - 1, node]])
        return (below, above) if self.sign > 0 else (above, below)

    def _half(self, node: int, ahead: bool) -> int:
        """Number of the half node beside a node, ahead in the port's direction or behind."""
        return node - ((self.sign > 0) != ahead)

    def _launched(self, context: Context, mode: Mode) -> list[IncidentTerm]:
        signal, section = context.waveforms[self.name], mode.section
        before, _ = self._cells(context)
        node = section.place.node
        dual = float(context.grid.dual(self.along)[node])
        wave = LaunchedMode(self.line(context), dual, signal.value, signal.excitation, signal.end)
        component, index, electric, magnetic, beside, _, part = mode.samples()
        behind = index.copy()
        behind[self.along] = self._half(node, ahead=False)
        advance = VACUUM_SPEED * context.time_step
        parts = (
            (component, index, advance / (section.permittivity * dual) * part * electric),
            (magnetic, behind, self.sign * advance / (section.permeability * before) * beside),
        )
        zeros = np.zeros((component.size, 1))
        return [IncidentTerm(c, *at, weight, zeros.astype(int), zeros + 1.0, wave) for c, at, weight in parts]

    def _received(self, context: Context, mode: Mode) -> list[Functional]:
        component, index, electric, magnetic, beside, area, part = mode.samples()
        ahead = index.copy()
        ahead[self.along] = self._half(mode.section.place.node, ahead=True)
        return [
            functional(context, component, index, electric * area),
            functional(context, magnetic, ahead, self.sign * beside * area * part),
        ]
