"""What an engine holds between two steps, cut into named pieces of global arrays.

Names and coordinates are those of the whole box, so that a checkpoint may be read by other domains, ranks and storage
axes than wrote it. Every sample is in the piece of the rank that owns it; whoever reads takes all that it holds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from nearfield.engines.cpu.engine import CpuEngine
from nearfield.entry.triples import Triple
from nearfield.grid.yee import COMPONENTS
from nearfield.parallel.halo import in_blocks, slab_spans
from nearfield.parallel.part import PlanPart
from nearfield.parallel.ranks import RankEngine
from nearfield.plan.boxes import Box
from nearfield.plan.recorders import DFTBox, Functional, RecordingTerm, SnapshotBox
from nearfield.plan.sizes import LANES
from nearfield.plan.term import IMAGINARY

if TYPE_CHECKING:
    from nearfield.run.checkpoint.store import Stored

# Storage components whose differences along storage axis a, b, c have a psi, as in core/cpu/rows/advance.hpp.
SOURCES = ((2, 1), (2, 0), (1, 0))
PLANES = 16  # across x, of poles' states in one piece
KNOWN = re.compile(r"(imaginary )?([EH][012]|psi (electric|magnetic) [abc])")  # of the registry of states


@dataclass(frozen=True)
class Piece:
    """Part of a global array, or a whole one: its last three axes begin at sample `lower` of the box; None: whole."""

    name: str
    values: np.ndarray
    lower: Triple | None = None


@dataclass(frozen=True)
class State:
    """A state over a box of the engine's own coordinates; `read` gives it over x, y, z, `write` takes it so.

    leading: its axes before these. sparse: it is not everywhere in the box.
    """

    name: str
    box: Box
    read: Callable[[Box], np.ndarray]
    write: Callable[[np.ndarray], None]
    leading: tuple[int, ...] = ()
    sparse: bool = False


def states(engine: CpuEngine) -> Iterator[State]:
    """Fields, psi and poles of all that an engine holds, halos included. Error: its registry has other states."""
    arrays = engine.states()
    if unknown := [name for name in arrays if not KNOWN.fullmatch(name)]:
        raise NotImplementedError(f"a checkpoint would lose {', '.join(unknown)}")
    parts = ("", "imaginary ") if engine.plan.complex_fields else ("",)
    for component, name in enumerate(part + name for part in parts for name in COMPONENTS):
        view = engine.state(component)

        def write(values: np.ndarray, view=view) -> None:
            view[...] = values

        yield State(name, Box((0, 0, 0), view.shape), lambda box, view=view: view[box.slices()], write)
    for part, position, half in product(parts, range(3), ("electric", "magnetic")):
        kind = f"{part}psi {half}"
        if f"{kind} {'abc'[position]}" in arrays:
            yield from slab_states(engine, kind, position, arrays[f"{kind} {'abc'[position]}"][1])
    yield from pole_states(engine)


def pole_states(engine: CpuEngine) -> Iterator[State]:
    """What dispersive media remember, some planes at a time."""
    for component, medium, whole in engine.poles.boxes():
        for first in range(whole.lower[0], whole.upper[0], PLANES):
            last = min(first + PLANES, whole.upper[0])
            box = Box((first, *whole.lower[1:]), (last, *whole.upper[1:]))

            def read(part: Box, key=(component, medium)) -> np.ndarray:
                return engine.poles.states(*key, part)

            def write(values: np.ndarray, key=(component, medium, box)) -> None:
                engine.poles.set_states(*key, values)

            leading = (engine.plan.pole_media[medium].states,)
            part = "imaginary " * (component >= IMAGINARY)
            name = f"{part}poles of medium {medium} {COMPONENTS[component % IMAGINARY]}"
            yield State(name, box, read, write, leading, sparse=True)


def slab_states(engine: CpuEngine, kind: str, position: int, array: np.ndarray) -> Iterator[State]:
    """The two psi of one half step in the slabs of one storage axis, each slab by itself."""
    plan, axes = engine.plan, engine.plan.storage_axes
    along = axes[position]
    spans = slab_spans(plan.active[along], plan.cpml[along])
    for (first, last), shift in zip(spans, stored_shifts(spans, position == 2)):
        lower, upper = [0, 0, 0], list(plan.active)
        lower[along], upper[along] = first, last
        box = Box(tuple(lower), tuple(upper))
        for number, source in enumerate(SOURCES[position] if box.size > 0 else ()):
            cells = array[..., LANES * number : LANES * (number + 1)]  # (planes, rows, blocks, 16), strided
            name = f"{kind} d{'xyz'[axes[source]]}/d{'xyz'[along]}"
            yield State(name, box, *access(cells, axes, position, shift, box))


def stored_shifts(spans: tuple, in_rows: bool) -> tuple[int, int]:
    """How far in front of its place on the axis each slab is stored (core/layout.hpp)."""
    (_, low), (high, _) = spans
    if not in_rows:
        return 0, high - low
    (_, lower), (upper, _) = in_blocks(spans)
    return 0, LANES * (upper - lower)


def access(cells: np.ndarray, axes: Triple, position: int, shift: int, whole: Box) -> tuple[Callable, Callable]:
    """Reading and writing of psi that are stored in blocks along the rows."""
    turned = tuple(axes.index(axis) for axis in range(3))

    def place(box: Box) -> tuple[slice, ...]:
        shifts = [shift * (n == position) for n in range(3)]
        return tuple(slice(box.lower[axis] - s, box.upper[axis] - s) for axis, s in zip(axes, shifts))

    def read(box: Box) -> np.ndarray:
        planes, rows, along = place(box)
        part = cells[planes, rows]
        return part.reshape(*part.shape[:2], -1)[..., along].transpose(turned)

    def write(values: np.ndarray) -> None:
        planes, rows, along = place(whole)
        part = cells[planes, rows]
        flat = part.reshape(*part.shape[:2], -1)  # a copy: blocks of 16 do not follow each other
        flat[..., along] = values.transpose(axes)
        part[...] = flat.reshape(part.shape)

    return read, write


@dataclass(frozen=True)
class Holder:
    """What one rank holds of a run: its engine, which part of the whole that is, and whose recordings it keeps."""

    engine: CpuEngine
    part: PlanPart
    recorders: list[int]  # the number among all of the plan of each of the engine's
    sums: dict[int, list[np.ndarray]]  # samples of functionals that rank 0 adds up for all

    @classmethod
    def of(cls, engine: CpuEngine | RankEngine) -> Holder:
        """That of an engine of one process, or of this rank."""
        if isinstance(engine, RankEngine):
            return cls(engine.engine, engine.part, engine.part.recorders, engine.sums)
        whole = Box((0, 0, 0), engine.plan.active)
        count = sum(isinstance(term, RecordingTerm) for term in engine.plan.terms)
        return cls(engine, PlanPart(engine.plan, whole, whole), list(range(count)), {})

    @property
    def _terms(self) -> list[RecordingTerm]:
        return [term for term in self.engine.plan.terms if isinstance(term, RecordingTerm)]

    def pieces(self) -> Iterator[Piece]:
        """All that this rank owns; views where they can be."""
        for state in states(self.engine):
            own = self.engine.own.intersection(state.box)
            if own:
                yield Piece(state.name, state.read(own), self.part.there(own).lower)
        yield from self._circuits()
        for number, term, values in zip(self.recorders, self._terms, self.engine.accumulated()):
            if not isinstance(term, Functional):
                yield Piece(f"recorder {number}", values, self._recorded_box(term).lower)
            elif term.whole:
                yield Piece(f"recorder {number}", values)
        for number, samples in self.sums.items():
            yield Piece(f"recorder {number}", np.concatenate([np.zeros(0), *samples]))

    def _circuits(self) -> Iterator[Piece]:
        edges = np.array(self.engine.circuits, np.int64).reshape(-1, 4)
        inside = (edges[:, 1:] >= self.engine.own.lower) & (edges[:, 1:] < self.engine.own.upper)
        own = inside.all(axis=1)
        index = [axis.samples[n] for axis, n in zip(self.part.axes, edges[own, 1:].T)]
        yield Piece("circuits: component, i, j, k", np.stack([edges[own, 0], *index], axis=1))
        yield Piece("circuits: states", self.engine.circuit_states()[own])

    def restore(self, step: int, stored: Stored) -> None:
        """Take all states of what is held, halos included, and what was recorded. Errors: those of `stored`."""
        kept = [self._recorded(step, number, term, stored) for number, term in zip(self.recorders, self._terms)]
        self.engine.resume(step, kept)
        for state in states(self.engine):
            state.write(self._filled(stored, state))
        self._restore_circuits(stored)
        for number in self.sums:
            self.sums[number] = [stored.array(f"recorder {number}")]

    def _filled(self, stored: Stored, state: State) -> np.ndarray:
        """The values of a state, images included, which lie beyond the ends of closed axes."""
        box, leading = state.box, len(state.leading)
        spans = [list(axis.segments(*ends)) for axis, *ends in zip(self.part.axes, box.lower, box.upper)]

        def filled(axis: int, at: tuple[tuple[int, int], ...]) -> np.ndarray:
            if axis == 3:
                part = Box(*(tuple(ends) for ends in zip(*at)))
                return stored.filled(state.name, part, state.leading, state.sparse)
            parts = [filled(axis + 1, (*at, span)) for span in spans[axis]]
            return parts[0] if len(parts) == 1 else np.concatenate(parts, leading + axis)

        return filled(0, ())

    def _recorded(self, step: int, number: int, term: RecordingTerm, stored: Stored) -> np.ndarray | None:
        name = f"recorder {number}"
        if isinstance(term, Functional):
            return stored.array(name) if term.whole else None
        leading = (len(term.frequencies), 2) if isinstance(term, DFTBox) else (term.taken(step),)
        return stored.filled(name, self._recorded_box(term), leading)

    def _recorded_box(self, term: DFTBox | SnapshotBox) -> Box:
        return self.part.there(Box(tuple(term.lower), tuple(term.upper)))

    def _restore_circuits(self, stored: Stored) -> None:
        edges = stored.joined("circuits: component, i, j, k").tolist()
        known = dict(zip(map(tuple, edges), stored.joined("circuits: states")))
        shifted = [
            (component, *(int(axis.samples[n]) for axis, n in zip(self.part.axes, at)))
            for component, *at in self.engine.circuits
        ]
        if shifted:
            found = np.array([stored.known(known, edge) for edge in shifted])
            self.engine.set_circuit_states(np.arange(len(shifted)), found)
