"""Pictures of what a probe measured: STREAM by node and over cores, matrices by node, and messages by size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.entry.wording import counted
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
    """The triad over cores, and one core's rate times their number."""
    figure, axes = style.chart(7.0, 4.4)
    cores = np.array([point["cores"] for point in found["points"]])
    rates = np.array([point["best_gb_per_second"] for point in found["points"]])
    axes.plot(cores, rates, color=style.COLOURS[0], marker="o", label="triad")
    axes.plot(cores, rates[0] * cores, color=style.FAINT, linestyle=style.DASHES[2], label="as many times one core")
    for point, place in zip(found["points"], zip(cores, rates)):
        style.beside(axes, place, counted(point["numa_nodes"], "node"), (4, -11), fontsize=8)
    axes.set_xticks(cores)
    axes.set_ylim(bottom=0)
    style.name_axes(axes, "Cores, NUMA node after NUMA node", "GB/s", "upper left")
    gain = f"{rates[-1] / rates[0]:.1f} times one core on {cores[-1]}"
    return style.headline(figure, f"Memory rate over cores: {gain}", note)


@style.styled
def matrices(found: dict[str, Any], note: str) -> Figure:
    """Read bandwidth and latency, cores' node by memory's node."""
    figure = style.blank(9.0, 4.6)
    for axes, (name, (title, colours)) in zip(figure.subplots(1, 2), MATRICES.items()):
        values = np.array([[cell["median"] for cell in row] for row in found[name]])
        axes.imshow(values, cmap=colours, vmin=0, vmax=1.6 * values.max(), aspect="auto")
        if values.size <= 256:
            for (row, column), value in np.ndenumerate(values):
                axes.text(column, row, f"{value:.4g}", ha="center", va="center", color=style.INK, fontsize=9)
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
