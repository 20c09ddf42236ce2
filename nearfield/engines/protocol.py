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

from nearfield.entry.triples import Triple
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


class Message(Protocol):
    """Faces as bytes: `pack` copies the states into the buffer, `unpack` the buffer into the states."""

    buffer: np.ndarray

    def pack(self) -> None: ...
    def unpack(self) -> None: ...


class AxisSamples(Protocol):
    """Samples of the whole run that a rank holds along one axis, in the order of its engine."""

    @property
    def samples(self) -> np.ndarray: ...
    def segments(self, first: int, last: int) -> Iterator[tuple[int, int]]: ...


class Part(Protocol):
    """Place of a rank's engine in the whole run: its samples along each axis, its boxes in global coordinates."""

    @property
    def axes(self) -> Sequence[AxisSamples]: ...
    def there(self, box: Box) -> Box: ...


@runtime_checkable
class Engine(Protocol):
    """Advances a plan, alone or as all ranks together. H is eta0 H wherever a component is read or written."""

    plan: Plan

    @property
    def own(self) -> Box:
        """The part of the plan's box that is not a halo."""

    @property
    def step(self) -> int:
        """Steps made since the start or the last reset."""

    @property
    def local(self) -> LocalEngine:
        """The engine of this process: itself, or the rank's own."""

    @property
    def part(self) -> Part | None:
        """Place of the local engine in the run; None: it has all of it."""

    @property
    def overlap(self) -> str | None:
        """How messages overlap with steps; None: there are none."""

    @property
    def recorders(self) -> Sequence[int]:
        """Number among the plan's recording terms of each recorder of the local engine."""

    @property
    def shared_sums(self) -> dict[int, list[np.ndarray]]:
        """Samples so far of functionals whose terms lie on several ranks, by recorder; on rank 0 alone."""

    def facts(self) -> dict[str, Any]:
        """At least isa, threads, bytes, palette_blocks, schedule, tile_depth and step."""

    def advance(self, steps: int, excitation: str = ..., weigh: bool = ..., stop: Stop | None = ...) -> Block | None:
        """Make `steps` steps; None when `stop()` became true under way, and recordings alone are valid."""

    def reset(self) -> None:
        """Set fields, states, recorders and the step to zero."""

    def gathered(self, component: int) -> np.ndarray | None:
        """One component in its active shape; None on ranks other than 0."""

    def set_state(self, component: int, values: np.ndarray) -> None:
        """Write one component, active shape, before the first step; all ranks give the same."""

    def recordings(self) -> list[Recording] | None:
        """One for each recording term in the plan's order, SI units; None on ranks other than 0."""


@runtime_checkable
class Saved(Protocol):
    """Gives every state by name and takes it back, so that an engine goes on where another one stopped."""

    @property
    def circuits(self) -> Sequence[tuple[int, int, int, int]]:
        """(component, i, j, k) of each circuit's edge."""

    def named_states(self) -> Iterator[NamedState]:
        """Fields, states of CPML and of dispersive media, halos included."""

    def circuit_states(self) -> np.ndarray:
        """Memories (edges, 2) of the circuits, a copy."""

    def set_circuit_states(self, states: np.ndarray) -> None:
        """Write all of them."""

    def accumulated(self) -> Iterator[np.ndarray]:
        """Sums and samples of each recorder as the engine adds them up; axes x, y, z come last."""

    def resume(self, step: int, accumulated: Sequence[np.ndarray | None]) -> None:
        """Set the step and these recordings (None: nothing); states become zero, for the caller to write."""


@runtime_checkable
class Streams(Protocol):
    """Records snapshots into memory that the caller gives."""

    def snapshot_shape(self, term: SnapshotBox) -> Triple:
        """Extents of a snapshot along the plan's storage axes."""

    def place_snapshots(self, recorder: int, places: list[np.ndarray]) -> None:
        """Arrays of that shape for the snapshots of the next block, last axis contiguous; V/m and A/m."""


@runtime_checkable
class Halves(Protocol):
    """Makes a block of steps region by region, and exchanges halos between regions."""

    def begin(self, steps: int, excitation: str, weigh: bool, tables: Tables | None = None) -> None:
        """Begin a block of steps."""

    def run(
        self, first: int, last: int, sides: Sides | None = None, stop: Stop | None = None, milliseconds: float = 100
    ) -> bool:
        """Make steps [first, last) of the block in a region; False when `stop()`, asked every so many ms, is true."""

    def refreshed(self, steps: int) -> None:
        """Halos were written: they are valid after so many steps of the block."""

    def end(self) -> tuple[list[np.ndarray], np.ndarray]:
        """End the block: samples of each functional, and the digits of the energy sum (`energy_of`)."""

    def message(self, faces: Sequence[Face]) -> Message:
        """A buffer for these faces; two engines agree on its bytes where their plans have the same storage axes."""


class LocalEngine(Engine, Saved, Streams, Protocol):
    """An engine in one process."""

    def state(self, component: int) -> np.ndarray:
        """Writable view of one component in its active shape."""

    def pages(self, sample: int) -> Sequence[tuple[list[int], int]]:
        """Of each domain: pages on each NUMA node, of `sample` looked at, and the number of all."""


class Undivided(ABC):
    """Base of local engines: members of `Engine` for an engine that has its plan to itself."""

    plan: Plan
    part: Part | None = None
    overlap: str | None = None

    @property
    def local(self) -> Self:
        """This engine."""
        return self

    @property
    def recorders(self) -> Sequence[int]:
        """All recorders of the plan."""
        return range(len(self.plan.recorders))

    @property
    def shared_sums(self) -> dict[int, list[np.ndarray]]:
        """No functional is shared."""
        return {}

    @abstractmethod
    def state(self, component: int) -> np.ndarray:
        """Writable view of one component in its active shape, axes x, y, z; H as eta0 H."""

    def gathered(self, component: int) -> np.ndarray:
        """One component in its active shape, a view."""
        return self.state(component)

    def set_state(self, component: int, values: np.ndarray) -> None:
        """Write one component, active shape."""
        self.state(component)[...] = values


def energy_of(digits: np.ndarray) -> float:
    """Correctly rounded value of an exact sum: digit n counts 2^(32 n - 1074), the last counts terms not finite."""
    if digits[-1]:
        return math.inf
    total = sum(int(digit) << 32 * n for n, digit in enumerate(digits[:-1]))
    try:
        return total / (1 << 1074)
    except OverflowError:
        return math.inf
