"""What ranks exchange: states of the engine that lie in the halo of another, edges and corners included.

A rank's halo is held by other ranks as their own. So a message is an intersection of two boxes: what I own and another
holds. Of a halo of several layers all goes that the engine's registry of states has there: fields, psi of the CPML,
memories of poles and circuits.

One layer needs tangential H alone, two components a face. The holder makes E in the layer above as its owner does,
with its psi and circuits, ever since the first step: E reads H at its own index and the one below. The H normal to the
face it makes too, from the E of that layer. The rest of the H there reads E one layer further, which is not held, and
comes from the owner.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from nearfield.engines.cpu.engine import CpuEngine
from nearfield.parallel.part import PlanPart, image_shifts
from nearfield.plan.boxes import Box
from nearfield.plan.sizes import LANES

Span = tuple[int, int]


def views(engine: CpuEngine, box: Box, wanted: Callable[[str], bool]) -> Iterator[np.ndarray]:
    """All samples and psi of the box in those of the engine's arrays that are wanted, writable; always in one order."""
    plan, axes = engine.plan, engine.plan.storage_axes
    a, b, c = ((box.lower[axis], box.upper[axis]) for axis in axes)
    blocks = (c[0] // LANES, -(-c[1] // LANES))
    slabs = [slab_spans(plan.active[axis], plan.cpml[axis]) for axis in axes]
    for name, (_, array) in engine.states().items():
        if not wanted(name):
            continue
        if "psi" not in name:
            yield array[slice(*a), slice(*b), slice(*c)]
        elif name.endswith("a"):
            yield from (array[planes, slice(*b), slice(*blocks)] for planes in stored(a, slabs[0]))
        elif name.endswith("b"):
            yield from (array[slice(*a), planes, slice(*blocks)] for planes in stored(b, slabs[1]))
        else:
            yield from (array[slice(*a), slice(*b), held] for held in stored(blocks, in_blocks(slabs[2])))


def slab_spans(length: int, slab: Span) -> tuple[Span, Span]:
    """Planes of the CPML at either end of an axis."""
    return (0, slab[0]), (length - slab[1], length)


def in_blocks(spans: tuple[Span, Span]) -> tuple[Span, Span]:
    """The blocks of 16 cells that hold them, as core/layout.hpp counts: none twice."""
    (_, low), (high, end) = spans
    count = -(-end // LANES)
    lower = min(count, -(-low // LANES))
    return (0, lower), (max(lower, high // LANES if high < end else count), count)


def stored(span: Span, slabs: tuple[Span, Span]) -> Iterator[slice]:
    """Where the part of a span that lies in slabs is stored, which follow each other without a gap."""
    before = 0
    for first, last in slabs:
        begin, end = max(span[0], first), min(span[1], last)
        if begin < end:
            yield slice(begin - first + before, end - first + before)
        before += last - first


def needed(depth: int, sides: Sequence[int]) -> Callable[[str], bool]:
    """Which states of a part of a halo its holder cannot make, for `depth` steps.

    sides: of the part, along planes, rows and samples: -1 below the holder's own box, 0 beside it, 1 above.
    """
    if depth > 1:
        return lambda name: True
    off = [axis for axis in range(3) if sides[axis]]
    tangential = {f"H{axis}" for axis in range(3) if off != [axis]}
    return lambda name: name.removeprefix("imaginary ") in tangential


class Region:
    """One message: boxes of the engine's states as bytes, each with its sides (`needed`)."""

    def __init__(
        self, engine: CpuEngine, part: PlanPart, boxes: Sequence[tuple[Box, Sequence[int]]], depth: int
    ) -> None:
        self._engine, self._views, self._boxes, circuits = engine, [], [], []
        for box, sides in boxes:
            here = part.here(box)
            self._boxes.append(here)
            self._views += views(engine, here, needed(depth, sides))
            chosen = [n for n, edge in enumerate(engine.circuits) if depth > 1 and holds(here, edge[1:])]
            # in an order on which both sides agree, whatever their own coordinates are
            circuits += sorted(chosen, key=lambda n: engine.circuits[n])
        self._circuits = np.array(circuits, np.int64)
        self._fields = sum(view.nbytes for view in self._views)
        size = np.dtype(engine.plan.dtype).itemsize
        self._pole_bytes = [size * engine.poles.count(box) if depth > 1 else 0 for box in self._boxes]
        self._poles = sum(self._pole_bytes)
        self.buffer = np.zeros(self._fields + self._poles + 16 * len(self._circuits), np.uint8)

    def _parts(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        at = 0
        for view in self._views:
            yield view, self.buffer[at : at + view.nbytes].view(view.dtype).reshape(view.shape)
            at += view.nbytes

    def _pole_values(self) -> Iterator[tuple[Box, np.ndarray]]:
        at = self._fields
        for box, count in zip(self._boxes, self._pole_bytes):
            if count:
                yield box, self.buffer[at : at + count].view(self._engine.plan.dtype)
            at += count

    def _circuit_values(self) -> np.ndarray:
        return self.buffer[self._fields + self._poles :].view(float)

    def pack(self) -> None:
        """Copy the states into the buffer."""
        for view, place in self._parts():
            np.copyto(place, view)
        for box, values in self._pole_values():
            self._engine.poles.pack(box, values)
        if len(self._circuits):
            self._circuit_values()[:] = self._engine.circuit_states()[self._circuits].ravel()

    def unpack(self) -> None:
        """Copy the buffer into the states."""
        for view, place in self._parts():
            np.copyto(view, place)
        for box, values in self._pole_values():
            self._engine.poles.unpack(box, values)
        if len(self._circuits):
            self._engine.set_circuit_states(self._circuits, self._circuit_values().reshape(-1, 2))


def holds(box: Box, index: tuple[int, ...]) -> bool:
    """Whether a sample lies in a box."""
    return all(low <= n < high for low, n, high in zip(box.lower, index, box.upper))


@dataclass(frozen=True)
class Message:
    """What goes to another rank, and what comes from it; `late`: it takes in rows from end to end."""

    rank: int
    out: Region | None
    into: Region | None
    late: bool


def messages(
    engine: CpuEngine, part: PlanPart, rank: int, own: list[Box], held: list[Box], depth: int
) -> list[Message]:
    """The messages between a rank and all others, whose own and held boxes are given.

    Of a rank that lies beyond the ends of a closed axis, images are held; both sides list them in one order.
    """
    unit, axes = part.whole.unit_axis, part.whole.storage_axes
    images = image_shifts(own[rank], part.whole)

    def common(holder: int, owner: int) -> list[tuple[Box, list[int], tuple[int, ...]]]:
        """What one holds of another, in the holder's coordinates, where it lies of the holder, and its shift."""
        boxes = [(held[holder].intersection(own[owner].moved(shift)), shift) for shift in images]
        return [(box, [own[holder].sides(box)[axis] for axis in axes], shift) for box, shift in boxes if box]

    def region(boxes: list[tuple[Box, list[int]]]) -> Region | None:
        return Region(engine, part, boxes, depth) if boxes else None

    found = []
    for other in range(len(own)):
        if other == rank:
            continue
        out = region([(box.moved([-n for n in shift]), sides) for box, sides, shift in common(other, rank)])
        into = region([(box, sides) for box, sides, _ in common(rank, other)])
        if out or into:
            late = own[other].lower[unit] != own[rank].lower[unit]
            found.append(Message(other, out, into, late))
    return found
