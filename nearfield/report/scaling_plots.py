"""Rates that `nearfield bench scaling` measured, beside the predicted ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.pictures.style import COLOURS, INK, MARKERS, blank, headline, name_bars, notice, panel_title, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@styled
def scaling(found: dict) -> Figure:
    """A panel a case: rates over ranks x threads, lowest to highest, a colour a scheme; predictions are dashes."""
    cases = list(found["cases"])
    figure = blank(4.6 * max(1.6, len(cases)), 4.6)
    for axes, name in zip(np.atleast_1d(figure.subplots(1, len(cases), sharey=True)), cases):
        points = [point for point in found["points"] if point["case"] == name and "refused" not in point]
        one_case(axes, points)
        panel_title(axes, name)
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
    combinations = sorted({(point["ranks"], point["threads"]) for point in points})
    schemes = list(dict.fromkeys(point["bind"] for point in points))
    step = 0.7 / len(schemes)
    for number, scheme in enumerate(schemes):
        mine = [point for point in points if point["bind"] == scheme]
        place = np.array([combinations.index((point["ranks"], point["threads"])) for point in mine], float)
        place += (number - (len(schemes) - 1) / 2) * step
        rate, lowest, highest = (
            np.array([point[name] for point in mine]) for name in ("mcells_per_second", "lowest", "highest")
        )
        marks: dict[str, Any] = {
            "fmt": MARKERS[number % 6],
            "markersize": 5,
            "capsize": 2,
            "color": COLOURS[number % 6],
        }
        axes.errorbar(place, rate, (rate - lowest, highest - rate), **marks, label=scheme)
        predicted = [point["predicted_mcells_per_second"] or np.nan for point in mine]
        label = "predicted" if number == len(schemes) - 1 else ""
        axes.hlines(predicted, place - 0.45 * step, place + 0.45 * step, color=INK, linewidth=1.4, label=label)
    name_bars(axes, [f"{ranks} x {threads}" for ranks, threads in combinations], "Mcells/s")
    axes.set_xlabel("Ranks x threads of each")
    axes.set_ylim(0, 1.3 * axes.get_ylim()[1])
    axes.legend(loc="upper left", ncols=4, columnspacing=1.0, handletextpad=0.3)
