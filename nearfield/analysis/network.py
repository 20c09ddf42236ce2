"""Dips and the group delay of S-parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.entry.errors import ModelError
from nearfield.entry.masked import unmasked
from nearfield.entry.quantities import FREQUENCY, Quantity, several

if TYPE_CHECKING:
    import xarray


def group_delay(waves: xarray.DataArray) -> xarray.DataArray:
    """-d(phase)/d(2 pi f) (s) over `frequency` of S-parameters, by differences between neighbouring frequencies.

    At each frequency it is the mean of the differences to both sides, with an error of the square of their distance;
    right while the phase turns by less than half a turn from one frequency to the next. NaN where a neighbour is.

    >>> import nearfield as nf
    >>> import xarray
    >>> f = np.linspace(8e9, 12e9, 41)
    >>> line = xarray.DataArray(np.exp(-2j * np.pi * f * 1e-10), {"frequency": f}, ["frequency"])
    >>> print(nf.group_delay(line).round(14).values[[0, 20]])
    [1.e-10 1.e-10]
    """
    if "frequency" not in getattr(waves, "dims", ()) or waves.sizes["frequency"] < 2:
        raise ModelError("group_delay needs S-parameters over `frequency`, at two frequencies at least")
    axis, steps = waves.get_axis_num("frequency"), np.diff(waves.frequency.values)
    values = np.moveaxis(waves.values, axis, -1)
    between = -np.angle(values[..., 1:] * values[..., :-1].conj()) / (2 * np.pi * steps)
    ends = np.concatenate((between[..., :1], between, between[..., -1:]), axis=-1)
    delay = waves.copy(data=np.moveaxis(0.5 * (ends[..., 1:] + ends[..., :-1]), -1, axis))
    delay.name, delay.attrs = "group_delay", {"units": "s"}
    return delay


def dips(frequency: np.ndarray, level: np.ndarray) -> list[tuple[float, float]]:
    """Local minima (Hz, abs), placed by the parabola through three samples."""
    found = []
    for n in range(1, level.size - 1):
        if level[n] < level[n - 1] and level[n] <= level[n + 1]:
            bend = level[n - 1] - 2 * level[n] + level[n + 1]
            shift = 0.5 * (level[n - 1] - level[n + 1]) / bend if bend > 0 else 0.0
            found.append((float(frequency[n] + shift * (frequency[n + 1] - frequency[n])), float(level[n])))
    return found


def frequency_list(values: Any) -> np.ndarray:
    """Frequencies (Hz) from one or several numbers or texts. Error: ModelError."""
    unmasked("frequencies", values)
    try:
        return np.array([Quantity(FREQUENCY, "positive").read(each) for each in several(values)])
    except ValueError as error:
        raise ModelError(f"frequencies: {error}") from None
