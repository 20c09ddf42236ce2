"""Weak and strong scaling over nodes: rates, and the share of the devices' own rate that remains."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from nearfield.pictures import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from nearfield.predict.scaling import Point


def lines(axes: Axes, points: Sequence[Point], value: Callable[[Point], float]) -> None:
    """One line a scaling and precision, over nodes in powers of two."""
    kinds = dict.fromkeys((each.scaling, each.precision) for each in points)
    for number, kind in enumerate(kinds):
        some = [each for each in points if (each.scaling, each.precision) == kind]
        look: dict[str, Any] = {"marker": style.MARKERS[number % 6], "markersize": 4, "label": ", ".join(kind)}
        axes.plot([each.nodes for each in some], [value(each) for each in some], **style.line_style(number), **look)
    axes.set_xscale("log", base=2)


@style.styled
def rate_over_nodes(points: Sequence[Point], facts: str) -> Figure:
    """Million cells a second of all nodes."""
    figure, axes = style.chart(8.0, 4.6)
    lines(axes, points, lambda each: each.mcells_per_second)
    axes.set_yscale("log")
    style.name_axes(axes, "Nodes", "Mcells/s", "upper left")
    return style.headline(figure, "Weak and strong scaling", facts)


@style.styled
def efficiency_over_nodes(points: Sequence[Point], facts: str) -> Figure:
    """Share of the devices' own rate."""
    figure, axes = style.chart(8.0, 4.6)
    lines(axes, points, lambda each: each.efficiency)
    axes.set_ylim(0, 1.05)
    style.name_axes(axes, "Nodes", "Share of the devices' own rate", "lower left")
    return style.headline(figure, "What the network leaves", facts)
