"""Layers at a rank's cut faces that a second engine updates, so that messages leave while the rank's own one works.

Each cut face has a buffer: an engine over the outermost layers that neighbours hold, grown by as many layers on every
side. In a round of steps a thread of its own makes the same steps in it as the rank's engine, and what neighbours need
is packed from it. The rank's engine makes its whole box in one piece, as if nothing were exchanged. The layers are
computed twice, with the same bits (Kim and Park's host buffer; here a core takes the part of the host, and the other
cores, or a card, that of the device; on a card that makes its edges first, the buffers are on the card too).

A buffer takes all its states from the rank's engine at the start of a block of steps. From then on it gets what a rank
gets of its neighbours: towards other ranks from their messages, as they come, and towards the rank's own inside from
its engine, after the round.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import pairwise, product
from typing import TYPE_CHECKING

import numpy as np

from nearfield.engines.protocol import Face, Halves, LocalEngine, Message, Tables, Taking
from nearfield.entry.triples import triple
from nearfield.parallel.halo_sizes import needed
from nearfield.parallel.part import PlanPart, held_box, parted_rings
from nearfield.plan.boxes import Box
from nearfield.plan.plan import Plan
from nearfield.plan.sizes import LANES

if TYPE_CHECKING:
    from nearfield.parallel.phases import Axis
    from nearfield.parallel.timeline import Timeline

Faces = list[tuple[Box, frozenset[str] | None]]  # boxes, and the fields of each by name; None: all states
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


def beside(own: Box, held: Box) -> list[Box]:
    """What is held around a box: a piece for each way along x, y, z and between them."""
    sides = [
        [(low, own_low), (own_low, own_high), (own_high, high)]
        for low, own_low, own_high, high in zip(held.lower, own.lower, own.upper, held.upper)
    ]
    return [
        Box.between(ends)
        for ends in product(*sides)
        if ends != tuple(zip(own.lower, own.upper)) and all(low < high for low, high in ends)
    ]


class Joined:
    """Several messages as one, in their order: all their parts."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self._messages = messages
        self.parts = [part for each in messages for part in each.parts]

    def pack(self) -> None:
        """Copy the states into the parts."""
        for message in self._messages:
            message.pack()

    def unpack(self) -> None:
        """Copy the parts into the states."""
        for message in self._messages:
            message.unpack()

    def settle(self) -> None:
        """Wait until devices have packed or unpacked."""
        for message in self._messages:
            message.settle()


def pass_on(there: Message, here: Message, received: bool = False) -> None:
    """Copy states from one engine to another: what a message packs there, or has received."""
    if isinstance(here, Taking) and here.take(there, received):
        return
    if not received:
        there.pack()
    np.copyto(here.buffer, there.buffer)
    here.unpack()


class Layers:
    """The engine of one cut face. `make` makes it of a plan; `device`: the rank's own, whose part is `part`."""

    def __init__(self, own: Box, depth: int, part: PlanPart, device: Halves, make: MakeEngine, axes_of: AxesOf) -> None:
        whole = part.whole
        silent = replace(whole, terms=tuple(term for term in whole.terms if not term.recorded))
        self.part = PlanPart(silent, own, held_box(own, depth, whole))
        corner = self.part.own_here.lower  # of what a buffer holds all else is written anew in each round, as halos are
        engine, self.engine = make(self.part.plan, Box(corner, triple(n + 1 for n in corner)))
        self._axes, self._depth, self._of = axes_of(self.part, depth), depth, part
        self._device = device
        self._received: list[tuple[Box, Message, Message]] = []
        self._all = self._copy([(box, None) for box in on_one_side(self.part.held, whole)])
        self.reset = engine.reset

    def message(self, faces: Faces, direct: bool = False) -> Message:
        """Boxes of its samples, as the rank's engine has them in a message."""
        return self.engine.message([Face(self.part.here(box), fields) for box, fields in faces], direct)

    def _copy(self, faces: Faces) -> Callable[[], None]:
        """What copies boxes from the rank's engine."""
        if not faces:
            return lambda: None
        there = self._device.message([Face(self._of.here(box), fields) for box, fields in faces])
        return partial(pass_on, there, self.message(faces))

    def receive(self, box: Box, fields: frozenset[str] | None, received: Message) -> None:
        """From now on take a box of other ranks' samples from the rank's message of them, where it has use for all."""
        pieces = beside(self.part.own, self.part.held)
        within = any(each.intersection(box) == box for each in pieces)
        if within and needed(self._depth, self.part.own.sides(box)) == fields:
            self._received.append((box, self.message([(box, fields)]), received))

    def connect(self) -> None:
        """Settle how what lies around its own layers comes: of other ranks by messages, else from the rank's engine."""
        inner: Faces = []
        outer: Faces = []
        own, whole = self.part.own, self.part.whole
        for around in beside(own, self.part.held):
            fields = needed(self._depth, own.sides(around))
            for box in on_one_side(around, whole):
                common = (box.intersection(taken) for taken, _, _ in self._received)
                if sum(each.size for each in common if each) < box.size:
                    (inner if self._of.own.intersection(box) == box else outer).append((box, fields))
        self.by_messages_alone = not outer
        self.take_inside, self.take_outside = self._copy(inner), self._copy(outer)

    def take_messages(self) -> None:
        """Take what other ranks have sent."""
        for _, message, received in self._received:
            pass_on(received, message, received=True)

    def begin(self, steps: int, excitation: str, tables: Tables) -> None:
        """Begin a block of steps, with the tables of the whole plan."""
        self.engine.begin(steps, excitation, False, self.part.tables(tables, []))

    def take_all(self) -> None:
        """Take all states of the rank's engine."""
        self._all()

    def run(self, first: int, last: int) -> None:
        """Make steps [first, last) of the block."""
        self.engine.refreshed(first)
        self.engine.run(first, last, tuple(axis.whole(first) for axis in self._axes))


