"""Boundaries at the six faces of the grid: a perfect conductor of either kind, a CPML that absorbs waves, or the
opposite face, where the fields repeat from cell to cell.

The CPML (Roden and Gedney 2000) stretches the coordinate, d/dx -> 1/s d/dx, s = kappa + sigma/(alpha + j w eps0),
inside the outermost cells of the grid; behind it stands a perfect electric conductor.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BeforeValidator, Field, model_validator

from nearfield.entry.constants import VACUUM_IMPEDANCE, VACUUM_PERMITTIVITY, VACUUM_SPEED
from nearfield.entry.errors import ModelError
from nearfield.entry.quantities import NUMBER as NUMBER_DIMENSION
from nearfield.entry.quantities import (
    Angle,
    Conductivity,
    NonNegativeNumber,
    Number,
    Quantity,
    Read,
    WaveNumber,
    Whole,
    shown,
)
from nearfield.entry.schema import Schema, tag
from nearfield.entry.triples import triple
from nearfield.grid.yee import AXES, SIDES, YeeGrid
from nearfield.media.surface_media import Conductor

FACES = tuple(product(range(3), SIDES))  # (axis, side) of the six
DEFAULT_ALPHA = 0.08  # alpha at the inner face times eta0 cell; less would reflect slow near fields, more long waves


def _stretch(value: Any) -> float:
    number = Quantity(NUMBER_DIMENSION).read(value)
    if not 1.0 <= number <= 1e3:
        raise ValueError(f"must lie between 1 and 1000, given {shown(value)}")
    return number


class CPML(Schema):
    """An absorbing layer of the outermost `cells` cells of the grid, at most -75 dB of reflection by default.

    At depth u (0 at the inner face, 1 at the wall): sigma = sigma_max u^order with
    sigma_max = sigma_ratio 0.8 (order + 1)/(eta0 index cell), kappa = 1 + (kappa_maximum - 1) u^order,
    alpha = alpha_maximum (1 - u)^alpha_order. Source: Roden and Gedney, Microw. Opt. Technol. Lett. 27, 334 (2000).

    >>> import nearfield as nf
    >>> nf.Boundaries(all=nf.CPML(8), z_low=nf.PEC).cpml_cells(2)
    (0, 8)
    """

    kind: Literal["cpml"] = tag("cpml")
    cells: Annotated[Whole, Field(ge=1, le=1000)] = 10
    """Thickness in cells, 1 to 1000; 6 is thin, 16 is for the last digits."""
    order: Annotated[NonNegativeNumber, Field(le=10)] = 3.5
    """Power of the depth by which sigma and kappa grow, 0 to 10."""
    sigma_ratio: Annotated[NonNegativeNumber, Field(le=1e3)] = 0.8
    """Conductivity at the wall over the usual optimum 0.8 (order + 1)/(eta0 index cell)."""
    kappa_maximum: Annotated[float, BeforeValidator(_stretch)] = 3.0
    """Stretch at the wall, at least 1; larger values help against evanescent fields."""
    alpha_maximum: Conductivity | None = None
    """Frequency shift alpha at the inner face (S/m); left out, 0.08/(eta0 index cell), which suits the slow near fields
    of an open box, and 0 at the end of a line or cell, whose four side faces are walls or periodic: only long waves
    come there. Media that absorb, and lines that leave in media, have another, and at the end of a guide, whose waves
    have a cut-off, the whole profile is another while its numbers are the defaults (docs/method.md)."""
    index: Annotated[Number, Field(ge=0.1, le=1e4)] | None = None
    """Refractive index that sigma and alpha are scaled for; left out, that of the media in the layer over the
    excitations' band: the lowest for sigma, the highest for alpha."""
    alpha_order: Annotated[NonNegativeNumber, Field(le=10)] = 2.5
    """Power of the rest of the depth by which alpha falls, 0 to 10. Alpha must be small where sigma is large, or long
    waves pass; where evanescent fields gain in the layer, as at the end of a guide, 0 takes their energy instead."""


