"""The record of a waveguide port, and from it the port's line and the spectra of modal voltage and current.

The V and I of a mode with one profile are its `voltage` and `current`. The record of a hybrid mode has the sums with
each of a few profiles, `voltage_parts` and `current_parts`; V(f) is their sum weighted by the shares of the profiles in
the mode's H at f, I(f) by those in E, from the polynomials of its line. Its `voltage` and `current` are V and I of the
middle of the band.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from nearfield.analysis.guided_line import GuideLine, Line
from nearfield.analysis.loaded_line import LoadedLine
from nearfield.analysis.open_line import OpenLine
from nearfield.plan.recorders import Recording
from nearfield.records.records import HALF, Variable, Variables

PARTS = "_parts"
UNITS = {"frequencies": "Hz", "squares": "1/m^2", "drives": "1/m^2", "electric": "", "magnetic": ""}  # a line's arrays
OPEN_UNITS = {"within": "", "currents": ""}  # more of them, of an open line's
WEIGHTS = {"voltage": "magnetic", "current": "electric"}  # the line's shares that weigh a sum


def recorded(line: Line, recordings: list[Recording], notes: dict) -> Variables:
    """The variables of a port from its recordings, V before I; `notes` of the port become attributes of the voltage."""
    half = len(recordings) // 2
    sums = {"voltage": recordings[:half], "current": recordings[half:]}
    variables: Variables = {}
    for name, unit, end in (("voltage", "V", ""), ("current", "A", HALF)):
        values, time = np.stack([each.values for each in sums[name]]), "time" + end
        variables[time] = Variable((time,), sums[name][0].time, {"units": "s"})
        more = {name: value for name, value in vars(line).items() if np.isscalar(value)} | notes
        if isinstance(line, LoadedLine):
            variables[name + PARTS] = Variable(("profile", time), values, {"units": unit})
            middle = np.array([0.5 * line.frequencies[[0, -1]].sum()])
            values = line.weights(WEIGHTS[name], middle) @ values
        variables[name] = Variable((time,), values[0], {"units": unit, **(more if name == "voltage" else {})})
    if isinstance(line, LoadedLine):
        units = UNITS | OPEN_UNITS if isinstance(line, OpenLine) else UNITS
        for name, unit in units.items():
            values = getattr(line, name)
            variables["line_" + name] = Variable(("point", "profile")[: values.ndim], values, {"units": unit})
        variables["point"] = variables["line_frequencies"]
        variables["profile"] = Variable(("profile",), np.arange(half), {"units": ""})
    return variables


def line_of(variables: Variables) -> Line | None:
    """The line of a waveguide port; None of another port."""
    notes = variables["voltage"].attributes
    if "mode" not in notes:
        return None
    if "line_squares" not in variables:
        return GuideLine(**{name: notes[name] for name in GuideLine.__dataclass_fields__})
    kind, units = (OpenLine, UNITS | OPEN_UNITS) if "line_within" in variables else (LoadedLine, UNITS)
    arrays = {name: variables["line_" + name].array for name in units}
    return kind(**arrays, cell=notes["cell"], time_step=notes["time_step"])


def modal_spectrum(variables: Variables, name: str, frequencies: np.ndarray, transform: Callable) -> np.ndarray:
    """The spectrum of V or I of any port, by `transform(times, values, frequencies)` of signals, times last."""
    variable = variables[name]
    times = variables[variable.dims[-1]].array
    line = line_of(variables)
    if not isinstance(line, LoadedLine):
        return transform(times, variable.array, frequencies)
    parts = transform(times, variables[name + PARTS].array, frequencies)
    return np.sum(line.weights(WEIGHTS[name], frequencies).T * parts, axis=0)
