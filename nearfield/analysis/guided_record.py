"""What a waveguide port's record holds, and the way back from it: its line, and spectra of modal voltage and current.

Of a mode with one profile V and I are its `voltage` and `current`. Of a hybrid mode sums with each of a few profiles
are kept, `voltage_parts` and `current_parts`; V(f) is their sum with what the mode's H holds of them at f, I(f) with
what E does, by the polynomials of its line. `voltage` and `current` are those in the middle of the band.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from nearfield.analysis.guided_line import GuideLine, Line
from nearfield.analysis.loaded_line import LoadedLine
from nearfield.plan.recorders import Recording
from nearfield.records.records import HALF, Variable, Variables

PARTS = "_parts"
UNITS = {"frequencies": "Hz", "squares": "1/m^2", "drives": "1/m^2", "electric": "", "magnetic": ""}  # a line's arrays
HELD = {"voltage": "magnetic", "current": "electric"}  # whose profiles weigh a sum


def recorded(line: Line, recordings: list[Recording], notes: dict) -> Variables:
    """The variables of a port from its recordings, those of V first; `notes` of the port go with the voltage."""
    half, hybrid = len(recordings) // 2, isinstance(line, LoadedLine)
    sums = {"voltage": recordings[:half], "current": recordings[half:]}
    found: Variables = {}
    for name, unit, end in (("voltage", "V", ""), ("current", "A", HALF)):
        values, time = np.stack([each.values for each in sums[name]]), "time" + end
        found[time] = Variable((time,), sums[name][0].time, {"units": "s"})
        more = {name: value for name, value in vars(line).items() if np.isscalar(value)} | notes
        if hybrid:
            found[name + PARTS] = Variable(("profile", time), values, {"units": unit})
            values = line.shares(np.array([0.5 * line.frequencies[[0, -1]].sum()])) @ getattr(line, HELD[name]) @ values
        found[name] = Variable((time,), values[0], {"units": unit, **(more if name == "voltage" else {})})
    if hybrid:
        for name, unit in UNITS.items():
            values = getattr(line, name)
            found["line_" + name] = Variable(("point", "profile")[: values.ndim], values, {"units": unit})
        found["point"] = found["line_frequencies"]
        found["profile"] = Variable(("profile",), np.arange(half), {"units": ""})
    return found


def line_of(variables: Variables) -> Line | None:
    """The line of a waveguide port; None of another port."""
    notes = variables["voltage"].attributes
    if "mode" not in notes:
        return None
    if "line_squares" not in variables:
        return GuideLine(**{name: notes[name] for name in GuideLine.__dataclass_fields__})
    arrays = {name: variables["line_" + name].array for name in UNITS}
    return LoadedLine(**arrays, cell=notes["cell"], time_step=notes["time_step"])


def modal_spectrum(variables: Variables, name: str, frequencies: np.ndarray, transform: Callable) -> np.ndarray:
    """That of V or I of any port: `transform(times, values, frequencies)` of signals, times last."""
    variable = variables[name]
    times = variables[variable.dims[-1]].array
    if name + PARTS not in variables:
        return transform(times, variable.array, frequencies)
    parts, line = transform(times, variables[name + PARTS].array, frequencies), line_of(variables)
    return np.sum((line.shares(frequencies) @ getattr(line, HELD[name])).T * parts, axis=0)