class Bloch(Schema):
    """Both faces of an axis, over which the fields repeat with a phase: F(r + period) = F(r) exp(-j phase).

    Give the `phase` over the period, or the `wave_number` k along the axis, of which it is k period. A wave that
    travels towards larger coordinates has k > 0, in the convention exp(+j w t). Fields and what is recorded of them
    become complex, which doubles memory and time. A phase of 0 is `"periodic"`, with real fields:
    of a band that reaches below 0, `resonances` then takes the part above.

    >>> import nearfield as nf
    >>> cell = nf.Boundaries(x=nf.Bloch(phase="90 deg"), y="periodic", z=nf.PEC)
    >>> round(cell.phases(nf.Grid.uniform(1e-3, (8, 8, 1)).resolve())[0], 4)
    1.5708
    """

    kind: Literal["bloch"] = tag("bloch")
    phase: Angle | None = None
    """Angle (rad) by which the fields lag from the low face to the high one."""
    wave_number: WaveNumber | None = None
    """Or: the wave vector's component along the axis (rad/m)."""

    @model_validator(mode="after")
    def _one_of_two(self) -> Bloch:
        if (self.phase is None) == (self.wave_number is None):
            given = "neither" if self.phase is None else "both"
            raise ValueError(f"give either phase (rad) or wave_number (rad/m); {given} given")
        return self

    def over(self, period: float) -> float:
        """The phase (rad) over a period (m)."""
        return (self.phase or 0.0) if self.wave_number is None else self.wave_number * period


Face = Literal["pec", "pmc", "periodic"] | Annotated[CPML | Bloch, Field(discriminator="kind")]


def _face(value: Any) -> Any:
    if isinstance(value, dict) and "kind" not in value:
        return value | {"kind": "bloch" if {"phase", "wave_number"} & value.keys() else "cpml"}
    if value is None or isinstance(value, (CPML, Bloch, dict)) or value in ("pec", "pmc", "periodic"):
        return value
    if value == "cpml":
        return CPML()
    raise ValueError(f'given {shown(value)}; allowed: "pec", "pmc", "periodic", a CPML or a Bloch')


GivenFace = Annotated[Read[Face], BeforeValidator(_face)]


class Boundaries(Schema):
    """The boundary at each face: `"pec"`, `"pmc"`, a `CPML`; on both faces of an axis `"periodic"` or `Bloch`.

    A face is as it is named itself, else as both faces of its axis are named, else as `all`. Bodies that reach over
    periodic faces act in the cell as the union of their copies: draw one period of a screen, for slots in a longer
    piece close where its copies have none.

    >>> import nearfield as nf
    >>> nf.Boundaries(all=nf.CPML(10), z_low=nf.PEC).face(2, "low")
    'pec'
    >>> nf.Boundaries(x="periodic", y="periodic").face(0, "high")
    'periodic'
    """

    all: GivenFace = CPML()
    """Every face that is not named."""
    x_low: GivenFace | None = None
    x_high: GivenFace | None = None
    y_low: GivenFace | None = None
    y_high: GivenFace | None = None
    z_low: GivenFace | None = None
    z_high: GivenFace | None = None
    x: GivenFace | None = None
    """Both faces of the x axis that are not named."""
    y: GivenFace | None = None
    """Both faces of the y axis that are not named."""
    z: GivenFace | None = None
    """Both faces of the z axis that are not named."""
    conductor: Conductor | None = None
    """The metal of the faces that are "pec"; left out, perfect metal."""

    def face(self, axis: int, side: int | str) -> Face:
        """The boundary of one face; axis 0, 1, 2, side "low" or "high" (or 0, 1). A phase of 0 is "periodic".

        Error: ModelError for another axis or side.
        """
        if axis not in range(3) or side not in (*SIDES, 0, 1):
            raise ModelError(f'given axis {axis!r}, side {side!r}; a face has an axis 0 to 2, a side "low" or "high"')
        name = side if isinstance(side, str) else SIDES[side]
        named = (getattr(self, f"{AXES[axis]}_{name}"), getattr(self, AXES[axis]))
        found = next((face for face in named if face is not None), self.all)
        return "periodic" if isinstance(found, Bloch) and not found.over(1.0) else found

    @model_validator(mode="after")
    def _both_or_neither(self) -> Boundaries:
        for axis in range(3):
            low, high = (self.face(axis, side) for side in SIDES)
            if low != high and any(repeats(face) for face in (low, high)):
                name = AXES[axis]
                raise ValueError(
                    f"{name}_low is {described(low)}, {name}_high is {described(high)}: fields that repeat go out at "
                    f"one face and come in at the other, so both must be alike. Give {name}, which stands for both"
                )
        return self

    @property
    def walls_of_metal(self) -> bool:
        """Whether some face is "pec", whose metal `conductor` is."""
        return any(self.face(*each) == "pec" for each in FACES)

    def repeat(self, axis: int) -> bool:
        """Whether the fields repeat along an axis."""
        return repeats(self.face(axis, 0))

    @property
    def complex_fields(self) -> bool:
        """Whether some axis has a phase."""
        return any(isinstance(self.face(axis, 0), Bloch) for axis in range(3))

    def phases(self, grid: YeeGrid) -> tuple[float | None, float | None, float | None]:
        """The phase (rad) over each axis whose fields repeat, None for the others."""

        def phase(axis: int) -> float | None:
            face = self.face(axis, 0)
            if isinstance(face, Bloch):
                return face.over(float(grid.lines[axis][-1] - grid.lines[axis][0]))
            return 0.0 if face == "periodic" else None

        return triple(phase(axis) for axis in range(3))

    def cpml_cells(self, axis: int) -> tuple[int, int]:
        """Cells that the CPML takes at the low and at the high end of an axis (0 for a wall)."""
        low, high = (face.cells if isinstance(face := self.face(axis, side), CPML) else 0 for side in SIDES)
        return low, high

    def interior(self, grid: YeeGrid) -> tuple[tuple[int, int], ...]:
        """First and one past the last cell outside the CPML along each axis. Error: nothing is left."""
        ranges = []
        for axis, count in enumerate(grid.cells):
            low, high = self.cpml_cells(axis)
            if low + high >= count:
                raise ModelError(
                    f"the CPML takes {low} + {high} cells along {AXES[axis]}, but the grid has only {count} there and "
                    "the CPML lies inside it; add cells, or make the CPML thinner"
                )
            ranges.append((low, count - high))
        return tuple(ranges)


