"""A plan's terms as the core takes them: storage components, and samples in the order of its rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from nearfield.engines.stored.turn import Turn
from nearfield.entry.constants import VACUUM_IMPEDANCE
from nearfield.plan.plan import Plan, in_precision
from nearfield.plan.recorders import DFTBox, Functional, SnapshotBox
from nearfield.plan.term import is_magnetic
from nearfield.plan.terms import CircuitTerm, CurrentTerm, IncidentTerm

Point = CurrentTerm | CircuitTerm | Functional | IncidentTerm


class CoreTerms:
    """Adds the terms of a plan to a core, in their order; `circuits`: (component, i, j, k) of each edge as the core
    holds them."""

    def __init__(self, plan: Plan, core: Any) -> None:
        self._plan, self._core, self._turn = plan, core, Turn(plan.storage_axes)
        self._numbers = np.array([plan.storage_component(n) for n in range(12)], np.int64)
        self.circuits: list[tuple[int, int, int, int]] = []
        for term in (each.drawn() for each in plan.terms):
            match term:
                case CurrentTerm():
                    self._add_current(term)
                case CircuitTerm():
                    self._add_circuit(term)
                case IncidentTerm():
                    self._add_incident(term)
                case Functional():
                    self._add_functional(term)
                case DFTBox():
                    core.add_fourier(*self._box(term), len(term.frequencies), term.stride)
                case SnapshotBox():
                    unit = 1.0 / VACUUM_IMPEDANCE if is_magnetic(term.component) and not term.kept else 1.0
                    core.add_snapshot(*self._box(term), np.ascontiguousarray(term.steps, np.int64), term.kept, unit)

    def _box(self, term: DFTBox | SnapshotBox) -> tuple[int, list[int], list[int]]:
        return self._number(term), self._turn.place(term.lower), self._turn.place(term.upper)

    def _number(self, term: CurrentTerm | CircuitTerm | DFTBox | SnapshotBox) -> int:
        return int(self._numbers[term.component])

    def _places(self, term: Point) -> list[np.ndarray]:
        return [np.asarray((term.i, term.j, term.k)[axis], np.int64) for axis in self._turn.axes]

    def _turned(self, term: Point) -> tuple[list[np.ndarray], np.ndarray]:
        """Storage indices of a term's samples in the order (component, a, b, c), equal ones in their own."""
        places = self._places(term)
        component = np.broadcast_to(np.asarray(term.component), places[0].shape)
        order = np.lexsort((np.arange(places[0].size), *reversed(places), component))
        return [np.ascontiguousarray(index[order]) for index in places], order

    def _add_current(self, term: CurrentTerm) -> None:
        places, order = self._turned(term)
        weight = in_precision(term.weight[order], self._plan.dtype)
        self._core.add_current(self._number(term), *places, weight, self._plan.column(term.waveform))

    def _add_functional(self, term: Functional) -> None:
        places, order = self._turned(term)
        component = self._numbers[np.broadcast_to(term.component, term.i.shape)[order]]
        weight = np.asarray(term.weight, float)[order] / np.where(component % 6 >= 3, VACUUM_IMPEDANCE, 1.0)
        place = (np.arange(len(order)) if term.place is None else np.asarray(term.place))[order].astype(np.int64)
        self._core.add_functional(component, *places, weight, place, term.terms or len(order), term.stride)

    def _add_circuit(self, term: CircuitTerm) -> None:
        places, order = self._turned(term)
        count = len(term.i)
        scalars = (term.admittance, term.voltage_factor, term.feedback, term.inverse, term.drive)
        columns = [np.broadcast_to(column, count) for column in scalars]
        for values, width in ((term.output, 2), (term.input, 2), (term.transition, 4)):
            columns += list(np.reshape(values, (count, width)).T)
        numbers = np.ascontiguousarray(np.stack(columns, axis=1)[order])
        edges = zip(*(np.asarray(index)[order].tolist() for index in (term.i, term.j, term.k)))
        self.circuits += [(int(term.component), *edge) for edge in edges]
        self._core.add_circuit(self._number(term), *places, numbers, self._plan.column(term.waveform))

    def _add_incident(self, term: IncidentTerm) -> None:
        a, b, c = self._places(term)
        component = self._numbers[term.component]
        order = np.lexsort((np.arange(a.size), component, b, a))
        places = [np.ascontiguousarray(index[order]) for index in (component, a, b, c)]
        weight = in_precision(term.weight[order], self._plan.dtype)
        column = np.ascontiguousarray(term.column[order], np.int32)
        share: np.ndarray = np.ascontiguousarray(term.share[order], self._plan.dtype)
        self._core.add_incident(term.magnetic, self._plan.wave(term.wave), *places, weight, column, share)
