"""Recorded signals over time, field energy, and spectra over frequency.

Values that are not finite leave gaps; a panel without any finite value says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.entry.levels import power_decibels
from nearfield.pictures import style

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes

MOST_CURVES = 6
Curve = tuple[np.ndarray, np.ndarray]


def curve_of(array: xarray.DataArray) -> Curve:
    """Times (s) or frequencies (Hz), and values of an array of one dim, whatever that is called."""
    dim = array.dims[0]
    along = array[dim].values if dim in array.coords else np.arange(array.size, dtype=float)
    return np.asarray(along, dtype=float), np.asarray(array.values)


@style.styled
def draw_signals(
    signals: Mapping[str, xarray.DataArray],
    ax: Axes | None = None,
    title: str = "Recorded signals",
    note: str = "",
    label: str = "",
) -> Axes:
    """Recorded signals of one unit over time, the first six; where a run diverges the scale is what came before.

    Of complex ones, as of cells with a Bloch phase, the real part.
    """
    shown = dict(list(signals.items())[:MOST_CURVES])
    lines = {name: (times, np.real(values)) for name, (times, values) in _curves(shown).items()}
    axes = style.panel_for(ax, 8.0, 3.5, title, note)
    largest, before = largest_of(lines, 1.0), largest_of(lines, 0.5)
    grown = largest > 100 * before > 0
    factor, prefix = style.axis_prefix(before if grown else largest)
    across, time_prefix = style.axis_prefix(max((x[-1] for x, _ in lines.values() if x.size), default=1.0))
    for position, (name, curve) in enumerate(lines.items()):
        x, y = style.thinned(*curve)
        y = np.clip(y, -10 * before, 10 * before) if grown else y
        look = {**style.line_style(position), "linewidth": 1.4}
        axes.plot(x * across, y * factor, **look, label=style.clipped(name, 24))
    unit = next((str(array.attrs.get("units", "")) for array in shown.values()), "")
    if grown:
        axes.set_ylim(-3 * before * factor, 3 * before * factor)
        text = f"grows to {largest:.0e} {unit}, off the scale"
        axes.text(0.02, 0.94, text, transform=axes.transAxes, va="top", color=style.COLOURS[1], fontsize=9)
    _legend(axes, len(lines), largest < 0, {"loc": "upper right", "ncols": min(3, len(lines))})
    label = label or (next(iter(lines), "") if len(lines) == 1 else "Signal")
    label += ", real part" if any(np.iscomplexobj(array) for array in shown.values()) else ""
    style.name_axes(axes, f"Time ({time_prefix}s)", f"{label} ({prefix}{unit})" if unit else label)
    axes.margins(x=0.0)
    return axes


@style.styled
def draw_spectra(
    spectra: Mapping[str, xarray.DataArray],
    ax: Axes | None = None,
    title: str = "Spectra",
    note: str = "",
    label: str = "",
) -> Axes:
    """Quantities over frequency, the first six: real ones as they are, magnitudes of complex ones."""
    shown = dict(list(spectra.items())[:MOST_CURVES])
    curves = _curves(shown)
    waves = any(np.iscomplexobj(values) for _, values in curves.values())
    lines = {name: (x, np.abs(values) if waves else values.astype(float)) for name, (x, values) in curves.items()}
    axes = style.panel_for(ax, 8.0, 4.2, title, note)
    largest = largest_of(lines, 1.0)
    unit = next((str(array.attrs.get("units", "")) for array in shown.values()), "")
    unit = "" if unit == "1" else unit.replace("**2", "²").replace("^2", "²")
    factor, prefix = style.axis_prefix(max(largest, 0.0)) if unit and not unit.startswith("dB") else (1.0, "")
    across, across_prefix = style.axis_prefix(max((float(x.max()) for x, _ in lines.values() if x.size), default=1.0))
    for position, (name, (x, y)) in enumerate(lines.items()):
        marker = "o" if x.size < 30 else ""
        axes.plot(x * across, y * factor, **style.line_style(position), marker=marker, label=style.clipped(name, 30))
    _legend(axes, len(lines), largest < 0, {"loc": "best"})
    label = label or (next(iter(lines), "") if len(lines) == 1 else "Spectrum")
    label = f"abs({label})" if waves else label
    style.name_axes(axes, f"Frequency ({across_prefix}Hz)", f"{label} ({prefix}{unit})" if unit else label)
    return axes


@style.styled
def draw_energy(
    energies: Mapping[str, xarray.DataArray], ax: Axes | None = None, title: str = "Field energy", note: str = ""
) -> Axes:
    """Field energies over time, in dB of each one's peak; at most six, evenly chosen."""
    curves = {name: curve for name, curve in _curves(energies).items() if curve[0].size}
    axes = style.panel_for(ax, 8.0, 3.8, title, note)
    factor, prefix = style.axis_prefix(max((x[-1] for x, _ in curves.values()), default=1.0))
    chosen = [list(curves.items())[number] for number in style.picked(len(curves), MOST_CURVES)]
    empty = True
    for position, (name, (times, energy)) in enumerate(chosen):
        peak = (style.finite_extremes(energy) or (0.0, 0.0))[1]
        if peak > 0.0:
            with np.errstate(over="ignore"):
                level = np.where(np.isfinite(energy), power_decibels(np.maximum(energy / peak, 1e-20)), np.nan)
            marker = "o" if times.size < 3 else ""
            axes.plot(times * factor, level, **style.line_style(position), marker=marker, label=style.clipped(name, 24))
            empty = False
    if empty:
        style.notice(axes, "no field energy")
    elif len(curves) > 1:
        axes.legend(loc="best")
    axes.set_ylim(max(axes.get_ylim()[0], -120.0), 3.0)
    style.name_axes(axes, f"Time ({prefix}s)", "Field energy (dB of its peak)")
    return axes


@style.styled
def draw_statistics(
    monitors: Mapping[str, xarray.Dataset], ax: Axes | None = None, title: str = "", note: str = ""
) -> Any:
    """Numbers of extrema and mean lengths of elements over time, one above the other; on `ax` the numbers alone."""
    extrema = {f"{name}, {what}": found[what] for name, found in monitors.items() for what in ("maxima", "minima")}
    if ax is not None:
        return draw_signals(extrema, ax, label="Number")
    figure = style.headline(style.blank(8.0, 5.2), title or "Dissipation elements over time", note)
    panels = figure.subplots(2, 1, sharex=True)
    draw_signals(extrema, panels[0], label="Number")
    panels[0].set_xlabel("")
    draw_signals({name: found.mean_length for name, found in monitors.items()}, panels[1], label="Mean length")
    return panels


def _curves(arrays: Mapping[str, xarray.DataArray]) -> dict[str, Curve]:
    return {name: curve_of(array) for name, array in arrays.items()}


def _legend(axes: Axes, count: int, empty: bool, place: dict[str, Any]) -> None:
    if empty:
        style.notice(axes, "no finite value")
    elif count > 1:
        axes.legend(**place)


def largest_of(lines: Mapping[str, Curve], part: float) -> float:
    """Largest finite magnitude in the first part of the curves; -1 where no value is finite."""
    parts = [values[: max(1, int(part * values.size))] for _, values in lines.values()]
    extremes = [style.finite_extremes(np.abs(values)) for values in parts]
    return max((high for _, high in filter(None, extremes)), default=-1.0)
