"""The common shape of everything a user writes: checked once, frozen, the same in Python and in TOML."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from nearfield.entry.errors import ModelError
from nearfield.entry.messages import readable


class Schema(BaseModel):
    """Base of all model entries: immutable, unknown keys refused, positional arguments in field order.

    The field `kind`, where there is one, tells union members apart in TOML; it is never positional.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True, use_attribute_docstrings=True)

    def __init__(self, /, *args: Any, **values: Any) -> None:
        name = type(self).__name__
        fields = [field for field in type(self).model_fields if field != "kind"]
        if len(args) > len(fields):
            raise ModelError(f"{name} takes at most {len(fields)} values ({', '.join(fields)}), given {len(args)}")
        for field, value in zip(fields, args):
            if field in values:
                raise ModelError(f"{name}: `{field}` is given twice, by position and by name")
            values[field] = value
        try:
            super().__init__(**values)
        except ValidationError as error:
            raise ModelError(readable(error, type(self), values)) from None

    # pydantic calls an __init__ of one's own for nested entries too, and their errors would lose their places
    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]

    def __eq__(self, other: object) -> bool:
        """Equal entries; what an entry has computed and kept since (arrays, often) says nothing about that."""
        if type(self) is not type(other):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in type(self).model_fields)
