"""Recorded signals over time (ports, probes, voltages, currents, field energy), and power over frequency.

Each function returns a Figure, or None where the result holds nothing of the kind. Values that are not finite leave
gaps; a curve without any finite value is named as such.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.analysis.network import decibels
from nearfield.pictures import style
from nearfield.report.plots import MOST_PORTS, case_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from nearfield.results import Result

SIGNAL_KINDS = {"probe": "Probe", "voltage": "Voltage", "current": "Current"}


@style.styled
def port_signals(result: Result) -> Figure | None:
    """Voltage and current at the ports over time, one column for each excitation (at most two are shown)."""
    names = [name for name in result.excitations if result.excitation(name).record.ports]
    if not names:
        return None
    shown = names[:2]
    figure = style.blank(8.0 if len(shown) == 1 else 10.6, 5.2)
    panels = figure.subplots(2, len(shown), squeeze=False, sharex="col")
    for column, name in enumerate(shown):
        excitation = result.excitation(name)
        ports = list(excitation.record.ports)[:MOST_PORTS]
        series = {port: excitation.port(port) for port in ports}
        for row, (key, unit) in enumerate((("voltage", "V"), ("current", "A"))):
            lines = {port: curve_of(data[key]) for port, data in series.items() if key in data}
            _over_time(panels[row][column], lines, key.capitalize(), unit)
        panels[0][column].set_xlabel("")
        if len(shown) > 1:
            style.panel_title(panels[0][column], f"{name} driven", 45)
    note = "voltage and current into the structure  ·  excitation " + style.listed(shown)
    note += f" of {len(names)}" if len(names) > len(shown) else ""
    return style.headline(figure, case_title(result, "Port signals"), note)


def curve_of(array: Any) -> tuple[np.ndarray, np.ndarray]:
    """Times (s) and values of a recorded signal, whatever its dim is called."""
    dim = array.dims[0]
    times = array[dim].values if dim in array.coords else np.arange(array.size, dtype=float)
    return np.asarray(times, dtype=float), np.real(np.asarray(array.values))


def _over_time(axes: Axes, lines: dict[str, tuple[np.ndarray, np.ndarray]], label: str, unit: str) -> None:
    """Curves over time in one panel; where a run diverges, the scale is that of what came before."""
    largest = largest_of(lines, 1.0)
    before = largest_of(lines, 0.5)
    ends = [times[-1] for times, _ in lines.values() if times.size]
    grown = largest > 100 * before > 0
    factor, prefix = style.axis_prefix(before if grown else largest)
    time_factor, time_prefix = style.axis_prefix(max(ends, default=1.0))
    for position, (name, (times, values)) in enumerate(lines.items()):
        x, y = style.thinned(times, values)
        y = np.clip(y, -10 * before, 10 * before) if grown else y
        look = {**style.line_style(position), "linewidth": 1.4}
        axes.plot(x * time_factor, y * factor, **look, label=style.clipped(name, 24))
    if grown:
        axes.set_ylim(-3 * before * factor, 3 * before * factor)
        text = f"grows to {largest:.0e} {unit}, off the scale"
        axes.text(0.02, 0.94, text, transform=axes.transAxes, va="top", color=style.COLOURS[1], fontsize=9)
    if largest < 0:
        style.notice(axes, "no finite value")
    elif len(lines) > 1:
        axes.legend(loc="upper right", ncols=min(3, len(lines)))
    style.name_axes(axes, f"Time ({time_prefix}s)", f"{label} ({prefix}{unit})" if unit else label)
    axes.margins(x=0.0)


def largest_of(lines: dict[str, tuple[np.ndarray, np.ndarray]], part: float) -> float:
    """Largest finite magnitude in the first part of the curves; -1 where no value is finite."""
    parts = [values[: max(1, int(part * values.size))] for _, values in lines.values()]
    extremes = [style.finite_extremes(np.abs(values)) for values in parts]
    return max((high for _, high in filter(None, extremes)), default=-1.0)


@style.styled
def recorded_signals(result: Result) -> Figure | None:
    """Probes, voltages and currents of the first excitation over time; a panel for each kind and unit."""
    if not result.excitations:
        return None
    excitation = result.excitation()
    groups: dict[tuple[str, str], dict[str, Any]] = {}
    for name, monitor in excitation.record.monitors.items():
        if monitor.kind in SIGNAL_KINDS:
            array = excitation[name]
            unit = str(array.attrs.get("units", ""))
            groups.setdefault((SIGNAL_KINDS[monitor.kind], unit), {})[name] = curve_of(array)
    if not groups:
        return None
    figure = style.blank(8.0, 1.2 + 2.3 * len(groups))
    panels = figure.subplots(len(groups), 1, squeeze=False)[:, 0]
    left_out = 0
    for axes, ((label, unit), lines) in zip(panels, groups.items()):
        left_out += max(0, len(lines) - MOST_PORTS)
        chosen = {name: lines[name] for name in list(lines)[:MOST_PORTS]}
        _over_time(axes, chosen, next(iter(chosen)) if len(chosen) == 1 else label, unit)
    note = f"excitation {excitation.name}" + (f"  ·  {left_out} more in the result file" if left_out else "")
    return style.headline(figure, case_title(result, "Recorded signals"), note)


@style.styled
def flux_spectra(result: Result) -> Figure | None:
    """Energy through the flux monitors over frequency, first excitation."""
    if not result.excitations:
        return None
    excitation = result.excitation()
    names = [name for name, monitor in excitation.record.monitors.items() if monitor.kind == "flux"]
    curves = {name: excitation[name] for name in names[:MOST_PORTS]}
    if not curves:
        return None
    figure, axes = style.chart(8.0, 4.2)
    lines = {name: (curve.frequency.values, curve.values) for name, curve in curves.items()}
    factor, prefix = style.axis_prefix(max(largest_of(lines, 1.0), 0.0))
    across, across_prefix = style.axis_prefix(max(float(curve.frequency.max()) for curve in curves.values()))
    for position, (name, curve) in enumerate(curves.items()):
        x, y, marker = curve.frequency.values * across, curve.values * factor, "o" if curve.size < 30 else ""
        axes.plot(x, y, **style.line_style(position), marker=marker, label=style.clipped(name, 30))
    unit = str(next(iter(curves.values())).attrs.get("units", "W s^2")).replace("^2", "²").replace("**2", "²")
    style.name_axes(axes, f"Frequency ({across_prefix}Hz)", f"Power spectrum ({prefix}{unit})", "best")
    return style.headline(figure, case_title(result, "Power through surfaces"), f"excitation {excitation.name}")


@style.styled
def energy_decay(result: Result) -> Figure | None:
    """Field energy over time, in dB of its peak, one curve for each excitation (at most six)."""
    excitations = {name: result.excitation(name) for name in result.excitations}
    curves = {name: curve_of(each.energy) for name, each in excitations.items() if "energy" in each.record.energy}
    curves = {name: curve for name, curve in curves.items() if curve[0].size}
    if not curves:
        return None
    figure, axes = style.chart(8.0, 3.8)
    factor, prefix = style.axis_prefix(max(times[-1] for times, _ in curves.values()))
    shown = style.picked(len(curves), MOST_PORTS)
    empty = True
    for position, (name, (times, energy)) in enumerate([list(curves.items())[number] for number in shown]):
        peak = (style.finite_extremes(energy) or (0.0, 0.0))[1]
        if peak > 0.0:
            with np.errstate(over="ignore"):
                level = np.where(np.isfinite(energy), 0.5 * decibels(np.maximum(energy / peak, 1e-20)), np.nan)
            marker = "o" if times.size < 3 else ""
            axes.plot(times * factor, level, **style.line_style(position), marker=marker, label=style.clipped(name, 24))
            empty = False
    if empty:
        style.notice(axes, "no field energy")
    elif len(curves) > 1:
        axes.legend(loc="best")
    axes.set_ylim(max(axes.get_ylim()[0], -120.0), 3.0)
    style.name_axes(axes, f"Time ({prefix}s)", "Field energy (dB of its peak)")
    return style.headline(figure, case_title(result, "Decay of the field energy"), f"run {result.status}")
