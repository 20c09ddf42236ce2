"""`nearfield predict --overlap`: what hiding the exchange of halos gains on a chain of nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nearfield.commands.console import print_answer
from nearfield.commands.tables import columns, save
from nearfield.entry.errors import ModelError
from nearfield.machine.profile import load_profile
from nearfield.predict.overlap import OverlapNode, load_node, overlap, probed_node

WORDS = {
    "split": "split",
    "host_buffer": "host buffer",
    "host_buffer_strict": "strict",
    "none": "not hidden",
    "blocking_ring": "blocking, ring",
    "blocking_chain": "blocking, chain",
    "limit": "limit",
    "nodes": "nodes",
    "r": "R",
}


@dataclass(frozen=True)
class Request:
    """Options of the command; None where left out."""

    tables: str | None
    profile: Path | None
    cells: int
    nodes: int | None
    buffer_layers: float | None = None
    launch_latency: float | None = None


def refuse_others(given: Mapping[str, object]) -> None:
    """Error: options that the model of hidden exchange has no use for."""
    wrong = [name for name, value in given.items() if value is not None]
    if wrong:
        raise ModelError(
            f"{', '.join(wrong)}: predict --overlap models equal nodes on a chain; it takes --tables or --profile, "
            "--cells, --nodes, --buffer-layers and --launch-latency"
        )


def refuse_alone(given: Mapping[str, object]) -> None:
    """Error: options of --overlap without it."""
    wrong = [name for name, value in given.items() if value is not None]
    if wrong:
        raise ModelError(f"{', '.join(wrong)} without --overlap changes nothing; add --overlap or leave it out")


def node_of(request: Request) -> tuple[OverlapNode, list[str]]:
    """The node that is asked for, and what was assumed of it."""
    if request.tables is not None and request.profile is not None:
        raise ModelError("--tables and --profile: both describe the machine; give one")
    assumed: list[str] = []
    if request.tables is not None:
        node = load_node(request.tables)
    else:
        cells = (request.cells, request.cells, request.cells)
        node, assumed = probed_node(load_profile(request.profile), cells)
    wished = {name: getattr(request, name) for name in ("buffer_layers", "launch_latency", "nodes")}
    changed = {name: value for name, value in wished.items() if value is not None}
    return OverlapNode(**{**{name: getattr(node, name) for name in node.model_fields_set}, **changed}), assumed


def predict_overlap(request: Request, plot: Path | None, as_json: bool) -> int:
    """Print thresholds and both sweeps; draw them where a folder is given."""
    node, assumed = node_of(request)
    found = overlap(node)
    answer = found | {
        "machine": node.name,
        "cells": node.cells,
        "buffer_layers": node.buffer_layers,
        "launch_latency": node.launch_latency,
        "seconds": {
            "copies": node.copying,
            "messages": node.messaging,
            "update": node.ratio * node.plane / node.device,
        },
        "sources": node.sources,
        "assumptions": assumed,
    }
    if plot is not None:
        from nearfield.report.overlap_plots import overlap_over_nodes, overlap_over_ratio

        answer["files"] = save(plot, {"figure_5": overlap_over_ratio(node), "figure_6": overlap_over_nodes(node)})
    return print_answer(as_json, answer, readable(answer))


def table(rows: Sequence[Mapping[str, float]]) -> str:
    """A sweep: the first column exact, all rates in Mpoint/s."""
    names = list(rows[0])
    lines = [[f"{row[names[0]]:g}", *(f"{row[name]:.2f}" for name in names[1:])] for row in rows]
    return columns([[WORDS[name] for name in names], *lines], 0)


def readable(answer: dict[str, Any]) -> str:
    """Both tables, what they are of, and what was assumed."""
    copies, messages, update = (1e3 * answer["seconds"][part] for part in ("copies", "messages", "update"))
    cells = " x ".join(map(str, answer["cells"]))
    thresholds = ", ".join(f"{WORDS[method]} {value:.2f}" for method, value in answer["r0"].items())
    text = [
        answer["machine"],
        f"a step of {cells} points: update {update:.3f} ms, copies {copies:.3f} ms, messages {messages:.3f} ms",
        f"hidden from R = {thresholds}; R is {answer['cells'][0]} here (points of a node over those of a plane)",
        f"with a split update {100 * answer['efficiency']:.2f} % of the update's rate remain",
        "",
        "one node, Mpoint/s over R",
        table(answer["fig5"]),
        "",
        f"nodes of {cells} points, Mpoint/s",
        table(answer["fig6"]),
        "",
        *(f"assumed: {each}" for each in answer["assumptions"]),
        *answer.get("files", ()),
    ]
    return "\n".join(text).rstrip("\n")
