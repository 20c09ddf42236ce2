"""Base classes of the terms of a plan: their part in a rank, their fold at planes of symmetry, their bytes and cost.

Component numbers are 0..5 = Ex Ey Ez Hx Hy Hz, 6..11 their imaginary parts where fields are complex.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

import numpy as np

from nearfield.entry.triples import Triple, triple
from nearfield.plan.boxes import Box

if TYPE_CHECKING:
    from nearfield.grid.folds import Folds
    from nearfield.plan.excitations import IncidentWave, Waveform

IMAGINARY = 6  # from a component's number to that of its imaginary part
SAMPLE_BYTES = 256  # memory of a sample: indices, weights, states; at most


class Cut(Protocol):
    """The part of a plan that one rank has: its own box, and the halos that it holds of other ranks."""

    def own_box(self, box: Box) -> Box | None:
        """The rank's own samples of a box, in coordinates of the part."""

    def own_samples(self, index: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Numbers (m,) of the rank's own among samples (3, n), and their places (3, m) in the part."""

    def held_samples(self, index: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Numbers and places of own samples and halos; a sample comes once for each of its periodic images there."""

    def reach(self, box: Box) -> Box | None:
        """A box about all samples of a box that `held_samples` finds; None without any."""


@dataclass(frozen=True)
class Prices:
    """Costs of terms, in updates of a vacuum cell."""

    frequency: float  # a sample and frequency of a running transform
    visit: float  # a row of a running transform
    copy: float  # a sample of a snapshot
    edge: float  # an edge's current, circuit or sample of a sum


class Term(Protocol):
    """Something that happens in rows besides the update."""

    recorded: ClassVar[bool] = False  # whether it makes a recording
    component: int | np.ndarray

    @property
    def waveforms(self) -> tuple[Waveform, ...]:
        """Columns of the table of source amplitudes that it needs."""
        return ()

    @property
    def waves(self) -> tuple[IncidentWave, ...]:
        """Incident waves that it needs."""
        return ()

    @property
    def corners(self) -> tuple[np.ndarray, np.ndarray]:
        """First and last samples, (3, n) each, of its n boxes or single samples."""

    def drawn(self) -> Term | None:
        """The term with all its samples, as engines take it; None without any."""
        return self

    def part(self, cut: Cut) -> Term | None:
        """The term in a rank's part of the plan; None where nothing of it lies there."""

    def folded(self, folds: Folds) -> Term | None:
        """The term in the model above the planes of symmetry; None where nothing of it lies there."""

    def recorded_bytes(self, steps: int, number_bytes: int) -> int:
        """Output of so many steps: series in double, boxes in numbers of the fields' size."""
        return 0

    def memory_bytes(self, steps: int, number_bytes: int) -> int:
        """Memory for so many steps, its recording included."""

    def cost(self, prices: Prices, box: Box, unit: int) -> float:
        """Cost of a step for each sample of its `loaded_box`, with rows along the axis `unit`."""

    def loaded_box(self, active: Triple) -> Box | None:
        """The box of active samples over which its cost is spread; None where it has none."""
        lower, upper = self.corners
        box = Box(triple(lower.min(axis=1).tolist()), triple(np.minimum(upper.max(axis=1) + 1, active).tolist()))
        return box if all(n > 0 for n in box.shape) else None


@dataclass(frozen=True)
class SampledTerm(Term):
    """A term of single samples (i, j, k)."""

    sample_arrays: ClassVar[Sequence[str]]  # fields that hold a value a sample, or one for all
    component: int | np.ndarray
    i: np.ndarray
    j: np.ndarray
    k: np.ndarray

    @property
    def index(self) -> np.ndarray:
        """Places (3, samples)."""
        return np.array([self.i, self.j, self.k]).reshape(3, -1)

    @property
    def corners(self) -> tuple[np.ndarray, np.ndarray]:
        return self.index, self.index

    def chosen(self, which: np.ndarray, at: Sequence[np.ndarray] | np.ndarray, **changes: Any) -> Self | None:
        """Some samples, by number, at other places (i, j, k); None without any."""
        if not which.size:
            return None
        for name in self.sample_arrays:
            values = np.asarray(getattr(self, name))
            one_each = values.shape[:1] == (np.size(self.i),)
            changes[name] = values[which] if one_each else np.broadcast_to(values, (which.size, *values.shape))
        return replace(self, **dict(zip("ijk", at)), **changes)

    def part(self, cut: Cut) -> Self | None:
        return self.chosen(*cut.held_samples(self.index))

    def folded(self, folds: Folds) -> Self | None:
        here = np.ones(np.size(self.i), bool)
        for axis in folds.axes:
            here &= folds.acts(self.component, axis, self.index[axis])
        above = self.index - np.array(folds.start)[:, None]
        return self.chosen(np.flatnonzero(here), above[:, here])

    def memory_bytes(self, steps: int, number_bytes: int) -> int:
        return self.recorded_bytes(steps, number_bytes) + SAMPLE_BYTES * len(self.i)

    def cost(self, prices: Prices, box: Box, unit: int) -> float:
        return prices.edge * len(self.i) / box.size


def is_magnetic(component: int | np.ndarray) -> bool:
    """Whether a component, or any of several, is one of H."""
    return bool(np.max(np.asarray(component) % 6) >= 3)
