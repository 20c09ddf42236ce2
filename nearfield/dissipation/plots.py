"""Pictures of elements: a slice coloured by element, the spots of a field, densities of lengths and differences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.dissipation.density_plots import (
    axes_of,
    draw_conditional_difference,
    draw_joint_density,
    draw_length_density,
)
from nearfield.dissipation.geometry import neighbours
from nearfield.dissipation.grids import AXES, middles
from nearfield.entry.errors import ModelError
from nearfield.pictures import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from nearfield.dissipation.extrema import Extrema
    from nearfield.dissipation.partition import Elements

TINTS = ("#9CC9E6", "#F3B79B", "#A5D9C3", "#E9C6DA", "#F6DEA4", "#CFE6F5", "#C9CED6", "#D9D2F0", "#E6E29A")
MOST_NAMED = 9  # spots that get a number


@dataclass(frozen=True)
class ElementPlots:
    """Each draws on `ax`, matplotlib axes of yours, or on a figure of its own, and returns the axes."""

    found: Elements

    def __call__(self, axis: str = "z", position: float | None = None, ax: Axes | None = None) -> Axes:
        """The points of a slice across `axis` in the colour of their elements, with extrema that lie beside them.

        `position` along the axis, the middle if left out; flat fields are drawn whole, lines as curves.
        """
        return draw_slice(self.found, axis, position, ax)

    def hot_spots(self, axis: str = "z", position: float | None = None, ax: Axes | None = None) -> Axes:
        """The field on a slice (through the highest maximum if left out), outlines of the regions of its maxima.

        Maxima beside the slice are marked, the highest ones numbered as in `Elements.hot_spots`, from 1.
        """
        return draw_hot_spots(self.found, axis, position, ax)

    def joint_density(self, ax: Axes | None = None) -> Axes:
        """P(l, dphi) over lengths and differences in units of their means, logarithmic, with the mean of dphi."""
        return draw_joint_density(self.found.statistics(), ax)

    def conditional_difference(self, ax: Axes | None = None) -> Axes:
        """Mean difference of the elements of a length with its standard error, both in units of their means.

        A line of slope 1/3 stands for Kolmogorov's inertial range: a law for turbulence, not for any field.
        """
        return draw_conditional_difference(self.found.statistics(), ax)

    def length_density(self, ax: Axes | None = None) -> Axes:
        """P(l) over lengths in units of their mean, the density logarithmic: an exponential tail is a line."""
        return draw_length_density(self.found.statistics(), ax)

    def all(self) -> dict[str, Axes]:
        """Every picture by its name, each on a figure of its own."""
        names = ("hot_spots", "joint_density", "conditional_difference", "length_density")
        return {"slice": self()} | {name: getattr(self, name)() for name in names}


@dataclass(frozen=True)
class Slice:
    """A plane of points: `index` of the field, the axes to the right and upwards, what lies beside it."""

    across: int
    up: int
    index: tuple[slice | int, ...]
    axis: int | None  # None of flat fields
    position: float
    thickness: float

    @property
    def label(self) -> str:
        """Where it lies, in words."""
        return "" if self.axis is None else f", {AXES[self.axis]} = {self.position:.4g}"


def sliced(found: Elements, axis: str, position: float | None) -> Slice:
    """The plane of points nearest to a position. Error: no such axis, a position outside."""
    if found.labels.ndim == 2:
        return Slice(0, 1, (slice(None),) * 2, None, 0.0, 0.0)
    if axis not in tuple(AXES):
        raise ModelError(f"axis '{axis}': a slice lies across x, y or z")
    number = AXES.index(axis)
    line = found.coordinates[number]
    if position is None:
        position = float(line[len(line) // 2])
    if not line[0] - found.spacing[number] <= position <= line[-1] + found.spacing[number]:
        raise ModelError(f"position {position:g} lies outside the field, {line[0]:g} to {line[-1]:g} along {axis}")
    plane = int(np.abs(line - position).argmin())
    across, up = (side for side in range(3) if side != number)
    index = tuple(plane if side == number else slice(None) for side in range(3))
    thickness = float(middles(found.widths[number], found.periodic[number])[plane])
    return Slice(across, up, index, number, float(line[plane]), thickness)


def straight(found: Elements, ax: Axes | None) -> Axes:
    """A field along a line: its values in the colour of their elements, and its extrema."""
    axes = axes_of(ax)
    line = found.coordinates[0]
    colours = tints(found.labels, found.periodic, found.threads)
    axes.plot(line, found.field, color=style.RULE, linewidth=1)
    axes.scatter(line, found.field, c=[TINTS[colour] for colour in colours], s=14, zorder=2)
    for extrema, marker in ((found.maxima, "^"), (found.minima, "v")):
        axes.plot(extrema.position[:, 0], extrema.value, marker, color=style.INK, markersize=5)
    style.name_axes(axes, "x", "field")
    style.panel_title(axes, f"{len(found):,} elements along a line")
    return axes


def tints(labels: np.ndarray, periodic: tuple[bool, ...], threads: int | None = None) -> np.ndarray:
    """Number of a tint for each point; elements that touch differ, as far as there are tints."""
    present, compact = np.unique(labels, return_inverse=True)
    compact = compact.reshape(labels.shape)
    chosen = np.full(len(present), -1)
    touching: list[list[int]] = [[] for _ in present]
    for one, other in neighbours(compact, len(present), periodic, threads).tolist():
        touching[one].append(other)
        touching[other].append(one)
    for element, others in enumerate(touching):
        taken = {int(chosen[other]) for other in others}
        start = element % len(TINTS)  # all tints are used, not the first few alone
        free = (tint % len(TINTS) for tint in range(start, start + len(TINTS)))
        chosen[element] = next((tint for tint in free if tint not in taken), start)
    return chosen[compact]


def mesh(axes: Axes, found: Elements, place: Slice, values: np.ndarray, **options: Any) -> Any:
    """Cells around the points of a plane, coloured by their values."""
    across, up = found.coordinates[place.across], found.coordinates[place.up]
    drawn = axes.pcolormesh(across, up, values.T, shading="nearest", rasterized=True, **options)
    axes.grid(False)
    axes.set_xlim(across[0], across[-1])
    axes.set_ylim(up[0], up[-1])
    ratio = float(np.ptp(up) / np.ptp(across))
    axes.set_aspect("equal" if 0.15 < ratio < 6 else "auto")
    style.name_axes(axes, AXES[place.across], AXES[place.up])
    return drawn


def beside(found: Elements, extrema: Extrema, place: Slice) -> np.ndarray:
    """Numbers of the extrema within one thickness of the plane, images of periodic axes among them."""
    if place.axis is None:
        return np.arange(len(extrema))
    far = extrema.position[:, place.axis] - place.position
    if period := found.periods[place.axis]:
        far -= period * np.round(far / period)
    return np.flatnonzero(np.abs(far) <= place.thickness)


def mark(axes: Axes, found: Elements, extrema: Extrema, chosen: np.ndarray, place: Slice, **options: Any) -> np.ndarray:
    """Markers at these extrema, within the box; their places on the plane."""
    at = extrema.position[chosen][:, [place.across, place.up]].copy()
    for column, axis in enumerate((place.across, place.up)):
        if period := found.periods[axis]:
            at[:, column] = found.first[axis] + (at[:, column] - found.first[axis]) % period
    axes.plot(at[:, 0], at[:, 1], linestyle="none", **options)
    return at


@style.styled
def draw_slice(found: Elements, axis: str, position: float | None, ax: Axes | None) -> Axes:
    """See `ElementPlots.__call__`."""
    from matplotlib.colors import ListedColormap

    if found.labels.ndim == 1:
        return straight(found, ax)
    place = sliced(found, axis, position)
    axes = axes_of(ax)
    labels = found.labels[place.index]
    colours = tints(labels, (found.periodic[place.across], found.periodic[place.up]), found.threads)
    mesh(axes, found, place, colours, cmap=ListedColormap(TINTS), vmin=-0.5, vmax=len(TINTS) - 0.5)
    for extrema, marker, name in ((found.maxima, "^", "maximum"), (found.minima, "v", "minimum")):
        chosen = beside(found, extrema, place)
        mark(axes, found, extrema, chosen, place, marker=marker, color=style.INK, markersize=5, label=name)
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    style.panel_title(axes, f"{len(np.unique(labels)):,} of {len(found):,} elements{place.label}")
    return axes


@style.styled
def draw_hot_spots(found: Elements, axis: str, position: float | None, ax: Axes | None) -> Axes:
    """See `ElementPlots.hot_spots`."""
    from matplotlib.patheffects import withStroke

    if found.labels.ndim == 1:
        return straight(found, ax)
    order = np.lexsort((found.maxima.index, -found.maxima.value))
    if position is None and axis in tuple(AXES) and found.labels.ndim == 3:
        number = AXES.index(axis)
        highest = found.maxima.index[order[0]]
        position = float(found.coordinates[number][np.unravel_index(highest, found.labels.shape)[number]])
    place = sliced(found, axis, position)
    axes = axes_of(ax)
    drawn = mesh(axes, found, place, found.field[place.index], cmap=style.MAGNITUDE_MAP)
    axes.figure.colorbar(drawn, ax=axes, label="field", fraction=0.05)
    spot = found.maximum[found.labels[place.index]]
    across, up = found.coordinates[place.across], found.coordinates[place.up]
    for one, other, line in ((spot[1:], spot[:-1], 0), (spot[:, 1:], spot[:, :-1], 1)):
        outline(axes, one != other, line, across, up)
    chosen = beside(found, found.maxima, place)
    at = mark(axes, found, found.maxima, chosen, place, marker="^", color="white", markeredgecolor=style.INK)
    for number, spot_number in enumerate(order[:MOST_NAMED], 1):
        for where in at[chosen == spot_number]:
            rim = [withStroke(linewidth=2, foreground=style.INK)]
            style.beside(axes, tuple(where), str(number), (5, 3), color="white", path_effects=rim)
    style.panel_title(axes, f"{len(chosen):,} of {len(found.maxima):,} maxima{place.label}")
    return axes


def outline(axes: Axes, differ: np.ndarray, line: int, across: np.ndarray, up: np.ndarray) -> None:
    """Lines between points of different regions; `line` 0 where neighbours across differ, 1 where those upwards do."""
    from matplotlib.collections import LineCollection

    edges = [np.concatenate(([side[0]], (side[1:] + side[:-1]) / 2, [side[-1]])) for side in (across, up)]
    i, j = np.nonzero(differ)
    if line == 0:
        begin, end = (edges[0][i + 1], edges[1][j]), (edges[0][i + 1], edges[1][j + 1])
    else:
        begin, end = (edges[0][i], edges[1][j + 1]), (edges[0][i + 1], edges[1][j + 1])
    parts = np.stack((np.column_stack(begin), np.column_stack(end)), axis=1)
    axes.add_collection(LineCollection(list(parts), colors="white", linewidths=0.7, alpha=0.8), autolim=False)
