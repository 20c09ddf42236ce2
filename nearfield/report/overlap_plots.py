"""Rates with hidden and unhidden exchange of halos: over the size of a node's grid, and over nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.pictures import style
from nearfield.predict.overlap import HIDING, METHODS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from nearfield.predict.overlap import OverlapNode

LABELS = {
    "split": "split update",
    "host_buffer": "host buffer",
    "host_buffer_strict": "host buffer, strict waits",
    "none": "not hidden, all at once",
    "blocking_ring": "blocking pairs, ring",
    "blocking_chain": "blocking pairs, chain",
}
LIMIT: dict[str, Any] = {"color": style.FAINT, "linestyle": "-.", "linewidth": 1.0, "label": "limit of the devices"}
POINTS = 400  # of a curve


@style.styled
def overlap_over_ratio(node: OverlapNode) -> Figure:
    """One node's rate over R, points of its grid over those of a plane, with the thresholds: Fig. 5 of the paper."""
    figure, axes = style.chart(8.0, 4.8)
    shown = node.shown_ratios()
    # a sweep may reach far past the thresholds, where nothing changes
    most = min(max(shown), 2.0 * max(node.ratio, *(node.threshold(method) for method in HIDING)))
    ratios = np.linspace(most / POINTS, most, POINTS)
    axes.axhline(node.device / 1e6, **LIMIT)
    for number, method in enumerate((*HIDING, "none")):
        look = style.line_style(number)
        axes.plot(ratios, [node.rate(method, ratio) / 1e6 for ratio in ratios], label=LABELS[method], **look)
        if method in HIDING and 0 < node.threshold(method) < most:
            threshold = node.threshold(method)
            axes.plot([threshold], [node.rate(method, threshold) / 1e6], "o", color=look["color"], markersize=5)
    axes.set_xlim(0, most)
    axes.set_ylim(bottom=0)
    style.name_axes(axes, "R, points of a node over points of a plane", "Mpoint/s of one node", "lower right")
    return style.headline(figure, "Hidden above the threshold (dots)", f"{node.name}; predicted")


@style.styled
def overlap_over_nodes(node: OverlapNode) -> Figure:
    """The rate of all nodes over their number, each with the same grid: Fig. 6 of the paper."""
    figure, axes = style.chart(8.0, 4.8)
    nodes = range(1, node.nodes + 1)
    axes.plot(nodes, [count * node.device / 1e6 for count in nodes], **LIMIT)
    for number, method in enumerate(METHODS):
        rates = [node.rate(method, node.ratio, count) / 1e6 for count in nodes]
        look: dict[str, Any] = {"marker": style.MARKERS[number % 6], "markersize": 4}
        axes.plot(nodes, rates, label=LABELS[method], **style.line_style(number), **look)
    axes.set_ylim(bottom=0)
    axes.locator_params(axis="x", integer=True)
    style.name_axes(axes, "Nodes", "Mpoint/s", "upper left")
    cells = " x ".join(map(str, node.cells))
    return style.headline(figure, f"{cells} points a node", f"{node.name}; predicted")
