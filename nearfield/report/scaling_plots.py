"""Rates that `nearfield bench scaling` measured, beside the predicted ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.pictures.style import COLOURS, INK, MARKERS, blank, headline, name_bars, notice, panel_title, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ENTRY, LINE = 2.2, 0.25  # width of an entry of the legend and height of its line (inches)


@styled
def scaling(found: dict) -> Figure:
    """A column a case: rates with their spread, and minutes; a colour a scheme and policy, predictions are dashes."""
    cases = list(found["cases"])
    wide = 4.6 * max(1.6, len(cases))
    named = len({series(point) for point in found["points"]}) + 1
    columns = max(1, int(wide / ENTRY))
    figure = blank(wide, 8.4 + LINE * -(-named // columns))
    panels = figure.subplots(2, len(cases), sharey="row", squeeze=False)
    for column, name in enumerate(cases):
        points = [point for point in found["points"] if point["case"] == name and "refused" not in point]
        rates, times = panels[:, column]
        one_case(rates, points)
        minutes(times, points)
        panel_title(rates, name)
    entries = {label: handle for axes in panels[0] for handle, label in zip(*axes.get_legend_handles_labels())}
    if entries:
        figure.legend(entries.values(), entries, loc="outside lower left", ncols=columns, columnspacing=1.0)
    machine = found["machine"]
    headline(
        figure,
        f"Binding, ranks and threads on {found['cores']} cores",
        f"{machine['processor']}; median, lowest and highest of {found['rounds']} rounds in turn",
    )
    return figure


def one_case(axes: Axes, points: list[dict]) -> None:
    if not points:
        notice(axes, "every point was refused")
        return
    schemes = list(dict.fromkeys(map(series, points)))
    step = 0.7 / len(schemes)
    for number, scheme in enumerate(schemes):
        mine = [point for point in points if series(point) == scheme]
        place = places(points, mine) + (number - (len(schemes) - 1) / 2) * step
        rate, lowest, highest = (
            np.array([point[name] for point in mine]) for name in ("mcells_per_second", "lowest", "highest")
        )
        marks: dict[str, Any] = {"fmt": mark(number), "markersize": 5, "capsize": 2, "color": COLOURS[number % 6]}
        axes.errorbar(place, rate, (rate - lowest, highest - rate), **marks, label=scheme)
        predicted = [point["predicted_mcells_per_second"] or np.nan for point in mine]
        label = "predicted" if number == len(schemes) - 1 else ""
        axes.hlines(predicted, place - 0.45 * step, place + 0.45 * step, color=INK, linewidth=1.4, label=label)
    name_combinations(axes, points, "Mcells/s")
    axes.set_ylim(bottom=0)


def minutes(axes: Axes, points: list[dict]) -> None:
    """How long all steps took, the medians."""
    for number, scheme in enumerate(dict.fromkeys(map(series, points))):
        mine = [point for point in points if series(point) == scheme]
        marks: dict[str, Any] = {"marker": mark(number), "color": COLOURS[number % 6], "linestyle": ""}
        axes.plot(places(points, mine), [point["minutes"] for point in mine], **marks, label=scheme)
    if points:
        name_combinations(axes, points, "Minutes")
        axes.set_ylim(bottom=0)


def mark(number: int) -> str:
    """Another mark for each series of one colour."""
    return MARKERS[(number + number // 6) % 6]


def series(point: dict) -> str:
    """What shares a colour and a mark."""
    return f"{point['bind']}, {point['memory']}"


def combinations(points: list[dict]) -> list[tuple[int, int, int]]:
    """Hosts, ranks of each, threads of each rank."""
    return sorted({(point["hosts"], point["ranks"], point["threads"]) for point in points})


def places(points: list[dict], mine: list[dict]) -> np.ndarray:
    """Where points stand along the axis of all combinations."""
    every = combinations(points)
    return np.array([every.index((each["hosts"], each["ranks"], each["threads"])) for each in mine], float)


def name_combinations(axes: Axes, points: list[dict], what: str) -> None:
    """Names along the axis, and its title; hosts where there are several."""
    several = any(point["hosts"] > 1 for point in points)
    names = [" x ".join(map(str, each if several else each[1:])) for each in combinations(points)]
    name_bars(axes, names, what)
    axes.set_xlabel("Hosts x ranks x threads of each" if several else "Ranks x threads of each")
