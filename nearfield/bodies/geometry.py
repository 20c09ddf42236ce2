"""Structures: a shape filled with a medium. Where structures overlap, the later one wins."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

from pydantic import BeforeValidator, field_validator, model_validator

from nearfield.bodies.combined import AnyBody, Combined, Difference, simple_shapes
from nearfield.bodies.shapes import Solid, Wire
from nearfield.bodies.transforms import AnyTransform, Rotate, transformed
from nearfield.bodies.voxels import Voxels
from nearfield.entry.errors import ModelError
from nearfield.entry.quantities import Several, shown
from nearfield.entry.schema import Schema
from nearfield.media.materials import LIBRARY, MEDIA_WORDS, Medium, from_library
from nearfield.media.surface_media import AnyMaterial, Conductor, ResistiveSheet, surface_medium

Shape = AnyBody


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
    """A Box, Sphere, Cylinder, Sheet, Wire, Polygon, Revolved, Mesh, Layout or Voxels; or a Union, Difference or
    Transformed of such, which becomes structures of simple shapes."""
    medium: Annotated[
        Medium | ResistiveSheet | Conductor | str | dict[int, Medium | Conductor | str], BeforeValidator(_medium)
    ]
    """Its medium; of Voxels also a table {number: medium}, with `"none"` for boxes that stay as they are."""
    name: str | None = None
    """Name in messages and plots."""
    transforms: Several[AnyTransform] = ()
    """What is done to the shape, in this order: `Translate`, `Rotate`, `Mirror`, `Array`; each copy that they make
    becomes a structure of its own, `via 1`, `via 2`."""

    @field_validator("transforms", mode="before")
    @classmethod
    def _one_or_many(cls, value):
        return tuple(value) if isinstance(value, list) else value if isinstance(value, tuple) else (value,)

    @model_validator(mode="after")
    def _suits_its_shape(self) -> Structure:
        if isinstance(self.medium, dict):
            if not isinstance(self.shape, Voxels):
                raise ValueError(f"a {self.shape.kind} has one medium; a table by numbers is for a shape of voxels")
            self.shape._refuse_unnamed(self.medium)
        if not self._divides and (wrong := unsuited(self.shape, self.medium)):
            raise ValueError(wrong)
        if self.transforms or self._divides:
            self._copies  # noqa: B018 (made and checked)
        return self

    def parts(self, media: Mapping[str, Any] | None = None) -> tuple[Structure, ...]:
        """One structure for each medium and copy: itself, a voxel model's parts by its table, what transforms make.

        `media`: those that names stand for. An anisotropic one turns with its body. ValueError: its axes leave those of
        the grid.
        """
        named = (media or {}).get(self.medium) if isinstance(self.medium, str) else None
        if isinstance(named, Medium) and turned_medium(named, self.transforms) != named:
            medium = named.model_copy(update={"name": named.name or self.medium})
            return Structure(self.shape, medium, self.name, self.transforms).parts()
        copies = self._copies if self.transforms or self._divides else (self,)
        return tuple(part for copy in copies for part in copy._by_medium())

    @cached_property
    def _copies(self) -> tuple[Structure, ...]:
        """The structures that the transforms make, and that a combined shape consists of."""
        shapes = [copy for part in simple_shapes(self.shape) for copy in transformed(part, self.transforms)]
        medium = turned_medium(self.medium, self.transforms)
        single = len(shapes) == 1 or self.name is None
        return tuple(
            Structure(shape=shape, medium=medium, name=self.name if single else f"{self.name} {number}")
            for number, shape in enumerate(shapes, 1)
        )

    @property
    def _divides(self) -> bool:
        """Whether its shape consists of others."""
        return isinstance(self.shape, Combined) and not any(part is self.shape for part in self.shape._simple)

    @property
    def _turns(self) -> bool:
        """Whether what its medium's name stands for may turn with it."""
        named = isinstance(self.medium, str) and self.medium not in MEDIA_WORDS
        return named and any(isinstance(each, Rotate) for each in self.transforms)

    def _by_medium(self) -> tuple[Structure, ...]:
        if not isinstance(self.medium, dict) or not isinstance(self.shape, Voxels):
            return (self,)
        name, parts = self.name or self.shape.kind, self.shape._by_number(self.medium)
        return tuple(Structure(shape=shape, medium=medium, name=f"{name}: {number}") for number, shape, medium in parts)


