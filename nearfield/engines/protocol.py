"""Protocols of an engine, by use: nothing else in the package asks more of an engine, or asks for its class.

`Engine` advances a plan, `Saved` gives every state by name for checkpoints, `Streams` records snapshots into memory of
the caller, and `Halves` makes steps region by region and exchanges halos. Components, boxes and axes are the plan's.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np

from nearfield.entry.triples import Triple, triple
from nearfield.machine.device_messages import DeviceMemory
from nearfield.plan.boxes import Box
from nearfield.plan.plan import Plan
from nearfield.plan.recorders import Recording, SnapshotBox

Side = tuple[int, int]  # (at, lean): place before step 0 of the block, and by how much it moves a step
Sides = tuple[tuple[Side, Side], ...]  # (low, high) along x, y, z
Stop = Callable[[], bool]
FIELDS = tuple(f"{part}{half}{axis}" for part in ("", "imaginary ") for half in "EH" for axis in "xyz")
"""Names of the components 0 to 11 among named states."""


@dataclass(frozen=True)
class Block:
    """Result of one block of steps: the energy sum after its last step, -1 where it was not asked for."""

    energy: float


@dataclass(frozen=True)
class Tables:
    """Amplitudes (steps, waveforms) of E and H terms, phasors (steps, frequencies, 2) of each Fourier recorder, and
    each incident wave (2, steps, columns), None where it is silent."""

    electric: np.ndarray
    magnetic: np.ndarray
    phasors: list[np.ndarray]
    waves: list[np.ndarray | None]


@dataclass(frozen=True)
class Placement:
    """Processors and NUMA nodes of an engine's threads and pages."""

    processors: tuple[tuple[int, ...], ...] = ()  # of each thread; empty: the system moves them as it likes
    memory: str = "first-touch"  # "off" | "first-touch" | "bind" | "interleave"
    nodes: tuple[tuple[int, ...], ...] = ()  # of each domain as the core counts them, for "bind" and "interleave"


@dataclass(frozen=True)
class NamedState:
    """A state over a box in the engine's coordinates. Its name is that of the array in a checkpoint.

    `read(box)` gives the values of a part of the box, (*leading, nx, ny, nz); `write(values)` takes those of all of it.
    A sparse state does not exist everywhere in the box: it reads as zero there, and ignores what is written.
    """

    name: str
    box: Box
    read: Callable[[Box], np.ndarray]
    write: Callable[[np.ndarray], None]
    leading: tuple[int, ...] = ()
    sparse: bool = False


@dataclass(frozen=True)
class Face:
    """Part of a halo that one message carries: a box, and the fields of it by name; None: every state there."""

    box: Box
    fields: frozenset[str] | None = None


class Parcel(Protocol):
    """States as bytes that travel between ranks: `pack` copies the states into its parts, `unpack` the other way.

    parts: what travels, in an order on which engines agree. settle: wait until a device has packed or unpacked.
    """

    @property
    def parts(self) -> Sequence[np.ndarray | DeviceMemory]: ...
    def pack(self) -> None: ...
    def unpack(self) -> None: ...
    def settle(self) -> None: ...


class Message(Parcel, Protocol):
    """Faces of one engine: fields and psi, then poles and circuits, a part each; without the second where it is empty.

    buffer: the host's memory for both, one after the other. The first part is on a device instead where it is direct.
    """

    buffer: np.ndarray


@runtime_checkable
class Taking(Message, Protocol):
    """A message that can take the states of another one without the host: `take` says whether it did.

    `received`: what has come into the parts of the other one, not what it would pack.
    """

    def take(self, other: Message, received: bool = False) -> bool: ...


class AxisSamples(Protocol):
    """Samples of the whole run that a rank holds along one axis, in the order of its engine."""

    @property
    def samples(self) -> np.ndarray: ...
    def segments(self, first: int, last: int) -> Iterator[tuple[int, int]]: ...


class Part(Protocol):
    """Place of a rank's engine in the whole run.

    axes: its samples along x, y, z. recorders: number of each of its recorders among the plan's. there: a box of the
    engine in coordinates of the whole run.
    """

    @property
    def axes(self) -> Sequence[AxisSamples]: ...
    @property
    def recorders(self) -> Sequence[int]: ...
    def there(self, box: Box) -> Box: ...


