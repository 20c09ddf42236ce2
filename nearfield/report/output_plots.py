"""The five figures of the paper on output (docs/literature.md), of times that `nearfield bench output` measured."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.entry.wording import counted
from nearfield.measure.advice import PER_DOMAIN, SAMPLE, SERVER, Line, line_of
from nearfield.pictures import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARKERS = ("x", "+", "*", "s", "^", "D")  # the first four as published, of 1, 2, 4 and 8 domains
MODES = {SERVER: "one file", PER_DOMAIN: "a file a domain"}
BEYOND = (16, 256)  # domains that the published curves are extended to
BEYOND_MEASURED = 10  # times the most that was measured, where a fitted curve ends
BAND_END = 0.03  # of a fitted value, where the band of an error larger than itself ends below
ASCII_A_POINT = 145  # bytes of a point's line in text


def pictures(found: dict[str, Any]) -> dict[str, Figure]:
    """The figures by file name."""
    return {
        "fig1-hdf5-fits": hdf5_fits(found),
        "fig2-hdf5-time": hdf5_times(found),
        "fig3-ascii-binary-time": plain_times(found),
        "fig4-file-sizes": file_sizes(found),
        "fig5-ratios": ratios(found),
    }


def titled(figure: Figure, title: str, found: dict[str, Any]) -> Figure:
    """The figure with its title and the measurement's conditions."""
    rounds = "one round" if found["rounds"] == 1 else f"mean and standard deviation of {found['rounds']} rounds"
    what = f"{found['recorded_steps']} steps of {found['fields']} fields, {rounds}"
    return style.headline(figure, title, f"{found['processor']}; {what}")


def codec_shown(found: dict[str, Any]) -> str:
    """Codec of the HDF5 curves: zlib, as published, where it was measured."""
    codecs = [row["codec"] for row in found["cases"] if row["format"] == "hdf5" and row["mode"] in MODES]
    return next((codec for codec in codecs if codec.startswith("zlib")), codecs[0] if codecs else "none")


def rows_of(found: dict[str, Any], form: str, mode: str, codec: str = "none") -> list[dict[str, Any]]:
    """The cases of a format and mode, smallest first; the file of one domain stands for both modes."""
    mine = [
        row
        for row in found["cases"]
        if (row["format"], row["codec"]) == (form, codec)
        and (row["mode"] == mode or (row["domains"] == 1 and row["mode"] == SERVER and mode == PER_DOMAIN))
    ]
    return sorted(mine, key=lambda row: (row["domains"], row["size"]))


def line_for(found: dict[str, Any], form: str, mode: str, codec: str = "none") -> Line | None:
    """The fitted line of the times; None where there is none."""
    lines = {(each["format"], each["codec"], each["mode"]): each["seconds"] for each in found["fits"]}
    return line_of(lines[form, codec, mode]) if (form, codec, mode) in lines else None


def domains_of(rows: Iterable[dict[str, Any]]) -> list[int]:
    """Numbers of domains, sorted."""
    return sorted({row["domains"] for row in rows})


def two_panels(title: str, found: dict[str, Any]) -> tuple[Figure, Sequence[Axes]]:
    figure = style.blank(10.4, 4.8)
    panels = figure.subplots(1, 2, sharey=True)
    for axes, name in zip(panels, MODES.values()):
        style.panel_title(axes, name)
    return titled(figure, title, found), panels


def measured(axes: Axes, rows: Sequence[dict[str, Any]], x: Sequence[float], number: int, label: str) -> None:
    """Means with their standard deviations."""
    mean = np.array([row["output"]["mean"] for row in rows])
    spread = mean * [row["output"]["spread"] for row in rows]
    axes.errorbar(x, mean, spread, fmt=MARKERS[number % 6], color=style.COLOURS[number % 6], capsize=2, label=label)


def times_of(line: Line | None, domains: int, points: np.ndarray, found: dict[str, Any]) -> np.ndarray:
    """Fitted seconds and their errors, two rows, for numbers of points in all."""
    assert line is not None
    return np.array([line.at(domains, n * SAMPLE * found["recorded_steps"]) for n in points]).T


@style.styled
def hdf5_fits(found: dict[str, Any]) -> Figure:
    """Fig. 1: seconds over the points of a domain, measured and fitted, a colour a number of domains."""
    codec = codec_shown(found)
    figure, panels = two_panels(f"Fig. 1: fits to the time of HDF5 output, {codec}", found)
    for axes, mode in zip(panels, MODES):
        rows, line = rows_of(found, "hdf5", mode, codec), line_for(found, "hdf5", mode, codec)
        for number, domains in enumerate(domains_of(rows)):
            mine = [row for row in rows if row["domains"] == domains]
            measured(axes, mine, [row["size"] ** 3 for row in mine], number, counted(domains, "domain"))
            if line:
                points = np.geomspace(mine[0]["size"] ** 3, mine[-1]["size"] ** 3, 60)
                banded(axes, points, times_of(line, domains, domains * points, found), number)
        finish(axes, rows, "Points of a domain", "Output time (s)")
    return figure


@style.styled
def hdf5_times(found: dict[str, Any]) -> Figure:
    """Fig. 2: the fitted time over all points, carried on to many domains (dashed: not measured)."""
    codec = codec_shown(found)
    figure, panels = two_panels(f"Fig. 2: time of HDF5 output, {codec}; dashed: beyond what was measured", found)
    for axes, mode in zip(panels, MODES):
        rows, line = rows_of(found, "hdf5", mode, codec), line_for(found, "hdf5", mode, codec)
        counts = domains_of(rows)
        for number, domains in enumerate([*counts, *BEYOND]) if line else ():
            points = reach([row["points"] for row in rows])
            look = {"linestyle": style.DASHES[0 if domains in counts else 1], "label": counted(domains, "domain")}
            banded(axes, points, times_of(line, domains, points, found), number, **look)
        finish(axes, rows and line, "Points in all", "Output time (s)")
    return figure


