"""Factors of eps and 1/mu about rims of sheets and corners of solids, joined so that the time step stays.

Faces that the singular field does not pass through count with the least factor of their live edges, edges along the rim
with what the faces about them ask: both change what the field's next term alone sees, but at corners and about slanting
rims. What faces ask: up to 1 no factor of 1/mu may exceed the factors of eps of the face's live edges (docs/method.md,
Thin wires). The excess over 1 is bounded face by face: by Cauchy's inequality, with weights w that add up to 1,

    (sum of four +-E/d)^2 <= sum of E^2/(d^2 w),       so that each edge owes (q - 1) (c dt/(2 n d))^2/w

times its volume in the face and over the open part of the face. Of the pair of edges across the rim, whose eps exceeds
1 by as much as q, w takes what they can bear; the pair along it shares the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from nearfield.metal.patches import DriveFactors
from nearfield.metal.sample_numbers import SampleNumbers
from nearfield.metal.thin_wires import Table

HEAVIEST = 0.25  # weight of an edge of the first pair: half is left to the other


class Factors(NamedTuple):
    """Factors of samples: their numbers, distances from the rim (m), factors of eps or 1/mu, and the part of the sample
    that the singular field sees, 0 along the rim and 1 across it."""

    number: np.ndarray
    distance: np.ndarray
    value: np.ndarray
    share: np.ndarray


class MetalSamples(Protocol):
    """What metal makes of samples by number, -1 for what lies outside."""

    def conducts(self, numbers: np.ndarray) -> np.ndarray:
        """Which edges it keeps at zero."""

    def opened(self, numbers: np.ndarray) -> np.ndarray:
        """Open fractions of edges and faces."""


class RimFactors(DriveFactors):
    """Factors of Cb and Db about rims and corners, found by plane.

    `edges` and `faces` by the rim that they belong to; of several on one sample the nearest counts. `metal`: what is
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
        self.found = numbers, factor = self._joined(nearest(edges), nearest(faces))
        component, index = samples.place(numbers)
        super().__init__(component, list(index.T), factor)

    def _joined(self, edges: Factors, faces: Factors) -> tuple[np.ndarray, np.ndarray]:
        """(numbers, factors of Cb and Db) of all samples."""
        samples = self._samples
        live = ~self._metal.conducts(edges.number)
        table = Table(edges.number[live], 1.0 + edges.share[live] * (edges.value[live] - 1.0))
        about = samples.faces_about(table.number[table.value < 1.0]).ravel()
        number = np.unique(np.concatenate((faces.number, about[about >= 0])))
        own, weight = Table(faces.number, faces.value), Table(faces.number, faces.share)
        round_it = samples.edges_round(number)
        round_it = np.where(self._metal.conducts(round_it), -1, round_it)
        before = np.where(round_it < 0, np.inf, table.get(round_it, 1.0))
        least = before.min(axis=1, initial=np.inf)
        wanted, share = own.get(number, 1.0), weight.get(number, 0.0)
        wanted = np.where(np.isfinite(least), wanted, 1.0)
        low = np.minimum(wanted, least)
        value = low + share * (wanted - low)
        carried = Table(round_it.ravel(), np.repeat(np.minimum(value, 1.0), 4), np.maximum)
        across, along = self._excess(number, value, round_it, before)
        every = np.union1d(table.number, carried.number)
        strong = np.maximum(table.get(every, 1.0), carried.get(every, 0.0) + across.get(every, 0.0))
        strong += along.get(every, 0.0)
        found, factor = np.concatenate((every, number)), np.concatenate((1.0 / strong, value))
        order = np.argsort(found)
        order = order[factor[order] != 1.0]
        return found[order], factor[order]

    def _excess(
        self, number: np.ndarray, value: np.ndarray, round_it: np.ndarray, before: np.ndarray
    ) -> tuple[Table, Table]:
        """What edges owe to faces whose factor of 1/mu exceeds 1: as pairs with the larger factors of eps `before`, as
        others."""
        high = np.nonzero(value > 1.0)[0]
        round_it, before = round_it[high].reshape(-1, 2, 2), before[high].reshape(-1, 2, 2)
        live = round_it >= 0
        count = live.sum(axis=2)
        square, share = self._lengths(number[high])
        square *= 0.25 * self._light**2
        first = np.argmax(before.min(axis=2), axis=1)[:, None] == np.arange(2)
        weight = np.minimum(2.0 * square, HEAVIEST)
        rest = 1.0 - (weight * count * first).sum(axis=1, keepdims=True)
        weight = np.where(first, weight, rest / np.maximum(count, 1))
        opened = self._metal.opened(number[high])
        owed = ((value[high] - 1.0) / opened)[:, None, None] * share * (square / weight)[:, :, None]
        owed = np.where(live, owed * self._metal.opened(round_it), 0.0)
        pairs = np.broadcast_to(first[:, :, None], live.shape)
        both = [Table(np.where(own, round_it, -1).ravel(), owed.ravel(), np.add) for own in (pairs, ~pairs)]
        return both[0], both[1]

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


def nearest(parts: Sequence[Factors]) -> Factors:
    """The samples of all parts by number; of several on one, the nearest to a rim."""
    if not parts:
        none = np.empty(0)
        return Factors(np.empty(0, dtype=np.int64), none, none, none)
    number, distance, value, share = (np.concatenate(column) for column in zip(*parts))
    order = np.lexsort((distance, number))
    order = order[number[order] >= 0]
    order = order[np.unique(number[order], return_index=True)[1]]
    return Factors(number[order], distance[order], value[order], share[order])
