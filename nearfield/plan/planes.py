"""Coefficients as engines ask for them: planes along an axis, single samples, what poles keep."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from nearfield.entry.triples import Triple


class Coefficients(Protocol):
    """Update coefficients of a plan's samples, as engines and cost models ask for them; nothing of the whole grid's
    size is kept. Arrays are float64, indices global.
    """

    def planes(
        self, axis: int, lower: Triple | None = None, upper: Triple | None = None
    ) -> Iterator[PlaneCoefficients]:
        """Planes along an axis in order, of the samples [lower, upper); they count from `lower`."""

    def at(self, component: int, i: np.ndarray, j: np.ndarray, k: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(Ca, Cb) or (Da, Db) of single samples; not valid for E on an electric plane of symmetry."""

    def kept_numbers(self, i: np.ndarray, j: np.ndarray, k: np.ndarray) -> np.ndarray:
        """How many numbers the poles of dispersive media keep in each cell of a lattice."""


@dataclass(frozen=True)
class PoleMedium:
    """What a dispersive medium remembers in each sample where it weighs anything, of E (or H, where it is magnetic).

    Just before the update, with e for E as it is before the first medium acts,
        E <- stay E - weight (sum of all T)
        T <- T + (k T + q e)                                        of `firsts`, (n, 2): k, q
        T <- T + (k T + U + q e),  U <- U + (rho T + k U + r e)     of `seconds`, (n, 4): k, rho, q, r
    stay and weight come with the coefficients, a plane at a time.
    """

    magnetic: bool
    firsts: np.ndarray
    seconds: np.ndarray

    @property
    def states(self) -> int:
        """Numbers a sample."""
        return len(self.firsts) + 2 * len(self.seconds)


@dataclass(frozen=True)
class PolePlane:
    """What a medium does in planes alike: its number, and (3, nb, nc) float64 for x, y, z of its half step."""

    medium: int
    stay: np.ndarray
    weight: np.ndarray


@dataclass(frozen=True)
class PlaneCoefficients:
    """Planes start to stop along an axis, all alike.

    electric, magnetic: (3, 2, nb, nc) float64: component x, y, z; Ca or Da, then Cb or Db; nb, nc active samples
    along the two cyclically next axes. poles: what dispersive media weigh, where they weigh anything.
    """

    start: int
    stop: int
    electric: np.ndarray
    magnetic: np.ndarray
    poles: tuple[PolePlane, ...] = ()
