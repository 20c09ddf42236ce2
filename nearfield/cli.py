"""The command line: reads arguments, calls one command, turns what happened into an exit code.

Exit codes: 0 done; 1 done, but a check of the result failed; 2 refused (missing, unreadable or wrong input or usage);
3 diverged; 4 failed under way, results so far kept; 75 checkpointed on SIGTERM; 130 interrupted.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from pathlib import Path
from typing import Annotated, TextIO

import typer

from nearfield.commands.bench_cli import bench
from nearfield.commands.media_cli import fit_medium, list_media, list_resonances
from nearfield.commands.options import (
    SETTINGS,
    TOPOLOGY,
    Bind,
    Checkpoint,
    Domains,
    Force,
    HaloDepth,
    Json,
    Memory,
    Model,
    ModelOrNone,
    Nodes,
    Output,
    Overlap,
    Precision,
    Ranks,
    Resume,
    Template,
    Threads,
    Tiles,
    Topology,
    Wall,
)
from nearfield.commands.output_cli import advise_output
from nearfield.commands.ring_cli import ring
from nearfield.commands.streams import open_closed_streams, silence, write
from nearfield.entry.errors import ModelError, NearfieldError
from nearfield.machine.interruption import terminable

# typer brings its own click or uses click's: this is the base of usage errors in both
CLICK_ERROR: type[Exception] = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")
app = typer.Typer(
    name="nearfield",
    help="Maxwell's equations in 3-D by FDTD, from a model file to S-parameters and pattern.",
    pretty_exceptions_enable=False,
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
    context_settings=SETTINGS,
)
app.add_typer(bench, name="bench")
app.add_typer(ring, name="ring")
app.command()(advise_output)
app.command("fit-medium")(fit_medium)
app.command("media")(list_media)
app.command("resonances")(list_resonances)


@app.command()
def run(
    model: ModelOrNone = None,
    output: Output = None,
    force: Force = False,
    threads: Threads = None,
    tiles: Tiles = "auto",
    report: Annotated[bool, typer.Option(help="Draw the plots and the report.")] = True,
    ranks: Ranks = None,
    domains: Domains = None,
    bind: Bind = None,
    memory: Memory = None,
    halo_depth: HaloDepth = None,
    overlap: Overlap = "split",
    checkpoint: Checkpoint = None,
    resume: Resume = None,
    space_check: Annotated[bool, typer.Option(help="Refuse field files that the disk has no room for.")] = True,
    as_json: Json = False,
) -> int:
    """Run a model; write result.h5, Touchstone, plots and report."""
    from nearfield.commands.run import Options, resume_run, run_model
    from nearfield.parallel.launch import relaunch
    from nearfield.parallel.start import Parallel
    from nearfield.run.options import RunOptions

    ended = relaunch(ranks)
    if ended is not None:
        return ended
    spread = Parallel(domains, bind, memory, halo_depth, overlap)
    asked = RunOptions(threads, tiling=tiles, parallel=spread, space_check=space_check)
    options = Options(asked, report, as_json, checkpoint)
    if resume is not None:
        return resume_run(resume, model, output, options)
    if model is None:
        raise ModelError("a model is missing; give a model file, or --resume with the folder of a run to go on with")
    return run_model(model, output, force, options)


@app.command()
def check(model: Model, as_json: Json = False) -> int:
    """Say what a model costs and what looks wrong, without running it."""
    from nearfield.commands.check import check_model

    return check_model(model, as_json)


@app.command()
def show(
    result: Annotated[Path, typer.Argument(help="result.h5, or the folder that holds it.")],
    output: Annotated[Path | None, typer.Option("--output", help="Folder; left out, the result's own.")] = None,
    resonances: Annotated[
        tuple[str, str, str] | None,
        typer.Option(metavar="PROBE LOW HIGH", help='Also what rings there, as: tip 2e9 "3 GHz".'),
    ] = None,
    as_json: Json = False,
) -> int:
    """Draw the plots and the report of a result again."""
    from nearfield.commands.show import show_result

    return show_result(result, output, resonances, as_json)


@app.command()
def demo(output: Output = None, threads: Threads = None, as_json: Json = False) -> int:
    """Run the line-fed patch antenna of Sheen et al. 1990 and compare with what was published."""
    from nearfield.commands.demo import run_demo

    return run_demo(output, threads, as_json)


@app.command()
def new(
    template: Annotated[Template, typer.Argument(help="What to start from.")],
    output: Annotated[Path | None, typer.Option("--output", help="File; left out, ./<template>.toml.")] = None,
    force: Force = False,
    as_json: Json = False,
) -> int:
    """Write a commented model file to start from."""
    from nearfield.commands.new import write_template

    return write_template(template.value, output, force, as_json)


@app.command()
def doctor(as_json: Json = False) -> int:
    """Describe this machine and what is missing, with the line that installs it."""
    from nearfield.commands.doctor import examine_machine

    return examine_machine(as_json)


@app.command()
def machine(
    given: Annotated[str | None, typer.Argument(metavar="TOPOLOGY", help=TOPOLOGY)] = None,
    topology: Topology = None,
    nodes: Nodes = 1,
    plot: Annotated[Path | None, typer.Option("--plot", help="Draw it too, into this .svg or .png.")] = None,
    emit: Annotated[str | None, typer.Option("--emit", help="xml: print hwloc's XML file only.")] = None,
    check: Annotated[bool, typer.Option("--check", help="What this process is bound to instead.")] = False,
    as_json: Json = False,
) -> int:
    """Show this machine, or one that is given: processors, caches, memory, as a table and as a tree."""
    from nearfield.commands.machine import check_machine, show_machine

    chosen = given if given is not None else topology
    return check_machine(chosen, as_json) if check else show_machine(chosen, nodes, plot, emit, as_json)


@app.command()
def place(
    model: Annotated[Path | None, typer.Argument(help="Model file (TOML): say how it is cut up.")] = None,
    topology: Topology = None,
    nodes: Nodes = 1,
    bind: Annotated[
        str | None,
        typer.Option(
            "--bind", help="node, socket, numa, l3, core or none: what a rank gets; left out, what suits the machine."
        ),
    ] = None,
    emit: Annotated[
        str | None,
        typer.Option(
            "--emit",
            help="rankfile, prrte, hydra or slurm: print what that launcher takes, a line a rank, and nothing else.",
        ),
    ] = None,
    hosts: Annotated[str | None, typer.Option("--hosts", help="Names, as a,b; left out, host0,host1,...")] = None,
    threads: Threads = None,
    ranks: Annotated[int | None, typer.Option(min=1, help="Of the model; left out, one a unit.")] = None,
    domains: Annotated[str | None, typer.Option(help="Of the model in all, such as 4 or 2x1x2.")] = None,
    depth: Annotated[int | None, typer.Option(min=1, help="Layers of a halo; left out, the cheapest.")] = None,
    profile: Annotated[Path | None, typer.Option(help="What `nearfield probe` found; left out, here.")] = None,
    as_json: Json = False,
) -> int:
    """Say which rank runs where, or write it for a launcher; of a model, which domains it is cut into.

    What --emit writes, saved as FILE, is given to: rankfile, mpirun -rf FILE (Open MPI 4); prrte, mpirun --map-by
    rankfile:FILE=FILE (Open MPI 5); hydra, mpiexec -f FILE (MPICH); slurm, on whole nodes, SLURM_HOSTFILE=FILE srun
    --ntasks=R --cpus-per-task=C --distribution=arbitrary --cpu-bind=mask_cpu:$(cut -d# -f2 FILE | paste -sd,).
    """
    from nearfield.commands.place import Cluster, place

    cut = {"ranks": ranks, "domains": domains, "depth": depth, "profile": profile}
    return place(model, Cluster(topology, nodes, bind, hosts, threads), emit, cut, as_json)


@app.command()
def tune(
    model: Annotated[Path | None, typer.Argument(help="Model file (TOML); left out, an empty cube.")] = None,
    cells: Annotated[int, typer.Option(min=1, max=10000, help="Cells along each side of the cube.")] = 200,
    threads: Threads = None,
    precision: Annotated[Precision, typer.Option(help="Of the cube's fields.")] = Precision.single,
    forget: Annotated[bool, typer.Option("--forget", help="Forget what was measured on this machine.")] = False,
    as_json: Json = False,
) -> int:
    """Measure which tiles are fastest; later runs with rows alike use them."""
    from nearfield.commands.tune import forget_tiles, tune_tiles

    return forget_tiles(as_json) if forget else tune_tiles(model, cells, threads, precision.value, as_json)


@app.command()
def predict(
    model: Annotated[Path | None, typer.Argument(help="Model file (TOML), or box; left out, box.")] = None,
    topology: Topology = None,
    nodes: Nodes = 1,
    profile: Annotated[
        Path | None, typer.Option(help="Profile (JSON) of `nearfield probe`; left out, this machine's.")
    ] = None,
    bind: Annotated[str | None, typer.Option(help="Only this binding scheme; left out, all.")] = None,
    ranks: Annotated[int | None, typer.Option(min=1, help="In all; left out, one for each unit.")] = None,
    memory: Annotated[str, typer.Option(help="first-touch, bind, interleave or off.")] = "first-touch",
    cells: Annotated[int, typer.Option(min=1, max=10000, help="Cells along each side of the box.")] = 200,
    boundary: Annotated[Wall, typer.Option(help="Walls of the box.")] = Wall.pec,
    plot: Annotated[Path | None, typer.Option(help="Folder for the pictures.")] = None,
    paper: Annotated[
        Path | None,
        typer.Option(
            help="Only draw Figs. 5, 6, 7, 11 and 12 of Zhao, Chen and Yu for their cluster, into this folder."
        ),
    ] = None,
    as_json: Json = False,
) -> int:
    """Predict the time of a step on a cluster for every binding scheme."""
    from nearfield.commands.predict import Request, predict_paper, predict_run

    if paper is not None:
        return predict_paper(paper, as_json)
    request = Request(model, cells, boundary is Wall.cpml, topology, nodes, profile, bind, memory, ranks)
    return predict_run(request, plot, as_json)


@app.command()
def probe(
    part: Annotated[str | None, typer.Argument(help="stream, latency, mpi or fdtd; left out, all.")] = None,
    scale: Annotated[bool, typer.Option("--scale", help="stream: the triad over numbers of cores.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="Seconds instead of a minute, less steady.")] = False,
    simulate: Annotated[str | None, typer.Option(help="Make-believe machine: hwloc XML or string.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Folder for the pictures.")] = None,
    as_json: Json = False,
) -> int:
    """Measure memory, messages and the update; keep them as this machine's profile."""
    from nearfield.commands.probe import probe_machine

    return probe_machine(part, scale, quick, simulate, plot, as_json)


@app.command()
def version(as_json: Json = False) -> int:
    """Say which version this is."""
    from nearfield import __version__
    from nearfield.commands.console import console

    with console(as_json) as out:
        out.answer({"version": __version__})
        if not as_json:
            out.say(f"nearfield {__version__}")
    return 0


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit code; every error is one message on stderr, never a traceback."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments == ["--version"]:
        arguments = ["version"]
    message, code = "", 0
    open_closed_streams()
    speak = sys.stderr
    try:
        speak = join_ranks()
        with terminable():
            code = invoke(arguments)
    except typer.Exit as error:
        code = error.exit_code
    except CLICK_ERROR as error:
        message, code = usage_message(error), 2
    except NearfieldError as error:
        message, code = str(error), error.exit_code
    except KeyboardInterrupt:
        message, code = "interrupted", 130
    except BrokenPipeError:
        silence(sys.stdout)
    except MemoryError:
        message, code = "not enough memory; use fewer cells, frequencies or snapshots (see `nearfield check`)", 4
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        message, code = f"{where}{error.strerror or error}; free the disk or choose another folder with --output", 4
    except Exception as error:
        if os.environ.get("NEARFIELD_TRACEBACK"):
            raise
        message, code = (
            f"internal error, {type(error).__name__}: {error}. Please report it with the model file; "
            "NEARFIELD_TRACEBACK=1 shows where it happened",
            4,
        )
    if message:
        fail(message, code, "--json" in arguments, speak)
    return code


def join_ranks() -> TextIO:
    """Where a launcher started several processes: find the others, and leave the streams to rank 0.

    Returns where this rank may say why it fails.
    """
    from nearfield.machine.transport import started, world

    if started() == 1 or world().rank == 0:
        return sys.stderr
    speak = open(os.dup(sys.stderr.fileno()), "w", encoding="utf-8")
    silence(sys.stdout)
    silence(sys.stderr)
    return speak


def fail(message: str, code: int, as_json: bool, speak: TextIO) -> None:
    """Say why; of several ranks that fail alike only the first speaks, and one that fails alone ends all others."""
    from nearfield.machine.transport import started, world

    if started() == 1:
        complain(message, code, as_json)
        return
    with contextlib.suppress(NearfieldError):  # the ranks never met
        ranks = world()
        if ranks.rank == 0:
            complain(message, code, as_json)
        if not ranks.all_give_up():
            if ranks.rank:
                write(speak, f"error: rank {ranks.rank}: {message}")
            ranks.abort(code)
        return
    complain(message, code, as_json)


def invoke(arguments: list[str]) -> int:
    """Run the command that the arguments name; every exception comes through as it is."""
    command = typer.main.get_command(app)
    with command.make_context("nearfield", list(arguments)) as context:
        return command.invoke(context) or 0


def complain(message: str, code: int, as_json: bool) -> None:
    """One message on stderr; for scripts also as the JSON object."""
    if as_json:
        with contextlib.suppress(OSError):
            write(sys.stdout, json.dumps({"error": message, "exit_code": code}))
    write(sys.stderr, message if code in (75, 130) else f"error: {message}")


def usage_message(error: Exception) -> str:
    """What is wrong with the arguments and where help is."""
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "nearfield"
    text = error.format_message() if hasattr(error, "format_message") else str(error)  # type: ignore[attr-defined]
    if type(error).__name__ == "NoArgsIsHelpError":
        return f"a command is missing\n\n{text}"
    text = text.replace("Value error, ", "").rstrip(".")
    return f"{text}{'' if text.endswith('?') else '.'} `{command} --help` lists what is allowed"


if __name__ == "__main__":
    sys.exit(main())
