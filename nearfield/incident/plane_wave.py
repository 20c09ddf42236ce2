"""A plane wave in a total-field box: total fields inside, scattered fields outside."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BeforeValidator, model_validator

from nearfield.entry.errors import ModelError
from nearfield.entry.quantities import ANGLE, NUMBER, ElectricField, Position, Quantity, Read, refuse_degrees, shown
from nearfield.entry.schema import tag
from nearfield.entry.triples import Triple, triple
from nearfield.grid.boundaries import FACES, Boundaries
from nearfield.grid.yee import AXES, YeeGrid
from nearfield.incident.along_axis import axis_terms
from nearfield.incident.at_angle import oblique_terms
from nearfield.incident.box import Beam, box_nodes, open_faces, to_the_end
from nearfield.incident.crossings import crossings, refuse_crossing
from nearfield.incident.fitness import refuse_unfit
from nearfield.lowering.context import Context, Illumination
from nearfield.plan.incident_faces import IncidentFaces
from nearfield.sources.edges import Name, ordered
from nearfield.sources.sources import SOURCES, ImpressedCurrent
from nearfield.sources.waveforms import AnyWaveform, ContinuousWave

ROUNDING = 1e-12


def _vector(value: Any) -> tuple[float, ...]:
    """ "+z", three components, or two angles (rad)."""
    if isinstance(value, str) and len(value) == 2 and value[0] in "+-" and value[1] in AXES:
        return tuple(float(value[0] + "1") * (axis == value[1]) for axis in AXES)
    values = value.tolist() if isinstance(value, np.ndarray) else value
    if isinstance(values, (list, tuple)) and len(values) in (2, 3):
        return tuple(Quantity(ANGLE if len(values) == 2 else NUMBER).read(part) for part in values)
    raise ValueError(f'given {shown(value)}; allowed: "+x" ... "-z", three components, or two angles theta and phi')


def _polarisation(value: Any) -> tuple[float, ...]:
    """An axis, three components, or one angle (rad)."""
    if isinstance(value, str) and value in tuple(AXES):
        return tuple(float(axis == value) for axis in AXES)
    values = value.tolist() if isinstance(value, np.ndarray) else value
    if isinstance(values, (list, tuple)):
        if len(values) in (1, 3):
            return tuple(Quantity(ANGLE if len(values) == 1 else NUMBER).read(part) for part in values)
        raise ValueError(f'given {shown(value)}; allowed: "x", "y" or "z", three components, or one angle')
    return (Quantity(ANGLE).read(values),)


class PlaneWave(ImpressedCurrent):
    """A plane wave inside a box: total fields there, the fields of scatterers alone outside.

    Where it enters the box, E(t) = amplitude waveform(t): at the face it meets first along an axis, at the corner it
    meets first else. Along an axis it crosses layers of any media, and leaks out of the empty box at rounding (-250 dB
    in double, -120 dB in single precision). Where the box spans the grid's whole cross-section (all sides periodic, or
    walls that fit) the wave enters through one face and all behind it, to the grid's end, is total: what is sent back,
    by layers and gratings alike, is the scattered field before the box. At any other angle the medium at the box must
    be uniform and lossless and the cells about it even; see docs/method.md for the leak. Scatterers lie inside the box,
    a cell from its faces. Monitors inside see total, those outside scattered fields. Faces on PEC and PMC walls that
    fit the wave, and on both periodic faces of an axis, are left out. Planes of symmetry must mirror the wave: it
    travels along them, with E across an electric, H across a magnetic one; the box, which reaches them, is mirrored
    from above.
    Source: Taflove and Hagness, Computational Electrodynamics, 3rd ed., chapter 5.

    >>> import nearfield as nf
    >>> wave = nf.PlaneWave((0, 0, 0), (1e-2, 1e-2, 1e-2), "+z", "x", nf.Gaussian(10e9))
    >>> wave.travels.tolist(), wave.electric.tolist()
    ([0.0, 0.0, 1.0], [1.0, 0.0, 0.0])
    """

    kind: Literal["plane-wave"] = tag("plane-wave")
    lower: Position
    """Corner of the total-field box with the smallest coordinates (m), moved to the nearest grid node."""
    upper: Position
    """Opposite corner (m)."""
    direction: Annotated[Read[tuple[float, ...]], BeforeValidator(_vector)]
    """Where it travels: "+x" to "-z", a vector of any length, or two angles theta from +z and phi from +x (rad)."""
    polarisation: Annotated[Read[tuple[float, ...]], BeforeValidator(_polarisation)]
    """E: "x", "y" or "z", a vector, of which the part across the direction counts, or the angle (rad) from theta's
    unit vector towards phi's."""
    waveform: AnyWaveform
    """Its signal."""
    amplitude: ElectricField = 1.0
    """E (V/m) at waveform value 1."""
    name: Name | None = None
    """Name for messages."""

    @model_validator(mode="after")
    def _wave(self) -> PlaneWave:
        ordered(self.lower, self.upper)
        if len(self.direction) == 2:
            refuse_degrees("theta of direction", self.direction[0], np.pi)
            refuse_degrees("phi of direction", self.direction[1])
        if len(self.polarisation) == 1:
            refuse_degrees("polarisation", self.polarisation[0])
        if not 0 < np.linalg.norm(self.direction) < np.inf and len(self.direction) == 3:
            raise ValueError(f"direction {self.direction} has no length; give the vector along which the wave travels")
        if len(self.polarisation) == 3:
            across = np.cross(self.travels, self.polarisation)
            if np.linalg.norm(across) <= 1e-6 * np.linalg.norm(self.polarisation) or not np.any(self.polarisation):
                raise ValueError(
                    f"polarisation {self.polarisation} lies along the direction {tuple(self.travels.tolist())}; E of a "
                    "plane wave is across it, so give a vector with a part across"
                )
        return self

    @property
    def travels(self) -> np.ndarray:
        """Unit vector along which it travels."""
        vector = np.array(self.direction)
        if vector.size == 2:
            theta, phi = vector
            vector = np.array([np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi), np.cos(theta)])
        vector = vector / np.linalg.norm(vector)
        vector[np.abs(vector) < ROUNDING] = 0.0
        return vector / np.linalg.norm(vector)

    @property
    def electric(self) -> np.ndarray:
        """Unit vector of E."""
        travels, given = self.travels, np.array(self.polarisation)
        if given.size == 1:
            theta, phi = np.arccos(travels[2]), np.arctan2(travels[1], travels[0])
            if len(self.direction) == 2:
                theta, phi = self.direction
            along_theta = np.array([np.cos(theta) * np.cos(phi), np.cos(theta) * np.sin(phi), -np.sin(theta)])
            along_phi = np.array([-np.sin(phi), np.cos(phi), 0.0])
            given = np.cos(given[0]) * along_theta + np.sin(given[0]) * along_phi
        across = given - travels * (given @ travels)
        across /= np.linalg.norm(across)
        across[np.abs(across) < ROUNDING] = 0.0
        return across / np.linalg.norm(across)

    @property
    def _axis_number(self) -> int | None:
        """The axis along which it travels, None at an angle."""
        along = np.flatnonzero(self.travels)
        return int(along[0]) if along.size == 1 else None

    def _corner_nodes(self, grid: YeeGrid, boundaries: Boundaries) -> tuple[Triple, Triple]:
        """The corners of its box as nodes; over the whole cross-section of the grid it goes on to the grid's end."""
        corners, along = box_nodes(grid, boundaries, self.lower, self.upper, self._label), self._axis_number
        return corners if along is None else to_the_end(grid, *corners, along, bool(self.travels[along] > 0))

    def _incident(self, t: np.ndarray) -> np.ndarray:
        """E (V/m) where it enters the box."""
        return self.amplitude * self.waveform.value(t)

    def _terms(self, context: Context) -> list[IncidentFaces]:
        """The incident fields that the engine adds in each step, to E and to H."""
        corners, vectors = self._corner_nodes(context.grid, context.boundaries), (self.travels, self.electric)
        end = self.waveform.end
        beam = Beam(self._label, *corners, *vectors, self._axis_number, self._incident, end, SOURCES)
        refuse_unfit(context, beam)
        faces = open_faces(context.grid, *corners)
        self._refuse_walls(context, faces)
        found = [crossings(context, beam, faces, magnetic) for magnetic in (False, True)]
        for half in found:
            refuse_crossing(context, beam, half)
        return (
            oblique_terms(context, beam, found) if beam.along is None else axis_terms(context, beam, beam.along, found)
        )

    def _illumination(self, grid: YeeGrid, boundaries: Boundaries, alone: bool) -> Illumination:
        """The wave as monitors know it."""
        first, last = self._corner_nodes(grid, boundaries)
        corner = triple(float(line[a if u >= 0 else b]) for line, a, b, u in zip(grid.lines, first, last, self.travels))
        known = None if isinstance(self.waveform, ContinuousWave) else self.waveform.spectrum
        return Illumination(first, last, self.travels, self.electric, corner, self.amplitude, known, alone)

    def _refuse_walls(self, context: Context, faces: list[tuple[int, str]]) -> None:
        """Refuse a box that touches walls which its wave does not fit: they would send it back."""
        for axis, side in FACES:
            wall = context.boundaries.face(axis, side)
            if wall == "periodic":
                fits = self.travels[axis] == 0.0
            elif axis == self._axis_number:
                fits = (self.travels[axis] > 0) == (side == "high")
            else:
                tangential = self.electric if wall == "pec" else np.cross(self.travels, self.electric)
                fits = self.travels[axis] == 0.0 and not np.delete(tangential, axis).any()
            if not fits and (axis, side) not in faces:
                raise ModelError(
                    f"{self._label}: its box touches the {str(wall).upper()} wall {AXES[axis]}_{side}, which this wave "
                    "does not pass along (tangential E is zero on PEC, tangential H on PMC, and what is periodic is "
                    "the same on both faces). Keep the box a cell from the wall, or choose a wall, direction or "
                    "polarisation that fits"
                )
