"""What a probe found: STREAM by node and over cores, node x node matrices, and messages over their size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.pictures.style import COLOURS, DASHES, FAINT, INK, blank, headline, panel_title, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LOOPS = ("copy", "scale", "add", "triad")
MARKERS = ("o", "s", "^", "D")
NAMES = {
    "numa": "within a NUMA node",
    "across": "between NUMA nodes",
    "hosts": "between hosts",
    "processes": "unbound processes",
}


def logarithmic(axes: Axes) -> None:
    """Both axes, with plain numbers at their ticks."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_minor_formatter(NullFormatter())


@styled
def stream(found: dict[str, Any], note: str) -> Figure:
    """Best rates of the four loops, a group of bars each for one core, every node and all."""
    groups = {"one core": found["core"]} | {f"node {each['node']}": each for each in found["nodes"]}
    groups |= {"all": found["all"]} if len(found["nodes"]) > 1 else {}
    figure = blank(max(6.0, 1.2 * len(groups) + 3), 4.4)
    axes, place = figure.subplots(), np.arange(len(groups))
    for number, loop in enumerate(LOOPS):
        rates = [each[loop]["best_gb_per_second"] for each in groups.values()]
        axes.bar(place + 0.2 * (number - 1.5), rates, 0.18, color=COLOURS[number], label=loop)
    axes.set_xticks(place, list(groups))
    axes.set_ylabel("GB/s")
    axes.grid(axis="x", visible=False)
    axes.legend(loc="upper left", ncols=4)
    axes.set_ylim(top=1.2 * axes.get_ylim()[1])
    headline(figure, f"STREAM, best of {found['passes']}", note)
    return figure


@styled
def scale(found: dict[str, Any], note: str) -> Figure:
    """The triad over cores, beside as many times one core."""
    figure = blank(7.0, 4.4)
    axes = figure.subplots()
    cores = np.array([point["cores"] for point in found["points"]])
    rates = np.array([point["best_gb_per_second"] for point in found["points"]])
    axes.plot(cores, rates, color=COLOURS[0], marker="o", label="triad")
    axes.plot(cores, rates[0] * cores, color=FAINT, linestyle=DASHES[2], label="as many times one core")
    for point in found["points"]:
        nodes, place = point["numa_nodes"], (point["cores"], point["best_gb_per_second"])
        axes.annotate(
            f"{nodes} node{'s' * (nodes > 1)}",
            place,
            xytext=(4, -11),
            textcoords="offset points",
            fontsize=8,
            color=INK,
        )
    axes.set_xticks(cores)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("Cores, NUMA node after NUMA node")
    axes.set_ylabel("GB/s")
    axes.legend(loc="upper left")
    headline(figure, f"Memory rate over cores: {rates[-1] / rates[0]:.1f} times one core on {cores[-1]}", note)
    return figure


@styled
def matrices(found: dict[str, Any], note: str) -> Figure:
    """Read bandwidth and latency, cores' node by memory's node."""
    figure = blank(9.0, 4.6)
    panels = figure.subplots(1, 2)
    for axes, name, title, colours in zip(
        panels,
        ("bandwidth_gb_per_second", "latency_ns"),
        ("Read bandwidth (GB/s)", "Latency of a load (ns)"),
        ("Blues", "Oranges"),
    ):
        values = np.array([[cell["median"] for cell in row] for row in found[name]])
        axes.imshow(values, cmap=colours, vmin=0, vmax=1.6 * values.max(), aspect="auto")
        if values.size <= 256:
            for (row, column), value in np.ndenumerate(values):
                axes.text(column, row, f"{value:.4g}", ha="center", va="center", color=INK, fontsize=9)
        axes.set_xticks(range(len(found["columns"])), found["columns"])
        axes.set_yticks(range(len(found["rows"])), found["rows"])
        axes.set_xlabel("Memory of node")
        axes.set_ylabel("Cores of node")
        axes.grid(visible=False)
        panel_title(axes, title)
    headline(figure, "Node by node", note)
    return figure


@styled
def messages(found: dict[str, Any], note: str) -> Figure:
    """Half a round trip and bandwidth over message size, with the fitted line; Fig. 4 of Zhao, Chen and Yu."""
    figure = blank(9.0, 4.6)
    times, rates = figure.subplots(1, 2)
    for number, pair in enumerate(found["pairs"]):
        sizes = np.array([row["bytes"] for row in pair["sizes"]], float)
        latency = {name: np.array([row["latency"][name] for row in pair["sizes"]]) for name in ("min", "median", "max")}
        colour, line = COLOURS[number % 6], pair["fit"]
        times.fill_between(sizes, 1e6 * latency["min"], 1e6 * latency["max"], color=colour, alpha=0.18, linewidth=0)
        times.plot(
            sizes,
            1e6 * latency["median"],
            color=colour,
            marker=MARKERS[number % 4],
            markersize=3.5,
            label=NAMES[pair["where"]],
        )
        times.plot(
            sizes, 1e6 * (line["latency"] + sizes / line["bandwidth"]), color=colour, linestyle=DASHES[2], linewidth=1.0
        )
        for which, ways, dashes in (("bandwidth", "one way", DASHES[0]), ("bidirectional", "both ways", DASHES[1])):
            rates.plot(
                sizes,
                [row[which]["median"] / 1e6 for row in pair["sizes"]],
                color=colour,
                linestyle=dashes,
                label=f"{ways}, {NAMES[pair['where']]}",
            )
    for axes, label in ((times, "Half a round trip (µs)"), (rates, "MB/s")):
        logarithmic(axes)
        axes.set_xticks([1, 2**6, 2**12, 2**18, 2**22], ["1", "64", "4 Ki", "256 Ki", "4 Mi"])
        axes.set_xlabel("Bytes")
        axes.set_ylabel(label)
        axes.legend(loc="upper left" if axes is times else "lower right")
    panel_title(times, "Latency; band: least to most, dots: fit")
    panel_title(rates, "Bandwidth")
    headline(figure, "Messages between two processes", f"{note}; {found['library']}, through mpi4py")
    return figure