def turned_medium(medium: Any, transforms: Sequence[Any]) -> Any:
    """A medium, or a table of media, turned with its body. ValueError: its axes would leave those of the grid."""
    if isinstance(medium, dict):
        return {number: turned_medium(each, transforms) for number, each in medium.items()}
    for turn in transforms if isinstance(medium, Medium) and medium.anisotropic else ():
        medium = medium._turned(turn._matrix()) if isinstance(turn, Rotate) else medium
    return medium


@dataclass(frozen=True)
class FilledShape:
    """A structure with the medium that its entry names; `number` counts the structures of the model from 0."""

    shape: Shape
    medium: Medium | ResistiveSheet | Conductor | str  # a word: "pec" or "pmc"
    name: str | None
    number: int
    key: str | None = None  # the medium's name in `Simulation.media`

    @property
    def label(self) -> str:
        """Name of the structure in messages."""
        return labelled(self, "structure", self.number)

    @property
    def medium_name(self) -> str:
        """Name of the medium in messages and tables."""
        if self.key or isinstance(self.medium, str):
            return self.key or str(self.medium)
        return self.medium.name or self.name or self.medium.label()


def labelled(entry: Any, kind: str, number: int) -> str:
    """`port 'feed'`, or `sources[2]` (counted from 0, as in a model file) for an entry without a name."""
    name = getattr(entry, "name", None)
    return f"{kind} {name!r}" if name else f"{kind}s[{number}]"


def filled_shapes(
    structures: Iterable[Structure], media: Mapping[str, AnyMaterial] | None = None
) -> tuple[FilledShape, ...]:
    """The structures with their media. Errors: a name that is not in `media`, a medium that cannot fill its shape."""
    return tuple(_filled_shape(structure, number, media or {}) for number, structure in enumerate(structures))


def _filled_shape(structure: Structure, number: int, media: Mapping[str, AnyMaterial]) -> FilledShape:
    given = structure.medium
    assert not isinstance(given, dict), "a model holds the parts of such a structure"
    if not isinstance(given, str) or given in MEDIA_WORDS:
        return FilledShape(structure.shape, given, structure.name, number)
    label = labelled(structure, "structure", number)
    if given not in media:
        known = [*MEDIA_WORDS, *media]
        near = difflib.get_close_matches(given, known, n=1)
        hint = f"Did you mean {near[0]!r}?" if near else f"Define it under `media`{library_hint(given)}."
        raise ModelError(f"{label}: medium {given!r} is not defined; known media: {', '.join(known)}. {hint}")
    if wrong := unsuited(structure.shape, media[given]):
        raise ModelError(f"{label}, medium {given!r}: {wrong}")
    return FilledShape(structure.shape, media[given], structure.name, number, given)


def library_hint(name: str) -> str:
    """What to write for a name of the library that stands without its "library:"; empty for any other."""
    from nearfield.media.library import library

    key = name.replace("_", "-").replace(" ", "-").lower()
    return f", or take the library's {f'{LIBRARY}{key}'!r}" if key in library else ""


def unsuited(shape: Solid, medium: Any) -> str | None:
    """Why a shape cannot be of a medium: what has no thickness is metal or a sheet, and a sheet has none."""
    flat, wire = any(low == high for low, high in zip(*shape.bounds())), isinstance(shape, Wire)
    if isinstance(medium, ResistiveSheet) and (wire or not flat):
        return (
            f"a {shape.kind} cannot be a resistive sheet, which has no thickness; give a Sheet, or a flat Polygon or "
            "Layout (lower equal to upper), and a solid a Medium with a conductivity"
        )
    if isinstance(medium, ResistiveSheet) and isinstance(shape, Difference):
        return (
            "a resistive sheet is a Sheet, Polygon or Layout, and out of a Sheet rectangles alone can be cut; draw its "
            "outline as a Polygon"
        )
    if isinstance(medium, Conductor) and wire:
        return 'a wire along edges has no surface to have an impedance; give "pec", or a Cylinder two cells thick'
    if (flat or wire) and (isinstance(medium, Medium) or medium == "pmc"):
        allowed = '"pec"' if wire else '"pec" or a ResistiveSheet'
        return (
            f"a {shape.kind} without thickness can only be {allowed}, given {medium!r}; "
            "give the shape a thickness for any other medium"
        )
    return None
