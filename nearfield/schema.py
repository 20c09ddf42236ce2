"""The common shape of everything a user writes: checked once, frozen, the same in Python and in TOML."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from nearfield.errors import ModelError


def place_of(location: tuple[Any, ...]) -> str:
    """Readable path of an entry, `structures[0].shape.lower`; drops the tags that unions add."""
    text = ""
    for part in location:
        if isinstance(part, int):
            text += f"[{part}]"
        elif "-" not in str(part) and not str(part)[:1].isupper():
            text += f".{part}" if text else str(part)
    return text


def readable(error: ValidationError, what: str) -> str:
    """One message for all that is wrong with one object."""
    lines = []
    for item in error.errors(include_url=False):
        where = place_of(item["loc"])
        if item["type"] == "extra_forbidden":
            message = "unknown key; remove it or correct its spelling"
        elif item["type"] == "missing":
            message = "missing; it has no default"
        else:
            message = item["msg"].removeprefix("Value error, ")
            if item["type"] not in ("value_error",) and not isinstance(item.get("input"), dict):
                message += f", given {item.get('input')!r:.80}"
        lines.append(f"{where}: {message}" if where else message)
    head = f"{what}: " if len(lines) == 1 else f"{what}:\n  "
    return head + "\n  ".join(lines)


class Schema(BaseModel):
    """Base of all model entries: immutable, unknown keys refused, positional arguments in field order.

    The field `kind`, where there is one, tells union members apart in TOML; it is never positional.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True, use_attribute_docstrings=True)

    def __init__(self, *args: Any, **values: Any) -> None:
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
            raise ModelError(readable(error, name)) from None
