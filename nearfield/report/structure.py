"""The model and its mesh: three orthogonal cuts with media, metal, grid lines, ports, monitors and absorbing layers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.grid.yee import AXES
from nearfield.media.surface_media import ResistiveSheet, is_metal
from nearfield.pictures import style
from nearfield.pictures.objects import MAGNETIC_WALL, MONITORS, PORT, SOURCE
from nearfield.report.sections import BACKGROUND, Section, cut_positions, media_of, section
from nearfield.viewer.objects import corners, surface_of
from nearfield.viewer.scene import DIELECTRICS, WORDS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    from nearfield.discretization.model import Model
    from nearfield.grid.yee import YeeGrid

TINTS = ("#CFE6F5", "#F8E3B0", "#CDE9DB", "#E6D8EE", "#F6D5C3", "#DDE0C0", "#D8DCE2")
WALLS: dict[str, tuple[str, Any]] = {"pec": (style.METAL, "-"), "pmc": (MAGNETIC_WALL, (0, (3, 1.5)))}
HATCHED: dict[str, Any] = {"hatch": "////"}
LONGEST, SHORTEST = 5.6, 1.15  # inches of an axis of the box
LINES_PER_INCH = 22.0


@style.styled
def structure_figure(grid: YeeGrid, simulation: Model | None, title: str = "") -> Figure:
    """Three cuts in orthographic projection with a legend; without a simulation only the grid."""
    extents = np.array([line[-1] - line[0] for line in grid.lines])
    inches = np.maximum(LONGEST * extents / extents.max(), SHORTEST)
    normal = 2 - int(np.argmin(inches[::-1] - 1e-6 * np.arange(3)))
    across, up = [axis for axis in range(3) if axis != normal]
    positions = cut_positions(simulation, grid) if simulation else [line[line.size // 2] for line in grid.lines]
    views = ((normal, across, up), (up, across, normal), (across, normal, up))
    legend_width = 2.6 if inches[normal] < 2.4 else 0.0  # else it has room above the view on the right
    width = 0.75 + inches[across] + 0.75 + inches[normal] + 0.3 + legend_width
    height = 1.15 + inches[normal] + 0.75 + inches[up] + 0.65
    figure = style.canvas(width, max(height, 5.2))
    factor, prefix = style.axis_prefix(float(extents.max()))
    step = [max(1, int(np.ceil((line.size - 1) / (LINES_PER_INCH * size)))) for line, size in zip(grid.lines, inches)]
    left, top = 0.75, 1.15
    beside, below = left + inches[across] + 0.75, top + inches[normal] + 0.75
    places = ((left, below), (left, top), (beside, below))
    legend: dict[str, Any] = {}
    for (axis, right, vertical), place in zip(views, places):
        axes = style.panel(figure, *place, inches[right], inches[vertical])
        cut = section(simulation, grid, axis, positions[axis], right, vertical) if simulation else None
        View(axes, right, vertical, factor, legend).draw(grid, simulation, cut, step)
        for other, line in ((right, axes.axvline), (vertical, axes.axhline)):
            line(positions[other] * factor, color=style.INK, linewidth=0.7, linestyle=(0, (8, 3, 1, 3)), alpha=0.45)
        place_text = f"{AXES[axis]} = {style.quantity(positions[axis], 'm')}"
        axes.set_title(place_text, loc="left", fontsize=9.5, fontweight="bold")
        style.name_axes(axes, f"{AXES[right]} ({prefix}m)", f"{AXES[vertical]} ({prefix}m)", labelpad=2)
    _draw_legend(figure, legend, (width - legend_width if legend_width else beside) / width)
    what = f"Model and mesh · {title}" if title.strip() else "Model and mesh"
    return style.headline(figure, what, _facts(grid, step, inches, extents))


def _facts(grid: YeeGrid, step: list[int], inches: np.ndarray, extents: np.ndarray) -> str:
    counts = " × ".join(str(count) for count in grid.cells)
    lengths = [grid.primary(axis) for axis in range(3)]
    smallest, largest = (style.quantity(bound(map(bound, lengths)), "m", 3) for bound in (min, max))
    facts = [f"{counts} cells " + (f"of {smallest}" if smallest == largest else f"from {smallest} to {largest}")]
    thinned = [f"{AXES[axis]}: one in {count}" for axis, count in enumerate(step) if count > 1]
    if thinned:
        facts.append(f"grid lines drawn, {style.listed(thinned)}")
    stretched = inches / extents / (inches / extents).min()
    facts += [f"{AXES[axis]} stretched {stretched[axis]:.2g} times" for axis in range(3) if stretched[axis] > 1.05]
    return "  ·  ".join(facts)


@dataclass
class View:
    """One cut on its panel, with the axes `right` and `up`; lengths (m) are drawn `factor` times."""

    panel: Axes
    right: int
    up: int
    factor: float
    legend: dict[str, Any]

    def draw(self, grid: YeeGrid, simulation: Model | None, cut: Section | None, step: list[int]) -> None:
        """Media, grid lines, absorbing layers and walls, metal, and the objects in front of the cut or behind it."""
        axes, ink = self.panel, dict[str, Any](color=style.INK, linewidth=0.35, alpha=0.22)
        x, y = (grid.lines[side] * self.factor for side in (self.right, self.up))
        axes.grid(False)
        if cut is not None and simulation is not None:
            self.draw_media(cut, simulation)
        axes.vlines(x[:: step[self.right]], y[0], y[-1], **ink)
        axes.hlines(y[:: step[self.up]], x[0], x[-1], **ink)
        if cut is not None and simulation is not None:
            self.draw_boundaries(simulation, (x, y))
            looks = media_looks(simulation)
            draw_thin_parts(axes, cut, self.factor, [colour for _, colour in looks], 2.4)
            for number in sorted({part[-1] for part in (*cut.strokes, *cut.dots)}):
                name, colour = looks[number]
                self.legend[name] = _swatch(colour)
            self.draw_objects(grid, simulation)
        axes.set_xlim(x[0], x[-1])
        axes.set_ylim(y[0], y[-1])
        for spine in axes.spines.values():
            spine.set_visible(True)
            spine.set_zorder(3)

    def draw_media(self, cut: Section, simulation: Model) -> None:
        """Fill the cut with the media's colours."""
        from matplotlib.colors import to_rgba

        looks = media_looks(simulation)
        table = np.zeros((len(looks) + 1, 4))
        for number, (name, colour) in enumerate(looks):
            table[number] = to_rgba(colour)
            if (cut.index == number).any():
                self.legend[name] = _swatch(colour)
        picture = table[np.where(cut.index == BACKGROUND, len(looks), cut.index)]
        extent = (*(_outer(cut.columns) * self.factor), *(_outer(cut.rows) * self.factor))
        self.panel.imshow(picture, extent=extent, origin="lower", aspect="auto", interpolation="nearest", zorder=0)

    def draw_boundaries(self, simulation: Model, lines: tuple[np.ndarray, np.ndarray]) -> None:
        """Absorbing layers as hatched bands, walls as lines."""
        from matplotlib.lines import Line2D

        axes = self.panel
        draw: list[tuple[Any, Any]] = [(axes.axvspan, axes.axvline), (axes.axhspan, axes.axhline)]
        for axis, along, (band, wall) in zip((self.right, self.up), lines, draw):
            for side, cells in zip(("low", "high"), simulation.boundaries.cpml_cells(axis)):
                if cells and cells < along.size:
                    ends = (along[0], along[cells]) if side == "low" else (along[-1 - cells], along[-1])
                    band(*ends, facecolor="#7B8794", alpha=0.16, linewidth=0, zorder=1)
                    band(*ends, **HATCHED, edgecolor="#7B8794", facecolor="none", alpha=0.35, linewidth=0, zorder=1)
                    self.legend[f"CPML, {cells} cells"] = _swatch("#E3E7EB", **HATCHED, edgecolor="#9AA5B1")
                    continue
                kind = simulation.boundaries.face(axis, side)
                name = kind if isinstance(kind, str) else kind.kind
                colour, dash = WALLS.get(name, (style.FAINT, (0, (1, 1))))
                wall(along[0] if side == "low" else along[-1], color=colour, linestyle=dash, linewidth=3.5, zorder=5)
                label = f"{name.upper()} wall" if name in WALLS else f"{name} faces"
                self.legend[label] = Line2D([], [], color=colour, linestyle=dash, linewidth=3)

    def draw_objects(self, grid: YeeGrid, simulation: Model) -> None:
        """Ports, sources, elements and monitors, projected along the view."""
        groups: list[tuple[Any, str, str]] = [(item, PORT, "port") for item in simulation.ports]
        groups += [(item, SOURCE, "source") for item in simulation.sources]
        groups += [(item, style.INK, "lumped element") for item in simulation.elements]
        strong = len(groups)
        groups += [(item, *MONITORS.get(item.kind, (style.FAINT, item.kind))) for item in simulation.monitors]
        for number, (item, colour, label) in enumerate(groups):
            place = surface_of(item, grid, simulation) if item.kind == "far-field" else corners(item)
            if place is not None:
                lower, upper = ((end[self.right] * self.factor, end[self.up] * self.factor) for end in place)
                self.legend[label] = self.draw_object(lower, upper, colour, number < strong)

    def draw_object(self, lower: tuple[float, float], upper: tuple[float, float], colour: str, strong: bool) -> Line2D:
        """A point, line or frame, as the extent is; returns the line of the legend."""
        from matplotlib.lines import Line2D
        from matplotlib.patches import Rectangle

        width, height = (high - low for low, high in zip(lower, upper))
        line: dict[str, Any] = {"linestyle": "-" if strong else (0, (4, 2)), "linewidth": 2.6 if strong else 1.4}
        if not width and not height:
            point: dict[str, Any] = {"marker": "D" if strong else "o", "markersize": 6.5, "color": colour}
            point |= {"linestyle": "", "markeredgecolor": "white", "markeredgewidth": 0.8}
            self.panel.plot(*lower, **point, zorder=7)
            return Line2D([], [], **point)
        if width and height:
            frame = {**line, "linewidth": 0.7 * line["linewidth"], "facecolor": "none", "edgecolor": colour}
            fill = {"facecolor": colour if strong else "none", "edgecolor": "none", "alpha": 0.25}
            for look in (fill, frame):
                self.panel.add_patch(Rectangle(lower, width, height, **look, zorder=6))
        else:
            # a square at both ends makes a port of one cell visible
            ends: dict[str, Any] = {"marker": "s" if strong else "", "markersize": 3.5}
            x, y = zip(lower, upper)
            self.panel.plot(x, y, color=colour, **line, **ends, zorder=6, solid_capstyle="butt")
        return Line2D([], [], color=colour, **line)


