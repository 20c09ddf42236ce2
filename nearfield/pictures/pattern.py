"""The far field as an antenna engineer reads it: E- and H-plane cuts in dBi, and a map over all directions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.entry.levels import HALF_POWER
from nearfield.pictures import style
from nearfield.pictures.cuts import Cut, Pattern, cuts, patterns

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh
    from matplotlib.figure import Figure

DYNAMIC_RANGE = 40.0  # dB below the peak; fainter lobes are lost in the cells' error anyway
MOST_FREQUENCIES = 3


@style.styled
def draw_pattern(
    far_field: Any, ax: Axes | None = None, frequency: float | None = None, title: str = "Directivity", note: str = ""
) -> Any:
    """Cuts and map of a far field, a row for each of at most three frequencies (Hz; one where given); the axes.

    On `ax`, polar or Cartesian, the cuts at one frequency alone: the given one, else the middle of those recorded.
    """
    every = patterns(far_field)
    if not every:
        return _silence(ax, title, note)
    if frequency is not None:
        every = [min(every, key=lambda pattern: abs(pattern.frequency - frequency))]
    if ax is not None:
        return _cuts_on(ax, every[len(every) // 2])
    shown = [every[position] for position in style.picked(len(every), MOST_FREQUENCIES)]
    recorded = int(far_field.frequencies.size)
    if recorded > len(shown):
        note += ("  ·  " if note else "") + f"{len(shown)} of {recorded} frequencies shown"
    return _rows(shown, title, note)


def _rows(shown: list[Pattern], title: str, note: str) -> np.ndarray:
    """A figure with a row of panels for each pattern; the axes of cuts and maps."""
    sections = [cuts(pattern) for pattern in shown]
    kinds = list(dict.fromkeys(cut.kind for found in sections for cut in found))
    half, mapped = half_space(shown[0]), shown[0].theta.size > 1 and shown[0].phi.size > 2
    side = 3.2  # inches of a full circle
    row_height = 3.75 if half else side + 1.25
    columns = [4.6 if half and kind == "meridian" else side for kind in kinds]
    width = sum(columns) + 0.9 * len(columns) + (5.0 if half else 5.9) * mapped
    figure = style.canvas(width, 0.85 + row_height * len(shown))
    ceiling, panels = ceiling_of(shown), []
    for row, (pattern, found) in enumerate(zip(shown, sections)):
        top, left = 1.3 + row_height * row, 0.5
        for kind, width in zip(kinds, columns):
            wedge = half and kind == "meridian"  # its axes are a square of which the middle half is drawn
            axes = style.panel(figure, left, top - 1.1 if wedge else top, width, width, projection="polar")
            _polar(axes, [cut for cut in found if cut.kind == kind], kind, ceiling, half)
            place = left / figure.get_figwidth(), 1 - (top - 0.32) / figure.get_figheight()
            figure.text(*place, _panel_name(pattern, kind, len(kinds)), fontsize=10, fontweight="bold", va="bottom")
            panels.append(axes)
            left += width + 0.9
        if mapped and half:
            panels.append(style.panel(figure, left + 0.35, top + 0.2, 2.5, 2.5, projection="polar"))
            _disc(figure, panels[-1], pattern, ceiling)
        elif mapped:
            panels.append(style.panel(figure, left + 0.1, top, 4.4, side))
            _map(figure, panels[-1], pattern, ceiling)
    style.headline(figure, title, note)
    return np.array(panels, dtype=object)


def ceiling_of(shown: list[Pattern]) -> float:
    """The level (dBi) at which the scales of some patterns end, a multiple of 5."""
    return 5 * math.ceil((max(pattern.maximum for pattern in shown) + 0.01) / 5)


def _cuts_on(axes: Any, pattern: Pattern) -> Axes:
    """The cuts on axes of the user: round on polar ones (those of one kind), else level over the angle in degrees."""
    found = cuts(pattern)
    axes.set_title(f"{style.quantity(pattern.frequency, 'Hz')}, peak {style.signed(pattern.maximum, 2)} dBi")
    if axes.name == "polar":
        kind = found[0].kind
        _polar(axes, [cut for cut in found if cut.kind == kind], kind, ceiling_of([pattern]), half_space(pattern))
        return axes
    from matplotlib.ticker import MultipleLocator

    mixed = len({cut.kind for cut in found}) > 1
    for number, cut in enumerate(found):
        width = f"\nhalf-power width {degrees_text(cut.beamwidth)}" if cut.beamwidth else ""
        angle = np.degrees(cut.angle)
        if mixed:  # azimuths of 0 to 360 degrees beside angles of -180 to 180
            angle = np.where(angle > 180.0, angle - 360.0, angle)
        order = np.argsort(angle, kind="stable")
        axes.plot(angle[order], cut.dbi[order], **style.line_style(number), label=cut.name + width)
    ceiling = ceiling_of([pattern])
    axes.set_ylim(ceiling - DYNAMIC_RANGE, ceiling)
    axes.margins(x=0)
    axes.xaxis.set_major_locator(MultipleLocator(90 if np.ptp(axes.get_xlim()) > 200 else 30))
    style.name_axes(axes, "Angle (°)", "Directivity (dBi)")
    axes.legend(loc="lower center", fontsize=8)
    return axes


def degrees_text(angle: float) -> str:
    """An angle (rad) in degrees: narrow ones with a decimal."""
    return f"{math.degrees(angle):.{1 if angle < math.radians(20) else 0}f}°"


def _silence(ax: Axes | None, title: str, note: str) -> Axes:
    axes = style.panel_for(ax, 8.0, 2.4, title, note)
    axes.set_axis_off()
    style.notice(axes, "No radiated power at any recorded frequency, so there is no pattern.")
    return axes


def _panel_name(pattern: Pattern, kind: str, kinds: int) -> str:
    text = f"{style.quantity(pattern.frequency, 'Hz')}, dBi"
    return text if kinds == 1 else f"{text} over {'θ' if kind == 'meridian' else 'φ'}"


def half_space(pattern: Pattern) -> bool:
    """Whether only the upper half space was recorded (an antenna over an infinite ground)."""
    return bool(pattern.theta.max() <= math.pi / 2 + 0.02 and pattern.phi.size > 2)


def _polar(axes: Any, found: list[Cut], kind: str, ceiling: float, half: bool) -> None:
    floor = ceiling - DYNAMIC_RANGE
    for cut in found:
        second = bool(axes.lines)
        level = np.where(np.isfinite(cut.dbi), np.maximum(cut.dbi, floor), np.nan)
        width = cut.beamwidth if kind == "meridian" else None
        label = cut.name + (f"  (half-power width {degrees_text(width)})" if width else "")
        dashes: Any = (0, (5, 2)) if second else "-"
        axes.plot(cut.angle, level, color=style.COLOURS[second], linestyle=dashes, linewidth=2.0, label=label)
    _polar_frame(axes, kind, half)
    axes.set_rlim(floor, ceiling)
    axes.set_rticks(np.arange(floor + 10.0, ceiling + 1.0, 10.0))
    axes.tick_params(axis="y", labelsize=8, labelcolor=style.FAINT)
    axes.tick_params(axis="x", labelsize=9, pad=2)
    axes.spines["polar"].set_color(style.RULE)
    if found:
        below = 0.19 if half and kind == "meridian" else -0.08
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, below), fontsize=8.5)
    else:
        style.notice(axes, "no cut recorded")


def _polar_frame(axes: Any, kind: str, half: bool) -> None:
    """Theta: zero on top, growing to both sides. Phi: zero on the right, as on paper."""
    if kind == "azimuth":
        axes.set_xticks(np.radians(np.arange(0, 360, 30)))
        axes.set_rlabel_position(15)
        return
    axes.set_theta_zero_location("N")
    axes.set_theta_direction(-1)
    angles = np.arange(-90, 91, 30) if half else np.arange(0, 360, 30)
    if half:
        axes.set_thetalim(-math.pi / 2, math.pi / 2)
    axes.set_xticks(np.radians(angles), [f"{abs(angle) if angle <= 180 else 360 - angle}°" for angle in angles])
    axes.set_rlabel_position(-90 if half else 75)


def _disc(figure: Figure, axes: Any, pattern: Pattern, ceiling: float) -> None:
    """The upper half space seen from above: phi round the disc, theta from its centre to its rim."""
    mesh = _mesh(axes, pattern.phi, np.degrees(pattern.theta), pattern, ceiling)
    _mark(axes, pattern.direction[1], math.degrees(pattern.direction[0]))
    axes.set_rlim(0, 90)
    axes.set_rticks([30, 60, 90], labels=["θ = 30°", "60°", "90°"], fontsize=8, color="white")
    axes.set_rlabel_position(22)
    names = ["φ = 0°", *(f"{angle}°" for angle in range(45, 360, 45))]
    axes.set_xticks(np.radians(np.arange(0, 360, 45)), names, fontsize=9)
    axes.tick_params(axis="x", pad=7)
    axes.grid(True, color="white", alpha=0.35, linewidth=0.7)
    axes.spines["polar"].set_visible(False)
    _peak_and_bar(figure, axes, mesh, pattern)


def _map(figure: Figure, axes: Axes, pattern: Pattern, ceiling: float) -> None:
    """All directions, theta downward from the pole and phi to the right."""
    phi, theta = np.degrees(pattern.phi), np.degrees(pattern.theta)
    mesh = _mesh(axes, phi, theta, pattern, ceiling)
    _mark(axes, math.degrees(pattern.direction[1]), math.degrees(pattern.direction[0]))
    axes.grid(False)
    axes.set_ylim(theta.max(), theta.min())
    axes.set_xlim(phi.min(), phi.max())
    for setter, extent in ((axes.set_xticks, phi), (axes.set_yticks, theta)):
        span = float(np.ptp(extent))
        setter(np.arange(math.ceil(extent.min()), extent.max() + 1, 60 if span > 200 else 30 if span > 100 else 15))
    style.name_axes(axes, "φ (°)", "θ (°)")
    _peak_and_bar(figure, axes, mesh, pattern)


def _mesh(axes: Axes, phi: np.ndarray, theta: np.ndarray, pattern: Pattern, ceiling: float) -> QuadMesh:
    """Directivity as colours, with the line of half power."""
    floor = ceiling - DYNAMIC_RANGE
    level = np.maximum(np.nan_to_num(pattern.dbi, nan=-300.0), floor)
    colours: dict[str, Any] = {"cmap": style.PATTERN_MAP, "vmin": floor, "vmax": ceiling}
    mesh = axes.pcolormesh(phi, theta, level, **colours, shading="gouraud", rasterized=True)
    if min(level.shape) > 2:
        half_power: dict[str, Any] = {"levels": [pattern.maximum + HALF_POWER], "linestyles": "solid"}
        axes.contour(phi, theta, level, **half_power, colors="white", linewidths=1.2)
    return mesh


def _mark(axes: Axes, across: float, along: float) -> None:
    for size, width, colour in ((13, 3.0, "white"), (11, 1.3, style.INK)):
        axes.plot(across, along, marker="+", markersize=size, markeredgewidth=width, color=colour, clip_on=False)


def _peak_and_bar(figure: Figure, axes: Axes, mesh: QuadMesh, pattern: Pattern) -> None:
    theta, phi = np.degrees(pattern.direction)
    place = f"θ = {theta:.0f}°" + (f", φ = {phi:.0f}°" if 0.5 < theta < 179.5 else "")
    title = f"Peak {style.signed(pattern.maximum, 2)} dBi at {place}"
    if (coarsest := float(max(np.diff(pattern.theta).max(), np.diff(pattern.phi).max()))) > 10 * pattern.step:
        title += f"; samples {degrees_text(coarsest)} apart"  # half of the narrowest lobe or more
    width, height = figure.get_size_inches()
    box = axes.get_position()
    above = box.y1 + (0.52 if half_space(pattern) else 0.32) / height
    figure.text(box.x0, above, title, fontsize=10, fontweight="bold", va="bottom")
    gap = 0.75 if half_space(pattern) else 0.15
    bar = figure.colorbar(mesh, cax=figure.add_axes((box.x1 + gap / width, box.y0, 0.13 / width, box.height)))
    bar.set_label("Directivity (dBi), half power white", color=style.INK)
    bar.outline.set_visible(False)
