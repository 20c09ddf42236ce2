"""Which tolerance matters most: how far the dips of a reflection move with each parameter, and how much S changes."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.interpolate import CubicSpline

from nearfield.analysis.network import dips

if TYPE_CHECKING:
    import xarray

PERCENT = 0.01
RESOLVED = 0.5  # of a dip's half width at half its depth, by its parabola: larger steps of frequency do not show it


@dataclass(frozen=True)
class Tolerance:
    """What a percent of a parameter does: largest change of abs(S) of all S-parameters; where the deepest dip of the
    reflection lies (Hz) and by how much it moves (Hz); None where
    no port's reflection has a dip, or frequencies lie too far apart for its width."""

    name: str
    value: float
    unit: str
    largest_change: float
    port: str | None = None
    dip: float | None = None
    shift: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


def tolerances(found: xarray.Dataset) -> list[Tolerance]:
    """A row for each parameter of `sensitivities`, what matters most first."""
    deepest = _deepest(found)
    rows = []
    for name in found.parameter.values:
        slope, value = found.derivative.sel(parameter=name), float(found.value.sel(parameter=name))
        percent = PERCENT * abs(value)
        moved = percent * dip_slope(found, slope, *deepest) if deepest else np.nan
        where = (*deepest, None if np.isnan(moved) else moved) if deepest else (None, None, None)
        change = percent * float(np.nanmax(np.abs(slope.values)))
        rows.append(Tolerance(str(name), value, str(found.unit.sel(parameter=name).item()), change, *where))
    return sorted(rows, key=lambda row: -row.largest_change)


def _deepest(found: xarray.Dataset) -> tuple[str, float] | None:
    """The port and frequency of the deepest dip of a reflection."""
    lowest: list[tuple[float, str, float]] = []
    for port in found.to.values:
        waves = found.sparameters.sel(to=port, source=port)
        known = np.isfinite(waves.values)
        levels = dips(found.frequency.values[known], np.abs(waves.values[known]))
        lowest += [(level, str(port), place) for place, level in levels]
    return min(lowest)[1:] if lowest else None


def dip_slope(found: xarray.Dataset, slope: xarray.DataArray, port: str, place: float) -> float:
    """df/dp (Hz per SI unit) of a minimum of g = abs(S)^2, where dg/df = 0: -(d2g/df dp)/(d2g/df2), by splines.

    NaN where frequencies lie too far apart for the width of the dip.
    """
    waves = found.sparameters.sel(to=port, source=port).values
    change = slope.sel(to=port, source=port).values
    known = np.isfinite(waves) & np.isfinite(change)
    f = found.frequency.values[known]
    level = CubicSpline(f, np.abs(waves[known]) ** 2)
    rise = CubicSpline(f, 2.0 * np.real(np.conj(waves[known]) * change[known]))
    bend, step = float(level(place, 2)), float(np.diff(f)[np.searchsorted(f[1:-1], place)])
    if bend <= 0 or step > RESOLVED * np.sqrt((1.0 - float(level(place))) / bend):
        return float("nan")
    return -float(rise(place, 1)) / bend
