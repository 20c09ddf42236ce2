"""The model and its mesh: three orthogonal cuts with media, metal, grid lines, ports, monitors and absorbing layers."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.entry.errors import ModelError
from nearfield.pictures.style import (
    FAINT,
    INK,
    METAL,
    axis_prefix,
    canvas,
    clipped,
    headline,
    listed,
    panel,
    quantity,
    styled,
)
from nearfield.report.sections import (
    AXES,
    BACKGROUND,
    Section,
    corners,
    cut_positions,
    media_names,
    section,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from nearfield.discretization.model import Model
    from nearfield.grid.yee import YeeGrid

TINTS = ("#CFE6F5", "#F8E3B0", "#CDE9DB", "#E6D8EE", "#F6D5C3", "#DDE0C0", "#D8DCE2")
MAGNETIC_WALL = "#6D3B8E"
PORT = "#C2185B"
SOURCE = "#D55E00"
MONITORS = {
    "probe": ("#0072B2", "probe"),
    "voltage": ("#0072B2", "voltage"),
    "current": ("#0072B2", "current"),
    "field-dft": ("#00795A", "field plane or box"),
    "snapshot": ("#00795A", "snapshot"),
    "flux": ("#7A5C00", "flux surface"),
    "far-field": ("#5B3FA8", "far-field surface"),
}
LONGEST, SHORTEST = 5.6, 1.15  # inches of an axis of the box
LINES_PER_INCH = 22.0


@styled
def structure_figure(grid: YeeGrid, simulation: Model | None, title: str = "") -> Figure:
    """Three cuts in orthographic projection with a legend; without a simulation only the grid."""
    extents = np.array([line[-1] - line[0] for line in grid.lines])
    inches = np.maximum(LONGEST * extents / extents.max(), SHORTEST)
    normal = int(np.argmin(inches[::-1] - 1e-6 * np.arange(3)))
    normal = 2 - normal
    across, up = [axis for axis in range(3) if axis != normal]
    positions = cut_positions(simulation, grid) if simulation else [line[line.size // 2] for line in grid.lines]
    views = ((normal, across, up), (up, across, normal), (across, normal, up))
    legend_width = 2.6 if inches[normal] < 2.4 else 0.0  # else it has room above the view on the right
    width = 0.75 + inches[across] + 0.75 + inches[normal] + 0.3 + legend_width
    height = 1.15 + inches[normal] + 0.75 + inches[up] + 0.65
    figure = canvas(width, max(height, 5.2))
    factor, prefix = axis_prefix(float(extents.max()))
    step = [max(1, int(np.ceil((line.size - 1) / (LINES_PER_INCH * size)))) for line, size in zip(grid.lines, inches)]
    left, top = 0.75, 1.15
    beside, below = left + inches[across] + 0.75, top + inches[normal] + 0.75
    places = ((left, below), (left, top), (beside, below))
    legend: dict[str, Any] = {}
    for (axis, right, vertical), place in zip(views, places):
        axes = panel(figure, *place, inches[right], inches[vertical])
        view = section(simulation, grid, axis, positions[axis], right, vertical) if simulation else None
        _draw_view(axes, grid, simulation, view, (axis, right, vertical), factor, step, legend)
        for other, line in ((right, axes.axvline), (vertical, axes.axhline)):
            line(positions[other] * factor, color=INK, linewidth=0.7, linestyle=(0, (8, 3, 1, 3)), alpha=0.45)
        axes.set_title(f"{AXES[axis]} = {quantity(positions[axis], 'm')}", loc="left", fontsize=9.5, fontweight="bold")
        axes.set_xlabel(f"{AXES[right]} ({prefix}m)", labelpad=2)
        axes.set_ylabel(f"{AXES[vertical]} ({prefix}m)", labelpad=2)
    _draw_legend(figure, legend, (width - legend_width if legend_width else beside) / width)
    what = f"Model and mesh · {title}" if title.strip() else "Model and mesh"
    headline(figure, what, _facts(grid, step, inches, extents))
    return figure


def _facts(grid: YeeGrid, step: list[int], inches: np.ndarray, extents: np.ndarray) -> str:
    counts = " × ".join(str(count) for count in grid.cells)
    lengths = [grid.primary(axis) for axis in range(3)]
    smallest, largest = min(part.min() for part in lengths), max(part.max() for part in lengths)
    cells = (
        f"of {quantity(smallest, 'm', 3)}"
        if largest < 1.0001 * smallest
        else f"from {quantity(smallest, 'm', 3)} to {quantity(largest, 'm', 3)}"
    )
    facts = [f"{counts} cells {cells}"]
    thinned = [f"{AXES[axis]}: one in {count}" for axis, count in enumerate(step) if count > 1]
    if thinned:
        facts.append(f"grid lines drawn, {listed(thinned)}")
    stretched = inches / extents / (inches / extents).min()
    facts += [f"{AXES[axis]} stretched {stretched[axis]:.2g} times" for axis in range(3) if stretched[axis] > 1.05]
    return "  ·  ".join(facts)


def _draw_view(
    axes: Axes,
    grid: YeeGrid,
    simulation: Model | None,
    view: Section | None,
    orientation: tuple[int, int, int],
    factor: float,
    step: list[int],
    legend: dict[str, Any],
) -> None:
    """One cut: media, grid lines, absorbing layers and walls, metal, and what lies in front of or behind it."""
    _, right, up = orientation
    lines = [grid.lines[right] * factor, grid.lines[up] * factor]
    axes.grid(False)
    if view is not None and simulation is not None:
        draw_media(axes, view, simulation, factor, legend)
    axes.vlines(lines[0][:: step[right]], lines[1][0], lines[1][-1], color=INK, linewidth=0.35, alpha=0.22)
    axes.hlines(lines[1][:: step[up]], lines[0][0], lines[0][-1], color=INK, linewidth=0.35, alpha=0.22)
    if view is not None and simulation is not None:
        _draw_boundaries(axes, simulation, orientation, lines, legend)
        draw_thin_metal(axes, view, factor, METAL, 2.4)
        if view.strokes or view.dots:
            legend["PEC"] = _swatch(METAL)
        _draw_items(axes, grid, simulation, orientation, factor, legend)
    axes.set_xlim(lines[0][0], lines[0][-1])
    axes.set_ylim(lines[1][0], lines[1][-1])
    for spine in axes.spines.values():
        spine.set_visible(True)
        spine.set_zorder(3)


def draw_media(axes: Axes, view: Section, simulation: Model, factor: float, legend: dict[str, Any]) -> None:
    """Fill the cut with the media's colours."""
    from matplotlib.colors import to_rgba

    names = media_names(simulation)
    dielectrics = [name for name in names if name not in ("PEC", "PMC")]
    colours = {name: TINTS[number % len(TINTS)] for number, name in enumerate(dielectrics)}
    colours |= {"PEC": METAL, "PMC": MAGNETIC_WALL}
    table = np.zeros((len(names) + 1, 4))
    for number, name in enumerate(names):
        table[number] = to_rgba(colours[name])
        if (view.index == number).any():
            legend[name] = _swatch(colours[name])
    edges = [_outer(samples) * factor for samples in (view.columns, view.rows)]
    picture = table[np.where(view.index == BACKGROUND, len(names), view.index)]
    extent = (*edges[0], *edges[1])
    axes.imshow(picture, extent=extent, origin="lower", aspect="auto", interpolation="nearest", zorder=0)


