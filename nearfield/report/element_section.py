"""Dissipation elements of a run's fields in its report: files that `nearfield elements --output` left beside it, and
statistics that monitors kept over time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from nearfield.dissipation.storing import open_elements, source_of
from nearfield.entry.errors import ModelError
from nearfield.pictures import style
from nearfield.pictures.curves import MOST_CURVES, draw_statistics

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from nearfield.results import Result


def element_recipes(
    result: Result, files: Sequence[Path], remarks: list[str]
) -> Iterator[tuple[str, str, Callable[[], Figure | None], bool]]:
    """Name, heading and drawing of a section for each file of this run; of other files a remark."""
    for path in files:
        try:
            facts = source_of(path)
        except ModelError as error:
            remarks.append(f"No section of dissipation elements: {error}")
            continue
        if facts.get("run", "") != str(result.facts.get("started", "")):
            remarks.append(
                f"{path.name} holds elements of another run, so it is left out; analyse this run's fields anew."
            )
            continue
        heading = "Dissipation elements" + (
            "" if path.stem == "elements" else f", {path.stem.removeprefix('elements-')}"
        )
        yield path.stem, heading, partial(element_figure, path, facts["source"]), False


@style.styled
def element_figure(path: Path, source: str) -> Figure:
    """Four pictures of the elements in a file: the slice, the spots, and the densities of lengths and differences."""
    found = open_elements(path)
    figure = style.blank(11.0, 9.4)
    panels = figure.subplots(2, 2).ravel()
    found.plot(ax=panels[0])
    found.plot.hot_spots(ax=panels[1])
    found.plot.joint_density(ax=panels[2])
    found.plot.conditional_difference(ax=panels[3])
    title = f"{len(found):,} elements, {len(found.maxima):,} maxima, {len(found.minima):,} minima"
    return style.headline(figure, title, f"{source.rpartition('/')[2]}; {found.method}")


def statistics_figure(result: Result) -> Figure | None:
    """Numbers of extrema and mean lengths over time, of the first excitation's monitors; None without any."""
    if not result.excitations:
        return None
    excitation = result.excitation()
    monitors = excitation.record.monitors.items()
    names = [name for name, monitor in monitors if monitor.kind == "elements" and excitation[name].sizes["time"]]
    if not names:
        return None
    shown = {name: excitation[name] for name in names[: MOST_CURVES // 2]}
    note = f"excitation {excitation.name}  ·  " + "; ".join(
        f"{name}: {told.attrs.get('quantity', '')}, {told.sizes['time']} times" for name, told in shown.items()
    )
    return style.figure_of(draw_statistics(shown, note=note))
