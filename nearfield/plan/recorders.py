"""Terms that record fields: sums of samples, running transforms and snapshots of boxes; and their recordings."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Self, cast

import numpy as np

from nearfield.entry.triples import Triple, triple
from nearfield.plan.boxes import Box
from nearfield.plan.term import IMAGINARY, Cut, Prices, SampledTerm, Term

if TYPE_CHECKING:
    from nearfield.grid.folds import Folds

KEPT_SAMPLES = 8  # samples in time that a transform collects, at most one a frequency: core/cpu/operations/


@dataclass(frozen=True)
class Functional(SampledTerm):
    """A weighted sum of samples, recorded every `stride` steps (steps stride, 2 stride, ...).

    All samples are of E or all of H; `component` is an array like i, j, k. The recorded value is SI: weights of H
    samples are given for H in A/m and the plan divides by eta0. Products are rounded, then added in their order.
    """

    component: np.ndarray
    weight: np.ndarray
    stride: int = 1
    place: np.ndarray | None = None  # number of each sample in the whole sum, where this is a part of one
    terms: int | None = None  # samples of the whole sum

    recorded = True
    box: ClassVar[None] = None
    sample_arrays = ("component", "weight")

    @property
    def whole(self) -> bool:
        """Whether all samples of the sum are here."""
        return self.terms is None or len(self.i) == self.terms

    def part(self, cut: Cut) -> Self | None:
        which, at = cut.own_samples(self.index)
        return self.chosen(which, at, place=which, terms=np.size(self.i))

    def folded(self, folds: Folds) -> Self:
        """The sum over the samples above the planes alone."""
        index, weight = [np.array(part) for part in (self.i, self.j, self.k)], np.array(self.weight, dtype=float)
        component = np.broadcast_to(self.component, weight.shape)
        for axis in folds.axes:
            for number in np.unique(component):
                fold, chosen = folds.of(int(number), axis), component == number
                weight[chosen] *= fold.sign(index[axis][chosen])
                index[axis][chosen] = np.minimum(fold.folded(index[axis][chosen]), fold.end - 1)
        return replace(self, i=index[0], j=index[1], k=index[2], weight=weight)

    def imaginary(self) -> Self:
        """The sum of imaginary parts; the imaginary part of F is the real part of -j F: re -> im, im -> -re."""
        real = self.component < IMAGINARY
        component = np.where(real, self.component + IMAGINARY, self.component - IMAGINARY)
        return replace(self, component=component, weight=np.where(real, self.weight, -self.weight))

    def moved_numbers(self, steps: int) -> float:
        """Numbers to and from memory a step: none, since few samples stay in a cache."""
        return 0.0

    def recorded_bytes(self, steps: int, number_bytes: int) -> int:
        return 8 * (steps // self.stride)

    def cost(self, prices: Prices, box: Box, unit: int) -> float:
        return prices.edge * len(self.i) / self.stride / box.size


@dataclass(frozen=True)
class BoxTerm(Term):
    """A recording of one component over index ranges [lower, upper)."""

    recorded = True
    whole: ClassVar[bool] = True  # what ranks record of a box is put together, not added
    component: int
    lower: Triple
    upper: Triple

    @property
    def box(self) -> Box:
        """The samples."""
        return Box(triple(self.lower), triple(self.upper))

    @property
    def samples(self) -> int:
        """Samples in the box, 0 where it is empty."""
        return Box(self.box.lower, triple(map(max, self.lower, self.upper))).size

    @property
    def corners(self) -> tuple[np.ndarray, np.ndarray]:
        return np.array(self.lower)[:, None], np.array(self.upper)[:, None] - 1

    def part(self, cut: Cut) -> Self | None:
        box = cut.own_box(self.box)
        return replace(self, lower=box.lower, upper=box.upper) if box else None

    def folded(self, folds: Folds) -> Self:
        """The box of the samples that are recorded for those below the planes too."""
        lower, upper = list(self.lower), list(self.upper)
        for axis in folds.axes:
            lower[axis], upper[axis] = folds.of(self.component, axis).span(lower[axis], upper[axis])
        return replace(self, lower=triple(lower), upper=triple(upper))

    def imaginary(self) -> Self:
        """The recording of the component's imaginary part."""
        return replace(self, component=self.component + IMAGINARY)

    def memory_bytes(self, steps: int, number_bytes: int) -> int:
        return self.recorded_bytes(steps, number_bytes)


@dataclass(frozen=True)
class DFTBox(BoxTerm):
    """Running Fourier sum of one component over index ranges [lower, upper): dt stride sum F(t) exp(-j 2 pi f t)."""

    frequencies: np.ndarray
    stride: int = 1

    def recorded_bytes(self, steps: int, number_bytes: int) -> int:
        return 2 * number_bytes * self.samples * len(self.frequencies)

    def memory_bytes(self, steps: int, number_bytes: int) -> int:
        """Sums, samples until they are added, phasors."""
        waiting = min(KEPT_SAMPLES, len(self.frequencies)) * self.samples
        phasors = 2 * len(self.frequencies) * (steps // self.stride)
        return self.recorded_bytes(steps, number_bytes) + number_bytes * (waiting + phasors)

    def moved_numbers(self, steps: int) -> float:
        """Numbers to and from memory a step: sums are read and written."""
        return 4.0 * self.samples * len(self.frequencies) / self.stride

    def cost(self, prices: Prices, box: Box, unit: int) -> float:
        row = self.upper[unit] - self.lower[unit]
        return (prices.frequency * len(self.frequencies) + prices.visit / row) / self.stride


@dataclass(frozen=True)
class SnapshotBox(BoxTerm):
    """Copies of one component over index ranges [lower, upper) after the given steps (sorted, counted from 1).

    Copies that are not `kept` go to memory that the caller gives before each block of steps
    (`place_snapshots` of the protocol `Streams`).
    """

    steps: np.ndarray
    kept: bool = True

    def taken(self, step: int) -> int:
        """Copies that are kept after a step."""
        return taken_by(self.steps, step) if self.kept else 0

    def recorded_bytes(self, steps: int, number_bytes: int) -> int:
        return number_bytes * self.samples * self.taken(steps)

    def moved_numbers(self, steps: int) -> float:
        """Numbers to and from memory a step."""
        return self.samples * np.count_nonzero(np.asarray(self.steps) <= steps) / steps

    def cost(self, prices: Prices, box: Box, unit: int) -> float:
        return prices.copy * len(self.steps) / float(max(1, np.max(self.steps, initial=1)))


RecordingTerm = Functional | DFTBox | SnapshotBox


def recorders(terms: Iterable[Term]) -> tuple[RecordingTerm, ...]:
    """The terms that record, in their order."""
    return tuple(cast(RecordingTerm, term) for term in terms if term.recorded)


def taken_by(steps: np.ndarray, step: int) -> int:
    """Number of snapshots of these steps (sorted) that are taken up to a step."""
    return int(np.searchsorted(steps, step, side="right"))


@dataclass(frozen=True)
class Recording:
    """The record of a recording term: `time` (s) and `values` in SI (DFTBox: time is empty, values complex)."""

    time: np.ndarray
    values: np.ndarray

    def with_imaginary(self, other: Recording) -> Recording:
        """The complex recording of a term and of its `imaginary()` one."""
        return replace(self, values=self.values + 1j * other.values)
