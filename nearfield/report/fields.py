"""Field pictures: planes of running Fourier sums and snapshots, with the outlines of the model drawn over them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.analysis.network import decibels
from nearfield.grid.yee import AXES
from nearfield.pictures import style
from nearfield.report.plots import case_title
from nearfield.report.sections import Section, cut_positions, media_names, section
from nearfield.report.structure import draw_thin_metal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from nearfield.discretization.model import Model
    from nearfield.results import Result

FIELD_RANGE = 50.0  # dB
MOST_PANELS = 6
MOST_SAMPLES = 700  # along a side of a panel
KINDS = ("field-dft", "snapshot")


@dataclass(frozen=True)
class Plane:
    """One picture: values (across, up) over coordinates (m) on a plane, `signed` for instantaneous values."""

    name: str
    label: str
    unit: str
    axis: int
    position: float
    across: np.ndarray
    up: np.ndarray
    values: np.ndarray
    signed: bool

    @property
    def sides(self) -> tuple[int, int]:
        """The axes to the right and upward."""
        first, second = (axis for axis in range(3) if axis != self.axis)
        return first, second


def planes(result: Result) -> list[Plane]:
    """Pictures of the first excitation's field monitors, at most six, shared fairly among them."""
    if not result.excitations:
        return []
    excitation = result.excitation()
    names = [name for name, monitor in excitation.record.monitors.items() if monitor.kind in KINDS][:MOST_PANELS]
    found: list[Plane] = []
    for number, name in enumerate(names):
        share = max(1, (MOST_PANELS - len(found)) // (len(names) - number))
        found += _planes_of(name, excitation[name].collocated(), excitation.record.monitors[name].kind, share)
    return found


def _planes_of(name: str, data: Any, kind: str, most: int) -> list[Plane]:
    leading = "frequency" if kind == "field-dft" else "time"
    sizes = [data.sizes[axis] for axis in AXES]
    axis = 2 - int(np.argmin(sizes[::-1]))
    across, up = [AXES[side] for side in range(3) if side != axis]
    if data.sizes[leading] == 0 or min(sizes) == 0 or data.sizes[across] < 2 or data.sizes[up] < 2:
        return []
    middle = data.sizes[AXES[axis]] // 2
    flat = data.isel({AXES[axis]: middle})
    flat = flat.isel({side: slice(None, None, -(-data.sizes[side] // MOST_SAMPLES)) for side in (across, up)})
    family = "E" if any(part[0] == "E" for part in data) else "H"
    parts = [part for part in data if part[0] == family]
    unit = "V/m" if family == "E" else "A/m"
    shown = _chosen_times(flat, parts) if kind == "snapshot" else style.picked(data.sizes[leading], most)
    shown = [shown[position] for position in style.picked(len(shown), most)]
    position = float(data[AXES[axis]].values[middle])
    place = (axis, position, flat[across].values, flat[up].values)
    found = []
    for number in shown:
        layer = flat.isel({leading: number}).transpose(across, up)
        at = style.quantity(float(data[leading].values[number]), "Hz" if kind == "field-dft" else "s", 3)
        values, part = _magnitude(layer, parts) if kind == "field-dft" else _strongest(layer, parts)
        found.append(Plane(name, f"{part} at {at}", unit, *place, values, kind == "snapshot"))
    return found


def _chosen_times(flat: Any, parts: list[str]) -> list[int]:
    """Numbers of the snapshots within 40 dB of the strongest."""
    sides = [dim for dim in flat.dims if dim != "time"]
    peaks = np.max([np.nan_to_num(np.abs(flat[part]).max(sides).values, posinf=0.0) for part in parts], axis=0)
    lively = np.flatnonzero(peaks >= 1e-2 * peaks.max())
    return [int(number) for number in lively] or [0]


def _magnitude(layer: Any, parts: list[str]) -> tuple[np.ndarray, str]:
    total = np.sqrt(sum(np.abs(layer[part].values) ** 2 for part in parts))
    return total, f"|{parts[0][0]}|" if len(parts) > 1 else f"|{parts[0]}|"


def _strongest(layer: Any, parts: list[str]) -> tuple[np.ndarray, str]:
    extremes = {part: style.finite_extremes(np.abs(layer[part].values)) or (0.0, 0.0) for part in parts}
    part = max(parts, key=lambda name: extremes[name][1])
    return np.real(layer[part].values).astype(float), part


@style.styled
def field_figure(result: Result, simulation: Model | None) -> Figure | None:
    """Up to six planes: spectra as magnitude in dB of the plane's largest, snapshots as signed values."""
    found = planes(result)
    if not found:
        return None
    columns = min(3, len(found))
    rows = -(-len(found) // columns)
    first = found[0]
    shape = float(np.ptp(first.up) / max(np.ptp(first.across), 1e-30))
    width = 4.6 if shape < 1.2 else 3.7
    height = min(max((width - 1.3) * shape, 2.2), 5.2) + 1.15
    size = max(6.5, (width + 0.3) * columns), height * rows + 0.6
    figure = style.blank(*size, beside=0.16)  # the colour bars' labels reach out of the panels
    grid = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes, plane in zip(grid, found):
        _draw_plane(figure, axes, plane, result, simulation)
    for axes in grid[len(found) :]:
        axes.set_axis_off()
    excitation = result.excitation().name
    outlines = "  ·  outlines: metal and media, dashed before or behind" if simulation else ""
    return style.headline(figure, case_title(result, "Fields"), f"excitation {excitation}{outlines}")


def _draw_plane(figure: Figure, axes: Axes, plane: Plane, result: Result, simulation: Model | None) -> None:
    extent = max(abs(float(samples[end])) for samples in (plane.across, plane.up) for end in (0, -1))
    factor, prefix = style.axis_prefix(extent)
    extremes = style.finite_extremes(np.abs(plane.values))
    axes.grid(False)
    if extremes is None or extremes[1] == 0.0:
        style.notice(axes, "no field" if extremes else "no finite value")
    else:
        values, limits, colours, label = _scaled(plane, extremes[1])
        scale: dict[str, Any] = {"cmap": colours, "vmin": limits[0], "vmax": limits[1], "rasterized": True}
        mesh = axes.pcolormesh(plane.across * factor, plane.up * factor, values.T, shading="nearest", **scale)
        bar = figure.colorbar(mesh, cax=axes.inset_axes((1.03, 0.0, 0.04, 1.0)))
        bar.set_label(label, color=style.INK, fontsize=9)
        bar.ax.tick_params(labelsize=8)
        bar.outline.set_visible(False)
        if simulation is not None:
            colour = style.INK if plane.signed else "white"
            above = cut_positions(simulation, result.grid)[plane.axis]
            for position, dash in ((plane.position, "solid"), (above, "dashed")):
                cut = section(simulation, result.grid, plane.axis, position, *plane.sides)
                _draw_outlines(axes, cut, simulation, factor, colour, dash)
    axes.set_xlim(plane.across[0] * factor, plane.across[-1] * factor)
    axes.set_ylim(plane.up[0] * factor, plane.up[-1] * factor)
    ratio = float(np.ptp(plane.up) / np.ptp(plane.across))
    axes.set_aspect("equal" if 0.15 < ratio < 6 else "auto")
    right, up = (f"{AXES[side]} ({prefix}m)" for side in plane.sides)
    style.name_axes(axes, right, up)
    place = f"{plane.name}, {AXES[plane.axis]} = {style.quantity(plane.position, 'm', 3)}"
    axes.set_title(plane.label, loc="left", fontsize=10, fontweight="bold", pad=18)
    look: dict[str, Any] = {"fontsize": 8.5, "color": style.FAINT}
    axes.annotate(style.clipped(place, 40), (0, 1), (0, 4), "axes fraction", "offset points", **look)


def _scaled(plane: Plane, largest: float) -> tuple[np.ndarray, tuple[float, float], str, str]:
    """Values to draw, their limits, colour map and label."""
    if not plane.signed:
        level = decibels(np.maximum(plane.values / largest, 1e-20))
        return level, (-FIELD_RANGE, 0.0), style.MAGNITUDE_MAP, "dB of the largest"
    factor, prefix = style.axis_prefix(largest)
    inner = np.abs(plane.values[np.isfinite(plane.values)])
    limit = float(np.quantile(inner, 0.998)) or largest  # a few samples beside edges would pale the wave
    return plane.values * factor, (-limit * factor, limit * factor), style.SIGNED_MAP, f"{prefix}{plane.unit}"


def _draw_outlines(axes: Axes, cut: Section, simulation: Model, factor: float, colour: str, dash: str) -> None:
    """Outlines of media and metal in a cut, solid; of the cut with the largest sheet only metal, dashed."""
    for number, name in enumerate(media_names(simulation)):
        mask = cut.index == number
        metal = name in ("PEC", "PMC")
        if mask.any() and not mask.all() and (metal or dash == "solid"):
            look: dict[str, Any] = {"colors": colour, "linestyles": dash, "linewidths": 1.2 if metal else 0.7}
            x, y = cut.columns * factor, cut.rows * factor
            axes.contour(x, y, mask.astype(float), levels=[0.5], **look, alpha=0.85)
    if dash == "solid":
        draw_thin_metal(axes, cut, factor, colour, 1.6)