@style.styled
def plain_times(found: dict[str, Any]) -> Figure:
    """Fig. 3: text and raw binary over all points, beside the computation of the same steps."""
    figure, panels = two_panels("Fig. 3: time of text and raw binary output, and of the computation", found)
    for axes, mode in zip(panels, MODES):
        shown = []
        for number, form in enumerate(("ascii", "binary")):
            rows, line = rows_of(found, form, mode), line_for(found, form, mode)
            shown += rows
            measured(axes, rows, [row["points"] for row in rows], number, form)
            for domains in domains_of(rows) if line else ():
                mine = [row["points"] for row in rows if row["domains"] == domains]
                points = np.geomspace(min(mine), max(mine), 60)
                banded(axes, points, times_of(line, domains, points, found), number, linewidth=1.2)
        if shown:
            rows = sorted((row for row in shown if row["format"] == shown[-1]["format"]), key=lambda row: row["points"])
            x, y = [row["points"] for row in rows], [row["compute"]["mean"] for row in rows]
            axes.plot(x, y, color=style.INK, marker=".", linestyle=style.DASHES[2], label="computation")
        finish(axes, shown, "Points in all", "Time (s)")
    return figure


@style.styled
def file_sizes(found: dict[str, Any]) -> Figure:
    """Fig. 4: bytes over all points; symbols measured, lines as predicted before the runs where that is exact."""
    figure, axes = style.chart(7.6, 4.8)
    kinds = dict.fromkeys((row["format"], row["codec"]) for row in found["cases"] if row["mode"] == SERVER)
    rows: list[dict[str, Any]] = []
    for number, (form, codec) in enumerate(kinds):
        rows = sorted(rows_of(found, form, SERVER, codec), key=lambda row: row["points"])
        points = [row["points"] for row in rows]
        colour, label = style.COLOURS[number % 6], f"{form}{'' if codec == 'none' else ' ' + codec}"
        axes.plot(points, [row["bytes"] / 1e6 for row in rows], MARKERS[number % 6], color=colour, label=label)
        exact = all(row["predicted_exact"] for row in rows)
        sizes = [row["predicted_bytes" if exact else "bytes"] / 1e6 for row in rows]
        axes.plot(points, sizes, linewidth=1, color=colour, linestyle=style.DASHES[0 if exact else 2])
    finish(axes, rows, "Points in all", "File (MB)")
    return titled(figure, "Fig. 4: size of the file; full lines as predicted", found)


@style.styled
def ratios(found: dict[str, Any]) -> Figure:
    """Fig. 5: times relative to text over the size as text; below 1 in the right panel HDF5 beats raw binary."""
    codec = codec_shown(found)
    codecs = {"ascii": "none", "binary": "none", "hdf5": codec}
    lines = {form: line_for(found, form, SERVER, kind) for form, kind in codecs.items()}
    figure = style.blank(10.4, 4.8)
    left, right = figure.subplots(1, 2)
    style.panel_title(left, "relative to text")
    style.panel_title(right, f"HDF5 {codec} / raw binary; below 1 HDF5 is faster")
    samples = reach([row["raw_bytes"] for row in found["cases"]])
    text = samples / SAMPLE * ASCII_A_POINT
    counts = [*domains_of(found["cases"]), *BEYOND]
    for number, domains in enumerate(counts):
        time = {form: np.array([line.at(domains, n) for n in samples]).T for form, line in lines.items() if line}
        for form, dash in (("binary", style.DASHES[1]), ("hdf5", style.DASHES[0])):
            if form in time and "ascii" in time:
                label = form if domains == counts[0] else None
                banded(left, text, ratio(time[form], time["ascii"]), number, linestyle=dash, label=label)
        if {"hdf5", "binary"} <= set(time):
            banded(right, text, ratio(time["hdf5"], time["binary"]), number, label=counted(domains, "domain"))
    right.axhline(1, color=style.INK, linewidth=1)
    for axes, forms in ((left, ("ascii", "binary")), (right, ("hdf5", "binary"))):
        finish(axes, all(lines[form] for form in forms), "Size as text (bytes)", "Ratio of output times")
    return titled(figure, "Fig. 5: raw binary and HDF5 against text, one file", found)


def reach(measured: Sequence[float]) -> np.ndarray:
    """Places of a curve: from the least that was measured to a decade beyond the most."""
    return np.geomspace(min(measured), BEYOND_MEASURED * max(measured), 80)


def ratio(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Values and standard errors of a quotient of two, whose relative errors add in squares."""
    quotient = one[0] / other[0]
    return np.array([quotient, quotient * np.hypot(one[1] / one[0], other[1] / other[0])])


def banded(axes: Axes, across: Any, fitted: np.ndarray, number: int, **look: Any) -> None:
    """A fitted curve, values and standard errors, with the band of its uncertainty."""
    (value, error), colour = fitted, style.COLOURS[number % 6]
    axes.plot(across, value, color=colour, **look)
    lower = np.maximum(value - error, BAND_END * value)  # the axis is logarithmic
    axes.fill_between(across, lower, value + error, color=colour, alpha=0.12, linewidth=0)


def finish(axes: Axes, shown: Any, across: str, up: str) -> None:
    """Name the axes, both logarithmic; a notice where nothing was fitted."""
    style.logarithmic(axes, 10, lambda value: style.quantity(value, "", 3), "{:g}".format)
    axes.margins(y=0.12)
    style.name_axes(axes, across, up, "best" if shown else None)
    if not shown:
        style.notice(axes, "not measured, or no fit")
