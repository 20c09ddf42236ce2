"""`nearfield bench`: the command lines of what measures this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nearfield.commands.options import (
    SETTINGS,
    Bind,
    Domains,
    HaloDepth,
    Json,
    Memory,
    Model,
    Overlap,
    Precision,
    Ranks,
    Schedule,
    Threads,
    Tiles,
    Wall,
)

bench = typer.Typer(help="Measure the speed of this machine.", no_args_is_help=True, context_settings=SETTINGS)


@bench.command()
def box(
    cells: Annotated[int, typer.Option(min=1, max=10000, help="Cells along each side of the cube.")] = 128,
    steps: Annotated[int, typer.Option(min=1, max=10**9, help="Steps to take.")] = 100,
    threads: Threads = None,
    boundary: Annotated[Wall, typer.Option(help="All six walls; a CPML takes 10 cells inside.")] = Wall.pec,
    schedule: Annotated[Schedule, typer.Option(help="Order of the updates.")] = Schedule.tiled,
    tiles: Tiles = "auto",
    precision: Annotated[Precision, typer.Option(help="Of the fields.")] = Precision.single,
    ranks: Ranks = None,
    domains: Domains = None,
    bind: Bind = None,
    memory: Memory = None,
    halo_depth: HaloDepth = None,
    overlap: Overlap = "split",
    as_json: Json = False,
) -> int:
    """Time an empty cube with a point current in the middle."""
    from nearfield.commands.bench import measure_box
    from nearfield.parallel.launch import relaunch
    from nearfield.parallel.start import Parallel

    ended = relaunch(ranks)
    if ended is not None:
        return ended
    return measure_box(
        cells,
        steps,
        threads,
        boundary.value,
        schedule.value,
        tiles,
        precision.value,
        as_json,
        Parallel(domains, bind, memory, halo_depth, overlap),
    )


@bench.command("model")
def bench_model(
    model: Model,
    steps: Annotated[int, typer.Option(min=1, max=10**9, help="Steps to take.")] = 100,
    threads: Threads = None,
    tiles: Tiles = "auto",
    ranks: Ranks = None,
    domains: Domains = None,
    bind: Bind = None,
    memory: Memory = None,
    halo_depth: HaloDepth = None,
    overlap: Overlap = "split",
    as_json: Json = False,
) -> int:
    """Time the steps of a model; nothing is written."""
    from nearfield.commands.bench import measure_model
    from nearfield.parallel.launch import relaunch
    from nearfield.parallel.start import Parallel

    ended = relaunch(ranks)
    if ended is not None:
        return ended
    parallel = Parallel(domains, bind, memory, halo_depth, overlap)
    return measure_model(model, steps, threads, tiles, as_json, parallel)


@bench.command()
def scaling(
    cells: Annotated[int, typer.Option(min=1, max=10000, help="Cells along each side of the box.")] = 128,
    steps: Annotated[
        int, typer.Option(min=1, max=10**9, help="Steps of the box; the antenna makes as many cell updates.")
    ] = 100,
    rounds: Annotated[int, typer.Option(min=1, max=1000, help="How often all points are taken in turn.")] = 3,
    case: Annotated[str, typer.Option(help="box, antenna, or both.")] = "box,antenna",
    antenna: Annotated[Path | None, typer.Option(help="Model file; left out, the template `patch`.")] = None,
    bind: Annotated[str | None, typer.Option(help="Schemes, as node,core; left out, all that differ.")] = None,
    ranks: Annotated[str | None, typer.Option(help="As 1,2,4; left out, up to one more than cores.")] = None,
    threads: Annotated[
        str | None, typer.Option(help="Of a rank, as 1,2; left out, 1 and what fills the cores.")
    ] = None,
    profile: Annotated[Path | None, typer.Option(help="What `nearfield probe` found; left out, here.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw it too, into this .png.")] = None,
    as_json: Json = False,
) -> int:
    """Time binding schemes x ranks x threads, each point in a process of its own, beside the predicted rates."""
    from nearfield.commands.scaling import Request, measure_scaling

    request = Request(cells, steps, rounds, case, antenna, bind, ranks, threads, profile)
    return measure_scaling(request, plot, as_json)


@bench.command()
def features(
    cells: Annotated[int, typer.Option(min=32, max=10000, help="Cells along each side of the cube.")] = 128,
    steps: Annotated[int, typer.Option(min=1, max=10**9, help="Steps of each run.")] = 100,
    threads: Threads = None,
    precision: Annotated[Precision, typer.Option(help="Of the fields.")] = Precision.single,
    as_json: Json = False,
    rounds: Annotated[int, typer.Option(min=1, max=1000, help="How often each is taken in turn.")] = 5,
    case: Annotated[
        list[str] | None, typer.Option(help="A case by its name; may be given several times. Left out, all.")
    ] = None,
) -> int:
    """Time what each feature costs, in turn with the empty cube."""
    from nearfield.commands.bench import measure_features

    return measure_features(cells, steps, threads, precision.value, as_json, rounds, case)


@bench.callback()
def only_commands() -> None:
    """Measure the speed of this machine."""
