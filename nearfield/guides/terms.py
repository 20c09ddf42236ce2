"""A mode as terms of an engine: the currents that launch it, the sums that measure its voltage and current."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nearfield.analysis.guided_line import Line
from nearfield.entry.constants import VACUUM_SPEED
from nearfield.guides.launch import LaunchedMode
from nearfield.guides.loaded_launch import LaunchedProfiles
from nearfield.guides.loaded_mode import LoadedMode
from nearfield.guides.modes import Mode
from nearfield.lowering.context import Context
from nearfield.plan.excitations import Waveform
from nearfield.plan.recorders import Functional
from nearfield.plan.terms import IncidentTerm
from nearfield.ports.lumped import functional


@dataclass(frozen=True)
class Frame:
    """Where a port's plane is: axis, `sign` of its direction, numbers of the half nodes behind and ahead of it, lengths
    (m) of the cells behind and ahead and of the plane's dual cell."""

    axis: int
    sign: int
    behind: int
    ahead: int
    before: float
    after: float
    dual: float

    @classmethod
    def of(cls, context: Context, axis: int, sign: int, node: int) -> Frame:
        """That of the plane of a node."""
        lengths = [float(length) for length in context.grid.primary(axis)[[node - 1, node]]][::sign]
        halves = (node - 1, node)[::sign]
        return cls(axis, sign, *halves, *lengths, float(context.grid.dual(axis)[node]))

    def moved(self, index: np.ndarray, to: int) -> np.ndarray:
        """Samples of the plane at another number along the guide."""
        index = index.copy()
        index[self.axis] = to
        return index


def launched(context: Context, mode: Mode | LoadedMode, line: Line, frame: Frame, signal: Waveform) -> list:
    """What the engine adds in the plane and half a cell before it."""
    advance = VACUUM_SPEED * context.time_step
    own = line, frame.dual, signal.value, signal.excitation, signal.end
    if isinstance(mode, LoadedMode):
        component, index, magnetic, turn, _, cb, db = mode.edges
        wave = LaunchedProfiles(*own, context.steps)
        weights, shares = (cb, turn * db), (mode.magnetic.T, mode.electric.T)
    else:
        component, index, electric, magnetic, beside, _, part = mode.samples()
        filling, wave = mode.section.filling, LaunchedMode(*own)
        weights = 1 / filling.permittivity * part * electric, beside / filling.permeability
        shares = (np.ones((component.size, 1)),) * 2
    if shares[0].shape[1] == 1:  # the share of a single tap is left out
        weights = [weight * share[:, 0] for weight, share in zip(weights, shares)]
        shares = [np.ones_like(share) for share in shares]
    places = (component, index), (magnetic, frame.moved(index, frame.behind))
    scales = advance / frame.dual, frame.sign * advance / frame.before
    column = np.tile(np.arange(shares[0].shape[1]), (component.size, 1))
    return [
        IncidentTerm(number, *at, scale * weight, column, share, wave)
        for (number, at), scale, weight, share in zip(places, scales, weights, shares)
    ]


def received(context: Context, mode: Mode | LoadedMode, frame: Frame) -> list[Functional]:
    """The sums for V in the plane, then those for I half a cell ahead, one of each for every profile of the mode."""
    if isinstance(mode, LoadedMode):
        component, index, magnetic, turn, area, *_ = mode.edges
        on_electric, on_magnetic = mode.magnetic * area, mode.electric * area * turn
    else:
        component, index, electric, magnetic, beside, area, part = mode.samples()
        on_electric, on_magnetic = [electric * area], [beside * area * part]
    ahead = frame.moved(index, frame.ahead)
    return [
        *(functional(context, component, index, weight) for weight in on_electric),
        *(functional(context, magnetic, ahead, frame.sign * weight) for weight in on_magnetic),
    ]
