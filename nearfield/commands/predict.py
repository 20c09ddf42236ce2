"""`nearfield predict`: how long a step will take on a cluster, for every binding scheme."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nearfield.commands.bench import refuse_thin_box
from nearfield.commands.console import print_answer
from nearfield.commands.tables import columns, save
from nearfield.entry.errors import ModelError
from nearfield.entry.wording import counted
from nearfield.machine.hardware import SCHEMES, Hardware, load
from nearfield.machine.profile import REMOTE, Profile, load_profile
from nearfield.parallel.decomposition import times
from nearfield.parallel.speeds import parsed_speeds, relative
from nearfield.predict.prediction import best, job_of_plan, least_hosts, predict_all
from nearfield.predict.step_time import Cluster, Job, Prediction

if TYPE_CHECKING:
    from nearfield.predict.paper import Paper

BOX = "box"  # in place of a model file
CURVE_POINTS = 8  # numbers of nodes of the plot
POLICIES = ("first-touch", "bind", "interleave", "off")


@dataclass(frozen=True)
class Request:
    """Options of the command."""

    model: Path | None
    cells: int
    cpml: bool
    topology: str | None
    nodes: int
    profile: Path | None
    bind: str | None
    memory: str
    ranks: int | None = None  # in all
    parameters: Mapping[str, Any] = field(default_factory=dict)  # other values for the model's
    speeds: str | None = None  # of the nodes

    def ranks_a_host(self, hardware: Hardware) -> int | None:
        """Ranks on each node; None: as many as the scheme has units. Error: not as many on each, more than cores."""
        if self.ranks is None:
            return None
        if self.ranks % self.nodes:
            raise ModelError(f"--ranks {self.ranks} on --nodes {self.nodes}: every node has as many; give a multiple")
        cores, each = len(hardware.cores), self.ranks // self.nodes
        if each > cores:
            raise ModelError(
                f"--ranks {self.ranks} on {counted(self.nodes, 'node')} of {counted(cores, 'core')}: ranks that share "
                f"a core wait for each other; give --ranks {cores * self.nodes} or fewer, or more nodes"
            )
        return each


def predict_run(request: Request, plot: Path | None, as_json: bool) -> int:
    """Print the steps of every scheme, the best exchange of each; draw them where a folder is given."""
    if request.nodes < 1:
        raise ModelError(f"--nodes {request.nodes}: give 1 or more hosts")
    if request.memory not in POLICIES:
        raise ModelError(f"--memory {request.memory} is unknown; allowed: {', '.join(POLICIES)}")
    hardware, profile = load(request.topology), load_profile(request.profile)
    if request.speeds and plot is not None:
        raise ModelError("--plot shows other numbers of nodes, of which --speeds says nothing; leave one out")
    ranks_a_host = request.ranks_a_host(hardware)
    given = parsed_speeds(request.speeds, request.nodes, "nodes")
    cluster = Cluster(hardware, request.nodes, profile, tuple((given and relative(given)) or ()))
    job = job_of(request, hardware)
    schemes = wanted(hardware, request.bind)
    found = predict_all(job, cluster, schemes, request.memory, ranks_a_host)
    answer = {
        "model": str(request.model or BOX),
        "cells": job.cells,
        "hardware": hardware.name,
        "simulated": hardware.simulated,
        "nodes": request.nodes,
        "profile": profile.name,
        "assumptions": assumptions(profile, hardware),
        "memory": request.memory,
        "schemes": [each.as_dict() for each in best(found)],
        "all": [each.as_dict() for each in found],
    }
    if plot is not None:
        answer["files"] = draw(plot, best(found), job, cluster, request)
    return print_answer(as_json, answer, readable(answer, best(found)))


def assumptions(profile: Profile, hardware: Hardware) -> list[str]:
    """One sentence for each number that was not measured: of the profile, and of boards that are described."""
    by_distance = hardware.distances is not None and len(profile.bandwidth) < 2 and len(hardware.numa) > 1
    said = [text for text in profile.assumptions() if not (by_distance and text.startswith(REMOTE))]
    if by_distance:
        said.append(f"{REMOTE}: slower in proportion to the distance that the topology gives")
    sources = hardware.boards.description.sources if hardware.boards else {}
    return [*said, *(f"{name}: {how}" for name, how in sources.items() if not how.startswith("published"))]


def job_of(request: Request, hardware: Hardware) -> Job:
    """The cells of the model, or of the empty box without one, and what they cost."""
    from nearfield.measure.bench import box
    from nearfield.model_file import load as load_model

    if request.model is None or (str(request.model) == BOX and not request.model.exists()):
        refuse_parameters(request.parameters)
        refuse_thin_box(request.cells, request.cpml)
        simulation = box(request.cells, 1, "cpml" if request.cpml else "pec")
    else:
        simulation = load_model(request.model, request.parameters)
    return job_of_plan(simulation._setup().plan, hardware)


def refuse_parameters(parameters: Mapping[str, Any]) -> None:
    """Error: values for parameters where there is no model file that could have any."""
    if parameters:
        raise ModelError(f"--set {next(iter(parameters))}: the empty box has no parameters; name a model file")


def wanted(hardware: Hardware, bind: str | None) -> list[str]:
    """The schemes to show: the one asked for, or all that the hardware has."""
    if bind is not None:
        hardware.units(bind)
        return [bind]
    known_l3 = all(core.l3 >= 0 for core in hardware.cores)
    return [scheme for scheme in SCHEMES if scheme != "l3" or known_l3]


TIMES = ("compute", "halo", "busy", "waiting", "step")
RATES = ("Mcells/s", "efficiency", "pipeline", "links", "imbalance", "remote")
HEADS = ("bind", "ranks x threads", "boxes", "halo", *(f"{name} ms" for name in TIMES), *RATES)


def row(each: Prediction) -> tuple[str, ...]:
    """The cells of a scheme's line."""
    halo = {"deep": f"{each.depth} layers", "layer": "1 layer", "blocking": "blocking"}[each.exchange]
    return (
        each.scheme,
        f"{each.ranks} x {each.threads}",
        times(each.counts),
        halo if each.ranks > 1 else "none",
        *(f"{1e3 * getattr(each, name):.3g}" for name in TIMES),
        f"{each.mcells_per_second:.0f}",
        f"{100 * each.efficiency:.1f} %",
        f"{100 * each.pipeline:.0f} %",
        f"{100 / each.links:.0f} %",
        f"{each.imbalance:.3f}",
        f"{100 * each.remote_share:.0f} %",
    )


