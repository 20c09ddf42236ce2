"""Media over frequency: permittivity and loss; a fitted medium beside the table it was fitted to."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.entry.errors import ModelError
from nearfield.entry.whole_file import write_whole
from nearfield.entry.wording import counted
from nearfield.pictures import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CURVE_POINTS = 600
TOO_SMALL = 1e-12  # ratio to the largest value, below which a medium counts as lossless


@style.styled
def draw_medium(medium: Any, frequencies: np.ndarray, ax: Axes | None = None) -> Axes:
    """Real part and loss of the relative permittivity over frequency (Hz); of the permeability where it is not 1."""
    note = f"{style.quantity(frequencies[0], 'Hz')} to {style.quantity(frequencies[-1], 'Hz')}, exp(+jωt)"
    axes = style.panel_for(ax, 8.0, 4.2, medium.label(), note)
    factor, prefix = style.prefix_of(frequencies[-1])
    curves = {}
    for axis in "xyz" if medium.anisotropic else "x":
        seen, along = medium.along(axis), f" along {axis}" * medium.anisotropic
        curves[f"permittivity{along}"] = seen.relative_permittivity(frequencies)
        permeability = seen.relative_permeability(frequencies)
        if np.any(permeability != 1.0):
            curves[f"permeability{along}"] = permeability
    for number, (name, values) in enumerate(curves.items()):
        look: dict[str, Any] = {"color": style.COLOURS[number]}
        axes.plot(factor * frequencies, values.real, **look, label=f"{name}, real part")
        if np.any(values.imag):
            axes.plot(factor * frequencies, -values.imag, **look, linestyle=style.DASHES[1], label=f"{name}, loss")
    _decades(axes, frequencies)
    style.name_axes(axes, f"Frequency ({prefix}Hz)", "Relative, minus the imaginary part for losses", "best")
    return axes


@style.styled
def fit_figure(fit: Any) -> Figure:
    """Permittivity and loss of table and medium, and the relative deviation, over frequency."""
    figure = style.blank(8.4, 6.4)
    upper, middle, lower = figure.subplots(3, 1, sharex=True, height_ratios=(3, 3, 2))
    factor, prefix = style.prefix_of(fit.frequencies[-1])
    axis = np.geomspace(fit.frequencies[0], fit.frequencies[-1], CURVE_POINTS)
    curve = fit.medium.relative_permittivity(axis)
    beside(upper, factor * fit.frequencies, fit.table.real, factor * axis, curve.real)
    beside(middle, factor * fit.frequencies, -fit.table.imag, factor * axis, -curve.imag)
    style.panel_title(upper, "Relative permittivity, real part")
    style.panel_title(middle, "Relative permittivity, loss (minus the imaginary part)")
    upper.legend(loc="best")
    lower.plot(factor * fit.frequencies, 100 * fit.deviation, "o-", color=style.COLOURS[1], markersize=3)
    lower.set_ylim(bottom=0)
    style.panel_title(lower, "Deviation, % of abs(permittivity)")
    _decades(lower, fit.frequencies)
    lower.set_xlabel(f"Frequency ({prefix}Hz)")
    medium = fit.medium
    rms, most, worst = 100 * fit.rms_error, 100 * fit.largest_error, style.quantity(fit.largest_error_at, "Hz")
    title = f"{medium.name or 'Fitted medium'} · {counted(len(medium.poles), 'pole')}"
    note = f"deviation {rms:.3g} % rms, {most:.3g} % at most, at {worst}; passive at every frequency"
    return style.headline(figure, title, note)


def beside(axes: Axes, x: np.ndarray, table: np.ndarray, fine: np.ndarray, curve: np.ndarray) -> None:
    """The table's points over the medium's line, over decades where they span some."""
    axes.plot(fine, curve, color=style.COLOURS[0], label="fitted")
    axes.plot(x, table, "o", markersize=3.5, color=style.FAINT, markerfacecolor="none", label="table")
    positive = table[table > TOO_SMALL * np.abs(table).max(initial=1e-300)]
    if positive.size == table.size and positive.max() > 30 * positive.min() and (curve > 0).all():
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter("{x:g}")


def _decades(axes: Axes, frequencies: np.ndarray) -> None:
    """A logarithmic axis of frequency where it spans much."""
    if frequencies[-1] > 8 * frequencies[0]:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter("{x:g}")


def save(figure: Figure, path: Path) -> None:
    """Write a picture; its name's ending says which kind. Error: ModelError for another than .png and .svg."""
    ending = path.suffix.lower()
    if ending not in (".png", ".svg"):
        raise ModelError(f"{path}: given the ending {ending!r}; allowed: .png or .svg")
    if ending == ".png":
        write_whole(path, style.png_bytes(figure))
        return
    buffer = io.BytesIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None})
    write_whole(path, buffer.getvalue())
