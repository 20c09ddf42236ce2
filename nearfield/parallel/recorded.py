"""Recordings of several ranks as one: boxes are put together, sums of samples on several ranks are added on rank 0."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nearfield.machine.transport import Ranks
from nearfield.parallel.part import PlanPart
from nearfield.plan.boxes import Box
from nearfield.plan.plan import Plan
from nearfield.plan.recorders import DFTBox, Functional, Recording, RecordingTerm
from nearfield.plan.term import is_magnetic


class RankRecorders:
    """The recorders of a plan on ranks that own these boxes; all ranks call the same methods in the same order."""

    def __init__(self, plan: Plan, ranks: Ranks, part: PlanPart, boxes: Sequence[Box]) -> None:
        self._plan, self._ranks, self._part, self._boxes = plan, ranks, part, boxes
        local = list(zip(part.recorders, part.plan.recorders))
        functionals = [(n, term) for n, term in local if isinstance(term, Functional)]
        self._functionals = [n for n, _ in functionals]
        shared = {n for n, term in functionals if not term.whole}
        self._shared = sorted(set[int]().union(*ranks.everywhere(shared)))
        everywhere = [n for n, term in enumerate(plan.recorders) if isinstance(term, DFTBox)]
        self._dft_boxes = [everywhere.index(n) for n, term in local if isinstance(term, DFTBox)]
        self.reset()

    def reset(self) -> None:
        self._sums: dict[int, list[np.ndarray]] = {n: [] for n in self._shared}

    @property
    def sums(self) -> dict[int, list[np.ndarray]]:
        """Samples so far of the sums that ranks share, by recorder of the plan; on rank 0 alone."""
        return self._sums if self._ranks.rank == 0 else {}

    def here(self, phasors: list[np.ndarray]) -> list[np.ndarray]:
        """The tables of this rank's Fourier recorders, of those of all."""
        return [phasors[n] for n in self._dft_boxes]

    def add(self, step: int, steps: int, samples: list[np.ndarray]) -> None:
        """Add up sums whose terms lie on several ranks, in their order, for `steps` steps up to `step`."""
        if not self._shared:
            return
        here, shapes = dict(zip(self._functionals, samples)), [self._shape(n, step, steps) for n in self._shared]
        products = [np.reshape(here.get(n, np.zeros(shape)), -1) for n, shape in zip(self._shared, shapes)]
        total = self._ranks.added_on_root(np.concatenate(products))
        if total is None:
            return
        tables = np.split(total, np.cumsum([len(each) for each in products])[:-1])
        for n, shape, table in zip(self._shared, shapes, tables):
            self._sums[n].append(added_in_order(table.reshape(shape)))

    def _shape(self, n: int, step: int, steps: int) -> tuple[int, int]:
        term = self._plan.recorders[n]
        assert isinstance(term, Functional)
        return step // term.stride - (step - steps) // term.stride, len(term.i)

    def joined(self, recordings: list[Recording]) -> list[Recording] | None:
        """The recordings of all ranks, each of which gives its own; on rank 0 alone."""
        pieces = self._ranks.gathered(dict(zip(self._part.recorders, recordings)))
        return pieces and [self._joined(n, term, pieces) for n, term in enumerate(self._plan.recorders)]

    def _joined(self, n: int, term: RecordingTerm, pieces: list[dict[int, Recording]]) -> Recording:
        found = [(box, piece[n]) for box, piece in zip(self._boxes, pieces) if n in piece]
        if isinstance(term, Functional):
            if n not in self._shared:
                return found[0][1]
            values = np.concatenate([np.zeros(0), *self._sums[n]])
            steps = term.stride * np.arange(1, len(values) + 1)
            return Recording(self._plan.recording_times(is_magnetic(term.component), steps), values)
        whole, first = term.box, found[0][1]
        values = np.zeros((len(first.values), *whole.shape), first.values.dtype)
        for box, piece in found:
            if common := box.intersection(whole):
                values[(slice(None), *common.slices(whole.lower))] = piece.values
        return Recording(first.time, values)


def added_in_order(products: np.ndarray) -> np.ndarray:
    """Sums over the last axis of (samples, terms), term by term."""
    total = np.zeros(len(products))
    for column in products.T:
        total += column
    return total
