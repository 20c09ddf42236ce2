"""The frequency of a resonance from its ringing."""

from __future__ import annotations

import numpy as np
import xarray

from nearfield.analysis.spectra import fourier_integral


def strongest(signal: xarray.DataArray, after: float, low: float, high: float) -> float:
    """Frequency (Hz) between two others at which a recorded signal rings most after a time (s).

    A Hann window keeps neighbours apart by 2/duration; the top of the spectrum is found to a hundredth of that.
    """
    time, values = signal[signal.dims[0]].values, signal.values
    late = time > after
    windowed = values[late] * np.hanning(int(late.sum()))
    step = 0.02 / (time[-1] - after)
    frequencies = np.arange(low, high, step)
    return float(frequencies[np.argmax(np.abs(fourier_integral(time[late], windowed, frequencies)))])
