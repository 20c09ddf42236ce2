"""Terms of an incident wave whose samples are drawn where they are asked for: a rank lists those of its part alone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np

from nearfield.entry.triples import Triple
from nearfield.plan.boxes import Box
from nearfield.plan.term import Cut, Prices, Term
from nearfield.plan.terms import IncidentTerm, tap_bytes

if TYPE_CHECKING:
    from nearfield.grid.folds import Folds
    from nearfield.plan.excitations import IncidentWave


class Face(Protocol):
    """Samples of an incident term in a box of the whole grid."""

    @property
    def box(self) -> Box: ...

    def drawn(self, box: Box) -> IncidentTerm | None:
        """Those that lie in a box, in one order whatever the box; None without any."""


@dataclass(frozen=True)
class IncidentFaces(Term):
    """An `IncidentTerm` by the faces that its samples lie on, each some `taps` columns of a table; see `drawn`.

    `component`: one of theirs, which are all of E or all of H. `folds`: planes of symmetry above which they act.
    """

    component: int
    faces: tuple[Face, ...]
    taps: int
    wave: IncidentWave
    folds: Folds | None = None

    @property
    def waves(self) -> tuple[IncidentWave, ...]:
        return (self.wave,)

    @property
    def lower(self) -> tuple[Triple, ...]:
        """First samples of the faces."""
        return tuple(face.box.lower for face in self.faces)

    @property
    def upper(self) -> tuple[Triple, ...]:
        """Ends of the faces."""
        return tuple(face.box.upper for face in self.faces)

    @property
    def corners(self) -> tuple[np.ndarray, np.ndarray]:
        return np.array(self.lower).T, np.array(self.upper).T - 1

    def drawn(self) -> IncidentTerm | None:
        return joined(self._folded(face.drawn(face.box)) for face in self.faces)

    def part(self, cut: Cut) -> IncidentTerm | None:
        start = self.folds.start if self.folds else (0, 0, 0)
        back = tuple(-n for n in start)
        reached = ((face, cut.reach(face.box.moved(back))) for face in self.faces)
        terms = (self._folded(face.drawn(box.moved(start))) for face, box in reached if box)
        return joined(term.part(cut) for term in terms if term)

    def folded(self, folds: Folds) -> IncidentFaces:
        return replace(self, folds=folds)

    def memory_bytes(self, steps: int, number_bytes: int) -> int:
        """Memory of all samples, those in metal too."""
        return tap_bytes(self.taps, number_bytes) * sum(face.box.size for face in self.faces)

    def cost(self, prices: Prices, box: Box, unit: int) -> float:
        return 0.0

    def loaded_box(self, active: Triple) -> None:
        """None: the cost is under 3 % of the rate."""

    def _folded(self, term: IncidentTerm | None) -> IncidentTerm | None:
        return term.folded(self.folds) if term and self.folds else term


def joined(terms: Iterable[IncidentTerm | None]) -> IncidentTerm | None:
    """One term of several of the same wave and half step, in their order; None without any."""
    some = [term for term in terms if term is not None]
    if len(some) < 2:
        return some[0] if some else None
    component, i, j, k, weight, column, share = (
        np.concatenate([getattr(term, name) for term in some])
        for name in ("component", "i", "j", "k", "weight", "column", "share")
    )
    return IncidentTerm(component, i, j, k, weight, column, share, some[0].wave)
