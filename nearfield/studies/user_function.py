"""The call of a user's function of parameters."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from nearfield.entry.errors import ModelError


def call_with(make: Callable[..., Any], values: Mapping[str, Any]) -> Any:
    """What the function gives for these parameters. Error: `ModelError` where it does not take them by these names."""
    try:
        signature = inspect.signature(make)
    except (TypeError, ValueError):  # some callables of C have none
        return make(**values)
    try:
        signature.bind(**values)
    except TypeError as error:
        takes = ", ".join(signature.parameters) or "none"
        raise ModelError(
            f"parameters given: {', '.join(values) or 'none'}; the function of the model takes {takes} ({error})"
        ) from None
    return make(**values)
