"""One rank of several that runs here alone: what it would send goes nowhere, what it would get never comes.

Its memory and its steps are those of a run on all ranks; its fields are not.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nearfield.machine.transport import Alone
from nearfield.parallel import start


class Nowhere:
    """A `Channel` without another end."""

    def __init__(self, out: Any, into: Any) -> None:
        self.kept = out, into

    def expect(self) -> None:
        """Nothing comes."""

    send = wait = expect

    def progress(self) -> bool:
        """All has come and gone."""
        return True


class LoneRank(Alone):
    """The first of `size` ranks, each on a host of its own; the others answer as it does."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.hosts = [f"host{number}" for number in range(size)]

    def gathered(self, value: Any) -> list[Any]:
        return [value] * self.size

    everywhere = gathered

    def added(self, values: np.ndarray) -> np.ndarray:
        return values

    def channel(self, out: Any, into: Any, kind: type) -> Nowhere:
        """A way to nowhere."""
        return Nowhere(out, into)


def stand_in(size: int) -> LoneRank:
    """Let engines of this process be those of the first of so many ranks."""
    rank = LoneRank(size)
    start.world = lambda: rank  # type: ignore[assignment, attr-defined]
    return rank
