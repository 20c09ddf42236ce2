"""Voltage over current (ohm) of the wave on a pair of conductors: of TEM modes, and of quasi-TEM modes by their power.

A TEM mode has one: power, voltage and current agree on it. The quasi-TEM mode of two conductors in a mixed filling has
a current, that which H round the inner conductor gives, and a voltage that depends on the way: its impedance is
2 P/abs(I)^2. With E = V e, n x H = I h and the power V I, that is (V/I)/c^2, c the sum of h over the dual lengths round
the conductor. Other modes have none: NaN.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nearfield.entry.constants import VACUUM_IMPEDANCE
from nearfield.guides.counted import conductors, static_fields
from nearfield.guides.loaded import whole
from nearfield.guides.loaded_mode import LoadedMode
from nearfield.guides.modes import Mode, flat_edges
from nearfield.guides.section import Section

DEFINITION = "TEM: voltage over current; quasi-TEM: 2 P/abs(I)^2, I the current of the inner conductor; else NaN"
QUASI_TEM = 0.5  # least overlap of n x H with the static field between the conductors; 0 of other modes in one medium


def line_impedance(mode: Any, line: Any, frequency: float) -> float:
    """The impedance (ohm) at a frequency (Hz); NaN without two conductors, and of modes of another kind."""
    section = mode.section
    label, count = conductors(section)
    if count != 2:
        return float("nan")
    if isinstance(mode, LoadedMode):
        return _by_power_and_current(mode, line, label, frequency)
    return _by_voltage(mode, label) if isinstance(mode, Mode) and mode.family == "TEM" else float("nan")


def _by_voltage(mode: Mode, label: np.ndarray) -> float:
    section, filling = mode.section, mode.section.filling
    end, row = np.argwhere(label.reshape(section.live_n.shape) == 1)[0]
    volts = (mode.electric[0] * filling.open_u * section.primary[0][:, None])[:end, row].sum()
    return float(volts**2 * VACUUM_IMPEDANCE * (filling.permeability / filling.permittivity) ** 0.5)


def _by_power_and_current(mode: LoadedMode, line: Any, label: np.ndarray, frequency: float) -> float:
    """NaN too beyond the frequencies that are known of the mode, and below its cut-off."""
    section, at = mode.section, np.array([frequency])
    profile = whole(section, (line.shares(at) @ mode.magnetic_parts @ mode.magnetic)[0])
    area, static = flat_edges(section)[0], static_fields(section)[0]
    overlap = np.sum(area * static * profile) ** 2 / (np.sum(area * static**2) * np.sum(area * profile**2))
    forward, back = (values[0] for values in line.admittances(at))
    if not overlap > QUASI_TEM or not abs(forward - back) > 0.0:
        return float("nan")
    modal = 2.0 / (forward - back)
    current = float(np.sum(_round_inner(section, label) * profile))
    travels = abs(modal.imag) < 1e-6 * abs(modal.real)
    return float(modal.real / current**2) if travels and current else float("nan")


def _round_inner(section: Section, label: np.ndarray) -> np.ndarray:
    """Dual lengths (m) across all edges that leave the inner conductor, negative across those that come to it."""
    inner = (label == 1).reshape(section.live_n.shape).astype(float)
    along_u = (inner[:-1] - inner[1:]) * section.dual[1][None, :]
    along_v = (inner[:, :-1] - inner[:, 1:]) * section.dual[0][:, None]
    return np.concatenate((along_u.ravel(), along_v.ravel()))
