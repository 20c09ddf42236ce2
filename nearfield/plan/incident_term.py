"""The incident wave of a total-field box as an engine knows it: samples, weights, and a table for each block of steps.

Inside the box fields are total, outside scattered. Where the update of a sample reads across the box's face, what it
reads lacks the incident field, or has it too much; `IncidentTerm` mends that right after the update.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np


class March(Protocol):
    """An incident field on its way: tables for steps in their order."""

    def tables(self, first: int, steps: int) -> np.ndarray | None:
        """(2, steps, columns): the magnetic field (as eta0 H) that E samples read in steps first, first + 1, ..., at
        (m - 1/2) dt, and the electric field (V/m) that H samples read, at m dt. None where all of it is zero."""
        ...


class IncidentWave(Protocol):
    """An incident field, of one excitation."""

    excitation: str
    end: float  # s; later it counts as off

    def march(self, dtype: type) -> March:
        """From step 1 on, in the precision of the fields."""
        ...


@dataclass(frozen=True)
class IncidentTerm:
    """F[i, j, k] += weight * sum_t share[t] table[step, column[t]], after the update of F, in every step.

    All samples are of E, or all of H. `weight` holds +-Cb c dt / dual length and the like. component, i, j, k, weight:
    (samples,); column, share: (samples, taps), added in their order; a single tap has the share 1, which is left out.
    A sample may come twice, at an edge of the box; it is then driven in the order of the term.
    """

    component: np.ndarray
    i: np.ndarray
    j: np.ndarray
    k: np.ndarray
    weight: np.ndarray
    column: np.ndarray
    share: np.ndarray
    wave: IncidentWave

    @property
    def magnetic(self) -> bool:
        """Whether the samples are of H."""
        return bool(self.component[0] >= 3)


class Marches:
    """The marches of several incident waves, for one engine; they set out when somebody asks for tables."""

    def __init__(self, waves: tuple[IncidentWave, ...], dtype: type) -> None:
        self._waves, self._dtype = waves, dtype

    @cached_property
    def _begun(self) -> list[March]:
        return [wave.march(self._dtype) for wave in self._waves]

    def tables(self, first: int, steps: int, excitation: str) -> list[np.ndarray | None]:
        """Tables of steps first, first + 1, ..., one for each wave; None for those that are silent."""
        waves = zip(self._waves, self._begun)
        return [march.tables(first, steps) if wave.excitation == excitation else None for wave, march in waves]
