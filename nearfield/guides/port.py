"""A port across a waveguide: launches modes into a structure, and measures what comes back as waves of modes."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, model_validator

from nearfield.entry.quantities import Length, Position, PositiveLength, PositiveResistance, Read
from nearfield.entry.schema import tag
from nearfield.grid.yee import AXES
from nearfield.guides.analytic import ALIKE, Opening
from nearfield.guides.names import ModeName, Shape, mode_names
from nearfield.guides.placing import placed_port
from nearfield.guides.terms import PlacedPort
from nearfield.lowering.context import Context, Site
from nearfield.plan.recorders import Recording
from nearfield.plan.term import Term
from nearfield.records.records import Variables
from nearfield.sources.edges import Heading, Labelled, Name, axis_and_sign, flat_axes, ordered
from nearfield.sources.waveforms import AnyWaveform


class WaveguidePort(Labelled):
    """A port across a guide or a line: launches and measures one or several of its modes.

    The guide runs on behind the port into a CPML. The waveform is the modal voltage (V) of the wave that enters: E =
    V e, H = I n x e, with the integral of e^2 over the guide 1, so that V I is the power. It exists on the side of the
    structure alone: modes, dispersion and wave impedance are those of the grid, and nothing but rounding leaks out
    backwards, below the cut-off too. A pulse should begin above the cut-off, or the guide's own slow ringing there
    lasts long; what it holds at frequency 0 would leave a TE mode's magnetic field standing for good.

    A port of one mode goes by its name in results and S-parameters, modes of several are "name:TE10", each excited
    in a run of its own. S is that of waves of unit power, a = sqrt(Y) V. Below its cut-off, where Y is imaginary, a
    mode's waves decay along the way they go, and S is the ratio of their amplitudes: it may exceed 1. As far as
    `reference_plane` the cells along the guide should be those at the port.

    With shape "any" the cross-section is what the structures and walls leave open within the rectangle, and modes are
    counted from "1" on. Filled by one medium they come in the order of their cut-offs: TEM waves first, one fewer
    than there are conductors, the one with the least capacitance leading (of two equal strips the even one); of a TE
    and a TM mode with one cut-off the TE mode; of two that differ in polarisation alone that along the first of x, y,
    z. E points to larger coordinates at the first place where it has at least half its largest value.

    In a mixed filling modes are hybrid and come in the order of their wave numbers in the middle of the pulses' band,
    the largest first; E and H have profiles of their own, which change with frequency. They are found on the grid at
    up to 33 frequencies, launched and measured with those of each frequency by polynomials between them, and
    orthogonal in power. What leaks out backwards is below -100 dB (nearer to -150 where the fields change little over
    the band). Where a mode meets another within the band (60 dB down), or is one of a pair of complex waves, it is
    refused.

    With shape "open" no metal need close the rectangle: microstrip, striplines, coplanar and slot lines, coupled lines,
    slabs, ribs and strips that guide light, which run on behind the port into the CPML. Metal and media at the
    rectangle's border are taken to go on outward without end, but where it lies on a PEC wall, and modes are counted as
    in a mixed filling; the pulse may begin at 0 Hz where they have no cut-off. V I is the power of the whole line. What
    passes beyond the rectangle is not launched, and `check` says how much that is from 1 % on: of 2 % in a microstrip
    line S21 is wrong by 0.02 dB and -60 dB are reflected, so let the rectangle reach 8 times the board's height from
    the strip. The line's impedance is its power over the squared current that flows forth in its conductors (and back
    in the others), `characteristic_impedance` of `guide_modes`: that of the odd mode of a pair is the differential one.
    Of a slot, whose two conductors both run on outward, it is the squared voltage across it over twice the power.
    S is that of the line's own waves, or with `reference_impedance` of that one. Conductivity up to a loss tangent of
    0.05 is taken, with a caution: modes are those without it, and a quarter of the tangent is reflected.

    In a rectangular guide the first number of a mode counts half waves along its broad side. In a round one E of
    "TE11y" points along y in the middle; without an axis it is the first of x, y, z across the guide. Sources: Taflove
    and Hagness, Computational Electrodynamics, 3rd ed., chapter 5; Marcuvitz, Waveguide Handbook, chapter 2.

    >>> import nearfield as nf
    >>> port = nf.WaveguidePort("in", (0, 0, "5 mm"), ("22.86 mm", "10.16 mm", "5 mm"), "+z", "TE10")
    >>> port.modes
    ('TE10',)
    """

    kind: Literal["waveguide"] = tag("waveguide")
    name: Name
    """Name in results."""
    lower: Position
    """Corner with the smallest coordinates (m) of the opening, or of the rectangle about it."""
    upper: Position
    """Opposite corner (m); the same along the guide."""
    direction: Heading
    """Direction along the guide from the port into the structure."""
    modes: Annotated[Read[tuple[str, ...]], BeforeValidator(mode_names), Field(min_length=1)]
    """Its modes: "TE10", "TM11", "TEM", "TE11y" ..., or with shape "any" and "open" their numbers from 1 on."""
    shape: Shape = "rectangular"
    """Of the guide: "rectangular", "circular", "coaxial", "any", or "open" of a line without metal around."""
    inner_radius: PositiveLength | None = None
    """Radius (m) of a coaxial guide's inner conductor."""
    reference_plane: Length | None = None
    """Coordinate (m) along the guide to which waves are moved with the grid's own wave number; left out, the port."""
    reference_impedance: PositiveResistance | None = None
    """Impedance (ohm) for which S of an open line is stated; left out, the line's own at each frequency."""
    waveform: AnyWaveform | None = None
    """Modal voltage (V) of the wave that enters; left out, the simulation's waveform."""

    @model_validator(mode="after")
    def _across_the_guide(self) -> WaveguidePort:
        ordered(self.lower, self.upper)
        name = AXES[self._along]
        flat = [AXES[axis] for axis in flat_axes(self.lower, self.upper)]
        if flat != [name]:
            raise ValueError(
                f"lower {self.lower} and upper {self.upper} agree in {' and '.join(flat) or 'no coordinate'}; a port "
                f"lies across its guide, so with direction {self.direction!r} let them agree in {name} alone"
            )
        a, b = self._opening.sides
        if self.shape in ("circular", "coaxial") and abs(a - b) > ALIKE * a:
            raise ValueError(f"the square about a {self.shape} guide has sides {a:.6g} and {b:.6g} m; make them equal")
        if (self.inner_radius is None) == (self.shape == "coaxial"):
            raise ValueError('inner_radius goes with shape = "coaxial", and with that alone')
        if self.inner_radius is not None and not self.inner_radius < self._opening.radius:
            raise ValueError(f"inner_radius {self.inner_radius:.6g} m reaches the outer radius {0.5 * a:.6g} m")
        for text in self.modes:
            fault = ModeName.read(text).fault(self.shape, name)
            if fault:
                kind = "guide of any shape" if self.shape == "any" else f"{self.shape} guide"
                raise ValueError(f"a {kind} along {name} has no mode {text!r}: {fault}")
        if self.reference_impedance is not None and self.shape != "open":
            raise ValueError(
                'reference_impedance goes with shape = "open", whose lines have a voltage and a current in conductors; '
                f"waves in a guide with shape {self.shape!r} are those of its mode, so leave it out"
            )
        if len(set(self.modes)) < len(self.modes):
            raise ValueError(f"modes {', '.join(self.modes)} name one twice; leave it out")
        return self

    @property
    def _along(self) -> int:
        """The guide's axis."""
        return axis_and_sign(self.direction)[0]

    @property
    def _sign(self) -> int:
        """+1 when the waves into the structure travel towards larger coordinates."""
        return axis_and_sign(self.direction)[1]

    @property
    def impedance(self) -> float:
        """Reference impedance (ohm) of its waves; of a guide its own at each frequency, so no number, unless given."""
        return float("nan") if self.reference_impedance is None else self.reference_impedance

    @property
    def _channels(self) -> tuple[WaveguidePort, ...]:
        """The port as ports of one mode each."""
        if len(self.modes) == 1:
            return (self,)
        return tuple(self.model_copy(update={"name": f"{self.name}:{mode}", "modes": (mode,)}) for mode in self.modes)

    @property
    def _opening(self) -> Opening:
        """The guide's opening."""
        u, v = (self._along + 1) % 3, (self._along + 2) % 3
        lower, upper = ((corner[u], corner[v]) for corner in (self.lower, self.upper))
        return Opening(self.shape, lower, upper, self.inner_radius or 0.0)

    def _loads(self, site: Site) -> list:
        """It adds nothing to the medium."""
        return []

    def _placed(self, context: Context) -> PlacedPort:
        """Its first mode on the grid, found once for a model."""
        return context.once(("port", self.name), lambda: placed_port(context, self))

    def _terms(self, context: Context) -> list[Term]:
        """The currents that launch the mode where the port is excited; the sums that record its voltage and current."""
        placed, signal = self._placed(context), context.waveforms.get(self.name)
        return [*(placed.launched(context, signal) if signal else ()), *placed.received(context)]

    def _collect(self, context: Context, recordings: list[Recording], excitation: str) -> Variables:
        """`voltage` (V) over `time` in the port's plane, `current` (A) over `time_half` (s) half a cell on.

        The numbers that turn them into waves (`guided_record`) are recorded with them.
        """
        return self._placed(context).record(recordings)
