"""Pictures of what a probe measured: STREAM by node and over cores, matrices by node, and messages by size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.pictures import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LOOPS = ("copy", "scale", "add", "triad")
NAMES = {
    "numa": "within a NUMA node",
    "across": "between NUMA nodes",
    "hosts": "between hosts",
    "processes": "unbound processes",
}
MATRICES = {
    "bandwidth_gb_per_second": ("Read bandwidth (GB/s)", "Blues"),
    "latency_ns": ("Latency of a load (ns)", "Oranges"),
}


@style.styled
def stream(found: dict[str, Any], note: str) -> Figure:
    """Best rates of the four loops, a group of bars each for one core, every node and all."""
    groups = {"one core": found["core"]} | {f"node {each['node']}": each for each in found["nodes"]}
    groups |= {"all": found["all"]} if len(found["nodes"]) > 1 else {}
    figure, axes = style.chart(max(6.0, 1.2 * len(groups) + 3), 4.4)
    for number, loop in enumerate(LOOPS):
        rates = [each[loop]["best_gb_per_second"] for each in groups.values()]
        place = np.arange(len(groups)) + 0.2 * (number - 1.5)
        axes.bar(place, rates, 0.18, color=style.COLOURS[number], label=loop)
    style.name_bars(axes, list(groups), "GB/s")
    axes.legend(loc="upper left", ncols=4)
    axes.set_ylim(top=1.2 * axes.get_ylim()[1])
    return style.headline(figure, f"STREAM, best of {found['passes']}", note)


@style.styled
def scale(found: dict[str, Any], note: str) -> Figure:
    """The triad over cores, or over boards where there are several, and the first point's rate times their number."""
    figure, axes = style.chart(7.0, 4.4)
    unit = "board" if found["boards"] > 1 else "core"
    points = [point for point in found["points"] if point[f"{unit}s"]]
    counts = np.array([point[f"{unit}s"] for point in points])
    rates = np.array([point["best_gb_per_second"] for point in points])
    rates, name = (rates / 1e3, "TB/s") if rates.max() >= 1e3 else (rates, "GB/s")
    axes.plot(counts, rates, color=style.COLOURS[0], marker="o", label="triad")
    many = f"as many times one {unit}"
    axes.plot(counts, rates[0] * counts, color=style.FAINT, linestyle=style.DASHES[2], label=many)
    axes.set_xticks([count for n, count in enumerate(counts) if n == 0 or count - counts[n - 1] > 0.04 * counts[-1]])
    axes.set_ylim(bottom=0)
    style.name_axes(axes, f"{unit.capitalize()}s", name, "upper left")
    few = list(counts).index(8) if unit == "board" and 8 in counts[:-1] else 0
    gain = f"{rates[-1]:.3g} {name} on {counts[-1]} {unit}s, {rates[-1] / rates[few]:.1f} times {counts[few]}"
    return style.headline(figure, gain, note)


@style.styled
def matrices(found: dict[str, Any], note: str) -> Figure:
    """Read bandwidth and latency, cores' node by memory's node."""
    figure = style.blank(9.0, 4.6)
    for axes, (name, (title, colours)) in zip(figure.subplots(1, 2), MATRICES.items()):
        values = np.array([[cell["median"] if isinstance(cell, dict) else cell for cell in row] for row in found[name]])
        axes.imshow(values, cmap=colours, vmin=0, vmax=1.6 * values.max(), aspect="auto")
        if values.size <= 256:
            for (row, column), value in np.ndenumerate(values):
                axes.text(column, row, f"{value:.4g}", ha="center", va="center", color=style.INK, fontsize=9)
        if values.size <= 256:
            axes.set_xticks(range(len(found["columns"])), found["columns"])
            axes.set_yticks(range(len(found["rows"])), found["rows"])
        style.name_axes(axes, "Memory of node", "Cores of node")
        axes.grid(visible=False)
        style.panel_title(axes, title)
    return style.headline(figure, "Node by node", note)


@style.styled
def messages(found: dict[str, Any], note: str) -> Figure:
    """Half a round trip and bandwidth over message size, with the fitted line; Fig. 4 of Zhao, Chen and Yu."""
    figure = style.blank(9.0, 4.6)
    times, rates = figure.subplots(1, 2)
    for number, pair in enumerate(found["pairs"]):
        sizes = np.array([row["bytes"] for row in pair["sizes"]], float)
        least, median, most = (
            1e6 * np.array([row["latency"][name] for row in pair["sizes"]]) for name in ("min", "median", "max")
        )
        colour, line, name = style.COLOURS[number % 6], pair["fit"], NAMES[pair["where"]]
        fitted = 1e6 * (line["latency"] + sizes / line["bandwidth"])
        times.fill_between(sizes, least, most, color=colour, alpha=0.18, linewidth=0)
        times.plot(sizes, median, color=colour, marker=style.MARKERS[number % 4], markersize=3.5, label=name)
        times.plot(sizes, fitted, color=colour, linestyle=style.DASHES[2], linewidth=1.0)
        for dashes, (key, ways) in enumerate((("bandwidth", "one way"), ("bidirectional", "both ways"))):
            rate = [row[key]["median"] / 1e6 for row in pair["sizes"]]
            rates.plot(sizes, rate, color=colour, linestyle=style.DASHES[dashes], label=f"{ways}, {name}")
    for axes, label, place in ((times, "Half a round trip (µs)", "upper left"), (rates, "MB/s", "lower right")):
        style.logarithmic(axes, 2, "{:g}".format, "{:g}".format)
        axes.set_xticks([1, 2**6, 2**12, 2**18, 2**22], ["1", "64", "4 Ki", "256 Ki", "4 Mi"])
        style.name_axes(axes, "Bytes", label, place)
    style.panel_title(times, "Latency; band: least to most, dots: fit")
    style.panel_title(rates, "Bandwidth")
    return style.headline(figure, "Messages between two processes", f"{note}; {found['library']}, through mpi4py")
