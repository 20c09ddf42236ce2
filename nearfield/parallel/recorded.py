"""Recordings of several ranks as one: boxes are put together, sums of samples on several ranks are added on rank 0."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from nearfield.machine.transport import Ranks
from nearfield.parallel.part import PlanPart
from nearfield.plan.boxes import Box
from nearfield.plan.plan import Plan
from nearfield.plan.recorders import DFTBox, Functional, Recording, RecordingTerm
from nearfield.plan.term import is_magnetic

AT_ONCE = 1 << 24  # bytes of recordings that are under way to rank 0 at a time


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
        """The recordings of all ranks, each of which gives its own; on rank 0 alone.

        Boxes come a few `AT_ONCE` bytes at a time, so that rank 0 holds them once, and nobody a second copy.
        """
        own = dict(zip(self._part.recorders, recordings))
        sums = {n: own[n] for n in own if isinstance(self._plan.recorders[n], Functional)}
        pieces = self._ranks.gathered(sums)
        found = []
        for n, term in enumerate(self._plan.recorders):
            if not isinstance(term, Functional):
                found.append(self._whole_box(term, own.pop(n, None)))
            elif pieces is not None:
                found.append(self._sum(n, term, pieces))
        return None if pieces is None else [each for each in found if each is not None]

    def _sum(self, n: int, term: Functional, pieces: list[dict[int, Recording]]) -> Recording:
        if n not in self._shared:
            return next(piece[n] for piece in pieces if n in piece)
        values = np.concatenate([np.zeros(0), *self._sums[n]])
        steps = term.stride * np.arange(1, len(values) + 1)
        return Recording(self._plan.recording_times(is_magnetic(term.component), steps), values)

    def _whole_box(self, term: RecordingTerm, own: Recording | None) -> Recording | None:
        """A box's recording from the ranks that hold parts of it; on rank 0 alone."""
        whole, rank = term.box, self._ranks.rank
        assert whole is not None
        shares = [box.intersection(whole) for box in self._boxes]
        kinds = self._ranks.everywhere(own and (own.time, own.values.shape[0], own.values.dtype))
        time, count, kind = next(each for each in kinds if each is not None)
        values = np.zeros((count, *whole.shape), kind) if rank == 0 else None
        for entries, part in chunks(count, whole, np.dtype(kind).itemsize):
            here = own and (mine := shares[rank]) and mine.intersection(part)
            sent = own.values[(entries, *here.slices(mine.lower))] if own and mine and here else None
            pieces = self._ranks.gathered(sent)
            for share, piece in zip(shares, pieces or ()):
                if values is not None and piece is not None and share and (common := share.intersection(part)):
                    values[(entries, *common.slices(whole.lower))] = piece
        return None if values is None else Recording(time, values)


def chunks(count: int, whole: Box, number_bytes: int) -> Iterator[tuple[slice, Box]]:
    """Parts of some `AT_ONCE` bytes of `count` boxes: several boxes, or else planes of one across its longest axis."""
    axis = max(range(3), key=lambda a: whole.shape[a])
    plane = number_bytes * whole.size // max(1, whole.shape[axis])
    planes = min(whole.shape[axis], max(1, AT_ONCE // max(1, plane)))
    boxes = max(1, AT_ONCE // max(1, plane * whole.shape[axis]))
    ends = list(zip(whole.lower, whole.upper))
    low, high = ends[axis]
    for first in range(0, count, boxes):
        for begin in range(low, high, planes):
            ends[axis] = begin, min(high, begin + planes)
            yield slice(first, min(count, first + boxes)), Box.between(ends)


def added_in_order(products: np.ndarray) -> np.ndarray:
    """Sums over the last axis of (samples, terms), term by term."""
    total = np.zeros(len(products))
    for column in products.T:
        total += column
    return total
