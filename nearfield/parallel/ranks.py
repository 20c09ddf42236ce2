"""One run on several ranks: each advances its own box, with halos as deep as several steps.

A rank makes as many steps between two exchanges as its halos are good for. It makes what its neighbours need first,
sends it, and makes the rest while the messages travel (phases.py). What is exchanged is in halo.py; what is recorded
comes together on rank 0.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import pairwise

import numpy as np

from nearfield.engines.cpu.engine import Block, CpuEngine, Sides, Tables, energy_of
from nearfield.machine.transport import Channel, Ranks, Turns
from nearfield.parallel.halo import Message, messages
from nearfield.parallel.part import PlanPart, held_box, parted_rings
from nearfield.parallel.phases import Axis, SplitTiles, phases
from nearfield.plan.boxes import Arrangement, Box, Grouping
from nearfield.plan.excitations import Marches
from nearfield.plan.plan import Plan
from nearfield.plan.recorders import DFTBox, Functional, Recording, RecordingTerm
from nearfield.plan.term import is_magnetic

POLL = 2.0  # ms between looks at messages under way; some libraries move them only when they are asked


class RankEngine:
    """The interface of `CpuEngine`, for one of several ranks that all call the same methods in the same order.

    `engine` is the rank's own. `recordings()` and `gathered(component)` give their answers on rank 0, None elsewhere.
    """

    def __init__(
        self,
        plan: Plan,
        ranks: Ranks,
        arrangement: Arrangement,
        grouping: Grouping,
        depth: int,
        overlap: str = "split",
        **options,
    ) -> None:
        self.plan, self.ranks, self.depth, self.overlap = plan, ranks, depth, overlap
        own = grouping.boxes(arrangement)
        held = [held_box(box, depth, plan) for box in own]
        self._round = depth // plan.reach  # steps between two exchanges
        self.boxes, self.part = own, PlanPart(plan, own[ranks.rank], held[ranks.rank])
        self.engine = CpuEngine(
            self.part.plan, domains=domains_here(arrangement, self.part), own=self.part.own_here, **options
        )
        self._columns = [plan.column(waveform) for waveform in self.part.plan.waveforms]
        self._waves = [plan.wave(wave) for wave in self.part.plan.waves]
        self._marches = Marches(plan.waves, plan.dtype)  # rank 0's
        self._set_recorders()
        self._messages = messages(self.engine, self.part, ranks.rank, own, held, depth)
        self._early, self._late = (self._channel(late) for late in (False, True))
        mine, rings = self.part.own, parted_rings(self.part.own, plan)
        self._axes = tuple(
            Axis(
                n.length,
                (low - n.lower, high - n.lower),
                n.lower > 0 or parted,
                n.upper < n.period or parted,
                depth,
                phase is not None and not parted,
                plan.reach,
            )
            for n, low, high, parted, phase in zip(self.part.axes, mine.lower, mine.upper, rings, plan.phases)
        )
        self._coming = False  # halos are under way
        self.seconds = {"compute": 0.0, "pack": 0.0, "wait": 0.0}
        self.exchanges = self.split_blocks = 0  # blocks of steps made in split tiles

    def _channel(self, late: bool) -> Channel:
        def sides(name: str) -> list[tuple[int, np.ndarray]]:
            regions = ((m.rank, getattr(m, name)) for m in self._messages if m.late == late)
            return [(rank, region.buffer) for rank, region in regions if region]

        kind = Turns if self.overlap == "blocking" else Channel
        return self.ranks.channel(sides("out"), sides("into"), kind)

    def _set_recorders(self) -> None:
        """Which recorders are here, and which sums have their terms on several ranks."""
        self._recorders = [term for term in self.plan.terms if isinstance(term, RecordingTerm)]
        local = [term for term in self.part.plan.terms if isinstance(term, RecordingTerm)]
        functionals = [(n, term) for n, term in zip(self.part.recorders, local) if isinstance(term, Functional)]
        self._functionals = [n for n, _ in functionals]
        shared = {n for n, term in functionals if len(term.i) < term.terms}
        self._shared = sorted(set().union(*self.ranks.everywhere(shared)))
        self._boxes = [n for n, term in enumerate(self._recorders) if isinstance(term, DFTBox)]
        self._boxes_here = [n for n, term in zip(self.part.recorders, local) if isinstance(term, DFTBox)]
        self._sums: dict[int, list[np.ndarray]] = {n: [] for n in self._shared}

    @property
    def sums(self) -> dict[int, list[np.ndarray]]:
        """Samples so far of the sums that ranks share, by recorder of the plan; on rank 0 alone."""
        return self._sums if self.ranks.rank == 0 else {}

    @property
    def step(self) -> int:
        """Steps made since the start or the last reset."""
        return self.engine.step

    def use_tiles(self, tiling) -> None:
        """Take these tiles from the next step on."""
        self.engine.use_tiles(tiling)

    def facts(self) -> dict:
        """Those of this rank's engine; `bytes` of all ranks."""
        return self.engine.facts() | {"bytes": sum(self.ranks.everywhere(self.engine.facts()["bytes"]))}

    # ---- steps

    def advance(
        self, steps: int, excitation: str = "sources", weigh: bool = False, stop: Callable[[], bool] | None = None
    ) -> Block | None:
        """Make `steps` steps, or tell that some rank was asked to stop: None, after the steps were made."""
        self.engine.begin(steps, excitation, weigh, self._tables(steps, excitation))
        tiles = self.ranks.from_root(self.engine.facts()["tile_depth"]) if self.overlap == "split" else 0
        if not (tiles > self._round and self._advance_in_split_tiles(steps, tiles)):
            for first in range(0, steps, self._round):
                self._advance(first, min(steps, first + self._round))
        samples, digits = self.engine.end()
        self._add_shared(steps, samples)
        energy = energy_of(self.ranks.added(digits)) if weigh else -1.0
        return None if stop and self.ranks.any(stop()) else Block([], energy)

    def _tables(self, steps: int, excitation: str) -> Tables:
        """Computed once, since exp and cos differ from processor to processor, and cut to what is here."""
        made = None
        if self.ranks.rank == 0:
            first = self.step + 1
            phasors = [self.plan.phasors(self._recorders[n], first, steps) for n in self._boxes]
            waves = self._marches.tables(first, steps, excitation)
            made = Tables(*self.plan.amplitudes(first, steps, excitation), phasors, waves)
        tables = self.ranks.from_root(made)
        columns = self._columns or [0]
        electric, magnetic = (np.ascontiguousarray(t[:, columns]) for t in (tables.electric, tables.magnetic))
        phasors = [tables.phasors[self._boxes.index(n)] for n in self._boxes_here]
        return Tables(electric, magnetic, phasors, [tables.waves[n] for n in self._waves])

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
                    self._run(first, last, region)
                self._early.expect()
                self._send(late=False)
                self._coming = True
                due = len(slices) if number + 1 == len(rounds) else min(1, len(slices))
                for _ in range(due):
                    self._run(*slices.pop(0))
            for region in block.mortar():
                self._run(block.first, block.last, region)
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
            self._run(first, last, region)
        for channel in (self._early, self._late):
            channel.expect()
        if faces:
            self._send(late=False)
        for region in rest:
            self._run(first, last, region)
        if not faces:
            self._send(late=False)
        self._send(late=True)
        self._coming = True
        if self.overlap != "split":
            self._wait()

    def _run(self, first: int, last: int, region) -> None:
        begun = time.perf_counter()
        self.engine.run(first, last, region, self._progress, POLL)
        self.seconds["compute"] += time.perf_counter() - begun

    def _progress(self) -> bool:
        self._early.progress()
        return False

    def _send(self, late: bool) -> None:
        begun = time.perf_counter()
        for message in self._out(late):
            message.out.pack()
        (self._late if late else self._early).send()
        self.seconds["pack"] += time.perf_counter() - begun

    def _out(self, late: bool) -> list[Message]:
        return [message for message in self._messages if message.late == late and message.out]

    def _receive(self, steps: int) -> None:
        """Wait for the halos that are under way, if any are, and put them in their place."""
        if not self._coming:
            return
        self._wait()
        come = time.perf_counter()
        for message in self._messages:
            if message.into:
                message.into.unpack()
        self.engine.refreshed(steps)
        self._coming = False
        self.exchanges += 1
        self.seconds["pack"] += time.perf_counter() - come

    def _wait(self) -> None:
        begun = time.perf_counter()
        for channel in (self._early, self._late):
            channel.wait()
        self.seconds["wait"] += time.perf_counter() - begun

    def _add_shared(self, steps: int, samples: list[np.ndarray]) -> None:
        """Sums whose terms lie on several ranks: the products come together, and are added in their order."""
        if not self._shared:
            return
        counts = {
            n: (
                self.step // self._recorders[n].stride - (self.step - steps) // self._recorders[n].stride,
                len(self._recorders[n].i),
            )
            for n in self._shared
        }
        here = dict(zip(self._functionals, samples))
        products = [np.reshape(here.get(n, np.zeros(counts[n])), counts[n]).ravel() for n in self._shared]
        total = self.ranks.added_on_root(np.concatenate(products))
        if total is None:
            return
        at = 0
        for n in self._shared:
            table = total[at : at + counts[n][0] * counts[n][1]].reshape(counts[n])
            at += table.size
            self._sums[n].append(added_in_order(table))

    def reset(self) -> None:
        """Everything back to zero, on all ranks."""
        if self._coming:
            self._wait()
            self._coming = False
        self.engine.reset()
        self._sums = {n: [] for n in self._shared}

    # ---- what came of it

    def set_state(self, component: int, values: np.ndarray) -> None:
        """Write one component, active shape, before the first step after a reset; all ranks the same."""
        self.engine.state(component)[...] = values[np.ix_(*(axis.samples for axis in self.part.axes))]

    def gathered(self, component: int) -> np.ndarray | None:
        """One component, active shape, H as eta0 H."""
        pieces = self.ranks.gathered(self.engine.state(component)[self.part.own_here.slices()].copy())
        if pieces is None:
            return None
        whole = np.zeros(self.plan.active, self.plan.dtype)
        for box, piece in zip(self.boxes, pieces):
            whole[box.slices()] = piece
        return whole

    def recordings(self) -> list[Recording] | None:
        """What each recording term of the plan gathered, as `CpuEngine.recordings`."""
        pieces = self.ranks.gathered(dict(zip(self.part.recorders, self.engine.recordings())))
        if pieces is None:
            return None
        return [self._joined(n, term, pieces) for n, term in enumerate(self._recorders)]

    def _joined(self, n: int, term: RecordingTerm, pieces: list[dict[int, Recording]]) -> Recording:
        if n in self._shared:
            values = np.concatenate(self._sums[n]) if self._sums[n] else np.zeros(0)
            steps = term.stride * np.arange(1, len(values) + 1)
            return Recording(self.plan.recording_times(is_magnetic(term.component), steps), values)
        found = [(box, piece[n]) for box, piece in zip(self.boxes, pieces) if n in piece]
        if isinstance(term, Functional):
            return found[0][1]
        whole = Box(tuple(term.lower), tuple(term.upper))
        first = found[0][1]
        values = np.zeros((len(first.values), *whole.shape), first.values.dtype)
        for box, piece in found:
            values[(slice(None), *box.intersection(whole).slices(whole.lower))] = piece.values
        return Recording(first.time, values)


def added_in_order(products: np.ndarray) -> np.ndarray:
    """Sums over the last axis of (samples, terms), term by term."""
    total = np.zeros(len(products))
    for column in products.T:
        total += column
    return total


def domains_here(arrangement: Arrangement, part: PlanPart) -> Arrangement:
    """The rank's own domains, those at its ends with its halos, in its coordinates."""

    def cuts(axis: int) -> tuple[int, ...]:
        low, high = part.own.lower[axis], part.own.upper[axis]
        inner = [part.axes[axis].place(cut) for cut in arrangement.cuts[axis] if low < cut < high]
        return (0, *inner, part.held.shape[axis])

    return Arrangement(tuple(cuts(axis) for axis in range(3)))
