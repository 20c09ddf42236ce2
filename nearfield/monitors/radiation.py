"""Monitors of what leaves: power through a plane or out of a box, and the far field of a closed surface."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated, Literal

import numpy as np
from pydantic import Field, model_validator

from nearfield.analysis.faces import read_faces
from nearfield.analysis.farfield import Wall
from nearfield.analysis.flux import face_power
from nearfield.analysis.pattern_variables import default_angles, exterior_text, refuse_behind, surface_pattern
from nearfield.analysis.surface import line_variables
from nearfield.entry.errors import ModelError
from nearfield.entry.quantities import Angles, Position, refuse_degrees
from nearfield.entry.schema import tag
from nearfield.entry.triples import Triple, triple
from nearfield.grid.boundaries import FACES
from nearfield.grid.moves import Moved
from nearfield.grid.yee import AXES
from nearfield.incident.at_origin import incident_variables
from nearfield.incident.seen import off_faces, refuse_across
from nearfield.lowering.context import Context
from nearfield.monitors.guide_exits import close_guides, moved_faces, reached_back
from nearfield.monitors.regions import BoxLike, Monitor, SomeFrequencies
from nearfield.monitors.surfaces import FacePlace, closed_box, surface_terms, surface_variables
from nearfield.monitors.surroundings import foreign_share, surrounding
from nearfield.plan.recorders import DFTBox, Recording
from nearfield.records.records import Variable, Variables
from nearfield.records.regions import frequency_axis
from nearfield.sources.edges import Name, flat_axes
from nearfield.sources.sources import SOURCES

MARGIN = 3  # cells between the default surface and the CPML
WALLS = ("pec", "pmc")


def wall_faces(context: Context) -> set[tuple[int, str]]:
    """The faces of the domain that are PEC or PMC."""
    return {(axis, side) for axis, side in FACES if context.boundaries.face(axis, side) in WALLS}


def on_walls(context: Context, first: Triple, last: Triple) -> set[tuple[int, str]]:
    """The faces of a box where nothing passes: on a wall of the domain, or one period from its other face."""
    ends = {"low": (first, (0, 0, 0)), "high": (last, context.grid.cells)}
    walls = {(axis, side) for axis, side in wall_faces(context) if ends[side][0][axis] == ends[side][1][axis]}
    whole = [a for a in range(3) if context.grid.closed(a) and (first[a], last[a]) == (0, context.grid.cells[a])]
    return walls | {(axis, side) for axis in whole for side in ends}


class Flux(BoxLike):
    """The power spectrum through a plane, or net out of a box, 1/2 Re integral (E x H*) . n dS, (frequency,).

    Of spectra F(f) = integral F(t) exp(-j 2 pi f t) dt, so in W s^2; `result.per_source()[name]` is the power in watt
    of a continuous source of amplitude 1. A plane counts positive along + (or -) its normal, a box outward; faces of
    a box on a PEC or PMC wall are left out, those on a plane wave's box moved off it by a
    cell (`check` lists them). Source: the discrete Poynting theorem, see nearfield/analysis/flux.py.

    >>> import nearfield as nf
    >>> nf.Flux("out", (-1e-2, -1e-2, -1e-2), (1e-2, 1e-2, 1e-2), frequencies=[1e9]).direction
    '+'
    """

    kind: Literal["flux"] = tag("flux")
    upper: Position
    """Opposite corner (m); equal along one axis for a plane; both are moved to the nearest grid node."""
    frequencies: SomeFrequencies
    """Frequencies (Hz)."""
    direction: Literal["+", "-"] = "+"
    """Which way a plane counts positive; a box: "+" outward, "-" inward."""

    @model_validator(mode="after")
    def _plane_or_box(self) -> Flux:
        flat = [AXES[axis] for axis in flat_axes(self.lower, self.upper)]
        if len(flat) > 1:
            raise ValueError(
                f"flux needs a plane (no extent along one axis) or a box (extent along all), but {self.lower} to "
                f"{self.upper} has none along {' and '.join(flat)}"
            )
        return self

    def _corners(self, context: Context) -> tuple[Triple, Triple]:
        """Its first and last nodes, off the faces of total-field boxes."""
        drawn = self._drawn_corners(context.grid)
        first, last = off_faces(context.illuminations, context.grid, *drawn)
        if any((a < b) != (c < d) for a, b, c, d in zip(*drawn, first, last)):
            raise ModelError(
                f"{self._label}: all its faces along an axis lie on those of a plane wave's box and within two cells, "
                "and on them H is half scattered; let it lie a cell inside the total-field box, or a cell outside"
            )
        return first, last

    def _places(self, context: Context) -> list[FacePlace]:
        """The faces through which the power is summed."""
        first, last = self._corners(context)
        places = [FacePlace(axis, "plane", first, last) for axis in range(3) if first[axis] == last[axis]]
        places = places or closed_box(first, last, on_walls(context, first, last))
        for face in places:
            if not 0 < face.node < context.grid.cells[face.axis]:
                raise ModelError(
                    f"{self._label}: its face at {AXES[face.axis]} = {context.grid.lines[face.axis][face.node]:.6g} m "
                    "lies on the outer wall of the grid, behind which nothing is recorded; move it inside"
                )
        return places

    def _terms(self, context: Context) -> list[DFTBox]:
        """Running sums of the tangential fields."""
        return surface_terms(context, self._places(context), np.asarray(self.frequencies))

    def _collect(self, context: Context, recordings: list[Recording], excitation: str = "") -> Variables:
        """`power` in all, and that of each face of a box along its outward normal."""
        frequencies, places = np.asarray(self.frequencies), self._places(context)
        faces = read_faces(surface_variables(context, places, frequencies, iter(recordings)))
        sign = 1.0 if self.direction == "+" else -1.0
        powers = [sign * face_power(face) for face in faces]
        total = np.sum(powers, axis=0) if powers else np.zeros(frequencies.size)
        variables = frequency_axis(frequencies) | {"power": Variable(("frequency",), total, {"units": "W s^2"})}
        if len(faces) > 1:
            for place, power in zip(places, powers):
                name = f"power_{AXES[place.axis]}_{place.side}"
                variables[name] = Variable(("frequency",), power, {"units": "W s^2"})
        return variables


class FarField(Monitor):
    """The far field of everything inside a closed surface: pattern, directivity, gain, efficiency, polarisation.

    The surface is a box of grid nodes in a lossless medium, by default 3 cells inside the CPML and on the walls. A
    PEC or PMC wall of the domain counts as an infinite ground: faces on it are left out, image currents stand for it,
    and only directions on the antenna's side of it exist. A guide may leave through the side behind its port: what
    passes inside it is what it reflects, and does not radiate; the surface reaches back along it as far as the grid
    allows, since the guide's outside radiates. `result[name]` is a `FarFieldResult`, dims (frequency,
    theta, phi) in rad. Source: see nearfield/analysis/farfield.py.

    >>> import nearfield as nf
    >>> nf.FarField("pattern", frequencies=["7.5 GHz"], theta=["0 deg", "90 deg"], phi=[0]).phi
    (0.0,)
    """

    kind: Literal["far-field"] = tag("far-field")
    name: Name
    """Name in the result."""
    frequencies: SomeFrequencies
    """Frequencies (Hz)."""
    lower: Position | None = None
    """Lower corner of the surface (m); left out, 3 cells inside the CPML or on the wall."""
    upper: Position | None = None
    """Upper corner of the surface (m)."""
    theta: Annotated[Angles, Field(min_length=1)] | None = None
    """Angles from +z (rad); every 2 degrees when left out."""
    phi: Annotated[Angles, Field(min_length=1)] | None = None
    """Angles from +x (rad); every 5 degrees when left out."""

    @model_validator(mode="after")
    def _angles_in_radians(self) -> FarField:
        for name, angles, largest in (("theta", self.theta, np.pi), ("phi", self.phi, 2 * np.pi)):
            for angle in angles or ():
                refuse_degrees(name, angle, largest)
        return self

    def _walls(self, context: Context) -> tuple[Wall, ...]:
        """The infinite walls about the antenna."""
        found = wall_faces(context)
        for axis in range(3):
            if context.boundaries.repeat(axis):
                raise ModelError(
                    f"{self._label}: the fields repeat along {AXES[axis]}, so that the radiating surface has no end "
                    "and no far field; use a Flux or FieldDFT monitor across the other axes for what leaves the cell"
                )
            if {(axis, "low"), (axis, "high")} <= found:
                raise ModelError(
                    f"{self._label}: both {AXES[axis]} walls are PEC or PMC, between which there is no far field; "
                    f"give at least one of {AXES[axis]}_low and {AXES[axis]}_high a CPML"
                )
        walls = []
        for axis, side in sorted(found):
            end, inward = (0, 1) if side == "low" else (-1, -1)
            place, kind = float(context.grid.lines[axis][end]), str(context.boundaries.face(axis, side))
            walls.append(Wall(axis, place, kind, inward))
        return tuple(walls)

    def _box(self, context: Context) -> tuple[Triple, Triple]:
        """The nodes of the surface. Errors: outside the grid, without volume, in the CPML."""
        first, last = self._given(context)
        grid, interior = context.grid, context.boundaries.interior(context.grid)
        for axis, (low, stop) in enumerate(interior):
            line = grid.lines[axis]
            span = f"{AXES[axis]} {line[first[axis]]:.6g} to {line[last[axis]]:.6g} m"
            if first[axis] >= last[axis]:
                raise ModelError(f"{self._label}: its surface has no volume, {span}; give lower < upper along all axes")
            if first[axis] < low or last[axis] > stop:
                raise ModelError(
                    f"{self._label}: its surface, {span}, reaches into the CPML, where fields are damped; allowed: "
                    f"{AXES[axis]} {line[low]:.6g} to {line[stop]:.6g} m. Move it, or leave lower and upper out"
                )
        walls = on_walls(context, triple(first), triple(last))
        back = reached_back(context, first, last, self._largest(context), walls)
        return triple(back[0]), triple(back[1])

    def _largest(self, context: Context) -> tuple[list[int], list[int]]:
        """The nodes of the surface where none is given."""
        walls, interior = wall_faces(context), context.boundaries.interior(context.grid)
        margins = [min(MARGIN, (stop - low) // 4) for low, stop in interior]
        first = [low + margins[axis] * ((axis, "low") not in walls) for axis, (low, _) in enumerate(interior)]
        last = [stop - margins[axis] * ((axis, "high") not in walls) for axis, (_, stop) in enumerate(interior)]
        return first, last

    def _given(self, context: Context) -> tuple[list[int], list[int]]:
        """The nodes of the surface as it was drawn."""
        grid, (first, last) = context.grid, self._largest(context)
        for nodes, corner, what in ((first, self.lower, "lower"), (last, self.upper, "upper")):
            if corner is not None:
                if not grid.contains(corner):
                    text = f"{self._label}: {what} = {corner} lies outside the grid, {grid.extent_text()}"
                    raise ModelError(f"{text}; move it, or leave it out")
                nodes[:] = [grid.nearest_node(axis, corner[axis]) for axis in range(3)]
        return first, last

    def _moved(self, context: Context) -> Iterator[Moved]:
        """The faces that reach further back along guides than they were drawn."""
        first, last = self._box(context)
        yield from moved_faces(self._label, context.grid, self._given(context), (list(first), list(last)))

    def _places(self, context: Context) -> list[FacePlace]:
        """The faces of the surface, those on walls left out."""
        first, last = self._box(context)
        return closed_box(first, last, on_walls(context, first, last))

    def _foreign(self, context: Context) -> float:
        """The part of the surface in other matter than the largest part of it."""
        return foreign_share(context, self._places(context))

    def _angles(self, walls: tuple[Wall, ...]) -> tuple[np.ndarray, np.ndarray]:
        """The angles asked for, or all that exist."""
        theta, phi = default_angles(walls)
        theta = theta if self.theta is None else np.asarray(self.theta)
        phi = phi if self.phi is None else np.asarray(self.phi)
        return theta, phi

    def _directions(self, context: Context) -> int:
        """Values of the pattern, over all frequencies."""
        theta, phi = self._angles(self._walls(context))
        return len(self.frequencies) * len(theta) * len(phi)

    def _terms(self, context: Context) -> list[DFTBox]:
        """Running sums of the tangential fields."""
        walls = self._walls(context)
        refuse_behind(walls, *self._angles(walls))
        surrounding(context, self._places(context), walls)  # refuses a lossy one before the run
        refuse_across(context.illuminations, self._label, *self._box(context), context.grid.cells)
        return surface_terms(context, self._places(context), np.asarray(self.frequencies))

    def _collect(self, context: Context, recordings: list[Recording], excitation: str = "") -> Variables:
        """The surface's fields and the power through it; `complete` makes the pattern of them."""
        frequencies, walls = np.asarray(self.frequencies), self._walls(context)
        places = self._places(context)
        surface = surface_variables(context, places, frequencies, iter(recordings))
        close_guides(context, places, surface)
        first, last = self._box(context)
        symmetric = (a for a in range(3) if context.grid.mirrors[a] and first[a] + last[a] == context.grid.cells[a])
        exterior = replace(surrounding(context, places, walls), mirrors=tuple(symmetric))
        notes = {"units": "W s^2", "exterior": exterior_text(exterior)}
        flux = np.sum([face_power(face) for face in read_faces(surface)], axis=0)
        pairs = zip(("theta", "phi"), self._angles(walls))
        angles = {name: Variable((name,), values, {"units": "rad"}) for name, values in pairs}
        found = (
            surface
            | line_variables(context.grid.lines)
            | angles
            | {"surface_power": Variable(("frequency",), flux, notes)}
        )
        for light in context.illuminations:
            if light.alone and excitation == SOURCES:
                found |= incident_variables(context, light, exterior, frequencies)
        return found

    def complete(self, variables: Variables) -> Variables:
        """The pattern and the radiated power too; `FarFieldResult.at` computes other angles from the surface."""
        return surface_pattern(variables) | variables
