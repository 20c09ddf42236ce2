"""The engines: what advances a plan. An engine knows Maxwell's update and plans; no media, no files.

Axes are turned here, once: the core stores (a, b, c) with the plan's unit-stride axis as c, callers see x, y, z.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from nearfield.engines.cpu.poles import EnginePoles
from nearfield.engines.cpu.tiling import Machine, Rows, Tiling, choose_tiling, stays_in_l2
from nearfield.entry.constants import VACUUM_IMPEDANCE
from nearfield.machine.compiled import core, instruction_set
from nearfield.machine.topology import available_threads
from nearfield.plan.boxes import Arrangement, Box
from nearfield.plan.excitations import Marches
from nearfield.plan.plan import Plan, in_precision
from nearfield.plan.recorders import DFTBox, Functional, Recording, RecordingTerm, SnapshotBox
from nearfield.plan.term import is_magnetic
from nearfield.plan.terms import CircuitTerm, CurrentTerm, IncidentTerm

Sides = tuple[tuple[tuple[int, int], tuple[int, int]], ...]  # (low, high) along x, y, z; each (at, lean)


@dataclass(frozen=True)
class Block:
    """What came of one block of steps: samples of each functional (SI), and the energy sum after its last step."""

    samples: list[np.ndarray]
    energy: float


@dataclass(frozen=True)
class Tables:
    """Amplitudes (steps, waveforms) of E and H terms, phasors (steps, frequencies, 2) of each Fourier recorder, and
    each incident wave (2, steps, columns), None where it is silent."""

    electric: np.ndarray
    magnetic: np.ndarray
    phasors: list[np.ndarray]
    waves: list[np.ndarray | None]


def energy_of(digits: np.ndarray) -> float:
    """The correctly rounded value of an exact sum: digit n counts 2^(32 n - 1074), the last counts terms not finite."""
    if digits[-1]:
        return math.inf
    total = sum(int(digit) << 32 * n for n, digit in enumerate(digits[:-1]))
    try:
        return total / (1 << 1074)
    except OverflowError:
        return math.inf


def seam(phase: float | None, gap: int | None) -> list[float]:
    """What the core is told of an axis: whether it closes on itself, cosine and sine of its phase, its gap or -1."""
    turn = [0.0, 1.0, 0.0] if phase is None else [1.0, math.cos(phase), math.sin(phase)]
    return [*turn, -1.0 if gap is None else gap]


@dataclass(frozen=True)
class Placement:
    """Where the threads and pages of one engine go."""

    processors: tuple[tuple[int, ...], ...] = ()  # of each thread; empty: the system moves them as it likes
    memory: str = "first-touch"  # "off" | "first-touch" | "bind" | "interleave"
    nodes: tuple[tuple[int, ...], ...] = ()  # of each domain as the core counts them, for "bind" and "interleave"


class CpuEngine:
    """The `cpu` engine: row segments on vectors, in time-skewed tiles or stepwise.

    `tiling` fixes the tiles (`STEPWISE`: none); left out, a cost model chooses them. `domains` cuts the plan's box into
    domains with threads and pages of their own, `placement` says which. No bit depends on any of them. `own` is the
    part of the box that is not a halo: all else is some other engine's to record.

    `advance(steps, excitation, weigh)` moves on; `field(component)` copies a component in its full Yee shape with H as
    eta0 H; `recordings(...)` collects what the plan's recording terms gathered since `reset()`.
    """

    def __init__(
        self,
        plan: Plan,
        threads: int | None = None,
        isa: str | None = None,
        tiling: Tiling | None = None,
        domains: Arrangement | None = None,
        placement: Placement | None = None,
        own: Box | None = None,
    ) -> None:
        self.plan = plan
        self._axes = plan.storage_axes
        isa, placement = instruction_set(isa), placement or Placement()
        self.own = own or Box((0, 0, 0), plan.active)
        self.domains = domains or Arrangement(tuple((0, n) for n in plan.active))
        kind = core().Engine32 if plan.dtype is np.float32 else core().Engine64
        self._core = kind(
            self._turn(plan.active),
            [list(plan.cpml[axis]) for axis in self._axes],
            [seam(plan.phases[axis], plan.gaps[axis]) for axis in self._axes],
            1 + plan.complex_fields,
            int(threads or available_threads()),
            isa,
            [list(self.domains.cuts[axis]) for axis in self._axes],
            [[self.own.lower[axis], self.own.upper[axis]] for axis in self._axes],
            self._axes.index(plan.weighed_axis),
            [list(numbers) for numbers in placement.processors],
            placement.memory,
            [list(numbers) for numbers in placement.nodes],
        )
        self.poles = EnginePoles(plan, self._core.poles)
        self._set_profiles()
        self._set_coefficients()
        rows, machine = Rows.of(plan), Machine.here(self.facts()["threads"], isa)
        self._fetch = not stays_in_l2(rows, machine)
        self.use_tiles(tiling or choose_tiling(rows, machine))
        self._recorders: list[tuple[RecordingTerm, int]] = []  # each with its number among those of its kind
        self.circuits: list[tuple[int, int, int, int]] = []  # (component, i, j, k) of each edge, as the core holds them
        kinds: Counter[type] = Counter()
        for term in plan.terms:
            self._add(term)
            if isinstance(term, RecordingTerm):
                self._recorders.append((term, kinds[type(term)]))
                kinds[type(term)] += 1
        self._dft_boxes = [term for term, _ in self._recorders if isinstance(term, DFTBox)]
        self._marches = Marches(plan.waves, plan.dtype)
        self._samples: list[list[np.ndarray]] = [[] for _ in range(kinds[Functional])]

    @property
    def step(self) -> int:
        """Steps made since the start or the last reset."""
        return self._core.step

    def facts(self) -> dict:
        """isa, threads, domains, bytes, distinct palette blocks, schedule, tile_depth, _width, _segment, step."""
        return self._core.facts()

    def use_tiles(self, tiling: Tiling) -> None:
        """Take these tiles from the next step on."""
        self._core.set_tiling(tiling.depth, tiling.width, tiling.segment, self._fetch)

    def _set_profiles(self) -> None:
        for place, axis in enumerate(self._axes):
            p = self.plan.profiles[axis]
            columns = (
                p.inverse_dual,
                p.inverse_primary,
                p.decay_electric,
                p.drive_electric,
                p.decay_magnetic,
                p.drive_magnetic,
            )
            self._core.set_profile(place, [np.ascontiguousarray(column, self.plan.dtype) for column in columns])

    def _set_coefficients(self) -> None:
        order = list(self._axes)  # storage component s is the global component axes[s]
        for planes in self.plan.coefficients.planes(self._axes[0]):
            for magnetic, values in ((False, planes.electric), (True, planes.magnetic)):
                stay = np.ascontiguousarray(values[order, 0], self.plan.dtype)
                drive = np.ascontiguousarray(values[order, 1] * self.plan.scale, self.plan.dtype)
                self._core.set_planes(magnetic, planes.start, planes.stop, stay, drive)
            self.poles.set_planes(planes)
        self.poles.finish()
        if self.plan.coupling is not None:
            *places, weight = self.plan.coupling.stored(self._axes)
            self._core.add_coupling(*places, np.ascontiguousarray(weight, self.plan.dtype))

    def _add(self, term) -> None:
        if isinstance(term, CurrentTerm):
            indices, order = self._turned(term)
            weight = in_precision(term.weight[order], self.plan.dtype)
            self._core.add_current(self._component(term.component), *indices, weight, self.plan.column(term.waveform))
        elif isinstance(term, CircuitTerm):
            self._add_circuit(term)
        elif isinstance(term, IncidentTerm):
            self._add_incident(term)
        elif isinstance(term, Functional):
            indices, order = self._turned(term)
            component = np.array([self._component(c) for c in np.broadcast_to(term.component, term.i.shape)[order]])
            weight = np.asarray(term.weight, float)[order] / np.where(component % 6 >= 3, VACUUM_IMPEDANCE, 1.0)
            place = (np.arange(len(order)) if term.place is None else np.asarray(term.place))[order].astype(np.int64)
            self._core.add_functional(component, *indices, weight, place, term.terms or len(order), term.stride)
        elif isinstance(term, DFTBox):
            box = (self._component(term.component), self._turn(term.lower), self._turn(term.upper))
            self._core.add_fourier(*box, len(term.frequencies), term.stride)
        else:
            box = (self._component(term.component), self._turn(term.lower), self._turn(term.upper))
            unit = 1.0 / VACUUM_IMPEDANCE if is_magnetic(term.component) and not term.kept else 1.0
            self._core.add_snapshot(*box, np.ascontiguousarray(term.steps, np.int64), term.kept, unit)

    def _add_circuit(self, term: CircuitTerm) -> None:
        indices, order = self._turned(term)
        count = len(term.i)
        columns = [
            term.admittance,
            term.voltage_factor,
            term.feedback,
            term.inverse,
            term.drive,
            *np.reshape(term.output, (count, 2)).T,
            *np.reshape(term.input, (count, 2)).T,
            *np.reshape(term.transition, (count, 4)).T,
        ]
        numbers = np.stack([np.broadcast_to(column, count) for column in columns], axis=1)[order]
        component = self._component(term.component)
        edges = zip(*(np.asarray(index)[order].tolist() for index in (term.i, term.j, term.k)))
        self.circuits += [(int(term.component), *edge) for edge in edges]
        self._core.add_circuit(component, *indices, np.ascontiguousarray(numbers), self.plan.column(term.waveform))

    def _add_incident(self, term: IncidentTerm) -> None:
        a, b, c = (np.asarray((term.i, term.j, term.k)[axis], np.int64) for axis in self._axes)
        numbers = np.array([self._component(component) for component in range(6)], np.int64)
        component = numbers[term.component]
        order = np.lexsort((np.arange(a.size), component, b, a))
        indices = [np.ascontiguousarray(index[order]) for index in (component, a, b, c)]
        weight = in_precision(term.weight[order], self.plan.dtype)
        column = np.ascontiguousarray(term.column[order], np.int32)
        share = np.ascontiguousarray(term.share[order], self.plan.dtype)
        self._core.add_incident(term.magnetic, self.plan.wave(term.wave), *indices, weight, column, share)

    def _component(self, component: int) -> int:
        return self.plan.storage_component(int(component))

    def _turn(self, triple) -> list[int]:
        return [int(triple[axis]) for axis in self._axes]

    def _turned(self, term) -> tuple[list[np.ndarray], np.ndarray]:
        """Storage indices of a term's samples in the order (component, a, b, c), equal ones in their own."""
        indices = [np.asarray((term.i, term.j, term.k)[axis], np.int64) for axis in self._axes]
        component = np.broadcast_to(np.asarray(term.component), indices[0].shape)
        order = np.lexsort((np.arange(indices[0].size), *reversed(indices), component))
        return [np.ascontiguousarray(index[order]) for index in indices], order

    def advance(
        self,
        steps: int,
        excitation: str = "sources",
        weigh: bool = False,
        stop: Callable[[], bool] | None = None,
    ) -> Block | None:
        """Make `steps` steps, or None when `stop()`, asked some ten times a second, said so under way.

        The fields are then between steps and only recordings are of use, as after a KeyboardInterrupt.
        """
        self.begin(steps, excitation, weigh)
        if not self.run(0, steps, stop=stop):
            return None
        samples, digits = self.end()
        return Block(samples, energy_of(digits) if weigh else -1.0)

    def begin(self, steps: int, excitation: str, weigh: bool, tables: Tables | None = None) -> None:
        """Begin a block of steps, with these tables where they are known."""
        tables = tables or self.tables(steps, excitation)
        self._core.begin(steps, tables.electric, tables.magnetic, tables.phasors, tables.waves, weigh)

    def place_snapshots(self, recorder: int, places: list[np.ndarray]) -> None:
        """Where the snapshots that a recorder takes in the next block go: arrays as `snapshot_shape` says.

        Their last axis has unit stride. They are written under way, in V/m and A/m.
        """
        self._core.place_snapshots(self._recorders[recorder][1], places)

    def snapshot_shape(self, term: SnapshotBox) -> tuple[int, int, int]:
        """The extents of a recorder's snapshot along the storage axes."""
        return tuple(self._turn(np.subtract(term.upper, term.lower)))

    def tables(self, steps: int, excitation: str) -> Tables:
        """Amplitudes, phasors and incident waves of the next steps."""
        first = self.step + 1
        phasors = [self.plan.phasors(box, first, steps) for box in self._dft_boxes]
        waves = self._marches.tables(first, steps, excitation)
        return Tables(*self.plan.amplitudes(first, steps, excitation), phasors, waves)

    def run(
        self,
        first: int,
        last: int,
        sides: Sides | None = None,
        stop: Callable[[], bool] | None = None,
        milliseconds: float = 100,
    ) -> bool:
        """Make steps [first, last) of the block, in a region whose (low, high) sides along each axis are (at, lean).

        `stop` is asked every so many milliseconds; False when it said so.
        """
        turned = None if sides is None else [sides[axis] for axis in self._axes[:2]]
        return self._core.run(first, last, turned, stop, milliseconds)

    def end(self) -> tuple[list[np.ndarray], np.ndarray]:
        """End the block: samples of each functional, and the digits of the energy sum (`energy_of`)."""
        samples, digits = self._core.end()
        for gathered, block in zip(self._samples, samples):
            gathered.append(block)
        return samples, digits

    def refreshed(self, steps: int) -> None:
        """Halos were written: they stand after so many steps of the block under way."""
        self._core.refreshed(steps)

    def pages(self, sample: int) -> list[tuple[list[int], int]]:
        """Of each domain: pages on each NUMA node, of `sample` looked at, and how many there are."""
        return self._core.pages(sample)

    def circuit_states(self) -> np.ndarray:
        """Memories of the circuits, (edges, 2), in the order of `circuits`; a copy."""
        return self._core.circuit_states()

    def set_circuit_states(self, which: np.ndarray, states: np.ndarray) -> None:
        """Write those of some edges."""
        self._core.set_circuit_states(which, np.ascontiguousarray(states))

    def reset(self) -> None:
        """Everything back to zero: fields, states, recorders, the step counter."""
        self._core.reset()
        self._samples = [[] for _ in self._samples]

    def resume(self, step: int, accumulated: Sequence[np.ndarray | None]) -> None:
        """As after so many steps, with these recordings (None: nothing); states are zero, and the caller's to write."""
        self._core.resume(step)
        self._samples = [[] for _ in self._samples]
        for (term, number), values in zip(self._recorders, accumulated, strict=True):
            if isinstance(term, Functional):
                self._samples[number] = [] if values is None else [values]
            elif isinstance(term, DFTBox):
                turned = values.transpose(0, 1, *(2 + axis for axis in self._axes))
                self._core.set_fourier(number, np.ascontiguousarray(turned))
            else:
                turned = values.transpose(0, *(1 + axis for axis in self._axes))
                self._core.set_snapshot(number, np.ascontiguousarray(turned))

    def accumulated(self) -> Iterator[np.ndarray]:
        """What each recording term gathered, as the engine adds it up: for `resume`. Axes x, y, z come last."""
        turned = [self._axes.index(axis) for axis in range(3)]
        for term, number in self._recorders:
            if isinstance(term, Functional):
                yield np.concatenate([np.zeros(0), *(self._samples[number] if term.whole else ())])
            elif isinstance(term, DFTBox):
                yield self._core.fourier(number).transpose(0, 1, *(2 + axis for axis in turned))
            else:
                yield self._core.snapshot(number).transpose(0, *(1 + axis for axis in turned))

    def state(self, component: int) -> np.ndarray:
        """Writable view of one component in its active shape, axes x, y, z; H as eta0 H."""
        part, stored = divmod(self._component(component), 6)
        name = "imaginary " * part + ("E0", "E1", "E2", "H0", "H1", "H2")[stored]
        _, array = self._core.states()[name]
        return array.transpose([self._axes.index(axis) for axis in range(3)])

    def gathered(self, component: int) -> np.ndarray:
        """One component in its active shape, as `state`; where ranks share a run, it comes together here."""
        return self.state(component)

    def states(self) -> dict[str, tuple[int, np.ndarray]]:
        """The registry of state arrays, storage axes: name -> (half step 0 or 1, view)."""
        return self._core.states()

    def recordings(self) -> list[Recording]:
        """What each recording term of the plan gathered, in their order; SI units, x, y, z axes."""
        return [self._recording(term, number) for term, number in self._recorders]

    def _recording(self, term: RecordingTerm, number: int) -> Recording:
        turned = [self._axes.index(axis) for axis in range(3)]
        if isinstance(term, Functional):
            gathered = self._samples[number]
            values = np.concatenate(gathered) if gathered else np.zeros(0)
            steps = term.stride * np.arange(1, len(values) + 1)
            return Recording(self.plan.recording_times(is_magnetic(term.component), steps), values)
        scale = 1.0 / VACUUM_IMPEDANCE if is_magnetic(term.component) else 1.0
        if isinstance(term, DFTBox):
            sums = self._core.fourier(number)
            values = (sums[:, 0] + 1j * sums[:, 1]).transpose(0, *(1 + axis for axis in turned))
            factor = scale * self.plan.time_step * term.stride
            return Recording(np.zeros(0), values * np.asarray(factor, values.real.dtype))
        taken = self._core.snapshot(number).transpose(0, *(1 + axis for axis in turned))
        times = self.plan.recording_times(is_magnetic(term.component), np.asarray(term.steps)[: len(taken)])
        return Recording(times, taken * np.asarray(scale, taken.dtype))


class Engine(Protocol):
    """What the time loop needs of an engine: `CpuEngine`, or `nearfield.parallel.ranks.RankEngine`."""

    plan: Plan

    @property
    def step(self) -> int: ...
    def facts(self) -> dict: ...
    def use_tiles(self, tiling: Tiling) -> None: ...
    def advance(
        self, steps: int, excitation: str = ..., weigh: bool = ..., stop: Callable[[], bool] | None = ...
    ) -> Block | None: ...
    def reset(self) -> None: ...
    def gathered(self, component: int) -> np.ndarray | None: ...
    def recordings(self) -> list[Recording] | None: ...
