"""Fields on planes: spectra as magnitude in dB of the largest on the plane, snapshots as signed values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.entry.levels import decibels
from nearfield.pictures import style

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh

AXES = "xyz"
FIELD_RANGE = 50.0  # dB
MOST_PANELS = 6
MOST_SAMPLES = 700  # along a side of a panel
Outlines = Callable[["Axes", "Plane", float], None]  # draws bodies over a plane, lengths times a factor


@dataclass(frozen=True)
class Plane:
    """One picture: values (across, up) over coordinates (m) on a plane, `signed` for instantaneous values."""

    name: str  # of the monitor, or empty
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

    @property
    def factor(self) -> tuple[float, str]:
        """Factor and prefix of its lengths."""
        return style.axis_prefix(max(abs(float(side[end])) for side in (self.across, self.up) for end in (0, -1)))


@dataclass(frozen=True)
class Flat:
    """Components on one plane, their leading dim ("frequency", "time" or "") first, and where the plane lies."""

    parts: dict[str, xarray.DataArray]
    leading: str
    axis: int
    position: float


def flat(components: Mapping[str, xarray.DataArray], part: str | None, cut: Mapping[str, float]) -> Flat | None:
    """The components E (or H, or the one named) on a plane, of a box the cut or its middle; None without two sides.

    cut: {"z": place in m}; the nearest samples are taken.
    """
    data = dict(components)
    if part is None:
        family = "E" if any(name[0] == "E" for name in data) else next(iter(data))[0]
        data = {name: array for name, array in data.items() if name[0] == family}
    else:
        data = {part: data[part]}
    first = next(iter(data.values()))
    first = first.expand_dims([axis for axis in AXES if axis not in first.sizes])
    sizes = [first.sizes[axis] for axis in AXES]
    axis = AXES.index(next(iter(cut))) if cut else 2 - int(np.argmin(sizes[::-1]))
    across, up = [AXES[side] for side in range(3) if side != axis]
    leading = next((str(dim) for dim in first.dims if str(dim) not in AXES), "")
    if min(sizes) == 0 or first.sizes[across] < 2 or first.sizes[up] < 2 or (leading and not first.sizes[leading]):
        return None
    places = np.atleast_1d(first[AXES[axis]].values) if AXES[axis] in first.coords else np.zeros(1)
    at = int(np.argmin(np.abs(places - cut[AXES[axis]]))) if cut else places.size // 2
    thin = {side: slice(None, None, -(-first.sizes[side] // MOST_SAMPLES)) for side in (across, up)}
    dims = [leading] * bool(leading) + [across, up]
    found = {
        name: (array.isel({AXES[axis]: at}) if AXES[axis] in array.sizes else array).isel(thin).transpose(*dims)
        for name, array in data.items()
    }
    return Flat(found, leading, axis, float(places[at]))


def planes_of(
    name: str,
    components: Mapping[str, xarray.DataArray],
    most: int = MOST_PANELS,
    part: str | None = None,
    at: float | None = None,
    cut: Mapping[str, float] | None = None,
) -> list[Plane]:
    """At most `most` pictures of a field, evenly chosen, or that nearest to `at` (Hz or s); none without a plane."""
    on = flat(components, part, cut or {})
    if on is None:
        return []
    first = next(iter(on.parts.values()))
    along = first[on.leading].values if on.leading else np.zeros(1)
    if at is not None:
        shown = [int(np.argmin(np.abs(along - at)))]
    else:
        chosen = _lively(on) if on.leading == "time" else list(range(along.size))
        shown = [chosen[position] for position in style.picked(len(chosen), most)]
    return [plane_at(name, on, number) for number in shown]


def plane_at(name: str, on: Flat, number: int) -> Plane:
    """The picture of one frequency or time."""
    layers = {part: array[number] if on.leading else array for part, array in on.parts.items()}
    first = next(iter(layers.values()))
    across, up = (first[dim].values for dim in first.dims)
    signed = on.leading == "time" or not any(np.iscomplexobj(array.values) for array in layers.values())
    values, part = _strongest(layers) if signed else _magnitude(layers)
    label = part
    if on.leading:
        place = float(next(iter(on.parts.values()))[on.leading].values[number])
        label += f" at {style.quantity(place, 's' if on.leading == 'time' else 'Hz', 3)}"
    unit = str(first.attrs.get("units", "V/m" if part.strip("|")[0] == "E" else "A/m"))
    return Plane(name, label, unit, on.axis, on.position, across, up, values, signed)


def _lively(on: Flat) -> list[int]:
    """Numbers of the snapshots within 40 dB of the strongest."""
    peaks = np.max([np.nan_to_num(np.abs(a.values), posinf=0.0).max(axis=(1, 2)) for a in on.parts.values()], axis=0)
    return [int(number) for number in np.flatnonzero(peaks >= 1e-2 * peaks.max())] or [0]


def _magnitude(layers: Mapping[str, xarray.DataArray]) -> tuple[np.ndarray, str]:
    total = np.sqrt(sum(np.abs(layer.values) ** 2 for layer in layers.values()))
    name = next(iter(layers))
    return total, f"|{name[0] if len(layers) > 1 else name}|"


def _strongest(layers: Mapping[str, xarray.DataArray]) -> tuple[np.ndarray, str]:
    parts = {part: np.real(each.values).astype(float) for part, each in layers.items()}
    extremes = {part: style.finite_extremes(np.abs(values)) or (0.0, 0.0) for part, values in parts.items()}
    part = max(parts, key=lambda name: extremes[name][1])
    return parts[part], part


@style.styled
def draw_field(
    components: Mapping[str, xarray.DataArray],
    ax: Axes | None = None,
    part: str | None = None,
    at: float | None = None,
    cut: Mapping[str, float] | None = None,
) -> Any:
    """A field on planes: on `ax` one picture (of the middle one of several), else a figure of at most six; the axes."""
    found = planes_of("", components, MOST_PANELS if ax is None else 1, part, at, cut)
    if ax is not None:
        if not found:
            style.notice(ax, "no plane to draw")
        for plane in found:
            draw_plane(ax, plane)
        return ax
    panels = draw_planes(found, "Fields")
    return panels[0] if len(panels) == 1 else panels


@style.styled
def draw_planes(found: Sequence[Plane], title: str, note: str = "", outlines: Outlines | None = None) -> np.ndarray:
    """A figure with a panel for each plane; the axes."""
    if not found:
        axes = style.panel_for(None, 6.5, 2.4, title, note)
        style.notice(axes, "no plane to draw")
        return np.array([axes], dtype=object)
    columns = min(3, len(found))
    rows = -(-len(found) // columns)
    first = found[0]
    shape = float(np.ptp(first.up) / max(np.ptp(first.across), 1e-30))
    width = 4.6 if shape < 1.2 else 3.7
    height = min(max((width - 1.3) * shape, 2.2), 5.2) + 1.15
    size = max(6.5, (width + 0.3) * columns), height * rows + 0.6
    figure = style.blank(*size, beside=0.16)  # the colour bars' labels reach out of the panels
    style.headline(figure, title, note)
    grid = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes, plane in zip(grid, found):
        draw_plane(axes, plane, outlines)
    for axes in grid[len(found) :]:
        axes.set_axis_off()
    return grid[: len(found)]


def draw_plane(axes: Axes, plane: Plane, outlines: Outlines | None = None) -> QuadMesh | None:
    """One plane on axes, with its colour bar and names; what `animate` changes, None where there is no field."""
    factor, prefix = plane.factor
    extremes = style.finite_extremes(np.abs(plane.values))
    axes.grid(False)
    mesh = None
    if extremes is None or extremes[1] == 0.0:
        style.notice(axes, "no field" if extremes else "no finite value")
    else:
        values, limits, colours, label = scaled(plane, extremes[1])
        scale: dict[str, Any] = {"cmap": colours, "vmin": limits[0], "vmax": limits[1], "rasterized": True}
        mesh = axes.pcolormesh(plane.across * factor, plane.up * factor, values.T, shading="nearest", **scale)
        bar = axes.get_figure(root=False).colorbar(mesh, cax=axes.inset_axes((1.03, 0.0, 0.04, 1.0)))  # type: ignore[union-attr]
        bar.set_label(label, color=style.INK, fontsize=9)
        bar.ax.tick_params(labelsize=8)
        bar.outline.set_visible(False)
        if outlines is not None:
            outlines(axes, plane, factor)
    axes.set_xlim(plane.across[0] * factor, plane.across[-1] * factor)
    axes.set_ylim(plane.up[0] * factor, plane.up[-1] * factor)
    ratio = float(np.ptp(plane.up) / np.ptp(plane.across))
    axes.set_aspect("equal" if 0.15 < ratio < 6 else "auto")
    right, up = (f"{AXES[side]} ({prefix}m)" for side in plane.sides)
    style.name_axes(axes, right, up)
    place = f"{plane.name}{', ' * bool(plane.name)}{AXES[plane.axis]} = {style.quantity(plane.position, 'm', 3)}"
    axes.set_title(plane.label, loc="left", fontsize=10, fontweight="bold", pad=18)
    look: dict[str, Any] = {"fontsize": 8.5, "color": style.FAINT}
    axes.annotate(style.clipped(place, 40), (0, 1), (0, 4), "axes fraction", "offset points", **look)
    return mesh


def scaled(plane: Plane, largest: float) -> tuple[np.ndarray, tuple[float, float], str, str]:
    """Values to draw, their limits, colour map and label."""
    if not plane.signed:
        level = decibels(np.maximum(plane.values / largest, 1e-20))
        return level, (-FIELD_RANGE, 0.0), style.MAGNITUDE_MAP, "dB of the largest"
    factor, prefix = style.axis_prefix(largest)
    inner = np.abs(plane.values[np.isfinite(plane.values)])
    limit = float(np.quantile(inner, 0.998)) or largest  # a few samples beside edges would pale the wave
    return plane.values * factor, (-limit * factor, limit * factor), style.SIGNED_MAP, f"{prefix}{plane.unit}"
