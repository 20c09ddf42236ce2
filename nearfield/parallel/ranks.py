"""One run on several ranks: each advances its own box, with halos as deep as several steps.

A rank makes as many steps between two exchanges as its halos are good for. It makes what its neighbours need first,
sends it, and makes the rest while the messages travel (phases.py). The messages are in halo.py, joint recordings in
recorded.py.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any, cast

import numpy as np

from nearfield.engines import ENGINES
from nearfield.engines.cpu.tiling import STEPWISE
from nearfield.engines.protocol import Block, Halves, LocalEngine, Placement, Sides, Stop, Tables, energy_of
from nearfield.entry.errors import ModelError
from nearfield.entry.triples import triple
from nearfield.machine.device_messages import DeviceMemory
from nearfield.machine.processors import bound
from nearfield.machine.transport import Channel, Ranks, Turns
from nearfield.parallel.halo import exchanges
from nearfield.parallel.host_buffer import HostBuffers, Layers, cut_layers
from nearfield.parallel.part import PlanPart, held_box, parted_rings
from nearfield.parallel.phases import Axis, SplitTiles, phases
from nearfield.parallel.recorded import RankRecorders
from nearfield.parallel.timeline import Timeline
from nearfield.plan.boxes import Arrangement, Box, Grouping
from nearfield.plan.excitations import Marches
from nearfield.plan.plan import Plan
from nearfield.plan.recorders import Recording

Make = Callable[..., LocalEngine]  # of a plan, and the options of an engine
POLL = 2.0  # ms between looks at messages under way; some libraries move them only when they are asked


class RankEngine:
    """An engine on several ranks, which all call the same methods in the same order.

    `local` is this rank's own: one of `ENGINES`, or what `engine` makes; `host` makes those of host buffers. `direct`:
    MPI takes the memory of its device, so that messages leave from there; those that host buffers make do not.
    `recordings()` and `gathered(component)` give their answers on rank 0, None elsewhere.
    """

    def __init__(
        self,
        plan: Plan,
        ranks: Ranks,
        arrangement: Arrangement,
        grouping: Grouping,
        depth: int,
        overlap: str = "split",
        engine: str | Make = "cpu",
        host: str | Make = "cpu",
        timeline: Timeline | None = None,
        direct: bool = False,
        **options: Any,
    ) -> None:
        self.plan, self.ranks, self.depth, self.overlap = plan, ranks, depth, overlap
        self.timeline, self._direct = timeline, direct and overlap != "host-buffer"
        self.boxes = grouping.boxes(arrangement)
        held = [held_box(box, depth, plan) for box in self.boxes]
        self._round = depth // plan.reach  # steps between two exchanges
        self.part = PlanPart(plan, self.boxes[ranks.rank], held[ranks.rank])
        here = {"domains": domains_here(arrangement, self.part), "own": self.part.own_here}
        self.local, self._halves = engine_for(engine, self.part.plan, **here, **options)
        buffers = {"host-buffer": host, "split": None if self._halves.divides else urgent(engine)}.get(overlap)
        self._buffers = self._host_buffers(buffers, options.get("placement")) if buffers else None
        self._marches = Marches(plan.waves, plan.dtype)  # rank 0's
        self._recorded = RankRecorders(plan, ranks, self.part, self.boxes)
        boxes = ranks.rank, self.boxes, held, depth
        message = functools.partial(self._halves.message, direct=self._direct)
        self._exchanges = list(exchanges(message, self.part, *boxes, self._buffers))
        if self._buffers:
            self._buffers.connect()
        self._early, self._late = (self._channel(late) for late in (False, True))
        self._axes = axes_of(self.part, depth)
        self._coming = False  # halos are under way
        self._unsent = False  # what was made for others early was not sent yet
        self._sent = 0.0  # when the messages under way were sent, of a rank that notes spans; 0: they have come
        self.seconds = {"compute": 0.0, "pack": 0.0, "wait": 0.0}
        self.exchanges = self.split_blocks = 0  # blocks of steps made in split tiles

    def _host_buffers(self, host: str | Make, placement: Placement | None = None) -> HostBuffers:
        """Buffers at the cut faces, made stepwise by a thread on processors that no engine uses, if there are any."""

        def make(plan: Plan, own: Box) -> tuple[LocalEngine, Halves]:
            return engine_for(host, plan, threads=1, tiling=STEPWISE, own=own)

        boxes = cut_layers(self.own, self.depth, self.plan)
        layers = [Layers(box, self.depth, self.part, self._halves, make, axes_of) for box in boxes]
        used = {processor for thread in placement.processors for processor in thread} if placement else set[int]()
        hosts, taken = self.ranks.hosts, self.ranks.everywhere(used)
        here = set[int]().union(*(each for host, each in zip(hosts, taken) if host == hosts[self.ranks.rank]))
        name = "host buffer" if self.overlap == "host-buffer" else "faces"
        own = sorted({*bound().processors} - here or used)
        return HostBuffers(layers, own, self.timeline, name, self._direct)

    def _channel(self, late: bool) -> Channel:
        some = [each for each in self._exchanges if each.late == late]
        out = [(each.rank, each.out.parts) for each in some if each.out]
        into = [(each.rank, each.into.parts) for each in some if each.into]
        return self.ranks.channel(out, into, Turns if self.overlap == "blocking" else Channel)

    @property
    def own(self) -> Box:
        return self.part.own

    @property
    def shared_sums(self) -> dict[int, list[np.ndarray]]:
        return self._recorded.sums

    @property
    def step(self) -> int:
        return self.local.step

    @property
    def direct(self) -> bool:
        """Whether messages leave from the memory of a device, and come into it."""
        parts = [part for each in self._exchanges for some in (each.out, each.into) if some for part in some.parts]
        return any(isinstance(part, DeviceMemory) for part in parts)

    def facts(self) -> dict[str, Any]:
        """Facts of this rank's engine; `bytes` of all ranks."""
        return self.local.facts() | {"bytes": sum(self.ranks.everywhere(self.local.facts()["bytes"]))}

    # ---- steps

    def advance(
        self, steps: int, excitation: str = "sources", weigh: bool = False, stop: Stop | None = None
    ) -> Block | None:
        """Make `steps` steps, or tell that some rank was asked to stop: None, after the steps were made."""
        if self.timeline:
            self.timeline.begin()
        tables = self._tables(steps, excitation)
        own = self.part.tables(tables, self._recorded.here(tables.phasors))
        self._halves.begin(steps, excitation, weigh, own)
        if self._buffers:
            self._buffers.begin(steps, excitation, tables)
        tiles = self.ranks.from_root(self.local.facts()["tile_depth"]) if self.overlap == "split" else 0
        if not (tiles > self._round and self._advance_in_split_tiles(steps, tiles)):
            advance = self._advance_beside_buffers if self._buffers else self._advance
            for first in range(0, steps, self._round):
                advance(first, min(steps, first + self._round))
        samples, digits = self._halves.end()
        if self._buffers:
            self._buffers.end()
        self._recorded.add(self.step, steps, samples)
        energy = energy_of(self.ranks.added(digits)) if weigh else -1.0
        return None if stop and self.ranks.any(stop()) else Block(energy)

    def _tables(self, steps: int, excitation: str) -> Tables:
        """Those of the whole plan, computed once, since exp and cos differ from processor to processor."""
        made = None
        if self.ranks.rank == 0:
            first = self.step + 1
            phasors = [self.plan.phasors(box, first, steps) for box in self.plan.dft_boxes]
            waves = self._marches.tables(first, steps, excitation)
            made = Tables(*self.plan.amplitudes(first, steps, excitation), phasors, waves)
        return cast(Tables, self.ranks.from_root(made))

    def _advance_in_split_tiles(self, steps: int, depth: int) -> bool:
        """All steps of the block in tiles of so many steps, deeper than halos; False where some rank is too thin."""
        count = -(-steps // depth)
        ends = [steps * n // count for n in range(count + 1)]
        planes = self.plan.storage_axes[0]
        blocks = [SplitTiles(self._axes, self.plan.unit_axis, planes, depth, *ends_of) for ends_of in pairwise(ends)]
        if not all(self.ranks.everywhere(blocks[0].fits())):
            return False
        slices: list[tuple[int, int, Sides]] = []  # of the core of the block before
        for block in blocks:
            rounds = range(block.first, block.last, self._round)
            for number, first in enumerate(rounds):
                last = min(block.last, first + self._round)
                self._receive(first)
                for region in block.wedge(first):
                    self._run(first, last, region, "faces")
                self._early.expect()
                self._pack(late=False)
                self._send_made()
                self._coming = True
                due = len(slices) if number + 1 == len(rounds) else min(1, len(slices))
                for _ in range(due):
                    self._run(*slices.pop(0))
            for region in block.mortar():
                self._run(block.first, block.last, region, "behind the faces")
            slices = [(block.first, block.last, region) for region in block.core(len(rounds))]
        for each in slices:
            self._run(*each)
        self.split_blocks += 1
        return True

    def _advance(self, first: int, last: int) -> None:
        """Steps [first, last) of the block: halos in, faces, messages out, the rest."""
        self._receive(first)
        faces, rest = phases(self._axes, self.plan.unit_axis, first, last)
        if self.overlap != "split":
            faces, rest = [], [tuple(axis.whole(first) for axis in self._axes)]
        for region in faces:
            self._run(first, last, region, "faces")
        for channel in (self._early, self._late):
            channel.expect()
        if faces:
            self._pack(late=False)
            if not self._halves.launches:
                self._send_made()
        for region in rest:
            self._run(first, last, region)
        if not faces:
            self._pack(late=False)
        self._send_made()
        self._pack(late=True)
        self._start(late=True)
        self._coming = True
        if self.overlap != "split":
            self._wait()

    def _advance_beside_buffers(self, first: int, last: int) -> None:
        """A round of steps while buffers make what neighbours need: halos in, all of the box, messages out under it."""
        assert self._buffers
        if self._coming:
            self._wait()
        begun = time.perf_counter()
        early = self._buffers.take_messages()
        if early:
            self._buffers.start(first, last)
        self._unpack(first)
        if not early:
            self._buffers.take_outside()
            self._buffers.start(first, last)
        self._unsent = True
        self._early.expect()
        self._spent("pack", "copy", begun)
        self._run(first, last, tuple(axis.whole(first) for axis in self._axes))
        begun = time.perf_counter()
        self._buffers.wait()
        self._spent("wait", "wait for the buffer", begun)
        self._send_made()
        self._coming = True
        begun = time.perf_counter()
        self._buffers.take_inside()
        self._spent("pack", "copy", begun)

    def _send_made(self) -> None:
        """Send what was made for others early, once: packed, or by buffers."""
        if not self._unsent or (self._buffers and not self._buffers.done):
            return
        if self._buffers:
            self._pack(late=False)
        self._unsent = False
        self._start(late=False)

    def _run(self, first: int, last: int, region: Sides, name: str = "interior") -> None:
        begun = time.perf_counter()
        self._halves.run(first, last, region, self._progress, POLL)
        self._spent("compute", name, begun, (first, last))

    def _spent(self, what: str, name: str, begun: float, steps: tuple[int, int] | None = None) -> None:
        """Account for what ends now."""
        self.seconds[what] += time.perf_counter() - begun
        if self.timeline:
            self.timeline.add(name, begun, steps=steps)

    def _progress(self) -> bool:
        self._send_made()
        if self._early.progress():
            self._come()
        return False

    def _come(self) -> None:
        """The messages under way have come."""
        if self.timeline and self._sent:
            self.timeline.add("halos", self._sent, "messages")
        self._sent = 0.0

    def _pack(self, late: bool) -> None:
        begun = time.perf_counter()
        made = [each.out for each in self._exchanges if each.out and each.late == late]
        for message in made:
            message.pack()
        for message in made:
            message.settle()
        self._unsent = self._unsent or not late
        self._spent("pack", "pack", begun)

    def _start(self, late: bool) -> None:
        begun = time.perf_counter()
        (self._late if late else self._early).send()
        self._spent("pack", "send", begun)
        if self.timeline and not late:
            self._sent = time.perf_counter()

    def _receive(self, steps: int) -> None:
        """Wait for the halos that are under way, if any are, and put them in their place."""
        if self._coming:
            self._wait()
            self._unpack(steps)

    def _unpack(self, steps: int) -> None:
        """Put halos that have come in their place."""
        if not self._coming:
            return
        come = time.perf_counter()
        come_in = [each.into for each in self._exchanges if each.into]
        for message in come_in:
            message.unpack()
        self._halves.refreshed(steps)
        for message in come_in:  # the next messages may come into the same memory
            message.settle()
        self._coming = False
        self.exchanges += 1
        self._spent("pack", "unpack", come)

    def _wait(self) -> None:
        begun = time.perf_counter()
        for channel in (self._early, self._late):
            channel.wait()
        self._come()
        self._spent("wait", "wait", begun)

    def reset(self) -> None:
        if self._coming:
            self._wait()
            self._coming = False
        self.local.reset()
        if self._buffers:
            self._buffers.reset()
        self._recorded.reset()

    # ---- fields and recordings

    def set_state(self, component: int, values: np.ndarray) -> None:
        self.local.set_state(component, values[np.ix_(*(axis.samples for axis in self.part.axes))])

    def gathered(self, component: int) -> np.ndarray | None:
        pieces = self.ranks.gathered(self.local.state(component)[self.part.own_here.slices()].copy())
        if pieces is None:
            return None
        whole: np.ndarray = np.zeros(self.plan.active, self.plan.dtype)
        for box, piece in zip(self.boxes, pieces):
            whole[box.slices()] = piece
        return whole

    def recordings(self) -> list[Recording] | None:
        return self._recorded.joined(self.local.recordings() or [])


def urgent(engine: str | Make) -> Make:
    """What makes engines whose kernels a card makes before those of others."""
    return functools.partial(ENGINES[engine] if isinstance(engine, str) else engine, urgent=True)


def engine_for(make: str | Make, plan: Plan, **options: Any) -> tuple[LocalEngine, Halves]:
    """An engine, by name or by what makes it, and itself as one that exchanges halos. Error: it cannot."""
    engine = (ENGINES[make] if isinstance(make, str) else make)(plan, **options)
    if not isinstance(engine, Halves):
        raise ModelError(f'engine "{make}" cannot exchange halos with other ranks; give "cpu", or run on one rank')
    return engine, engine


def axes_of(part: PlanPart, depth: int) -> tuple[Axis, Axis, Axis]:
    """The part along each axis, for the regions of phases.py."""
    own, plan = part.own, part.whole

    def axis(n: int, parted: bool) -> Axis:
        held, phase = part.axes[n], plan.phases[n]
        return Axis(
            held.length,
            (own.lower[n] - held.lower, own.upper[n] - held.lower),
            held.lower > 0 or parted,
            held.upper < held.period or parted,
            depth,
            phase is not None and not parted,
            plan.reach,
        )

    return triple(axis(n, parted) for n, parted in enumerate(parted_rings(own, plan)))


def domains_here(arrangement: Arrangement, part: PlanPart) -> Arrangement:
    """The rank's own domains, those at its ends with its halos, in its coordinates."""

    def cuts(axis: int) -> tuple[int, ...]:
        low, high = part.own.lower[axis], part.own.upper[axis]
        inner = [part.axes[axis].place(cut) for cut in arrangement.cuts[axis] if low < cut < high]
        return (0, *inner, part.held.shape[axis])

    return Arrangement(triple(cuts(axis) for axis in range(3)))