@runtime_checkable
class Engine(Protocol):
    """Advances a plan, alone or as all ranks together. H is eta0 H wherever a component is read or written.

    own: the part of the plan's box that is not a halo. step: steps made since the start or the last reset.
    local: the engine of this process, itself or the rank's own. part: its place in the run; None: it has all of it.
    shared_sums: samples so far of functionals whose terms lie on several ranks, by recorder; on rank 0 alone.

    facts: at least isa, threads, bytes, palette_blocks, schedule, tile_depth and step; `device` beside the CPU.
    advance: make `steps` steps; None when `stop()` was true under way, and recordings alone are valid.
    reset: set fields, states, recorders and the step to zero.
    gathered: one component in its active shape. set_state: write it before the first step, the same on all ranks.
    recordings: one for each recording term in the plan's order, SI units. Ranks other than 0 get None of either.
    """

    plan: Plan

    @property
    def own(self) -> Box: ...
    @property
    def step(self) -> int: ...
    @property
    def local(self) -> LocalEngine: ...
    @property
    def part(self) -> Part | None: ...
    @property
    def shared_sums(self) -> dict[int, list[np.ndarray]]: ...
    def facts(self) -> dict[str, Any]: ...
    def advance(
        self, steps: int, excitation: str = ..., weigh: bool = ..., stop: Stop | None = ...
    ) -> Block | None: ...
    def reset(self) -> None: ...
    def gathered(self, component: int) -> np.ndarray | None: ...
    def set_state(self, component: int, values: np.ndarray) -> None: ...
    def recordings(self) -> list[Recording] | None: ...


@runtime_checkable
class Saved(Protocol):
    """Gives every state by name and takes it back, so that an engine goes on where another one stopped.

    named_states: fields, states of CPML and of dispersive media, halos included.
    circuits: (component, i, j, k) of each circuit's edge; circuit_states: their memories (edges, 2), a copy.
    accumulated: sums and samples of each recorder as the engine adds them up; axes x, y, z come last.
    resume: set the step and these recordings (None: nothing); states become zero, for the caller to write.
    """

    @property
    def circuits(self) -> Sequence[tuple[int, int, int, int]]: ...
    def named_states(self) -> Iterator[NamedState]: ...
    def circuit_states(self) -> np.ndarray: ...
    def set_circuit_states(self, states: np.ndarray) -> None: ...
    def accumulated(self) -> Iterator[np.ndarray]: ...
    def resume(self, step: int, accumulated: Sequence[np.ndarray | None]) -> None: ...


@runtime_checkable
class Streams(Protocol):
    """Records snapshots into memory of the caller.

    place_snapshots: arrays for the snapshots that a recorder takes in the next block of steps, in V/m and A/m; their
    shape is `snapshot_shape`, the extents along the plan's storage axes, their last axis is contiguous.
    """

    def snapshot_shape(self, term: SnapshotBox) -> Triple: ...
    def place_snapshots(self, recorder: int, places: list[np.ndarray]) -> None: ...


@runtime_checkable
class Halves(Protocol):
    """Makes a block of steps region by region, and exchanges halos between regions.

    launches: `run` asks `stop` as soon as a device has begun, so that messages are best sent from there.
    divides: `run` keeps to a region; where it does not, it makes all that the engine holds, and regions are whole.
    begin: begin a block of steps, with these tables where they are known.
    run: make steps [first, last) of the block in a region; False when `stop()`, asked every so many ms, is true.
    refreshed: halos were written, and are valid after so many steps of the block.
    end: end the block; gives the samples of each functional, and the digits of the energy sum (`energy_of`).
    message: a buffer for these faces; engines agree on its bytes where their plans have the same storage axes. direct:
    it may lie in the memory of a device.
    """

    launches: bool
    divides: bool

    def begin(self, steps: int, excitation: str, weigh: bool, tables: Tables | None = None) -> None: ...
    def run(
        self, first: int, last: int, sides: Sides | None = None, stop: Stop | None = None, milliseconds: float = 100
    ) -> bool: ...
    def refreshed(self, steps: int) -> None: ...
    def end(self) -> tuple[list[np.ndarray], np.ndarray]: ...
    def message(self, faces: Sequence[Face], direct: bool = False) -> Message: ...


class LocalEngine(Engine, Saved, Streams, Protocol):
    """An engine in one process.

    state: a writable view of one component in its active shape. pages: of each domain, pages on each NUMA node, of
    `sample` looked at, and the number of all.
    """

    def state(self, component: int) -> np.ndarray: ...
    def pages(self, sample: int) -> Sequence[tuple[list[int], int]]: ...


class Undivided(ABC):
    """Base of local engines: members of the protocols for an engine that has its plan to itself."""

    plan: Plan
    part: Part | None = None

    @property
    def local(self) -> Self:
        return self

    @property
    def shared_sums(self) -> dict[int, list[np.ndarray]]:
        return {}

    @abstractmethod
    def state(self, component: int) -> np.ndarray: ...

    def gathered(self, component: int) -> np.ndarray:
        return self.state(component)

    def set_state(self, component: int, values: np.ndarray) -> None:
        self.state(component)[...] = values

    def snapshot_shape(self, term: SnapshotBox) -> Triple:
        return triple(term.box.shape[axis] for axis in self.plan.storage_axes)

    def pages(self, sample: int) -> Sequence[tuple[list[int], int]]:
        return []


def energy_of(digits: np.ndarray) -> float:
    """Correctly rounded value of an exact sum: digit n counts 2^(32 n - 1074), the last counts terms not finite."""
    if digits[-1]:
        return math.inf
    total = sum(int(digit) << 32 * n for n, digit in enumerate(digits[:-1]))
    try:
        return total / (1 << 1074)
    except OverflowError:
        return math.inf
