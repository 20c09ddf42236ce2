"""The compiled core, and its instruction set."""

from __future__ import annotations

import os
from typing import Any

from nearfield.entry.errors import ModelError


def core() -> Any:
    """The compiled core; a clear message when it was never built."""
    try:
        from nearfield import _core
    except ImportError as error:
        raise ModelError(f"the compiled core is missing ({error}); build it with `make setup`") from None
    return _core


def instruction_set(wanted: str | None = None) -> str:
    """The instruction set in use: the best one here, unless `NEARFIELD_ISA` or the caller wants another."""
    try:
        return str(core().isa_choose(wanted or os.environ.get("NEARFIELD_ISA", "")))
    except ValueError as error:
        raise ModelError(f"NEARFIELD_ISA: {error}; leave it unset to take the best") from None