def confine(processors: Sequence[int]) -> None:
    """Keep the calling thread on these processors, where the system has a way to."""
    if processors and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, processors)


class HostBuffers:
    """The buffers of a rank, on a thread of their own on these processors.

    `message` packs what neighbours need from them once `done` is true; `receive` and `connect` say what they get.
    `name`: of what they do, in a timeline. `direct`: messages leave from the memory of their devices.
    """

    def __init__(
        self, layers: Sequence[Layers], processors: Sequence[int], timeline: Timeline | None, name: str, direct: bool
    ) -> None:
        self._layers, self._timeline, self._name, self._direct = layers, timeline, name, direct
        self._thread = ThreadPoolExecutor(1, "host buffer", initializer=confine, initargs=(processors,))
        self._steps: Future[None] = Future()
        self._new = True  # a block of steps has begun, and nothing was taken yet

    def message(self, faces: Faces) -> Joined:
        """A message of boxes of the rank's own samples, each from the first buffer that has it."""
        return Joined([self._holder(box).message([(box, fields)], self._direct) for box, fields in faces])

    def _holder(self, box: Box) -> Layers:
        return next(each for each in self._layers if each.part.own.intersection(box) == box)

    def receive(self, faces: Faces, messages: Sequence[Message]) -> None:
        """From now on take what other ranks send: boxes of their samples, and the rank's message of each."""
        for (box, fields), received in zip(faces, messages):
            for each in self._layers:
                each.receive(box, fields, received)

    def connect(self) -> None:
        """All messages were told of by `receive`."""
        for each in self._layers:
            each.connect()
        self._by_messages_alone = all(each.by_messages_alone for each in self._layers)

    def begin(self, steps: int, excitation: str, tables: Tables) -> None:
        """Begin a block of steps, with the tables of the whole plan."""
        self._new = True
        for each in self._layers:
            each.begin(steps, excitation, tables)

    def take_messages(self) -> bool:
        """Take what has come of other ranks; whether buffers have all that they need for the next steps then."""
        if not self._new:
            for each in self._layers:
                each.take_messages()
        return self._by_messages_alone and not self._new

    def take_outside(self) -> None:
        """Take what is still missing from the rank's engine, whose halos are valid."""
        for each in self._layers:
            (each.take_all if self._new else each.take_outside)()
        self._new = False

    def take_inside(self) -> None:
        """Take what the rank's engine has made beside the layers."""
        for each in self._layers:
            each.take_inside()

    def start(self, first: int, last: int) -> None:
        """Make steps [first, last) while the caller goes on."""
        self._steps = self._thread.submit(self._run, first, last)

    def _run(self, first: int, last: int) -> None:
        begun = time.perf_counter()
        for each in self._layers:
            each.run(first, last)
        if self._timeline:
            self._timeline.add(self._name, begun, "buffer", (first, last))

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