def repeats(face: Face) -> bool:
    """Whether fields that leave at a face come in at the opposite one."""
    return face == "periodic" or isinstance(face, Bloch)


def described(face: Face) -> str:
    """The name of a face's boundary in messages."""
    return repr(face) if isinstance(face, str) else f"a {type(face).__name__}"


@dataclass(frozen=True)
class StretchProfile:
    """Stretch of one axis at its nodes (n+1) or half nodes (n): per step psi <- decay psi + drive difference.

    The derivative is (c dt/length)/kappa * difference + psi; drive = c_cpml c dt/length. Outside the slabs and on
    their inner faces kappa is 1, decay and drive are 0.
    """

    kappa: np.ndarray
    decay: np.ndarray
    drive: np.ndarray


def cpml_profile(
    low: Face | None, high: Face | None, grid: YeeGrid, axis: int, time_step: float
) -> tuple[StretchProfile, StretchProfile]:
    """CPML coefficients along one axis: at the nodes (for E) and at the half nodes (for H).

    decay = exp(-(sigma/kappa + alpha) dt/eps0), c_cpml = sigma (decay - 1)/(sigma kappa + kappa^2 alpha).
    `low` and `high` are the two faces; what is no CPML does not stretch.
    """
    step = VACUUM_SPEED * time_step
    nodes = _profile(low, high, grid, axis, time_step, grid.lines[axis], step / grid.dual(axis))
    halves = _profile(low, high, grid, axis, time_step, grid.centres(axis), step / grid.primary(axis))
    return nodes, halves


def layer_extent(layer: CPML, line: np.ndarray, low: bool) -> tuple[float, float]:
    """Place (m) of a layer's inner face, and its thickness (m), at the low or the high end of an axis."""
    inner, wall = (line[layer.cells], line[0]) if low else (line[-1 - layer.cells], line[-1])
    return inner, abs(wall - inner)


def _profile(
    low: Face | None, high: Face | None, grid: YeeGrid, axis: int, time_step: float, at: np.ndarray, rate: np.ndarray
) -> StretchProfile:
    line = grid.lines[axis]
    kappa, decay, drive = np.ones(at.size), np.zeros(at.size), np.zeros(at.size)
    for layer, outward in ((low, -1.0), (high, 1.0)):
        if not isinstance(layer, CPML):
            continue
        inner, thickness = layer_extent(layer, line, outward < 0)
        depth = outward * (at - inner) / thickness
        inside = depth > 1e-9
        u = depth[inside]
        unit = layer.cells / (VACUUM_IMPEDANCE * thickness * (layer.index or 1.0))  # S/m: 1/(eta0 index mean cell)
        sigma = layer.sigma_ratio * 0.8 * (layer.order + 1.0) * unit * u**layer.order
        stretch = 1.0 + (layer.kappa_maximum - 1.0) * u**layer.order
        alpha_maximum = DEFAULT_ALPHA * unit if layer.alpha_maximum is None else layer.alpha_maximum
        alpha = alpha_maximum * np.maximum(1.0 - u, 0.0) ** layer.alpha_order
        kappa[inside] = stretch
        decay[inside] = np.exp(-(sigma / stretch + alpha) * time_step / VACUUM_PERMITTIVITY)
        loss = np.where(sigma > 0.0, sigma * stretch + stretch**2 * alpha, 1.0)
        drive[inside] = np.where(sigma > 0.0, sigma * (decay[inside] - 1.0) / loss, 0.0) * rate[inside]
    return StretchProfile(kappa, decay, drive)
