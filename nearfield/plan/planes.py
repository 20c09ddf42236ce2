"""Update coefficients as engines read them: planes along an axis, single samples, states of poles."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from nearfield.entry.triples import Triple


class Coefficients(Protocol):
    """Update coefficients of a plan's samples, as engines and cost models ask for them; nothing of the whole grid's
    size is stored. Arrays are float64, indices global.
    """

    def planes(
        self, axis: int, lower: Triple | None = None, upper: Triple | None = None
    ) -> Iterator[PlaneCoefficients]:
        """Planes along an axis in order, of the samples [lower, upper); they count from `lower`."""

    def at(self, component: int, i: np.ndarray, j: np.ndarray, k: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(Ca, Cb) or (Da, Db) of single samples; not valid for E on an electric plane of symmetry."""

    def kept_numbers(self, i: np.ndarray, j: np.ndarray, k: np.ndarray) -> np.ndarray:
        """Numbers that the poles of dispersive media keep in each cell of a lattice."""


@dataclass(frozen=True)
class PoleMedium:
    """The states of a dispersive medium in each sample where its weight is not zero, of E (or H, where it is magnetic).

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
    """A dispersive medium in equal planes: its number, and (3, nb, nc) float64 for x, y, z of its half step."""

    medium: int
    stay: np.ndarray
    weight: np.ndarray


@dataclass(frozen=True)
class PlaneCoefficients:
    """Equal planes, from start to stop, along an axis.

    electric, magnetic: (3, 2, nb, nc) float64: component x, y, z; Ca or Da, then Cb or Db; nb, nc active samples
    along the two cyclically next axes. poles: weights of dispersive media, where they are not zero.
    """

    start: int
    stop: int
    electric: np.ndarray
    magnetic: np.ndarray
    poles: tuple[PolePlane, ...] = ()
