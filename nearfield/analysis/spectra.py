"""Spectra of recorded signals at any frequencies, F(f) = integral F(t) exp(-j 2 pi f t) dt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.entry.errors import ModelError
from nearfield.entry.quantities import FREQUENCY, Quantity, read_row
from nearfield.machine.linear_algebra import single_threaded
from nearfield.records.records import Variables

if TYPE_CHECKING:
    import xarray

NYQUIST_ROUNDING = 1e-6  # relative, of steps as differences of times
BLOCK = 256  # samples per phase table; exponentials cost (samples / BLOCK + BLOCK) per frequency, not samples


def fourier_integral(time: np.ndarray, values: np.ndarray, frequencies: np.ndarray) -> np.ndarray:
    """The spectrum of a signal sampled in time, F(f) = integral F(t) exp(-j 2 pi f t) dt by the trapezoidal rule.

    `time` (n,) in s, increasing, evenly spaced or not; `values` (..., n); `frequencies` (nf,) in Hz. Returns complex
    (..., nf) in the values' unit times s. The signal counts as zero outside its samples; with even spacing the end
    samples have full weight, so that a signal begun and ended at zero keeps the spectral accuracy of the rule.

    >>> import numpy as np
    >>> t = np.linspace(-5, 5, 201)
    >>> abs(fourier_integral(t, np.exp(-np.pi * t**2), np.array([0.0, 1.0]))).round(6)
    array([1.      , 0.043214])
    """
    time, frequencies = np.asarray(time, dtype=float), np.asarray(frequencies, dtype=float)
    values = np.asarray(values)
    if time.ndim != 1 or values.shape[-1:] != time.shape or not time.size:
        raise ValueError(f"values of shape {values.shape} do not match {time.shape} times; give one for each time")
    if time.size == 1:
        return np.zeros((*values.shape[:-1], frequencies.size), dtype=complex)
    steps = np.diff(time)
    step = (time[-1] - time[0]) / steps.size
    with single_threaded():
        if np.abs(steps - step).max() <= 1e-6 * step:
            return step * _uniform_sum(float(time[0]), step, values, frequencies)
        weight = 0.5 * (np.append(steps, 0.0) + np.append(0.0, steps))
        return _sum(time, values * weight, frequencies)


def spectrum(signal: xarray.DataArray, frequencies: Any) -> xarray.DataArray:
    """The spectrum of a recorded signal, F(f) = integral F(t) exp(-j 2 pi f t) dt at its own times.

    `signal` has one dim of times, as probes, voltages, currents and port signals have; `frequencies` are in Hz, or text
    as "10 GHz". Error: `ModelError`, where it has another dim or no samples. Returns complex values over `frequency`,
    in the signal's unit times s; NaN above half the rate of its samples, from where on spectra repeat.

    >>> import nearfield as nf
    >>> import xarray
    >>> t = 1e-12 * np.arange(400)
    >>> pulse = xarray.DataArray(nf.Gaussian(20e9).value(t), {"time": t}, ["time"])
    >>> nf.spectrum(pulse, [0, 20e9]).shape
    (2,)
    """
    from nearfield.pictures.arrays import Recording

    time = times_of(signal, "spectrum()")
    if not time.size:
        raise ModelError("spectrum(): the signal holds no samples; give one that was recorded for a step at least")
    axis = read_row("frequencies", frequencies, Quantity(FREQUENCY))
    values = fourier_integral(time, signal.values, axis)
    values[np.abs(axis) > highest_held(time)] = complex(np.nan, np.nan)
    attributes = {"units": f"{signal.attrs.get('units', '')} s".strip()}
    coordinates = {"frequency": ("frequency", axis, {"units": "Hz"})}
    return Recording(values, coordinates, ["frequency"], signal.name, attributes)


def times_of(signal: Any, taker: str) -> np.ndarray:
    """The times (s) of a recorded signal. Error: it has another axis, or several."""
    dims: tuple[str, ...] = getattr(signal, "dims", ())
    along = signal[dims[0]] if len(dims) == 1 and dims[0] in signal.coords else None
    if along is None or along.attrs.get("units", "s") != "s" or dims == ("frequency",):
        given = f"dims {dims}" if dims else type(signal).__name__
        raise ModelError(
            f"{taker} takes a signal over one axis of times (s), given {given}; "
            "give what a Probe, Voltage, Current or port recorded"
        )
    return np.asarray(along.values, dtype=float)


def highest_held(time: np.ndarray) -> float:
    """The frequency (Hz) up to which samples at these times hold a signal: half their rate."""
    return 0.5 * (time.size - 1) / float(time[-1] - time[0]) * (1 + NYQUIST_ROUNDING) if time.size > 1 else np.inf


def _sum(time: np.ndarray, values: np.ndarray, frequencies: np.ndarray) -> np.ndarray:
    """Sum over n of values[n] exp(-j 2 pi f t[n]), a block of times at once to bound the memory."""
    total = np.zeros((*values.shape[:-1], frequencies.size), dtype=complex)
    for start in range(0, time.size, BLOCK):
        part = slice(start, start + BLOCK)
        total += values[..., part] @ np.exp(-2j * np.pi * np.outer(time[part], frequencies))
    return total


def _uniform_sum(start: float, step: float, values: np.ndarray, frequencies: np.ndarray) -> np.ndarray:
    """The sum of `_sum` at t[n] = start + n step; n = BLOCK a + b splits the phases into two short tables."""
    blocks = -(-values.shape[-1] // BLOCK)
    padded = np.zeros((*values.shape[:-1], blocks * BLOCK), dtype=np.result_type(values, float))
    padded[..., : values.shape[-1]] = values
    padded = padded.reshape(*values.shape[:-1], blocks, BLOCK)
    within = np.exp(-2j * np.pi * np.outer(step * np.arange(BLOCK), frequencies))
    between = np.exp(-2j * np.pi * np.outer(start + step * BLOCK * np.arange(blocks), frequencies))
    return ((padded @ within) * between).sum(axis=-2)


def frequency_axis(band: tuple[float, float], points: int = 1001) -> np.ndarray:
    """Evenly spaced frequencies (Hz) over a waveform's useful band; one point when the band is a single line."""
    low, high = band
    return np.linspace(low, high, points if high > low else 1)


def source_spectrum(waveform: Variables | None, frequencies: np.ndarray) -> np.ndarray:
    """S(f) = integral s(t) exp(-j 2 pi f t) dt of the waveform as it was used; unit: the waveform's times second."""
    if waveform is None:
        raise ModelError(
            "per_source() needs one waveform, but the sources of this run have different ones, so no single source "
            "spectrum exists; give all sources the same waveform, or divide by a spectrum of your own"
        )
    time, value = waveform["time"].array, waveform["value"].array
    if time.size < 2 or not np.abs(value[-1]) <= 1e-2 * np.abs(value).max():
        raise ModelError(
            "per_source() needs a source that has ended, but the waveform was still on at the last step; use a pulse "
            "(Gaussian, ModulatedGaussian, Ricker ...) or run longer; where `status` is interrupted, to the end"
        )
    return fourier_integral(time, value, frequencies)
