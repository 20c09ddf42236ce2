"""Structures: a shape filled with a medium. Where structures overlap, the later one wins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, model_validator

from nearfield.bodies.layout import Layout
from nearfield.bodies.mesh import Mesh
from nearfield.bodies.revolved import Revolved
from nearfield.bodies.shapes import Box, Cylinder, Polygon, Sheet, Solid, Sphere, Wire
from nearfield.bodies.voxels import Voxels
from nearfield.entry.errors import ModelError
from nearfield.entry.quantities import shown
from nearfield.entry.schema import Schema
from nearfield.media.materials import MEDIA_WORDS, Medium
from nearfield.media.named import from_library
from nearfield.media.surface_media import AnyMaterial, Conductor, ResistiveSheet, surface_medium

__all__ = [
    "Box",
    "Cylinder",
    "Layout",
    "Mesh",
    "Polygon",
    "Revolved",
    "Shape",
    "Sheet",
    "Sphere",
    "Structure",
    "Voxels",
    "Wire",
]

Shape = Annotated[
    Box | Sphere | Cylinder | Sheet | Wire | Polygon | Revolved | Mesh | Layout | Voxels, Field(discriminator="kind")
]


def _medium(value: Any) -> Any:
    value = from_library(value)
    if isinstance(value, dict) and value and all(isinstance(key, int) or str(key).isdecimal() for key in value):
        return {int(key): _medium(entry) for key, entry in value.items()}
    value = surface_medium(value)
    if isinstance(value, (Medium, ResistiveSheet, Conductor, str)):
        return value
    if isinstance(value, dict):
        return Medium(**value)
    raise ValueError(
        f'given {shown(value)}; allowed: a Medium, a Conductor, a ResistiveSheet, "pec", "pmc", or the name of an '
        "entry of media"
    )


class Structure(Schema):
    """A shape filled with a medium: a `Medium`, `"pec"`, `"pmc"`, the name of an entry of `Simulation.media`, or
    `"library:NAME"`; a `Conductor`; without thickness metal or a `ResistiveSheet`; for a voxel model a table of media
    by the number that its boxes carry.

    >>> import nearfield as nf
    >>> ground = nf.Structure(nf.Sheet((0, 0, 0), (1e-2, 1e-2, 0)), nf.PEC, name="ground")
    """

    shape: Shape
    """A Box, Sphere, Cylinder, Sheet, Wire, Polygon, Revolved, Mesh, Layout or Voxels."""
    medium: Annotated[
        Medium | ResistiveSheet | Conductor | str | dict[int, Medium | Conductor | str], BeforeValidator(_medium)
    ]
    """What fills it; of Voxels also a table {number: medium}, with `"none"` for boxes that stay as they are."""
    name: str | None = None
    """What messages and plots call it."""

    @model_validator(mode="after")
    def _names_every_number(self) -> Structure:
        if isinstance(self.medium, dict):
            if not isinstance(self.shape, Voxels):
                raise ValueError(f"a {self.shape.kind} has one medium; a table by numbers is for a shape of voxels")
            self.shape._refuse_unnamed(self.medium)
        return self

    def parts(self) -> tuple[Structure, ...]:
        """One structure for each medium: itself, or the parts of a voxel model with a table."""
        if not isinstance(self.medium, dict):
            return (self,)
        name = self.name or self.shape.kind
        return tuple(
            Structure(shape, medium, f"{name}: {n}") for n, shape, medium in self.shape._by_number(self.medium)
        )

    @model_validator(mode="after")
    def _suits_its_shape(self) -> Structure:
        wrong = unsuited(self.shape, self.medium)
        if wrong:
            raise ValueError(wrong)
        return self


def medium_of(structure: Structure, media: Mapping[str, AnyMaterial]) -> AnyMaterial | str:
    """The structure's medium, "pec" or "pmc". Errors: a name that is not in `media`, or one that cannot fill it."""
    medium = structure.medium
    if not isinstance(medium, str) or medium in MEDIA_WORDS:
        return medium
    if medium not in media:
        known = ", ".join([*MEDIA_WORDS, *media])
        raise ModelError(
            f"structure {structure.name or structure.shape.kind}: there is no medium {medium!r}; "
            f"there is: {known}. Add it to media or correct the name"
        )
    wrong = unsuited(structure.shape, media[medium])
    if wrong:
        raise ModelError(f"structure {structure.name or structure.shape.kind}, medium {medium!r}: {wrong}")
    return media[medium]


def unsuited(shape: Solid, medium: Any) -> str | None:
    """Why a shape cannot be of a medium: what has no thickness is metal or a sheet, and a sheet has none."""
    flat = any(low == high for low, high in zip(*shape.bounds()))
    if isinstance(medium, ResistiveSheet) and (isinstance(shape, Wire) or not flat):
        return (
            f"a {shape.kind} cannot be a resistive sheet, which has no thickness; give a Sheet, or a flat Polygon or "
            "Layout (lower equal to upper), and a solid a Medium with a conductivity"
        )
    if isinstance(medium, Conductor) and isinstance(shape, Wire):
        return 'a wire along edges has no surface to have an impedance; give "pec", or a Cylinder two cells thick'
    if (flat or isinstance(shape, Wire)) and (isinstance(medium, Medium) or medium == "pmc"):
        allowed = '"pec"' if isinstance(shape, Wire) else '"pec" or a ResistiveSheet'
        return (
            f"a {shape.kind} without thickness can only be {allowed}, given {medium!r}; "
            "give the shape a thickness for any other medium"
        )
    return None
