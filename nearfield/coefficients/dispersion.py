"""Dispersive media on the grid: what their poles add to an update's coefficients, and what they weigh in each sample.

With f the part of a sample's space that a medium fills, and (before, now) the sums of its poles' over a step,

    drive = 1/(eps_r (1 + s) + sum f now),   stay = (eps_r (1 - s) - sum f before) drive,   weight = f drive

of each medium. Where a medium weighs anything, E <- stay E - weight (sum of states) comes before the update, whose own
factor of E is then 1; of several media in one sample, the first one's stay acts. H alike, with mu_r.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from nearfield.media.materials import Medium
from nearfield.media.poles import AnyPole
from nearfield.plan.planes import PoleMedium, PolePlane


@dataclass(frozen=True)
class Kind:
    """Poles that one or several media have in common."""

    magnetic: bool
    poles: tuple[AnyPole, ...]
    column: int  # of the table of media: 1 where they are
    before: float
    now: float
    medium: int  # its number for the engine; -1 where nothing is remembered

    def of(self, medium: Medium) -> bool:
        """Whether a medium has these poles."""
        return medium._poles(self.magnetic) == self.poles


class Dispersion:
    """The distinct sets of poles of some media; columns of the table of media belong to them, from `first` on.

    Those of surfaces follow, by columns that no medium has: `surfaces` are those with poles by column.
    """

    def __init__(self, media: Sequence[Medium], time_step: float, first: int, surfaces: Sequence[Any] = ()) -> None:
        self.kinds: list[Kind] = []
        self.media: list[PoleMedium] = []
        for medium, magnetic in product(media, (False, True)):
            poles = medium._poles(magnetic)
            if poles and not any(kind.magnetic == magnetic and kind.poles == poles for kind in self.kinds):
                self._add(magnetic, poles, time_step, first + len(self.kinds))
        self.of_media = list(self.kinds)
        self.surfaces: dict[int, Any] = {}
        for surface in surfaces:
            if surface.poles:
                self.surfaces[first + len(self.kinds)] = surface
                self._add(surface.magnetic, surface.poles, time_step, first + len(self.kinds))

    def _add(self, magnetic: bool, poles: tuple[AnyPole, ...], time_step: float, column: int) -> None:
        steps = [pole._step(time_step) for pole in poles]
        firsts, seconds = (
            np.array([step.states for step in steps if len(step.states) == size]).reshape(-1, size) for size in (2, 4)
        )
        before, now = sum(step.before for step in steps), sum(step.now for step in steps)
        remembers = len(firsts) + len(seconds) > 0
        self.kinds.append(Kind(magnetic, poles, column, before, now, len(self.media) if remembers else -1))
        self.media += [PoleMedium(magnetic, firsts, seconds)] if remembers else []

    def row(self, medium: Medium) -> list[float]:
        """The medium's columns."""
        return [float(kind.of(medium)) for kind in self.of_media]

    def numbers(self, medium: Medium) -> int:
        """Numbers that a cell of the medium keeps, of six components."""
        return 3 * sum(self.media[kind.medium].states for kind in self.of_media if kind.medium >= 0 and kind.of(medium))

    def sums(self, magnetic: bool, part: Callable[[int], np.ndarray | float]) -> tuple[Any, ...]:
        """(sum f before, sum f now), given f by column."""
        kinds = [kind for kind in self.kinds if kind.magnetic == magnetic]
        return tuple(sum(part(kind.column) * getattr(kind, name) for kind in kinds) for name in ("before", "now"))

    def planes(
        self, pairs: Sequence[np.ndarray], part: Callable[[int, int], np.ndarray | float]
    ) -> tuple[list[np.ndarray], tuple[PolePlane, ...]]:
        """The six components' (stay, drive) of a plane with what acts before the update taken out, and that.

        `part(component, column)` is the part of the samples that a medium fills.
        """
        kinds, poles = (*self.remembered(False), *self.remembered(True)), []
        pairs = [pair.copy() for pair in pairs] if kinds else list(pairs)
        for kind in kinds:
            half = range(3, 6) if kind.magnetic else range(3)
            weight = np.stack([part(component, kind.column) * pairs[component][1] for component in half])
            if weight.any():
                stay = np.where(weight != 0.0, [pairs[component][0] for component in half], 1.0)
                for component, own in zip(half, weight):
                    pairs[component][0][own != 0.0] = 1.0
                poles.append(PolePlane(kind.medium, stay, weight))
        return pairs, tuple(poles)

    def remembered(self, magnetic: bool) -> list[Kind]:
        """The kinds of a half step that have states."""
        return [kind for kind in self.kinds if kind.magnetic == magnetic and kind.medium >= 0]
