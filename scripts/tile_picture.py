"""Draws docs/images/tiles.png: one position of one tile, seen along the rows and along the planes.

    .venv/bin/python -m scripts.tile_picture

The order is that of core/cpu/tiled.cpp, for a tile of four steps and five rows.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from nearfield.pictures.style import COLOURS, FAINT, INK, RULE, blank, panel_title, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PICTURE = Path(__file__).resolve().parents[1] / "docs" / "images" / "tiles.png"
DEPTH, WIDTH, PAIRED = 4, 5, 2
ELECTRIC, MAGNETIC, FETCHED = COLOURS[0], COLOURS[1], COLOURS[2]
BEFORE = "#E3E7EB"  # made before
HALVES = [(tau, half) for tau in range(DEPTH) for half in range(2)]  # half 0: E, 1: H, which lies one back


def height(tau: int, half: int) -> int:
    return 2 * tau + half


def cell(axes: Axes, x: int, y: int, colour: str, text: str = "", **options) -> None:
    from matplotlib.patches import Rectangle

    axes.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=colour, **{"edgecolor": RULE, "lw": 0.7} | options))
    if text:
        axes.text(x, y, text, ha="center", va="center", fontsize=7, color="white")


def outline(axes: Axes, first: int, left: int, width: int) -> None:
    """Round the two steps of a pair that begins with step `first`, whose E begins at `left`."""
    halves = [(left - step - half, height(first + step, half)) for step in range(PAIRED) for half in range(2)]
    right = [(x + width - 0.5, y + side) for x, y in halves for side in (-0.5, 0.5)]
    back = [(x - 0.5, y + side) for x, y in reversed(halves) for side in (0.5, -0.5)]
    axes.plot(*zip(*(right + back + right[:1])), color=INK, lw=1.6, zorder=4)


def fetched(axes: Axes, x: int, y: int) -> None:
    cell(axes, x, y, "none", edgecolor=FETCHED, hatch="////", lw=1.2, zorder=3)


def name(axes: Axes, x: float, y: float, text: str, colour: str = INK, **options) -> None:
    axes.text(x, y, text, color=colour, **{"fontsize": 8.5, "ha": "center", "va": "center"} | options)


def frame(axes: Axes, title: str, label: str, low: float, high: float) -> None:
    panel_title(axes, title)
    axes.set(xlim=(low, high), ylim=(-5.6, 8.6), xlabel=label, aspect="equal")
    labels = ["before", *(f"{'EH'[half]} of step {tau + 1}" for tau, half in HALVES)]
    axes.set_yticks([-1, *(height(*each) for each in HALVES)], labels)
    axes.grid(False)
    axes.tick_params(length=0, labelsize=8.5)
    axes.spines[:].set_visible(False)


def planes(axes: Axes) -> None:
    """Planes along x: what position s makes of each step."""
    frame(axes, "Planes: the band sweeps to the right", "plane", -7.6, 2.6)
    for x in range(-7, 3):
        cell(axes, x, -1, BEFORE)
        for tau, half in HALVES:
            here = -tau - half
            cell(axes, x, height(tau, half), BEFORE if x < here else "white")
            if x == here:
                cell(axes, x, height(tau, half), (ELECTRIC, MAGNETIC)[half], "EH"[half])
    for first in range(0, DEPTH, PAIRED):
        outline(axes, first, -first, 1)
    fetched(axes, 1, -1)
    axes.set_xticks(range(-6, 3, 2), ["s − 6", "s − 4", "s − 2", "s", "s + 2"])
    axes.annotate("", (-DEPTH - 0.5, -2), (1.5, -2), arrowprops={"arrowstyle": "<->", "color": FAINT, "lw": 1})
    name(axes, -1.5, -2.5, "depth + 2 planes in L2", FAINT)
    name(axes, -6.0, 8.0, "made", FAINT)
    name(axes, 0.6, 8.0, "to come", FAINT)
    name(axes, -2.5, -4.4, "blue, orange: made in position s\nhatched: fetched for s + 1", FAINT)


def rows(axes: Axes) -> None:
    """Rows along x: three bands of one time block over the end of the block before, in one position."""
    frame(axes, "Rows: one band, its neighbours, the block before", "row", -10.6, 10.6)
    shades = {-1: "#C9D9E6", 0: "#FFFFFF", 1: "#F3E3CF"}
    for block in (0, -1):
        for tau, half in HALVES:
            y = height(tau, half) + 2 * DEPTH * block
            for band, shade in shades.items():
                for r in range(WIDTH) if y > -5 else ():
                    x = band * WIDTH + r - tau - half
                    pair, step = divmod(tau, PAIRED)
                    turn = 2 * (PAIRED * (WIDTH * pair + r) + step) + half + 1
                    number = turn if block == band == 0 else 0
                    colour = (ELECTRIC, MAGNETIC)[half] if number else shade
                    cell(axes, x, y, colour, str(number or ""), alpha=1 if block == 0 else 0.55)
    outline(axes, 0, 0, WIDTH)
    outline(axes, 2, -2, WIDTH)
    for r in range(WIDTH):
        fetched(axes, r, -1)
    for tau in range(DEPTH):
        fetched(axes, -tau - 1, height(tau, 0))
    axes.axhline(-0.5, color=INK, lw=0.8, linestyle=(0, (4, 3)))
    name(axes, -2.0, 8.0, "band b", fontweight="bold")
    name(axes, -7.0, 8.0, "band b − 1")
    name(axes, 3.0, 8.0, "band b + 1")
    name(axes, 10.4, 0.0, "time block n", FAINT, ha="right")
    name(axes, 10.4, -1.1, "time block n − 1", FAINT, ha="right")
    arrow = {"arrowstyle": "-|>", "color": INK, "lw": 1.6, "mutation_scale": 13}
    axes.annotate("", (-3.4, 5.0), (-6.4, 5.0), arrowprops=arrow, zorder=6)
    axes.annotate("", (3.0, -0.4), (3.0, -3.6), arrowprops=arrow, zorder=6)
    axes.set_xticks([-10, -5, 0, 5, 10], ["R − 10", "R − 5", "R", "R + 5", "R + 10"])


@styled
def main() -> None:
    figure = blank(11.5, 5.4)
    left, right = figure.subplots(1, 2, width_ratios=(10.2, 21.2))
    planes(left)
    rows(right)
    figure.savefig(PICTURE, dpi=110, metadata={"Software": None})


if __name__ == "__main__":
    main()
