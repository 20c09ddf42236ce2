"""S-parameters in dB over frequency. Values that are not finite leave gaps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.entry.levels import decibels
from nearfield.pictures import style
from nearfield.pictures.labels import keep_apart

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes

MOST_PORTS = 6
MOST_DIPS = 4
LOWEST_DB = -80.0


def level(waves: np.ndarray) -> np.ndarray:
    """Waves in dB; zero becomes -400, what is not finite stays a gap."""
    magnitude = np.abs(np.asarray(waves))
    return np.where(np.isfinite(magnitude), decibels(np.maximum(magnitude, 1e-20)), np.nan)


@style.styled
def draw_scattering(parameters: xarray.DataArray, ax: Axes | None = None, title: str = "", note: str = "") -> Any:
    """S-parameters in dB, dims frequency (Hz), to, source: all on `ax`, or a figure with a panel for each driven port.

    Returns the axes, an array of them where there are several panels (at most six). A single S11 has its dips named.
    """
    parameters = whole(parameters)
    sources = driven_ports(parameters)[:MOST_PORTS]
    if ax is not None:
        return _panel(ax, parameters, sources)
    columns = 1 if len(sources) == 1 else 3 if len(sources) > 4 else 2
    rows = -(-len(sources) // columns)
    figure = style.blank(8.0 if columns == 1 else 4.9 * columns, 4.8 if rows == 1 else 3.5 * rows + 0.5)
    style.headline(figure, title or ("Return loss" if parameters.to.size == 1 else "S-parameters"), note)
    panels = figure.subplots(rows, columns, squeeze=False, sharey=True).ravel()
    for axes, source in zip(panels, sources):
        _panel(axes, parameters, [source])
        if len(sources) > 1:
            style.panel_title(axes, f"Port {source} driven", 40)
    for number, axes in enumerate(panels):
        if number >= len(sources):
            axes.set_axis_off()
        if number % columns:
            axes.set_ylabel("")
    _decibel_limits(panels[0], parameters.sel(source=sources).values)
    return panels[0] if len(sources) == 1 else panels[: len(sources)]


def driven_ports(parameters: xarray.DataArray) -> list[str]:
    """The ports whose column of S holds a finite value; all of them where nothing is finite."""
    columns = np.isfinite(parameters.transpose("source", ...).values).reshape(parameters.source.size, -1).any(axis=1)
    names = [str(name) for name in parameters.source.values]
    return [name for name, finite in zip(names, columns) if finite] or names


def whole(parameters: xarray.DataArray) -> xarray.DataArray:
    """The S-parameters with all three dims, however they were cut."""
    missing = [dim for dim in ("frequency", "to", "source") if dim not in parameters.dims]
    return parameters.expand_dims(missing).transpose("frequency", "to", "source")


def _panel(axes: Axes, parameters: xarray.DataArray, sources: list[str]) -> Axes:
    """The S-parameters of these driven ports on one panel."""
    frequency = parameters.frequency.values
    factor, prefix = style.axis_prefix(float(np.max(np.abs(frequency))))
    curves = [curve for source in sources for curve in _curves(parameters, source)][: 2 * MOST_PORTS]
    for position, (label, values, own) in enumerate(curves):
        look = own if len(sources) == 1 else own | style.line_style(position)  # S11 and S12 end at one port
        marker = "o" if np.isfinite(values).sum() < 30 else ""
        axes.plot(frequency * factor, values, **look, marker=marker, markersize=5, label=label)
    axes.axhline(-10.0, color=style.FAINT, linewidth=0.9, linestyle=(0, (4, 3)), zorder=1)
    if not any(np.isfinite(values).any() for _, values, _ in curves):
        style.notice(axes, "no finite value")
    elif len(curves) > 1:
        frame = {"frameon": True, "framealpha": 0.85, "edgecolor": "none"}
        axes.legend(loc="lower right", fontsize=8, ncols=1 + (len(curves) > 3), columnspacing=1.0, **frame)
    if frequency.size > 1:
        axes.set_xlim(frequency.min() * factor, frequency.max() * factor)
    single = parameters.to.size == 1 and len(sources) == 1
    style.name_axes(axes, f"Frequency ({prefix}Hz)", "|S11| (dB)" if single else "|S| (dB)")
    _decibel_limits(axes, parameters.sel(source=sources).values)
    if single:
        _mark_dips(axes, frequency, factor, level(parameters.values[:, 0, 0]))
    return axes


def _curves(parameters: xarray.DataArray, source: str) -> list[tuple[str, np.ndarray, dict[str, Any]]]:
    """Label, dB and look of each S-parameter of a driven port, the reflected wave first."""
    names = [str(name) for name in parameters.to.values]
    number = {name: position + 1 for position, name in enumerate(names)}
    shown = sorted(names, key=lambda name: name != source)[:MOST_PORTS]
    found = []
    for name in shown:
        reflected = {"linestyle": "-", "linewidth": 2.0} if name == source else {"linewidth": 1.6}
        into = number.get(source, "·")
        label = f"S{number[name]}{into}" if max(number.values()) < 10 else f"S{number[name]},{into}"
        if label != f"S{name}{source}":
            label += " " + style.clipped(f"({name})", 16)
        values = level(parameters.sel(to=name, source=source).values)
        found.append((label, values, style.line_style(number[name] - 1) | reflected))
    return found


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
    lowest = axes.get_ylim()[0]
    box = {"fc": "white", "ec": "none", "alpha": 0.75, "pad": 1.0}
    labels = []
    for dip in dips[np.argsort(values[dips])][:MOST_DIPS]:
        x, y = frequency[dip] * factor, max(values[dip], lowest)
        right = frequency[dip] > frequency[0] + 0.85 * np.ptp(frequency)
        axes.plot(x, y, marker="o", markersize=5.5, color=style.COLOURS[0], markeredgecolor="white", zorder=5)
        text = f"{style.quantity(frequency[dip], 'Hz', 4)}\n{style.signed(values[dip])} dB"
        sides = {"ha": "right" if right else "left", "va": "bottom" if y < 0.9 * lowest else "center"}
        labels.append(style.beside(axes, (x, y), text, (-7 if right else 7, 1), **sides, bbox=box))
    keep_apart(axes, labels)
