"""States and recordings of an engine between two steps, cut into named pieces of global arrays.

Names and coordinates are those of the whole box, so that a checkpoint may be read by other engines, domains, ranks and
storage axes than wrote it. Every sample is in the piece of the rank that owns it; a reader takes all that it holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nearfield.engines.protocol import Engine, NamedState
from nearfield.entry.triples import Triple
from nearfield.parallel.part import PlanPart
from nearfield.plan.boxes import Box
from nearfield.plan.recorders import DFTBox, Functional, RecordingTerm

if TYPE_CHECKING:
    from nearfield.run.checkpoint.store import Stored


@dataclass(frozen=True)
class Piece:
    """Part of a global array, or a whole one: its last three axes begin at sample `lower` of the box; None: whole.

    kept: samples of the part that are not zero, where these alone are to be stored; None: all are.
    """

    name: str
    values: np.ndarray
    lower: Triple | None = None
    kept: np.ndarray | None = None


def kept_samples(values: np.ndarray) -> np.ndarray | None:
    """Where a state (*leading, nx, ny, nz) has any bit; None where that saves less than half of its size."""
    leading = tuple(range(values.ndim - 3))
    kept = np.asarray(values.view(f"u{values.itemsize}").any(axis=leading))
    stored = np.count_nonzero(kept) * (values.nbytes // max(1, kept.size)) + kept.size // 8
    return kept if stored < 0.5 * values.nbytes else None


class Holder:
    """Reads and writes the share of one rank in a run: states of its engine, and the recordings that it keeps."""

    def __init__(self, engine: Engine) -> None:
        self.engine, self.sums = engine.local, engine.shared_sums
        plan = self.engine.plan
        self.part = engine.part or PlanPart(plan, plan.box, plan.box)
        numbers = engine.part.recorders if engine.part else range(len(plan.recorders))
        self.terms = list(zip(numbers, plan.recorders))  # each with its number in the whole plan

    def pieces(self) -> Iterator[Piece]:
        """All that this rank owns; views where they can be."""
        for state in self.engine.named_states():
            if own := self.engine.own.intersection(state.box):
                values = state.read(own)
                yield Piece(
                    state.name, values, self.part.there(own).lower, kept_samples(values) if state.sparse else None
                )
        yield from self._circuits()
        for (number, term), values in zip(self.terms, self.engine.accumulated()):
            if not isinstance(term, Functional):
                yield Piece(f"recorder {number}", values, self.part.there(term.box).lower)
            elif term.whole:
                yield Piece(f"recorder {number}", values)
        for number, samples in self.sums.items():
            yield Piece(f"recorder {number}", np.concatenate([np.zeros(0), *samples]))

    def _edges(self) -> np.ndarray:
        """(component, i, j, k) of each circuit in the whole box."""
        edges = np.array(self.engine.circuits, np.int64).reshape(-1, 4)
        index = [axis.samples[n] for axis, n in zip(self.part.axes, edges[:, 1:].T)]
        return np.stack([edges[:, 0], *index], axis=1)

    def _circuits(self) -> Iterator[Piece]:
        places = np.array(self.engine.circuits, np.int64).reshape(-1, 4)[:, 1:]
        own = ((places >= self.engine.own.lower) & (places < self.engine.own.upper)).all(axis=1)
        yield Piece("circuits: component, i, j, k", self._edges()[own])
        yield Piece("circuits: states", self.engine.circuit_states()[own])

    def restore(self, step: int, stored: Stored) -> None:
        """Take all states of what is held, halos included, and what was recorded. Errors: those of `stored`."""
        self.engine.resume(step, [self._recorded(step, *each, stored) for each in self.terms])
        for state in self.engine.named_states():
            state.write(self._filled(stored, state))
        known = stored.joined("circuits: component, i, j, k").tolist()
        states = dict(zip(map(tuple, known), stored.joined("circuits: states")))
        if self.engine.circuits:
            edges = map(tuple, self._edges().tolist())
            self.engine.set_circuit_states(np.array([stored.known(states, edge) for edge in edges]))
        for number in self.sums:
            self.sums[number] = [stored.array(f"recorder {number}")]

    def _filled(self, stored: Stored, state: NamedState) -> np.ndarray:
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
        return stored.filled(name, self.part.there(term.box), leading)
