"""Factors of eps and 1/mu about rims of sheets and corners of solids, joined so that the time step stays.

Faces that the singular field does not pass through count with the least factor of their live edges, edges along the rim
with what the faces about them ask: both change what the field's next term alone sees, but at corners and about slanting
rims. What faces ask: up to 1 no factor of 1/mu may exceed the factors of eps of the face's live edges (docs/method.md,
Thin wires). The excess over 1 is bounded face by face: by Cauchy's inequality, with weights w that add up to 1,

    (sum of four +-E/d)^2 <= sum of E^2/(d^2 w),       so that each edge owes (q - 1) (c dt/(2 n d))^2/w

times its volume in the face and over the open part of the face. Of the pair of edges across the rim, whose eps exceeds
1 by as much as q, w takes what they can bear; the pair along it shares the rest. Where both are alike all four share.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from nearfield.metal.patches import DriveFactors
from nearfield.metal.sample_numbers import SampleNumbers
from nearfield.metal.thin_wires import Table

HEAVIEST = 0.25  # weight of an edge of the first pair: half is left to the other
TIE = 1e-6  # of a distance; samples are as near to two rims as rounding tells
BORNE = 0.25  # of a departure of 1 in cubes, what is made up for where rims run straight (docs/method.md, Stability)


class Factors(NamedTuple):
    """Factors of samples: their numbers, distances from the rim (m), factors of eps or 1/mu, the part of the sample
    that the singular field sees, 0 along the rim and 1 across it, and 1 about single rims along an axis, less about
    slanting ones and those with others near them."""

    number: np.ndarray
    distance: np.ndarray
    value: np.ndarray
    share: np.ndarray
    upright: np.ndarray


class MetalSamples(Protocol):
    """What metal makes of samples by number, -1 for what lies outside."""

    def conducts(self, numbers: np.ndarray) -> np.ndarray:
        """Which edges it keeps at zero."""

    def opened(self, numbers: np.ndarray) -> np.ndarray:
        """Open fractions of edges and faces."""


class RimFactors(DriveFactors):
    """Factors of Cb and Db about rims and corners, found by plane.

    `edges` and `faces` by the rim that they belong to; of several on one sample the nearest counts, of several as near
    their mean. `metal`: what is
    known of samples by number; `light`: c dt/n (m), n the least index of any medium.
    """

    def __init__(
        self,
        samples: SampleNumbers,
        edges: Sequence[Factors],
        faces: Sequence[Factors],
        metal: MetalSamples,
        light: float,
    ) -> None:
        self.samples, self._samples, self._metal, self._light = samples, samples, metal, light
        self.found = numbers, factor = self._joined(nearest_rim(edges), nearest_rim(faces))
        component, index = samples.place(numbers)
        super().__init__(component, list(index.T), factor)

    def _joined(self, edges: Factors, faces: Factors) -> tuple[np.ndarray, np.ndarray]:
        """(numbers, factors of Cb and Db) of all samples."""
        samples = self._samples
        live = ~self._metal.conducts(edges.number)
        table = Table(edges.number[live], 1.0 + edges.share[live] * (edges.value[live] - 1.0))
        about = samples.faces_about(table.number[table.value < 1.0]).ravel()
        number = np.unique(np.concatenate((faces.number, about[about >= 0])))
        round_it = samples.edges_round(number)
        round_it = np.where(self._metal.conducts(round_it), -1, round_it)
        before = np.where(round_it < 0, np.inf, table.get(round_it, 1.0))
        upright = np.where(round_it < 0, 1.0, Table(edges.number, edges.upright).get(round_it, 1.0)).min(axis=1)
        square, share = self._lengths(number)
        square *= 0.25 * self._light**2
        eased = Easing(upright, self._strength(number, 4.0 * square))
        bounded, value = face_factors(number, faces, before.min(axis=1, initial=np.inf), eased)
        carried = Table(round_it.ravel(), np.repeat(np.minimum(bounded, 1.0), 4), np.maximum)
        excess = eased.of(np.maximum(value - 1.0, 0.0)) / self._metal.opened(number)
        across, along = self._excess(excess, round_it, before, square, share)
        every = np.union1d(table.number, carried.number)
        strong = np.maximum(table.get(every, 1.0), carried.get(every, 0.0) + across.get(every, 0.0))
        strong += along.get(every, 0.0)
        found, factor = np.concatenate((every, number)), np.concatenate((1.0 / strong, value))
        order = np.argsort(found)
        order = order[factor[order] != 1.0]
        return found[order], factor[order]

    def _excess(
        self, excess: np.ndarray, round_it: np.ndarray, before: np.ndarray, square: np.ndarray, share: np.ndarray
    ) -> tuple[Table, Table]:
        """What edges owe to faces whose factor of 1/mu exceeds 1: as pairs with the larger factors of eps `before`, as
        others. `square`, `share`: see `_lengths`, the first times (c dt/2n)^2."""
        high = np.nonzero(excess > 0.0)[0]
        round_it, before = round_it[high].reshape(-1, 2, 2), before[high].reshape(-1, 2, 2)
        square, share, live = square[high], share[high], round_it >= 0
        count = live.sum(axis=2)
        least = before.min(axis=2)
        first = least >= (1.0 - TIE) * least.max(axis=1, keepdims=True)
        heavy = first & ~first.all(axis=1, keepdims=True)
        weight = np.minimum(2.0 * square, HEAVIEST)
        rest = 1.0 - (weight * count * heavy).sum(axis=1, keepdims=True)
        weight = np.where(heavy, weight, rest / np.maximum((count * ~heavy).sum(axis=1, keepdims=True), 1))
        owed = excess[high, None, None] * share * (square / weight)[:, :, None]
        owed = np.where(live, owed * self._metal.opened(round_it), 0.0)
        pairs = np.broadcast_to(first[:, :, None], live.shape)
        both = [Table(np.where(own, round_it, -1).ravel(), owed.ravel(), np.add) for own in (pairs, ~pairs)]
        return both[0], both[1]

    def _strength(self, faces: np.ndarray, light: np.ndarray) -> np.ndarray:
        """How near faces are to what the time step allows, against cubes'; `light`: (c dt/n d)^2 of their sides.

        Along the longest of the three cells fields hold together least.
        """
        component, index = self._samples.place(faces)
        across = np.empty(faces.size)
        for axis in range(3):
            own = np.nonzero(component == axis + 3)[0]
            across[own] = self._light**2 / self._samples.grid.dual(axis)[index[own, axis]] ** 2
        most = light.max(axis=1)
        return 9.0 * most**3 / np.minimum(light.min(axis=1), across)

    def _lengths(self, faces: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Of pairs of edges as in `edges_round`: (n, 2) one over the square of their distance (1/m^2), and (n, 2, 2)
        this distance over the dual length at each edge."""
        component, index = self._samples.place(faces)
        square, share = np.empty((faces.size, 2)), np.empty((faces.size, 2, 2))
        grid = self._samples.grid
        for axis in range(3):
            for pair, turned in ((0, -1), (1, 1)):
                own = np.nonzero((component + turned) % 3 == axis)[0]
                at = index[own, axis]
                length, dual = grid.primary(axis)[at], grid.dual(axis)
                square[own, pair] = 1.0 / length**2
                for by in (0, 1):
                    share[own, pair, by] = length / dual[at + by]
        return square, share


