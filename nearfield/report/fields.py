"""Field pictures of a result, with the outlines of the model drawn over them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from nearfield.media.surface_media import is_metal
from nearfield.pictures import style
from nearfield.pictures.planes import MOST_PANELS, Plane, draw_planes, planes_of
from nearfield.report.sections import Section, cut_positions, media_of, section
from nearfield.report.signals import case_title
from nearfield.report.structure import draw_thin_parts

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from nearfield.discretization.model import Model
    from nearfield.grid.yee import YeeGrid
    from nearfield.results import Result

KINDS = ("field-dft", "snapshot")


def planes(result: Result) -> list[Plane]:
    """Pictures of the first excitation's field monitors, at most six, shared fairly among them."""
    if not result.excitations:
        return []
    excitation = result.excitation()
    names = [name for name, monitor in excitation.record.monitors.items() if monitor.kind in KINDS][:MOST_PANELS]
    found: list[Plane] = []
    for number, name in enumerate(names):
        share = max(1, (MOST_PANELS - len(found)) // (len(names) - number))
        found += planes_of(name, excitation[name].pictured(), share)
    return found


def field_figure(result: Result, simulation: Model | None) -> Figure | None:
    """Up to six planes: spectra as magnitude in dB of the plane's largest, snapshots as signed values."""
    found = planes(result)
    if not found:
        return None
    known = "  ·  outlines: metal and media, dashed before or behind" if simulation else ""
    drawn = partial(outlines, simulation=simulation, grid=result.grid) if simulation else None
    note = f"excitation {result.excitation().name}{known}"
    return style.figure_of(draw_planes(found, case_title(result, "Fields"), note, drawn))


def outlines(axes: Axes, plane: Plane, factor: float, simulation: Model, grid: YeeGrid) -> None:
    """Media and metal in a plane, and in the cut with the largest sheet, over its field; lengths times `factor`."""
    colour = style.INK if plane.signed else "white"
    above = cut_positions(simulation, grid)[plane.axis]
    for position, dash in ((plane.position, "solid"), (above, "dashed")):
        cut = section(simulation, grid, plane.axis, position, *plane.sides)
        _draw_outlines(axes, cut, simulation, factor, colour, dash)


def _draw_outlines(axes: Axes, cut: Section, simulation: Model, factor: float, colour: str, dash: str) -> None:
    """Outlines of media and metal in a cut, solid; of the cut with the largest sheet only metal, dashed."""
    media = list(media_of(simulation).values())
    for number, medium in enumerate(media):
        mask = cut.index == number
        metal = medium == "pmc" or is_metal(medium)
        if mask.any() and not mask.all() and (metal or dash == "solid"):
            look: dict[str, Any] = {"colors": colour, "linestyles": dash, "linewidths": 1.2 if metal else 0.7}
            x, y = cut.columns * factor, cut.rows * factor
            axes.contour(x, y, mask.astype(float), levels=[0.5], **look, alpha=0.85)
    if dash == "solid":
        draw_thin_parts(axes, cut, factor, [colour] * len(media), 1.6)
