"""Media by the names that the library knows: `"library:gold"`."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator

from nearfield.media.materials import LIBRARY, Medium


def from_library(value: Any) -> Any:
    """The medium that `"library:gold"` stands for; any other value as it is."""
    if not isinstance(value, str) or not value.startswith(LIBRARY):
        return value
    from nearfield.media.library import library

    return library[value.removeprefix(LIBRARY)]


AnyMedium = Annotated[Medium, BeforeValidator(from_library)]
