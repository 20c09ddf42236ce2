"""The command lines about machines: `nearfield machine`, `place`, `tune`, `predict` and `probe`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from nearfield.commands import options
from nearfield.entry.settings import settings_of


def machine(
    given: Annotated[str | None, Argument(metavar="TOPOLOGY", help=options.TOPOLOGY)] = None,
    topology: options.Topology = None,
    nodes: options.Nodes = 1,
    plot: Annotated[Path | None, Option("--plot", help="Draw it too, into this .svg or .png.")] = None,
    emit: Annotated[str | None, Option("--emit", help="xml: print hwloc's XML file only.")] = None,
    check: Annotated[bool, Option("--check", help="Show what this process is bound to instead.")] = False,
    as_json: options.Json = False,
) -> int:
    """Show this machine, or one that is given: processors, caches, memory, as a table and as a tree."""
    from nearfield.commands.machine import check_machine, show_machine

    chosen = given if given is not None else topology
    return check_machine(chosen, as_json) if check else show_machine(chosen, nodes, plot, emit, as_json)


UNIT = "node, socket, numa, l3, core or none: what a rank gets; left out, what suits the machine."
LAUNCHER = "rankfile, prrte, hydra or slurm: print the file of that launcher, a line for each rank, and nothing else."


def place(
    model: Annotated[Path | None, Argument(help="Model file (TOML): show its domains.")] = None,
    topology: options.Topology = None,
    nodes: options.Nodes = 1,
    bind: Annotated[str | None, Option("--bind", help=UNIT)] = None,
    emit: Annotated[str | None, Option("--emit", help=LAUNCHER)] = None,
    hosts: Annotated[str | None, Option("--hosts", help="Names, as a,b; left out, host0,host1,...")] = None,
    threads: options.Threads = None,
    ranks: Annotated[int | None, Option(min=1, help="Ranks of the model; left out, one for each unit.")] = None,
    domains: Annotated[str | None, Option(help="Domains of the model in all, such as 4 or 2x1x2.")] = None,
    depth: Annotated[int | None, Option(min=1, help="Layers of a halo; left out, the cheapest.")] = None,
    profile: options.Profile = None,
    speeds: Annotated[str | None, Option(help="Speeds of the model's ranks, as 2,1.")] = None,
    given: options.Set = None,
    as_json: options.Json = False,
) -> int:
    """Say which rank runs where, or write it for a launcher; of a model, which domains it is cut into.

    What --emit writes, saved as FILE, is given to: rankfile, mpirun -rf FILE (Open MPI 4); prrte, mpirun --map-by
    rankfile:FILE=FILE (Open MPI 5); hydra, mpiexec -f FILE (MPICH); slurm, on whole nodes, SLURM_HOSTFILE=FILE srun
    --ntasks=R --cpus-per-task=C --distribution=arbitrary --cpu-bind=mask_cpu:$(cut -d# -f2 FILE | paste -sd,).
    """
    from nearfield.commands.place import Cluster, place

    cut = {
        "ranks": ranks,
        "domains": domains,
        "depth": depth,
        "profile": profile,
        "speeds": speeds,
        "set": settings_of(given) or None,
    }
    return place(model, Cluster(topology, nodes, bind, hosts, threads), emit, cut, as_json)


def tune(
    model: Annotated[Path | None, Argument(help="Model file (TOML); left out, an empty cube.")] = None,
    cells: options.Cells = 200,
    threads: options.Threads = None,
    precision: options.FieldPrecision = options.Precision.single,
    forget: Annotated[bool, Option("--forget", help="Forget what was measured on this machine.")] = False,
    given: options.Set = None,
    as_json: options.Json = False,
) -> int:
    """Measure which tiles are fastest; later runs of models of a similar size use them."""
    from nearfield.commands.tune import forget_tiles, tune_tiles

    if forget:
        return forget_tiles(as_json)
    return tune_tiles(model, cells, threads, precision.value, as_json, settings_of(given))


OVERLAP = "Instead: what hiding the exchange of halos gains on a chain of equal nodes."
TABLES = "s4 (the cards and Gigabit link of Kim and Park), or a JSON file like it; left out, this machine's profile."
LAYERS = "Points of a host buffer over those of a plane; left out, 2."
PAPER = "Only draw Figs. 5, 6, 7, 11 and 12 of Zhao, Chen and Yu for their cluster, into this folder."


NETWORK = "Instead: weak and strong scaling over nodes; fat-tree, torus, dragonfly, or a JSON file like them."
NODE = "--network: eight-cards, one-card, two-cpus, or a JSON file like them; left out, eight-cards."
WHOLE = "--network: cells along each side that strong scaling shares; left out, four times --cells."


def predict(
    model: Annotated[Path | None, Argument(help="Model file (TOML), or box; left out, box.")] = None,
    topology: options.Topology = None,
    nodes: options.NodesWished = None,
    profile: options.Profile = None,
    bind: Annotated[str | None, Option(help="Only this binding scheme; left out, all.")] = None,
    ranks: Annotated[int | None, Option(min=1, help="In all; left out, one for each unit.")] = None,
    memory: Annotated[str, Option(help="first-touch, bind, interleave or off.")] = "first-touch",
    cells: options.Cells = 200,
    boundary: Annotated[options.Wall, Option(help="Walls of the box.")] = options.Wall.pec,
    plot: options.PlotFolder = None,
    paper: Annotated[Path | None, Option(help=PAPER)] = None,
    overlap: Annotated[bool, Option("--overlap", help=OVERLAP)] = False,
    tables: Annotated[str | None, Option(help=f"--overlap: {TABLES}")] = None,
    buffer_layers: Annotated[float | None, Option(help=f"--overlap: {LAYERS}")] = None,
    launch_latency: Annotated[float | None, Option(help="--overlap: seconds to launch a kernel; left out, 0.")] = None,
    network: Annotated[str | None, Option(help=NETWORK)] = None,
    node: Annotated[str | None, Option(help=NODE)] = None,
    whole: Annotated[int | None, Option(min=8, help=WHOLE)] = None,
    speeds: Annotated[str | None, Option(help="Speeds of the nodes, as 2,1; left out, all alike.")] = None,
    given: options.Set = None,
    as_json: options.Json = False,
) -> int:
    """Predict the time of a step on a cluster for every binding scheme; with --overlap the gain of hidden halos."""
    from nearfield.commands import network as shared
    from nearfield.commands import overlap as hidden
    from nearfield.commands.predict import Request, predict_paper, predict_run

    own = {"--tables": tables, "--buffer-layers": buffer_layers, "--launch-latency": launch_latency}
    if network is not None:
        others = {"MODEL": model, "--topology": topology, "--bind": bind, "--ranks": ranks, "--paper": paper}
        more = {"--overlap": overlap or None, "--profile": profile, "--set": given, "--speeds": speeds}
        shared.refuse_others({**others, **own, **more})
        return shared.predict_scaling(shared.Request(network, node, nodes or 1, cells, whole), plot, as_json)
    shared.refuse_alone({"--node": node, "--whole": whole})
    if overlap:
        others = {"MODEL": model, "--topology": topology, "--bind": bind, "--ranks": ranks, "--paper": paper}
        hidden.refuse_others(others | {"--set": given, "--speeds": speeds})
        hiding = hidden.Request(tables, profile, cells, nodes, buffer_layers, launch_latency)
        return hidden.predict_overlap(hiding, plot, as_json)
    hidden.refuse_alone(own)
    if paper is not None:
        return predict_paper(paper, as_json)
    cpml = boundary is options.Wall.cpml
    asked = Request(model, cells, cpml, topology, nodes or 1, profile, bind, memory, ranks, settings_of(given), speeds)
    return predict_run(asked, plot, as_json)


def probe(
    part: Annotated[str | None, Argument(help="stream, latency, mpi, fdtd or gpu; left out, all.")] = None,
    scale: Annotated[bool, Option("--scale", help="stream: the triad over numbers of cores.")] = False,
    quick: Annotated[bool, Option("--quick", help="Seconds instead of a minute, less steady.")] = False,
    simulate: Annotated[str | None, Option(help="Make-believe machine: hwloc XML or string.")] = None,
    plot: options.PlotFolder = None,
    as_json: options.Json = False,
) -> int:
    """Measure memory, messages and the update; keep them as this machine's profile."""
    from nearfield.commands.probe import probe_machine

    return probe_machine(part, scale, quick, simulate, plot, as_json)