def draw_thin_metal(axes: Axes, view: Section, factor: float, colour: str, width: float) -> None:
    """Strokes and dots of metal without thickness."""
    for (x0, y0), (x1, y1) in view.strokes:
        axes.plot(
            [x0 * factor, x1 * factor],
            [y0 * factor, y1 * factor],
            color=colour,
            linewidth=width,
            solid_capstyle="butt",
            zorder=4,
        )
    for x, y in view.dots:
        axes.plot(x * factor, y * factor, marker="o", markersize=2.2 * width, color=colour, zorder=4)


def _outer(samples: np.ndarray) -> np.ndarray:
    half = 0.5 * (samples[1] - samples[0])
    return np.array([samples[0] - half, samples[-1] + half])


def _swatch(colour: str, **options: Any) -> Any:
    from matplotlib.patches import Patch

    return Patch(facecolor=colour, **{"edgecolor": FAINT, "linewidth": 0.5, **options})


def _draw_boundaries(
    axes: Axes,
    simulation: Model,
    orientation: tuple[int, int, int],
    lines: list[np.ndarray],
    legend: dict[str, Any],
) -> None:
    from matplotlib.lines import Line2D

    for axis, along, span in ((orientation[1], lines[0], axes.axvspan), (orientation[2], lines[1], axes.axhspan)):
        layers = simulation.boundaries.cpml_cells(axis)
        for side, cells in zip(("low", "high"), layers):
            if cells and cells < along.size:
                ends = (along[0], along[cells]) if side == "low" else (along[-1 - cells], along[-1])
                span(*ends, facecolor="#7B8794", alpha=0.16, linewidth=0, zorder=1)
                span(*ends, facecolor="none", edgecolor="#7B8794", alpha=0.35, hatch="////", linewidth=0, zorder=1)
                legend[f"CPML, {cells} cells"] = _swatch("#E3E7EB", hatch="////", edgecolor="#9AA5B1")
                continue
            kind = simulation.boundaries.face(axis, side)
            colour, dash = {"pec": (METAL, "-"), "pmc": (MAGNETIC_WALL, (0, (3, 1.5)))}.get(
                kind if isinstance(kind, str) else "", (FAINT, (0, (1, 1)))
            )
            place = along[0] if side == "low" else along[-1]
            (axes.axvline if axis == orientation[1] else axes.axhline)(
                place, color=colour, linestyle=dash, linewidth=3.5, zorder=5
            )
            name = f"{kind.upper()} wall" if kind in ("pec", "pmc") else f"{getattr(kind, 'kind', kind)} faces"
            legend[name] = Line2D([], [], color=colour, linestyle=dash, linewidth=3)


