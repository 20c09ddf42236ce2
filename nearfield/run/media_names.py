"""Names of media for readers: different media of one name are numbered, "FR4" and "FR4 (2)"."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

OF_BACKGROUND = "background"


def distinct(named: Iterable[tuple[str, Any]]) -> list[str]:
    """The names of (name, medium), each of one medium: those of others that share it are numbered in their order."""
    owns: dict[tuple[str, Any], str] = {}
    used: set[str] = set()
    sharing: Counter[str] = Counter()
    found = []
    for name, medium in named:
        constants = medium if isinstance(medium, str) else medium.model_copy(update={"name": None})
        if (name, constants) not in owns:
            own = name
            while own in used:
                sharing[name] += 1
                own = f"{name} ({sharing[name] + 1})"
            used.add(own)
            owns[name, constants] = own
        found.append(owns[name, constants])
    return found
