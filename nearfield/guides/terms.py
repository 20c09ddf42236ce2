"""A port's place on the grid, made once for a model, and the terms of it: what launches a mode, what measures it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nearfield.analysis.guided_line import GuideLine
from nearfield.analysis.guided_record import recorded
from nearfield.analysis.loaded_line import LoadedLine
from nearfield.entry.constants import VACUUM_SPEED
from nearfield.guides.loaded_mode import LoadedMode
from nearfield.guides.modes import Mode
from nearfield.lowering.context import Context
from nearfield.plan.excitations import Waveform
from nearfield.plan.recorders import Functional, Recording
from nearfield.plan.terms import IncidentTerm
from nearfield.ports.lumped import functional
from nearfield.records.records import Variables


@dataclass(frozen=True)
class PlacedPort:
    """A port of one mode on the grid of a model: the mode and its line, where its plane is, and how cells lie there.

    `axis`, `sign`: along the guide, of the direction into the structure; `plane`, `reference_plane`: coordinates (m);
    `behind`, `ahead`: numbers of the half nodes beside the plane; `before`, `after`: lengths (m) of the cells there;
    `dual`: length (m) that the plane's E stands for.
    """

    name: str  # of the mode
    mode: Mode | LoadedMode
    line: GuideLine | LoadedLine
    axis: int
    sign: int
    plane: float
    reference_plane: float
    behind: int
    ahead: int
    before: float
    after: float
    dual: float

    @classmethod
    def of(cls, context: Context, name: str, mode: Mode | LoadedMode, sign: int, reference: float | None) -> PlacedPort:
        """The port of a mode on the grid; `reference`: coordinate (m) of the reference plane, None: the port's own."""
        grid, place = context.grid, mode.section.place
        axis, node = place.axis, place.node
        plane, dual = float(grid.lines[axis][node]), float(grid.dual(axis)[node])
        behind, ahead = (node - 1, node)[::sign]
        before, after = (float(grid.primary(axis)[half]) for half in (behind, ahead))
        line, reference = mode.line(after, context.time_step), plane if reference is None else reference
        return cls(name, mode, line, axis, sign, plane, reference, behind, ahead, before, after, dual)

    def launched(self, context: Context, signal: Waveform) -> list[IncidentTerm]:
        """The currents that launch the mode, in the plane and half a cell before it."""
        traces, edges, advance = self.mode.traces, self.mode.section.edges, VACUUM_SPEED * context.time_step
        wave = self.mode.wave(self.line, self.dual, signal, context.steps)
        (electric, magnetic), shares = traces.launched, traces.shares
        if self.behind < self.ahead:  # by Db of the very faces: bounds of the time step take the cells along the guide
            magnetic = magnetic * edges.db_before / edges.db
        if shares[0].shape[1] == 1:  # the share of a single tap is left out
            electric, magnetic = electric * shares[0][:, 0], magnetic * shares[1][:, 0]
            shares = np.ones_like(shares[0]), np.ones_like(shares[1])
        electric, magnetic = advance / self.dual * electric, self.sign * advance / self.before * magnetic
        column = np.tile(np.arange(shares[0].shape[1]), (electric.size, 1))
        (i, j, k), (p, q, r) = edges.index, self._moved(edges.index, self.behind)
        return [
            IncidentTerm(edges.component, i, j, k, electric, column, shares[0], wave),
            IncidentTerm(edges.magnetic, p, q, r, magnetic, column, shares[1], wave),
        ]

    def received(self, context: Context) -> list[Functional]:
        """The sums for V in the plane, then those for I half a cell ahead, one of each for a profile of the mode."""
        edges, (electric, magnetic) = self.mode.section.edges, self.mode.traces.received
        ahead = self._moved(edges.index, self.ahead)
        return [
            *(functional(context, edges.component, edges.index, weight) for weight in electric),
            *(functional(context, edges.magnetic, ahead, self.sign * weight) for weight in magnetic),
        ]

    def record(self, recordings: list[Recording]) -> Variables:
        """The variables of the port; `cells` lie between it and its reference plane."""
        cells = self.sign * (self.reference_plane - self.plane) / self.after
        notes = {"cutoff_frequency": self.line.cutoff_frequency, "reference_plane": self.reference_plane}
        return recorded(self.line, recordings, {"mode": self.name, **notes, "cells": cells})

    def _moved(self, index: np.ndarray, to: int) -> np.ndarray:
        """Samples of the plane at another number along the guide."""
        index = index.copy()
        index[self.axis] = to
        return index
