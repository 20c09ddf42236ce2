"""An engine over the storage of the compiled core: plan, states and recordings, whatever makes the steps."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from nearfield.engines.protocol import NamedState, Tables, Undivided
from nearfield.engines.stored.coefficients import set_coefficients
from nearfield.engines.stored.poles import EnginePoles
from nearfield.engines.stored.recorders import Recorders
from nearfield.engines.stored.states import field, named_states
from nearfield.engines.stored.terms import CoreTerms
from nearfield.engines.stored.turn import Turn
from nearfield.plan.excitations import Marches
from nearfield.plan.plan import Plan
from nearfield.plan.recorders import Recording


def seam(phase: float | None, gap: int | None) -> list[float]:
    """Numbers of an axis for the core: whether it closes on itself, cosine and sine of its phase, its gap or -1."""
    turn = [0.0, 1.0, 0.0] if phase is None else [1.0, math.cos(phase), math.sin(phase)]
    return [*turn, -1.0 if gap is None else gap]


class StoredEngine(Undivided):
    """Base of engines whose core keeps records of rows (core/layout.hpp). A subclass makes the core and the steps.

    Methods without a text are those of the protocols.
    """

    def __init__(self, plan: Plan, core: Any) -> None:
        self.plan, self._turn, self._core = plan, Turn(plan.storage_axes), core
        self.poles = EnginePoles(plan, core.poles)
        set_coefficients(plan, core, self.poles)
        self.circuits = CoreTerms(plan, core).circuits
        self._recorders = Recorders(plan, core)
        self._marches = Marches(plan.waves, plan.dtype)

    @property
    def step(self) -> int:
        return int(self._core.step)

    def _tables(self, steps: int, excitation: str) -> Tables:
        first = self.step + 1
        phasors = [self.plan.phasors(box, first, steps) for box in self.plan.dft_boxes]
        waves = self._marches.tables(first, steps, excitation)
        return Tables(*self.plan.amplitudes(first, steps, excitation), phasors, waves)

    def _begin(self, steps: int, tables: Tables, weigh: bool) -> None:
        t = tables
        self._core.begin(steps, t.electric, t.magnetic, t.phasors, t.waves, weigh)

    def _end(self) -> tuple[list[np.ndarray], np.ndarray]:
        samples, digits = self._core.end()
        self._recorders.add(samples)
        return samples, digits

    def reset(self) -> None:
        self._core.reset()
        self._recorders.reset()

    # ---- states

    def states(self) -> dict[str, tuple[int, np.ndarray]]:
        """The registry of state arrays, storage axes: name -> (half step 0 or 1, view)."""
        return dict(self._core.states())

    def state(self, component: int) -> np.ndarray:
        return field(self.plan, self.states(), component)

    def named_states(self) -> Iterator[NamedState]:
        """All states of the registry, and poles. Error: the registry has states of other names."""
        return named_states(self.plan, self.states(), self.poles)

    def circuit_states(self) -> np.ndarray:
        return np.asarray(self._core.circuit_states())

    def set_circuit_states(self, states: np.ndarray, which: np.ndarray | None = None) -> None:
        """Write the memories of some edges, by number, or of all."""
        which = np.arange(len(states)) if which is None else which
        self._core.set_circuit_states(which, np.ascontiguousarray(states))

    def resume(self, step: int, accumulated: Sequence[np.ndarray | None]) -> None:
        self._core.resume(step)
        self._recorders.resume(accumulated)

    # ---- recordings

    def accumulated(self) -> Iterator[np.ndarray]:
        return self._recorders.accumulated()

    def recordings(self) -> list[Recording]:
        return self._recorders.recordings()

    def place_snapshots(self, recorder: int, places: list[np.ndarray]) -> None:
        self._core.place_snapshots(self._recorders.number(recorder), places)
