"""What ranks compute, and when their messages travel, in a block of steps or a part of one: bars over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nearfield.pictures import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from nearfield.results import Result

COLOURS = dict(zip(("faces", "behind the faces", "interior", "pack", "unpack"), style.COLOURS))
COLOURS |= {"wait": style.RULE, "halos": style.FAINT}
MILLISECOND = 1e-3
BAR = 0.36  # of the room of a rank, for each of its two tracks


@style.styled
def timeline_figure(result: Result) -> Figure | None:
    """Bars of `run --trace`; None where there was none."""
    ranks = result.facts.get("timeline")
    if not ranks or not any(ranks):
        return None
    spans = [(rank, *span) for rank, own in enumerate(ranks) for span in own]
    start = min(begin for _, _, begin, *_ in spans)
    figure, axes = style.chart(8.0, 2.2 + 0.7 * len(ranks))
    for name, color in COLOURS.items():
        for rank, _, begin, end, track, _ in (span for span in spans if span[1] == name):
            low = rank + (BAR / 2 if track == "messages" else -BAR / 2)
            axes.barh(low, (end - begin) / MILLISECOND, BAR, (begin - start) / MILLISECOND, color=color, linewidth=0)
        axes.barh(0, 0, 0, 0, color=color, label=name)
    axes.set_yticks(range(len(ranks)), [f"rank {rank}" for rank in range(len(ranks))])
    axes.invert_yaxis()
    axes.grid(axis="y", visible=False)
    style.name_axes(axes, "Time (ms)", "")
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=len(COLOURS), fontsize=8.5)
    return style.headline(figure, "What ranks do in a block of steps", "above: the rank's threads; below: its messages")
