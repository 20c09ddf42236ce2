"""Errors of rings, each a `NearfieldError`; wrong input is `ModelError`, as everywhere."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Any

from nearfield.entry.errors import ModelError, NearfieldError
from nearfield.entry.whole_file import FULL


class StreamError(NearfieldError):
    """Anything that a ring reports while it is used."""


class TimedOut(StreamError, TimeoutError):
    """Nothing came, or no block became free, within the time allowed."""


class EndOfStream(StreamError):
    """The writer closed the ring and every block was received."""


class WriterDied(StreamError):
    """The writer ended without closing; every block that it had committed was received."""


class RingInUse(ModelError):
    """The ring has a living writer, or somebody who keeps it from being removed."""


class RingGone(StreamError):
    """There is no such ring, or this end of it is closed."""


class Damaged(StreamError):
    """A block's checksum is not that of its bytes."""


def compiled() -> Any:
    """The rings of the compiled core. Raises ModelError where it has none."""
    try:
        from nearfield._core import stream
    except ImportError:
        raise ModelError(
            "the compiled core has no rings: they need Linux, and a core no older than the Python files "
            "beside it. Build it again with `make setup`"
        ) from None
    return stream


@contextlib.contextmanager
def refusals(name: str) -> Iterator[None]:
    """Turn refusals of the core into ModelError with the ring's name, into StreamError where the machine lacks room."""
    core = compiled()
    try:
        yield
    except core.Refused as error:
        full = any(os.strerror(code) in str(error) for code in FULL)
        raise (StreamError if full else ModelError)(f"ring '{name}': {error}") from None
    except core.InUse as error:
        raise RingInUse(f"ring '{name}': {error}. Choose another name, or end that process") from None
