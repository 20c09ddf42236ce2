"""Figs. 5 and 6 of Kim and Park, measured and predicted: real messages on emulated links, devices that are clocks.

    .venv/bin/python benchmarks/overlap.py          as root (scripts/make_believe_cluster), about five minutes

It leaves overlap.json, both figures, and the tables of docs/cluster.md.

Nodes are emulated hosts in a ring, a rank each, that exchange halos as every run does (benchmarks/overlap_rank.py).
What a node computes and copies takes the time that Tables 2 and 3 of the paper give it; messages take what the emulated
links need, which is measured before every point, with the same messages and nothing else to do. From that time the
model (`nearfield.predict.overlap`) predicts; nothing is fitted. A host buffer is two layers at either face, q = 4.
"""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from machine import ROOT, said_on_hosts
from overlap_page import METHODS
from overlap_page import main as write_page
from paired import RESULTS, parser, write

from nearfield.commands.tables import columns, save_as
from nearfield.entry.errors import ModelError
from nearfield.machine.profile import Link
from nearfield.measure.probe_mpi import launcher
from nearfield.pictures import style
from nearfield.predict.overlap import COMPONENTS, TRANSFERS, OverlapNode, load_node
from nearfield.report.overlap_plots import LABELS, overlap_over_nodes, overlap_over_ratio

RANK = Path(__file__).with_name("overlap_rank.py")
MODELLED = {"split": "split", "host-buffer": "host_buffer", "none": "none", "blocking": "blocking_ring"}
LAYERS = 4  # points of the host buffers over those of a plane: a face's layer and the one beside it, at two faces
HIDDEN = 1.1  # times R0, from where on the exchange should cost its copies alone
Row = dict[str, Any]


def on_ring(hosts: int, rate: str, **wanted: Any) -> list[Row]:
    """What rank 0 of a ring on a fresh cluster printed."""
    rank = [str(launcher()), "-n", str(hosts), sys.executable, str(RANK), json.dumps(wanted)]
    return [json.loads(line) for line in said_on_hosts(hosts, rate, rank).splitlines()]


def node_with(messages: float) -> OverlapNode:
    """The paper's node where the messages of a step take so many seconds."""
    paper = load_node("s4")
    given = {name: getattr(paper, name) for name in paper.model_fields_set}
    size = TRANSFERS * COMPONENTS * paper.number_bytes * paper.plane
    return OverlapNode(**given | {"message": Link(latency=0.0, bandwidth=size / messages), "buffer_layers": LAYERS})


def compared(rows: Sequence[Row]) -> Row:
    """The rounds of one point: by method seconds a step and Mpoint/s, medians, beside what the model says.

    `ratio`: measured over predicted rate, each with the messages of its own round; `of_equation_9`: over what is left
    where nothing but copies is waited for, of methods that hide the rest from this R on.
    """
    nodes, ratio = rows[0]["nodes"], rows[0]["r"]
    found: Row = {"nodes": nodes, "r": ratio, "messages": statistics.median(row["seconds"]["messages"] for row in rows)}
    for method in METHODS:
        taken = sorted(row["seconds"][method] for row in rows)
        predictions = [step_by_model(row, method) for row in rows]
        ratios = sorted(by_model / row["seconds"][method] for row, by_model in zip(rows, predictions))
        seconds, points = statistics.median(taken), nodes * ratio * load_node("s4").plane / 1e6
        found[method] = {
            "seconds": seconds,
            "mpoints_per_second": points / seconds,
            "predicted": points / statistics.median(predictions),
            "ratio": statistics.median(ratios),
            "lowest": ratios[0],
            "highest": ratios[-1],
        }
        node = node_with(found["messages"] or 1.0)
        if nodes > 1 and method in ("split", "host-buffer") and ratio >= HIDDEN * node.threshold(MODELLED[method]):
            hidden = node.computing(MODELLED[method], ratio)
            found[method] |= {"of_equation_9": hidden / seconds, "of_equation_9_at_best": hidden / taken[0]}
    return found


