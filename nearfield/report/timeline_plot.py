"""What ranks compute, and when their messages travel, in a block of steps or a part of one: bars over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nearfield.pictures import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from nearfield.results import Result

COLOURS = dict(zip(("faces", "behind the faces", "interior", "pack", "unpack"), style.COLOURS))
COLOURS |= {"send": style.COLOURS[3], "copy": style.COLOURS[4], "host buffer": style.COLOURS[0]}
COLOURS |= {"wait": style.RULE, "wait for the buffer": style.RULE, "halos": style.FAINT}
PLACES = {"compute": "its threads", "messages": "its messages", "buffer": "its edges, made apart"}  # by track
MILLISECOND = 1e-3
BARS = 0.72  # of the room of a rank, for all its tracks


@style.styled
def timeline_figure(result: Result) -> Figure | None:
    """Bars of `run --trace`; None where there was none."""
    ranks = result.facts.get("timeline")
    if not ranks or not any(ranks):
        return None
    spans = [(rank, *span) for rank, own in enumerate(ranks) for span in own]
    start = min(begin for _, _, begin, *_ in spans)
    tracks = [track for track in PLACES if any(span[4] == track for span in spans)]
    names = [name for name in COLOURS if any(span[1] == name for span in spans)]
    figure, axes = style.chart(8.0, 2.2 + 0.35 * len(tracks) * len(ranks))
    bar = BARS / len(tracks)
    for name in names:
        for rank, _, begin, end, track, _ in (span for span in spans if span[1] == name):
            place = rank + bar * (tracks.index(track) - (len(tracks) - 1) / 2)
            left = (begin - start) / MILLISECOND
            axes.barh(place, (end - begin) / MILLISECOND, bar, left, color=COLOURS[name], linewidth=0)
        axes.barh(0, 0, 0, 0, color=COLOURS[name], label=name)
    axes.set_yticks(range(len(ranks)), [f"rank {rank}" for rank in range(len(ranks))])
    axes.invert_yaxis()
    axes.grid(axis="y", visible=False)
    style.name_axes(axes, "Time (ms)", "")
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=min(7, len(names)), fontsize=8.5)
    downwards = "; below that: ".join(PLACES[track] for track in tracks)
    return style.headline(figure, "What ranks do in a block of steps", f"topmost of a rank: {downwards}")
