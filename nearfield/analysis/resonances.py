"""Resonances of recorded signals by harmonic inversion: frequency, decay, Q and amplitude of each mode, with errors."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from nearfield.analysis.pencil import Exponentials, exponentials, exponentials_in
from nearfield.analysis.spectra import times_of
from nearfield.entry.errors import ModelError
from nearfield.entry.masked import unmasked
from nearfield.entry.quantities import FREQUENCY, NUMBER, TIME, Dimension, Quantity, read_one
from nearfield.records.records import Excitation, ExcitationRecord

if TYPE_CHECKING:
    import xarray

SAMPLES = 300  # samples of a reduced signal: its singular value decomposition takes some 30 ms
FEWEST = 32  # samples of a signal
SIGNIFICANT = 5.0  # errors; a smaller amplitude is noise
STEADY = 1e-4  # relative growth from the first sample to the last that rounding in a run may cause
ROUNDING = 1e-6  # the same of a mode, of the signal's peak over the mode's amplitude: some units of single precision
OFF = 1e-9  # value relative to its peak below which a source has ended
IN_ORDER = "give two times in s, the earlier one first"
FROM_ZERO = "give a quality factor from 0 on"
ALIKE = 0.5  # rad over the signal: exponentials nearer than this may be one
ENDLESS = ("inf", "-inf", np.inf, -np.inf)
Modes = list[tuple[float, float, Exponentials]]  # of each part of a band, with the part's borders (Hz)


def resonances(
    signal: Any,
    band: tuple[Any, Any],
    time_step: Any = None,
    probe: str | None = None,
    start: Any = None,
    end: Any = None,
    smallest_q: float = 10.0,
) -> xarray.Dataset:
    """The resonances in a signal that rings on its own, by harmonic inversion (matrix pencil in sub-bands).

    The signal is taken as a sum of amplitude exp(-decay_rate t) cos(2 pi frequency t + phase), t from the first sample
    used; a complex one as one of exp(-decay_rate t + j 2 pi frequency t), negative frequencies allowed.
    Of a real one the part of the band above 0 is taken.

    signal: what a `Probe`, `Voltage` or `Current` recorded (over `time`), an array (n,), real or complex, with
    `time_step` (s), or a `Result` (or one of its excitations) together with the name of a `probe`: used from when the
    last of its sources has ended. band: lowest and highest frequency (Hz). start, end: times (s) between which it is
    used. All of these may be text, as "2 GHz" and "10 ps". Modes of a Q below `smallest_q` are left out, amplitudes
    below five of their errors, and modes that grow by more than 1e-4 over the signal, more where another mode next to
    it magnifies rounding. Modes that it is too short to tell apart come as one, with what their sum departs from it as
    error. Errors are those of noise on the modes that are found: one that hides in the noise within the width of
    another (decay_rate/pi) moves that one by several errors.

    Returns a Dataset over `mode`, by frequency: `frequency` (Hz), `decay_rate` (1/s), `quality_factor` pi f/decay_rate,
    complex `amplitude` (the signal's unit), and `..._error` of each, one standard deviation. Where the decay is below
    its error, the quality factor (infinite where it is not positive) says no more than "large". `time_origin` (s) is
    the time of the first sample used. Error: `ModelError`.

    >>> import numpy as np
    >>> t = 1e-12 * np.arange(4000)
    >>> ringing = np.exp(-1e7 * t) * np.cos(2 * np.pi * 10e9 * t) + 0.1 * np.cos(2 * np.pi * 10.4e9 * t)
    >>> modes = resonances(ringing, (9e9, 11e9), time_step=1e-12)
    >>> [f"{f / 1e9:.6f}" for f in modes.frequency.values], f"{modes.quality_factor.values[0]:.2f}"
    (['10.000000', '10.400000'], '3141.59')
    """
    low, high = read_band(band)
    time_step = read_number("time_step", time_step, TIME, "give the distance of its samples in s")
    start, end = (read_number(*each, TIME, IN_ORDER) for each in (("start", start), ("end", end)))
    least_q = read_number("smallest_q", smallest_q, NUMBER, FROM_ZERO)
    if start is not None and end is not None and not start < end:
        raise ModelError(f"start and end: given {start} and {end}; {IN_ORDER}")
    if least_q is None or least_q < 0.0:
        raise ModelError(f"smallest_q: given {smallest_q}; {FROM_ZERO}")
    values, step, origin, unit = samples_of(signal, time_step, probe, start, end)
    real = not np.iscomplexobj(values)
    if high <= 0 and real:
        raise ModelError(f"band: given {low:.6g} to {high:.6g} Hz, but the signal is real; let it reach above 0")
    low = max(low, 0.0) if real else low
    if not -0.5 / step <= low < high <= 0.5 / step:
        raise ModelError(
            f"band: given {low:.6g} to {high:.6g} Hz; a signal sampled every {step:.6g} s holds frequencies up to "
            f"{0.5 / step:.6g} Hz, the lower one first"
        )
    parts, heard = modes_in(values, step, low, high), Heard(values.size * step, float(np.abs(values).max()))
    rows = distinct(parts, (low, high), least_q, heard)
    return mode_table(rows, 2.0 if real else 1.0, unit, origin)


def read_number(name: str, given: Any, dimension: Dimension, advice: str) -> float | None:
    """A number in SI, None where none was given; `start` and `end` may be infinite. Error: `ModelError`."""
    if name in ("start", "end") and isinstance(given, str | float) and given in ENDLESS:
        return float(given)
    try:
        return None if given is None else read_one(name, given, Quantity(dimension))
    except ModelError as error:
        raise ModelError(f"{error}; {advice}") from None


def read_band(band: Any) -> tuple[float, float]:
    """The lowest and the highest frequency in Hz."""
    try:
        low, high = (Quantity(FREQUENCY).read(edge) for edge in band)
    except (TypeError, ValueError) as error:
        raise ModelError(f"band: {error}; give the lowest and the highest frequency, as (2e9, 3e9)") from None
    if not low < high:
        raise ModelError(f"band: given {low:.6g} to {high:.6g} Hz; give the lower one first")
    return low, high


def samples_of(
    signal: Any, step: float | None, probe: str | None, start: float | None, end: float | None
) -> tuple[np.ndarray, float, float, str]:
    """Values, the step between them (s), the time of the first one (s), and their unit."""
    if hasattr(signal, "excitation"):
        signal = signal.excitation()
    if isinstance(getattr(signal, "record", None), ExcitationRecord):
        start = rings_from(signal.record) if start is None else start
        signal = recorded(signal, probe)
    unit = ""
    if hasattr(signal, "dims"):
        time, unit = times_of(signal, "resonances()"), signal.attrs.get("units", "")
    elif step is None or not step > 0:
        raise ModelError(f"time_step: given {step}; an array needs the distance of its samples in s, above 0")
    else:
        time = step * np.arange(np.size(signal))
    values = np.asarray(unmasked("the signal", signal))
    if values.ndim != 1 or values.dtype.kind not in "fciu" or not np.isfinite(values).all():
        raise ModelError(f"the signal must be numbers in one row, all finite; given {values.dtype} of {values.shape}")
    used = (time >= (-np.inf if start is None else start)) & (time <= (np.inf if end is None else end))
    time, values = time[used], values[used]
    if time.size < FEWEST:
        raise ModelError(
            f"{time.size} samples lie between start and end; harmonic inversion needs {FEWEST} at least. Record more "
            "steps, or start earlier"
        )
    steps = np.diff(time)
    if np.abs(steps - steps.mean()).max() > 1e-6 * steps.mean():
        raise ModelError("the samples are not evenly spaced in time; record every step, or every n-th")
    return values.astype(np.result_type(values, float)), float(steps.mean()), float(time[0]), unit


def rings_from(record: ExcitationRecord) -> float:
    """When (s) the last source of an excitation is off. Error: its file does not say."""
    if record.source_end is not None:
        return record.source_end
    if record.waveform is None:
        raise ModelError("start: missing; this result of an earlier version does not say when its sources ended")
    time, value = record.waveform["time"].array, np.abs(record.waveform["value"].array)
    return float(np.max(time, where=value > OFF * value.max(initial=0.0), initial=-np.inf))


def recorded(excitation: Excitation, probe: str | None) -> xarray.DataArray:
    """The signal of a result's probe."""
    if probe is None:
        raise ModelError(f"probe: missing; a result needs the name of one, there is {', '.join(excitation.monitors)}")
    signal = excitation[probe]
    if getattr(signal, "dims", ()) != ("time",):
        raise ModelError(f"probe: {probe!r} is no signal over time; give a Probe, Voltage or Current")
    return signal


def modes_in(values: np.ndarray, step: float, low: float, high: float) -> Modes:
    """The exponentials of each part of the band."""
    if values.size <= 2 * SAMPLES:
        return [(low, high, exponentials(values, step))]
    # parts as wide as a pencil can take; the filter takes 33 in 300 samples from each
    width = 0.5 * SAMPLES / (values.size * step)
    edges = np.linspace(low, high, max(1, int(np.ceil((high - low) / width))) + 1)
    return [(a, b, exponentials_in(values, step, 0.5 * (a + b), width)) for a, b in pairwise(edges)]


class Heard(NamedTuple):
    """A signal as its modes are judged by it: its length (s) and its peak."""

    length: float
    peak: float


def rows_of(part: Exponentials, first: float, last: float, smallest_q: float, heard: Heard) -> list[tuple]:
    """The modes between two frequencies that differ from noise: frequency, decay, amplitude, errors.

    Growth by less than `STEADY` over the signal is attributed to rounding, which beside a stronger part of the signal,
    as a static field, moves a mode by more.
    """
    sound = partial(_sound, first=first, last=last, smallest_q=smallest_q, heard=heard)
    part, good = _together(part, sound, heard.length)
    frequency, decay = part.rate.imag / (2 * np.pi), -part.rate.real
    columns = (frequency, decay, part.amplitude, part.rate_error, part.amplitude_error)
    return list(zip(*(column[good] for column in columns)))


def _sound(part: Exponentials, first: float, last: float, smallest_q: float, heard: Heard) -> np.ndarray:
    """Which exponentials are modes between two frequencies."""
    frequency, decay = part.rate.imag / (2 * np.pi), -part.rate.real
    margin = SIGNIFICANT * part.rate_error / (2 * np.pi)
    inside = (frequency >= first - margin) & (frequency <= last + margin)
    genuine = np.abs(part.amplitude) > SIGNIFICANT * part.amplitude_error
    steady = np.maximum(STEADY, ROUNDING * heard.peak / np.maximum(np.abs(part.amplitude), ROUNDING * heard.peak))
    grows = decay < -np.maximum(SIGNIFICANT * part.rate_error, steady * _mixed(part, heard.length) / heard.length)
    ringing = ~grows & (np.abs(part.rate.imag) > 2 * smallest_q * decay)
    resolved = part.rate_error < 0.05 * np.abs(part.rate.imag)
    return inside & genuine & ringing & resolved


def _mixed(part: Exponentials, length: float) -> np.ndarray:
    """How many times more the same rounding moves the rates of exponentials for which another lies near.

    Two that differ by an angle a over the signal, below 2 pi, take their rates from a second difference: (2 pi/a)^2.
    """
    apart = np.abs(part.rate[:, None] - part.rate) * length
    apart[(apart == 0.0) | (np.abs(part.amplitude) < np.abs(part.amplitude[:, None]) * STEADY)] = np.inf
    mixed: np.ndarray = np.maximum(1.0, (2.0 * np.pi / apart.min(axis=1, initial=np.inf)) ** 2)
    return mixed


def _together(
    part: Exponentials, sound: Callable[[Exponentials], np.ndarray], length: float
) -> tuple[Exponentials, np.ndarray]:
    """Exponentials that the signal is too short to tell apart, of which some are no modes by themselves, as one; and
    which are modes now.

    Two modes of nearly one frequency, as of a square, come out as two that beat and grow. In the middle of the signal,
    the one has the sum's value and slope; what the sum departs from it towards the ends counts as errors.
    """
    good, middle, columns = sound(part), 0.5 * length, [np.array(column) for column in vars(part).values()]
    for k in np.argsort(-np.abs(part.amplitude)):
        near = (np.abs(part.rate - part.rate[k]) * length < ALIKE) & (columns[1] != 0.0)
        if near.sum() < 2 or good[near].all() or not near[k]:
            continue
        weight = part.amplitude[near] * np.exp(part.rate[near] * middle)
        whole = weight.sum()
        rate = (weight * part.rate[near]).sum() / whole
        bend = abs((weight * (part.rate[near] - rate) ** 2).sum() / whole)
        amplitude, departure = whole * np.exp(-rate * middle), 0.5 * bend * middle**2
        one = Exponentials(*(np.array([each]) for each in (rate, amplitude, bend * middle, abs(amplitude) * departure)))
        if departure < ALIKE and sound(one)[0]:
            for column, value in zip(columns, vars(one).values()):
                column[near], column[k] = 0.0, value[0]
            good = (good & ~near) | (np.arange(good.size) == k)
    return Exponentials(*columns), good


def distinct(parts: Modes, band: tuple[float, float], smallest_q: float, heard: Heard) -> list[tuple]:
    """The modes of all parts by frequency; of a mode on a border, which two parts have, the one with less error."""
    every = [row for a, b, part in parts for row in rows_of(part, a, b, smallest_q, heard)]
    rows: list[tuple] = []
    for row in sorted(every, key=lambda row: row[0]):
        if rows and abs(row[0] - rows[-1][0]) < (row[3] + rows[-1][3]):
            rows[-1] = min(row, rows[-1], key=lambda each: each[3])
        else:
            rows.append(row)
    return [row for row in rows if band[0] <= row[0] <= band[1]]


def mode_table(rows: list[tuple], factor: float, unit: str, origin: float) -> xarray.Dataset:
    """Modes as a Dataset; `factor` times the amplitude of an exponential is the signal's."""
    from nearfield.pictures.arrays import Modes

    frequency, decay, amplitude, rate_error, amplitude_error = (
        np.array([row[n] for row in rows], dtype=complex if n == 2 else float) for n in range(5)
    )
    endless = np.full(decay.shape, np.inf)
    quality = np.divide(np.pi * np.abs(frequency), decay, out=endless.copy(), where=decay > 0)
    quality_error = np.divide(quality * rate_error, decay, out=endless, where=decay > 0)
    columns = {  # with errors and units
        "frequency": (frequency, rate_error / (2 * np.pi), "Hz"),
        "decay_rate": (decay, rate_error, "1/s"),
        "quality_factor": (quality, quality_error, "1"),
        "amplitude": (factor * amplitude, factor * amplitude_error, unit),
    }
    data = {name: ("mode", array, {"units": units}) for name, (array, _, units) in columns.items()}
    data |= {f"{name}_error": ("mode", error, {"units": units}) for name, (_, error, units) in columns.items()}
    return Modes(data, {"mode": np.arange(frequency.size)}, {"time_origin": origin})