def readable(answer: dict[str, Any], predictions: Sequence[Prediction]) -> str:
    """The table, what it is of, and what was assumed."""
    fastest = min(predictions, key=lambda each: each.step)
    where = f"{answer['nodes']} x {answer['hardware']}{', SIMULATED' if answer['simulated'] else ''}"
    text = [
        f"{answer['model']}: {answer['cells']:,} cells on {where}; profile: {answer['profile']}",
        "",
        columns([HEADS, *map(row, predictions)]),
        "",
        f"fastest: --bind {fastest.scheme}; times of a step of the slowest rank, a prediction",
        *(f"assumed: {each}" for each in answer["assumptions"]),
    ]
    return "\n".join(text)


def draw(folder: Path, predictions: Sequence[Prediction], job: Job, cluster: Cluster, request: Request) -> list[str]:
    """Files of the parts of a step and of the rates over nodes."""
    from nearfield.report.prediction_plots import rates_over_nodes, step_parts

    stride = -(-cluster.hosts // CURVE_POINTS)
    wished = {1, *range(stride, cluster.hosts + 1, stride), cluster.hosts}
    nodes = sorted(count for count in wished if count >= least_hosts(job, cluster.hardware))
    schemes = wanted(cluster.hardware, request.bind)
    rates: dict[str, tuple[list[int], list[float]]] = {scheme: ([], []) for scheme in schemes}
    for count in nodes:
        some = Cluster(cluster.hardware, count, cluster.profile)
        ranks = request.ranks_a_host(cluster.hardware)
        for each in best(predict_all(job, some, schemes, request.memory, ranks)):
            rates[each.scheme][0].append(count)
            rates[each.scheme][1].append(each.mcells_per_second)
    facts = f"{cluster.hardware.name}, predicted; profile: {cluster.profile.name}"
    title = f"{job.cells:,} cells on {counted(cluster.hosts, 'node')}"
    return save(folder, {"step": step_parts(predictions, title, facts), "nodes": rates_over_nodes(rates, title, facts)})


def predict_paper(folder: Path, as_json: bool) -> int:
    """Draw the figures of Zhao, Chen and Yu and print each published number beside its prediction."""
    from nearfield.predict.paper import Paper
    from nearfield.report.prediction_plots import paper_figures

    paper = Paper.load()
    stated, predicted = paper.efficiencies()
    files = save(folder, paper_figures(paper), "--paper")
    answer = {
        "paper": paper.data["paper"],
        "hardware": paper.hardware.name,
        "profile": paper.profile.as_dict(),
        "stated": paper.data["stated"],
        "points": [vars(point) | {"ratio": point.ratio} for point in paper.points()],
        "antenna": paper.antenna_rows(),
        "efficiency_published_times": stated,
        "efficiency_predicted": predicted,
        "cores_over_cpus": dict(paper.readings()),
        "files": files,
    }
    return print_answer(as_json, answer, paper_text(paper, stated, predicted, files))


def paper_text(paper: Paper, stated: float, predicted: float, files: Sequence[str]) -> str:
    """Inputs, the table, and where and why it disagrees."""
    points = paper.points()
    lines = [["figure", "case", "published", "predicted", "ratio"]]
    for each in points:
        rates = (f"{rate:.0f} {each.unit}" for rate in (each.published, each.predicted))
        lines.append([f"Fig. {each.figure}", each.what, *rates, f"{each.ratio:.2f}"])
    bars = [["figure", "nodes", "bound to", "ranks", "NUMA policy", "Mcells/s", "minutes"]]
    for bar in paper.antenna_rows():
        found = (f"{bar['mcells_per_second']:.0f}", f"{bar['minutes']:.1f}")
        policy = "with" if bar["policy"] else "without"
        bars.append([f"Fig. {bar['figure']}", str(bar["hosts"]), bar["bind"], str(bar["ranks"]), policy, *found])
    readings = ", ".join(f"{name} {ratio:.2f}" for name, ratio in paper.readings())
    text = [
        f"{paper.data['paper']}\n\ninputs ({paper.hardware.name})",
        *(f"  {name:16} {text}" for name, text in {**paper.data["stated"], **paper.profile.sources}.items()),
        f"\n{columns(lines)}\n",
        f"antenna, predicted\n{columns(bars)}\n",
        *(f"Fig. {each.figure}, {each.what}: {each.why}." for each in points if each.why),
        f"Efficiency from 4 to 18 nodes: the published times give {100 * stated:.0f} %, the text says almost 90 %, "
        f"predicted {100 * predicted:.0f} %. Nothing in these inputs gives more than 100 %; 2 hours, if rounded to "
        f"whole hours, leave {100 * 0.75 * stated:.0f} to {100 * 1.25 * stated:.0f} %.",
        f"Cores over CPUs, published 0.51, for other readings of the unknown box: {readings}",
        "",
        *files,
    ]
    return "\n".join(text)
