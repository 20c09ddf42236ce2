"""`nearfield bench`: the command lines of what measures this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from typer import Option

from nearfield.commands import options
from nearfield.commands.options import Precision, Schedule, Wall
from nearfield.entry.settings import settings_of

HELP = "Measure the speed of this machine."
bench = typer.Typer(help=HELP, no_args_is_help=True, context_settings=options.SETTINGS)


@bench.command()
def box(
    cells: options.Cells = 128,
    steps: options.Steps = 100,
    threads: options.Threads = None,
    boundary: Annotated[Wall, Option(help="All six walls; a CPML takes 10 cells inside.")] = Wall.pec,
    schedule: Annotated[Schedule, Option(help="Order of the updates.")] = Schedule.tiled,
    tiles: options.Tiles = "auto",
    precision: options.FieldPrecision = Precision.single,
    engine: options.Engine = "auto",
    ranks: options.Ranks = None,
    domains: options.Domains = None,
    bind: options.Bind = None,
    memory: options.Memory = None,
    halo_depth: options.HaloDepth = None,
    overlap: options.Overlap = "auto",
    patience: options.Patience = options.LIMIT,
    speeds: options.Speeds = None,
    as_json: options.Json = False,
) -> int:
    """Time an empty cube with a point current in the middle."""
    from nearfield.commands.bench import measure_box

    how = {"threads": threads, "schedule": schedule.value, "precision": precision.value, "tiling": tiles}
    spread = options.on_ranks(ranks, domains, bind, memory, halo_depth, overlap, patience, speeds)
    return measure_box(as_json, cells, boundary.value, steps=steps, parallel=spread, engine=engine or "auto", **how)


@bench.command("model")
def bench_model(
    model: options.Model,
    steps: options.Steps = 100,
    threads: options.Threads = None,
    tiles: options.Tiles = "auto",
    ranks: options.Ranks = None,
    domains: options.Domains = None,
    bind: options.Bind = None,
    memory: options.Memory = None,
    halo_depth: options.HaloDepth = None,
    overlap: options.Overlap = "auto",
    patience: options.Patience = options.LIMIT,
    speeds: options.Speeds = None,
    given: options.Set = None,
    as_json: options.Json = False,
) -> int:
    """Time the steps of a model; nothing is written."""
    from nearfield.commands.bench import measure_model

    spread = options.on_ranks(ranks, domains, bind, memory, halo_depth, overlap, patience, speeds)
    return measure_model(as_json, model, steps, threads, tiles, spread, settings_of(given))


POLICIES = "Policies, as first-touch,interleave,off; left out, the one that goes with each scheme."
HOSTS = "File with a host's name on each line: 1, 2, 4, ... and all of them are timed; --ranks are of each host."


@bench.command()
def scaling(
    cells: options.Cells = 128,
    steps: options.Steps = 100,
    rounds: options.Rounds = 3,
    case: Annotated[str, Option(help="box, antenna (as many cell updates as the box), or both.")] = "box,antenna",
    antenna: Annotated[Path | None, Option(help="Model file; left out, the template `patch`.")] = None,
    bind: Annotated[str | None, Option(help="Schemes, as node,core; left out, all that differ.")] = None,
    ranks: Annotated[str | None, Option(help="As 1,2,4; left out, up to one more than cores.")] = None,
    threads: Annotated[str | None, Option(help="Of a rank, as 1,2; left out, 1 and as many as cores.")] = None,
    memory: Annotated[str | None, Option(help=POLICIES)] = None,
    hosts: Annotated[Path | None, Option(help=HOSTS)] = None,
    profile: options.Profile = None,
    plot: Annotated[Path | None, Option(help="Draw it too, into this .png.")] = None,
    as_json: options.Json = False,
) -> int:
    """Time hosts x binding schemes x memory policies x ranks x threads, each point alone, beside predicted rates."""
    from nearfield.commands.scaling import Request, measure_scaling

    request = Request(cells, steps, rounds, case, antenna, bind, ranks, threads, profile, memory, hosts)
    return measure_scaling(request, plot, as_json)


ONE_CASE = "A case by its name; may be given several times. Left out, all."


@bench.command()
def features(
    cells: Annotated[int, Option(min=32, max=10000, help="Cells along each side of the cube.")] = 128,
    steps: options.Steps = 100,
    threads: options.Threads = None,
    precision: options.FieldPrecision = Precision.single,
    as_json: options.Json = False,
    rounds: options.Rounds = 5,
    case: Annotated[list[str] | None, Option(help=ONE_CASE)] = None,
) -> int:
    """Time what each feature costs, in turn with the empty cube."""
    from nearfield.commands.bench import measure_features

    return measure_features(cells, steps, threads, precision.value, as_json, rounds, case)
