"""S-parameters in dB over frequency; None where the result holds none. Values that are not finite leave gaps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.analysis.network import decibels
from nearfield.pictures import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from nearfield.results import Result

MOST_PORTS = 6
LOWEST_DB = -80.0


def level(waves: np.ndarray) -> np.ndarray:
    """Waves in dB; zero becomes -400, what is not finite stays a gap."""
    magnitude = np.abs(np.asarray(waves))
    return np.where(np.isfinite(magnitude), decibels(np.maximum(magnitude, 1e-20)), np.nan)


def case_title(result: Result, what: str) -> str:
    """What is shown, of which model."""
    return f"{what} · {result.title}" if result.title.strip() else what


@style.styled
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
    figure = style.blank(8.0 if columns == 1 else 4.9 * columns, 4.8 if rows == 1 else 3.5 * rows + 0.5)
    panels = figure.subplots(rows, columns, squeeze=False, sharey=True).ravel()
    frequency = parameters.frequency.values
    factor, prefix = style.axis_prefix(float(np.max(np.abs(frequency))))
    for axes, source in zip(panels, shown):
        _scattering(axes, parameters, source, frequency * factor)
        axes.set_xlabel(f"Frequency ({prefix}Hz)")
        if len(shown) > 1:
            style.panel_title(axes, f"Port {source} driven", 40)
    for axes in panels[len(shown) :]:
        axes.set_axis_off()
    for axes in panels[::columns]:
        axes.set_ylabel("|S11| (dB)" if parameters.to.size == 1 else "|S| (dB)")
    _decibel_limits(panels[0], parameters.sel(source=shown).values)
    if len(sources) == 1 and parameters.to.size == 1:
        _mark_dips(panels[0], frequency, factor, level(parameters.values[:, 0, 0]))
    title = case_title(result, "Return loss" if len(sources) == 1 else "S-parameters")
    return style.headline(figure, title, _scattering_facts(result, sources))


def _scattering_facts(result: Result, sources: list[str]) -> str:
    impedances = result.reference_impedances
    facts = [f"port: {sources[0]}" if len(sources) == 1 else f"ports: {style.listed(sources, 4)}"]
    values = sorted({value for value in impedances.values() if np.isfinite(value)})
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
        values = level(parameters.sel(to=name, source=source).values)
        reflected = {"linestyle": "-", "linewidth": 2.0} if name == source else {"linewidth": 1.6}
        label = f"S{number[name]}{number[source]}" if max(number.values()) < 10 else f"S{number[name]},{number[source]}"
        if label != f"S{name}{source}":
            label += " " + style.clipped(f"({name})", 16)
        marker = "o" if np.isfinite(values).sum() < 30 else ""
        look = style.line_style(number[name] - 1) | reflected
        axes.plot(frequency, values, **look, marker=marker, markersize=5, label=label)
        empty = empty and not np.isfinite(values).any()
    axes.axhline(-10.0, color=style.FAINT, linewidth=0.9, linestyle=(0, (4, 3)), zorder=1)
    if empty:
        style.notice(axes, "no finite value")
    elif len(names) > 1:
        frame = {"frameon": True, "framealpha": 0.85, "edgecolor": "none"}
        axes.legend(loc="lower right", fontsize=8, ncols=1 + (len(names) > 3), columnspacing=1.0, **frame)
    if frequency.size > 1:
        axes.set_xlim(frequency.min(), frequency.max())


def _decibel_limits(axes: Axes, values: np.ndarray) -> None:
    extremes = style.finite_extremes(level(values)) or (-30.0, 0.0)
    lowest = 5 * np.floor((max(extremes[0], LOWEST_DB) - 3.0) / 5)
    highest = max(0.0, min(5 * np.ceil((extremes[1] - 0.5) / 5), 40.0))
    axes.set_ylim(min(lowest, -20.0, highest - 20.0), highest + 1.0)


def _mark_dips(axes: Axes, frequency: np.ndarray, factor: float, values: np.ndarray) -> None:
    """Name the (at most four deepest) minima below -10 dB and shade where the port is matched to -10 dB."""
    with np.errstate(invalid="ignore"):
        matched = values <= -10.0
    shade: dict[str, Any] = {"color": style.COLOURS[0], "alpha": 0.10, "linewidth": 0}
    axes.fill_between(frequency * factor, -10.0, values, where=matched, interpolate=True, **shade)
    inner = matched[1:-1] & (values[1:-1] <= values[:-2]) & (values[1:-1] < values[2:])
    dips = np.flatnonzero(inner) + 1
    marked: list[int] = []
    for dip in dips[np.argsort(values[dips])]:
        apart = all(abs(frequency[dip] - frequency[other]) > 0.04 * np.ptp(frequency) for other in marked)
        if apart and len(marked) < 4:
            marked.append(int(dip))
    lowest = axes.get_ylim()[0]
    for dip in marked:
        x, y = frequency[dip] * factor, max(values[dip], lowest)
        right = frequency[dip] > frequency[0] + 0.85 * np.ptp(frequency)
        axes.plot(x, y, marker="o", markersize=5.5, color=style.COLOURS[0], markeredgecolor="white", zorder=5)
        text = f"{style.quantity(frequency[dip], 'Hz', 4)}\n{style.signed(values[dip])} dB"
        sides = {"ha": "right" if right else "left", "va": "bottom" if y < 0.9 * lowest else "center"}
        box = {"fc": "white", "ec": "none", "alpha": 0.75, "pad": 1.0}
        style.beside(axes, (x, y), text, (-7 if right else 7, 1), **sides, bbox=box)
