"""The oracle: what an engine must do, step by step in NumPy, on global axes and dense arrays.

It takes a `Plan` and makes the same operations in the same order as the engines, in the plan's precision, so that
states and recordings are equal to the last bit. It knows nothing of rows, blocks, palettes, threads or records; of the
storage it needs only the order of the axes, because energy is summed in blocks of 16 cells along rows.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from nearfield.engines.protocol import FIELDS, Block, NamedState, Stop, Undivided
from nearfield.engines.reference.denormals import denormals_flushed
from nearfield.engines.reference.update import Fields
from nearfield.entry.constants import VACUUM_IMPEDANCE
from nearfield.entry.triples import triple
from nearfield.plan.boxes import Box
from nearfield.plan.excitations import Marches
from nearfield.plan.plan import Plan
from nearfield.plan.recorders import DFTBox, Functional, Recording, RecordingTerm, SnapshotBox
from nearfield.plan.term import is_magnetic
from nearfield.plan.terms import CircuitTerm, CurrentTerm, IncidentTerm


class ReferenceEngine(Fields, Undivided):
    """The `reference` engine: slow, for tests. It takes the options of any engine, and none changes anything.

    It does not make steps by regions (`Halves`), so it cannot share a run with other ranks. Methods without a text are
    those of the protocols.
    """

    def __init__(self, plan: Plan, *_: object, **options: object) -> None:
        super().__init__(plan := plan.drawn())
        self.own = plan.box
        edges = [(t.component, *edge) for _, t in self._circuits for edge in zip(t.i, t.j, t.k)]
        self.circuits = [(int(component), int(i), int(j), int(k)) for component, i, j, k in edges]
        self.marches = Marches(plan.waves, plan.dtype)
        self.reset()

    def reset(self) -> None:
        self.clear()
        self.step = 0
        self.memories = {n: np.zeros((len(term.i), 2)) for n, term in self._circuits}
        self.samples: dict[int, list[float]] = {}
        self.sums: dict[int, np.ndarray] = {}
        self.copies: dict[int, np.ndarray] = {}
        self.places: dict[int, list[np.ndarray]] = {}  # of snapshots that are not kept
        for n, term in self._recorders:
            if isinstance(term, Functional):
                self.samples[n] = []
            elif isinstance(term, DFTBox):
                self.sums[n] = np.zeros((len(term.frequencies), 2, *term.box.shape), self.plan.dtype)
            else:
                self.copies[n] = np.zeros((len(term.steps) * term.kept, *term.box.shape), self.plan.dtype)

    @property
    def _circuits(self) -> list[tuple[int, CircuitTerm]]:
        return [(n, term) for n, term in enumerate(self.plan.terms) if isinstance(term, CircuitTerm)]

    @property
    def _recorders(self) -> list[tuple[int, RecordingTerm]]:
        return list(zip([n for n, term in enumerate(self.plan.terms) if term.recorded], self.plan.recorders))

    def facts(self) -> dict[str, Any]:
        arrays = [*self.fields, *self.psi.values(), *self.pole_states.values()]
        none = dict.fromkeys(("palette_blocks", "tile_depth", "tile_width", "tile_segment"), 0)
        found = {
            "isa": "numpy",
            "threads": 1,
            "thread_ids": [threading.get_native_id()],
            "domains": 1,
            "step": self.step,
        }
        return found | none | {"schedule": "stepwise", "bytes": sum(array.nbytes for array in arrays)}

    def state(self, component: int) -> np.ndarray:
        """The array of one component, active shape; H as eta0 H. It is another one after a step."""
        return self.fields[component]

    def advance(
        self, steps: int, excitation: str = "sources", weigh: bool = False, stop: Stop | None = None
    ) -> Block | None:
        waves = self.marches.tables(self.step + 1, steps, excitation)
        with denormals_flushed():
            for n in range(steps):
                self.waves = [wave if wave is None else wave[:, n] for wave in waves]
                self._advance_one_step(excitation)
                if stop and stop():
                    return None
        return Block(self.energy() if weigh else -1.0)

    def _advance_one_step(self, excitation: str) -> None:
        self.step += 1
        electric, magnetic = self.plan.amplitudes(self.step, 1, excitation)
        before = [field.copy() for field in self.fields]
        self._advance_poles(range(3))
        self._update_electric()
        self._couple()
        self._apply_terms(False, electric[0], before)
        self._advance_poles(range(3, 6))
        self._update_magnetic()
        self._apply_terms(True, magnetic[0], before)

    # ---- sources, circuits, recorders

    def _apply_terms(self, magnetic: bool, amplitudes: np.ndarray, before: list[np.ndarray]) -> None:
        """All terms of one half step in the plan's order; a term changes its own samples only."""
        for number, term in enumerate(self.plan.terms):
            if is_magnetic(term.component) != magnetic:
                continue
            if isinstance(term, CurrentTerm):
                self._drive(term, amplitudes[self.plan.column(term.waveform)])
            elif isinstance(term, IncidentTerm):
                self._receive(term, self.waves[self.plan.wave(term.wave)])
            elif isinstance(term, CircuitTerm):
                self._advance_circuit(number, term, amplitudes, before[term.component])
            elif isinstance(term, Functional) and self.step % term.stride == 0:
                self.samples[number].append(self._functional(term))
            elif isinstance(term, DFTBox) and self.step % term.stride == 0:
                self._add_to_spectrum(number, term)
            elif isinstance(term, SnapshotBox):
                for place in np.flatnonzero(term.steps == self.step):
                    self._copy(number, term, int(place))

    def _drive(self, term: CurrentTerm, amplitude: np.floating) -> None:
        weight: np.ndarray = term.weight.astype(self.plan.dtype)
        for n in range(len(term.i)):
            self.fields[term.component][term.i[n], term.j[n], term.k[n]] += weight[n] * amplitude

    def _receive(self, term: IncidentTerm, table: np.ndarray | None) -> None:
        """The incident wave, sample by sample; a table that is silent adds nothing."""
        if table is None:
            return
        now = table[int(term.magnetic)]
        weight: np.ndarray = term.weight.astype(self.plan.dtype)
        share: np.ndarray = term.share.astype(self.plan.dtype)
        for n, component in enumerate(term.component):
            value = now[term.column[n, 0]]
            if term.column.shape[1] > 1:
                value = share[n, 0] * value
            for tap in range(1, term.column.shape[1]):
                value = value + share[n, tap] * now[term.column[n, tap]]
            self.fields[component][term.i[n], term.j[n], term.k[n]] += weight[n] * value

    def _advance_circuit(self, number: int, term: CircuitTerm, amplitudes: np.ndarray, before: np.ndarray) -> None:
        """The formulas of CircuitTerm, in double but for the field itself."""
        column = self.plan.column(term.waveform)
        field = self.fields[term.component]
        for n in range(len(term.i)):
            edge = term.i[n], term.j[n], term.k[n]
            x0, x1 = map(float, self.memories[number][n])
            old = float(before[edge])
            source = 0.0 if column < 0 else float(term.drive[n]) * float(amplitudes[column])
            memory = float(term.output[n, 0]) * x0 + float(term.output[n, 1]) * x1
            factor = float(term.voltage_factor[n])
            known = float(term.admittance[n]) * (factor * old - source) + memory
            unrounded = (float(field[edge]) - float(term.feedback[n]) * known) * float(term.inverse[n])
            field[edge] = self.plan.dtype(unrounded)
            across = factor * (float(field[edge]) + old) - source
            for place in range(2):
                mixed = float(term.transition[n, place, 0]) * x0 + float(term.transition[n, place, 1]) * x1
                self.memories[number][n, place] = mixed + float(term.input[n, place]) * across

    def _functional(self, term: Functional) -> float:
        """Weighted sum in double, in the order of the term."""
        components = np.broadcast_to(term.component, term.i.shape)
        total = 0.0
        for n, component in enumerate(components):
            weight = float(term.weight[n]) / (VACUUM_IMPEDANCE if component % 6 >= 3 else 1.0)
            total += weight * float(self.fields[component][term.i[n], term.j[n], term.k[n]])
        return total

    def _box(self, term: DFTBox | SnapshotBox) -> np.ndarray:
        return self.fields[term.component][term.box.slices()]

    def _copy(self, number: int, term: SnapshotBox, place: int) -> None:
        if term.kept:
            self.copies[number][place] = self._box(term)
        else:
            scale = self.plan.dtype(1.0 / VACUUM_IMPEDANCE if is_magnetic(term.component) else 1.0)
            self.places[number].pop(0)[...] = self._box(term).transpose(self.plan.storage_axes) * scale

    def _add_to_spectrum(self, number: int, box: DFTBox) -> None:
        table = self.plan.phasors(box, self.step, 1)[0]
        for sums, phasor in zip(self.sums[number], table):
            for part in range(2):
                sums[part] += self._box(box) * phasor[part]

    # ---- recordings

    def recordings(self) -> list[Recording]:
        """One for each recording term in the plan's order; SI, so H is divided by eta0 here at the latest."""
        gathered = []
        for number, term in self._recorders:
            later = 0.5 if is_magnetic(term.component) else 0.0
            scale = 1.0 / VACUUM_IMPEDANCE if later else 1.0
            if isinstance(term, Functional):
                values = np.array(self.samples[number], float)
                time = (term.stride * np.arange(1, len(values) + 1) + later) * self.plan.time_step
            elif isinstance(term, DFTBox):
                factor = self.plan.dtype(scale * self.plan.time_step * term.stride)
                values = (self.sums[number][:, 0] + 1j * self.sums[number][:, 1]) * factor
                time = np.zeros(0)
            else:
                values = self.copies[number][: term.taken(self.step)] * self.plan.dtype(scale)
                time = (np.asarray(term.steps)[: len(values)] + later) * self.plan.time_step
            gathered.append(Recording(time, values))
        return gathered

    # ---- states by name, for checkpoints

    def named_states(self) -> Iterator[NamedState]:
        """Fields, psi of the CPML and states of poles, as they are between two steps."""
        whole = self.plan.box
        for component, name in enumerate(FIELDS[: len(self.fields)]):
            yield _state(name, whole, self.fields[component])
        for (component, axis), values in self.psi.items():
            kind = f"psi {'electric' if component % 6 >= 3 else 'magnetic'} d{'xyz'[component % 3]}/d{'xyz'[axis]}"
            length, (low, high) = self.plan.active[axis], self.plan.cpml[axis]
            for first, last in ((0, low), (length - high, length)):
                ends = ((first, last) if n == axis else (0, count) for n, count in enumerate(whole.shape))
                if first < last:
                    yield _state("imaginary " * (component >= 6) + kind, Box(*map(triple, zip(*ends))), values)
        for (medium, component), values in self.pole_states.items():
            name = f"poles of medium {medium} {FIELDS[component % 6]}"
            yield _state("imaginary " * (component >= 6) + name, whole, values, values.shape[:1], sparse=True)

    def circuit_states(self) -> np.ndarray:
        return np.concatenate([np.zeros((0, 2)), *self.memories.values()])

    def set_circuit_states(self, states: np.ndarray) -> None:
        for values in self.memories.values():
            values[...], states = states[: len(values)], states[len(values) :]

    def accumulated(self) -> Iterator[np.ndarray]:
        for n, term in self._recorders:
            if isinstance(term, Functional):
                yield np.array(self.samples[n], float)
            else:
                yield self.sums[n] if isinstance(term, DFTBox) else self.copies[n][: term.taken(self.step)]

    def resume(self, step: int, accumulated: Sequence[np.ndarray | None]) -> None:
        self.reset()
        self.step = step
        for (n, term), values in zip(self._recorders, accumulated, strict=True):
            if values is None:
                continue
            if isinstance(term, Functional):
                self.samples[n] = values.tolist()
            else:
                (self.sums if isinstance(term, DFTBox) else self.copies)[n][: len(values)] = values

    def place_snapshots(self, recorder: int, places: list[np.ndarray]) -> None:
        self.places[self._recorders[recorder][0]] = list(places)


def _state(name: str, box: Box, array: np.ndarray, leading: tuple[int, ...] = (), sparse: bool = False) -> NamedState:
    """A state in an array of all active samples."""

    def read(part: Box) -> np.ndarray:
        return array[(..., *part.slices())]

    def write(values: np.ndarray) -> None:
        array[(..., *box.slices())] = values

    return NamedState(name, box, read, write, leading, sparse)
