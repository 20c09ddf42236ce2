"""States of the CPML ("psi") as the core stores them: slabs without a gap between them, in blocks of 16 along rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from nearfield.engines.protocol import NamedState
from nearfield.engines.stored.turn import Turn
from nearfield.entry.triples import Triple, triple
from nearfield.plan.boxes import Box
from nearfield.plan.plan import Plan
from nearfield.plan.sizes import LANES

Span = tuple[int, int]

# The storage components whose differences along storage axis a, b, c have a psi, in the order of core/cpu/rows.cpp.
SOURCES = ((2, 1), (2, 0), (1, 0))


def slab_spans(length: int, slab: Span) -> tuple[Span, Span]:
    """Planes of the CPML at either end of an axis."""
    return (0, slab[0]), (length - slab[1], length)


def in_blocks(spans: tuple[Span, Span]) -> tuple[Span, Span]:
    """Blocks of 16 cells that hold the spans, none twice, as core/layout.hpp counts."""
    (_, low), (high, end) = spans
    count = -(-end // LANES)
    lower = min(count, -(-low // LANES))
    return (0, lower), (max(lower, high // LANES if high < end else count), count)


def stored(span: Span, slabs: tuple[Span, Span]) -> Iterator[slice]:
    """Where the parts of a span that lie in slabs are stored."""
    before = 0
    for first, last in slabs:
        begin, end = max(span[0], first), min(span[1], last)
        if begin < end:
            yield slice(begin - first + before, end - first + before)
        before += last - first


def psi_in(plan: Plan, name: str, array: np.ndarray, ends: list[Span]) -> Iterator[np.ndarray]:
    """Views of the psi of the storage axis that ends their name, in a box of these ends along storage axes."""
    position = "abc".index(name[-1])
    along = plan.storage_axes[position]
    slabs = slab_spans(plan.active[along], plan.cpml[along])
    first, last = ends[2]
    spans = [*ends[:2], (first // LANES, -(-last // LANES))]
    index = [slice(*span) for span in spans]
    for part in stored(spans[position], in_blocks(slabs) if position == 2 else slabs):
        yield array[tuple(part if n == position else each for n, each in enumerate(index))]


@dataclass(frozen=True)
class Slab:
    """One psi in one slab: (planes, rows, blocks, 16) of the core, `shift` in front of its place on the slab's axis."""

    cells: np.ndarray
    turn: Turn
    along: int
    shift: int
    box: Box

    def _place(self, box: Box) -> tuple[slice, slice, slice]:
        shift = [self.shift * (axis == self.along) for axis in range(3)]
        return triple(box.slices(triple(shift))[axis] for axis in self.turn.axes)

    def read(self, box: Box) -> np.ndarray:
        """Values of a part of the slab."""
        planes, rows, cells = self._place(box)
        part = self.cells[planes, rows]
        return self.turn.seen(part.reshape(*part.shape[:2], -1)[..., cells])

    def write(self, values: np.ndarray) -> None:
        """Write the whole slab."""
        planes, rows, cells = self._place(self.box)
        part = self.cells[planes, rows]
        flat = part.reshape(*part.shape[:2], -1)  # a copy: blocks of 16 do not follow each other
        flat[..., cells] = self.turn.stored(values)
        part[...] = flat.reshape(part.shape)


def slab_states(plan: Plan, kind: str, position: int, array: np.ndarray) -> Iterator[NamedState]:
    """The two psi of one half step in the slabs of one storage axis."""
    turn = Turn(plan.storage_axes)
    along = turn.axes[position]
    spans = slab_spans(plan.active[along], plan.cpml[along])
    between = [high - low for (_, low), (high, _) in (spans, in_blocks(spans))]
    shifts = (0, LANES * between[1] if position == 2 else between[0])
    for span, shift in zip(spans, shifts):
        box = Box(replaced((0, 0, 0), along, span[0]), replaced(plan.active, along, span[1]))
        for number, source in enumerate(SOURCES[position] if span[0] < span[1] else ()):
            slab = Slab(array[..., LANES * number : LANES * (number + 1)], turn, along, shift, box)
            name = f"{kind} d{'xyz'[turn.axes[source]]}/d{'xyz'[along]}"
            yield NamedState(name, box, slab.read, slab.write)


def replaced(given: Triple, axis: int, by: int) -> Triple:
    """The triple with another entry along one axis."""
    return triple(by if n == axis else each for n, each in enumerate(given))
