"""Dips and the group delay of S-parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.entry.errors import ModelError
from nearfield.entry.quantities import FREQUENCY, Quantity, read_row

if TYPE_CHECKING:
    import xarray


def group_delay(waves: xarray.DataArray) -> xarray.DataArray:
    """-d(phase)/d(2 pi f) (s) over `frequency` of S-parameters, by differences between neighbouring frequencies.

    At each frequency it is the line through the differences to both sides, at an end through the two nearest ones, with
    an error of the square of their distance; right while the phase turns by less than half a turn from one frequency to
    the next. NaN where one of these samples is. Error: frequencies that do not rise.

    >>> import nearfield as nf
    >>> import xarray
    >>> f = np.linspace(8e9, 12e9, 41)
    >>> line = xarray.DataArray(np.exp(-2j * np.pi * f * 1e-10), {"frequency": f}, ["frequency"])
    >>> print(nf.group_delay(line).round(14).values[[0, 20]])
    [1.e-10 1.e-10]
    """
    if "frequency" not in getattr(waves, "dims", ()) or waves.sizes["frequency"] < 2:
        raise ModelError("group_delay needs S-parameters over `frequency`, at two frequencies at least")
    steps = np.diff(waves.frequency.values) if "frequency" in waves.coords else np.zeros(1)
    if not (steps > 0.0).all():
        raise ModelError('group_delay needs rising frequencies (Hz); give the array some, or `.sortby("frequency")`')
    axis = waves.get_axis_num("frequency")
    values = np.moveaxis(waves.values, axis, -1)
    between = -np.angle(values[..., 1:] * values[..., :-1].conj()) / (2 * np.pi * steps)
    delay = waves.copy(data=np.moveaxis(_from_midpoints(between, steps), -1, axis))
    delay.name, delay.attrs = "group_delay", {"units": "s"}
    return delay


def _from_midpoints(between: np.ndarray, steps: np.ndarray) -> np.ndarray:
    """Values (..., n + 1) at points `steps` (n,) apart from those (..., n) midway between them, by straight lines."""
    if steps.size == 1:
        return np.repeat(between, 2, axis=-1)
    rise = np.diff(between) / (steps[1:] + steps[:-1])  # over half of each distance
    inner = between[..., :-1] + rise * steps[:-1]
    first, last = between[..., :1] - rise[..., :1] * steps[0], between[..., -1:] + rise[..., -1:] * steps[-1]
    return np.concatenate((first, inner, last), axis=-1)


def dips(frequency: np.ndarray, level: np.ndarray) -> list[tuple[float, float]]:
    """Local minima: the frequency (Hz) of the vertex of the parabola through three samples, the level of the lowest."""
    found = []
    for n in range(1, level.size - 1):
        if level[n] < level[n - 1] and level[n] <= level[n + 1]:
            before, after = frequency[n] - frequency[n - 1], frequency[n + 1] - frequency[n]
            fall, rise = (level[n] - level[n - 1]) / before, (level[n + 1] - level[n]) / after
            shift = -0.5 * (fall * after + rise * before) / (rise - fall)
            found.append((float(frequency[n] + shift), float(level[n])))
    return found


def frequency_list(values: Any) -> np.ndarray:
    """Frequencies (Hz) from one or several numbers or texts. Error: ModelError."""
    return read_row("frequencies", values, Quantity(FREQUENCY, "positive"))