def step_by_model(row: Row, method: str) -> float:
    """Seconds of a step; a node alone copies and sends nothing."""
    node = node_with(row["seconds"]["messages"] or 1.0)
    if row["nodes"] == 1:
        return row["r"] * node.plane / node.device
    return node.step(MODELLED[method], row["r"], row["nodes"])


def grouped(rows: Iterable[Row]) -> list[Row]:
    """The points of all rounds, each compared."""
    points: dict[tuple[int, int], list[Row]] = {}
    for row in rows:
        points.setdefault((row["nodes"], row["r"]), []).append(row)
    return [compared(each) for each in points.values()]


def table(name: str, rows: Sequence[Row]) -> str:
    """Measured beside predicted Mpoint/s of all nodes."""
    lines = [[name, "messages, ms", *METHODS]]
    for row in rows:
        cells = [f"{row[method]['mpoints_per_second']:.0f} / {row[method]['predicted']:.0f}" for method in METHODS]
        lines.append([str(row[name]), f"{1e3 * row['messages']:.1f}", *cells])
    return columns(lines, 0)


def with_measured(figure: Any, rows: Sequence[Row], name: str) -> Any:
    """A figure of the model with measured rates as filled marks: Mpoint/s of one node over R, of all over nodes."""
    axes = figure.axes[0]
    for number, method in enumerate(METHODS):
        share = [row["nodes"] if name == "r" else 1 for row in rows]
        rates = [row[method]["mpoints_per_second"] / nodes for row, nodes in zip(rows, share)]
        drawn = (line.get_color() for line in axes.lines if line.get_label() == LABELS[MODELLED[method]])
        look: Row = {
            "color": next(drawn, style.FAINT),
            "marker": style.MARKERS[number],
            "linestyle": "",
            "label": f"{method}, measured",
        }
        axes.plot([row[name] for row in rows], rates, markersize=6, **look)
    axes.legend(loc="upper left" if name == "nodes" else "lower right", ncols=2, fontsize="small")
    return figure


def main() -> int:
    made = parser(__doc__, cells=None, steps=30, threads=1, pairs=3)
    made.add_argument("--ratios", type=int, nargs="+", default=[50, 100, 150, 200, 240, 300, 360, 420, 500])
    made.add_argument("--nodes", type=int, default=6, help="at most, of the paper's 360 planes each")
    made.add_argument("--rate", default="1gbit", help="of each link, as tc takes it")
    made.add_argument("--plots", type=Path, default=ROOT / "docs" / "images")
    given = made.parse_args()
    wanted = {"steps": given.steps, "rounds": given.pairs, "arithmetic": "none"}
    own, nodes = int(load_node("s4").ratio), range(1, given.nodes + 1)
    try:
        over_ratio = grouped(on_ring(2, given.rate, ratios=given.ratios, **wanted))
        rings = [on_ring(hosts, given.rate, ratios=[own], **wanted) for hosts in nodes]
    except ModelError as error:
        print(error, file=sys.stderr)
        return 2
    over_nodes = grouped(row for ring in rings for row in ring)
    print(table("r", over_ratio), table("nodes", over_nodes), sep="\n\n")
    node = node_with(statistics.median(row["messages"] for row in over_ratio))
    save_as(given.plots / "overlap-measured-r.png", with_measured(overlap_over_ratio(node), over_ratio, "r"))
    node = node_with(statistics.median(row["messages"] for row in over_nodes if row["nodes"] > 1))
    all_nodes = OverlapNode(**{name: getattr(node, name) for name in node.model_fields_set} | {"nodes": given.nodes})
    figure = with_measured(overlap_over_nodes(all_nodes), over_nodes, "nodes")
    save_as(given.plots / "overlap-measured-nodes.png", figure)
    del given.plots, given.threads
    thresholds = {method: node.threshold(MODELLED[method]) for method in ("split", "host-buffer")}
    write("overlap", given, r0=thresholds, fig5=over_ratio, fig6=over_nodes)
    if given.output == RESULTS:
        write_page()
    return 0


if __name__ == "__main__":
    sys.exit(main())
