"""Excitations of terms over time: waveforms of currents and circuits, and tables of incident waves.

Inside a total-field box fields are total, outside scattered. Where the update of a sample reads across the box's face,
the value lacks the incident field, or has it too much; `IncidentTerm` corrects that right after the update.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np


@dataclass(frozen=True)
class Waveform:
    """One column of the table of source amplitudes: `value(t)` at t = (m - 1/2) dt for E terms, m dt for H terms."""

    value: Callable[[np.ndarray], np.ndarray]
    excitation: str  # name of the port it belongs to, or "sources"
    end: float  # s; later it counts as off


class March(Protocol):
    """An incident field as it travels: tables for steps in their order."""

    def tables(self, first: int, steps: int) -> np.ndarray | None:
        """(2, steps, columns): the magnetic field (as eta0 H) that E samples read in steps first, first + 1, ..., at
        (m - 1/2) dt, and the electric field (V/m) that H samples read, at m dt. None where all of it is zero."""
        ...


class IncidentWave(Protocol):
    """An incident field, of one excitation."""

    @property
    def excitation(self) -> str: ...

    @property
    def end(self) -> float:
        """Time (s) from which on it counts as off."""
        ...

    def march(self, dtype: type) -> March:
        """From step 1 on, in the precision of the fields."""
        ...


class Marches:
    """The marches of several incident waves, for one engine; they begin with the first table."""

    def __init__(self, waves: tuple[IncidentWave, ...], dtype: type) -> None:
        self._waves, self._dtype = waves, dtype

    @cached_property
    def _begun(self) -> list[March]:
        return [wave.march(self._dtype) for wave in self._waves]

    def tables(self, first: int, steps: int, excitation: str) -> list[np.ndarray | None]:
        """Tables of steps first, first + 1, ..., one for each wave; None for silent ones."""
        waves = zip(self._waves, self._begun)
        return [march.tables(first, steps) if wave.excitation == excitation else None for wave, march in waves]
