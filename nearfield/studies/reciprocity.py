"""What a change of coefficients makes of the waves at ports, by the fields of the runs that drive them.

Two states of a grid whose coefficients are symmetric, the second with others, exchange at their ports

    sum_ports (V_1 I_2 - V_2 I_1) = sum_H i_1 i_2 d(M l/a) / eta0 - sum_E i_1 i_2 d(M l/a) / eta0

where i is the circulation of the other field round a sample, of E or of eta0 H, M what a unit of curl makes of the
sample in a step, l its length and a the area of the circulation, so that M l/a is what a unit of circulation makes of
the sample's voltage; in a CPML lengths are stretched. Grids may differ in their lengths, not in their numbers of cells.
To first order the second state's circulations are those of the model as it is, so that the runs that drive its ports
say everything. Source: Nikolova, Zhu, Song, Bakr, IEEE Trans. MTT 57, 1526 (2009), self-adjoint sensitivities; the sum
is exact on the grid.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from nearfield.entry.constants import VACUUM_IMPEDANCE, VACUUM_SPEED
from nearfield.grid.yee import is_half
from nearfield.plan.planning import axis_profile
from nearfield.studies.touched import LESS, MORE, RUN, Models, Touched, neighbours

if TYPE_CHECKING:
    from nearfield.discretization.discretization import Discretization
    from nearfield.plan.plan import AxisProfile
    from nearfield.studies.sample_fields import Spectra


class Exchange:
    """The sums over samples for a model, with more and with less of a parameter, at frequencies (Hz)."""

    def __init__(self, models: Models, frequencies: np.ndarray) -> None:
        self._turn = np.exp(2j * np.pi * frequencies * models[RUN].time_step)
        self._light = VACUUM_SPEED * models[RUN].time_step
        self._profiles = [_profiles(model) for model in models]

    def of(self, part: Touched, sides: np.ndarray, runs: Sequence[Spectra]) -> np.ndarray:
        """The exchange of each pair of runs over the samples of a component, a step of the parameter: (f, run, run)."""
        now, more, less = (self._made(part, which) for which in (RUN, MORE, LESS))
        slope = np.where(sides > 0, more - now, np.where(sides < 0, now - less, 0.5 * (more - less)))
        round_it = np.stack([self._circulation(part, run) for run in runs])
        sign = 1.0 if part.component < 3 else -1.0
        found: np.ndarray = np.einsum("fn,afn,bfn->fab", slope, round_it, round_it, optimize=True)
        return sign / VACUUM_IMPEDANCE * found

    def _lengths(self, part: Touched, which: int) -> tuple[np.ndarray, np.ndarray]:
        """Stretched length (m) of samples, and area (m^2) across it: (frequency, n)."""
        own, first, second = (
            self._length(which, axis % 3, is_half(part.component, axis % 3), part.index[axis % 3])
            for axis in range(part.component % 3, part.component % 3 + 3)
        )
        return own, first * second

    def _length(self, which: int, axis: int, half: bool, at: np.ndarray) -> np.ndarray:
        """Stretched lengths (m) of cells, or of those between their centres: (frequency, n)."""
        profile = self._profiles[which][axis]
        if half:
            inverse, decay, drive = profile.inverse_primary, profile.decay_magnetic, profile.drive_magnetic
        else:
            inverse, decay, drive = profile.inverse_dual, profile.decay_electric, profile.drive_electric
        length: np.ndarray = 1.0 / (inverse[at] + drive[at] / (1.0 - decay[at] / self._turn[:, None]))
        return length

    def _made(self, part: Touched, which: int) -> np.ndarray:
        """The voltage that a unit of circulation makes of samples: (frequency, n)."""
        length, area = self._lengths(part, which)
        made: np.ndarray = self._light * part.response(which, self._turn) * length / area
        return made

    def _circulation(self, part: Touched, run: Spectra) -> np.ndarray:
        """Circulation round samples, (frequency, n): from the sample, or its neighbours where it is zero for good."""
        length, _ = self._lengths(part, RUN)
        made, dead = self._made(part, RUN), part.dead
        found = run.at(part.component, part.index) * length / np.where(dead, 1.0, made)
        found[:, dead] = 0.0
        for component, index, sign, axis in neighbours(part):
            across = 3 - axis - part.component % 3
            side = self._length(RUN, across, part.component >= 3, part.index[across, dead])
            found[:, dead] += sign * run.at(component, index) * side
        return found


def _profiles(model: Discretization) -> list[AxisProfile]:
    """Lengths and CPML factors of each axis, in metres."""
    active = model.coefficients.active
    return [axis_profile(model.grid, model.boundaries, axis, active[axis], model.time_step, 1.0) for axis in range(3)]
