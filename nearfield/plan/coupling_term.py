"""Weights of H samples on E samples: the off-diagonal part of an inverse permittivity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nearfield.entry.triples import Triple
from nearfield.plan.boxes import Box


@dataclass(frozen=True)
class CouplingTerm:
    """The off-diagonal part of an inverse permittivity (nearfield/coefficients/coupling.py).

    After each update of E, before all other terms, E[component][at] += sum of weight * H[tap_component][tap_at]:
    products are rounded, added in their order to four sums by turns, s0 to s3, and the sample gets (s0 + s1) + (s2 +
    s3), all in the fields' precision. Sample n has the taps first[n] to first[n + 1], none further than one sample
    along any axis: -1 and n on an axis that closes on itself are those over the seam, turned along the axis of unit
    stride first, then the two that follow it. Imaginary parts likewise.
    component: (samples,), 0..2; at: (samples, 3); first: (samples + 1,); tap_component: (taps,), 3..5; tap_at:
    (taps, 3); weight: (taps,).
    """

    component: np.ndarray
    at: np.ndarray
    first: np.ndarray
    tap_component: np.ndarray
    tap_at: np.ndarray
    weight: np.ndarray

    def chosen(self, which: np.ndarray, moved: Triple = (0, 0, 0)) -> CouplingTerm:
        """Some samples, by number, with places that count from `moved`."""
        counts = np.diff(self.first)[which]
        first = np.concatenate(([0], np.cumsum(counts)))
        taps = np.repeat(self.first[:-1][which] - first[:-1], counts) + np.arange(first[-1])
        at, tap_at = self.at[which] - np.array(moved), self.tap_at[taps] - np.array(moved)
        return CouplingTerm(self.component[which], at, first, self.tap_component[taps], tap_at, self.weight[taps])

    def stored(self, axes: Triple) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Samples in the order of rows and their taps, (n, 4) of component and place along storage axes: (samples,
        first, taps, weights)."""
        numbers = np.array([half + axes.index(axis) for half in (0, 3) for axis in range(3)])
        order = np.lexsort((numbers[self.component], *(self.at[:, axis] for axis in reversed(axes))))
        term = self.chosen(order)
        at, tap = (
            np.ascontiguousarray(np.column_stack((numbers[component], place[:, list(axes)])), np.int64)
            for component, place in ((term.component, term.at), (term.tap_component, term.tap_at))
        )
        return at, np.asarray(term.first, np.int64), tap, term.weight

    def part(self, held: Box, closed: Sequence[bool]) -> CouplingTerm | None:
        """The samples in a box whose taps all lie there, in the box's coordinates; None without any.

        An axis that is `closed` lies whole in the box, with its taps over the seam. Samples of the outermost layers
        lack taps, and nobody makes them.
        """

        def here(places: np.ndarray) -> np.ndarray:
            inside = (places >= np.array(held.lower)) & (places < np.array(held.upper))
            return np.asarray((inside | np.array(closed)).all(axis=1))

        outside = np.concatenate(([0], np.cumsum(~here(self.tap_at))))[self.first]
        which = np.flatnonzero(here(self.at) & (np.diff(outside) == 0))
        return self.chosen(which, held.lower) if which.size else None
