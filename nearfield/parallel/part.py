"""The part of a plan that one rank holds: its own box and its halos, in coordinates of its own.

Where ranks meet along an axis that closes on itself, halos reach over its ends: into images of the box, whole periods
away, as a rank holds them of its neighbours there. With a phase, images are held as their owners have them, not turned,
and the engine's own seam turns what passes it: a rank makes the same bits as one that goes all round.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from operator import add
from typing import Any

import numpy as np

from nearfield.engines.protocol import Tables
from nearfield.entry.triples import Triple, triple
from nearfield.plan.boxes import Box
from nearfield.plan.plan import Plan
from nearfield.plan.planes import Coefficients, PlaneCoefficients, PolePlane
from nearfield.plan.sizes import LANES
from nearfield.plan.term import Term


def held_box(own: Box, depth: int, plan: Plan) -> Box:
    """A rank's box with its halos: `depth` layers, along the rows whole blocks of 16."""
    rows = -(-depth // LANES) * LANES
    layers = [(rows, rows) if axis == plan.unit_axis else (depth, depth) for axis in range(3)]
    room = [(-n, 2 * n) if ring else (0, n) for ring, n in zip(parted_rings(own, plan), plan.active)]
    return own.grown(layers, Box.between(room))


def parted_rings(own: Box, plan: Plan) -> tuple[bool, bool, bool]:
    """Axes that close on themselves and that ranks share."""
    ends = zip(plan.phases, own.lower, own.upper, plan.active)
    return triple(phase is not None and (low, high) != (0, n) for phase, low, high, n in ends)


def image_shifts(own: Box, plan: Plan) -> list[Triple]:
    """Shifts of the images that a rank may hold of a sample: whole periods along parted rings, (0, 0, 0) first."""
    x, y, z = ((0, n, -n) if ring else (0,) for ring, n in zip(parted_rings(own, plan), plan.active))
    return list(product(x, y, z))


@dataclass(frozen=True)
class AxisPart:
    """The held samples along an axis of `period` samples: `lower` to `upper`, images past its ends included.

    Stored in this order; with a `gap`, from the seam on, and what lies before the seam follows from the gap on.
    """

    lower: int
    upper: int
    period: int
    gap: int | None = None

    @classmethod
    def of(cls, plan: Plan, axis: int, held: Box) -> AxisPart:
        """The part of a held box, which has the seam of a phase within it where it reaches over an end."""
        lower, upper, period = held.lower[axis], held.upper[axis], plan.active[axis]
        gap = upper if lower < 0 else upper - period if upper > period else None
        return cls(lower, upper, period, gap if plan.phases[axis] else None)

    @property
    def length(self) -> int:
        """Samples held."""
        return self.upper - self.lower

    def place(self, samples: Any) -> Any:
        """Places at which samples from `lower` to below `upper` are stored."""
        return (samples - self.lower + (self.gap or 0)) % self.length

    def segments(self, first: int, last: int) -> Iterator[tuple[int, int]]:
        """The samples of one cell that those stored from `first` to `last` are, or repeat, as ranges in order."""
        gap = self.gap or 0
        for begin, end, shift in ((first, min(last, gap), self.upper), (max(first, gap), last, self.lower)):
            while begin < end:
                low = (begin - gap + shift) % self.period
                count = min(self.period - low, end - begin)
                yield low, low + count
                begin += count

    @cached_property
    def samples(self) -> np.ndarray:
        """Samples of the first cell that those stored are, or repeat, in their order."""
        return np.concatenate([np.arange(*ends) for ends in self.segments(0, self.length)])


@dataclass(frozen=True)
class PlanPart:
    """A plan cut down to what a rank holds. Sources and circuits act in halos too; recorders keep to the own box."""

    whole: Plan
    own: Box
    held: Box

    @cached_property
    def axes(self) -> tuple[AxisPart, AxisPart, AxisPart]:
        """The samples held along each axis."""
        return triple(AxisPart.of(self.whole, axis, self.held) for axis in range(3))

    @property
    def own_here(self) -> Box:
        """The own box in the part's coordinates."""
        return self.here(self.own)

    def here(self, box: Box) -> Box:
        """A box, on one side of all seams, in the part's coordinates: where it is stored."""
        lower = triple(int(axis.place(n)) for axis, n in zip(self.axes, box.lower))
        return Box(lower, triple(map(add, lower, box.shape)))

    def there(self, box: Box) -> Box:
        """A box of the part's coordinates, on one side of all seams, in those of the whole."""
        ends = zip(self.axes, box.lower, box.upper)
        return Box.between(next(axis.segments(low, high)) for axis, low, high in ends)

    @cached_property
    def plan(self) -> Plan:
        """The plan of the held box."""
        whole, gaps = self.whole, triple(axis.gap for axis in self.axes)
        opened = [ring and gap is None for ring, gap in zip(parted_rings(self.own, whole), gaps)]
        closed = [phase is not None for phase in whole.phases]
        return replace(
            whole,
            active=self.held.shape,
            cpml=tuple(self._slabs(axis) for axis in range(3)),
            profiles=triple(p.cut(axis.samples) for p, axis in zip(whole.profiles, self.axes)),
            coefficients=CoefficientsPart(whole.coefficients, self.axes),
            rows_axis=whole.unit_axis,
            blocks_axis=whole.weighed_axis,
            gaps=gaps,
            phases=triple(None if ends else phase for ends, phase in zip(opened, whole.phases)),
            terms=tuple(term for _, term in self._terms),
            coupling=whole.coupling and whole.coupling.part(self.held, closed),
        )

    def tables(self, whole: Tables, phasors: list[np.ndarray]) -> Tables:
        """The part's tables, of those of the whole plan; `phasors`: its Fourier recorders'."""
        columns = [self.whole.column(waveform) for waveform in self.plan.waveforms] or [0]
        electric, magnetic = (np.ascontiguousarray(each[:, columns]) for each in (whole.electric, whole.magnetic))
        waves = [whole.waves[self.whole.wave(wave)] for wave in self.plan.waves]
        return Tables(electric, magnetic, phasors, waves)

    def _slabs(self, axis: int) -> tuple[int, int]:
        low, high = self.whole.cpml[axis]
        if not low and not high:
            return 0, 0
        begin, end = self.held.lower[axis], self.held.upper[axis]
        in_low = max(0, min(low, end) - begin)
        return in_low, max(0, end - max(self.whole.active[axis] - high, begin + in_low))

    def own_box(self, box: Box) -> Box | None:
        """The rank's own samples of a box, in coordinates of the part."""
        own = self.own.intersection(box)
        return own and self.here(own)

    def own_samples(self, index: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Numbers (m,) of the rank's own among samples (3, n), and their places (3, m) in the part."""
        return self._places(index, self.own)

    def held_samples(self, index: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Numbers and places of own samples and halos; a sample comes once for each of its periodic images there."""
        shifts = [np.array(shift)[:, None] for shift in image_shifts(self.own, self.whole)]
        images = [self._places(index + shift, self.held) for shift in shifts]
        which, places = (np.concatenate(parts, axis=-1) for parts in zip(*images))
        return which, places

    def reach(self, box: Box) -> Box | None:
        """A box about all samples of a box that are held: of its images at both ends of a parted ring, the whole."""
        shifts = image_shifts(self.own, self.whole)
        found = [self.held.moved(tuple(-n for n in shift)).intersection(box) for shift in shifts]
        ends = [(each.lower, each.upper) for each in found if each]
        if not ends:
            return None
        lower, upper = zip(*ends)
        return Box(triple(map(min, zip(*lower))), triple(map(max, zip(*upper))))

    def _places(self, index: np.ndarray, box: Box) -> tuple[np.ndarray, np.ndarray]:
        inside = (index >= np.array(box.lower)[:, None]) & (index < np.array(box.upper)[:, None])
        which = np.flatnonzero(inside.all(axis=0))
        return which, np.stack([axis.place(n) for axis, n in zip(self.axes, index[:, which])])

    @cached_property
    def _terms(self) -> list[tuple[int, Term]]:
        """(number among the plan's terms, its part) of every term that has a part here."""
        parts = ((number, term.part(self)) for number, term in enumerate(self.whole.terms))
        return [(number, part) for number, part in parts if part is not None]

    @cached_property
    def recorders(self) -> list[int]:
        """The number among all recorders of the plan of each recorder of the part."""
        numbers = [n for n, term in enumerate(self.whole.terms) if term.recorded]
        return [numbers.index(n) for n, term in self._terms if term.recorded]


class CoefficientsPart:
    """The `Coefficients` of a part, as far as engines use them."""

    def __init__(self, whole: Coefficients, axes: Sequence[AxisPart]) -> None:
        self._whole, self._axes = whole, axes
        self._spans = [list(axis.segments(0, axis.length)) for axis in axes]

    def at(self, component: int, i: np.ndarray, j: np.ndarray, k: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(Ca, Cb) or (Da, Db) of single samples of the part."""
        return self._whole.at(component, *triple(axis.samples[n] for axis, n in zip(self._axes, (i, j, k))))

    def kept_numbers(self, i: np.ndarray, j: np.ndarray, k: np.ndarray) -> np.ndarray:
        """Numbers that poles keep in each cell of a lattice of the part."""
        return self._whole.kept_numbers(*triple(axis.samples[n] for axis, n in zip(self._axes, (i, j, k))))

    def planes(
        self, axis: int, lower: Triple | None = None, upper: Triple | None = None
    ) -> Iterator[PlaneCoefficients]:
        """All planes of the part along an axis, numbered from its first one; `lower` and `upper` are left out."""
        before, across = 0, ((axis + 1) % 3, (axis + 2) % 3)
        columns = len(self._spans[across[1]])
        for along in self._spans[axis]:
            blocks = []
            for spans in product(*(self._spans[a] for a in across)):
                ends = dict(zip((axis, *across), (along, *spans)))
                first, last = (triple(ends[a][end] for a in range(3)) for end in (0, 1))
                blocks.append(self._whole.planes(axis, first, last))
            for start, stop, planes in in_step(blocks):
                yield PlaneCoefficients(
                    before + start,
                    before + stop,
                    join([each.electric for each in planes], columns),
                    join([each.magnetic for each in planes], columns),
                    joined_poles(planes, columns),
                )
            before += along[1] - along[0]


def join(blocks: Sequence[np.ndarray], columns: int) -> np.ndarray:
    """One array of blocks in rows of so many."""
    if len(blocks) == 1:
        return blocks[0]
    rows = [np.concatenate(blocks[n : n + columns], axis=-1) for n in range(0, len(blocks), columns)]
    return np.concatenate(rows, axis=-2)


def joined_poles(planes: Sequence[PlaneCoefficients], columns: int) -> tuple[PolePlane, ...]:
    """The poles of all blocks; they weigh nothing in blocks without their medium."""
    if len(planes) == 1:
        return planes[0].poles
    poles = []
    for medium in sorted({pole.medium for each in planes for pole in each.poles}):
        without = [PolePlane(medium, np.ones(s), np.zeros(s)) for s in (each.electric[:, 0].shape for each in planes)]
        parts = [next((p for p in each.poles if p.medium == medium), none) for each, none in zip(planes, without)]
        stay, weight = (join([getattr(part, name) for part in parts], columns) for name in ("stay", "weight"))
        poles.append(PolePlane(medium, stay, weight))
    return tuple(poles)


def in_step(blocks: Sequence[Iterator[PlaneCoefficients]]) -> Iterator[tuple[int, int, list[PlaneCoefficients]]]:
    """(start, stop, coefficients of each block) of the same planes, which each block groups in its own way."""
    now = [next(block) for block in blocks]
    while True:
        start, stop = max(each.start for each in now), min(each.stop for each in now)
        yield start, stop, now
        following = [next(block, None) if each.stop == stop else each for each, block in zip(now, blocks)]
        now = [each for each in following if each is not None]
        if len(now) < len(blocks):
            return
