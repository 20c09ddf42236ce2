"""Recorders of the core: the sums, samples and snapshots that a plan's recording terms gather, over x, y, z."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from nearfield.engines.stored.turn import Turn
from nearfield.entry.constants import VACUUM_IMPEDANCE
from nearfield.plan.plan import Plan
from nearfield.plan.recorders import DFTBox, Functional, Recording, RecordingTerm
from nearfield.plan.term import is_magnetic


class Recorders:
    """The recording terms of a plan, each with its number among those of its kind, as the core counts."""

    def __init__(self, plan: Plan, core: Any) -> None:
        self._plan, self._core, self._turn = plan, core, Turn(plan.storage_axes)
        kinds: Counter[type] = Counter()
        self._terms: list[tuple[RecordingTerm, int]] = []
        for term in plan.recorders:
            self._terms.append((term, kinds[type(term)]))
            kinds[type(term)] += 1
        self._samples: list[list[np.ndarray]] = [[] for _ in range(kinds[Functional])]

    def number(self, recorder: int) -> int:
        """The number of a recorder among those of its kind."""
        return self._terms[recorder][1]

    def add(self, samples: Sequence[np.ndarray]) -> None:
        """Append the samples of each functional in one block of steps."""
        for gathered, block in zip(self._samples, samples):
            gathered.append(block)

    def reset(self) -> None:
        """Forget all samples."""
        self._samples = [[] for _ in self._samples]

    def resume(self, accumulated: Sequence[np.ndarray | None]) -> None:
        """Take back what `accumulated` gave; None: nothing."""
        self.reset()
        for (term, number), values in zip(self._terms, accumulated, strict=True):
            if values is None:
                continue
            if isinstance(term, Functional):
                self._samples[number] = [values]
            elif isinstance(term, DFTBox):
                self._core.set_fourier(number, self._turn.stored(values))
            else:
                self._core.set_snapshot(number, self._turn.stored(values))

    def accumulated(self) -> Iterator[np.ndarray]:
        """Sums and samples of each recorder as the core adds them up; nothing of functionals that ranks share."""
        for term, number in self._terms:
            if isinstance(term, Functional):
                yield np.concatenate([np.zeros(0), *(self._samples[number] if term.whole else ())])
            else:
                sums = self._core.fourier if isinstance(term, DFTBox) else self._core.snapshot
                yield self._turn.seen(sums(number))

    def recordings(self) -> list[Recording]:
        """Recordings of all recorders, in SI units."""
        return [self._recording(*each) for each in zip(self._terms, self.accumulated())]

    def _recording(self, recorder: tuple[RecordingTerm, int], values: np.ndarray) -> Recording:
        term, number = recorder
        half = is_magnetic(term.component)
        if isinstance(term, Functional):
            samples = self._samples[number]  # of a sum that ranks share: products, one a term
            values = np.concatenate(samples) if samples else np.zeros(0)
            steps = term.stride * np.arange(1, len(values) + 1)
            return Recording(self._plan.recording_times(half, steps), values)
        scale = 1.0 / VACUUM_IMPEDANCE if half else 1.0
        if isinstance(term, DFTBox):
            factor = np.asarray(scale * self._plan.time_step * term.stride, values.dtype)
            return Recording(np.zeros(0), (values[:, 0] + 1j * values[:, 1]) * factor)
        times = self._plan.recording_times(half, np.asarray(term.steps)[: len(values)])
        if half:
            values *= np.asarray(scale, values.dtype)  # in place: the core gave a copy
        return Recording(times, values)
