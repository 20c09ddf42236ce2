"""Layers at a rank's cut faces that a second engine updates, so that messages leave while the rank's own one works.

Each cut face has a buffer: an engine over the outermost layers that neighbours hold, grown by as many layers on every
side. Before a round of steps its states are copied from the rank's engine; a thread of its own makes the same steps in
it, and what neighbours need is packed from it. The rank's engine makes its whole box in one piece, as if nothing were
exchanged. The layers are computed twice, with the same bits (Kim and Park's host buffer; here a core takes the part of
the host, and the other cores that of the device).
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise, product
from typing import TYPE_CHECKING

import numpy as np

from nearfield.engines.protocol import Face, Halves, LocalEngine, Message, Tables
from nearfield.entry.triples import triple
from nearfield.parallel.part import PlanPart, held_box, parted_rings
from nearfield.plan.boxes import Box
from nearfield.plan.plan import Plan
from nearfield.plan.sizes import LANES

if TYPE_CHECKING:
    from nearfield.parallel.phases import Axis
    from nearfield.parallel.timeline import Timeline

MakeEngine = Callable[[Plan, Box], tuple[LocalEngine, Halves]]  # of a plan and the box in it that is not a halo
AxesOf = Callable[[PlanPart, int], "tuple[Axis, Axis, Axis]"]


def cut_layers(own: Box, depth: int, plan: Plan) -> list[Box]:
    """The outermost layers of a rank's box at each of its cut faces, as thick as its neighbours' halos."""
    parted, found = parted_rings(own, plan), []
    for axis in range(3):
        layers = -(-depth // LANES) * LANES if axis == plan.unit_axis else depth
        low, high = own.lower[axis], own.upper[axis]
        if low > 0 or parted[axis]:
            found.append(restricted(own, axis, low, min(high, low + layers)))
        if high < plan.active[axis] or parted[axis]:
            found.append(restricted(own, axis, max(low, high - layers), high))
    return found


def restricted(box: Box, axis: int, low: int, high: int) -> Box:
    """A box between other ends along one axis."""
    ends = list(zip(box.lower, box.upper))
    ends[axis] = (low, high)
    return Box.between(ends)


def on_one_side(box: Box, plan: Plan) -> list[Box]:
    """A box cut where it passes the ends of an axis that closes on itself: pieces that are stored in one piece each."""
    cuts = [
        sorted({low, high, *(end for end in (0, plan.active[axis]) if low < end < high)})
        for axis, (low, high) in enumerate(zip(box.lower, box.upper))
    ]
    return [Box.between(ends) for ends in product(*(list(pairwise(each)) for each in cuts))]


class Joined:
    """Several messages as one, in their order."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self._messages = messages
        ends = np.cumsum([0, *(len(each.buffer) for each in messages)])
        self.buffer = np.zeros(ends[-1], np.uint8)
        self._parts = [self.buffer[low:high] for low, high in pairwise(ends)]

    def pack(self) -> None:
        """Copy the states into the buffer."""
        for message, part in zip(self._messages, self._parts):
            message.pack()
            np.copyto(part, message.buffer)

    def unpack(self) -> None:
        """Copy the buffer into the states."""
        for message, part in zip(self._messages, self._parts):
            np.copyto(message.buffer, part)
            message.unpack()


class Layers:
    """The engine of one cut face. `make` makes it of a plan; `device`: the rank's own, whose part is `part`."""

    def __init__(self, own: Box, depth: int, part: PlanPart, device: Halves, make: MakeEngine, axes_of: AxesOf) -> None:
        whole = part.whole
        silent = replace(whole, terms=tuple(term for term in whole.terms if not term.recorded))
        self.part = PlanPart(silent, own, held_box(own, depth, whole))
        corner = self.part.own_here.lower  # of what a buffer holds all else is written anew in each round, as halos are
        engine, self.engine = make(self.part.plan, Box(corner, triple(n + 1 for n in corner)))
        self._axes = axes_of(self.part, depth)
        self._columns = [whole.column(waveform) for waveform in self.part.plan.waveforms] or [0]
        self._waves = [whole.wave(wave) for wave in self.part.plan.waves]
        boxes = on_one_side(self.part.held, whole)
        self._here = self.engine.message([Face(self.part.here(box)) for box in boxes])
        self._there = device.message([Face(part.here(box)) for box in boxes])

        self.reset = engine.reset

    def begin(self, steps: int, excitation: str, tables: Tables) -> None:
        """Begin a block of steps."""
        electric, magnetic = (np.ascontiguousarray(t[:, self._columns]) for t in (tables.electric, tables.magnetic))
        waves = [tables.waves[n] for n in self._waves]
        self.engine.begin(steps, excitation, False, Tables(electric, magnetic, [], waves))

    def take(self, first: int) -> None:
        """Take the states of the rank's engine, valid before step `first` of the block."""
        self._there.pack()
        np.copyto(self._here.buffer, self._there.buffer)
        self._here.unpack()
        self.engine.refreshed(first)

    def run(self, first: int, last: int) -> None:
        """Make steps [first, last) of the block."""
        self.engine.run(first, last, tuple(axis.whole(first) for axis in self._axes))


def confine(processors: Sequence[int]) -> None:
    """Keep the calling thread on these processors, where the system has a way to."""
    if processors and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, processors)


class HostBuffers:
    """The buffers of a rank, on a thread of their own on these processors.

    `message` packs what neighbours need from them once `done` is true.
    """

    def __init__(self, layers: Sequence[Layers], processors: Sequence[int], timeline: Timeline | None) -> None:
        self._layers, self._timeline = layers, timeline
        self._thread = ThreadPoolExecutor(1, "host buffer", initializer=confine, initargs=(processors,))
        self._steps: Future[None] = Future()

    def message(self, faces: Sequence[tuple[Box, frozenset[str] | None]]) -> Message:
        """A message of boxes of the rank's own samples, each from the first buffer that has it."""
        return Joined([self._face(box, fields) for box, fields in faces])

    def _face(self, box: Box, fields: frozenset[str] | None) -> Message:
        layers = next(each for each in self._layers if each.part.own.intersection(box) == box)
        return layers.engine.message([Face(layers.part.here(box), fields)])

    def begin(self, steps: int, excitation: str, tables: Tables) -> None:
        """Begin a block of steps, with the tables of the whole plan."""
        for each in self._layers:
            each.begin(steps, excitation, tables)

    def start(self, first: int, last: int) -> None:
        """Take the states, and make steps [first, last) while the caller goes on."""
        for each in self._layers:
            each.take(first)
        self._steps = self._thread.submit(self._run, first, last)

    def _run(self, first: int, last: int) -> None:
        begun = time.perf_counter()
        for each in self._layers:
            each.run(first, last)
        if self._timeline:
            self._timeline.add("host buffer", begun, "buffer", (first, last))

    @property
    def done(self) -> bool:
        """Whether the steps were made."""
        return self._steps.done()

    def wait(self) -> None:
        """Wait until they are. Error: what ended them."""
        self._steps.result()

    def end(self) -> None:
        """End the block of steps."""
        for each in self._layers:
            each.engine.end()

    def reset(self) -> None:
        """Back to the first step."""
        for each in self._layers:
            each.reset()
