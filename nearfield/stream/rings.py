"""The rings of this user: list, state, and removal of those that dead processes left."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nearfield.entry.errors import ModelError
from nearfield.stream.errors import compiled, refusals
from nearfield.stream.names import path_of, ring_files


@dataclass(frozen=True)
class Ring:
    """One ring: its file, and what its header tells.

    `state` is `open` (a writer is at work), `closed` (readers still drain it), `orphaned` (the writer died, readers
    are left), `stale` (nobody is left) or `unreadable`, and then `reason` says why.
    """

    name: str
    path: Path
    state: str
    facts: dict[str, Any] = field(default_factory=dict)
    reason: str = ""

    @property
    def stale(self) -> bool:
        """Whether nobody alive uses it."""
        return self.state == "stale"


def rings() -> list[Ring]:
    """All rings of this user, by name."""
    return [ring for name, path in ring_files() if (ring := inspect(name, path)) is not None]


def ring(name: str) -> Ring:
    """One ring. Raises ModelError where there is none of that name."""
    path = path_of(name)
    one = inspect(name, path)
    if one is None:
        others = ", ".join(name for name, _ in ring_files()) or "none"
        raise ModelError(f"ring '{name}': there is no {path}; there is: {others}")
    return one


def inspect(name: str, path: Path) -> Ring | None:
    """A ring by its file; None where it has gone meanwhile."""
    core = compiled()
    try:
        facts = core.inspect(str(path))
    except core.Refused as refused:
        return Ring(name, path, "unreadable", reason=str(refused))
    if facts is None:
        return None
    used = "closed" if facts["closed"] else "open" if facts["writer"]["alive"] else "orphaned"
    return Ring(name, path, used if facts["in_use"] else "stale", facts)


def pages(one: Ring, sample: int = 1 << 16) -> dict[str, Any]:
    """NUMA nodes of its pages: `by_node` counts those that were looked up, `sample` at most; `pages` is the total."""
    core = compiled()
    with refusals(one.name):
        return core.pages(str(one.path), sample) or {"by_node": [], "pages": 0}


def remove(one: Ring) -> None:
    """Remove a ring that nobody alive uses. Raises ModelError where somebody does."""
    core = compiled()
    with refusals(one.name):
        core.remove(str(one.path))
