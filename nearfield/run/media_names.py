"""Names of media for readers: different media of one name are numbered, "FR4" and "FR4 (2)"."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, count
from typing import Any


def distinct(named: Iterable[tuple[str, Any]]) -> list[str]:
    """The names of (name, medium), each of one medium: those of others that share it are numbered in their order."""
    owners: dict[str, Any] = {}
    return [_own_name(name, medium, owners) for name, medium in named]


def _own_name(name: str, medium: Any, owners: dict[str, Any]) -> str:
    """The name under which this medium is, or from now on is, in `owners`."""
    constants = medium if isinstance(medium, str) else medium.model_copy(update={"name": None})
    candidates = chain([name], (f"{name} ({number})" for number in count(2)))
    return next(own for own in candidates if owners.setdefault(own, constants) == constants)
