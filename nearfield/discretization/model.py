"""A model: every entry of a simulation, checked once, immutable; the doors of `Simulation` are added above it."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, field_validator, model_validator

from nearfield.bodies.geometry import FilledShape, Structure, filled_shapes
from nearfield.entry.parameters import checked
from nearfield.entry.quantities import Number, PositiveTime, Several, Whole
from nearfield.entry.schema import Schema
from nearfield.entry.toml_text import plain
from nearfield.grid.boundaries import Boundaries
from nearfield.grid.grid import AnyGrid
from nearfield.grid.symmetry import Symmetry
from nearfield.guides.port import WaveguidePort
from nearfield.incident.plane_wave import PlaneWave
from nearfield.media.materials import AnyMedium, Medium
from nearfield.media.surface_media import AnyMaterial
from nearfield.monitors.element_statistics import ElementStatistics
from nearfield.monitors.fields import FieldDFT, Snapshot
from nearfield.monitors.paths import Current, Probe, Voltage
from nearfield.monitors.radiation import FarField, Flux
from nearfield.ports.elements import LumpedElement
from nearfield.ports.ports import LumpedPort, MicrostripPort
from nearfield.sources.sources import CurrentSheet, LineCurrent, MagneticPointCurrent, PointCurrent
from nearfield.sources.waveforms import AnyWaveform

AnySource = Annotated[
    PointCurrent | MagneticPointCurrent | LineCurrent | CurrentSheet | PlaneWave, Field(discriminator="kind")
]
AnyPort = Annotated[LumpedPort | MicrostripPort | WaveguidePort, Field(discriminator="kind")]
AnyMonitor = Annotated[
    Probe | Voltage | Current | Snapshot | ElementStatistics | FieldDFT | Flux | FarField, Field(discriminator="kind")
]


class Model(Schema):
    """Maxwell's equations in a box: grid, structures, boundaries, sources, ports, monitors. Lengths in SI.

    `Simulation` is what users make: this, and what can be done with it.
    """

    grid: AnyGrid
    """The grid: `lines`, `uniform`, `graded` or `auto`."""
    structures: Several[Structure] = ()
    """Shapes and their media; where they overlap, the later one counts."""
    boundaries: Boundaries = Boundaries()
    """The six faces."""
    sources: Several[AnySource] = ()
    """Impressed currents and plane waves."""
    ports: Several[AnyPort] = ()
    """Ports: each is excited in a run of its own, the others stay terminated."""
    elements: Several[LumpedElement] = ()
    """Lumped R, L, C without a source."""
    monitors: Several[AnyMonitor] = ()
    """Recordings: probes, fields, fluxes, far fields."""
    media: dict[str, AnyMaterial] = {}  # noqa: RUF012 (pydantic copies defaults)
    """Media by name, for `medium = "name"` in a structure; `"library:gold"` and the like name real ones."""
    background: AnyMedium = Medium()
    """Medium of the box where no structure is."""
    title: str = ""
    """One line for plots and the report."""
    waveform: AnyWaveform | None = None
    """Voltage waveform of the ports; left out: a Gaussian up to the automatic grid's maximum frequency."""
    excitations: Several[str] | None = None
    """Which runs to make, by port name or "sources"; left out: the sources if there are any, else every port."""
    precision: Literal["single", "double"] = "single"
    """Of fields and coefficients."""
    storage: Literal["full", "16-bit"] = "full"
    """Of fields in a card's memory: "full", as wide as `precision`; "16-bit", half as wide with arithmetic in single
    precision, on the engine "cuda" alone: other bits, whose error a short run beside "full" measures before the run
    (docs/gpu.md)."""
    courant: Annotated[Number, Field(gt=0, le=1)] = 0.99
    """Time step over the grid's stable limit."""
    time_step: PositiveTime | None = None
    """Time step (s); left out: `courant` times the limit."""
    steps: Annotated[Whole, Field(ge=1, le=10**9)] | None = None
    """Make exactly so many steps."""
    duration: PositiveTime | None = None
    """Simulated time (s), instead of `steps`."""
    decay: Annotated[Number, Field(gt=0, lt=1)] | None = None
    """Stop when the field energy, with the sources off, is below this part of its peak; left out: 1e-6, with
    ports in closed guides 1e-8, if neither `steps` nor `duration` is given."""
    check_every: Annotated[Whole, Field(ge=1)] = 100
    """Steps between whole-domain checks for divergence and decay."""
    schedule: Literal["tiled", "stepwise"] = "tiled"
    """Order of the updates: several steps while a tile is in cache, or step by step. The results are the same bits."""
    engine: Literal["auto", "cpu", "cuda", "reference"] = "auto"
    """What makes the steps, always with the same bits: "cpu"; "cuda", kernels on an NVIDIA card (docs/gpu.md);
    "reference", slow, in NumPy, for checks of small models; "auto": a card where one can be used and the model fits on
    it, else "cpu"."""
    symmetry: Symmetry = Symmetry()
    """Planes of symmetry in the middle of the grid: the half above each is stepped, the whole reported."""
    metal: Literal["staircase", "conformal", "auto"] = "auto"
    """"pec" bodies: "staircase" takes whole cells and edges; "conformal" follows the surfaces of solids through cells,
    with a time step of at most 0.7 of the limit where they cut some, to second order with `courant` 0.7, and the
    outlines of sheets at no cost; "auto" is "conformal" where metal is off the grid lines, curved, slanted or between
    them, or has an edge in the open field, else "staircase", and `check` says which and why."""
    averaging: Literal["diagonal", "volume", "tensor"] = "diagonal"
    """Cells that curved or slanting surfaces of media cross: "diagonal" weighs what is continuous along the surface and
    across it by its normal; "volume" takes the mean over faces, then in series along edges, whatever the normal;
    "tensor" keeps E and D there to second order, where media have neither loss nor poles, for some time a step."""
    parameters: Annotated[dict[str, float | str], BeforeValidator(checked)] = {}  # noqa: RUF012
    """Values by name, each a number or a text with its unit, which expressions of a model file use ("= width / 2");
    a simulation keeps them as a record of what it was made with."""

    @field_validator("structures", "sources", "ports", "elements", "monitors", "excitations", mode="before")
    @classmethod
    def _one_or_many(cls, value):
        if isinstance(value, (Schema, str)):
            return (value,)
        return tuple(value) if isinstance(value, list) else value

    @field_validator("structures")
    @classmethod
    def _one_medium_each(cls, value):
        return tuple(part for each in value for part in ((each,) if each._turns else each.parts()))

    @model_validator(mode="after")
    def _turned_media(self):
        if any(each._turns for each in self.structures):
            self.__dict__["structures"] = tuple(part for each in self.structures for part in each.parts(self.media))
        return self

    @model_validator(mode="after")
    def _one_length(self):
        if self.steps is not None and self.duration is not None:
            raise ValueError(f"steps={self.steps} and duration={self.duration} s are both given; give one of them")
        return self

    @model_validator(mode="after")
    def _narrow_in_single(self):
        if self.storage == "16-bit" and self.precision == "double":
            raise ValueError(
                'storage="16-bit" keeps 11 bits of a number, and goes with precision="single"; give one of them up'
            )
        return self

    @cached_property
    def _bodies(self) -> tuple[FilledShape, ...]:
        """The structures with their media. Error: a medium that is not defined, or cannot fill its shape."""
        return filled_shapes(self.structures, self.media)

    def __copy__(self) -> Self:
        copy = super().__copy__()
        copy.__dict__.pop("_bodies", None)  # `model_copy` may change structures and media
        return copy

    @property
    def _guides(self) -> tuple:
        """The waveguide ports whose guides metal closes."""
        return tuple(port for port in self.ports if port.kind == "waveguide" and port.shape != "open")

    @property
    def _channels(self) -> tuple:
        """The ports of one wave each: those of several modes count as several."""
        return tuple(channel for port in self.ports for channel in port._channels)


def stated(model: Model) -> dict[str, Any]:
    """Plain values of a model as results and checkpoints hold it: with `metal` even where it has its default.

    Those of versions whose default was "staircase" state none.
    """
    return {"metal": model.metal, **plain(model)}