@dataclass(frozen=True)
class Easing:
    """What of a departure from 1 the samples beside a face make up for: all of it about slanting rims, less than that
    where rims run straight and it is small.

    `upright`: see `Factors`; `strength`: 1 in cubes at Courant's limit, see `RimFactors`.
    """

    upright: np.ndarray
    strength: np.ndarray

    def of(self, departure: np.ndarray) -> np.ndarray:
        """Of departures, which are not negative."""
        part = np.minimum(BORNE * self.strength * departure, 1.0)
        return departure * (1.0 - self.upright * (1.0 - part))


def face_factors(number: np.ndarray, faces: Factors, least: np.ndarray, eased: Easing) -> tuple[np.ndarray, np.ndarray]:
    """Factors of 1/mu of faces by number, as the proof of stability bounds them by the least factor of eps of their
    live edges, and as they are."""
    own, weight = Table(faces.number, faces.value), Table(faces.number, faces.share)
    wanted = np.where(np.isfinite(least), own.get(number, 1.0), 1.0)
    share = weight.get(number, 0.0)
    low = np.minimum(wanted, least)
    low += eased.upright * (np.minimum(least, 1.0) - low)
    high = low + np.maximum(1.0 - low, 0.0) - eased.of(np.maximum(1.0 - low, 0.0))
    return low + share * (wanted - low), high + share * (wanted - high)


def among(numbers: np.ndarray, parts: Iterable[Factors]) -> list[Factors]:
    """Some samples alone of parts."""
    return [Factors(*(column[np.isin(part.number, numbers)] for column in part)) for part in parts]


def apart_from(numbers: np.ndarray, parts: Iterable[Factors]) -> list[Factors]:
    """Parts without some samples."""
    return [Factors(*(column[~np.isin(part.number, numbers)] for column in part)) for part in parts]


def nearest(parts: Sequence[Factors]) -> Factors:
    """The samples of all parts by number; of several on one, the nearest to a rim."""
    return _nearest(parts)[0]


def nearest_rim(rims: Sequence[Factors]) -> Factors:
    """The samples of several rims, each once in each; those that feel more than one count as about slanting rims."""
    found, count = _nearest(rims)
    return found._replace(upright=np.where(count > 1, 0.0, found.upright))


def _nearest(parts: Sequence[Factors]) -> tuple[Factors, np.ndarray]:
    """(`nearest`, in how many places each sample was)."""
    if not parts:
        none = np.empty(0)
        return Factors(np.empty(0, dtype=np.int64), none, none, none, none), none
    number, distance, *others = (np.concatenate(column) for column in zip(*parts))
    order = np.lexsort((distance, number))
    order = order[number[order] >= 0]
    _, first, count = np.unique(number[order], return_index=True, return_counts=True)
    distance = distance[order]
    tied = distance <= np.repeat(distance[first] + TIE * np.abs(distance[first]), count)
    several = np.add.reduceat(tied.astype(np.int64), first) if first.size else first
    columns = [column[order] for column in others]
    for column in columns if (several > 1).any() else ():
        mean = np.add.reduceat(np.where(tied, column, 0.0), first) / several
        column[first] = np.where(several > 1, mean, column[first])
    return Factors(number[order][first], distance[first], *(column[first] for column in columns)), count
