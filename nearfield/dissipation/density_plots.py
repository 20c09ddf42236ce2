"""Pictures of the statistics of elements: densities of lengths and differences, and the law between them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.pictures import style

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes

LEAST_ELEMENTS = 3  # of a bin whose mean is drawn


def axes_of(ax: Axes | None) -> Axes:
    """The user's axes, or those of a figure of our own."""
    return style.chart(6.4, 5.4)[1] if ax is None else ax


def decades(axis: Any) -> None:
    """Plain numbers along a logarithmic axis, the more within a decade the fewer of these it spans."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    span = float(np.ptp(np.log10(axis.get_view_interval())))
    numbers = (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0) if span < 0.7 else (1.0, 2.0, 5.0)
    axis.set_major_locator(LogLocator(10, numbers if span < 2.5 else (1.0,)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


@style.styled
def draw_joint_density(told: xarray.Dataset, ax: Axes | None) -> Axes:
    """See `ElementPlots.joint_density`."""
    from matplotlib.colors import LogNorm

    axes = axes_of(ax)
    length, difference = told.attrs["mean_length"], told.attrs["mean_difference"]
    density = told.joint_density.values * length * difference
    held = density[density > 0]
    drawn = axes.pcolormesh(
        told.length / length,
        told.difference / difference,
        np.ma.masked_equal(density, 0).T,
        shading="nearest",
        cmap=style.PATTERN_MAP,
        norm=LogNorm(held.min(), max(held.max(), 1.01 * held.min())),
        rasterized=True,
    )
    axes.grid(False)
    bar = axes.figure.colorbar(drawn, ax=axes, label="P(l, Δφ), in units of both means")
    decades(bar.ax.yaxis)
    shown = told.elements_of_length >= LEAST_ELEMENTS
    where, means = told.length[shown] / length, told.conditional_difference[shown] / difference
    axes.plot(where, means, color="white", linewidth=3.4)
    axes.plot(where, means, color=style.COLOURS[1], label="mean of Δφ at l")
    style.name_axes(axes, "l / mean l", "Δφ / mean Δφ", "upper left")
    for limit, values, along in (
        (axes.set_xlim, told.length / length, 1),
        (axes.set_ylim, told.difference / difference, 0),
    ):
        limit(0, 1.15 * float(values[np.flatnonzero(density.any(axis=along))[-1]]))
    style.panel_title(axes, f"{told.attrs['elements']:,} elements{past(told)}")
    return axes


def past(told: Any) -> str:
    """The share of elements past the last bin, in words; nothing where there are none."""
    share = told.attrs["beyond_bins"]
    return f", {share:.1%} past the bins" if share > 0 else ""


@style.styled
def draw_conditional_difference(told: xarray.Dataset, ax: Axes | None) -> Axes:
    """See `ElementPlots.conditional_difference`."""
    axes = axes_of(ax)
    length, difference = told.attrs["mean_length"], told.attrs["mean_difference"]
    shown = (told.elements_of_length >= LEAST_ELEMENTS).values
    where, means = told.length.values[shown] / length, told.conditional_difference.values[shown] / difference
    error = told.conditional_error.values[shown] / difference
    if not shown.any():
        style.notice(axes, f"no bin holds {LEAST_ELEMENTS} elements")
        return axes
    axes.errorbar(where, means, error, fmt="o", color=style.COLOURS[0], markersize=4, label="mean, standard error")
    level = np.exp(np.average(np.log(means / where ** (1 / 3)), weights=told.elements_of_length.values[shown]))
    axes.plot(where, level * where ** (1 / 3), **(style.line_style(1) | {"color": style.FAINT}), label="slope 1/3")
    axes.set_xscale("log")
    axes.set_yscale("log")
    decades(axes.xaxis)
    decades(axes.yaxis)
    style.name_axes(axes, "l / mean l", "mean of Δφ at l / mean Δφ", "best")
    scale = told.attrs["length_over_taylor_scale"]
    style.panel_title(axes, f"mean l {length:.4g} ({scale:.3g} Taylor scales), mean Δφ {difference:.4g}")
    return axes


@style.styled
def draw_length_density(told: xarray.Dataset, ax: Axes | None) -> Axes:
    """See `ElementPlots.length_density`."""
    axes = axes_of(ax)
    length = told.attrs["mean_length"]
    counts = told.elements_of_length.values
    density, held = told.length_density.values * length, counts > 0
    error = density[held] / np.sqrt(counts[held])
    axes.errorbar(
        told.length.values[held] / length,
        density[held],
        np.vstack((np.minimum(error, 0.999 * density[held]), error)),
        fmt="o",
        color=style.COLOURS[0],
        markersize=4,
        label="elements, root of their number",
    )
    axes.set_yscale("log")
    axes.set_ylim(0.3 * density[held].min(), 2 * density[held].max())
    decades(axes.yaxis)
    style.name_axes(axes, "l / mean l", "mean l × P(l)", "best")
    style.panel_title(axes, f"{told.attrs['elements']:,} elements, mean l {length:.4g}{past(told)}")
    return axes
