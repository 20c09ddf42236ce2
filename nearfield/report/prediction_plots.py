"""Predicted steps: what they are made of for each binding scheme, rates over nodes, and the figures of the paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.pictures import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from nearfield.predict.paper import Curve, Paper
    from nearfield.predict.step_time import Prediction

STAR: dict[str, Any] = {"marker": "*", "color": "#111111", "markersize": 11, "linestyle": ""}  # a published value


def curves(axes: Axes, given: Sequence[Curve]) -> None:
    """One line a curve, told apart by colour, dashes and marker."""
    for number, curve in enumerate(given):
        colour, marker = style.COLOURS[number % 6], style.MARKERS[number % 6]
        look: dict[str, Any] = {"color": colour, "marker": marker, "markersize": 4}
        axes.plot(curve.x, curve.y, dashes=() if number == 0 else (6, 2), label=curve.label, **look)
    axes.set_ylim(bottom=0)
    axes.legend(loc="upper left")


@style.styled
def step_parts(predictions: Sequence[Prediction], title: str, facts: str) -> Figure:
    """Parts of a step of each binding scheme, with the whole of the exchange beside them."""
    figure, axes = style.chart(8.0, 4.6)
    place = np.arange(len(predictions))
    compute, busy, waiting, halo = (
        1e3 * np.array([getattr(each, name) for each in predictions]) for name in ("compute", "busy", "waiting", "halo")
    )
    axes.bar(place, compute, 0.55, color=style.COLOURS[0], label="compute")
    axes.bar(place, busy, 0.55, bottom=compute, color=style.COLOURS[2], label="packing and moving halos")
    axes.bar(place, waiting, 0.55, bottom=compute + busy, color=style.COLOURS[1], label="waiting for halos")
    axes.bar(place + 0.38, halo, 0.12, color=style.COLOURS[4], label="exchange of halos, hidden or not")
    for x, each in enumerate(predictions):
        text = f"{each.mcells_per_second:.0f} Mcells/s\n{100 * each.efficiency:.0f} %"
        axes.text(x, 1e3 * each.step, text, ha="center", va="bottom", fontsize=8.5, color=style.FAINT)
    names = [f"{each.scheme}\n{each.ranks} x {each.threads}" for each in predictions]
    style.name_bars(axes, names, "Time of a step (ms)")
    axes.set_ylim(0, 1.35e3 * max(each.step for each in predictions))
    axes.legend(loc="upper left", ncols=3)
    return style.headline(figure, title, facts)


@style.styled
def rates_over_nodes(rates: Mapping[str, tuple[Sequence[int], Sequence[float]]], title: str, facts: str) -> Figure:
    """Mcells/s over the number of nodes, a line a scheme."""
    figure, axes = style.chart(8.0, 4.6)
    for number, (scheme, (nodes, rate)) in enumerate(rates.items()):
        axes.plot(nodes, rate, **style.line_style(number), marker=style.MARKERS[number % 6], markersize=4, label=scheme)
    axes.set_ylim(bottom=0)
    axes.locator_params(axis="x", integer=True)
    style.name_axes(axes, "Nodes", "Mcells/s", "upper left")
    return style.headline(figure, title, facts)


def paper_figures(paper: Paper) -> dict[str, Figure]:
    """The five figures by file name."""
    return {
        "figure_5": one_node(paper),
        "figure_6": over_nodes(paper, "6"),
        "figure_7": over_nodes(paper, "7"),
        "figures_11_12": antenna(paper),
    }


@style.styled
def one_node(paper: Paper) -> Figure:
    """Fig. 5: processes on one node; the paper's own points are not legible."""
    figure, axes = style.chart(7.0, 4.4)
    curve = paper.one_node()
    axes.plot(curve.x, curve.y, color=style.COLOURS[0], marker="o", markersize=4, label="predicted")
    axes.axvline(8, color=style.FAINT, linewidth=0.8, linestyle=":")
    axes.text(8.1, 8, "one process a core", color=style.FAINT, fontsize=8.5, va="bottom")
    style.name_axes(axes, "Processes on one node of two CPUs of four cores", "Mcells/s")
    axes.set_ylim(bottom=0)
    title = "Uneven shares lose · Fig. 5 of Zhao, Chen and Yu"
    return style.headline(figure, title, "predicted only: no number of this figure is published")


@style.styled
def over_nodes(paper: Paper, number: str) -> Figure:
    """Figs. 6 and 7: binding, and the memory policy, over nodes."""
    figure, axes = style.chart(7.6, 4.8)
    curves(axes, paper.binding() if number == "6" else paper.policy())
    for point in (each for each in paper.points() if each.figure == number):
        place, text = (point.hosts, point.published), f"{point.published:.0f}, {point.what.split(',')[0]}"
        axes.plot(*place, **STAR, zorder=5)
        style.beside(axes, place, text, (9, 0), va="center")
    axes.set_xlim(0, 1.4 * paper.data["hosts"])
    axes.set_xticks(range(0, paper.data["hosts"] + 1, 2))
    style.name_axes(axes, "Nodes", "Mcells/s")
    title = f"PEC box, {'binding' if number == '6' else 'NUMA policy'} · Fig. {number} of Zhao, Chen and Yu"
    note = "lines predicted from stated inputs, stars published; the rate is calibrated to Fig. 6, CPUs, 18 nodes"
    return style.headline(figure, title, note)


@style.styled
def antenna(paper: Paper) -> Figure:
    """Figs. 11 and 12: rate and time of the reflector antenna on 4 and 18 nodes."""
    from nearfield.predict.paper import ANTENNA_HOSTS

    figure = style.blank(9.0, 6.4)
    panels = figure.subplots(2, 2)
    published_minutes = {point.hosts: point.published for point in paper.points() if point.unit == "min"}
    for column, (number, hosts) in enumerate(ANTENNA_HOSTS.items()):
        found, name = paper.antenna(hosts), f"Fig. {number}: {hosts} nodes"
        for row, value in enumerate((lambda each: each.mcells_per_second, paper.minutes)):
            axes, place = panels[row][column], np.arange(len(found))
            for side, label in enumerate(("with NUMA policy", "without")):
                heights = [value(pair[side]) for pair in found.values()]
                axes.bar(place + 0.36 * (side - 0.5), heights, 0.34, color=style.COLOURS[side], label=label)
            style.name_bars(axes, list(found), "Minutes" if row else "Mcells/s")
            axes.margins(y=0.15)
        axes, minutes = panels[1][column], published_minutes[hosts]
        axes.plot([-0.18], [minutes], **STAR, label=f"published: {minutes:.0f} min")
        axes.set_ylim(top=1.5 * axes.get_ylim()[1])
        axes.legend(loc="upper left", fontsize=8, ncols=2)
        style.panel_title(panels[0][column], name)
    note = f"bars predicted, {paper.data['antenna']['steps']} steps assumed; the paper publishes two times"
    return style.headline(figure, "Reflector antenna · Figs. 11 and 12 of Zhao, Chen and Yu", note)