def _draw_items(
    axes: Axes,
    grid: YeeGrid,
    simulation: Model,
    orientation: tuple[int, int, int],
    factor: float,
    legend: dict[str, Any],
) -> None:
    """Ports, sources, elements and monitors, projected along the view."""
    groups: list[tuple[Any, str, str]] = [(item, PORT, "port") for item in simulation.ports]
    groups += [(item, SOURCE, "source") for item in simulation.sources]
    groups += [(item, INK, "lumped element") for item in simulation.elements]
    groups += [(item, *MONITORS.get(item.kind, (FAINT, item.kind))) for item in simulation.monitors]
    for item, colour, label in groups:
        place = surface_of(item, grid, simulation) if item.kind == "far-field" else corners(item)
        if place is None:
            continue
        lower, upper = place
        strong = label in ("port", "source", "lumped element")
        legend[label] = _draw_item(
            axes,
            [lower[a] * factor for a in orientation[1:]],
            [upper[a] * factor for a in orientation[1:]],
            colour,
            strong,
        )


def surface_of(monitor: Any, grid: YeeGrid, simulation: Model) -> tuple[list[float], list[float]] | None:
    """The corners of a far-field surface, its own or the default; None where it cannot lie."""
    try:
        nodes = monitor._box(SimpleNamespace(grid=grid, boundaries=simulation.boundaries))
    except ModelError:
        return None
    lower, upper = ([float(grid.lines[axis][end[axis]]) for axis in range(3)] for end in nodes)
    return lower, upper


def _draw_item(axes: Axes, lower: list[float], upper: list[float], colour: str, strong: bool) -> Any:
    """A point, line or frame, as the extent is; returns what the legend shows."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Rectangle

    extents = [high - low for low, high in zip(lower, upper)]
    dash = "-" if strong else (0, (4, 2))
    width = 2.6 if strong else 1.4
    halo: dict[str, Any] = {"markeredgecolor": "white", "markeredgewidth": 0.8}
    if not any(extents):
        axes.plot(*lower, marker="D" if strong else "o", markersize=6.5, color=colour, zorder=7, linestyle="", **halo)
        return Line2D([], [], marker="D" if strong else "o", markersize=6.5, color=colour, linestyle="", **halo)
    if all(extents):
        fill = colour if strong else "none"
        axes.add_patch(Rectangle(lower, *extents, facecolor=fill, edgecolor="none", alpha=0.25, zorder=6))
        axes.add_patch(
            Rectangle(
                lower, *extents, facecolor="none", edgecolor=colour, linestyle=dash, linewidth=0.7 * width, zorder=6
            )
        )
    else:
        marker = "s" if strong else ""  # so that a port of one cell is seen
        axes.plot(
            [lower[0], upper[0]],
            [lower[1], upper[1]],
            color=colour,
            linestyle=dash,
            linewidth=width,
            marker=marker,
            markersize=3.5,
            zorder=6,
            solid_capstyle="butt",
        )
    return Line2D([], [], color=colour, linestyle=dash, linewidth=width)


def _draw_legend(figure: Figure, legend: dict[str, Any], left: float) -> None:
    if not legend:
        return
    handles = list(legend.values())[:18]
    labels = [clipped(name, 30) for name in legend][:18]
    corner = (left, 1 - 0.75 / figure.get_figheight())
    figure.legend(
        handles, labels, loc="upper left", bbox_to_anchor=corner, fontsize=9, labelspacing=0.7, handlelength=1.8
    )
