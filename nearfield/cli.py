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
from typer import Argument, Option

from nearfield.commands import options
from nearfield.commands.bench_cli import bench
from nearfield.commands.media_cli import fit_medium, list_media, list_resonances
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
    context_settings=options.SETTINGS,
)
app.add_typer(bench, name="bench")
app.add_typer(ring, name="ring")
app.command()(advise_output)
app.command("fit-medium")(fit_medium)
app.command("media")(list_media)
app.command("resonances")(list_resonances)


@app.command()
def run(
    model: options.ModelOrNone = None,
    output: options.Output = None,
    force: options.Force = False,
    threads: options.Threads = None,
    tiles: options.Tiles = "auto",
    report: Annotated[bool, Option(help="Draw the plots and the report.")] = True,
    ranks: options.Ranks = None,
    domains: options.Domains = None,
    bind: options.Bind = None,
    memory: options.Memory = None,
    halo_depth: options.HaloDepth = None,
    overlap: options.Overlap = "split",
    checkpoint: options.Checkpoint = None,
    resume: options.Resume = None,
    space_check: Annotated[bool, Option(help="Refuse field files that the disk has no room for.")] = True,
    as_json: options.Json = False,
) -> int:
    """Run a model; write result.h5, Touchstone, plots and report."""
    from nearfield.commands.run import Options, resume_run, run_model
    from nearfield.run.options import RunOptions

    spread = options.on_ranks(ranks, domains, bind, memory, halo_depth, overlap)
    engine = RunOptions(threads, tiling=tiles, parallel=spread, space_check=space_check)
    chosen = Options(engine, report, as_json, checkpoint)
    if resume is not None:
        return resume_run(resume, model, output, chosen)
    if model is None:
        raise ModelError("a model is missing; give a model file, or --resume with the folder of a run to go on with")
    return run_model(model, output, force, chosen)


@app.command()
def check(model: options.Model, as_json: options.Json = False) -> int:
    """Say what a model costs and what looks wrong, without running it."""
    from nearfield.commands.check import check_model

    return check_model(model, as_json)


BAND = 'Also the resonances there, such as: tip 2e9 "3 GHz".'


@app.command()
def show(
    result: options.Result,
    output: Annotated[Path | None, Option("--output", help="Folder; left out, the result's own.")] = None,
    resonances: Annotated[tuple[str, str, str] | None, Option(metavar="PROBE LOW HIGH", help=BAND)] = None,
    as_json: options.Json = False,
) -> int:
    """Draw the plots and the report of a result again."""
    from nearfield.commands.show import show_result

    return show_result(result, output, resonances, as_json)


@app.command()
def demo(output: options.Output = None, threads: options.Threads = None, as_json: options.Json = False) -> int:
    """Run the line-fed patch antenna of Sheen et al. 1990 and compare with what was published."""
    from nearfield.commands.demo import run_demo

    return run_demo(output, threads, as_json)


@app.command()
def new(
    template: Annotated[options.Template, Argument(help="What to start from.")],
    output: Annotated[Path | None, Option("--output", help="File; left out, ./<template>.toml.")] = None,
    force: options.Force = False,
    as_json: options.Json = False,
) -> int:
    """Write a commented model file to start from."""
    from nearfield.commands.new import write_template

    return write_template(template.value, output, force, as_json)


@app.command()
def doctor(as_json: options.Json = False) -> int:
    """Describe this machine and what is missing, with the line that installs it."""
    from nearfield.commands.doctor import examine_machine

    return examine_machine(as_json)


@app.command()
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


@app.command()
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
    as_json: options.Json = False,
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
    model: Annotated[Path | None, Argument(help="Model file (TOML); left out, an empty cube.")] = None,
    cells: options.Cells = 200,
    threads: options.Threads = None,
    precision: options.FieldPrecision = options.Precision.single,
    forget: Annotated[bool, Option("--forget", help="Forget what was measured on this machine.")] = False,
    as_json: options.Json = False,
) -> int:
    """Measure which tiles are fastest; later runs of models of a similar size use them."""
    from nearfield.commands.tune import forget_tiles, tune_tiles

    return forget_tiles(as_json) if forget else tune_tiles(model, cells, threads, precision.value, as_json)


PAPER = "Only draw Figs. 5, 6, 7, 11 and 12 of Zhao, Chen and Yu for their cluster, into this folder."


@app.command()
def predict(
    model: Annotated[Path | None, Argument(help="Model file (TOML), or box; left out, box.")] = None,
    topology: options.Topology = None,
    nodes: options.Nodes = 1,
    profile: options.Profile = None,
    bind: Annotated[str | None, Option(help="Only this binding scheme; left out, all.")] = None,
    ranks: Annotated[int | None, Option(min=1, help="In all; left out, one for each unit.")] = None,
    memory: Annotated[str, Option(help="first-touch, bind, interleave or off.")] = "first-touch",
    cells: options.Cells = 200,
    boundary: Annotated[options.Wall, Option(help="Walls of the box.")] = options.Wall.pec,
    plot: options.PlotFolder = None,
    paper: Annotated[Path | None, Option(help=PAPER)] = None,
    as_json: options.Json = False,
) -> int:
    """Predict the time of a step on a cluster for every binding scheme."""
    from nearfield.commands.predict import Request, predict_paper, predict_run

    if paper is not None:
        return predict_paper(paper, as_json)
    cpml = boundary is options.Wall.cpml
    return predict_run(Request(model, cells, cpml, topology, nodes, profile, bind, memory, ranks), plot, as_json)


@app.command()
def probe(
    part: Annotated[str | None, Argument(help="stream, latency, mpi or fdtd; left out, all.")] = None,
    scale: Annotated[bool, Option("--scale", help="stream: the triad over numbers of cores.")] = False,
    quick: Annotated[bool, Option("--quick", help="Seconds instead of a minute, less steady.")] = False,
    simulate: Annotated[str | None, Option(help="Make-believe machine: hwloc XML or string.")] = None,
    plot: options.PlotFolder = None,
    as_json: options.Json = False,
) -> int:
    """Measure memory, messages and the update; keep them as this machine's profile."""
    from nearfield.commands.probe import probe_machine

    return probe_machine(part, scale, quick, simulate, plot, as_json)


@app.command()
def version(as_json: options.Json = False) -> int:
    """Say which version this is."""
    from nearfield import __version__
    from nearfield.commands.console import answered

    return answered(as_json, {"version": __version__}, f"nearfield {__version__}")


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
        where = "Please report it with the model file; NEARFIELD_TRACEBACK=1 shows where it happened"
        message, code = f"internal error, {type(error).__name__}: {error}. {where}", 4
    if message:
        fail(message, code, "--json" in arguments, speak)
    return code


def join_ranks() -> TextIO:
    """The stream for this rank's errors; where a launcher started several ranks, rank 0 alone keeps its output."""
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
