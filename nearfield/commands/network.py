"""`nearfield predict --network`: weak and strong scaling over nodes whose network has links that they share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nearfield.commands.console import print_answer
from nearfield.commands.tables import columns, save
from nearfield.entry.errors import ModelError
from nearfield.parallel.decomposition import times
from nearfield.predict.network import Network, load_network
from nearfield.predict.scaling import Node, Point, load_scaled_node, scale

NODE = "eight-cards"  # where none is given
SIDES = 4  # the whole box of strong scaling over a device's own of weak scaling, along each side
HEADS = ("nodes", "devices", "cells", "boxes", "update ms", "copies ms", "messages ms", "step ms", "Mcells/s")
SHARES = ("hidden", "not hidden", "limit")


@dataclass(frozen=True)
class Request:
    """Options of the command; None where left out."""

    network: str
    node: str | None
    nodes: int
    cells: int
    whole: int | None


def refuse_others(given: Mapping[str, object]) -> None:
    """Error: options that scaling over a network has no use for."""
    if wrong := [name for name, value in given.items() if value is not None]:
        raise ModelError(
            f"{', '.join(wrong)}: predict --network models nodes of equal devices with even boxes; it takes --node, "
            "--nodes, --cells, --whole and --plot"
        )


def refuse_alone(given: Mapping[str, object]) -> None:
    """Error: options of --network without it."""
    if wrong := [name for name, value in given.items() if value is not None]:
        raise ModelError(f"{', '.join(wrong)} without --network changes nothing; add --network or leave it out")


def predict_scaling(request: Request, plot: Path | None, as_json: bool) -> int:
    """Print a table of each scaling and precision; draw them where a folder is given."""
    network, node = load_network(request.network), load_scaled_node(request.node or NODE)
    whole = request.whole or SIDES * request.cells
    points = scale(node, network, request.nodes, request.cells, whole)
    answer: dict[str, Any] = {
        "network": network.model_dump(mode="json", exclude_none=True),
        "bisection_bytes_per_second_and_node": network.bisection,
        "node": node.model_dump(mode="json", exclude_none=True, by_alias=True),
        "cells": request.cells,
        "whole": whole,
        "points": [each.as_dict() for each in points],
        "assumptions": assumptions(network, node),
    }
    if plot is not None:
        from nearfield.report.network_plots import efficiency_over_nodes, rate_over_nodes

        facts = f"{node.name}; {network.name}; predicted"
        figures = {
            "scaling_rate": rate_over_nodes(points, facts),
            "scaling_share": efficiency_over_nodes(points, facts),
        }
        answer["files"] = save(plot, figures)
    return print_answer(as_json, answer, readable(answer, points, network, node))


def assumptions(network: Network, node: Node) -> list[str]:
    """One sentence for each number that nobody published or measured."""
    named = {f"network, {name}": how for name, how in network.sources.items()}
    named |= {f"node, {name}": how for name, how in node.sources.items()}
    return [f"{name}: {how}" for name, how in named.items() if not how.startswith(("published", "measured"))]


def row(each: Point) -> tuple[str, ...]:
    """The cells of a line."""
    seconds = (each.update, each.copies, each.messages, each.step)
    return (
        str(each.nodes),
        str(each.devices),
        times(each.cells),
        times(each.boxes),
        *(f"{1e3 * value:.3g}" for value in seconds),
        f"{each.mcells_per_second:,.0f}",
        f"{100 * each.efficiency:.1f} %",
        f"{100 * each.unhidden_efficiency:.1f} %",
        each.limit,
    )


def readable(answer: dict[str, Any], points: Sequence[Point], network: Network, node: Node) -> str:
    """A table a scaling and precision, what they are of, and what was assumed."""
    text = [
        f"{node.name}, {node.devices} a node; {network.name}",
        f"bisection {network.bisection / 1e9:.3g} GB/s each way, for each node of a large machine",
        "shares are of what the devices would do alone, with exchange hidden and not hidden; a prediction",
    ]
    for scaling, precision in dict.fromkeys((each.scaling, each.precision) for each in points):
        some = [each for each in points if (each.scaling, each.precision) == (scaling, precision)]
        size = f"{answer['cells']}^3 a device" if scaling == "weak" else f"{answer['whole']}^3 in all"
        text += [
            "",
            f"{scaling} scaling, {precision} precision, {size}",
            columns([(*HEADS, *SHARES), *map(row, some)], 0),
        ]
    return "\n".join(
        [*text, "", *(f"assumed: {each}" for each in answer["assumptions"]), *answer.get("files", ())]
    ).rstrip("\n")
