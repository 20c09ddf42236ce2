"""What is left in every record at its end, against its peak: a record that still rings is cut off."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from nearfield.discretization.discretization import Discretization
from nearfield.entry.levels import decibels, power_decibels
from nearfield.records.records import ExcitationRecord, Variables
from nearfield.trust.entries import Trust, judged

LEFT = -40.0, -20.0  # dB of the peak: a resonance's spectrum errs by what is left of it, 1 % and 10 %
PREFIX, DRIVEN = "left at the end in ", "; driven: "
TAIL = (0.05, 0.2)  # least and largest part of the record that counts as its end
ROUNDING = 1e-5  # signals below this part of the largest of their unit hold little but rounding
SERIES = ("probe", "voltage", "current")  # kinds of monitors that record signals
LOWEST = -200.0  # dB, in place of nothing at all


def records_left(
    setup: Discretization, excitation: str, record: ExcitationRecord, energy_left: float | None
) -> list[Trust]:
    """What is left (dB of the peak) in each port, signal and running sum at the end of an excitation.

    Of a signal it is half its swing over its last part, a period of the lowest useful frequency or a twentieth of the
    record: what stays constant spoils no spectrum above zero. Where such a period may reach back into the pulse the
    last twentieth and its slopes can say that less is left. Of a running sum, that has no history, it is
    `energy_left`, that of the fields over its peak. None of a source without end.
    """
    if math.isinf(setup.source_end(excitation)):
        return []
    waveform = setup.excitation_waveform(excitation)
    low = 0.0 if waveform is None else waveform.band[0]
    signals = {f"{kind} {name!r}": found for kind, name, found in _signals(record)}
    largest: dict[str, float] = {}
    for found in signals.values():
        for unit, _, values in found:
            largest[unit] = max(largest.get(unit, 0.0), float(np.abs(values).max(initial=0.0)))
    entries = []
    for label, found in signals.items():
        levels = [level_left(times, values, low, ROUNDING * largest[unit]) for unit, times, values in found]
        if any(level is not None for level in levels):
            entries.append(_entry(label, excitation, max(level for level in levels if level is not None)))
    level = max(float(power_decibels(energy_left)), LOWEST) if energy_left else None
    for name, monitor in record.monitors.items():
        if "frequency" in monitor.variables:
            entries.append(_entry(f"{monitor.kind} {name!r}", excitation, level))
    return entries


def record_name(entry: Trust) -> str:
    """The record that an entry is about: `port 'in'`."""
    return entry.name.removeprefix(PREFIX).partition(DRIVEN)[0]


def _entry(label: str, excitation: str, level: float | None) -> Trust:
    text = "of the record's peak when the run ended: near resonances spectra err by about as much. More `steps`"
    name = f"{PREFIX}{label}{DRIVEN}{excitation}"
    return judged(name, float("nan") if level is None else level, *LEFT, text, "dB")


def _signals(record: ExcitationRecord) -> Iterator[tuple[str, str, list[tuple[str, np.ndarray, np.ndarray]]]]:
    """Kind, name, and (unit, times, values) of what has a history; not of what is made for resonances."""
    for name, variables in record.ports.items():
        yield "port", name, _series(variables)
    for name, monitor in record.monitors.items():
        if monitor.kind in SERIES and not monitor.entry.get("resonances"):
            yield monitor.kind, name, _series(monitor.variables)


def _series(variables: Variables) -> list[tuple[str, np.ndarray, np.ndarray]]:
    """Unit, times and values of each variable over a time of its own."""
    return [
        (str(variable.attributes.get("units", "")), variables[variable.dims[0]].array, variable.array)
        for name, variable in variables.items()
        if len(variable.dims) == 1
        and name != variable.dims[0]
        and variable.dims[0] in variables
        and variable.dims[0].startswith("time")
    ]


def level_left(times: np.ndarray, values: np.ndarray, low: float, least: float) -> float | None:
    """Half the swing at the end of a signal over its peak, in dB; None of one below `least`, or of none."""
    peak = float(np.abs(values).max(initial=0.0))
    if values.size < 2 or peak <= least:
        return None
    periods = low * (times[-1] - times[0])
    part = float(np.clip(1.0 / periods if periods > 0 else TAIL[0], *TAIL))
    swing = _swing(values, part)
    if part > TAIL[0]:  # what goes on at `low` or above is no larger than its slopes say
        swing = min(swing, max(_swing(values, TAIL[0]), _steepest(times, values, TAIL[0]) / (2.0 * math.pi * low)))
    return max(float(decibels(max(swing / peak, 1e-30))), LOWEST)


def _swing(values: np.ndarray, part: float) -> float:
    """Half the swing of a signal over its last part."""
    tail = values[-max(2, int(part * values.size)) :]
    return 0.5 * float(max(np.ptp(tail.real), np.ptp(tail.imag)))


def _steepest(times: np.ndarray, values: np.ndarray, part: float) -> float:
    """The largest slope of a signal over its last part."""
    tail = slice(-max(2, int(part * values.size)), None)
    slopes = np.diff(values[tail]) / np.diff(times[tail])
    return float(max(np.abs(slopes.real).max(), np.abs(slopes.imag).max()))