def media_looks(simulation: Model) -> list[tuple[str, str]]:
    """Name and colour of each medium of `media_of`: metal is copper; sheets, which are thin, have stronger colours."""
    looks, others = [], 0
    for name, medium in media_of(simulation).items():
        own = WORDS[medium] if isinstance(medium, str) else style.METAL if is_metal(medium) else None
        if own is None:
            tints = DIELECTRICS if isinstance(medium, ResistiveSheet) else TINTS
            own, others = tints[others % len(tints)], others + 1
        looks.append((name, own))
    return looks


def draw_thin_parts(axes: Axes, cut: Section, factor: float, colours: Sequence[str], width: float) -> None:
    """Strokes and dots of what has no thickness, in the colours of their media."""
    for start, end, number in cut.strokes:
        x, y = factor * np.transpose((start, end))
        axes.plot(x, y, color=colours[number], linewidth=width, solid_capstyle="butt", zorder=4)
    for x, y, number in cut.dots:
        axes.plot(x * factor, y * factor, marker="o", markersize=2.2 * width, color=colours[number], zorder=4)


def _outer(samples: np.ndarray) -> np.ndarray:
    half = 0.5 * (samples[1] - samples[0])
    return np.array([samples[0] - half, samples[-1] + half])


def _swatch(colour: str, **options: Any) -> Any:
    from matplotlib.patches import Patch

    return Patch(facecolor=colour, **{"edgecolor": style.FAINT, "linewidth": 0.5, **options})


def _draw_legend(figure: Figure, legend: dict[str, Any], left: float) -> None:
    if legend:
        handles, labels = list(legend.values())[:18], [style.clipped(name, 30) for name in legend][:18]
        place: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (left, 1 - 0.75 / figure.get_figheight())}
        figure.legend(handles, labels, **place, fontsize=9, labelspacing=0.7, handlelength=1.8)
