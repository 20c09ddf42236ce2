"""Structures: a shape filled with a medium. Where structures overlap, the later one wins."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field, model_validator

from nearfield.materials import Medium, from_library
from nearfield.quantities import shown
from nearfield.schema import Schema
from nearfield.shapes import Box, Cylinder, Polygon, Sheet, Sphere, Wire

__all__ = ["Box", "Cylinder", "Polygon", "Shape", "Sheet", "Sphere", "Structure", "Wire"]

Shape = Annotated[Box | Sphere | Cylinder | Sheet | Wire | Polygon, Field(discriminator="kind")]


def _medium(value: Any) -> Any:
    value = from_library(value)
    if isinstance(value, (Medium, str)):
        return value
    if isinstance(value, dict):
        return Medium(**value)
    raise ValueError(f'given {shown(value)}; allowed: a Medium, "pec", "pmc", or the name of an entry of media')


class Structure(Schema):
    """A shape filled with a medium: a `Medium`, `"pec"`, `"pmc"`, the name of an entry of `Simulation.media`, or
    `"library:NAME"`.

    >>> import nearfield as nf
    >>> ground = nf.Structure(nf.Sheet((0, 0, 0), (1e-2, 1e-2, 0)), nf.PEC, name="ground")
    """

    shape: Shape
    """A Box, Sphere, Cylinder, Sheet, Wire or Polygon."""
    medium: Annotated[Medium | str, BeforeValidator(_medium)]
    """What fills it."""
    name: str | None = None
    """What messages and plots call it."""

    @model_validator(mode="after")
    def _thin_is_metal(self) -> Structure:
        lower, upper = self.shape.bounds()
        flat = any(low == high for low, high in zip(lower, upper)) or isinstance(self.shape, Wire)
        if flat and (isinstance(self.medium, Medium) or self.medium == "pmc"):
            raise ValueError(
                f'a {self.shape.kind} without thickness can only be "pec", given {self.medium!r}; '
                "give the shape a thickness for any other medium"
            )
        return self
