"""Curves of a result: S-parameters in dB, voltages and currents at the ports, probes, power spectra, field energy.

Each function returns a Figure, or None where the result holds nothing of the kind. Values that are not finite leave
gaps; a curve without any finite value is named as such.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.report.style import (
    COLOURS,
    DASHES,
    FAINT,
    INK,
    axis_prefix,
    blank,
    clipped,
    finite_extremes,
    headline,
    listed,
    notice,
    panel_title,
    picked,
    quantity,
    signed,
    styled,
    thinned,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from nearfield.results import Result

MOST_PORTS = 6
LOWEST_DB = -80.0
SIGNAL_KINDS = {"probe": "Probe", "voltage": "Voltage", "current": "Current"}


def decibels(values: np.ndarray) -> np.ndarray:
    """20 log10 |values|; zero becomes -400, what is not finite stays a gap."""
    magnitude = np.abs(np.asarray(values))
    level = 20 * np.log10(np.maximum(magnitude, 1e-20))
    return np.where(np.isfinite(magnitude), level, np.nan)


def case_title(result: Result, what: str) -> str:
    """What is shown, of which model."""
    return f"{what} · {result.title}" if result.title.strip() else what


@styled
def return_loss(result: Result) -> Figure | None:
    """S-parameters in dB over frequency; one panel for each port that was driven, at most six."""
    if not result.record.sparameters:
        return None
    parameters = result.sparameters
    sources = [str(name) for name in parameters.source.values]
    if not sources or parameters.frequency.size == 0:
        return None
    shown = sources[:MOST_PORTS]
    columns = 1 if len(shown) == 1 else 3 if len(shown) > 4 else 2
    rows = -(-len(shown) // columns)
    figure = blank(8.0 if columns == 1 else 4.9 * columns, 4.8 if rows == 1 else 3.5 * rows + 0.5)
    panels = figure.subplots(rows, columns, squeeze=False, sharey=True).ravel()
    frequency = parameters.frequency.values
    factor, prefix = axis_prefix(float(np.max(np.abs(frequency))))
    for axes, source in zip(panels, shown):
        _scattering(axes, parameters, source, frequency * factor)
        axes.set_xlabel(f"Frequency ({prefix}Hz)")
        if len(shown) > 1:
            panel_title(axes, f"Port {source} driven", 40)
    for axes in panels[len(shown):]:
        axes.set_axis_off()
    for axes in panels[::columns]:
        axes.set_ylabel("|S11| (dB)" if parameters.to.size == 1 else "|S| (dB)")
    _decibel_limits(panels[0], parameters.sel(source=shown).values)
    if len(sources) == 1 and parameters.to.size == 1:
        _mark_dips(panels[0], frequency, factor, decibels(parameters.values[:, 0, 0]))
    headline(figure, case_title(result, "Return loss" if len(sources) == 1 else "S-parameters"),
             _scattering_facts(result, sources))
    return figure


def _scattering_facts(result: Result, sources: list[str]) -> str:
    impedances = result.reference_impedances
    facts = [f"port: {sources[0]}" if len(sources) == 1 else f"ports: {listed(sources, 4)}"]
    values = sorted(set(impedances.values()))
    if len(values) == 1:
        facts.append(f"reference impedance {values[0]:.4g} Ω")
    if len(sources) > MOST_PORTS:
        facts.append(f"the first {MOST_PORTS} are shown, all are in the Touchstone file")
    if result.status != "done":
        facts.append(f"run {result.status}: not to be trusted")
    return "  ·  ".join(facts)


def _scattering(axes: Axes, parameters: Any, source: str, frequency: np.ndarray) -> None:
    names = [str(name) for name in parameters.to.values]
    names = [source, *[name for name in names if name != source]][:MOST_PORTS]
    number = {str(name): position + 1 for position, name in enumerate(parameters.to.values)}
    empty = True
    for name in names:
        level = decibels(parameters.sel(to=name, source=source).values)
        colour = COLOURS[(number[name] - 1) % len(COLOURS)]
        dash = DASHES[0] if name == source else DASHES[(number[name] - 1) % len(DASHES)]
        label = f"S{number[name]}{number[source]}" if max(number.values()) < 10 else f"S{number[name]},{number[source]}"
        if label != f"S{name}{source}":
            label += " " + clipped(f"({name})", 16)
        marker = "o" if np.isfinite(level).sum() < 30 else ""
        width = 2.0 if name == source else 1.6
        axes.plot(frequency, level, color=colour, linestyle=dash, linewidth=width, marker=marker, markersize=5,
                  label=label)
        empty = empty and not np.isfinite(level).any()
    axes.axhline(-10.0, color=FAINT, linewidth=0.9, linestyle=(0, (4, 3)), zorder=1)
    if empty:
        notice(axes, "no finite value")
    elif len(names) > 1:
        axes.legend(loc="lower right", fontsize=8, ncols=2 if len(names) > 3 else 1, columnspacing=1.0,
                    frameon=True, framealpha=0.85, edgecolor="none")
    axes.margins(x=0.0 if frequency.size > 1 else 0.5)


def _decibel_limits(axes: Axes, values: np.ndarray) -> None:
    extremes = finite_extremes(decibels(values)) or (-30.0, 0.0)
    lowest = 5 * np.floor((max(extremes[0], LOWEST_DB) - 3.0) / 5)
    highest = max(0.0, min(5 * np.ceil(extremes[1] / 5), 40.0))
    axes.set_ylim(min(lowest, -20.0, highest - 20.0), highest + 1.0)


def _mark_dips(axes: Axes, frequency: np.ndarray, factor: float, level: np.ndarray) -> None:
    """Name the (at most four deepest) minima below -10 dB and shade where the port is matched to -10 dB."""
    with np.errstate(invalid="ignore"):
        matched = level <= -10.0
    axes.fill_between(frequency * factor, -10.0, level, where=matched, interpolate=True,
                      color=COLOURS[0], alpha=0.10, linewidth=0)
    inner = matched[1:-1] & (level[1:-1] <= level[:-2]) & (level[1:-1] < level[2:])
    dips = np.flatnonzero(inner) + 1
    kept: list[int] = []
    for dip in dips[np.argsort(level[dips])]:
        apart = all(abs(frequency[dip] - frequency[other]) > 0.04 * np.ptp(frequency) for other in kept)
        if apart and len(kept) < 4:
            kept.append(int(dip))
    lowest = axes.get_ylim()[0]
    for dip in kept:
        x, y = frequency[dip] * factor, max(level[dip], lowest)
        right = frequency[dip] > frequency[0] + 0.85 * np.ptp(frequency)
        axes.plot(x, y, marker="o", markersize=5.5, color=COLOURS[0], markeredgecolor="white", zorder=5)
        axes.annotate(f"{quantity(frequency[dip], 'Hz', 4)}\n{signed(level[dip])} dB", (x, y), fontsize=8.5, color=INK,
                      xytext=(-7 if right else 7, 1), textcoords="offset points", ha="right" if right else "left",
                      va="bottom" if y < 0.9 * lowest else "center",
                      bbox={"fc": "white", "ec": "none", "alpha": 0.75, "pad": 1.0})


@styled
def port_signals(result: Result) -> Figure | None:
    """Voltage and current at the ports over time, one column for each excitation (at most two are shown)."""
    names = [name for name in result.excitations if result.excitation(name).record.ports]
    if not names:
        return None
    shown = names[:2]
    figure = blank(8.0 if len(shown) == 1 else 10.6, 5.2)
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
            panel_title(panels[0][column], f"{name} driven", 45)
    note = f"excitation {listed(shown)}" + (f" of {len(names)}" if len(names) > len(shown) else "")
    headline(figure, case_title(result, "Voltages and currents at the ports"), f"{note}  ·  current into the structure")
    return figure


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
    factor, prefix = axis_prefix(before if grown else largest)
    time_factor, time_prefix = axis_prefix(max(ends, default=1.0))
    for position, (name, (times, values)) in enumerate(lines.items()):
        x, y = thinned(times, values)
        y = np.clip(y, -10 * before, 10 * before) if grown else y
        axes.plot(x * time_factor, y * factor, color=COLOURS[position % 6], linestyle=DASHES[position % 6],
                  linewidth=1.4, label=clipped(name, 24))
    if grown:
        axes.set_ylim(-3 * before * factor, 3 * before * factor)
        axes.text(0.02, 0.94, f"grows to {largest:.0e} {unit}, off the scale", transform=axes.transAxes, va="top",
                  color=COLOURS[1], fontsize=9)
    if largest < 0:
        notice(axes, "no finite value")
    elif len(lines) > 1:
        axes.legend(loc="upper right", ncols=min(3, len(lines)))
    axes.set_ylabel(f"{label} ({prefix}{unit})" if unit else label)
    axes.set_xlabel(f"Time ({time_prefix}s)")
    axes.margins(x=0.0)


def largest_of(lines: dict[str, tuple[np.ndarray, np.ndarray]], part: float) -> float:
    """Largest finite magnitude in the first part of the curves; -1 where no value is finite."""
    extremes = [finite_extremes(np.abs(values[: max(1, int(part * values.size))])) for _, values in lines.values()]
    return max((high for _, high in filter(None, extremes)), default=-1.0)


@styled
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
    figure = blank(8.0, 1.2 + 2.3 * len(groups))
    panels = figure.subplots(len(groups), 1, squeeze=False)[:, 0]
    left_out = 0
    for axes, ((label, unit), lines) in zip(panels, groups.items()):
        left_out += max(0, len(lines) - MOST_PORTS)
        chosen = {name: lines[name] for name in list(lines)[:MOST_PORTS]}
        _over_time(axes, chosen, next(iter(chosen)) if len(chosen) == 1 else label, unit)
    note = f"excitation {excitation.name}" + (f"  ·  {left_out} more in the result file" if left_out else "")
    headline(figure, case_title(result, "Recorded signals"), note)
    return figure


@styled
def flux_spectra(result: Result) -> Figure | None:
    """Energy through the flux monitors over frequency, first excitation."""
    if not result.excitations:
        return None
    excitation = result.excitation()
    names = [name for name, monitor in excitation.record.monitors.items() if monitor.kind == "flux"]
    curves = {name: excitation[name] for name in names[:MOST_PORTS]}
    if not curves:
        return None
    figure = blank(8.0, 4.2)
    axes = figure.subplots()
    extremes = [finite_extremes(np.abs(curve.values)) for curve in curves.values()]
    factor, prefix = axis_prefix(max((high for _, high in filter(None, extremes)), default=0.0))
    frequency_factor, frequency_prefix = axis_prefix(max(float(curve.frequency.max()) for curve in curves.values()))
    for position, (name, curve) in enumerate(curves.items()):
        axes.plot(curve.frequency.values * frequency_factor, curve.values * factor, color=COLOURS[position],
                  linestyle=DASHES[position], marker="o" if curve.size < 30 else "", label=clipped(name, 30))
    unit = str(next(iter(curves.values())).attrs.get("units", "W s^2")).replace("^2", "²").replace("**2", "²")
    axes.set_ylabel(f"Power spectrum ({prefix}{unit})")
    axes.set_xlabel(f"Frequency ({frequency_prefix}Hz)")
    axes.legend(loc="best")
    headline(figure, case_title(result, "Power through surfaces"), f"excitation {excitation.name}")
    return figure


@styled
def energy_decay(result: Result) -> Figure | None:
    """Field energy over time, in dB of its peak, one curve for each excitation (at most six)."""
    curves = {}
    for name in result.excitations:
        if "energy" in result.excitation(name).record.energy:
            curves[name] = curve_of(result.excitation(name).energy)
    curves = {name: curve for name, curve in curves.items() if curve[0].size}
    if not curves:
        return None
    figure = blank(8.0, 3.8)
    axes = figure.subplots()
    factor, prefix = axis_prefix(max(times[-1] for times, _ in curves.values()))
    shown = picked(len(curves), MOST_PORTS)
    empty = True
    for position, (name, (times, energy)) in enumerate([list(curves.items())[number] for number in shown]):
        peak = (finite_extremes(energy) or (0.0, 0.0))[1]
        if peak > 0.0:
            with np.errstate(over="ignore"):
                level = 10 * np.log10(np.maximum(energy / peak, 1e-20))
            axes.plot(times * factor, np.where(np.isfinite(energy), level, np.nan), color=COLOURS[position],
                      linestyle=DASHES[position], marker="o" if times.size < 3 else "", label=clipped(name, 24))
            empty = False
    if empty:
        notice(axes, "no field energy")
    elif len(curves) > 1:
        axes.legend(loc="best")
    axes.set_ylim(max(axes.get_ylim()[0], -120.0), 3.0)
    axes.set_xlabel(f"Time ({prefix}s)")
    axes.set_ylabel("Field energy (dB of its peak)")
    headline(figure, case_title(result, "Decay of the field energy"), f"run {result.status}")
    return figure
