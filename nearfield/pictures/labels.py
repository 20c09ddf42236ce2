"""Texts beside curves that do not lie on each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Annotation


def keep_apart(axes: Axes, labels: Sequence[Annotation]) -> None:
    """Raise labels, in the order of importance, until none lies on another; those without room are left out.

    Sizes are measured on the figure as it is laid out now, at its own resolution.
    """
    if len(labels) < 2:
        return
    figure = axes.figure
    assert figure is not None
    figure.canvas.draw()
    points = 72.0 / figure.dpi
    placed: list[Any] = []
    for label in labels:
        box = label.get_window_extent().padded(1.5)
        for _ in range(len(placed)):
            struck = [other for other in placed if box.overlaps(other)]
            if not struck:
                break
            rise = max(other.y1 for other in struck) - box.y0 + 1.0
            x, y = label.xyann
            label.xyann = (x, y + rise * points)
            box = label.get_window_extent().padded(1.5)
        if box.y1 > axes.bbox.y1 or any(box.overlaps(other) for other in placed):
            label.remove()
        else:
            placed.append(box)
